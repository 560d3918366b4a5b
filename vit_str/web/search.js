// Writing a text step by step with a beam: `vit_str/decoding/beam_search.py` and `ctc.py` for one picture.

import { alignment } from "./boxes.js";

/**
 * The most probable texts, the best first.
 *
 * `steps.step(symbols, position)` gives a row of scores for each text being written, and
 * `steps.keep(rows)` goes on with some of them. The start and the end have the id `end`.
 * A hypothesis has `ids`, `confidences` of its characters, and the `confidence` of the whole.
 */
export async function search(steps, { end, longest, temperature, width, margin = Infinity }) {
  let texts = [{ ids: [], logs: [], total: 0, ended: false, last: end }];
  for (let position = 0; position <= longest; position++) {
    const writing = texts.filter((text) => !text.ended);
    if (!writing.length) break;
    const scores = await steps.step(writing.map((text) => text.last), position);
    const grown = texts.filter((text) => text.ended);
    writing.forEach((text, row) => {
      const logs = logSoftmax(scores[row], temperature);
      const symbols = position === longest ? [end] : largest(logs, width);
      if (position === longest && largest(logs, 1)[0] !== end) logs[end] = 0; // cut: no room
      for (const last of symbols) {
        grown.push({
          ids: last === end ? text.ids : [...text.ids, last],
          logs: [...text.logs, logs[last]],
          total: text.total + logs[last],
          ended: last === end,
          last,
          row,
        });
      }
    });
    grown.sort((one, other) => other.total - one.total);
    const least = grown[0].total - margin;
    texts = grown.slice(0, width).filter((text) => text.total >= least);
    await steps.keep(texts.filter((text) => !text.ended).map((text) => text.row));
  }
  return texts.map(({ ids, logs, total }) => ({
    ids,
    confidences: logs.slice(0, ids.length).map(Math.exp),
    confidence: Math.exp(total),
  }));
}

/** Exact probabilities of the next character under CTC, all alignments counted. */
export class CtcSteps {
  constructor(rows, temperature) {
    this.start(rows.map((row) => logSoftmax(row, temperature).map(Math.exp)));
  }

  /** The same of other shares. */
  withShares(shares) {
    const other = Object.create(CtcSteps.prototype);
    other.start(shares);
    return other;
  }

  start(shares) {
    this.shares = shares;
    this.blank = shares[0].length - 1;
    const afterBlank = new Float64Array(shares.length + 1).fill(1);
    this.shares.forEach((share, c) => {
      afterBlank[c + 1] = afterBlank[c] * share[this.blank];
    });
    this.texts = [{ afterBlank, afterCharacter: new Float64Array(shares.length + 1), last: -1 }];
  }

  step(symbols, position) {
    if (position) this.texts = this.texts.map((text, row) => this.append(text, symbols[row]));
    return this.texts.map((text) => this.next(text));
  }

  keep(rows) {
    this.texts = rows.map((row) => this.texts[row]);
  }

  append({ afterBlank, afterCharacter, last }, symbol) {
    const blank = new Float64Array(afterBlank.length);
    const character = new Float64Array(afterBlank.length);
    this.shares.forEach((share, c) => {
      const before = afterBlank[c] + (symbol === last ? 0 : afterCharacter[c]);
      blank[c + 1] = share[this.blank] * (blank[c] + character[c]);
      character[c + 1] = share[symbol] * (character[c] + before);
    });
    return { afterBlank: blank, afterCharacter: character, last: symbol };
  }

  next(text) {
    const begins = Float64Array.from({ length: this.blank }, (_, symbol) => this.begins(text, symbol));
    return [...begins, this.exactly(text)].map(Math.log);
  }

  /** The probability that a text goes on with a character. */
  begins({ afterBlank, afterCharacter, last }, symbol) {
    return this.shares.reduce((sum, share, c) => {
      const before = afterBlank[c] + (symbol === last ? 0 : afterCharacter[c]);
      return sum + share[symbol] * before;
    }, 0);
  }

  /** The probability that a text is all that is spelled. */
  exactly({ afterBlank, afterCharacter }) {
    return afterBlank.at(-1) + afterCharacter.at(-1);
  }
}

/**
 * The text of the most probable alignment, with its exact probabilities: `best_alignments`.
 *
 * `lookAlikes` are signs whose probabilities are summed before a text is judged, if any are.
 */
export function bestAlignment(rows, temperature, longest, lookAlikes = null) {
  const steps = new CtcSteps(rows, temperature);
  if (!lookAlikes) return judged(steps, collapsed(steps, longest));
  const { shares } = steps;
  const together = steps.withShares(lookAlikes.summed(shares));
  const ids = collapsed(together, longest);
  const found = inContext(judged(together, ids), steps, together, lookAlikes);
  return withSigns(found, shares, together.shares, lookAlikes);
}

/** What the most probable symbols spell. */
function collapsed({ shares, blank }, longest) {
  const best = shares.map((row) => largest(row, 1)[0]);
  return best.filter((symbol, c) => symbol !== blank && symbol !== best[c - 1]).slice(0, longest);
}

/** A text with its exact probabilities. */
function judged(steps, ids) {
  let [text] = steps.texts;
  let before = 1;
  const confidences = ids.map((symbol) => {
    const begins = steps.begins(text, symbol);
    const confidence = begins / before;
    before = begins;
    text = steps.append(text, symbol);
    return confidence;
  });
  return { ids, confidences, confidence: steps.exactly(text) };
}

/** A text of one sign, judged with all that are round; a minus without a space behind it. */
function inContext(found, steps, together, lookAlikes) {
  const sign = lookAlikes.alone(found.ids);
  if (sign) return judged(steps.withShares(lookAlikes.summed(steps.shares, true)), sign);
  const joined = lookAlikes.withItsNumber(found.ids);
  if (!joined) return found;
  const other = judged(together, joined);
  const likely = lookAlikes.isJoined(other.confidence, found.confidence);
  if (likely < 1 / 2) return found;
  return timesAsSure(other, 1, (likely * (found.confidence + other.confidence)) / other.confidence);
}

/** A text whose signs were read as one of their kind, with those that they are. */
function withSigns(found, shares, together, lookAlikes) {
  const places = [...found.ids.keys()].filter((place) => lookAlikes.isFirst(found.ids[place]));
  if (!places.length) return found;
  const owners = alignment(together, found.ids);
  const ids = [...found.ids];
  return places.reduce((text, place) => {
    const own = shares.filter((_, c) => owners[c] === place);
    const sums = shares[0].map((_, id) => own.reduce((sum, row) => sum + row[id], 0));
    const { id, sure } = lookAlikes.choose(found.ids, place, sums);
    ids[place] = id;
    return { ...timesAsSure(text, place, sure), ids };
  }, found);
}

/** A text whose character at a place is so many times as probable. */
function timesAsSure(found, place, times) {
  const confidences = found.confidences.with(place, Math.min(1, found.confidences[place] * times));
  return { ...found, confidences, confidence: Math.min(1, found.confidence * times) };
}

/** One result of all readings of a picture, each a list of hypotheses: `augmentation.py`. */
export function mergeReadings(readings) {
  const texts = new Map();
  const [first, ...others] = readings;
  const added = others.flat().filter(({ ids }) => ids.length);
  for (const each of [...first, ...added]) {
    const same = texts.get(`${each.ids}`) ?? { best: each, sum: 0 };
    if (each.confidence > same.best.confidence) same.best = each;
    same.sum += each.confidence;
    texts.set(`${each.ids}`, same);
  }
  return [...texts.values()]
    .map(({ best, sum }) => ({
      ...best,
      confidence: Math.sqrt((best.confidence * sum) / readings.length),
    }))
    .sort((one, other) => other.confidence - one.confidence);
}

function logSoftmax(scores, temperature) {
  const scaled = Array.from(scores, (score) => score / temperature);
  const top = scaled.reduce((one, other) => Math.max(one, other));
  const sum = scaled.reduce((total, score) => total + Math.exp(score - top), 0);
  return scaled.map((score) => score - top - Math.log(sum));
}

function largest(values, count) {
  if (count === 1) return [values.indexOf(values.reduce((a, b) => Math.max(a, b)))];
  return [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, count);
}

// Reads pictures with one model: `vit_str/words/reader.py`.

import * as ort from "../runtime/ort.wasm.bundle.min.mjs";
import { attentionMap, boxInFrame, characterBoxes, columnBoxes, mapInFrame } from "./boxes.js";
import { normalize, turnOver, augmented } from "./images.js";
import { LookAlikes } from "./look_alikes.js";
import { withoutMargins } from "./margins.js";
import { oneScript, scriptOf } from "./one_script.js";
import { openPrior } from "./prior.js";
import { CtcSteps, bestAlignment, mergeReadings, search } from "./search.js";
import { rereading } from "./shared.js";

export class Reader {
  /** Of an exported model, its description and sessions, and the table of word frequencies. */
  constructor({ model, sessions }, words) {
    Object.assign(this, { model, sessions, words, characters: [...model.charset] });
    this.readsLines = model.preprocessing.width_step > 0;
    this.maximumLength = model.interface.maximum_length;
    this.hasScripts = new Set(this.characters.map(scriptOf).filter(Boolean)).size > 1;
    this.priors = new Map();
    this.lookAlikes = null; // signs that are judged by their kind
  }

  /** The same reader, which judges dashes, zeros and quotation marks by their kind. */
  summingLookAlikes() {
    const other = Object.assign(Object.create(Reader.prototype), this);
    other.lookAlikes = new LookAlikes(this.characters);
    return other;
  }

  /**
   * What a picture says: the text, its characters with boxes in pixels, and other readings.
   *
   * `rounds` are of augmentations of a doubtful picture; none for words of print.
   */
  async read(picture, nBest, language, rounds = rereading.rounds) {
    const best = await this.readUpright(picture, nBest);
    if (best.hypotheses[0].confidence < this.model.preprocessing.reread_below) {
      best.hypotheses = await this.readAgain(best, nBest, language, rounds);
    }
    const [first, ...alternatives] = best.hypotheses.map((each) => {
      const { text, ...rest } = this.spelled(each);
      return { text: this.inOneScript(text, language), ...rest };
    });
    const places = await this.locate(best, first.ids);
    const letters = [...first.text];
    const characters = first.ids.map((id, i) => ({
      character: letters[i],
      confidence: first.confidences[i],
      ...places[i],
    }));
    return { ...first, characters, alternatives };
  }

  /** The picture as it is; a tall one turned by a quarter, the way up that is read more surely. */
  async readUpright(picture, nBest) {
    const { pixels: upright, frame } = withoutMargins(picture, this.model.preprocessing);
    let best;
    for (const upsideDown of frame.turned ? [false, true] : [false]) {
      const pixels = upsideDown ? turnOver(upright) : upright;
      const { seen, hypotheses } = await this.readPixels(pixels, nBest);
      if (!best || hypotheses[0].confidence > best.hypotheses[0].confidence) {
        best = { seen, hypotheses, pixels, frame: { ...frame, upsideDown } };
      }
    }
    return best;
  }

  /** A doubtful picture: the frequency of words decides, and augmented ones add to what it says. */
  async readAgain({ seen, hypotheses, pixels }, nBest, language, rounds) {
    const { height, reread_below: doubtful } = this.model.preprocessing;
    const prior = this.priorOf(language);
    const [beams, margin] = prior ? [Math.max(rereading.beams, nBest), rereading.margin] : [nBest, Infinity];
    let limit = prior ? rereading.doubtful_after_prior : doubtful;
    const readings = [prior ? await this.write(seen, beams, margin) : hypotheses];
    const merge = () => {
      const merged = mergeReadings(readings).map((each) => this.spelled(each));
      return (prior ? prior.weigh(merged) : merged).slice(0, nBest);
    };
    let found = merge();
    let unsure = String(found[0].ids) !== String(hypotheses[0].ids); // the prior contradicts the picture
    for (const round of rounds) {
      unsure ||= found[0].confidence < limit;
      if (!unsure) break;
      for (const augmentation of round) {
        const other = augmented(pixels, pixels.length / 3 / height, height, augmentation);
        readings.push((await this.readPixels(other, beams, margin)).hypotheses);
      }
      found = merge();
      limit = rereading.doubtful_after_augmentation;
      unsure = false;
    }
    return found;
  }

  /** The box of each character, and a map of attention where the model has one. */
  async locate({ seen, pixels, frame }, text) {
    if (!text.length) return [];
    const { interface: how, preprocessing: size, temperature } = this.model;
    if (how.loop === "ctc") {
      const { shares } = new CtcSteps(rowsOf(seen.logits), temperature);
      const boxes = columnBoxes(shares, text, size.height ** 2 / (pixels.length / 3));
      return boxes.map((box) => ({ box: boxInFrame(box, frame) }));
    }
    if (!how.has_cross_attention) return [];
    const maps = await this.attention(seen, text);
    return characterBoxes(maps).map((box, i) => ({
      box: boxInFrame(box, frame),
      attention: mapInFrame(maps[i], frame),
    }));
  }

  /** The prior of a language; of those of the model if it is empty. */
  priorOf(language) {
    const wanted = language || this.model.provenance.language;
    if (!this.priors.has(wanted)) this.priors.set(wanted, openPrior(this.words, wanted));
    return this.priors.get(wanted);
  }

  /** A line whose words have the letters of one script each, of those that this reads. */
  inOneScript(line, language, page = null) {
    const found = this.hasScripts ? oneScript(line, language, page) : line;
    return [...found].every((letter) => this.characters.includes(letter)) ? found : line;
  }

  /** A hypothesis with its text. */
  spelled(hypothesis) {
    return { ...hypothesis, text: hypothesis.ids.map((id) => this.characters[id]).join("") };
  }

  /** A picture of the model encoded, and its texts. */
  async readPixels(pixels, width, margin) {
    const { preprocessing: size } = this.model;
    const values = normalize(pixels, size.mean, size.std);
    const shape = [1, 3, size.height, values.length / 3 / size.height];
    const images = new ort.Tensor("float32", values, shape);
    const seen = await this.run("encoder", { pixel_values: images });
    return { seen, hypotheses: await this.write(seen, width, margin) };
  }

  /** Texts of an encoded picture, in the way that the model reads. */
  async write(seen, width, margin) {
    const { interface: how, temperature } = this.model;
    const longest = how.maximum_length;
    const options = { end: this.characters.length, longest, temperature, width, margin };
    if (how.loop === "ctc") {
      const rows = rowsOf(seen.logits);
      if (width === 1) return [bestAlignment(rows, temperature, longest, this.lookAlikes)];
      const steps = new CtcSteps(rows, temperature);
      return search(steps, { ...options, temperature: 1 });
    }
    if (how.loop === "scores") return search(new Scores(seen.logits), options);
    const parallel = how.loop === "refine" && how.decoding === "parallel";
    let found = parallel ? [{ ids: [] }] : await search(new Steps(this, seen), options);
    const refinements = how.loop === "refine" ? how.refinements + parallel : 0;
    for (let i = 0; i < refinements; i++) {
      const padded = Array.from({ length: longest }, (_, k) => found[0].ids[k] ?? -1);
      const { logits } = await this.run("refine", { input_ids: ids([padded]), ...asPast(seen) });
      found = await search(new Scores(logits), options);
    }
    return found;
  }

  /** Where the decoder looks for each of the characters. */
  async attention(seen, text) {
    const { grid, special_tokens: special } = this.model.interface;
    const steps = new Steps(this, seen);
    const maps = [];
    for (let i = 0; i < text.length; i++) {
      await steps.step([text[i - 1] ?? this.characters.length]);
      maps.push(attentionMap(steps.looked, grid, special));
    }
    return maps;
  }

  run(graph, inputs) {
    const given = {};
    for (const [name, { type, data, dims }] of Object.entries(inputs)) {
      given[name] = new ort.Tensor(type, data.slice(), dims); // the worker takes its memory away
    }
    return this.sessions[graph].run(given);
  }
}

/** Texts that the step graph writes, with the keys and values of what is written. */
class Steps {
  constructor(reader, seen) {
    this.reader = reader;
    this.state = asPast(seen);
    for (const { name, shape } of reader.sessions.step.inputMetadata) {
      if (name.startsWith("past_key_values") && !(name in this.state)) {
        const empty = [1, shape[1], 0, shape[3]];
        this.state[name] = new ort.Tensor("float32", new Float32Array(0), empty);
      }
    }
  }

  async step(symbols) {
    const inputs = { input_ids: ids(symbols.map((symbol) => [symbol])), ...this.state };
    const found = await this.reader.run("step", inputs);
    Object.assign(this.state, asPast(found));
    this.looked = found.cross_attentions?.data;
    return rowsOf(found.logits);
  }

  keep(rows) {
    for (const [name, tensor] of Object.entries(this.state)) {
      const [count, ...shape] = tensor.dims;
      if (rows.length === count && rows.every((row, i) => row === i)) return;
      const size = tensor.data.length / count;
      const kept = new Float32Array(rows.length * size);
      rows.forEach((row, i) => kept.set(tensor.data.subarray(row * size, (row + 1) * size), i * size));
      this.state[name] = new ort.Tensor("float32", kept, [rows.length, ...shape]);
    }
  }
}

/** Scores of every position that do not depend on what is written. */
class Scores {
  constructor(logits) {
    this.positions = rowsOf(logits);
  }

  step(symbols, position) {
    return symbols.map(() => this.positions[position]);
  }

  keep() {}
}

const ids = (rows) =>
  new ort.Tensor("int64", BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0].length]);

/** The last axis of a tensor, row by row. */
function rowsOf({ data, dims }) {
  const size = dims.at(-1);
  return Array.from({ length: data.length / size }, (_, i) => data.subarray(i * size, (i + 1) * size));
}

/** What one call gives for the next, under the names that it takes. */
const asPast = (outputs) =>
  Object.fromEntries(
    Object.entries(outputs)
      .filter(([name]) => name.startsWith("present"))
      .map(([name, tensor]) => [name.replace("present", "past_key_values"), tensor]),
  );

// Writing a text step by step with a beam: `vit_str/runtime/search.py` for one picture.

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

/** What all views of a picture together say, each a list of hypotheses: `test_time_augmentation.py`. */
export function mergeViews(views) {
  const texts = new Map();
  const [first, ...others] = views;
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
      confidence: Math.sqrt((best.confidence * sum) / views.length),
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

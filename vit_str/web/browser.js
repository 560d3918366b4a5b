// Reads words inside the browser with onnxruntime-web: no server, no network.

import * as ort from "../runtime/ort.wasm.bundle.min.mjs";
import { attentionMap, boxInFrame, characterBoxes, columnBoxes, mapInFrame } from "./boxes.js";
import { decode, normalize, turnOver, viewOf } from "./images.js";
import { withoutMargins } from "./margins.js";
import { BEAMS, MARGIN, openPrior } from "./prior.js";
import { CtcSteps, mergeViews, search } from "./search.js";

const wasm = new URL("../runtime/ort-wasm-simd-threaded.wasm", import.meta.url).href;
ort.env.wasm.wasmPaths = { wasm };
ort.env.wasm.numThreads = 1; // more need headers that plain file servers do not send
ort.env.logLevel = "error";

// Views of doubtful pictures, as `test_time_augmentation.py` has them.
const ROUNDS_OF_VIEWS = [
  [{ cut: 0.05, slope: 0.2 }, { cut: 0.05, slope: -0.2 }],
  [{ cut: -0.08, slope: 0 }, { cut: 0.03, slope: 0.4 }, { cut: 0.03, slope: -0.4 }, { blurred: true }],
];
const DOUBTFUL_AFTER_PRIOR = 0.7;
const DOUBTFUL_AFTER_VIEWS = 0.5;

/** The reader of the page; `report` is called with the share of the model that is loaded. */
export async function openReader(report) {
  const folder = new URL("../model/", import.meta.url);
  const model = await (await load(new URL("model.json", folder))).json();
  const buffers = {};
  const graphs = model.graphs.filter((name) => name !== "verify"); // texts are written here
  for (const [index, name] of graphs.entries()) {
    buffers[name] = await (await load(new URL(`${name}.onnx`, folder))).arrayBuffer();
    report((index + 1) / (graphs.length + 1));
  }
  const sessions = {};
  for (const name of graphs) {
    sessions[name] = await ort.InferenceSession.create(buffers[name], {
      executionProviders: ["wasm"],
    });
  }
  const words = await (await load(new URL("words.safetensors", folder))).arrayBuffer();
  return new BrowserReader(model, sessions, words);
}

async function load(url) {
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) throw new Error(`${url.pathname} cannot be loaded. Export the page again.`);
  return response;
}

class BrowserReader {
  note = "Pictures are read in this browser and never leave it.";
  atOnce = 1;
  pages = false;

  constructor(model, sessions, words) {
    Object.assign(this, { model, sessions, words, characters: [...model.charset] });
    this.priors = new Map();
  }

  /** A cropped word as `vit-str read --format jsonl --boxes` has it, with maps of attention. */
  async readWord(file, name, nBest, language) {
    const { preprocessing: size, interface: how } = this.model;
    const picture = await decode(file);
    const { pixels: upright, frame } = withoutMargins(picture, size);
    const width = upright.length / 3 / size.height;
    let best;
    for (const upsideDown of frame.turned ? [false, true] : [false]) {
      const pixels = upsideDown ? turnOver(upright) : upright;
      const { seen, hypotheses } = await this.readView(pixels, nBest);
      if (!best || hypotheses[0].confidence > best.hypotheses[0].confidence) {
        best = { seen, hypotheses, pixels, frame: { ...frame, upsideDown } };
      }
    }
    if (best.hypotheses[0].confidence < size.reread_below) {
      const prior = this.priorOf(language);
      const [beams, margin] = prior ? [Math.max(BEAMS, nBest), MARGIN] : [nBest, Infinity];
      let limit = prior ? DOUBTFUL_AFTER_PRIOR : size.reread_below;
      const views = [prior ? await this.write(best.seen, beams, margin) : best.hypotheses];
      const merge = () => {
        const merged = mergeViews(views).map((each) => this.spelled(each));
        best.hypotheses = (prior ? prior.weigh(merged) : merged).slice(0, nBest);
      };
      const text = String(best.hypotheses[0].ids);
      merge();
      let unsure = String(best.hypotheses[0].ids) !== text; // the prior contradicts the picture
      for (const round of ROUNDS_OF_VIEWS) {
        unsure ||= best.hypotheses[0].confidence < limit;
        if (!unsure) break;
        for (const view of round) {
          const pixels = viewOf(best.pixels, width, size.height, view);
          views.push((await this.readView(pixels, beams, margin)).hypotheses);
        }
        merge();
        limit = DOUBTFUL_AFTER_VIEWS;
        unsure = false;
      }
    }
    const [first, ...others] = best.hypotheses.map((each) => this.spelled(each));
    const record = { path: name, text: first.text, confidence: rounded(first.confidence) };
    if (others.length) {
      const added = ({ prior }) => (prior ? { prior: rounded(prior) } : {});
      Object.assign(record, added(first));
      record.alternatives = others.map((each) => ({
        text: each.text,
        confidence: rounded(each.confidence),
        ...added(each),
      }));
    }
    const maps = how.has_cross_attention ? await this.attention(best.seen, first.ids) : [];
    let boxes = maps.length ? characterBoxes(maps) : [];
    if (how.loop === "ctc") {
      const { shares } = new CtcSteps(rowsOf(best.seen.logits), this.model.temperature);
      boxes = columnBoxes(shares, first.ids, size.height / width);
    }
    record.characters = first.ids.map((id, i) => ({
      character: this.characters[id],
      confidence: rounded(first.confidences[i]),
      ...(boxes.length && {
        box: boxInFrame(boxes[i], best.frame).map((side) => rounded(side, 100)),
      }),
      ...(maps.length && { attention: mapInFrame(maps[i], best.frame) }),
    }));
    return record;
  }

  /** The prior of a language; of those of the model if it is empty. */
  priorOf(language) {
    const wanted = language || this.model.provenance.language;
    if (!this.priors.has(wanted)) this.priors.set(wanted, openPrior(this.words, wanted));
    return this.priors.get(wanted);
  }

  /** A hypothesis with its text. */
  spelled(hypothesis) {
    return { ...hypothesis, text: hypothesis.ids.map((id) => this.characters[id]).join("") };
  }

  /** A picture of the model encoded, and its texts. */
  async readView(pixels, width, margin) {
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
      const steps = new CtcSteps(rowsOf(seen.logits), temperature);
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
    return this.sessions[graph].run(inputs);
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

const rounded = (value, digits = 1e6) => Math.round(value * digits) / digits;

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

// Reads words inside the browser with onnxruntime-web: no server, no network.

import * as ort from "../runtime/ort.wasm.bundle.min.mjs";
import { ArrangerNetwork } from "./arrange/network.js";
import { decode } from "./images.js";
import { Reader } from "./reader.js";

const wasm = new URL("../runtime/ort-wasm-simd-threaded.wasm", import.meta.url).href;
ort.env.wasm.wasmPaths = { wasm };
ort.env.wasm.numThreads = 1; // more need headers that plain file servers do not send
ort.env.wasm.proxy = true; // in a worker, so that the page answers while it reads
ort.env.logLevel = "error";

const said = document.querySelector("meta[name=other-languages]")?.content ?? "";
/** Languages that other models read, and the folder of each: `ru:cyrillic-greek`. */
const FOLDERS = Object.fromEntries(said.split(" ").filter(Boolean).map((one) => one.split(":")));

/** The reader of the page; `report` is called with the share of the model that is loaded. */
export async function openReader(report) {
  const model = await openModel("model", report);
  const words = await (await load("model/words.safetensors")).arrayBuffer();
  return new BrowserReader(new Reader(model, words));
}

/** An exported model in a folder beside the page: its description, and a session for each graph. */
export async function openModel(folder, report = () => {}) {
  const model = await (await load(`${folder}/model.json`)).json();
  const graphs = model.graphs.filter((name) => name !== "verify"); // texts are written here
  const sessions = {};
  for (const [index, name] of graphs.entries()) {
    sessions[name] = await openGraph(`${folder}/${name}.onnx`);
    report((index + 1) / (graphs.length + 1));
  }
  return { model, sessions };
}

/** A graph of onnxruntime. */
export async function openGraph(path) {
  const buffer = await (await load(path)).arrayBuffer();
  return ort.InferenceSession.create(buffer, { executionProviders: ["wasm"] });
}

/** The network that arranges pages. */
export async function openArranger() {
  const about = await (await load("arranger/arranger.json")).json();
  return new ArrangerNetwork(await openGraph("arranger/arranger.onnx"), about);
}

async function load(path) {
  const url = new URL(`../${path}`, import.meta.url);
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) throw new Error(`${url.pathname} cannot be loaded. Export the page again.`);
  return response;
}

export class BrowserReader {
  note = "Pictures are read in this browser and never leave it.";
  atOnce = 1;
  accept = "image/*";
  pages = ""; // whole pictures, in words
  otherLanguages = Object.keys(FOLDERS); // that other models read
  others = {}; // readers by their folder

  constructor(reader) {
    this.reader = reader;
  }

  /** What reads a language; another model is fetched when it is first asked for. */
  async readerOf(language) {
    const folder = FOLDERS[language];
    if (!folder) return this.reader;
    const { words } = this.reader;
    this.others[folder] ??= openModel(`other/${folder}/model`).then(
      (model) => Object.assign(new Reader(model, words), { folder }),
    );
    return this.others[folder].catch((error) => {
      this.others[folder] = null; // another picture tries again
      throw error;
    });
  }

  /** A cropped word as `vit-str read --format jsonl --boxes` has it, with maps of attention. */
  async readWord(file, name, nBest, language) {
    const reader = await this.readerOf(language);
    const reading = await reader.read(await decode(file), nBest, language);
    const record = { path: name, ...summary(reading) };
    if (reading.alternatives.length) record.alternatives = reading.alternatives.map(summary);
    else delete record.prior;
    record.characters = reading.characters.map(({ character, confidence, box, attention }) => ({
      character,
      confidence: rounded(confidence),
      ...(box && { box: box.map((side) => rounded(side, 100)) }),
      ...(attention && { attention }),
    }));
    return record;
  }
}

/** The text of a reading, its confidence, and what the frequency of words added. */
const summary = ({ text, confidence, prior }) => ({
  text,
  confidence: rounded(confidence),
  ...(prior && { prior: rounded(prior) }),
});

export const rounded = (value, digits = 1e6) => Math.round(value * digits) / digits;

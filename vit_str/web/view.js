// A picture with what was read in it: text and boxes light each other up.

import { asTsv, tableOf } from "./cells.js";

const SVG = "http://www.w3.org/2000/svg";
const LEVELS = [
  [0.95, "sure"],
  [0.8, "likely"],
  [0.5, "doubtful"],
  [0, "guess"],
];

const OF_THE_PAGE = ["attention", "picture", "csv", "xlsx"]; // not of what was read

export const percent = (share) => (share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`);
const levelOf = (confidence) => LEVELS.find(([least]) => confidence >= least)[1];

/** One line of `vit-str read --format jsonl`. */
export const jsonLine = (record) =>
  JSON.stringify(record, (name, value) => (OF_THE_PAGE.includes(name) ? undefined : value));

/**
 * The card of a picture; `handlers` has what its buttons do, `copy`, which copies a text, and `canCheck`, whether
 * texts can be checked.
 */
export class Card {
  constructor(file, name, handlers) {
    Object.assign(this, { file, name, handlers, page: 1, record: null, problem: null, items: [] });
    const copy = document.importNode(document.getElementById("card").content, true);
    this.element = copy.querySelector("article");
    this.find = (selector) => this.element.querySelector(selector);
    this.find(".name").textContent = name;
    this.image = this.find("img");
    this.image.alt = `The picture ${name}`;
    this.shown = this.draw(URL.createObjectURL(file));
    for (const button of this.element.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => handlers[button.dataset.do](this, button));
    }
    this.find(".text").addEventListener("keydown", (event) => this.move(event));
    this.shade = getComputedStyle(document.documentElement).getPropertyValue("--attention");
  }

  /** Show a picture, and say whether the browser can: a server reads formats that it cannot. */
  async draw(url) {
    URL.revokeObjectURL(this.image.src);
    this.image.src = url;
    const isShown = await this.image.decode().then(() => true, () => false);
    this.element.classList.toggle("unshown", !isShown);
    const { width, height } = sizeOf(this.image);
    if (isShown) this.find(".stage").style.setProperty("--ratio", width / height);
    return isShown;
  }

  remove() {
    URL.revokeObjectURL(this.image.src);
    this.element.remove();
  }

  offer(names) {
    for (const button of this.element.querySelectorAll("[data-do]")) {
      button.hidden = !["remove", ...names].includes(button.dataset.do);
    }
  }

  /** Empty, while the picture is being read; `what` is being done. */
  wait(what = "Reading …") {
    Object.assign(this, { record: null, problem: null, items: [] });
    this.light(null);
    this.element.setAttribute("aria-busy", "true");
    this.find(".busy").hidden = false;
    this.find(".busy").textContent = what;
    this.find(".problem").hidden = true;
    this.find(".alternatives").hidden = true;
    this.find(".check").hidden = true;
    for (const part of [".text", ".readout", "svg"]) this.find(part).replaceChildren();
    this.offer([]);
  }

  /** Why there is no reading. */
  fail(error) {
    this.finish();
    this.problem = error;
    this.find(".problem").hidden = false;
    this.find(".problem").textContent = error.message;
    this.offer([...(error.again ? ["retry"] : []), ...(this.page > 1 ? ["back"] : [])]);
  }

  finish() {
    this.element.setAttribute("aria-busy", "false");
    this.find(".busy").hidden = true;
  }

  /** The reading of a word, or of a whole picture. */
  show(record, other) {
    this.finish();
    this.record = record;
    this.summary = record.words ? pageSummary(record) : wordSummary(record);
    const { width, height } = record.words ? record : sizeOf(this.image);
    this.find("svg").setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.find("svg").setAttribute("preserveAspectRatio", "none");
    this.element.classList.toggle("page", Boolean(record.words));
    if (record.words) this.showPage(record);
    else this.showWord(record);
    this.find(".text").classList.toggle("nothing", !this.items.length);
    if (!this.items.length) this.find(".text").textContent = "No text found";
    if (this.items.length) this.items[0].node.tabIndex = 0;
    this.find("[data-do=kind]").textContent = other ?? "";
    const { page = 1, pages = 1 } = record;
    const turns = [...(page > 1 ? ["back"] : []), ...(page < pages ? ["next"] : [])];
    const files = ["csv", "xlsx"].filter((name) => record[name]);
    const check = record.words && this.handlers.canCheck() ? ["check"] : [];
    this.offer(["text", "json", ...files, ...check, ...turns, ...(other ? ["kind"] : [])]);
    this.light(null);
  }

  showWord({ characters, alternatives = [] }) {
    for (const character of characters) {
      const [left, top, right, bottom] = character.box ?? [];
      const corners = character.box && [[left, top], [right, top], [right, bottom], [left, bottom]];
      this.add(character.character, character, corners, this.find(".text"));
    }
    this.find(".alternatives").hidden = !alternatives.length;
    this.find(".alternatives").replaceChildren(
      ...alternatives.map(({ text, confidence }) => {
        const row = document.createElement("li");
        row.append(mark("span", text || "(no text)"), mark("span", percent(confidence)));
        return row;
      }),
    );
  }

  /** Lines as printed, and tables, each in the place of the first of its words. */
  showPage({ words, structure = [] }) {
    const tables = structure.filter(({ role, words: own }) => role === "table" && own.length);
    const tableAt = new Map(tables.flatMap((table) => table.words.map((place) => [words[place], table])));
    const shown = new Set();
    let block, line, before;
    for (const word of words) {
      const table = tableAt.get(word);
      if (table) {
        if (!shown.has(table)) this.find(".text").append(this.table(table, words));
        shown.add(table);
        before = null;
        continue;
      }
      if (word.block !== before?.block) this.find(".text").append((block = mark("div")));
      if (word.block !== before?.block || word.line !== before.line) block.append((line = mark("p")));
      this.add(word.text || "·", word, word.polygon, line);
      before = word;
    }
  }

  /** A table whose words light up as others do, with a button that copies it. */
  table(block, words) {
    const parts = mark("div");
    parts.className = "table";
    const scrolling = mark("div");
    scrolling.append(
      tableOf(block, words, (own, cell) => {
        for (const word of own) this.add(word.text || "·", word, word.polygon, cell);
      }),
    );
    const button = mark("button", "Copy table");
    button.type = "button";
    button.className = "copy";
    button.addEventListener("click", () => this.handlers.copy(asTsv(block.rows), button));
    parts.append(scrolling, button);
    return parts;
  }

  /** A character or a word, as a button in the text and as a shape on the picture. */
  add(label, what, corners, parent) {
    const index = this.items.length;
    const spoken = label.trim() || "space";
    const node = mark("button", label);
    node.type = "button";
    node.tabIndex = -1;
    node.dataset.level = levelOf(what.confidence);
    node.setAttribute("aria-label", `${spoken}, ${percent(what.confidence)}`);
    parent.append(node, ["P", "TD", "TH"].includes(parent.tagName) ? " " : "");
    const shape = document.createElementNS(SVG, "polygon");
    shape.setAttribute("points", (corners ?? []).join(" "));
    shape.dataset.level = node.dataset.level;
    this.find("svg").append(shape);
    this.items.push({ node, shape, what, label: spoken });
    for (const part of [node, shape]) {
      part.addEventListener("pointerenter", () => this.light(index));
      part.addEventListener("pointerleave", () => this.light(this.focused()));
    }
    shape.addEventListener("click", () => node.focus());
    node.addEventListener("focus", () => this.light(index));
    node.addEventListener("blur", () => this.light(null));
  }

  focused() {
    const index = this.items.findIndex(({ node }) => node === document.activeElement);
    return index < 0 ? null : index;
  }

  /** Light up one character or word, or none. */
  light(index) {
    const item = this.items[index];
    for (const each of this.items) {
      for (const part of [each.node, each.shape]) part.classList.toggle("lit", each === item);
    }
    this.element.classList.toggle("lighting", Boolean(item));
    this.drawAttention(item?.what.attention);
    this.find(".readout").textContent = item
      ? `“${item.label}” ${percent(item.what.confidence)}`
      : (this.record && this.summary) ?? "";
    if (item && this.record.words) {
      this.chosen = item;
      this.find("[data-do=closer]").hidden = false;
      this.find("[data-do=closer]").textContent = `Look closer at “${item.label}”`;
    }
  }

  drawAttention(map) {
    const canvas = this.find("canvas");
    canvas.hidden = !map;
    if (!map) return;
    canvas.height = map.length;
    canvas.width = map[0].length;
    const pen = canvas.getContext("2d");
    const most = Math.max(...map.flat());
    pen.fillStyle = this.shade;
    map.forEach((row, y) =>
      row.forEach((share, x) => {
        pen.globalAlpha = share / most;
        pen.fillRect(x, y, 1, 1);
      }),
    );
  }

  /** Arrow keys, Home and End go through the text, which is one stop for the Tab key. */
  move(event) {
    const last = this.items.length - 1;
    const at = this.focused();
    const targets = {
      ArrowRight: Math.min(at + 1, last),
      ArrowDown: Math.min(at + 1, last),
      ArrowLeft: Math.max(at - 1, 0),
      ArrowUp: Math.max(at - 1, 0),
      Home: 0,
      End: last,
    };
    if (at === null || !(event.key in targets)) return;
    event.preventDefault();
    this.items[at].node.tabIndex = -1;
    this.items[targets[event.key]].node.tabIndex = 0;
    this.items[targets[event.key]].node.focus();
  }

  /** The word of a whole picture that was lit up last, cut out and pulled straight. */
  async cutOut() {
    const [start, end, , below] = this.chosen.what.polygon;
    const length = (one, other) => Math.hypot(other[0] - one[0], other[1] - one[1]);
    const width = Math.max(1, Math.round(length(start, end)));
    const height = Math.max(1, Math.round(length(start, below)));
    const canvas = new OffscreenCanvas(width, height);
    const pen = canvas.getContext("2d");
    const { width: fullWidth } = sizeOf(this.image);
    const scale = this.record.width / fullWidth;
    const across = [(end[0] - start[0]) / width, (end[1] - start[1]) / width];
    const down = [(below[0] - start[0]) / height, (below[1] - start[1]) / height];
    const matrix = new DOMMatrix([...across, ...down, ...start]).inverse();
    pen.setTransform(matrix.scale(scale));
    pen.drawImage(this.image, 0, 0);
    return canvas.convertToBlob({ type: "image/png" });
  }
}

function mark(name, text = "") {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
}

const sizeOf = (image) => ({ width: image.naturalWidth || 1, height: image.naturalHeight || 1 });
const wordSummary = ({ text, confidence }) =>
  `${percent(confidence)} sure ${text ? "of the whole text" : "that there is none"}`;
const pageSummary = ({ words, page, pages = 1 }) =>
  `${words.length} ${words.length === 1 ? "word" : "words"}${pages > 1 ? `, page ${page} of ${pages}` : ""}`;

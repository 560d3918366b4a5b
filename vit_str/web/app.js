// The page: pictures come in, go to a reader, and become cards.

import { ask } from "./check_dialog.js";
import { save } from "./saving.js";
import { languages } from "./shared.js";
import { Card, jsonLine } from "./view.js";

const SAMPLES = ["word-02.webp", "word-05.webp", "word-06.jpg", "word-12.jpg", "word-11.webp", "word-08.webp"];
const LABELS = ["OPEN", "Coffee", "Exit", "42nd", "platform", "$9.50"];
// A crop of a word is flatter or smaller than this.
const PAGE_SIDE = 300;
const PAGE_ASPECT = 2.5;

const at = (id) => document.getElementById(id);
const kindOfReader = document.querySelector("meta[name=reader]").content;
const module = await import(`./${kindOfReader}.js`).catch((error) => {
  at("unstarted").hidden = true;
  complain("This page is not complete. Export it again.");
  throw error;
});
const cards = new Set();
const waiting = [];
let reading = 0;
let reader;
at("unstarted").remove();
const names = new Intl.DisplayNames(["en"], { type: "language" });
for (const code of ["en", ...languages]) addLanguage(code);

/** Offer a language, if it is not offered yet. */
function addLanguage(code) {
  const known = [...at("language").options].some(({ value }) => value === code);
  if (!known) at("language").add(new Option(names.of(code), code));
}

function complain(text) {
  at("trouble").textContent = text;
  at("trouble").hidden = !text;
}

const say = (text) => (at("live").textContent = text);

async function open() {
  at("key-form").hidden = true;
  complain("");
  say("Loading the model");
  document.body.classList.add("loading");
  try {
    reader = await module.openReader((share) => {
      at("note").textContent = `Loading the model, ${Math.round(100 * share)} %`;
    });
  } catch (error) {
    at("note").textContent = "";
    at("key-form").hidden = error.status !== 401;
    if (error.status !== 401) complain(error.message);
    else if (at("key").value) complain("The server does not know this key.");
    return;
  } finally {
    document.body.classList.remove("loading");
  }
  at("note").textContent = reader.note;
  for (const code of reader.otherLanguages) addLanguage(code);
  say("Ready");
  at("kind-option").hidden = !reader.pages;
  if (reader.pages) {
    at("hint").textContent = `Cropped words, or whole ${reader.pages}.`;
    at("files").accept = reader.accept;
  }
  start();
}

/** Take pictures from wherever they come. */
function add(files, kind = at("kind").value) {
  for (const file of files) {
    const card = new Card(file, file.name || "pasted picture", handlers);
    card.kind = kind;
    cards.add(card);
    at("cards").prepend(card.element);
    enqueue(card);
  }
  at("results").hidden = !cards.size;
}

function enqueue(card) {
  card.wait();
  waiting.push(card);
  start();
}

function start() {
  while (reader && waiting.length && reading < reader.atOnce) {
    reading++;
    read(waiting.shift()).finally(() => {
      reading--;
      start();
    });
  }
}

async function read(card) {
  if (!cards.has(card)) return;
  const shown = await card.shown;
  const looksLikePage = card.file.type === "application/pdf" || isPage(card.image);
  const page = reader.pages && (card.kind === "page" || (card.kind === "auto" && looksLikePage));
  card.kind = page ? "page" : "word";
  try {
    const nBest = Number(at("n-best").value);
    const language = at("language").value;
    const record = await (page
      ? reader.readPage(card.file, card.name, {
          language,
          page: card.page,
          picture: !shown,
          report: (what) => card.wait(what),
        })
      : reader.readWord(card.file, card.name, nBest, language));
    if (record.picture) await card.draw(record.picture);
    card.show(record, reader.pages ? `Read as ${page ? "one word" : "a whole picture"}` : null);
    if (!reader.pages && shown && isPage(card.image) && record.confidence < 0.5) {
      card.find(".readout").textContent += ". This looks like a whole photograph: cut out one word.";
    }
    say(`${card.name}: ${record.text || "no text"}, ${card.summary}`);
  } catch (error) {
    card.fail(error);
    say(`${card.name}: ${error.message}`);
    if (error.status === 401) at("key-form").hidden = false;
  }
}

/** Read another page of the file of a card. */
function turnTo(card, page) {
  card.page = page;
  enqueue(card);
}

function isPage({ naturalWidth: width, naturalHeight: height }) {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  return short >= PAGE_SIDE && long <= PAGE_ASPECT * short;
}

const handlers = {
  retry: enqueue,
  text: (card, button) => copy(card.record.text, button),
  json: (card, button) => copy(jsonLine(card.record), button),
  copy: (text, button) => copy(text, button),
  csv: (card) => save(`${stem(card)}.csv`, `\ufeff${card.record.csv}`, "text/csv"), // Excel asks for the mark
  xlsx: (card) => save(`${stem(card)}.xlsx`, card.record.xlsx),
  canCheck: () => Boolean(reader.check),
  check(card) {
    const { page } = card;
    ask(card, (text) => reader.check(card.file, card.name, text, { language: at("language").value, page }));
  },
  kind(card) {
    card.kind = card.kind === "page" ? "word" : "page";
    enqueue(card);
  },
  async closer(card) {
    const name = `${card.chosen.label} in ${card.name}`;
    add([new File([await card.cutOut()], name, { type: "image/png" })], "word");
    at("cards").firstElementChild.scrollIntoView({ block: "nearest" });
  },
  back: (card) => turnTo(card, card.page - 1),
  next: (card) => turnTo(card, card.page + 1),
  remove(card) {
    cards.delete(card);
    card.remove();
    at("results").hidden = !cards.size;
    (at("cards").querySelector("[data-do=remove]") ?? at("choose")).focus();
  },
};

const stem = ({ name }) => name.replace(/\.\w{1,5}$/, "");

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // without https there is no clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const label = (button.dataset.label ??= button.textContent);
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => (button.textContent = label), 1500);
}

const records = () =>
  [...at("cards").children]
    .map((element) => [...cards].find((card) => card.element === element).record)
    .filter(Boolean);

at("copy-text").onclick = ({ target }) => copy(records().map(({ text }) => text).join("\n"), target);
at("copy-json").onclick = ({ target }) => copy(records().map(jsonLine).join("\n"), target);
at("clear").onclick = () => [...cards].forEach(handlers.remove);
at("choose").onclick = () => at("files").click();
at("files").onchange = ({ target }) => {
  add(target.files);
  target.value = "";
};
at("key-form").onsubmit = (event) => {
  event.preventDefault();
  module.useKey(at("key").value);
  at("key-form").hidden = true;
  if (!reader) open();
  for (const card of cards) if (card.problem?.status === 401) enqueue(card);
};

document.addEventListener("paste", ({ clipboardData }) => add(clipboardData.files));
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
for (const name of ["dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    if (name === "drop" || !event.relatedTarget) document.body.classList.remove("dropping");
    if (name === "drop") add(event.dataTransfer.files);
  });
}

SAMPLES.forEach((name, i) => {
  const button = document.createElement("button");
  const picture = new Image();
  picture.src = new URL(`samples/${name}`, import.meta.url);
  picture.alt = `Sample ${LABELS[i]}`;
  button.append(picture);
  button.onclick = async () => {
    const response = await fetch(picture.src);
    add([new File([await response.blob()], name, { type: response.headers.get("Content-Type") })]);
  };
  at("samples").append(button);
});

// The camera: a live view where the browser allows one, else what the file dialog offers.
const dialog = at("camera-dialog");
const video = dialog.querySelector("video");
at("camera").onclick = async () => {
  try {
    const wanted = { facingMode: "environment", width: { ideal: 1920 } };
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: wanted });
    dialog.showModal();
    await video.play();
  } catch {
    at("files").setAttribute("capture", "environment");
    at("files").click();
    at("files").removeAttribute("capture");
  }
};
at("stop").onclick = () => dialog.close();
dialog.onclose = () => {
  for (const track of video.srcObject?.getTracks() ?? []) track.stop();
  video.srcObject = null;
};
at("shoot").onclick = async () => {
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
  canvas.getContext("2d").drawImage(video, 0, 0);
  dialog.close();
  const blob = await canvas.convertToBlob({ type: "image/png" });
  add([new File([blob], "camera picture", { type: "image/png" })]);
};

await open();

// Reads words and whole pictures on a server of `vit-str serve`.

const WORDS = {
  401: "This server asks for a key, or does not know the one that it was given.",
  413: "This file is larger than the server takes. Make it smaller, or cut out what to read.",
  429: "The server has more to do than it can take right now.",
  503: "The server has more to do than it can take right now.",
  504: "The server took too long for this picture. Try again, or make it smaller.",
};
const AGAIN = [401, 429, 500, 502, 503, 504];

/** What went wrong, in words; `again` if another try may help. */
class ServerError extends Error {
  constructor(message, status, again) {
    super(message);
    Object.assign(this, { status, again });
  }
}

let key = "";

/** The key that later requests carry. */
export function useKey(value) {
  key = value;
}

/** The reader of the page. */
export async function openReader() {
  return new ServerReader(await request("v1/model"));
}

class ServerReader {
  note = "Pictures are read on the server that this page comes from.";
  atOnce = 4;
  accept = "image/*,.pdf";

  constructor(model) {
    this.model = model;
    this.otherLanguages = model.other_languages ?? [];
    this.pages = model.pages !== false && "photographs, scans and PDF files";
  }

  /** A cropped word as `vit-str read --format jsonl --boxes` has it, with maps of attention. */
  async readWord(file, name, nBest, language) {
    const looks = this.model.boxes === false ? "" : "&boxes=1&attention=1";
    const { readings } = await this.post(`v1/read?n_best=${nBest}&language=${language}${looks}`, file, name);
    const [record] = readings;
    if (record.error) throw new ServerError(sentence(record.error), 422, false);
    return { ...record, path: name };
  }

  /** A page as `vit-str read --page --format jsonl --boxes` has it, with a picture if it is asked for. */
  async readPage(file, name, { language, page, picture }) {
    const wanted = `${page > 1 ? `&page=${page}` : ""}${picture ? "&picture=1" : ""}`;
    const record = await this.post(`v1/page?language=${language}&structure=1&tables=1${wanted}`, file, name);
    if (record.error) throw new ServerError(sentence(record.error), 422, false);
    return { ...record, path: name };
  }

  /** A text beside a page, as `vit-str check --format html` writes it. */
  async check(file, name, text, { language, page }) {
    const record = await this.post(`v1/check?html=1&language=${language}&page=${page}`, file, name, { text });
    if (record.error) throw new ServerError(sentence(record.error), 422, false);
    return record.html;
  }

  post(path, file, name, fields = {}) {
    // The browser may not hear the answer to a request that is refused while it is sent.
    if (file.size + 1000 > this.model.limits?.body) throw new ServerError(WORDS[413], 413, false);
    const body = new FormData();
    body.append("files", file, name);
    for (const [field, value] of Object.entries(fields)) body.append(field, value);
    return request(path, body);
  }
}

async function request(path, body) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const response = await fetch(path, { method: body ? "POST" : "GET", headers, body }).catch(() => {
    throw new ServerError("The server cannot be reached. Is it still running?", 0, true);
  });
  if (response.ok) return response.json();
  const said = await response.json().catch(() => ({}));
  const own = [said.error, said.detail, said.message].find((each) => typeof each === "string");
  const wait = Number(response.headers.get("Retry-After"));
  const later = wait ? ` Try again in ${wait === 1 ? "a second" : `${wait} seconds`}.` : "";
  const words = WORDS[response.status] ?? sentence(own ?? `The server answered ${response.status}`);
  throw new ServerError(words + later, response.status, AGAIN.includes(response.status));
}

const sentence = (text) => {
  const line = text.trim();
  return line.charAt(0).toUpperCase() + line.slice(1) + (/[.!?]$/.test(line) ? "" : ".");
};

// How frequent words are: `vit_str/decoding/prior.py`.

import { prior } from "./shared.js";

const { STEPS, WEIGHT, UNKNOWN, NO_WORD, SIGNS, JOINED, SHORTEST } = prior;
const OTHERS = Math.exp(WEIGHT * prior.OTHERS); // what the search did not find
const GREEK = { ς: "σ", ...prior.GREEK }; // as capitals are, without accents

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

/** The prior of languages such as `en*48+de`, of the table of the package; null without any. */
export function openPrior(buffer, languages) {
  const view = new DataView(buffer);
  const start = 8 + Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, start - 8)));
  const bytes = (name) => {
    const [first, last] = header[name].data_offsets;
    return new Uint8Array(buffer, start + first, last - first);
  };
  const parts = (languages ?? "")
    .split("+")
    .map((part) => part.split("*"))
    .filter(([code]) => `${code}.zipf` in header)
    .map(([code, weight]) => ({ code, weight: Number(weight ?? 1) }));
  if (!parts.length) return null;
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  return new Prior(
    parts.map(({ code, weight }) => {
      const planes = bytes(`${code}.hashes`);
      const count = planes.length / 4;
      const hashes = new Uint32Array(count);
      for (let i = 0; i < count; i++) {
        for (let plane = 0; plane < 4; plane++) {
          hashes[i] = (hashes[i] << 8) | planes[plane * count + i];
        }
      }
      return { hashes, zipf: bytes(`${code}.zipf`), share: weight / total };
    }),
  );
}

class Prior {
  constructor(lists) {
    this.lists = lists;
  }

  /** Hypotheses with `text` and `confidence`, by Bayes' rule, the best first. */
  weigh(hypotheses) {
    const weighed = hypotheses.map((each) => {
      const prior = WEIGHT * this.zipf(each.text);
      return { ...each, prior, confidence: each.confidence * Math.exp(prior) };
    });
    const found = hypotheses.reduce((sum, { confidence }) => sum + confidence, 0);
    const total = weighed.reduce((sum, { confidence }) => sum + confidence, 0);
    const all = total + Math.max(0, 1 - found) * OTHERS;
    return weighed
      .map((each) => ({ ...each, confidence: each.confidence / all }))
      .sort((one, other) => other.confidence - one.confidence);
  }

  /** The Zipf frequency of a text. */
  zipf(text) {
    if (text && !/[^\P{L}ªº]|\p{N}/u.test(text)) return SIGNS;
    const word = folded(text);
    const whole = this.lookup(word);
    if (whole > UNKNOWN) return whole;
    const split = word.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    const parts = split.length > 1 ? split : [];
    if (!(parts.length ? parts : [word]).every((part) => /^\p{L}+$/u.test(part))) return NO_WORD;
    if (!parts.length) return UNKNOWN;
    return Math.max(UNKNOWN, Math.min(...parts.map((part) => this.lookup(part))) - JOINED);
  }

  lookup(word) {
    const hash = crc32(new TextEncoder().encode(word));
    let frequency = 0;
    for (const { hashes, zipf, share } of this.lists) {
      const place = search(hashes, hash);
      if (hashes[place] === hash) frequency += share * 10 ** (zipf[place] / STEPS);
    }
    const most = SHORTEST + [...word].length;
    return Math.min(Math.log10(Math.max(frequency, 10 ** UNKNOWN)), most);
  }
}

/** Small letters, without signs at the ends. */
function folded(text) {
  const small = text.normalize("NFC").replaceAll("İ", "i").replaceAll("’", "'").toLowerCase();
  const same = small.replaceAll("ß", "ss").replace(/[ςάέήίόύώΐΰ]/g, (letter) => GREEK[letter]);
  return same.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
}

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The place of the first value that is not smaller. */
function search(values, wanted) {
  let [first, last] = [0, values.length];
  while (first < last) {
    const middle = (first + last) >> 1;
    if (values[middle] < wanted) first = middle + 1;
    else last = middle;
  }
  return first;
}

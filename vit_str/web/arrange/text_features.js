// Features of the texts of pieces: `vit_str/pages/arrange/features.py`.

import { features } from "../shared.js";

const { BUCKETS, NGRAMS, FIRST, LAST, CHARACTERS, BULLETS, MONEY, WORDS } = features;
const DIGIT = /[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]/u;
const NOTHING = 7; // the kind of the only character of a text without any
const OF_WORD = 5; // n-grams of three characters

/** Numbers that tell length, kinds of characters, and those at both ends. */
export function textNumbers(text) {
  const characters = [...text].filter((character) => character !== " ");
  const kinds = characters.length ? characters.map(kindOf) : [NOTHING];
  const shares = [1, 2, 3, 4].map((kind) => kinds.filter((each) => each === kind).length / kinds.length);
  const flags = [
    characters.some((character) => MONEY.includes(character)),
    isUpper(text),
    text.includes(":"),
    text.endsWith(":"),
  ];
  const first = [...kinds, ...Array(FIRST).fill(0)].slice(0, FIRST);
  const last = [...Array(LAST).fill(0), ...kinds].slice(-LAST);
  const ends = [...first, ...last].flatMap((kind) => oneHot(kind, CHARACTERS));
  const lengths = [Math.log(kinds.length), Math.log(text.split(" ").length)];
  return [...lengths, ...shares, ...flags.map(Number), ...ends];
}

export const oneHot = (place, length) => Array.from({ length }, (_, i) => Number(i === place));

/** The kind of a character, from 1. */
function kindOf(character) {
  if (DIGIT.test(character)) return 1;
  if (/\p{L}/u.test(character)) return /\p{Uppercase}/u.test(character) ? 2 : 3;
  if (".,:;!?".includes(character)) return 4;
  if ("()[]/".includes(character)) return 5;
  return BULLETS.includes(character) ? 6 : NOTHING;
}

const isUpper = (text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

/** Numbers of the words at both ends of a text, and of three characters in each; 0 for none. */
export function ngramsOf(text) {
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean);
  const ends = [...words.slice(0, WORDS), ...words.slice(WORDS).slice(-WORDS)];
  const found = ends.flatMap((word, place) => {
    const letters = [...word].map((letter) => (DIGIT.test(letter) ? "0" : letter));
    const marked = ["<", ...letters, ">"];
    const starts = Array.from({ length: Math.min(OF_WORD, marked.length - 2) }, (_, i) => i);
    const parts = starts.map((start) => marked.slice(start, start + 3).join(""));
    return [`${place} ${marked.join("")}`, ...parts].map(bucketOf);
  });
  return [...found, ...Array(NGRAMS).fill(0)].slice(0, NGRAMS);
}

const bucketOf = (text) => 1 + (crc32(new TextEncoder().encode(text)) % (BUCKETS - 1));

/** The checksum of bytes that zlib and PNG files have. */
export function crc32(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return (rest ^ 0xffffffff) >>> 0;
}

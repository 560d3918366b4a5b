// Words within the strips of their lines: `vit_str/pages/read/pieces.py`.

import { boxAround } from "./geometry.js";
import { resize, roundHalfEven } from "./images.js";
import { trimmed, typeOf } from "./ink.js";
import { crop } from "./margins.js";
import { pieces } from "./shared.js";

const { MARGIN, BESIDE, ABOVE, MOST_BESIDE } = pieces;
const NOTHING = { text: "", confidence: 0, characters: [] };

const product = (characters) => characters.reduce((all, { confidence }) => all * confidence, 1);

/** The words of a line, with margins that do not reach their neighbors; all of it if none was read. */
export function wordsOf(strip, { characters }) {
  const { width, height } = strip;
  const margin = roundHalfEven(MARGIN * height);
  const words = cutAtSpaces(characters);
  if (!words.length) return [{ strip, reading: NOTHING, box: [0, 0, width, height] }];
  const middle = (i) => Math.floor((words[i].right + words[i + 1].left) / 2);
  return words.map(({ left, right, reading }, i) => {
    const first = Math.max(i ? middle(i - 1) : 0, left - margin);
    const last = Math.min(i < words.length - 1 ? middle(i) : width, right + margin);
    return { strip, reading, box: [first, 0, last, height] };
  });
}

function cutAtSpaces(characters) {
  const words = [];
  let word = null;
  for (const character of characters) {
    if (!character.character.trim()) word = null;
    else if (word) word.push(character);
    else words.push((word = [character]));
  }
  return words.map((letters) => {
    const left = Math.floor(Math.min(...letters.map(({ box }) => box[0])));
    const right = Math.ceil(Math.max(...letters.map(({ box }) => box[2])));
    const text = letters.map(({ character }) => character).join("");
    const reading = { text, confidence: product(letters), characters: letters };
    return { left, right: Math.max(left + 1, right), reading };
  });
}

/** A word alone, widened to a square if it is tall: readers turn what looks like a column. */
export function pictureOf({ strip, box }) {
  const part = crop(strip.picture, box);
  if (part.width >= part.height) return part;
  const { height } = part;
  return { width: height, height, pixels: resize(part, height, height) };
}

/** A reading of that picture, its boxes in pixels of the strip. */
export function inStrip({ box: [left, top, right, bottom] }, { text, confidence, characters }) {
  const scale = (right - left) / Math.max(right - left, bottom - top); // of what was widened
  const moved = ([x, y, x2, y2]) => [left + x * scale, top + y, left + x2 * scale, top + y2];
  const placed = characters.map((each) => ({ ...each, box: each.box && moved(each.box) }));
  return { text, confidence, characters: placed };
}

/** The words of a line with their type, and their corners on the page; see `onPage`. */
export function wordsOnPage(words) {
  const spans = words.map(spanOf);
  const texts = words.map(({ reading }) => reading.text);
  const inLine = spans.map(([left, right], i) => ({ text: texts[i], left, right }));
  const type = typeOf(words[0].strip.ink, inLine);
  return words.map((word, i) => ({ ...onPage(word, spans[i]), text: texts[i], ...type }));
}

/** A word with its corners on the page, without what detectors give around the letters. */
function onPage({ strip, box, reading }, [left, right]) {
  const above = ABOVE * (box[3] - box[1]);
  const within = (x) => Math.min(Math.max(x, left), right);
  const characters = reading.characters.map((each) => {
    if (!each.box) return each;
    const [start, top, end, bottom] = each.box;
    const inside = [within(start), top, within(end), bottom];
    return { ...each, box: boxAround(strip.polygon(inside)) };
  });
  const polygon = strip.polygon([left, box[1] + above, right, box[3] - above]);
  return { reading: { ...reading, characters }, polygon };
}

/** Where the letters of a word begin and end in its strip. */
function spanOf({ strip, box: [left, top, right, bottom] }) {
  const beside = Math.min(BESIDE * (bottom - top), MOST_BESIDE * (right - left));
  return trimmed(strip.columns, strip.height, left + beside, right - beside, beside);
}

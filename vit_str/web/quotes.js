// Low quotation marks, which readers take for commas: `vit_str/pages/read/quotes.py`.

import { boxAround } from "./geometry.js";
import { quotes } from "./shared.js";

const { MOST_WORDS, DOUBLE, SINGLE } = quotes;
// No word begins with a comma. Before digits it may well be one: 1 ,000.
const OPENING = /^\(?(,,?)(?=\p{L})/du;
const CLOSING = /[^\s"'](["'])[^\p{L}\p{N}_"']*$/du;

/** Words of a paragraph with `,Guten Tag"` as `„Guten Tag“`, where another mark closes it. */
export function withLowQuotes(words) {
  const found = [...words];
  words.forEach((word, index) => {
    const opening = OPENING.exec(word.reading.text);
    if (!opening) return;
    const end = endOf(words, index);
    const closing = end === null ? null : CLOSING.exec(words[end].reading.text);
    const marks = closing?.[1] === "'" ? SINGLE : DOUBLE;
    if (closing) found[end] = withMark(found[end], closing.indices[1], marks[1]);
    else if (opening[1] === ",") return;
    found[index] = withMark(found[index], opening.indices[1], marks[0]);
  });
  return found;
}

/** Which word closes a quotation, if one does before the next begins. */
function endOf(words, start) {
  for (let index = start; index < Math.min(words.length, start + MOST_WORDS); index++) {
    const { text } = words[index].reading;
    if (index > start && (text.startsWith('"') || OPENING.test(text))) return null;
    if (CLOSING.test(text)) return index;
  }
  return null;
}

/** A word with a mark in the place of some of its characters. */
function withMark(word, [start, end], mark) {
  const { text, characters } = word.reading;
  const around = (letters) => [letters.slice(0, start), letters.slice(end)];
  const [before, after] = around(text);
  const [lettersBefore, lettersAfter] = around(characters);
  const together = joined(characters.slice(start, end), mark);
  const letters = [...lettersBefore, together, ...lettersAfter];
  return { ...word, reading: { ...word.reading, text: before + mark + after, characters: letters } };
}

/** One character where there were some. */
function joined(characters, mark) {
  const confidence = characters.reduce((all, each) => all * each.confidence, 1);
  const boxes = characters.map(({ box }) => box).filter(Boolean);
  if (!boxes.length) return { character: mark, confidence };
  const corners = boxes.flatMap(([left, top, right, bottom]) => [[left, top], [right, bottom]]);
  return { character: mark, confidence, box: boxAround(corners) };
}

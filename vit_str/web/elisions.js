// Articles without their vowel, as in `l'été`: `vit_str/pages/read/elisions.py`.

import { elisions } from "./shared.js";

const { LETTER } = elisions;

const CAPITAL =
  /^[^\p{L}\p{N}_]*([Iľ])(?=['’][aàâæeéèêëiîïoôœuùûyhAÀÂEÉÈÊOÔŒUÛH])(?!.[iI]l(?!\p{L}))/du;
const CARON = /^[^\p{L}\p{N}_]*(ľ)(?=[eéèêëiîïœàâ])/du;
const CARON_BESIDE_OTHERS = /^[^\p{L}\p{N}_]*(ľ)(?=[aàâæeéèêëiîïoôœuùûyh])/du;
const ELISION = /^[^\p{L}\p{N}_]*(?:[cdjlmnst]|qu)(['’])[\p{L}\p{N}_]/iu;

/**
 * Words with `I'été` and `ľété` as `l'été`; `ľarbre` too, where other words lack a vowel. The
 * apostrophe is that of most of these.
 */
export function withElisions(words) {
  const others = words.map(({ reading }) => ELISION.exec(reading.text)?.[1]).filter(Boolean);
  const curly = others.filter((sign) => sign === "’").length;
  const isCurly = curly * 2 > others.length || (curly * 2 === others.length && others[0] === "’");
  const article = isCurly ? "l’" : "l'";
  const caron = others.length ? CARON_BESIDE_OTHERS : CARON;
  return words.map((word) => {
    const { text } = word.reading;
    const capital = CAPITAL.exec(text);
    const found = capital ?? caron.exec(text);
    return found ? withArticle(word, found.indices[1][0], capital ? "l" : article) : word;
  });
}

/** A word with the letter of an article, or letter and apostrophe, in place of a character. */
function withArticle(word, place, article) {
  const { text, characters } = word.reading;
  const letters = [...characters];
  if (letters.length === text.length) letters.splice(place, 1, ...parts(letters[place], article));
  const replaced = text.slice(0, place) + article + text.slice(place + 1);
  return { ...word, reading: { ...word.reading, text: replaced, characters: letters } };
}

/** A character as another one, or as two beside each other, which share its confidence. */
function parts(character, text) {
  if (text.length === 1 || !character.box) {
    return [...text].map((each) => ({ ...character, character: each }));
  }
  const [left, top, right, bottom] = character.box;
  const middle = left + LETTER * (right - left);
  const boxes = [[left, top, middle, bottom], [middle, top, right, bottom]];
  return [...text].map((each, index) => ({ ...character, character: each, box: boxes[index] }));
}

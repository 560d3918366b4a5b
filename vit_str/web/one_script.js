// One word has one script: `vit_str/scripts/one_script.py` and `vit_str/characters/alphabets.py`.

import { oneScript as ofWords, scripts } from "./shared.js";

const LATIN = "Latin";
const { LOOK_ALIKES, SIMILAR, ALPHABETS } = scripts;
// A ten by itself is no initial, which has a period, and no word of any language.
const LATIN_SIGNS = [
  /^[^\p{L}\p{N}_.]*X([^\p{L}\p{N}_.]+[XI]+)?[^\p{L}\p{N}_.]*$/u,
  /^[^\p{L}\p{N}_]*C(\+\+|#)[^\p{L}\p{N}_]*$/u,
  /^[^\p{L}_]*°C[^\p{L}\p{N}_]*$/u,
];
const UNIT = /^([kкκMМΜmмGnp]?Ω|[μµ][A-ZΑ-ΩА-Я]\p{L}?)$/u; // kΩ, μA, μPa
const { WORDS_OF_ONE_LETTER, LETTER_THREE } = ofWords;
const ORDINAL = /^З-\p{L}{1,3}$/u; // 3-й, 3-го

/** From the letters of all scripts to those of each. */
function shapesOf(rows) {
  const tables = {};
  for (const [script, wanted] of Object.entries(rows)) {
    tables[script] = new Map();
    for (const letters of Object.values(rows)) {
      [...letters].forEach((letter, i) => {
        if (letter !== "." && wanted[i] !== ".") tables[script].set(letter, wanted[i]);
      });
    }
  }
  return tables;
}

const SAME = shapesOf(LOOK_ALIKES);
const NEAR = shapesOf(SIMILAR);
for (const [script, table] of Object.entries(SAME)) {
  for (const [letter, same] of table) NEAR[script].set(letter, same);
}
const lettersOf = (tables) => new Set(Object.values(tables).flatMap((table) => [...table.keys()]));
const [ALIKE, NEARLY_ALIKE] = [lettersOf(SAME), lettersOf(NEAR)];

export function scriptOf(letter) {
  const code = letter.codePointAt(0);
  if (!/\p{L}/u.test(letter) || "ªºµ".includes(letter)) return null;
  if (code < 0x2b0 || (code >= 0x1e00 && code < 0x1f00)) return LATIN;
  if ((code >= 0x370 && code < 0x400) || (code >= 0x1f00 && code < 0x2000)) return "Greek";
  return code >= 0x400 && code < 0x530 ? "Cyrillic" : null;
}

const scriptOfLanguage = (code) => (code in ALPHABETS ? scriptOf(ALPHABETS[code][0]) : LATIN);
const written = (text, table) => [...text].map((letter) => table.get(letter) ?? letter).join("");
const isUpper = (text) => text === text.toUpperCase() && text !== text.toLowerCase();
const subset = (letters, alphabet) => [...letters].every((letter) => alphabet.includes(letter));

/** What comes most often, the first of two that come as often; null of nothing. */
function winner(scripts) {
  const votes = new Map();
  for (const script of scripts) if (script) votes.set(script, (votes.get(script) ?? 0) + 1);
  let best = null;
  for (const [script, count] of votes) if (best === null || count > votes.get(best)) best = script;
  return best;
}

const possible = (text) =>
  Object.keys(SAME).filter((script) => [...text].every((letter) => SAME[script].has(letter)));

/** The script of letters that only it has, or else of similar ones; null if none tells. */
function scriptThatShows(text) {
  for (const alike of [NEARLY_ALIKE, ALIKE]) {
    const found = winner([...text].filter((letter) => !alike.has(letter)).map(scriptOf));
    if (found) return found;
  }
  const scripts = possible(text);
  return scripts.length === 1 ? scripts[0] : null;
}

/** Parts whose script is known; a Greek letter by itself may be a sign. */
function tellingOf(parts) {
  const telling = parts.filter(({ script }) => script);
  const words = telling.filter(({ text, script }) => script !== "Greek" || [...text].length > 1);
  return words.length ? words : telling;
}

/** Scripts of the letters that tell. */
const votesOf = (parts) =>
  tellingOf(parts).flatMap(({ text, script }) => [...text].map(() => script));

/** The script of one small letter between spaces, if that is a word; `а` follows a comma. */
function scriptOfSmallLetter(ofWord, parts, line) {
  const [{ index, text }] = ofWord;
  const end = index + text.length;
  const letter = written(text, SAME.Latin);
  const isSmall = letter === letter.toLowerCase() && letter !== letter.toUpperCase();
  if (ofWord.length > 1 || [...letter].length > 1 || !isSmall) return null;
  if (line.slice(Math.max(0, index - 1), end + 1).trim() !== text) return null;
  const telling = tellingOf(parts);
  for (const [script, letters] of Object.entries(WORDS_OF_ONE_LETTER)) {
    const isThere = telling.some((part) => part.script === script);
    if (letters.includes(letter) && isThere) return script;
  }
  const after = telling.find((part) => part.index >= end);
  const isBehindComma = line.slice(0, index).trimEnd().endsWith(",");
  return letter === "a" && after?.script === LATIN && !isBehindComma ? LATIN : null;
}

/** A line with digits where a letter that looks like one cannot stand. */
function withThrees(line) {
  const words = line.split(" ");
  words.forEach((word, place) => {
    const before = (place ? words[place - 1] : "").replace(/,+$/, "");
    if (isNumber(word, before)) words[place] = word.replaceAll(LETTER_THREE, "3");
  });
  return words.join(" ");
}

/** Whether a word has a Ze that is a digit: without other letters, or in an ordinal. */
function isNumber(word, before) {
  if (ORDINAL.test(word)) return true;
  const letters = word.match(/\p{L}/gu) ?? [];
  if (!letters.length || letters.some((letter) => letter !== LETTER_THREE)) return false;
  if (/\p{Nd}/u.test(word)) return true;
  const isAlone = word.startsWith(LETTER_THREE) && letters.length === 1;
  return isAlone && !word.startsWith(`${LETTER_THREE}.`) && /\p{Ll}$/u.test(before);
}

/** The script of the nearest words of a line before and after a word, if it is the same. */
function scriptOfNeighbors(ofWord, parts) {
  const telling = tellingOf(parts);
  const before = telling.filter(({ index }) => index < ofWord[0].index).at(-1);
  const after = telling.find(({ index }) => index > ofWord.at(-1).index);
  return before && before.script === after?.script ? before.script : null;
}

/** The script of the letters of a word, as far as the word itself tells. */
function scriptOfWord(parts, word, ofLine) {
  const script = winner(votesOf(parts));
  if (script) return script;
  const inLatin = written(word, SAME.Latin);
  if (LATIN_SIGNS.some((sign) => sign.test(inLatin))) return LATIN;
  const letters = parts.map(({ text }) => text).join("");
  const isCode = isUpper(letters) && /\p{Nd}/u.test(word);
  const isLatin = ofLine === null || ofLine === LATIN;
  return isCode && !isLatin ? winner([...letters].map(scriptOf)) : null;
}

/** Languages that are not Latin and may be those of a line: they have the letters that tell. */
function languagesOf(parts, codes) {
  let languages = Object.keys(ALPHABETS).filter((code) => codes.includes(code));
  for (const script of Object.keys(SAME)) {
    const known = Object.keys(ALPHABETS).filter((code) => scriptOfLanguage(code) === script);
    if (!known.some((code) => languages.includes(code))) languages.push(...known);
  }
  for (const script of Object.keys(SAME)) {
    const telling = parts.filter((part) => part.script === script).map(({ text }) => text);
    const letters = telling.join("").toLowerCase();
    const isOfScript = (code) => scriptOfLanguage(code) === script;
    const having = languages.filter((code) => !isOfScript(code) || subset(letters, ALPHABETS[code]));
    if (having.some(isOfScript)) languages = having;
  }
  return languages;
}

/** Letters that look alike, in the script that is wanted, if languages have them there. */
function decided(text, asked, languages) {
  const latin = written(text, SAME.Latin);
  const isNumeral = text === text.toUpperCase() && /^(?=..)X{0,3}(IX|I{0,3})$/.test(latin);
  let wanted = isNumeral ? LATIN : asked;
  if (wanted && wanted !== LATIN) {
    const letters = written(text, SAME[wanted]).toLowerCase();
    const having = languages
      .filter((code) => scriptOfLanguage(code) === wanted)
      .map((code) => subset(letters, ALPHABETS[code]));
    if (!having.some(Boolean)) wanted = LATIN;
    else if (!having.every(Boolean)) wanted = null; // it stays as it was read
  }
  const scripts = possible(text);
  if (!scripts.includes(wanted)) {
    const count = (script) => [...text].filter((letter) => scriptOf(letter) === script).length;
    wanted = scripts.reduce((best, one) => (count(one) > count(best) ? one : best), scripts[0]);
  }
  return wanted ? written(text, SAME[wanted]) : text;
}

/** A line of text, of which every word has the letters of one script. */
export function oneScript(line, language = "", page = null) {
  const parts = partsOf(line);
  const codes = language.split("+").map((part) => /^([a-z]{2,3})(\*\d+)?$/.exec(part)?.[1]);
  const known = codes.filter(Boolean);
  const words = line.split(" ");
  const placeOf = ({ index }) => line.slice(0, index).split(" ").length - 1;
  const ofLine = winner(votesOf(parts));
  const languages = languagesOf(parts, known);
  const undecided = parts.filter(({ script, text }) => !script && [...text].some(scriptOf));
  const ofLanguage = known.length ? scriptOfLanguage(known[0]) : null;
  const wanted = undecided.map((part) => {
    const place = placeOf(part);
    const ofWord = parts.filter((other) => placeOf(other) === place);
    const ofItself =
      scriptOfWord(ofWord, words[place], ofLine) ?? scriptOfSmallLetter(ofWord, parts, line);
    return ofItself ?? scriptOfNeighbors(ofWord, parts) ?? ofLine ?? page ?? ofLanguage;
  });
  undecided.forEach((part, i) => {
    part.text = decided(part.text, wanted[i], languages);
  });
  let found = line;
  for (const { index, text } of parts) {
    found = found.slice(0, index) + text + found.slice(index + text.length);
  }
  return withThrees(found);
}

/** The script of most letters of a page that only one has; null if there are none. */
export function scriptOfLines(lines) {
  return winner(lines.flatMap((line) => [...votesOf(partsOf(line))]));
}

/** The letters of a line without anything between them, with their script if one tells. */
function partsOf(line) {
  return [...line.matchAll(/\p{L}+/gu)].map(({ 0: text, index }) => {
    if (UNIT.test(text)) return { index, script: null, text: written(text, NEAR.Latin) };
    const script = scriptThatShows(text);
    return { index, script, text: script ? written(text, NEAR[script]) : text };
  });
}

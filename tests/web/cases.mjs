// Runs the functions of the page for `test_shared.py`: cases in, as JSON, and what comes out.

import { readFileSync } from "node:fs";
import { arrangeWords } from "./web/arrange/blocks.js";
import { tokensOf } from "./web/arrange/features.js";
import { leveled } from "./web/arrange/leveling.js";
import { Scores } from "./web/arrange/scores.js";
import { Directions } from "./web/directions.js";
import { withElisions } from "./web/elisions.js";
import { findGrounds } from "./web/grounds.js";
import { grayed, resize } from "./web/images.js";
import { inkOf, typeOf } from "./web/ink.js";
import { readingOrder } from "./web/layout.js";
import { LookAlikes } from "./web/look_alikes.js";
import { oneScript } from "./web/one_script.js";
import { withLowQuotes } from "./web/quotes.js";
import { bestAlignment } from "./web/search.js";

const ofTexts = (change) => (texts) =>
  change(texts.map((text) => ({ reading: { text, characters: [] } }))).map(({ reading }) => reading.text);

function directions(corners, readings) {
  const found = new Directions(corners);
  const places = [...corners.keys()];
  const first = found.firstPage();
  for (const [place, quarters, text, confidence] of readings)
    found.add(place, quarters, { whole: { text, confidence } });
  const page = found.page(places);
  const asked = [found.askedOfPage(places, page), places.map((place) => found.askedOfLine(place, page))];
  const isMore = found.expectMore(places, page);
  return [first, page, ...asked, isMore, places.map((place) => found.line(place, page))];
}

function sign(characters, text, place, shares) {
  const ids = [...text].map((character) => characters.indexOf(character));
  const { id, sure } = new LookAlikes(characters).choose(ids, place, shares);
  return [characters[id], sure];
}

/** Blocks with the texts of their lines, by scores of a network. */
async function arrange(words, shapes, scores) {
  const blocks = await arrangeWords({ scores: () => new Scores(scores) }, words, shapes);
  return blocks.map(({ role, level, lines, cells }) => ({
    role,
    level,
    lines: lines.map((line) => line.map(({ text }) => text)),
    cells: (cells ?? []).map(({ count, row, column, rows, columns }) => [count, row, column, rows, columns]),
  }));
}

const pictureOf = ([pixels, width, height]) => ({ width, height, pixels: Uint8Array.from(pixels) });

const FUNCTIONS = {
  directions,
  sign,
  one_script: oneScript,
  elisions: ofTexts(withElisions),
  quotes: ofTexts(withLowQuotes),
  reading_order: readingOrder,
  tokens: (words, shapes) => tokensOf(words, leveled(words, shapes)),
  arrange,
  grounds: (picture) => findGrounds(grayed(pictureOf(picture))),
  type: (picture, words) => typeOf(inkOf(pictureOf(picture)), words),
  best_alignment: (rows, longest) => bestAlignment(rows, 1, longest),
  resize: (picture, ...size) => [...resize(pictureOf(picture), ...size)],
};

const cases = JSON.parse(readFileSync(0, "utf-8"));
const found = await Promise.all(cases.map(([name, ...given]) => FUNCTIONS[name](...given)));
process.stdout.write(JSON.stringify(found));

// Runs the functions of the page for `test_shared.py`: cases in, as JSON, and what comes out.

import { readFileSync } from "node:fs";
import { Directions } from "./web/directions.js";
import { withElisions } from "./web/elisions.js";
import { gridsOf } from "./web/grids.js";
import { resize } from "./web/images.js";
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

const FUNCTIONS = {
  directions,
  sign,
  one_script: oneScript,
  elisions: ofTexts(withElisions),
  quotes: ofTexts(withLowQuotes),
  reading_order: readingOrder,
  grids: (rules, side, words) =>
    gridsOf(rules, side, words).map(({ box, columns, rows }) => ({ box, columns, rows })),
  best_alignment: (rows, longest) => bestAlignment(rows, 1, longest),
  resize: ([pixels, width, height], ...size) => [
    ...resize({ width, height, pixels: Uint8Array.from(pixels) }, ...size),
  ],
};

const cases = JSON.parse(readFileSync(0, "utf-8"));
const found = cases.map(([name, ...given]) => FUNCTIONS[name](...given));
process.stdout.write(JSON.stringify(found));

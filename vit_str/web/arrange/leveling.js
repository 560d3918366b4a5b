// Words and shapes of a page turned so that its text lies level: `vit_str/pages/arrange/leveling.py`.

import { boxAround } from "../geometry.js";
import { leveling } from "../shared.js";
import { grouped, quartersOf, textAngle, turned, turnedBox } from "./pieces.js";

const { GAP, GAP_OF_TURNED, MOST_SHAPES } = leveling;

/**
 * Boxes of words, pieces of lines as numbers of their words, and shapes, all level.
 *
 * Words have polygons; `rules` are pairs of ends, `grounds` have left, top, right, bottom and
 * lightness, and `quarters` says how the page is turned to the right.
 */
export function leveled(words, { rules, grounds, quarters }) {
  const polygons = words.map(({ polygon }) => polygon);
  const angle = textAngle(polygons, quarters);
  const most = MOST_SHAPES / 2;
  const shapes = {
    rules: largest(rules.map((ends) => turnedBox(boxAround(ends), angle)), most),
    grounds: largest(
      grounds.map(([left, top, right, bottom, lightness]) => [
        ...turnedBox([left, top, right, bottom], angle),
        lightness,
      ]),
      Math.floor(most / 3),
    ),
  };
  const boxes = polygons.map((polygon) => boxAround(turned(polygon, angle)));
  return { boxes, shapes, pieces: piecesOf(polygons, boxes, angle, shapes.rules) };
}

/** Pieces along the page first, then those of words that run another way. */
function piecesOf(polygons, boxes, angle, rules) {
  const ofQuarter = [[], [], [], []];
  polygons.forEach((polygon, word) => ofQuarter[quartersOf(polygon, angle)].push(word));
  const upright = rules.filter(([left, top, right, bottom]) => bottom - top > right - left);
  return ofQuarter.flatMap((own, quarter) => {
    const direction = angle + (quarter * Math.PI) / 2;
    const placed = own.map((word) =>
      quarter ? boxAround(turned(polygons[word], direction)) : boxes[word],
    );
    const found = quarter ? grouped(placed, GAP_OF_TURNED) : grouped(placed, GAP, upright);
    return found.map((piece) => piece.map((place) => own[place]));
  });
}

/** The largest boxes, if there are very many. */
function largest(boxes, count) {
  const size = ([left, top, right, bottom]) => right - left + bottom - top;
  const kept = new Set(boxes.toSorted((one, other) => size(other) - size(one)).slice(0, count));
  return boxes.filter((box) => kept.has(box));
}

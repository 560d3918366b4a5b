// Pieces of lines that words of a level page make: `vit_str/pages/arrange/pieces.py`.
// Boxes have left, top, right and bottom.

import { boxAround } from "../geometry.js";
import { sum } from "../numbers.js";
import { linePieces } from "../shared.js";

const { SAME_LINE, OVERLAP, LIKE } = linePieces;
const QUARTER = Math.PI / 2;
const LEAST = 1e-3; // height of a word

/** The direction of the words that run as their page does, in radians to the right. */
export function textAngle(polygons, quarters) {
  const along = polygons.map(directionOf).filter((each) => quartersIn(each) === quarters);
  const [x, y] = [0, 1].map((axis) => sum(along.map((each) => each[axis])));
  return x || y ? Math.atan2(y, x) : quarters * QUARTER;
}

const directionOf = ([start, end]) => [end[0] - start[0], end[1] - start[1]];
const quartersIn = ([x, y]) => Math.round(Math.atan2(y, x) / QUARTER) & 3;

/** By how many quarters a word is turned to the right of a direction. */
export const quartersOf = (polygon, angle) => quartersIn(turned([directionOf(polygon)], angle)[0]);

/** Points turned back by an angle, so that text of this direction lies level. */
export function turned(points, angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return points.map(([x, y]) => [x * cos + y * sin, y * cos - x * sin]);
}

/** The box around a box that is turned back. */
export function turnedBox([left, top, right, bottom], angle) {
  const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
  return boxAround(turned(corners, angle));
}

/**
 * Numbers of the words of each piece from the left. A word goes on with the nearest one beside it,
 * up to a gap in heights of a word, unless an upright rule parts them.
 */
export function grouped(boxes, gap, uprightRules = []) {
  const numbers = [...boxes.keys()];
  const spaces = boxes.map((box) => boxes.map((other) => spaceBetween(box, other, gap)));
  const following = numbers.map((word) => nearest(numbers.map((other) => spaces[word][other])));
  const before = numbers.map((other) => nearest(numbers.map((word) => spaces[word][other])));
  const goesOn = numbers.map((word) => {
    const next = following[word];
    return next >= 0 && before[next] === word && !isParted(boxes[word], boxes[next], uprightRules);
  });
  const isStart = new Set(numbers);
  numbers.filter((word) => goesOn[word]).forEach((word) => isStart.delete(following[word]));
  return [...isStart].map((start) => {
    const piece = [start];
    while (goesOn[piece.at(-1)]) piece.push(following[piece.at(-1)]);
    return piece;
  });
}

/** White between a word and one at its right on the same line; infinite for all others. */
function spaceBetween(box, other, gap) {
  const [height, otherHeight] = [box, other].map((each) => Math.max(LEAST, each[3] - each[1]));
  const lower = Math.min(height, otherHeight);
  const shared = Math.min(box[3], other[3]) - Math.max(box[1], other[1]);
  const space = other[0] - box[2];
  const isBeside =
    shared > SAME_LINE * lower &&
    Math.max(height, otherHeight) < LIKE * lower &&
    other[0] > box[0] &&
    space > -OVERLAP * lower &&
    space < gap * lower;
  return isBeside ? space : Infinity;
}

/** The place of the least number, -1 if none is finite. */
function nearest(spaces) {
  const place = spaces.reduce((best, space, i) => (space < spaces[best] ? i : best), 0);
  return spaces[place] < Infinity ? place : -1;
}

/** Whether an upright rule stands between the middles of two boxes. */
function isParted(box, next, rules) {
  const middle = (box[1] + box[3]) / 2;
  const [start, end] = [box, next].map(([left, , right]) => (left + right) / 2);
  return rules.some(([left, top, right, bottom]) => {
    const x = (left + right) / 2;
    return start < x && x < end && top < middle && middle < bottom;
  });
}

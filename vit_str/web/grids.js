// Tables between ruled lines of a level page: `vit_str/pages/arrange/grids.py`.

import { boxAround } from "./geometry.js";
import { levelGrids } from "./level_rules.js";
import { pairwise, sum } from "./numbers.js";
import { Grid } from "./tables.js";
import { grids } from "./shared.js";

const { NEAR, FEWEST_CELLS, RULED } = grids;

/** Tables between level rules that meet upright ones, or, told by words, between level rules alone. */
export function gridsOf(rules, side, words) {
  const near = NEAR * side;
  const isLevel = ([left, top, right, bottom]) => right - left > bottom - top;
  const found = [];
  const alone = []; // level rules without columns
  for (const group of thatMeet(rules.map(boxAround), near)) {
    const level = group.filter(isLevel);
    const upright = group.filter((box) => !isLevel(box));
    const rows = placesOf(level.map(([, top, , bottom]) => (top + bottom) / 2), near);
    const columns = placesOf(upright.map(([left, , right]) => (left + right) / 2), near);
    const least = Math.min(rows.length, columns.length);
    const framed = columns.length === 2 ? levelGrids(level, words, near) : []; // level rules in a frame
    if (least < 2 || (rows.length - 1) * (columns.length - 1) < FEWEST_CELLS) alone.push(...level);
    else if (framed.length) found.push(...framed);
    else found.push(new Grid(columns, rows, mergedCells(level, upright, rows, columns, near)));
  }
  return [...found, ...levelGrids(alone, words, near)];
}

/** Groups of boxes of which each meets another one of its group. */
function thatMeet(boxes, near) {
  let groups = [];
  for (const box of boxes) {
    const met = groups.filter((group) => group.some((other) => isNear(box, other, near)));
    groups = groups.filter((group) => !met.includes(group));
    groups.push([box, ...met.flat()]);
  }
  return groups;
}

const isNear = (one, other, near) =>
  [0, 1].every((axis) => one[axis] - near < other[axis + 2] && other[axis] - near < one[axis + 2]);

/** Means of values that are near each other, from the least. */
function placesOf(values, near) {
  const groups = [];
  for (const value of values.toSorted((one, other) => one - other)) {
    if (groups.length && value - groups.at(-1).at(-1) <= near) groups.at(-1).push(value);
    else groups.push([value]);
  }
  return groups.map((group) => sum(group) / group.length);
}

/** The first cell of what each is a part of: those beside each other first, then what is as wide. */
function mergedCells(level, upright, rows, columns, near) {
  const ofColumns = byPlace(upright, 0, columns);
  const ofRows = byPlace(level, 1, rows);
  const width = columns.length - 1;
  const merged = [];
  pairwise(rows).forEach(([top, bottom], row) => {
    const starts = [0];
    for (let column = 1; column < width; column++) {
      const isParted = isRuled(ofColumns[column], top, bottom, near);
      starts.push(isParted ? column : starts[column - 1]);
    }
    const above = merged.slice((row - 1) * width, row * width);
    const cells = starts.map((start) => row * width + start);
    for (const start of new Set(starts)) {
      const end = starts.lastIndexOf(start) + 1;
      const first = above.indexOf(above[start]);
      const isAsWide = row > 0 && first === start && above.lastIndexOf(above[start]) + 1 === end;
      if (isAsWide && !isRuled(ofRows[row], columns[start], columns[end], near)) {
        cells.fill(above[start], start, end);
      }
    }
    merged.push(...cells);
  });
  return merged;
}

/** Where the rules at each place begin and end, by the place that each is nearest to on an axis. */
function byPlace(boxes, axis, places) {
  const spans = places.map(() => []);
  for (const box of boxes) {
    const distances = places.map((place) => Math.abs(place - (box[axis] + box[axis + 2]) / 2));
    const nearest = distances.indexOf(Math.min(...distances));
    spans[nearest].push([box[1 - axis], box[3 - axis]]);
  }
  return spans;
}

/** Whether rules cover a side of a cell; one that is too short to tell counts as covered. */
function isRuled(spans, low, high, near) {
  const covered = spans.map(([start, end]) => Math.max(0, Math.min(high, end) - Math.max(low, start)));
  return high - low < 2 * near || sum(covered) >= RULED * (high - low);
}

// Ruled lines of a picture: `vit_str/pages/find/rules.py`, and what OpenCV makes of its pixels.

import { resize, roundHalfEven } from "./images.js";
import { least, most, sum } from "./numbers.js";
import { rules } from "./shared.js";

const {
  LONGEST_SIDE, SHORTEST, FEWEST_PIXELS, RUN, SHORTEST_RUN, THICKEST, THICKEST_PIXELS, WINDOW,
  DARKER, STEEPEST, TOUCHES,
} = rules;
const END = 2; // pixels around the end of a rule that say how high it is there
export const MEAN = { reach: 0.5, weight: (x) => Number(-0.5 < x && x <= 0.5) };

/** Ends of straight lines along the sides of a gray picture, darker than what is around them. */
export function findRules(gray) {
  const scale = Math.min(1, LONGEST_SIDE / Math.max(gray.width, gray.height));
  const sides = [gray.width, gray.height];
  const [width, height] = sides.map((side) => Math.max(1, roundHalfEven(side * scale)));
  if (Math.min(width, height) < WINDOW) return [];
  const pixels = darkPixels(resize(gray, width, height, MEAN), width, height);
  const ink = { width, height, pixels };
  const side = Math.max(width, height);
  const level = levelRules(ink, side);
  const upright = levelRules(transposed(ink), side);
  const rules = [
    ...betweenOthers(level, upright, side),
    ...betweenOthers(upright, level, side).map(swapped),
  ];
  return rules.map((rule) => rule.map((end) => end.map((place) => place / scale)));
}

/** Which pixels of a gray picture are darker than the mean of a window, whose edges repeat: 1 or 0. */
function darkPixels(gray, width, height) {
  const sums = new Int32Array(width * height); // of the pixels beside each other in a window
  for (let y = 0; y < height; y++) {
    slide(width, (x) => gray[3 * (y * width + x)], (x, total) => (sums[y * width + x] = total));
  }
  const dark = new Uint8Array(width * height);
  for (let x = 0; x < width; x++) {
    slide(height, (y) => sums[y * width + x], (y, total) => {
      const i = y * width + x;
      dark[i] = Number(gray[3 * i] <= Math.round(total / WINDOW ** 2) - DARKER);
    });
  }
  return dark;
}

/** Tell the sum of the values in a window around each place of a line. */
function slide(length, valueAt, tell) {
  const reach = (WINDOW - 1) / 2;
  const value = (place) => valueAt(Math.min(Math.max(place, 0), length - 1));
  let total = 0;
  for (let place = -reach; place <= reach; place++) total += value(place);
  for (let place = 0; place < length; place++) {
    tell(place, total);
    total += value(place + reach + 1) - value(place - reach);
  }
}

function transposed({ width, height, pixels }) {
  const turned = new Uint8Array(pixels.length);
  pixels.forEach((pixel, i) => (turned[(i % width) * height + Math.floor(i / width)] = pixel));
  return { width: height, height: width, pixels: turned };
}

const swapped = (rule) => rule.map(([x, y]) => [y, x]);

/** Rules that are long, or run from one long rule across them to another, as beside a low cell. */
function betweenOthers(rules, across, side) {
  const long = across.filter((rule) => isLong(rule, side)).map(swapped);
  const near = TOUCHES * side;
  const endsAtOne = ([x, y]) =>
    long.some(([[x1, y1], [x2, y2]]) => {
      const place = x1 + ((x2 - x1) * (y - y1)) / (y2 - y1);
      return Math.abs(x - place) <= near && y1 - near <= y && y <= y2 + near;
    });
  return rules.filter((rule) => isLong(rule, side) || rule.every(endsAtOne));
}

const isLong = ([[left], [right]], side) =>
  right - left + 1 >= Math.max(FEWEST_PIXELS, SHORTEST * side);

/** Rules that run from the left to the right, and strokes of large letters among them. */
function levelRules(ink, side) {
  const length = Math.max(SHORTEST_RUN, roundHalfEven(side * RUN));
  const rows = Array.from({ length: ink.height }, (_, y) => longRuns(thickRow(ink, y), length, y));
  return thatTouch(rows)
    .map((runs) => ruleOf(runs, side))
    .filter(Boolean);
}

/** A row with the ink above and below it: a tilted rule steps from row to row of pixels. */
function thickRow({ width, height, pixels }, y) {
  const row = new Uint8Array(width);
  for (let near = Math.max(0, y - 1); near <= Math.min(height - 1, y + 1); near++) {
    for (let x = 0; x < width; x++) row[x] |= pixels[near * width + x];
  }
  return row;
}

/** Runs of ink that are long enough; beyond the edges there is ink, as OpenCV's openings have it. */
function longRuns(row, length, y) {
  const before = Math.floor(length / 2); // pixels of a run before its middle
  const shift = 2 * before - length + 1; // of an opening by a run without a middle
  const runs = [];
  for (let start = row.indexOf(1); start >= 0; ) {
    const stop = row.indexOf(0, start);
    const end = stop < 0 ? row.length : stop;
    const first = start ? start + before : 0;
    const last = end < row.length ? end - length + before : row.length - 1;
    if (first <= last) {
      const left = start ? start + shift : 0;
      const right = Math.min(end - 1 + shift, row.length - 1);
      runs.push({ y, left, right });
    }
    start = stop < 0 ? -1 : row.indexOf(1, stop);
  }
  return runs;
}

/** Groups of runs of which each touches another one in the row above or below it. */
function thatTouch(rows) {
  const groups = new Set();
  let above = [];
  for (const runs of rows) {
    for (const run of runs) {
      const touches = ({ left, right }) => left <= run.right + 1 && run.left <= right + 1;
      const met = new Set(above.filter(touches).map((other) => other.group));
      const [group = [], ...others] = [...met].sort((one, other) => other.length - one.length);
      for (const each of [run, ...others.flat()]) {
        each.group = group;
        group.push(each);
      }
      for (const other of others) groups.delete(other);
      groups.add(group);
    }
    above = runs;
  }
  return [...groups];
}

/** The rule that some runs are, if they are one. */
function ruleOf(runs, side) {
  const [left, right] = [least(runs.map((run) => run.left)), most(runs.map((run) => run.right))];
  const [top, bottom] = [least(runs.map((run) => run.y)), most(runs.map((run) => run.y))];
  const width = right - left + 1;
  const thickest = Math.max(THICKEST_PIXELS, side * THICKEST);
  if (bottom - top + 1 > thickest + STEEPEST * width) return null;
  const pixels = sum(runs.map((run) => run.right - run.left + 1));
  if (pixels > thickest * width) return null;
  const ends = [left, right].map((x) => [x, meanRow(runs, x)]);
  return Math.abs(ends[1][1] - ends[0][1]) <= STEEPEST * width ? ends : null;
}

/** How high runs are around a column. */
function meanRow(runs, column) {
  const near = runs.map(({ left, right }) =>
    Math.max(0, Math.min(right, column + END) - Math.max(left, column - END) + 1),
  );
  return sum(runs.map(({ y }, i) => y * near[i])) / sum(near);
}

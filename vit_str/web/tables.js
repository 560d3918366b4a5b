// Cells of tables: `vit_str/pages/arrange/tables.py`. Boxes have left, top, right and bottom.

import { median, pairwise } from "./numbers.js";
import { tables } from "./shared.js";

const { NARROWEST_GAP, NARROW_GAP, ALIGNED, FEWEST_ALIGNED, WHITE_IN_CELL, ROOM, TEXT } = tables;
export const { ALIGNED_GAP } = tables;
// Over the height of the rows.

const middle = ([left, top, right, bottom]) => [(left + right) / 2, (top + bottom) / 2];

/** Cells between rules. */
export class Grid {
  /** Places of all rules; `merged` has the first cell of what covers each, counted along the rows. */
  constructor(columns, rows, merged = null) {
    Object.assign(this, { columns, rows, merged });
    this.box = [columns[0], rows[0], columns.at(-1), rows.at(-1)];
  }

  /** Whether the middle of a box is in one of the cells. */
  holds(box) {
    const [x, y] = middle(box);
    const [left, top, right, bottom] = this.box;
    return left < x && x < right && top < y && y < bottom;
  }

  /** Places of boxes by row and column; those of a cell in reading order. */
  cells(boxes) {
    const places = boxes.map((box) => this.place(box));
    const wholes = new Map();
    places.forEach(([row, column], index) => {
      const cell = row * (this.columns.length - 1) + column;
      const whole = this.merged ? this.merged[cell] : cell;
      wholes.set(whole, [...(wholes.get(whole) ?? []), index]);
    });
    const rows = this.rows.slice(1).map(() => this.columns.slice(1).map(() => []));
    for (const [whole, inside] of wholes) {
      const column = whole % (this.columns.length - 1);
      const row = (whole - column) / (this.columns.length - 1);
      const lines = linesOf(inside, boxes);
      const isParted = lines.some((line) => hasColumns(line.map((index) => boxes[index])));
      for (const index of lines.flat()) rows[row][isParted ? places[index][1] : column].push(index);
    }
    return rows;
  }

  /** The row and column of a box, by its middle. */
  place(box) {
    const [x, y] = middle(box);
    const before = (rules, place) => rules.slice(1, -1).filter((rule) => rule < place).length;
    return [before(this.rows, y), before(this.columns, x)];
  }
}

/** Whether white as between columns is between some of the boxes of a line. */
function hasColumns(line) {
  const height = median(line.map(([, top, , bottom]) => bottom - top));
  return pairwise(line).some(([before, after]) => after[0] - before[2] > WHITE_IN_CELL * height);
}

/** Places of boxes as lines from the top, each from the left. */
export function linesOf(cell, boxes) {
  const height = (index) => middle(boxes[index])[1];
  const lines = [];
  for (const index of cell.toSorted((one, other) => height(one) - height(other))) {
    if (lines.length && height(index) < boxes[lines.at(-1)[0]][3]) lines.at(-1).push(index);
    else lines.push([index]);
  }
  return lines.map((line) => line.toSorted((one, other) => boxes[one][0] - boxes[other][0]));
}

/** White between columns of a table of so many rows, at least, over their height. */
export const narrowestGap = (rows) => NARROWEST_GAP[rows] ?? NARROW_GAP;

/** Whether boxes begin at one place behind some white, in all lines that have some before it. */
export function isAligned(lines, gap, height) {
  const starts = lines
    .map((line) => line.map(([left]) => left))
    .filter((lefts) => lefts.some((left) => left < gap) && lefts.some((left) => left > gap))
    .map((lefts) => Math.min(...lefts.filter((left) => left > gap)));
  const differ = Math.max(...starts) - Math.min(...starts);
  return starts.length >= FEWEST_ALIGNED && differ <= ALIGNED * height;
}

/** Whether a line goes on with cells of the line above it, boxes by columns, without room for it. */
export function continuesCell(above, below, edges) {
  const columns = [...below.keys()];
  const hadNoRoom = (column) => {
    const [last, [left, top, right, bottom]] = [above.get(column).at(-1), below.get(column)[0]];
    return last[2] + (right - left) + ROOM * (bottom - top) > edges[column];
  };
  return (
    below.size < above.size &&
    columns.every((column) => above.has(column)) &&
    columns.some((column) => above.get(column).length >= TEXT) &&
    columns.every(hadNoRoom)
  );
}

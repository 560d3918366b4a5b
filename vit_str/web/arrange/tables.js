// Tables of cells, and the rows and columns that cells cover: `vit_str/pages/arrange/decoding.py`.

import { median } from "../numbers.js";
import { decoding } from "../shared.js";
import { clusters, inOrder, sumsOf } from "./groups.js";

const { NEAR } = decoding;

const across = ([left, , right]) => (left + right) / 2;
const down = ([, top, , bottom]) => (top + bottom) / 2;

/** Cells that are of one table; rows that are far apart say less of each other. */
export function tablesOf(cells, scores, places) {
  if (!cells.length) return [];
  const middles = places.map(down);
  const near = scores.relations.table.map((row, i) =>
    Array.from(row, (score, j) => score * Math.exp(-Math.abs(middles[i] - middles[j]) / NEAR)),
  );
  const owner = new Map(cells.flatMap((cell) => cell.pieces.map((piece) => [piece, cell])));
  const groups = clusters(near, cells.map(({ pieces }) => pieces));
  return groups.map((group) => [...new Set(group.map((piece) => owner.get(piece)))]);
}

/**
 * Cells of a table with the rows and columns that they cover, row by row. What has but one row or
 * column is no table: its cells become paragraphs.
 */
export function withPlaces(cells, table, scores, places) {
  const members = cells.map(({ pieces }) => pieces);
  const rows = lanesOf(scores.relations.row, members, places.map(down));
  const columns = lanesOf(scores.relations.column, members, places.map(across));
  const count = (lanes) => Math.max(...lanes.map(([, end]) => end));
  if (count(rows) < 2 || count(columns) < 2) {
    const order = inOrder(scores.relations.before, members);
    return order.map((place) => ({ role: "paragraph", pieces: members[place], level: 0, table: -1 }));
  }
  const found = cells.map(({ role, pieces }, i) => {
    const [[row, below], [column, beside]] = [rows[i], columns[i]];
    return { role, pieces, level: 0, table, row, column, rows: below - row, columns: beside - column };
  });
  return found.sort((one, other) => one.row - other.row || one.column - other.column);
}

/**
 * For each cell the first row or column that it covers, and the first behind them. Cells that cover
 * one are grouped; one that covers several is like cells of several groups.
 */
function lanesOf(scores, members, middles) {
  const middle = (group) => median(group.map((piece) => middles[piece]));
  const groups = clusters(scores, members).sort((one, other) => middle(one) - middle(other));
  const totals = sumsOf(scores, members, groups);
  return members.map((member, number) => {
    const shared = groups.map((group) => member.filter((piece) => group.includes(piece)).length);
    const own = shared.indexOf(Math.max(...shared));
    const isIn = groups.map((_, group) => shared[group] > 0 || totals[number][group] > 0);
    let [start, end] = [own, own + 1];
    while (start > 0 && isIn[start - 1]) start--;
    while (end < groups.length && isIn[end]) end++;
    return [start, end];
  });
}

// Blocks of a page as records: roles, words by their places, cells of tables; those of
// `vit_str/pages/write/document_pages.py` without what follows from the words.

import { kindOf } from "./likelihood.js";

/** A record of each block; words are their places among those of the page. */
export function structureOf(blocks) {
  let first = 0;
  return blocks.map((block) => {
    const words = block.lines.flat().map((_, i) => first + i);
    first += words.length;
    if (block.cells) return { role: "table", words, ...tableOf(block) };
    const role = kindOf(block.role);
    if (role === "heading") return { role, words, level: block.level };
    return role === "item" ? { role, words, level: block.level - 1 } : { role, words };
  });
}

/** Texts by row and column, and the cells that cover several. */
function tableOf({ lines, cells }) {
  const count = (start, length) => Math.max(...cells.map((cell) => cell[start] + cell[length]));
  const columns = count("column", "columns");
  const texts = Array.from({ length: count("row", "rows") }, () => Array.from({ length: columns }, () => []));
  const words = lines.flat();
  for (const { count: own, row, column } of cells) {
    texts[row][column].push(...words.splice(0, own).map(({ reading }) => reading.text));
  }
  return { rows: texts.map((row) => row.map((cell) => cell.join(" "))), spans: spansOf(cells) };
}

/** Cells that cover several places of a table, if no other cell is at one of these. */
function spansOf(cells) {
  const taken = new Set(cells.map(({ row, column }) => `${row} ${column}`));
  return cells.flatMap(({ row, column, rows, columns }) => {
    const covered = [];
    for (let down = row; down < row + rows; down++) {
      for (let along = column; along < column + columns; along++) covered.push(`${down} ${along}`);
    }
    const others = covered.slice(1); // the first is its own
    if (!others.length || others.some((place) => taken.has(place))) return [];
    others.forEach((place) => taken.add(place));
    return [{ row, column, rows, columns }];
  });
}

// From what a network says of pieces to blocks in the order of reading: `vit_str/pages/arrange/decoding.py`.
// Places of pieces are left, top, right and bottom, in lines.

import { sum } from "../numbers.js";
import { decoding, scores as names, likelihood } from "../shared.js";
import { clusters, inOrder } from "./groups.js";
import { doubtOf } from "./likelihood.js";
import { tablesOf, withPlaces } from "./tables.js";

const { LEAST_OF_CELL, FEWEST_CELLS, DOUBTFUL, MOST_TRIED, LEAST_GAIN, COST_OF_RUNNING } = decoding;
const { CELLS, RUNNING, NOTHING } = names;
const { PAIRS_OF_PIECE } = likelihood;
const WITHIN = 0.5; // share of a block that lies within a table
const NARROWEST = 1e-3; // side of a box, in lines

/** Blocks with role and level, and pieces in order; cells of a table row by row, with their places. */
export function arranged(scores, places) {
  const blocks = blocksOf(scores);
  const candidates = [blocks];
  for (const least of LEAST_OF_CELL) {
    const withCells = withCellsWithin(blocks, scores, places, least);
    const before = candidates.at(-1);
    if (withCells.some(({ role }, i) => role !== before[i].role)) candidates.push(withCells);
  }
  const found = candidates.map((each) => decoded(each, scores, places));
  const best = found.reduce((one, other) => (other.doubt < one.doubt ? other : one));
  return withCellsApart(best, scores, places).arranged;
}

/** Blocks, what comes of them, and how improbable that is, in nats a piece. */
function decoded(blocks, scores, places) {
  const found = inTables(blocks, scores, places);
  return { blocks, arranged: found, doubt: doubtOf(scores, found) };
}

const isCell = ({ role }) => CELLS.includes(role);

/** Pieces that are one block, with its most probable role. */
function blocksOf(scores) {
  const pieces = [...scores.roles.keys()].map((piece) => [piece]);
  const blocks = clusters(scores.relations.block, pieces).map((block) => {
    const order = inOrder(scores.relations.before, block.map((piece) => [piece]));
    return { role: roleOf(block, scores, scores.names, lessCost), pieces: order.map((place) => block[place]) };
  });
  return blocks.filter(({ role }) => role !== NOTHING);
}

/** The logarithm of a probability, less for what Markdown leaves out: text taken for it is lost. */
const lessCost = (logarithm, role) => logarithm - (RUNNING.includes(role) ? COST_OF_RUNNING : 0);

/** The most probable one of some roles of a block, by `worth` of the logarithm of a probability. */
function roleOf(pieces, scores, roles, worth) {
  const worths = roles.map((role) => {
    const column = scores.names.indexOf(role);
    return sum(pieces.map((piece) => worth(scores.logRoles[piece][column], role)));
  });
  return roles[worths.indexOf(Math.max(...worths))];
}

/** Blocks of which those that lie within a table, and may be cells by a least probability, are cells. */
function withCellsWithin(blocks, scores, places, least) {
  const tables = tablesOf(blocks.filter(isCell), scores, places)
    .filter((table) => table.length >= FEWEST_CELLS)
    .map((table) => around(table.flatMap(({ pieces }) => pieces), places));
  const columns = CELLS.map((role) => scores.names.indexOf(role));
  const chanceOf = (piece) => sum(columns.map((column) => Math.exp(scores.logRoles[piece][column])));
  return blocks.map((block) => {
    const { pieces } = block;
    const chance = sum(pieces.map(chanceOf)) / pieces.length;
    const box = around(pieces, places);
    if (chance < least || !tables.some((table) => shareWithin(box, table) > WITHIN)) return block;
    return { role: roleOf(pieces, scores, CELLS, Math.exp), pieces };
  });
}

/** Left, top, right and bottom of some pieces together. */
function around(pieces, places) {
  const outermost = [Math.min, Math.min, Math.max, Math.max];
  return outermost.map((choose, axis) => choose(...pieces.map((piece) => places[piece][axis])));
}

/** The share of a box that lies within another one. */
function shareWithin(box, other) {
  const [width, height] = [0, 1].map((axis) => Math.max(NARROWEST, box[axis + 2] - box[axis]));
  const [across, down] = [0, 1].map((axis) =>
    Math.max(0, Math.min(box[axis + 2], other[axis + 2]) - Math.max(box[axis], other[axis])),
  );
  return (across * down) / (width * height);
}

/**
 * Cells of which those are two that make all more probable so: whether pieces are one cell is decided
 * by their pairs; that two were taken for one is told by the rows and columns of all others.
 */
function withCellsApart(first, scores, places) {
  let best = first;
  for (const { cell, parts } of doubtfulCells(best.blocks, scores)) {
    const others = best.blocks.filter((block) => block !== cell);
    const found = decoded([...others, ...parts], scores, places);
    if ((best.doubt - found.doubt) * places.length > LEAST_GAIN) best = found;
  }
  return best;
}

/** Cells that may be two, most doubtful first, with these. */
function doubtfulCells(blocks, scores) {
  return blocks
    .filter((block) => isCell(block) && block.pieces.length > 1)
    .map((cell) => ({ cell, ...cheapestCut(cell, scores.relations.block) }))
    .filter(({ cost }) => cost < DOUBTFUL)
    .sort((one, other) => one.cost - other.cost)
    .slice(0, MOST_TRIED);
}

/** The least cost of making two blocks of one, and these. */
function cheapestCut({ role, pieces }, scores) {
  const cuts = pieces.slice(1).map((_, i) => {
    const [before, after] = [pieces.slice(0, i + 1), pieces.slice(i + 1)];
    const pairs = before.flatMap((one) => after.map((other) => scores[one][other] + scores[other][one]));
    return { cost: sum(pairs) / PAIRS_OF_PIECE, parts: [before, after].map((part) => ({ role, pieces: part })) };
  });
  return cuts.reduce((best, cut) => (cut.cost < best.cost ? cut : best));
}

/** Blocks in the order of reading, cells with their places in tables. */
function inTables(blocks, scores, places) {
  const texts = withLevels(blocks.filter((block) => !isCell(block)), scores);
  const tables = tablesOf(blocks.filter(isCell), scores, places);
  const parts = [
    ...texts.map((block) => [block]),
    ...tables.map((table, number) => withPlaces(table, number, scores, places)),
  ];
  const members = parts.map((part) => part.flatMap(({ pieces }) => pieces));
  return inOrder(scores.relations.before, members).flatMap((place) => parts[place]);
}

/** Headings and items with their levels; those of headings leave none out. */
function withLevels(blocks, scores) {
  const leveled = blocks.map(({ role, pieces }) => {
    const hasLevel = role === "heading" || role === "item";
    return { role, pieces, level: hasLevel ? levelOf(pieces, scores) : 0, table: -1 };
  });
  const isHeading = ({ role }) => role === "heading";
  const levels = [...new Set(leveled.filter(isHeading).map(({ level }) => level))].sort();
  return leveled.map((block) =>
    isHeading(block) ? { ...block, level: 1 + levels.indexOf(block.level) } : block,
  );
}

/** The most probable level of a block, from 1. */
function levelOf(pieces, { logLevels }) {
  const sums = logLevels[0].map((_, level) => sum(pieces.map((piece) => logLevels[piece][level])));
  return 1 + sums.indexOf(Math.max(...sums));
}

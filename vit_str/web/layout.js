// Reading order, by recursive X-Y cut: `vit_str/pages/arrange/layout.py`.

import { boxAround, leveling, turnCorners, upright } from "./geometry.js";
import { median } from "./numbers.js";
import { layout } from "./shared.js";

const {
  COLUMN_GAP, ROW_GAP, FIRST_GAP, TEXT_WIDTH, EDGE_GAP, MOST_FIRST, MOST_FIRST_ROWS, MOST_IN_ROWS,
  HEAD_GAP, ADDRESS_GAP, MOST_ABOVE, PITCH, SAME_START, ADDRESS_WIDTH, SET_RIGHT, GAP_BELOW_RIGHT,
  UNEVEN, LEAST_BESIDE, SAME_ROW, MOST_ACROSS, LINES_OF_ADDRESS,
} = layout;
// Over the height of a line.

/** Blocks of rows of words in reading order, of lines with corners and words on the page. */
export function arrangedByRules(lines, direction) {
  const turned = (corners) => turnCorners(corners, -direction);
  const uprightLines = lines.map(({ corners }) => upright(turned(corners)));
  const level = leveling(uprightLines);
  const boxes = lines.map(({ words }, i) => {
    const [, top, , bottom] = boxAround(level(uprightLines[i]));
    const corners = words.flatMap(({ polygon }) => level(turned(polygon)));
    const [left, , right] = boxAround(corners);
    return [left, top, right, bottom];
  });
  return readingOrder(boxes).map((block) => block.map((row) => row.flatMap((line) => lines[line].words)));
}

/** Blocks of rows of places, of lines with left, top, right and bottom on the upright page. */
export function readingOrder(boxes) {
  if (!boxes.length) return [];
  const height = median(boxes.map(([, top, , bottom]) => bottom - top));
  const [head, body, foot] = withoutEdges(boxes, EDGE_GAP * height);
  const blocks = [head, ...blocksOf(boxes, body, height), foot];
  return blocks.filter((block) => block.length).map((block) => rowsOf(boxes, block));
}

/** A row at the top and one at the bottom that white parts from the rest: no column has them. */
function withoutEdges(boxes, gap) {
  const all = [...boxes.keys()];
  const parts = cut(boxes, all, 1, gap);
  const ifRow = (part) => (parts.length > 2 && isRow(part.map((line) => boxes[line])) ? part : []);
  const [head, foot] = [ifRow(parts[0]), ifRow(parts.at(-1))];
  return [head, all.filter((line) => !head.includes(line) && !foot.includes(line)), foot];
}

/** Whether all boxes are beside each other. */
const isRow = (boxes) =>
  Math.max(...boxes.map(([, top]) => top)) < Math.min(...boxes.map(([, , , bottom]) => bottom));

function blocksOf(boxes, chosen, height) {
  let parts = columnsOf(boxes, chosen, COLUMN_GAP * height);
  if (parts.length === 1) parts = cut(boxes, chosen, 1, ROW_GAP * height);
  if (parts.length === 1) return parts;
  return parts.flatMap((part) => blocksOf(boxes, part, height));
}

/** Columns of running text, and the few lines across them, such as headings, where they come. */
function columnsOf(boxes, chosen, gap) {
  const isAcross = (line, gapBeside) =>
    boxes[line][0] < boxes[gapBeside][2] + gap && boxes[line][2] > boxes[gapBeside][2];
  const candidates = chosen
    .map((beside) => chosen.filter((line) => isAcross(line, beside)))
    .sort((one, other) => one.length - other.length);
  for (const across of candidates) {
    if (across.length > MOST_ACROSS * chosen.length) break;
    const columns = cut(boxes, chosen.filter((line) => !across.includes(line)), 0, gap);
    if (areOfText(boxes, columns)) {
      const height = gap / COLUMN_GAP;
      const [first, below] = withoutFirst(boxes, columns, height);
      const heads = headsOf(boxes, across, below, HEAD_GAP * height);
      const rest = below.map((column) => column.filter((line) => !heads.includes(line)));
      return inBands(boxes, rest, [...across, ...first, ...heads]);
    }
  }
  return addresses(boxes, chosen, gap / COLUMN_GAP);
}

/** Two addresses beside each other at the top of a page; lines that are none in one part. */
function addresses(boxes, chosen, height) {
  const parts = cut(boxes, chosen, 0, ADDRESS_GAP * height);
  const top = Math.min(...chosen.map((line) => boxes[line][1]));
  const above = boxes.filter((box) => box[3] < top).length;
  const areTwo = parts.length === 2 && above <= MOST_ABOVE;
  const areAddresses = areTwo && parts.every((part) => isAddress(boxes, part, height));
  return areAddresses ? parts : [chosen];
}

/** Whether some lines are close below each other, and begin at one place. */
function isAddress(boxes, lines, height) {
  const [fewest, most] = LINES_OF_ADDRESS;
  if (lines.length < fewest || lines.length > most) return false;
  const lefts = lines.map((line) => boxes[line][0]);
  const tops = lines.map((line) => boxes[line][1]).sort((one, other) => one - other);
  const pitches = tops.slice(1).map((top, place) => top - tops[place]);
  return (
    Math.max(...lefts) - Math.min(...lefts) < SAME_START * height &&
    Math.min(...pitches) > SAME_ROW * height &&
    median(pitches) < PITCH * height &&
    median(lines.map((line) => flatness(boxes[line]))) > ADDRESS_WIDTH
  );
}

/**
 * The few lines that white parts from all columns below, such as a name at the right, and the
 * columns, which begin at about the same height without them.
 */
function withoutFirst(boxes, columns, height) {
  const lines = columns.flat().sort((one, other) => boxes[one][1] - boxes[other][1]);
  for (let count = 1; count <= MOST_IN_ROWS; count++) {
    const first = lines.slice(0, count);
    if (count > MOST_FIRST && rowsOf(boxes, first).length > MOST_FIRST_ROWS) break;
    const rest = columns.map((column) => column.filter((line) => !first.includes(line)));
    const tops = rest.map((column) => Math.min(...column.map((line) => boxes[line][1])));
    const bottom = Math.max(...first.map((line) => boxes[line][3]));
    const isRight = areSetRight(boxes, first, columns, SET_RIGHT * height);
    const gap = (isRight ? GAP_BELOW_RIGHT : FIRST_GAP) * height;
    const uneven = (isRight ? UNEVEN : FIRST_GAP) * height;
    const isApart = bottom + gap < Math.min(...tops);
    if (isApart && Math.max(...tops) < Math.min(...tops) + uneven) return [first, rest];
  }
  return [[], columns];
}

/** Whether lines begin far from the left side of their columns. */
function areSetRight(boxes, lines, columns, white) {
  return lines.every((line) => {
    const column = columns.find((each) => each.includes(line));
    return boxes[line][0] - Math.min(...column.map((each) => boxes[each][0])) > white;
  });
}

/**
 * Lines within a column that head lines across columns, as that of a box below all of them: they
 * begin where those begin, but for an indent, and are nearer to them than to any column.
 */
function headsOf(boxes, across, columns, gap) {
  const middle = (line) => boxes[line][1] + boxes[line][3];
  const heads = across.flatMap((line) => {
    const above = columns.flat().filter((other) => middle(other) < middle(line));
    const parts = cut(boxes, above, 1, gap);
    const last = parts.at(-1) ?? [];
    if (parts.length < 2 || last.length !== 1) return [];
    const [left, , , bottom] = boxes[last[0]];
    const isNear = boxes[line][1] - bottom < gap;
    const indent = boxes[line][0] - left;
    return isNear && -gap < indent && indent < 2 * gap ? last : [];
  });
  return [...new Set(heads)];
}

/** Parts of columns above, between and below the rows across them, and those, from the top. */
function inBands(boxes, columns, across) {
  const middle = (line) => boxes[line][1] + boxes[line][3];
  const rows = rowsOf(boxes, across);
  let reach = -Infinity;
  const ends = rows.map((row) => {
    reach = Math.max(reach, row.reduce((sum, line) => sum + middle(line), 0) / row.length);
    return reach;
  });
  const bandOf = (line) => ends.filter((end) => end < middle(line)).length;
  const parts = [];
  for (let band = 0; band <= rows.length; band++) {
    parts.push(...columns.map((column) => column.filter((line) => bandOf(line) === band)));
    parts.push(...rows.slice(band, band + 1));
  }
  return parts.filter((part) => part.length);
}

/** Groups of lines between which a band of at least `gap` pixels is white. */
function cut(boxes, chosen, axis, gap) {
  const groups = [];
  let reach = -Infinity;
  for (const line of chosen.toSorted((one, other) => boxes[one][axis] - boxes[other][axis])) {
    if (!groups.length || boxes[line][axis] - reach > gap) groups.push([]);
    groups.at(-1).push(line);
    reach = Math.max(reach, boxes[line][axis + 2]);
  }
  return groups;
}

/**
 * Whether columns are running text: lines below each other, and beside those of the next column. An
 * address at the left and a date at the right of a letter are not.
 */
function areOfText(boxes, columns) {
  if (columns.length < 2 || !columns.every((column) => isText(boxes, column))) return false;
  const wide = columns.map((column) => column.filter((line) => flatness(boxes[line]) > TEXT_WIDTH));
  return wide.slice(1).every((others, number) => {
    const lines = wide[number];
    const isAt = (line, other) =>
      boxes[other][1] < boxes[line][3] && boxes[line][1] < boxes[other][3];
    const beside = lines.filter((line) => others.some((other) => isAt(line, other)));
    const besideLines = others.filter((other) => lines.some((line) => isAt(line, other)));
    const fewest = Math.min(lines.length, others.length);
    return Math.min(beside.length, besideLines.length) >= LEAST_BESIDE * fewest;
  });
}

/** Whether some lines lie below each other that are wide for their height. */
function isText(boxes, lines) {
  return lines.length > 1 && median(lines.map((line) => flatness(boxes[line]))) > TEXT_WIDTH;
}

/** Width of a line over its height. */
function flatness([left, top, right, bottom]) {
  return (right - left) / Math.max(1, bottom - top);
}

/** Lines of one block as rows from the top, each from the left. */
function rowsOf(boxes, chosen) {
  const middle = (line) => boxes[line][1] + boxes[line][3];
  const rows = [];
  for (const line of chosen.toSorted((one, other) => middle(one) - middle(other))) {
    const row = rows.slice(-3).find((row) => isBeside(boxes, row, line));
    if (row) row.push(line);
    else rows.push([line]);
  }
  return rows.map((row) => row.toSorted((one, other) => boxes[one][0] - boxes[other][0]));
}

/** Whether a line is as high on the page as the last of a row, and beside all of them. */
function isBeside(boxes, row, line) {
  return (
    isShared(boxes[row.at(-1)], boxes[line], 1) &&
    !row.some((other) => isShared(boxes[other], boxes[line], 0))
  );
}

/** Whether most of one of two boxes lies within the other, along an axis. */
function isShared(one, other, axis) {
  const shared = Math.min(one[axis + 2], other[axis + 2]) - Math.max(one[axis], other[axis]);
  const length = Math.min(one[axis + 2] - one[axis], other[axis + 2] - other[axis]);
  return shared > SAME_ROW * length;
}

// Reading order, by recursive X-Y cut: `vit_str/reading/pages/layout.py`.

const COLUMN_GAP = 1;
const ROW_GAP = 0.9; // white between two blocks, over the height of a line
const TEXT_WIDTH = 6; // a column of text has lines at least so wide, over their height
const SAME_ROW = 0.5;
const MOST_ACROSS = 0.25; // of the lines may lie across columns

/** Blocks of rows of places, of lines with left, top, right and bottom on the upright page. */
export function readingOrder(boxes) {
  if (!boxes.length) return [];
  const height = median(boxes.map(([, top, , bottom]) => bottom - top));
  return blocksOf(boxes, [...boxes.keys()], height).map((block) => rowsOf(boxes, block));
}

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
    if (columns.length > 1 && columns.every((column) => isText(boxes, column))) {
      return inBands(boxes, columns, across);
    }
  }
  return [chosen];
}

/** Parts of columns above, between and below the lines across them, and those, from the top. */
function inBands(boxes, columns, across) {
  const middle = (line) => boxes[line][1] + boxes[line][3];
  const headings = across.toSorted((one, other) => middle(one) - middle(other));
  const bandOf = (line) => headings.filter((heading) => middle(heading) < middle(line)).length;
  const parts = [];
  for (let band = 0; band <= headings.length; band++) {
    parts.push(...columns.map((column) => column.filter((line) => bandOf(line) === band)));
    parts.push(headings.slice(band, band + 1));
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

/** Whether some lines lie below each other that are wide for their height. */
function isText(boxes, lines) {
  const flatness = ([left, top, right, bottom]) => (right - left) / Math.max(1, bottom - top);
  return lines.length > 1 && median(lines.map((line) => flatness(boxes[line]))) > TEXT_WIDTH;
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

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

// Tables with level rules only: `vit_str/pages/arrange/level_rules.py`. Rules or lines are their rows,
// white is between their columns.

import { least, median, most, pairwise } from "./numbers.js";
import { ALIGNED_GAP, continuesCell, Grid, isAligned, linesOf, narrowestGap } from "./tables.js";
import { levelRules } from "./shared.js";

const { FEWEST_RULES, RULED_ROWS, LINES_OF_ROW, RUNNING_TEXT, LINES_OF_TEXT } = levelRules;

/** Tables whose level rules begin and end at the same places, up to what is near. */
export function levelGrids(rules, words, near) {
  const found = [];
  for (const stack of stacksOf(rules, near)) {
    if (stack.length < FEWEST_RULES) continue;
    let run = [];
    for (const [above, below] of pairwise(stack)) {
      const band = bandBetween(above, below, words);
      if (run.length && !goesOn(run, band, words)) {
        found.push(gridOf(run, words));
        run = [];
      }
      if (band.inside.length) run.push(band);
    }
    found.push(gridOf(run, words));
  }
  return found.filter(Boolean);
}

/** Rules that begin and end at the same places, from the top. */
function stacksOf(rules, near) {
  const stacks = [];
  for (const rule of rules.toSorted((one, other) => one[1] - other[1])) {
    const isNear = (other, side) => Math.abs(rule[side] - other[side]) < near;
    const stack = stacks.find((each) => isNear(each.at(-1), 0) && isNear(each.at(-1), 2));
    if (!stack) stacks.push([rule]);
    else if (rule[1] - stack.at(-1)[3] > near / 2) stack.push(rule); // else it is one double rule
  }
  return stacks;
}

/** What is between a rule and the next one below it. */
function bandBetween(above, below, words) {
  const [left, right] = [Math.min(above[0], below[0]), Math.max(above[2], below[2])];
  const [top, bottom] = [above, below].map((rule) => (rule[1] + rule[3]) / 2);
  const isInside = (box) => {
    const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    return left < x && x < right && top < y && y < bottom;
  };
  const inside = [...words.keys()].filter((index) => isInside(words[index]));
  return { box: [left, top, right, bottom], inside };
}

/** Whether a band has columns with those above it, and text across them takes none away. */
function goesOn(run, band, words) {
  const together = columnsOf([...run, band], words).length;
  const isKnown = run.length >= FEWEST_RULES - 1; // by a head and a body
  return together >= (isKnown ? columnsOf(run, words).length : 1);
}

/** Middles of the white that all words of some bands leave between columns. */
function columnsOf(bands, words) {
  const chosen = bands.flatMap(({ inside }) => inside).map((index) => words[index]);
  if (!chosen.length) return [];
  const lines = bands.flatMap(({ inside }) =>
    linesOf(inside, words).map((line) => line.map((index) => words[index])),
  );
  const height = median(chosen.map(([, top, , bottom]) => bottom - top));
  const [first, ...others] = chosen.toSorted((one, other) => one[0] - other[0]);
  const middles = [];
  let reach = first[2];
  for (const [left, , right] of others) {
    const middle = (reach + left) / 2;
    const white = left - reach;
    const isWide = white >= narrowestGap(lines.length) * height;
    if (isWide || (white >= ALIGNED_GAP * height && isAligned(lines, middle, height))) {
      middles.push(middle);
    }
    reach = Math.max(reach, right);
  }
  return middles;
}

/** The table that some bands are, if they are one. */
function gridOf(bands, words) {
  const all = columnsOf(bands, words);
  const hasCells = (band) => mostFilled(band, words, all) >= 2;
  const chosen = bands.slice(bands.findIndex(hasCells), bands.findLastIndex(hasCells) + 1);
  const gaps = columnsOf(chosen, words);
  if (!gaps.length || chosen.length < FEWEST_RULES - 1) return null;
  if (isRunningText(chosen, words, gaps)) return null;
  const lines = median(chosen.map(({ inside }) => linesOf(inside, words).length));
  const isRuled = chosen.length >= RULED_ROWS && lines <= LINES_OF_ROW;
  const rows = [chosen[0].box[1]];
  for (const band of chosen) {
    if (!isRuled) rows.push(...endsOfRows(band, words, gaps));
    rows.push(band.box[3]);
  }
  const [left, right] = [least(chosen.map(({ box }) => box[0])), most(chosen.map(({ box }) => box[2]))];
  return new Grid([left, ...gaps, right], rows);
}

/** The words of a line by their columns. */
function cellsOf(line, words, gaps) {
  const cells = new Map();
  for (const index of line) {
    const box = words[index];
    const column = gaps.filter((gap) => gap < (box[0] + box[2]) / 2).length;
    cells.set(column, [...(cells.get(column) ?? []), box]);
  }
  return cells;
}

/** The most columns in which a line of a band has words. */
const mostFilled = ({ inside }, words, gaps) =>
  Math.max(0, ...linesOf(inside, words).map((line) => cellsOf(line, words, gaps).size));

/** Whether two of the columns or more are such as those of an article. */
function isRunningText(bands, words, gaps) {
  return bands.some(({ inside }) => {
    const counts = new Map();
    for (const line of linesOf(inside, words)) {
      for (const [column, cell] of cellsOf(line, words, gaps)) {
        counts.set(column, [...(counts.get(column) ?? []), cell.length]);
      }
    }
    const isText = (lengths) => lengths.length >= LINES_OF_TEXT && median(lengths) >= RUNNING_TEXT;
    return [...counts.values()].filter(isText).length > 1;
  });
}

/** Middles between the rows of a band: its lines but those that go on with cells above them. */
function endsOfRows({ inside }, words, gaps) {
  const edges = [...gaps, most(inside.map((index) => words[index][2]))];
  const bottom = (line) => Math.max(...line.map((index) => words[index][3]));
  const top = (line) => Math.min(...line.map((index) => words[index][1]));
  return pairwise(linesOf(inside, words))
    .filter(
      ([before, line]) =>
        !continuesCell(cellsOf(before, words, gaps), cellsOf(line, words, gaps), edges),
    )
    .map(([before, line]) => (bottom(before) + top(line)) / 2);
}

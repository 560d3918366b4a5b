// Words and shapes of a page -> blocks of lines in the order of reading, and what each block is:
// `vit_str/pages/arrange/blocks.py`.

import { blocks, items, scores } from "../shared.js";
import { arranged } from "./decoding.js";
import { tokensOf } from "./features.js";
import { leveled } from "./leveling.js";

const { SAME_LINE, BEFORE, TABLE } = blocks;
const { NOTHING } = scores;
const MARK = new RegExp(`^(?:${items.MARK})$`, "u");

/**
 * Blocks with their role, level and lines of words; a table is one, with a line for each row and its
 * cells, which say how many of its words each has. What the network takes for no text, such as specks,
 * is kept at the end.
 *
 * Words have `text`, `polygon`, `size` and `weight`; shapes are those of `leveled`.
 */
export async function arrangeWords(network, words, shapes) {
  if (!words.length) return [];
  const level = leveled(words, shapes);
  const tokens = tokensOf(words, level);
  const places = tokens.slice(0, level.pieces.length).map((token) => token.places.map(Math.fround));
  const found = arranged(await network.scores(tokens, places.length), places);
  return new Pieces(words, level.pieces, places).blocks(found);
}

/** The words of a page in pieces of lines. */
class Pieces {
  constructor(words, pieces, places) {
    Object.assign(this, { words, pieces, places });
  }

  /** Blocks with their roles; cells of one table are one. */
  blocks(found) {
    const kept = new Set(found.flatMap(({ pieces }) => pieces));
    const leftOut = new Set([...this.pieces.keys()].filter((piece) => !kept.has(piece)));
    const marks = this.marks(found, leftOut);
    const blocks = [];
    for (const group of inRuns(found, ({ table }) => table)) {
      if (group[0].table >= 0) {
        blocks.push(this.table(group));
        continue;
      }
      for (const { role, level, pieces } of group) {
        const mark = marks.get(pieces[0]);
        leftOut.delete(mark);
        const lines = this.lines(mark === undefined ? pieces : [mark, ...pieces]);
        blocks.push({ role, level, lines });
      }
    }
    const rest = [...leftOut].map((piece) => ({ role: NOTHING, level: 0, lines: [this.line([piece])] }));
    return [...blocks, ...rest];
  }

  /** The marks of items that are no text of theirs, by the first pieces of these. */
  marks(found, leftOut) {
    const marks = new Map();
    for (const mark of leftOut) {
      if (!MARK.test(this.line([mark]).map(({ text }) => text).join(" "))) continue;
      const left = (piece) => this.places[piece][0];
      const beside = found
        .filter(({ table }) => table < 0)
        .map(({ pieces }) => pieces[0])
        .filter((piece) => this.areBeside(mark, piece) && left(piece) - this.places[mark][2] < BEFORE);
      if (!beside.length) continue;
      marks.set(beside.reduce((one, other) => (left(other) < left(one) ? other : one)), mark);
    }
    return marks;
  }

  table(found) {
    const wordsOf = ({ pieces }) => this.lines(pieces).flat();
    const lines = inRuns(found, ({ row }) => row).map((row) => row.flatMap(wordsOf));
    const cells = found.map(({ row, column, rows, columns, ...cell }) => {
      return { count: wordsOf(cell).length, row, column, rows, columns };
    });
    return { role: TABLE, level: 0, lines, cells };
  }

  /** Pieces that are in the order of reading, those beside each other as one line. */
  lines(pieces) {
    const lines = [];
    for (const piece of pieces) {
      const line = lines.at(-1);
      if (line && this.areBeside(line.at(-1), piece)) line.push(piece);
      else lines.push([piece]);
    }
    return lines.map((line) => this.line(line));
  }

  /** Whether the second of two pieces goes on at the right of the first. */
  areBeside(first, second) {
    const [one, other] = [this.places[first], this.places[second]];
    const shared = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
    const lower = Math.min(one[3] - one[1], other[3] - other[1]);
    return shared > SAME_LINE * lower && other[0] > one[0];
  }

  line(pieces) {
    return pieces.flatMap((piece) => this.pieces[piece].map((word) => this.words[word]));
  }
}

/** Runs of items of which all have the same value. */
function inRuns(items, valueOf) {
  const runs = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run && valueOf(run[0]) === valueOf(item)) run.push(item);
    else runs.push([item]);
  }
  return runs;
}

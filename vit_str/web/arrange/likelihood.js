// How probable the network finds an arrangement: `vit_str/pages/arrange/likelihood.py`.

import { likelihood } from "../shared.js";

const { ROLES_OF, PAIRS_OF_PIECE } = likelihood;
const TINY = Math.log(2 ** -126); // of the least probability

/**
 * How improbable blocks are, in nats a piece. Blocks have `role`, `pieces` and `level`, cells also
 * `table`, `row`, `column`, `rows` and `columns`; pieces in none are taken for no text.
 */
export function doubtOf(scores, blocks) {
  const labels = labelsOf(blocks, scores.count);
  const doubts = labels.map((label, piece) => ofKind(scores, label, piece) + ofLevel(scores, label, piece));
  const pairs = labels.map((label, piece) => {
    let total = 0;
    labels.forEach((other, second) => {
      if (piece !== second) total += ofPair(scores, label, other, piece, second);
    });
    return total / PAIRS_OF_PIECE;
  });
  return [...doubts, ...pairs].reduce((sum, doubt) => sum + doubt, 0) / scores.count;
}

/** Kind, level, block, place in the order of reading, and cell of each piece. */
function labelsOf(blocks, count) {
  const labels = Array.from({ length: count }, (_, piece) => ({
    kind: "running",
    level: 0,
    place: -1,
    block: blocks.length + piece,
    table: -1,
  }));
  blocks.forEach((block, number) => {
    const kind = kindOf(block.role);
    block.pieces.forEach((piece, i) => {
      labels[piece] = { ...block, kind, place: number * count + i, block: number };
    });
  });
  return labels;
}

/** What a role counts as: heading, item, cell, running or paragraph. */
export const kindOf = (role) =>
  Object.keys(ROLES_OF).find((kind) => ROLES_OF[kind].includes(role)) ?? "paragraph";

function ofKind({ logRoles, names }, { kind }, piece) {
  const named = Object.values(ROLES_OF).flat();
  const isOfKind = (name) => ROLES_OF[kind]?.includes(name) ?? !named.includes(name);
  const chance = names.reduce(
    (sum, name, role) => sum + (isOfKind(name) ? Math.exp(logRoles[piece][role]) : 0),
    0,
  );
  return -Math.max(Math.log(chance), TINY);
}

function ofLevel({ logLevels }, { level }, piece) {
  if (level < 1) return 0;
  const chances = logLevels[piece];
  return -Math.max(chances[Math.min(level, chances.length) - 1], TINY);
}

/** How improbable the relations of a piece to another one are. */
function ofPair(scores, one, other, first, second) {
  const doubt = (relation, isTrue) =>
    scores.softplus(relation)[first][second] - (isTrue ? scores.relations[relation][first][second] : 0);
  let total = doubt("block", one.block === other.block);
  if (one.place !== other.place) total += doubt("before", one.place < other.place);
  if (one.table < 0 || other.table < 0) return total;
  total += doubt("table", one.table === other.table);
  if (one.table !== other.table) return total;
  const overlap = (start, length) =>
    one[start] < other[start] + other[length] && other[start] < one[start] + one[length];
  return total + doubt("row", overlap("row", "rows")) + doubt("column", overlap("column", "columns"));
}

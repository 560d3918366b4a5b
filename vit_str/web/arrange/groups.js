// Groups of pieces, and the order of groups, by scores of pairs of pieces: `vit_str/pages/arrange/decoding.py`.

import { decoding } from "../shared.js";

const { ROUNDS } = decoding;

/** Sums over all pairs of pieces of groups: a row for each of them, a column for each other. */
export function sumsOf(scores, groups, others = groups, valueOf = (score) => score) {
  const sumOf = (group, other) => {
    let total = 0;
    for (const one of group) for (const second of other) total += valueOf(scores[one][second]);
    return total;
  };
  return groups.map((group) => others.map((other) => sumOf(group, other)));
}

/** Groups of members that are one on the average of all their pairs, surest pairs first. */
export function clusters(scores, members) {
  const sums = sumsOf(scores, members);
  const pieces = new Map(members.map((member, number) => [number, [...member]]));
  const groupOf = [...members.keys()]; // of each member
  const pairs = [];
  members.forEach((one, i) =>
    members.forEach((other, j) => {
      const mean = sums[i][j] / (one.length * other.length);
      if (i < j && mean > 0) pairs.push([mean, i, j]);
    }),
  );
  for (const [, i, j] of pairs.sort(([one], [other]) => other - one)) {
    const [first, second] = [groupOf[i], groupOf[j]];
    if (first === second || !(sums[first][second] > 0)) continue;
    sums[second].forEach((value, column) => (sums[first][column] += value));
    for (const row of sums) row[first] += row[second];
    pieces.get(first).push(...pieces.get(second));
    pieces.delete(second);
    groupOf.forEach((group, member) => group === second && (groupOf[member] = first));
  }
  return [...pieces.values()];
}

/**
 * Numbers of groups of pieces in the order of reading that is most probable (Kemeny's order, by
 * local search): it begins with how many others are before each, and moves one after the other to
 * where most agree with it.
 */
export function inOrder(before, groups) {
  const means = meansOf(before, groups);
  const earlier = meansOf(before, groups, (score) => 1 / (1 + Math.exp(-score)));
  const ahead = groups.map((_, group) => earlier.reduce((sum, row) => sum + row[group], 0));
  let order = [...groups.keys()].sort((one, other) => ahead[one] - ahead[other]);
  for (let round = 0; round < ROUNDS; round++) {
    let isMoved = false;
    for (const member of order) {
      const place = order.indexOf(member);
      const others = order.filter((other) => other !== member);
      const best = bestPlace(member, others, means);
      if (best === place) continue;
      order = [...others.slice(0, best), member, ...others.slice(best)];
      isMoved = true;
    }
    if (!isMoved) break;
  }
  return order;
}

/** Means over all pairs of pieces of groups; 0 of each with itself. */
function meansOf(scores, groups, valueOf) {
  return sumsOf(scores, groups, groups, valueOf).map((row, i) =>
    row.map((sum, j) => (i === j ? 0 : sum / (groups[i].length * groups[j].length))),
  );
}

/** Where in an order most of the others agree with a member. */
function bestPlace(member, others, means) {
  let agreement = others.reduce((sum, other) => sum + means[member][other], 0);
  let [best, most] = [0, agreement];
  others.forEach((other, place) => {
    agreement += means[other][member] - means[member][other];
    if (agreement > most) [best, most] = [place + 1, agreement];
  });
  return best;
}

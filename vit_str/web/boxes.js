// Boxes of characters from where the decoder looked, or from the columns of CTC:
// `vit_str/decoding/boxes.py` and `ctc.py`.

import { boxes } from "./shared.js";

const { HEIGHT, NARROWEST, WIDEST } = boxes;

/** Attention over tokens as rows of columns that sum to 1, without special tokens. */
export function attentionMap(tokens, [rows, columns], specialTokens) {
  const seen = Array.from(tokens.slice(specialTokens));
  const sum = seen.reduce((one, other) => one + other, 0) || 1;
  return Array.from({ length: rows }, (_, row) =>
    seen.slice(row * columns, (row + 1) * columns).map((share) => share / sum),
  );
}

/** Left, top, right and bottom of every character, in shares of what the model saw. */
export function characterBoxes(maps) {
  const sums = (map) => map.map((row) => row.reduce((one, other) => one + other, 0));
  const columns = maps.map((map) => moments(sums(transpose(map))));
  const rows = maps.map((map) => moments(sums(map)));
  const x = columns.map(([mean]) => mean);
  const y = rows.map(([mean]) => mean);
  const meanHeight = rows.reduce((sum, [, deviation]) => sum + deviation, 0) / rows.length;
  const backwards = x.at(-1) < x[0];
  return maps.map((_, i) => {
    const clip = (reach) =>
      Math.min(Math.max(reach, NARROWEST * columns[i][1]), WIDEST * columns[i][1]);
    const half = (j) => (j in x ? Math.abs(x[j] - x[i]) / 2 : Infinity);
    const [left, right] = backwards ? [half(i + 1), half(i - 1)] : [half(i - 1), half(i + 1)];
    const tall = ((rows[i][1] + meanHeight) / 2) * (HEIGHT / 2);
    const inside = i > 0 && i < y.length - 1;
    const middle = inside ? (y[i] + (y[i - 1] + y[i + 1]) / 2) / 2 : y[i];
    const sides = [x[i] - clip(left), middle - tall, x[i] + clip(right), middle + tall];
    return sides.map((side) => Math.min(1, Math.max(0, side)));
  });
}

/** The same of a text that columns spell, from the shares of all symbols under each of them. */
export function columnBoxes(shares, text, flatness) {
  const owners = alignment(shares, text);
  const middles = text.map((_, i) => (owners.indexOf(i) + owners.lastIndexOf(i) + 1) / 2 / owners.length);
  const half = (i) => (text.length > 1 ? (middles[i + 1] - middles[i]) / 2 : flatness / 4);
  return middles.map((x, i) => [
    Math.max(0, x - half(Math.max(0, i - 1))),
    0,
    Math.min(1, x + half(Math.min(middles.length - 2, i))),
    1,
  ]);
}

/** The place of the character under every column in the most probable way to spell a text. */
export function alignment(shares, text) {
  const blank = shares[0].length - 1;
  const states = [blank, ...text.flatMap((symbol) => [symbol, blank])];
  let best = states.map((state, s) => (s < 2 ? Math.log(shares[0][state]) : -Infinity));
  const steps = [[]];
  for (const share of shares.slice(1)) {
    const step = states.map((state, s) => {
      const skips = s % 2 === 1 && state !== states[s - 2];
      const ways = [best[s], best[s - 1] ?? -Infinity, skips ? (best[s - 2] ?? -Infinity) : -Infinity];
      return ways.indexOf(Math.max(...ways));
    });
    best = states.map((state, s) => best[s - step[s]] + Math.log(share[state]));
    steps.push(step);
  }
  let state = best.at(-2) > best.at(-1) ? states.length - 2 : states.length - 1;
  const owners = [];
  for (const step of steps.toReversed()) {
    owners.unshift(state % 2 ? (state - 1) / 2 : -1);
    state -= step[state] ?? 0;
  }
  return owners;
}

/** Mean and standard deviation of shares that lie evenly over patches side by side. */
function moments(shares) {
  const places = shares.map((_, i) => (i + 0.5) / shares.length);
  const mean = shares.reduce((sum, share, i) => sum + share * places[i], 0);
  const spread = shares.reduce((sum, share, i) => sum + share * (places[i] - mean) ** 2, 0);
  return [mean, Math.sqrt(spread + 1 / shares.length ** 2 / 12)];
}

const transpose = (map) => map[0].map((_, column) => map.map((row) => row[column]));
const flip = (map) => map.map((row) => row.toReversed()).toReversed();

/** A box in shares of what the model saw, in pixels of the picture that this frame is a part of. */
export function boxInFrame([left, top, right, bottom], { width, height, turned, upsideDown, x, y }) {
  let sides = [left, top, right, bottom];
  if (upsideDown) sides = [1 - right, 1 - bottom, 1 - left, 1 - top];
  if (turned) sides = [1 - sides[3], sides[0], 1 - sides[1], sides[2]];
  return sides.map((side, i) => (i % 2 ? y + side * height : x + side * width));
}

/** A map of what the model saw, as a map of the picture. */
export function mapInFrame(map, frame) {
  const upright = frame.upsideDown ? flip(map) : map;
  const seen = frame.turned ? transpose(upright).map((row) => row.toReversed()) : upright;
  const { x, y, width, height, whole } = frame;
  if (width === whole[0] && height === whole[1]) return seen;
  const columns = cells(seen[0].length, x, width, whole[0]);
  const spread = cells(seen.length, y, height, whole[1]).map((row) =>
    columns.map((column) => seen[row]?.[column] ?? 0),
  );
  const sum = spread.flat().reduce((one, other) => one + other, 0) || 1;
  return spread.map((row) => row.map((share) => share / sum));
}

/** Which cell of a part lies in the middle of each cell of the whole. */
function cells(count, start, length, whole) {
  const places = count * Math.ceil(whole / length);
  return Array.from({ length: places }, (_, i) =>
    Math.floor(((((i + 0.5) / places) * whole - start) / length) * count),
  );
}

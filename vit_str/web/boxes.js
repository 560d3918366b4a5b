// Boxes of characters from where the decoder looked: `vit_str/runtime/boxes.py`.

const HEIGHT = 2.2; // of a character, in standard deviations of the attention to it
const NARROWEST = 0.3; // that it reaches to either side, in the same
const WIDEST = 4;

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

/** Mean and standard deviation of shares that lie evenly over patches side by side. */
function moments(shares) {
  const places = shares.map((_, i) => (i + 0.5) / shares.length);
  const mean = shares.reduce((sum, share, i) => sum + share * places[i], 0);
  const spread = shares.reduce((sum, share, i) => sum + share * (places[i] - mean) ** 2, 0);
  return [mean, Math.sqrt(spread + 1 / shares.length ** 2 / 12)];
}

const transpose = (map) => map[0].map((_, column) => map.map((row) => row[column]));
const flip = (map) => map.map((row) => row.toReversed()).toReversed();

/** A box in shares of what the model saw, in pixels of a picture of this frame. */
export function boxInFrame([left, top, right, bottom], { width, height, turned, upsideDown }) {
  let sides = [left, top, right, bottom];
  if (upsideDown) sides = [1 - right, 1 - bottom, 1 - left, 1 - top];
  if (turned) sides = [1 - sides[3], sides[0], 1 - sides[1], sides[2]];
  return [sides[0] * width, sides[1] * height, sides[2] * width, sides[3] * height];
}

/** A map of what the model saw, as a map of the picture. */
export function mapInFrame(map, { turned, upsideDown }) {
  const upright = upsideDown ? flip(map) : map;
  return turned ? transpose(upright).map((row) => row.toReversed()) : upright;
}

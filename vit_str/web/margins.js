// Empty margins: a word in the midst of nothing is cut out. `vit_str/images/image_decoding.py`.

import { resize, turnLeft, widthOf } from "./images.js";
import { margins } from "./shared.js";

const { NARROW, FLAT, LOWEST, EMPTY, INK, MARGIN_ALONG, MARGIN_ACROSS, FLATTEST, CUTS } = margins;

/** Pixels for the model of a picture, or of its only word, and the frame that they show. */
export function withoutMargins(picture, size) {
  let seen = picture;
  let [x, y] = [0, 0];
  for (let cuts = 0; ; cuts++) {
    const turned = size.turn_above !== null && seen.height > size.turn_above * seen.width;
    const along = turned ? turnLeft(seen) : seen;
    const shape = { width: widthOf(size, along), height: size.height };
    const pixels = resize(along, shape.width, shape.height);
    const ink = cuts < CUTS && inkOf(pixels, shape, seen, turned);
    if (!ink) {
      const { width, height } = seen;
      return { pixels, frame: { width, height, turned, x, y, whole: [picture.width, picture.height] } };
    }
    seen = crop(seen, ink);
    x += ink[0];
    y += ink[1];
  }
}

/** Left, top, right and bottom of the ink in a picture, with a margin; null if all over it. */
function inkOf(pixels, shape, { width, height }, turned) {
  const seen = steps(pixels, shape);
  if (Math.min(Math.max(...seen.columns), Math.max(...seen.rows)) < INK) return null;
  // Turned to the left, columns of the picture are rows from the bottom.
  const columns = turned ? seen.rows.toReversed() : seen.columns;
  const rows = turned ? seen.columns : seen.rows;
  const [left, right] = extent(columns).map((place) => (place * width) / columns.length);
  const [top, bottom] = extent(rows).map((place) => (place * height) / rows.length);
  const [length, line] = turned ? [bottom - top, right - left] : [right - left, bottom - top];
  const [longest, highest] = turned ? [height, width] : [width, height];
  const isSmall = length < NARROW * longest || line < FLAT * highest;
  if (!isSmall || line < LOWEST) return null;
  const thickness = Math.max(line, length / FLATTEST);
  const [along, across] = [MARGIN_ALONG * thickness, MARGIN_ACROSS * thickness];
  const [beside, above] = turned ? [across, along] : [along, across];
  return [
    Math.max(0, Math.floor(left - beside)),
    Math.max(0, Math.floor(top - above)),
    Math.min(width, Math.ceil(right + beside)),
    Math.min(height, Math.ceil(bottom + above)),
  ];
}

/** The largest difference between neighbors in each column and in each row. */
function steps(pixels, { width, height }) {
  const columns = new Array(width).fill(0);
  const rows = new Array(height).fill(0);
  const line = 3 * width;
  for (let i = 0; i < pixels.length; i++) {
    const y = Math.floor(i / line);
    const x = Math.floor((i - y * line) / 3);
    if (y + 1 < height) columns[x] = Math.max(columns[x], Math.abs(pixels[i + line] - pixels[i]));
    if (x + 1 < width) rows[y] = Math.max(rows[y], Math.abs(pixels[i + 3] - pixels[i]));
  }
  return { columns, rows };
}

/** The first place with ink, and the one after the last. */
function extent(places) {
  const most = Math.max(...places);
  const isInk = (step) => EMPTY * step >= most;
  return [places.findIndex(isInk), places.findLastIndex(isInk) + 1];
}

/** The part of a picture between these sides. */
export function crop({ width, pixels }, [left, top, right, bottom]) {
  const part = new Uint8Array((right - left) * (bottom - top) * 3);
  for (let y = top, o = 0; y < bottom; y++, o += (right - left) * 3) {
    part.set(pixels.subarray((y * width + left) * 3, (y * width + right) * 3), o);
  }
  return { width: right - left, height: bottom - top, pixels: part };
}

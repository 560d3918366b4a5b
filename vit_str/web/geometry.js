// Quadrilaterals around text, and the straight strips inside them: `vit_str/pages/find/geometry.py`.
// Their corners go round from where the text begins: the first side runs along it.

import { roundHalfEven } from "./images.js";
import { inkedColumns, inkOf } from "./ink.js";
import { geometry } from "./shared.js";

const { MOST_PIXELS } = geometry;

/** Width and height: the mean of both sides along the text, and of those across. */
export function sideLengths([topLeft, topRight, bottomRight, bottomLeft]) {
  const width = distance(topLeft, topRight) + distance(bottomLeft, bottomRight);
  const height = distance(topLeft, bottomLeft) + distance(topRight, bottomRight);
  return [width / 2, height / 2];
}

export const distance = ([x, y], [u, v]) => Math.hypot(u - x, v - y);

/** The same corners from the top left of the picture on, clockwise. */
export function upright(corners) {
  const mean = (axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length;
  const [x, y] = [mean(0), mean(1)];
  const angle = (corner) => Math.atan2(corner[1] - y, corner[0] - x);
  const clockwise = corners.toSorted((one, other) => angle(one) - angle(other));
  const sums = clockwise.map((corner) => corner[0] + corner[1]);
  return cornersFrom(clockwise, sums.indexOf(Math.min(...sums)));
}

/** The corners of an upright quadrilateral whose text is turned by quarters to the right. */
export const cornersFrom = (corners, quarters) =>
  corners.map((_, i) => corners[(i + quarters) % corners.length]);

/** Left, top, right and bottom of corners. */
export function boxAround(corners) {
  const [x, y] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
  return [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)];
}

/** Corners turned about the origin by quarters to the right. */
export function turnCorners(corners, quarters) {
  const [cos, sin] = [[1, 0], [0, 1], [-1, 0], [0, -1]][quarters & 3];
  return corners.map(([x, y]) => [x * cos - y * sin, x * sin + y * cos]);
}

/** What turns corners about the origin by the median slope of upright quadrilaterals. */
export function leveling(quadrilaterals) {
  const lines = quadrilaterals
    .map(([start, end]) => ({
      slope: Math.atan2(end[1] - start[1], end[0] - start[0]),
      length: distance(start, end),
    }))
    .sort((one, other) => one.slope - other.slope);
  let left = lines.reduce((sum, { length }) => sum + length, 0) / 2;
  const middle = lines.find(({ length }) => (left -= length) <= 0);
  const [cos, sin] = [Math.cos(middle?.slope ?? 0), Math.sin(middle?.slope ?? 0)];
  return (corners) => corners.map(([x, y]) => [x * cos + y * sin, y * cos - x * sin]);
}

/** What lies inside a quadrilateral, pulled straight at the resolution of the picture. */
export class Strip {
  constructor(picture, corners) {
    const sides = sideLengths(corners).map(roundHalfEven);
    [this.width, this.height] = sides.map((side) => Math.min(Math.max(side, 1), MOST_PIXELS));
    this.toPicture = perspective(corners, this.width, this.height);
    this.picture = this.pull(picture);
  }

  /** How much ink each pixel holds. */
  get ink() {
    return (this.ofPixels ??= inkOf(this.picture));
  }

  /** Which columns have ink. */
  get columns() {
    return (this.inked ??= inkedColumns(this.ink));
  }

  /** Where a box of the strip lies in the picture. */
  polygon([left, top, right, bottom]) {
    const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
    return corners.map(([x, y]) => this.toPicture(x, y));
  }

  pull(picture) {
    const pixels = new Uint8Array(3 * this.width * this.height);
    for (let y = 0, at = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++, at += 3) {
        pixels.set(bicubic(picture, ...this.toPicture(x + 0.5, y + 0.5)), at);
      }
    }
    return { width: this.width, height: this.height, pixels };
  }
}

/** The perspective map from a rectangle to four corners (Heckbert 1989). */
function perspective([[x0, y0], [x1, y1], [x2, y2], [x3, y3]], width, height) {
  const [dx1, dy1, dx2, dy2] = [x1 - x2, y1 - y2, x3 - x2, y3 - y2];
  const [sumX, sumY] = [x0 - x1 + x2 - x3, y0 - y1 + y2 - y3];
  const area = dx1 * dy2 - dx2 * dy1;
  const g = (sumX * dy2 - dx2 * sumY) / area;
  const h = (dx1 * sumY - sumX * dy1) / area;
  return (x, y) => {
    const [u, v] = [x / width, y / height];
    const depth = g * u + h * v + 1;
    return [
      ((x1 - x0 + g * x1) * u + (x3 - x0 + h * x3) * v + x0) / depth,
      ((y1 - y0 + g * y1) * u + (y3 - y0 + h * y3) * v + y0) / depth,
    ];
  };
}

/** The color at a point, as Pillow's `transform` finds it; black is beyond the right and bottom. */
function bicubic({ width, height, pixels }, x, y) {
  const [left, top] = [Math.floor(x - 0.5), Math.floor(y - 0.5)];
  const [dx, dy] = [x - 0.5 - left, y - 0.5 - top];
  return [0, 1, 2].map((channel) => {
    const at = (row, column) =>
      row < height && column < width
        ? pixels[3 * (Math.max(row, 0) * width + Math.max(column, 0)) + channel]
        : 0;
    const line = (row) =>
      cubic(at(row, left - 1), at(row, left), at(row, left + 1), at(row, left + 2), dx);
    const value = cubic(line(top - 1), line(top), line(top + 1), line(top + 2), dy);
    return Math.min(255, Math.max(0, value));
  });
}

/** Between the second and the third of four values. */
const cubic = (a, b, c, d, share) =>
  b + share * (c - a + share * (2 * (a - b) + c - d + share * (b - a + d - c)));

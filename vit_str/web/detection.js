// Finds lines of text with the detector of rapidocr: `vit_str/pages/find/detection.py`, and what
// rapidocr makes of the probabilities that the network gives (Liao et al. 2020).

import * as ort from "../runtime/ort.wasm.bundle.min.mjs";
import { boxAround, distance, upright } from "./geometry.js";
import { BILINEAR, resize, roundHalfEven } from "./images.js";
import { detection } from "./shared.js";

const { SHORT, LONG, LONGEST, STEP, WIDEST, WITH_MARGINS } = detection;
const PIXEL = 0.2; // probability of a pixel of text
const LINE = 0.3; // and of a line of them
const GROWTH = 1.6; // that the network shrinks lines by: area over circumference
const ARC_TOLERANCE = 0.25; // pixels
const THINNEST = [3, 5]; // pixels of a line, and of one that has grown

export class Detector {
  constructor(session) {
    this.session = session;
  }

  /** A quadrilateral around each line of a picture, in any order. */
  async lines(picture) {
    const [width, height] = searchedSize(picture);
    const band = width > WIDEST * height ? (width / WITH_MARGINS - height) / 2 : 0;
    const size = { width, height: height + 2 * band };
    const image = tensor(resize(picture, width, height, BILINEAR), size, band);
    const [output] = this.session.outputNames;
    const found = await this.session.run({ [this.session.inputNames[0]]: image });
    return linesIn(found[output].data, size).map((corners) =>
      upright(
        corners.map(([x, y]) => [
          (x * picture.width) / width,
          (Math.min(Math.max(y - band, 0), height) * picture.height) / height,
        ]),
      ),
    );
  }
}

/** Width and height of a picture in which lines are searched. */
function searchedSize({ width, height }) {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  const scale = Math.max(Math.min(1, LONG / long), Math.min(SHORT / short, LONGEST / long));
  return [width, height].map((side) => Math.max(STEP, roundHalfEven((side * scale) / STEP) * STEP));
}

/** Pixels from -1 to 1, blue first, between black bands. */
function tensor(pixels, { width, height }, band) {
  const values = new Float32Array(3 * width * height).fill(-1);
  for (let i = 0; i < pixels.length; i++) {
    const channel = 2 - (i % 3);
    values[(channel * height + band) * width + Math.floor(i / 3)] = pixels[i] / 127.5 - 1;
  }
  return new ort.Tensor("float32", values, [1, 3, height, width]);
}

/** Corners of lines in an image of probabilities, in whole pixels. */
function linesIn(shares, size) {
  return groupsOf(shares, size)
    .map(smallestRectangle)
    .filter(({ sides }) => Math.min(...sides) >= THINNEST[0])
    .filter(({ corners }) => meanWithin(shares, size, corners) >= LINE)
    .map(grown)
    .filter(({ sides }) => Math.min(...sides) >= THINNEST[1])
    .map(({ corners }) => corners.map((corner) => wholePixels(corner, size)))
    .filter(([start, end, , below]) => distance(start, end) >= 4 && distance(start, below) >= 4);
}

function wholePixels([x, y], { width, height }) {
  const within = (value, side) => Math.min(Math.max(roundHalfEven(value), 0), side - 1);
  return [within(x, width), within(y, height)];
}

/** The outermost points in every row of each group of neighboring pixels of text. */
function groupsOf(shares, size) {
  const isText = dilated(shares, size);
  const groups = [];
  isText.forEach((_, start) => {
    if (isText[start]) groups.push(take(isText, start, size));
  });
  return groups;
}

/** Pixels of text, each reaching one to the right and one down. */
function dilated(shares, { width }) {
  const isText = new Uint8Array(shares.length);
  shares.forEach((share, i) => {
    if (share <= PIXEL) return;
    const reach = i % width < width - 1 ? [0, 1, width, width + 1] : [0, width];
    for (const step of reach) isText[i + step] = 1;
  });
  return isText;
}

/** Take a pixel and all that hang together with it out of an image. */
function take(isText, start, { width, height }) {
  const ends = new Map();
  const waiting = [start];
  isText[start] = 0;
  while (waiting.length) {
    const place = waiting.pop();
    const [x, y] = [place % width, Math.floor(place / width)];
    const [left, right] = ends.get(y) ?? [x, x];
    ends.set(y, [Math.min(left, x), Math.max(right, x)]);
    for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++) {
      for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
        const next = row * width + column;
        if (!isText[next]) continue;
        isText[next] = 0;
        waiting.push(next);
      }
    }
  }
  return [...ends].flatMap(([y, [left, right]]) => [[left, y], [right, y]]);
}

/** Corners, clockwise, and sides of the smallest rectangle around points. */
function smallestRectangle(points) {
  const hull = convexHull(points);
  let best = { area: Infinity, sides: [0, 0] }; // of a single point
  hull.forEach(([x, y], i) => {
    const [nextX, nextY] = hull[(i + 1) % hull.length];
    const length = Math.hypot(nextX - x, nextY - y) || 1;
    const [cos, sin] = [(nextX - x) / length, (nextY - y) / length];
    const along = hull.map(([px, py]) => px * cos + py * sin);
    const across = hull.map(([px, py]) => py * cos - px * sin);
    const [left, top] = [Math.min(...along), Math.min(...across)];
    const [right, bottom] = [Math.max(...along), Math.max(...across)];
    const area = (right - left) * (bottom - top);
    if (area >= best.area) return;
    const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
    best = {
      area,
      sides: [right - left, bottom - top],
      corners: corners.map(([u, v]) => [u * cos - v * sin, u * sin + v * cos]),
    };
  });
  return best;
}

/** Points around all others (Andrew 1979). */
function convexHull(points) {
  const sorted = points.toSorted(([x, y], [u, v]) => x - u || y - v);
  const half = (ordered) => {
    const chain = [];
    for (const point of ordered) {
      while (chain.length > 1 && side(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

/** On which side of a line through two points a third one lies. */
const side = ([x, y], [u, v], [px, py]) => (u - x) * (py - y) - (v - y) * (px - x);

/** The mean probability within a rectangle with corners in whole pixels, those of its edges too. */
function meanWithin(shares, { width, height }, corners) {
  const around = convexHull(corners.map((corner) => corner.map(Math.floor)));
  const edges = around.map(([x, y], i) => {
    const [u, v] = around[(i + 1) % around.length];
    return { start: [x, y], end: [u, v], halfPixel: Math.max(Math.abs(u - x), Math.abs(v - y)) / 2 };
  });
  const isWithin = (point) =>
    edges.every(({ start, end, halfPixel }) => side(start, end, point) >= -halfPixel);
  const [left, top, right, bottom] = boxAround(around);
  let [sum, count] = [0, 0];
  for (let row = Math.max(0, top); row <= Math.min(height - 1, bottom); row++) {
    for (let column = Math.max(0, left); column <= Math.min(width - 1, right); column++) {
      if (!isWithin([column, row])) continue;
      sum += shares[row * width + column];
      count++;
    }
  }
  return sum / count;
}

/** A rectangle with what the network leaves out around the letters. */
function grown({ corners, sides: [width, height] }) {
  const margin = (width * height * GROWTH) / (2 * (width + height));
  return smallestRectangle(outline(corners.map((corner) => corner.map(Math.trunc)), margin));
}

/** Points at a distance around clockwise corners, with the arcs and the rounding of Clipper. */
function outline(corners, distance) {
  const step = Math.max(2 * Math.acos(1 - ARC_TOLERANCE / distance), 2 / distance);
  return corners.flatMap(([x, y], i) => {
    const first = normalAngle(corners.at(i - 1), [x, y]);
    const last = normalAngle([x, y], corners[(i + 1) % corners.length]);
    const angle = (last - first + 2 * Math.PI) % (2 * Math.PI);
    const steps = Math.max(1, Math.round(angle / step));
    const angles = [...Array.from({ length: steps }, (_, k) => first + k * step), last];
    return angles.map((each) => [
      Math.round(x + Math.cos(each) * distance),
      Math.round(y + Math.sin(each) * distance),
    ]);
  });
}

/** The direction away from a side of clockwise corners. */
const normalAngle = ([x, y], [u, v]) => Math.atan2(x - u, v - y);

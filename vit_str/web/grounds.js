// Areas of another shade than the paper: `vit_str/pages/find/grounds.py`, and what OpenCV makes of its pixels.

import { resize, roundHalfEven } from "./images.js";
import { sum } from "./numbers.js";
import { MEAN } from "./rules.js";
import { grounds } from "./shared.js";

const { LONGEST_SIDE, WINDOW, EVEN, OTHER, SMALLEST, FULL, SHADES, SHEET, MOST } = grounds;
const REACH = (WINDOW - 1) / 2;

/** Left, top, right, bottom and lightness (0 to 255) of the grounds of a gray picture, the largest first. */
export function findGrounds(gray) {
  const sides = [gray.width, gray.height];
  const scale = Math.min(1, LONGEST_SIDE / Math.max(...sides));
  const [width, height] = sides.map((side) => Math.max(1, roundHalfEven(side * scale)));
  if (Math.min(width, height) < 2 * WINDOW) return [];
  const shades = withoutText(resize(gray, width, height, MEAN), width, height);
  const isEven = evenPixels(shades, width, height);
  const paper = mostFrequent(shades, isEven);
  const areaOf = ([left, top, right, bottom]) => (right - left) * (bottom - top);
  return areasOf(isEven, width, height)
    .filter((area) => isLargeEnough(area, shades.length))
    .map(({ pixels, box: [left, top, right, bottom] }) => [
      // What is even ends a pixel before the edge
      ...[left - 1, top - 1, right + 1, bottom + 1].map((side) => side / scale),
      medianShade(countsOf(pixels.map((pixel) => shades[pixel]))),
    ])
    .filter(([, , , , lightness]) => Math.abs(lightness - paper) >= OTHER)
    .sort((one, other) => areaOf(other) - areaOf(one))
    .slice(0, MOST);
}

/** The median of a window around each gray pixel, whose edges repeat: text covers less than half of it. */
function withoutText(gray, width, height) {
  const inside = (place, length) => Math.min(Math.max(place, 0), length - 1);
  const found = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const rows = Array.from({ length: WINDOW }, (_, i) => width * inside(y + i - REACH, height));
    const shades = new RunningMedian();
    for (let x = -REACH; x <= REACH; x++) {
      for (const row of rows) shades.add(gray[3 * (row + inside(x, width))]);
    }
    for (let x = 0; x < width; x++) {
      found[y * width + x] = shades.median();
      const [leaving, coming] = [inside(x - REACH, width), inside(x + REACH + 1, width)];
      for (const row of rows) shades.replace(gray[3 * (row + leaving)], gray[3 * (row + coming)]);
    }
  }
  return found;
}

/** The median of the shades of a window: how many there are of each, and how many below the median. */
class RunningMedian {
  counts = new Int32Array(256);
  middle = 0;
  below = 0;

  add(shade) {
    this.counts[shade]++;
    if (shade < this.middle) this.below++;
  }

  replace(shade, other) {
    if (shade === other) return; // as on most of a page
    this.counts[shade]--;
    if (shade < this.middle) this.below--;
    this.add(other);
  }

  median() {
    const half = (WINDOW ** 2 - 1) / 2;
    while (this.below > half) this.below -= this.counts[--this.middle];
    while (this.below + this.counts[this.middle] <= half) this.below += this.counts[this.middle++];
    return this.middle;
  }
}

/** Where neighbors have about one shade: 1 or 0. */
function evenPixels(shades, width, height) {
  const isEven = new Uint8Array(shades.length);
  for (let y = 0; y < height; y++) {
    const [above, below] = [Math.max(0, y - 1), Math.min(height - 1, y + 1)];
    for (let x = 0; x < width; x++) {
      let darkest = 255;
      let lightest = 0;
      const [left, right] = [Math.max(0, x - 1), Math.min(width - 1, x + 1)];
      for (let row = above; row <= below; row++) {
        for (let column = left; column <= right; column++) {
          const shade = shades[row * width + column];
          if (shade < darkest) darkest = shade;
          if (shade > lightest) lightest = shade;
        }
      }
      isEven[y * width + x] = Number(lightest - darkest < EVEN);
    }
  }
  return isEven;
}

/** Areas of even pixels that touch at their sides: the pixels, and the box around them. */
function areasOf(isEven, width, height) {
  const isOpen = Uint8Array.from(isEven);
  const areas = [];
  for (let start = isOpen.indexOf(1); start >= 0; start = isOpen.indexOf(1, start + 1)) {
    const pixels = [start];
    isOpen[start] = 0;
    const box = [width, height, 0, 0];
    for (let next = 0; next < pixels.length; next++) {
      const pixel = pixels[next];
      const [x, y] = [pixel % width, Math.floor(pixel / width)];
      if (x < box[0]) box[0] = x;
      if (y < box[1]) box[1] = y;
      if (x >= box[2]) box[2] = x + 1;
      if (y >= box[3]) box[3] = y + 1;
      const touch = (isInside, other) => {
        if (!isInside || !isOpen[other]) return;
        isOpen[other] = 0;
        pixels.push(other);
      };
      touch(x > 0, pixel - 1);
      touch(x < width - 1, pixel + 1);
      touch(y > 0, pixel - width);
      touch(y < height - 1, pixel + width);
    }
    areas.push({ pixels, box });
  }
  return areas;
}

/** Whether an area is as large as a ground, covers its box, and is not the paper itself. */
function isLargeEnough({ pixels, box: [left, top, right, bottom] }, pixelsOfPage) {
  const [shorter, longer] = [right - left, bottom - top].sort((one, other) => one - other);
  const covers = pixels.length >= FULL * shorter * longer && pixels.length <= SHEET * pixelsOfPage;
  return shorter >= SMALLEST[0] && longer >= SMALLEST[1] && covers;
}

/** The shade of most of the even pixels. */
function mostFrequent(shades, isEven) {
  const counts = countsOf(shades, isEven);
  if (!sum(counts)) return 255;
  const coarse = (shade) => Math.floor((shade * SHADES) / counts.length);
  const totals = new Array(SHADES).fill(0);
  counts.forEach((count, shade) => (totals[coarse(shade)] += count));
  const best = totals.indexOf(Math.max(...totals));
  return medianShade(counts.map((count, shade) => (coarse(shade) === best ? count : 0)));
}

/** How many pixels have each shade, of those that are asked for. */
function countsOf(shades, isAsked) {
  const counts = new Array(256).fill(0);
  for (let i = 0; i < shades.length; i++) if (!isAsked || isAsked[i]) counts[shades[i]]++;
  return counts;
}

/** The median of shades, the mean of both in the middle. */
function medianShade(counts) {
  const shadeAt = (place) => {
    let left = place;
    return counts.findIndex((count) => (left -= count) < 0);
  };
  const last = (sum(counts) - 1) / 2;
  return (shadeAt(Math.floor(last)) + shadeAt(Math.ceil(last))) / 2;
}

// Type of a line by its ink: where words begin and end, how large and how bold: `vit_str/pages/find/ink.py`.

import { grayed, roundHalfEven } from "./images.js";
import { sum } from "./numbers.js";
import { ink } from "./shared.js";

const { FULL, SHADES, INKED, MOST_TRIMMED, BAND, FULLEST, CAPITALS } = ink;

/** How much ink each pixel of a line holds, 0 to 255, row by row; light on dark is ink too. */
export function inkOf(picture) {
  const { width, height, pixels } = grayed(picture);
  const inkOfShade = inkOfShades(pixels);
  const ink = new Uint8Array(width * height);
  for (let i = 0; i < ink.length; i++) ink[i] = inkOfShade[pixels[3 * i]];
  return { width, height, ink };
}

/** Which columns of a line have ink, 1 or 0. */
export function inkedColumns({ width, ink }) {
  const columns = new Uint8Array(width);
  ink.forEach((each, i) => (columns[i % width] |= Number(each > INKED)));
  return columns;
}

/** How much of each shade is ink on the paper of a line. */
function inkOfShades(pixels) {
  const counts = new Array(FULL + 1).fill(0);
  for (let i = 0; i < pixels.length; i += 3) counts[pixels[i]]++;
  const [dark, paper, bright] = SHADES.map((percent) => shadeAt(counts, percent / 100));
  const darkest = paper - dark >= bright - paper ? dark : bright;
  const contrast = Math.max(1, Math.abs(darkest - paper)) * Math.sign(darkest - paper);
  return counts.map((_, shade) => {
    const ink = contrast ? Math.min(Math.max((shade - paper) / contrast, 0), 1) : 0;
    return roundHalfEven(FULL * ink);
  });
}

/** The shade below which a share of the pixels is, between two of them as NumPy has it. */
function shadeAt(counts, share) {
  const last = sum(counts) - 1;
  const place = share * last;
  const shadeOf = (pixel) => {
    let left = pixel;
    return counts.findIndex((count) => (left -= count) < 0);
  };
  const [below, above] = [Math.floor(place), Math.ceil(place)].map(shadeOf);
  return below + (place % 1) * (above - below);
}

/** The sides of a word without the white beside its ink; as they are if there is none near. */
export function trimmed(columns, height, left, right, room = 0) {
  let start = Math.max(0, roundHalfEven(left));
  let stop = Math.min(columns.length, roundHalfEven(right));
  const first = Math.max(0, roundHalfEven(left - room));
  const last = Math.min(columns.length, roundHalfEven(right + room));
  while (start > first && columns[start - 1] && columns[start]) start -= 1;
  while (stop < last && columns[stop - 1] && columns[stop]) stop += 1;
  left = Math.min(left, start);
  right = Math.max(right, stop);
  const inside = columns.subarray(start, stop);
  if (!inside.includes(1)) return [left, right];
  const most = MOST_TRIMMED * height;
  const begin = start + inside.indexOf(1);
  const end = start + inside.lastIndexOf(1) + 1;
  return [
    Math.max(left, Math.min(begin, left + most)),
    Math.min(right, Math.max(end, right - most)),
  ];
}

/**
 * The type of a line: `size`, the height of its small letters in pixels, and `weight`, the width of
 * its strokes. Words have `text`, `left` and `right`. Capitals and digits are higher than small
 * letters: the size is that of words of small letters, if there are some.
 */
export function typeOf(line, words) {
  const everything = lettersOf(line, words);
  const small = words.filter(({ text }) => isSmall(text));
  const size = small.length ? band(lettersOf(line, small)) : CAPITALS * band(everything);
  const crossings = sum(everything.map(steps)) / 2;
  return { size, weight: crossings && sum(everything.map(sum)) / crossings };
}

/** Whether most of a word is small letters. */
function isSmall(text) {
  const letters = [...text];
  const small = letters.filter((letter) => /\p{Lowercase}/u.test(letter));
  return letters.length > 1 && 2 * small.length > letters.length;
}

/** Rows of the ink in the columns of some words, from 0 to 1. */
function lettersOf({ width, height, ink }, words) {
  return Array.from({ length: height }, (_, y) =>
    words.flatMap(({ left, right }) => {
      const [start, stop] = [left, right].map((side) => Math.min(width, Math.max(0, roundHalfEven(side))));
      return Array.from(ink.subarray(y * width + start, y * width + Math.max(start, stop)), (each) => each / FULL);
    }),
  );
}

const steps = (row) => row.reduce((total, ink, x) => total + (x && Math.abs(ink - row[x - 1])), 0);

/** How many rows have as much ink as most of the letters give; those at the edge in part. */
function band(letters) {
  if (!letters.length || !letters[0].length) return 0;
  const rows = letters.map((row) => sum(row) / row.length);
  const fullest = percentile(rows, FULLEST);
  const [none, all] = BAND.map((share) => share * fullest);
  return fullest && sum(rows.map((row) => Math.min(Math.max((row - none) / (all - none), 0), 1)));
}

/** The value below which some percent of all are, between two of them as NumPy has it. */
function percentile(values, percent) {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (percent / 100) * (sorted.length - 1);
  const [below, above] = [Math.floor(place), Math.ceil(place)].map((at) => sorted[at]);
  return below + (place % 1) * (above - below);
}

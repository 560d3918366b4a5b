// Where the ink of words begins and ends in the strip of a line: `vit_str/pages/find/ink.py`.

import { grayed, roundHalfEven } from "./images.js";
import { sum } from "./numbers.js";
import { ink } from "./shared.js";

const { FULL, SHADES, INKED, MOST_TRIMMED } = ink;

/** Which columns of a line have ink, 1 or 0; light on dark is ink too. */
export function inkedColumns(picture) {
  const { width, pixels } = grayed(picture);
  const isInk = inkedShades(pixels);
  const columns = new Uint8Array(width);
  for (let i = 0; i < pixels.length; i += 3) columns[(i / 3) % width] |= isInk[pixels[i]];
  return columns;
}

/** Whether each shade is ink on the paper of a line. */
function inkedShades(pixels) {
  const counts = new Array(FULL + 1).fill(0);
  for (let i = 0; i < pixels.length; i += 3) counts[pixels[i]]++;
  const [dark, paper, bright] = SHADES.map((percent) => shadeAt(counts, percent / 100));
  const darkest = paper - dark >= bright - paper ? dark : bright;
  const contrast = Math.max(1, Math.abs(darkest - paper)) * Math.sign(darkest - paper);
  return counts.map((_, shade) => {
    const ink = contrast ? Math.min(Math.max((shade - paper) / contrast, 0), 1) : 0;
    return Number(roundHalfEven(FULL * ink) > INKED);
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

// Picture files as pixels of the model: `Preprocessing` of `vit_str/images/preprocessing.py`, resized as Pillow
// resizes, since the smoothing of a canvas is another.

const MOST_PIXELS = 60e6;
const PRECISION = 2 ** 22; // of Pillow's coefficients

/** Filters: how far they reach, and the weight of a pixel at a distance. */
const BICUBIC = { reach: 2, weight: bicubic };
export const BILINEAR = { reach: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) };

/** Width, height and opaque RGB pixels of a file, upright as its EXIF data says. */
export async function decode(file) {
  const options = { colorSpaceConversion: "none", premultiplyAlpha: "none" };
  const bitmap = await createImageBitmap(file, options).catch(() => {
    throw new Error("This file is not a picture that the browser can open. Try PNG, JPEG or WebP.");
  });
  const { width, height } = bitmap;
  if (width * height > MOST_PIXELS) {
    throw new Error(`This picture has ${Math.round((width * height) / 1e6)} million pixels, more than \
this page takes. Cut out what to read, or make it smaller.`);
  }
  const canvas = new OffscreenCanvas(width, height);
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.drawImage(bitmap, 0, 0);
  bitmap.close();
  return { width, height, pixels: opaque(pen.getImageData(0, 0, width, height).data) };
}

/** RGBA to RGB on white, or on black if what is seen is light. */
function opaque(rgba) {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  let light = 0;
  let total = 0;
  for (let i = 0; i < rgba.length; i += 4) {
    const lightness = (rgba[i] * 299 + rgba[i + 1] * 587 + rgba[i + 2] * 114) / 1000;
    light += lightness * rgba[i + 3];
    total += rgba[i + 3];
  }
  const background = light > 127.5 * total ? 0 : 255;
  for (let i = 0, o = 0; i < rgba.length; i += 4) {
    const share = rgba[i + 3] / 255;
    for (let c = 0; c < 3; c++) {
      rgb[o++] = Math.round(rgba[i + c] * share + background * (1 - share));
    }
  }
  return rgb;
}

/** The same in gray, as Pillow converts it: three equal values for each pixel. */
export function grayed({ width, height, pixels }) {
  const gray = new Uint8Array(pixels.length);
  for (let i = 0; i < pixels.length; i += 3) {
    const light = 19595 * pixels[i] + 38470 * pixels[i + 1] + 7471 * pixels[i + 2];
    gray[i] = gray[i + 1] = gray[i + 2] = (light + 32768) >> 16;
  }
  return { width, height, pixels: gray };
}

/** Turned by a quarter to the left. */
export function turnLeft({ width, height, pixels }) {
  const turned = new Uint8Array(pixels.length);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 3) {
      turned.set(pixels.subarray(i, i + 3), ((width - 1 - x) * height + y) * 3);
    }
  }
  return { width: height, height: width, pixels: turned };
}

/** The width that a picture is brought to. */
export function widthOf({ width, height, width_step: step }, picture) {
  if (!step) return width;
  const steps = roundHalfEven(((picture.width / picture.height) * height) / step);
  return Math.min(width, Math.max(1, steps) * step);
}

/** To whole numbers as Python rounds. */
export const roundHalfEven = (value) =>
  value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value);

/** Resized with a filter of Pillow, antialiased: rows first, rounded to bytes in between. */
export function resize(image, width, height, filter = BICUBIC) {
  let { pixels } = image;
  if (image.width !== width) {
    const places = [3, image.width * 3, 3, width * 3];
    pixels = resample(pixels, image.height, image.width, width, ...places, filter);
  }
  if (image.height !== height) {
    const places = [width * 3, 3, width * 3, 3];
    pixels = resample(pixels, width, image.height, height, ...places, filter);
  }
  return pixels;
}

// Resizes `lines` lines of `from` pixels to `to` pixels each. Pixels of a line are `step` bytes
// apart; lines are `line` bytes apart before and `newLine` after.
function resample(pixels, lines, from, to, step, line, newStep, newLine, filter) {
  const result = new Uint8Array(lines * to * 3);
  for (let i = 0; i < to; i++) {
    const { first, weights } = coefficients(i, from, to, filter);
    for (let l = 0; l < lines; l++) {
      for (let c = 0; c < 3; c++) {
        let sum = PRECISION / 2;
        let at = l * line + first * step + c;
        for (let k = 0; k < weights.length; k++, at += step) sum += pixels[at] * weights[k];
        const value = Math.floor(sum / PRECISION);
        result[l * newLine + i * newStep + c] = Math.min(255, Math.max(0, value));
      }
    }
  }
  return result;
}

function coefficients(i, from, to, { reach, weight }) {
  const scale = from / to;
  const filterScale = Math.max(scale, 1);
  const support = reach * filterScale;
  const center = (i + 0.5) * scale;
  const first = Math.max(0, Math.trunc(center - support + 0.5));
  const count = Math.min(from, Math.trunc(center + support + 0.5)) - first;
  const weights = Array.from({ length: count }, (_, k) =>
    weight((k + first - center + 0.5) / filterScale),
  );
  const sum = weights.reduce((one, other) => one + other, 0);
  const fixed = (share) => Math.trunc((share / sum) * PRECISION + (share < 0 ? -0.5 : 0.5));
  return { first, weights: weights.map(fixed) };
}

function bicubic(x) {
  const a = -0.5;
  const distance = Math.abs(x);
  if (distance < 1) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  return distance < 2 ? (((distance - 5) * distance + 8) * distance - 4) * a : 0;
}

/** Turned by a half. */
export function turnOver(pixels) {
  const turned = new Uint8Array(pixels.length);
  for (let i = 0; i < pixels.length; i += 3) {
    turned.set(pixels.subarray(i, i + 3), pixels.length - 3 - i);
  }
  return turned;
}

/** A picture that is augmented, as `augmentation.py` has it. */
export function augmented(pixels, width, height, { cut, slope, blurred }) {
  if (blurred) return blur(pixels, width, height);
  const result = new Uint8Array(pixels.length);
  const scale = 1 - 2 * cut;
  for (let i = 0, o = 0; i < height; i++) {
    const down = (i + 0.5) / height - 0.5;
    for (let j = 0; j < width; j++) {
      const across = (j + 0.5) / width - 0.5;
      const wanted = (across * scale + 0.5) * width - 0.5;
      const inside = (down * scale + slope * across + 0.5) * height - 0.5;
      const x = Math.min(Math.max(wanted, 0), width - 1);
      const y = Math.min(Math.max(inside, 0), height - 1);
      const left = Math.floor(x);
      const top = Math.floor(y);
      const right = Math.min(left + 1, width - 1);
      const below = Math.min(top + 1, height - 1);
      for (let c = 0; c < 3; c++) {
        const at = (row, column) => pixels[(row * width + column) * 3 + c];
        const row = (r) => at(r, left) * (1 - (x - left)) + at(r, right) * (x - left);
        result[o++] = Math.round(row(top) * (1 - (y - top)) + row(below) * (y - top));
      }
    }
  }
  return result;
}

/** The mean of the nine pixels around each, edges repeated. */
function blur(pixels, width, height) {
  const inside = (value, size) => Math.min(Math.max(value, 0), size - 1);
  return pixels.map((_, index) => {
    const channel = index % 3;
    const column = ((index - channel) / 3) % width;
    const row = Math.floor(index / 3 / width);
    let sum = 0;
    for (let i = row - 1; i <= row + 1; i++) {
      for (let j = column - 1; j <= column + 1; j++) {
        sum += pixels[(inside(i, height) * width + inside(j, width)) * 3 + channel];
      }
    }
    return Math.round(sum / 9);
  });
}

/** (pixels / 255 - mean) / std, channels first. */
export function normalize(pixels, mean, std) {
  const count = pixels.length / 3;
  const result = new Float32Array(pixels.length);
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < 3; c++) {
      result[c * count + i] = (pixels[i * 3 + c] / 255 - mean[c]) / std[c];
    }
  }
  return result;
}

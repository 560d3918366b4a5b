// Features for the network that arranges pages: `vit_str/pages/arrange/features.py`. Each piece of a
// line, rule and ground is a token with a place; lengths are in heights of the usual line.

import { median, most, sum } from "../numbers.js";
import { features } from "../shared.js";
import { ngramsOf, oneHot, textNumbers } from "./text_features.js";

const { KINDS, NO_RULE, NGRAMS, WAVES, NEAR, LEAST } = features;
const [LEVEL_RULE, UPRIGHT_RULE, GROUND] = [1, 2, 3]; // places in `KINDS`
const LOWEST = 0.05; // height of a token, in lines
const LIGHT = 2; // place of the lightness among the numbers of a piece

/**
 * Rows of features, of places and of n-grams, those of pieces first; see `Tokens` in Python.
 *
 * Words have `text`, `size` and `weight`; boxes, pieces and shapes are those of `leveled`.
 */
export function tokensOf(words, { boxes: ofWords, pieces, shapes }) {
  const measures = pieces.map((piece) => measured(piece, words, ofWords));
  const usual = (name) => usualOf(measures.map((each) => [each[name], each.letters]));
  const unit = usual("height");
  const origin = [0, 1].map((axis) => Math.min(...measures.map(({ box }) => box[axis])));
  const moved = (box) => box.slice(0, 4).map((side, i) => (side - origin[i % 2]) / unit);
  const boxes = measures.map(({ box, height }) => asHighAsLine(moved(box), height / unit));
  const rules = shapes.rules.map(moved);
  const grounds = shapes.grounds.map(moved);
  const others = [
    ...rules.map((box) => ({ box, kind: isLevel(box) ? LEVEL_RULE : UPRIGHT_RULE, light: 0 })),
    ...grounds.map((box, i) => ({ box, kind: GROUND, light: shapes.grounds[i][4] / 255 })),
  ];
  const pageNumbers = numbersOfPage(boxes);
  const alike = countersOfAlike(boxes);
  const [size, weight] = [usual("size"), usual("weight")];
  const rows = boxes.map((box, i) => {
    const type = [over(measures[i].size, size), over(measures[i].weight, weight)];
    const ground = groundBehind(box, grounds);
    const light = ground < 0 ? 1 : shapes.grounds[ground][4] / 255;
    const { sides, lengths } = nearestRules(box, rules);
    const text = pieces[i].map((word) => words[word].text).join(" ");
    const own = [...type, light, ...nearness(box, sides), ...lengths.map(Math.log1p), ...alike(box)];
    return {
      features: [...oneHot(0, KINDS.length), ...pageNumbers(box), ...own, ...textNumbers(text)],
      places: [...box, ...type, ...sides, ground],
      ngrams: ngramsOf(text),
    };
  });
  const count = rows[0].features.length - KINDS.length - pageNumbers(boxes[0]).length;
  for (const { box, kind, light } of others) {
    const own = oneHot(LIGHT, count).map((is) => is * light);
    rows.push({
      features: [...oneHot(kind, KINDS.length), ...pageNumbers(box), ...own],
      places: [...box, 0, 0, ...Array(4).fill(NO_RULE), groundBehind(box, grounds)],
      ngrams: Array(NGRAMS).fill(0),
    });
  }
  return rows;
}

const isLevel = ([left, top, right, bottom]) => right - left >= bottom - top;

/** The box of a piece, its height, the size and weight of its type, and how many letters it has. */
function measured(piece, words, boxes) {
  const own = piece.map((word) => boxes[word]);
  const letters = piece.map((word) => Math.max(1, [...words[word].text].length));
  const side = (axis, outermost) => outermost(...own.map((box) => box[axis]));
  return {
    box: [side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)],
    height: Math.max(1, median(own.map(([, top, , bottom]) => bottom - top))),
    size: median(piece.map((word) => words[word].size)),
    weight: sum(piece.map((word, i) => words[word].weight * letters[i])) / sum(letters),
    letters: sum(letters),
  };
}

/** All pieces of a line are as high as the line: what is read in them is not. */
function asHighAsLine([left, top, right, bottom], height) {
  const middle = (top + bottom) / 2;
  return [left, middle - height / 2, right, middle + height / 2];
}

/** The median of values over letters, of pairs of both. */
function usualOf(pairs) {
  const half = sum(pairs.map(([, letters]) => letters)) / 2;
  let counted = 0;
  const sorted = pairs.toSorted(([one], [other]) => one - other);
  return sorted.find(([, letters]) => (counted += letters) >= half)[0];
}

const over = (value, usual) => Math.log(Math.max(value, LEAST) / Math.max(usual, LEAST));

/** The number of the smallest ground behind the middle of a box, -1 without. */
function groundBehind([left, top, right, bottom], grounds) {
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const area = (box) => (box[2] - box[0]) * (box[3] - box[1]);
  return grounds.reduce((smallest, box, i) => {
    const isBehind = box[0] < x && x < box[2] && box[1] < y && y < box[3];
    return isBehind && !(smallest >= 0 && area(grounds[smallest]) <= area(box)) ? i : smallest;
  }, -1);
}

/** Places of the nearest rules above, below, left and right, and lengths of the first two. */
function nearestRules([left, top, right, bottom], rules) {
  const sides = Array(4).fill(NO_RULE);
  const lengths = [0, 0];
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  for (const [x0, y0, x1, y1] of rules) {
    const isAlong = x1 - x0 > y1 - y0; // a level one
    const isNear = isAlong ? x0 < right && x1 > left : y0 < bottom && y1 > top;
    if (!isNear) continue;
    const [at, middle] = isAlong ? [(y0 + y1) / 2, y] : [(x0 + x1) / 2, x];
    const side = (isAlong ? 0 : 2) + Number(at >= middle);
    const isNearer = side % 2 ? at < sides[side] : sides[side] === NO_RULE || at > sides[side];
    if (!isNearer) continue;
    sides[side] = at;
    if (isAlong) lengths[side] = x1 - x0;
  }
  return { sides, lengths };
}

/** How near the rules at the sides of a box are, 1 where they touch. */
function nearness([left, top, right, bottom], sides) {
  return [top, bottom, left, right].map((place, i) => Math.exp(-Math.abs(sides[i] - place) / 2));
}

/** What counts the boxes whose left, right, middle across and middle down are those of a box. */
function countersOfAlike(boxes) {
  const edges = ([left, top, right, bottom]) => [left, right, (left + right) / 2, (top + bottom) / 2];
  const all = boxes.map(edges);
  return (box) =>
    edges(box).map((edge, i) =>
      Math.log1p(all.filter((other) => Math.abs(other[i] - edge) < NEAR).length),
    );
}

/** What tells where a box is on a page with these pieces, in several ways. */
function numbersOfPage(boxes) {
  const wide = Math.max(1, most(boxes.map((box) => box[2])));
  const tall = Math.max(1, most(boxes.map((box) => box[3])));
  const ofPage = [wide, tall, boxes.length + 1].map(Math.log);
  return ([left, top, right, bottom]) => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const lengths = [right - left, left, wide - right, y, tall - y];
    return [
      Math.log(Math.max(bottom - top, LOWEST)),
      ...[left / wide, right / wide, x / wide, y / tall, (right - left) / wide],
      ...lengths.map((length) => Math.log1p(Math.max(length, 0))),
      ...ofPage,
      ...[left, right, y].flatMap((place) =>
        WAVES.flatMap((wave) => {
          const angle = (2 * Math.PI * place) / wave;
          return [Math.sin(angle), Math.cos(angle)];
        }),
      ),
    ];
  };
}

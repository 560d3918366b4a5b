// Signs of one kind that look alike, judged together: `vit_str/decoding/look_alikes.py`.

import { lookAlikes } from "./shared.js";

const { DASHES, ZEROS, ROUND, QUOTES, BEFORE_A_SIGN, RARE, NEVER, TINY, JOINED, OF_ZEROS } = lookAlikes;

const isDigit = (text) => /^\p{Nd}+$/u.test(text);
const isLetter = (text) => /\p{L}/u.test(text);

/** The kinds of signs in the characters of a reader. */
export class LookAlikes {
  constructor(characters) {
    const idsOf = (signs) => [...signs].map((sign) => characters.indexOf(sign)).filter((id) => id >= 0);
    this.characters = characters;
    this.kinds = [DASHES, ZEROS, ...QUOTES].map(idsOf).filter((ids) => ids.length > 1);
    this.round = idsOf(ROUND);
  }

  /** Shares of symbols, those of a kind at the place of its first sign; `alone`, of all round ones. */
  summed(rows, alone = false) {
    return rows.map((row) => {
      const together = [...row];
      for (const ids of alone ? [this.round] : this.kinds) {
        together[ids[0]] = ids.reduce((sum, id) => sum + row[id], 0);
        for (const id of ids.slice(1)) together[id] = 0;
      }
      return together;
    });
  }

  /** A text of one sign as the first of those that are round; null for others. */
  alone = (ids) => (ids.length === 1 && this.round.includes(ids[0]) ? [this.round[0]] : null);

  /** A text without the space between its minus and the number behind it; null for others. */
  withItsNumber(ids) {
    const [first, second, third] = ids.slice(0, 3).map((id) => this.characters[id]);
    const isParted = first === DASHES[0] && second === " " && isDigit(third ?? "");
    return isParted ? [ids[0], ...ids.slice(2)] : null;
  }

  /** How probable that text is, if it is `joined` so often and parted so often. */
  isJoined = (joined, parted) => (JOINED * joined) / (JOINED * joined + parted);

  isFirst = (id) => this.kinds.some(([first]) => first === id);

  /** The sign at a place of a text, and its probability within its kind. */
  choose(ids, place, shares) {
    const members = this.alone(ids) ? this.round : this.kinds.find(([first]) => first === ids[place]);
    const signs = members.map((id) => this.characters[id]);
    const weights = weightsOf(signs, ids.map((id) => this.characters[id]), place);
    const likely = members.map((id, i) => shares[id] * weights[i] + TINY);
    const best = likely.indexOf(Math.max(...likely));
    const sum = likely.reduce((one, other) => one + other);
    return { id: members[best], sure: signs[0] === ZEROS[0] ? likely[best] / sum : 1 };
  }
}

/** How likely each sign of a kind is at a place, before the picture is seen. */
function weightsOf(signs, text, place) {
  const isDash = signs[0] === DASHES[0];
  if (isDash && isBeforeNumber(text, place)) return weighted(signs, { "-": 1 }, NEVER);
  if (isDash && isWithinWord(text, place)) return weighted(signs, { "-": 1 }, RARE);
  if (signs[0] === ZEROS[0]) return weighted(signs, weightsOfZeros(text.join(""), place), RARE);
  return signs.map(() => 1);
}

const weighted = (signs, weights, rare) => signs.map((sign) => weights[sign] ?? rare);

function isBeforeNumber(text, place) {
  const after = text.slice(place + 1).join("").replace(/^[.,]+/, "");
  return (!place || BEFORE_A_SIGN.includes(text[place - 1])) && isDigit(after.slice(0, 1));
}

function isWithinWord(text, place) {
  const sides = [text[place - 1], text[place + 1]];
  if (!sides.every((side) => side && /[\p{L}\p{N}]/u.test(side))) return false;
  const before = text.slice(0, place).join("").split(" ").at(-1);
  const [after] = text.slice(place).join("").split(" ");
  return !sides.every(isDigit) || (before + after).split(DASHES[0]).length > 2;
}

/** A zero among digits, a letter among letters, a circle in front of words. */
function weightsOfZeros(text, place) {
  if (text.length === 1) return OF_ZEROS["alone"];
  const start = text.lastIndexOf(" ", place - 1) + 1;
  const [word] = text.slice(place ? start : 0).split(" ");
  const [next = ""] = text.slice((place ? start : 0) + word.length).trim().split(" ");
  const others = word.replaceAll("0", "");
  if (isLetter(others)) return OF_ZEROS[/\p{Nd}/u.test(others) ? "in code" : "in word"];
  const isFirst = place === (place ? start : 0);
  if (/\p{Nd}/u.test(others) && word[0] === "0" && isFirst) return OF_ZEROS["before digits"];
  if (/^\.+$/.test(others)) return OF_ZEROS["initial"];
  if (!(place && start) && word === "0" && isLetter(next.slice(0, 1))) return OF_ZEROS["before words"];
  return OF_ZEROS["else"];
}

// Which way text runs on a page: `vit_str/pages/read/directions.py`.

import { distance, sideLengths } from "./geometry.js";
import { roundHalfEven } from "./images.js";
import { directions } from "./shared.js";

// Logarithms of probabilities, lengths, characters: there with their units.
const { PAGES, LONG, TALL, FLAT, SHORT, HIGH, ACROSS, MOST_TURNED, REACH } = directions;
const { MOST_TOLD, TOLD_BEFORE, ROUNDS, NOTHING, NO_TEXT, EMPTY, NARROWEST } = directions;

const mostOf = (length) => -length * Math.log(NO_TEXT);
const most = (aspect) => mostOf(Math.max(1, roundHalfEven(NARROWEST * aspect)));
const mean = (values) => values.reduce((one, other) => one + other) / values.length;
const unread = () => Array(4).fill(-Infinity);

/** What was read of lines in some directions, and what speaks for these. */
export class Directions {
  constructor(found) {
    const aspects = found.map((corners) => {
      const [width, height] = sideLengths(corners);
      return Math.max(width, 1) / Math.max(height, 1);
    });
    this.priors = aspects.map(priorsOf);
    this.middles = found.map((corners) => [0, 1].map((axis) => mean(corners.map((each) => each[axis]))));
    this.reach = found.map((corners) => REACH * Math.max(1, Math.min(...sideLengths(corners))));
    this.isShort = aspects.map((aspect) => aspect > 1 / LONG && aspect < LONG);
    this.possible = aspects.map((aspect) => [0, 1, 2, 3].map((k) => most(k % 2 ? 1 / aspect : aspect)));
    this.evidence = aspects.map(unread);
    this.lines = aspects.map(() => []); // as read in each direction
  }

  add(place, quarters, line) {
    const { text, confidence } = line.whole;
    this.lines[place][quarters] = line;
    if (text) this.possible[place][(quarters + 2) % 4] = mostOf([...text].length);
    this.evidence[place][quarters] = text
      ? Math.log(Math.max(confidence, 1e-300)) + mostOf([...text].length)
      : EMPTY;
  }

  /** The most probable direction of the page, before anything is read or as far as lines are. */
  page(places, evidence = this.evidence) {
    return largest(this.pages(places, evidence));
  }

  firstPage() {
    const nothing = this.evidence.map(() => [0, 0, 0, 0]);
    return this.page([...this.evidence.keys()], nothing);
  }

  /** The most probable direction of a line, of those in which it is read. */
  line(place, page) {
    return largest(this.priors[place][page].map((prior, k) => prior + this.evidence[place][k]));
  }

  /** Take a direction for more likely that lines nearby have; whether there was something to tell. */
  expectMore(places, page) {
    const isTurned = (place) => this.lines[place].some((line, k) => line && k !== page);
    if (!places.some(isTurned)) return false;
    const before = places.map((place) => this.priors[place][page]);
    const weights = places.map((place) => Math.min(Math.max(...this.evidence[place], 0), MOST_TOLD));
    const near = places.map((place, i) =>
      places.map((other, j) => {
        const apart = distance(this.middles[place], this.middles[other]);
        return i === j ? 0 : weights[j] * Math.exp(-apart / this.reach[place]);
      }),
    );
    let priors = before;
    for (let round = 0; round < ROUNDS; round++) {
      const shares = places.map((place, i) => {
        const ways = priors[i].map((prior, k) => prior + this.evidence[place][k]);
        return ways.map((way) => Math.exp(way - logOfSum(ways)));
      });
      priors = places.map((place, i) => {
        const together = before[i].map((prior, k) =>
          shares.reduce((sum, share, j) => sum + near[i][j] * share[k], TOLD_BEFORE * Math.exp(prior)),
        );
        const sum = together.reduce((one, other) => one + other);
        const least = Math.min(...before[i]);
        return before[i].map((prior, k) => {
          const most = this.isShort[place] && k !== page ? Math.max(prior, MOST_TURNED) : 0;
          return prior > least ? Math.min(Math.log(together[k] / sum), most) : prior;
        });
      });
    }
    places.forEach((place, i) => {
      this.priors[place][page] = priors[i];
    });
    return true;
  }

  disagree = (places, page) => places.some((place) => this.line(place, page) === (page + 2) % 4);

  /** The direction in which a line has to be read next, if that could change anything. */
  askedOfLine(place, page) {
    const priors = this.priors[place][page];
    const isRead = (k) => Boolean(this.lines[place][k]);
    const known = [0, 1, 2, 3].map((k) => priors[k] + this.evidence[place][k]);
    if (this.lines[place].length) known.push(NOTHING);
    const least = Math.max(...known);
    const open = priors.map((prior, k) =>
      !isRead(k) && prior + this.possible[place][k] > least ? prior : -Infinity,
    );
    return Math.max(...open) > -Infinity ? largest(open) : null;
  }

  /** The line, and its direction, to read before one is sure of the page. */
  askedOfPage(places, page) {
    const best = this.evidence.map((row, place) =>
      row.map((value, k) => (this.lines[place][k] ? value : this.possible[place][k])),
    );
    const possible = this.pages(places, best);
    possible[page] = -Infinity;
    const rival = largest(possible);
    if (possible[rival] <= this.pages(places, this.evidence)[page]) return null;
    const mayTell = (place) => {
      const priors = this.priors[place][rival];
      return priors[rival] > Math.min(...priors) && !this.lines[place][rival];
    };
    const place = places.find(mayTell);
    return place === undefined ? null : [place, rival];
  }

  /** The logarithm of the probability of each direction of the page. */
  pages(places, evidence) {
    return PAGES.map((start, page) =>
      places.reduce((sum, place) => {
        const ways = this.priors[place][page].map((prior, k) => prior + evidence[place][k]);
        return sum + logOfSum([...ways, NOTHING]);
      }, start),
    );
  }
}

/** How likely a line of some width over height runs each way, by the direction of its page. */
function priorsOf(aspect) {
  return [0, 1, 2, 3].map((page) => {
    const length = page % 2 ? 1 / aspect : aspect;
    let shape = SHORT;
    if (length > LONG) shape = FLAT;
    else if (length * LONG < 1) shape = ACROSS;
    else if (length * TALL < 1) shape = HIGH;
    return shape.map((_, k) => shape[(k - page + 4) % 4]);
  });
}

const largest = (values) => values.indexOf(Math.max(...values));

function logOfSum(values) {
  const top = Math.max(...values);
  return top + Math.log(values.reduce((sum, value) => sum + Math.exp(value - top), 0));
}

// Finds and reads the words of whole pictures inside the browser: `vit_str/pages/reader.py`.

import { arrangeWords } from "./arrange/blocks.js";
import { structureOf } from "./arrange/structure.js";
import {
  BrowserReader,
  openArranger,
  openGraph,
  openModel,
  openReader as openWords,
  rounded,
} from "./browser.js";
import { Detector } from "./detection.js";
import { Directions } from "./directions.js";
import { withElisions } from "./elisions.js";
import { cornersFrom, sideLengths, Strip } from "./geometry.js";
import { findGrounds } from "./grounds.js";
import { decode, grayed } from "./images.js";
import { arrangedByRules } from "./layout.js";
import { scriptOfLines } from "./one_script.js";
import { inStrip, pictureOf, wordsOf, wordsOnPage } from "./pieces.js";
import { withLowQuotes } from "./quotes.js";
import { Reader } from "./reader.js";
import { findRules } from "./rules.js";
import { choice, confidences, doubts, pages, print, sample } from "./shared.js";

const { FLAT, CROP_HEIGHT, SPECK } = pages;
const { FEWEST } = choice; // words of the pages that the network has learned from
const { SAMPLE } = sample;
const { PRINT, LONG_S } = print;
const { DOUBTFUL, HEADSTART } = doubts;
const { MINIMUM_CONFIDENCE, SENTENCE } = confidences;
const DASHES = ["-", "–", "—"];

/** The reader of the page; `report` is called with the share of the model that is loaded. */
export async function openReader(report) {
  const { reader } = await openWords(report);
  return new PageReader(reader);
}

class PageReader extends BrowserReader {
  pages = "photographs and scans";
  otherLines = {}; // readers of lines, by their folder

  /** A whole picture as `vit-str read --page --format jsonl` has it. */
  async readPage(file, name, { language, report }) {
    const picture = await decode(file);
    await (this.opened ??= this.open().catch((error) => {
      this.opened = null; // another picture tries again
      throw error;
    }));
    const words = await this.readerOf(language);
    const strips = words === this.reader ? this.lines : await this.openOtherLines(words);
    const found = await this.detector.lines(picture);
    const [lines, direction] = isCrop(picture, found)
      ? [await this.readAlong(strips, picture, [whole(picture)], 0), 0]
      : await this.readLines(strips, picture, found);
    if (!words.readsLines) await this.lookAgain(words, lines, language, report);
    const script = scriptOfLines(lines.map(textOf));
    for (const line of lines) writeInOneScript(line, strips, language, script);
    return pageRecord(name, picture, await this.arrange(sureWords(lines), direction, picture));
  }

  /** Load what only whole pictures need, once there is one. */
  async open() {
    this.detector = new Detector(await openGraph("detector/PP-OCRv6_det_small.onnx"));
    const lines = this.reader.readsLines ? this.reader : new Reader(await openModel("lines"));
    this.lines = lines.summingLookAlikes();
    this.arranger = await openArranger();
  }

  /** What reads the lines of another script beside a reader of its words, fetched once. */
  openOtherLines(words) {
    if (words.readsLines) return words.summingLookAlikes();
    const { folder } = words;
    this.otherLines[folder] ??= openModel(`other/${folder}/lines`).then(
      (model) => new Reader(model).summingLookAlikes(),
    );
    return this.otherLines[folder].catch((error) => {
      this.otherLines[folder] = null;
      throw error;
    });
  }

  /** All lines, and the quarter turns to the right of the text on the page. */
  async readLines(reader, picture, found) {
    const looks = new Directions(found);
    const length = (place) => Math.max(...sideLengths(found[place]));
    const places = [...found.keys()].sort((one, other) => length(other) - length(one));
    const look = async (asked, quarters) => {
      const read = await this.readAlong(reader, picture, asked.map((place) => found[place]), quarters);
      read.forEach((line, i) => looks.add(asked[i], quarters, line));
    };
    const settle = async (those, page) => {
      for (;;) {
        const asked = those.map((place) => [place, looks.askedOfLine(place, page)]);
        const open = asked.filter(([, quarters]) => quarters !== null);
        if (!open.length) return;
        for (const [place, quarters] of open) await look([place], quarters);
      }
    };
    const settlePage = async (those, first) => {
      for (let page = first; ; ) {
        await settle(those, page);
        page = looks.page(those);
        const asked = looks.askedOfPage(those, page);
        if (!asked) return page;
        await look([asked[0]], asked[1]);
      }
    };
    let direction = await settlePage(places.slice(0, SAMPLE), looks.firstPage());
    for (const tried = new Set(); !tried.has(direction); ) {
      tried.add(direction); // what lines tell each other depends on their page
      await settle(places, direction);
      if (looks.expectMore(places, direction)) await settle(places, direction);
      if (looks.disagree(places, direction)) direction = await settlePage(places, direction);
    }
    return [places.map((place) => looks.lines[place][looks.line(place, direction)]), direction];
  }

  /** Lines whose text is turned by some quarters to the right. */
  async readAlong(reader, picture, found, quarters) {
    const lines = [];
    for (const corners of found) {
      const strip = new Strip(picture, cornersFrom(corners, quarters));
      const line = { strip, box: [0, 0, strip.width, strip.height] };
      const reading = inStrip(line, await reader.read(pictureOf(line), 1));
      lines.push({ corners, words: wordsOf(strip, reading), whole: reading });
    }
    return lines;
  }

  /** Have the reader of words look at doubtful words, and keep what is surer. */
  async lookAgain(reader, lines, language, report) {
    if (isOldPrint(lines)) return; // readers of words have seen little of that
    const words = lines.flatMap((line) => line.words);
    const doubtful = words.filter((word) => perCharacter([word]) < DOUBTFUL);
    const rounds = isPrint(lines) ? [] : undefined; // of test-time augmentation
    for (const [index, word] of doubtful.entries()) {
      report(`Looking closer at ${index + 1} of ${doubtful.length} words …`);
      const reading = inStrip(word, await reader.read(pictureOf(word), 1, language, rounds));
      if (reading.text.length >= reader.maximumLength) continue; // more than it can write
      const isSurer = HEADSTART * perCharacter([{ reading }]) > perCharacter([word]);
      if (isSurer) word.reading = reading;
    }
  }

  /** Words of lines in blocks, in reading order: as the network says, or by rules if they are few. */
  async arrange(lines, direction, picture) {
    const full = lines.filter(({ words }) => words.length);
    const placed = full.map((line) => ({ ...line, words: wordsOnPage(line.words) }));
    const words = placed.flatMap((line) => line.words);
    const blocks =
      words.length < FEWEST
        ? arrangedByRules(placed, direction).map(asParagraph)
        : await this.arrangeWords(words, direction, picture);
    return blocks.map((block) => ({ ...block, lines: withMarks(block.lines) }));
  }

  arrangeWords(words, quarters, picture) {
    const gray = grayed(picture);
    const [rules, grounds] = [findRules(gray), findGrounds(gray)];
    return arrangeWords(this.arranger, words, { rules, grounds, quarters });
  }
}

const asParagraph = (lines) => ({ role: "paragraph", level: 0, lines });

/** Give the words of a line the letters of one script each. */
function writeInOneScript(line, reader, language, page) {
  const letters = [...reader.inOneScript(textOf(line), language, page)];
  for (const word of line.words) {
    const text = letters.splice(0, [...word.reading.text].length);
    letters.shift(); // the space
    const characters = word.reading.characters.map((each, i) => ({ ...each, character: text[i] }));
    word.reading = { ...word.reading, text: text.join(""), characters };
  }
}

const textOf = ({ words }) => words.map(({ reading }) => reading.text).join(" ");

/** Whether a picture is of the time of the long s, and may be Fraktur. */
function isOldPrint(lines) {
  const texts = lines.flatMap((line) => line.words.map(({ reading }) => reading.text));
  const letters = [...texts.join("")];
  const long = letters.filter((letter) => letter === "ſ").length;
  const round = letters.filter((letter) => letter === "s").length;
  return long > LONG_S * (long + round);
}

/** Whether a picture is a crop of one upright line, of which no more than specks were found. */
function isCrop({ width, height }, found) {
  const isFlat = height < CROP_HEIGHT && width > FLAT * height;
  return isFlat && found.every((corners) => Math.max(...sideLengths(corners)) < SPECK * height);
}

const whole = ({ width, height }) => [[0, 0], [width, 0], [width, height], [0, height]];

/** The geometric mean of the confidences of all characters; 0 without any. */
function perCharacter(words) {
  const read = words.filter(({ reading }) => reading.text);
  const length = read.reduce((sum, { reading }) => sum + reading.text.length, 0);
  return length && read.reduce((all, { reading }) => all * reading.confidence, 1) ** (1 / length);
}

const sureness = ({ words }) => perCharacter(words);

/** Whether a picture holds as many words as a page of print, and is no photograph of signs. */
const isPrint = (lines) => lines.reduce((sum, { words }) => sum + words.length, 0) >= PRINT;

/** Lines with the words that are sure enough; three and more of a line of print together. */
function sureWords(lines) {
  const areOfPrint = isPrint(lines);
  return lines.map((line) => {
    const together = areOfPrint && line.words.length >= SENTENCE && sureness(line) >= MINIMUM_CONFIDENCE;
    const isStroke = !areOfPrint && DASHES.includes(line.whole.text.trim());
    const surest = Math.max(...line.words.map((word) => perCharacter([word])));
    const worth = (word) => {
      const own = isStroke ? 0 : perCharacter([word]);
      return /\p{Nd}/u.test(word.reading.text) ? Math.sqrt(own * surest) : own; // codes
    };
    const isSure = (word) => word.reading.text && (together || worth(word) >= MINIMUM_CONFIDENCE);
    const areSure = line.words.map(isSure);
    const isKept = (word, i) =>
      areSure[i] || (isMark(word) && (areSure[i - 1] ?? false) && (areSure[i + 1] ?? false));
    return { ...line, words: line.words.filter(isKept) };
  });
}

/** Whether a word has no letters or digits: between two sure words it is text, such as a dash. */
const isMark = ({ reading: { text } }) => text && !/[\p{L}\p{N}]/u.test(text);

/** Rows of words with quotation marks that readers have no signs for, and articles. */
function withMarks(rows) {
  const words = withElisions(withLowQuotes(rows.flat()));
  return rows.map((row) => words.splice(0, row.length));
}

function pageRecord(name, { width, height }, blocks) {
  const words = blocks.flatMap(({ lines }, block) =>
    lines.flatMap((row, line) => row.map((word) => wordRecord(word, block, line))),
  );
  const textOfRow = (row) => row.map(({ reading }) => reading.text).join(" ");
  const text = blocks.map(({ lines }) => lines.map(textOfRow).join("\n")).join("\n\n");
  const structure = structureOf(blocks);
  return { path: name, width, height, text, words, error: null, structure, page: 1 };
}

function wordRecord({ reading, polygon }, block, line) {
  const { text, confidence, characters } = reading;
  const tenths = (values) => values.map((value) => rounded(value, 10));
  return {
    text,
    confidence: rounded(confidence),
    polygon: polygon.map(tenths),
    block,
    line,
    characters: characters.map(({ character, confidence, box }) => ({
      character,
      confidence: rounded(confidence),
      box: box ? tenths(box) : null,
    })),
  };
}

// Tables of pages: their cells, as elements and for the clipboard.

const FORMULA = /^[=+\-@\t\r]/; // how cells begin that spreadsheets compute
const NUMBER = /^[-+−–]?[\s\p{Sc}]*\d[\d.,'\s]*[%\p{Sc}\s]*$/u;

/** The words of each cell; those of a table come row by row. */
function wordsOf({ rows, words: places }, words) {
  const waiting = places.map((place) => words[place]);
  const take = (text) => {
    const cell = [];
    let length = -1; // with the spaces between them
    while (waiting.length && length < text.length && text) {
      cell.push(waiting.shift());
      length += 1 + cell.at(-1).text.length;
    }
    return cell;
  };
  return rows.map((row) => row.map(take));
}

/** An element with merged cells; `fill` puts the words of a cell into its own. */
export function tableOf(block, words, fill) {
  const table = document.createElement("table");
  const spans = block.spans ?? [];
  const inside = (row, column) =>
    spans.find(
      (span) =>
        row >= span.row && row < span.row + span.rows && column >= span.column && column < span.column + span.columns,
    );
  wordsOf(block, words).forEach((cells, row) => {
    const line = table.insertRow();
    cells.forEach((own, column) => {
      const span = inside(row, column);
      if (span && (span.row !== row || span.column !== column)) return;
      const cell = document.createElement(row ? "td" : "th");
      cell.rowSpan = span?.rows ?? 1;
      cell.colSpan = span?.columns ?? 1;
      line.append(cell);
      fill(own, cell);
    });
  });
  return table;
}

/** Rows as spreadsheets take them from the clipboard; what begins like a formula stays text. */
export const asTsv = (rows) => rows.map((row) => row.map(plain).join("\t")).join("\n");

const plain = (text) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

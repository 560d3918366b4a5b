"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const titles = [...table.tHead.rows[0].cells];
  const filter = table.closest("figure").querySelector(".filter");
  const field = filter.querySelector("input");

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of body.rows) {
      const text = [...row.cells].map((cell) => (cell.querySelector("svg") ? "" : cell.textContent));
      const line = text.join(" ").toLowerCase();
      row.hidden = !words.every((word) => line.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    filter.querySelector("output").textContent = `${shown} of ${body.rows.length} rows`;
  };

  const compare = (one, other, numbers) => {
    if (!numbers) return one.localeCompare(other, undefined, { numeric: true });
    return Number(one) - Number(other);
  };

  const sort = (title, index) => {
    const descending = title.getAttribute("aria-sort") === "ascending";
    titles.forEach((each) => each.removeAttribute("aria-sort"));
    title.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const numbers = title.classList.contains("number");
    const missing = (text) => text === "–";
    const rows = [...body.rows].map((row) => [row.cells[index].textContent, row]);
    rows.sort(([one], [other]) => {
      if (missing(one) || missing(other)) return missing(one) - missing(other);
      return compare(one, other, numbers) * (descending ? -1 : 1);
    });
    body.append(...rows.map(([, row]) => row));
  };

  titles.forEach((title, index) => {
    if (title.classList.contains("cell-drawing")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = title.textContent;
    button.addEventListener("click", () => sort(title, index));
    title.replaceChildren(button);
  });
  field.addEventListener("input", show);
  filter.hidden = false;
  show();
}

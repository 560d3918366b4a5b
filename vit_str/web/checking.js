// A text beside the pages that it was checked against: the page of `vit-str check --format html`,
// which `reading/checking/html.py` writes, and what the page of `vit-str serve` shows.

/** Let words and boxes light each other up, and the keys n and p go from doubt to doubt. */
export function activate(root, signal) {
  const said = root.querySelector("output");
  const boxes = Map.groupBy(root.querySelectorAll("rect"), (box) => box.dataset.word);
  const doubts = [...root.querySelectorAll(".word:not(.confirmed)")];
  const wordAt = (event) => event.target.closest(".word");
  const wordOf = (event) => root.querySelector(`#${event.target.dataset?.word || "none"}`);

  function light(word, scrolls) {
    for (const lit of root.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (!word) return;
    word.classList.add("lit");
    said.textContent = word.dataset.said;
    const own = boxes.get(word.id) ?? [];
    for (const box of own) box.classList.add("lit");
    if (scrolls === "box") own[0]?.scrollIntoView({ block: "center" });
    if (scrolls === "word") word.scrollIntoView({ block: "center" });
  }

  function go(step) {
    if (!doubts.length) return;
    const lit = root.querySelector(".word.lit");
    let place = doubts.indexOf(lit);
    if (place < 0 && lit) {
      const follows = (doubt) => lit.compareDocumentPosition(doubt) & Node.DOCUMENT_POSITION_FOLLOWING;
      place = doubts.findIndex(follows) - (step > 0 ? 1 : 0);
      if (place < -1) place = step > 0 ? doubts.length - 1 : 0;
    } else if (place < 0 && step < 0) {
      place = 0;
    }
    const word = doubts[(place + step + doubts.length) % doubts.length];
    word.focus({ preventScroll: true });
    word.scrollIntoView({ block: "center" });
    light(word, "box");
  }

  const text = root.querySelector(".text");
  const pages = root.querySelector(".pages");
  text.addEventListener("click", (event) => wordAt(event) && light(wordAt(event), "box"));
  text.addEventListener("mouseover", (event) => wordAt(event) && light(wordAt(event)));
  text.addEventListener("focusin", (event) => light(wordAt(event), "box"));
  pages.addEventListener("click", (event) => wordOf(event) && light(wordOf(event), "word"));
  pages.addEventListener("mouseover", (event) => wordOf(event) && light(wordOf(event)));
  const press = ({ key, ctrlKey, metaKey, altKey }) => {
    if (ctrlKey || metaKey || altKey) return;
    if (key === "n") go(1);
    if (key === "p") go(-1);
  };
  document.addEventListener("keydown", press, { signal });
}

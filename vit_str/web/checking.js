"use strict";
const said = document.getElementById("said");
const boxes = new Map();
for (const box of document.querySelectorAll("rect")) {
  const own = boxes.get(box.dataset.word) ?? [];
  boxes.set(box.dataset.word, [...own, box]);
}
const doubts = [...document.querySelectorAll(".word:not(.confirmed)")];

function light(word, scrolls) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
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
  const lit = document.querySelector(".word.lit");
  let place = doubts.indexOf(lit);
  if (place < 0 && lit) {
    const follows = (doubt) => lit.compareDocumentPosition(doubt) & 4;
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

document.querySelector(".text").addEventListener("click", (event) => {
  const word = event.target.closest(".word");
  if (word) light(word, "box");
});
document.querySelector(".text").addEventListener("mouseover", (event) => {
  const word = event.target.closest(".word");
  if (word) light(word);
});
document.querySelector(".text").addEventListener("focusin", (event) => {
  light(event.target.closest(".word"), "box");
});
document.querySelector(".pages").addEventListener("click", (event) => {
  const word = document.getElementById(event.target.dataset?.word ?? "");
  if (word) light(word, "word");
});
document.querySelector(".pages").addEventListener("mouseover", (event) => {
  const word = document.getElementById(event.target.dataset?.word ?? "");
  if (word) light(word);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n") go(1);
  if (event.key === "p") go(-1);
});

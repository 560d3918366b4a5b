// Asks for a text that a page should show, and shows both side by side.

import { activate } from "./checking.js";
import { save } from "./saving.js";

const dialog = document.getElementById("check-dialog");
let closing = new AbortController(); // ends what the keys do
let shown = { html: "", name: "" };

/** Ask for the text of a card, or stop asking. */
export function ask(card, check) {
  const form = card.find(".check");
  form.hidden = !form.hidden;
  const text = form.querySelector("textarea");
  const trouble = form.querySelector("[role=alert]");
  trouble.textContent = "";
  if (form.hidden) return;
  text.focus();
  form.querySelector("input").onchange = async ({ target }) => {
    text.value = await target.files[0].text();
    target.value = "";
  };
  form.onsubmit = async (event) => {
    event.preventDefault();
    const button = form.querySelector(".primary");
    button.disabled = true;
    button.textContent = "Checking …";
    trouble.textContent = "";
    try {
      show(await check(text.value), card.name);
    } catch (error) {
      trouble.textContent = error.message;
    } finally {
      button.disabled = false;
      button.textContent = "Check it";
    }
  };
}

function show(html, name) {
  const article = html.slice(html.indexOf("<article"), html.lastIndexOf("</article>"));
  const page = new DOMParser().parseFromString(article, "text/html");
  const checked = document.adoptNode(page.querySelector(".checked"));
  dialog.querySelector(".shown").replaceChildren(checked);
  shown = { html, name };
  dialog.showModal();
  closing = new AbortController();
  activate(checked, closing.signal);
}

dialog.onclose = () => {
  closing.abort();
  dialog.querySelector(".shown").replaceChildren();
};
dialog.querySelector("[data-do=save]").onclick = () => save(`${shown.name}.checked.html`, shown.html, "text/html");
dialog.querySelector("[data-do=close]").onclick = () => dialog.close();

// What is pressed and written into: the text itself, a severity's button, the menu of categories.
import { make, rank } from "./drawing.js";
import { Places } from "./offsets.js";

/** A text in which errors are marked, with what is needed to find places in it. */
export function textBox({ label, text, language, in_source }, redraw, clicked) {
  const element = make("div", {
    className: "assay-marker-text", contentEditable: "true", spellcheck: false, translate: false, dir: "auto", role: "textbox",
    "aria-multiline": "true", "aria-readonly": "true", "aria-label": `${label}: select words to mark an error`, "data-gramm": "false",
  });
  element.lang = language === "und" ? "" : language; // unknown; without it, it would be the page's
  // Editable only so that the browser moves the caret and selects, in every script; what is written changes nothing.
  element.inputMode = "none";
  element.addEventListener("beforeinput", (event) => event.preventDefault());
  element.addEventListener("input", redraw); // an input method asks nobody
  element.addEventListener("drop", (event) => event.preventDefault());
  element.addEventListener("click", clicked);
  return { element, label, in_source, text, language: element.lang, places: new Places(text, language) };
}

/** The button of a severity, with its line and its key. */
export function severityButton(severity, number, pressed) {
  const line = make("span", { className: `assay-sample assay-error assay-rank-${rank(number)}`, "aria-hidden": "true" });
  const key = make("kbd", { textContent: String(number + 1), "aria-hidden": "true" });
  const given = { type: "button", "aria-keyshortcuts": String(number + 1), onclick: pressed };
  return make("button", given, line, `${severity} `, key);
}

/** The options of the category menu, grouped by what stands before the slash. */
export function categoryOptions(categories) {
  const options = [make("option", { value: "", textContent: "Choose a category" })];
  const groups = new Map();
  for (const category of categories) {
    const slash = category.indexOf("/");
    const option = make("option", { value: category, textContent: slash < 0 ? category : category.slice(slash + 1) });
    if (slash < 0) {
      options.push(option);
      continue;
    }
    const name = category.slice(0, slash);
    if (!groups.has(name)) {
      groups.set(name, make("optgroup", { label: name }));
      options.push(groups.get(name));
    }
    groups.get(name).append(option);
  }
  return options;
}

/** Words of a text, which nobody is to translate. */
export function quoted(words, language) {
  return make("bdi", { textContent: words, translate: false, lang: language });
}

/** A line of the list: the words, which open the error, what is said of it, and a button that deletes it. */
export function errorRow(quote, language, said, number, open, show, erase) {
  const words = make("button", { type: "button", "aria-label": `Show error ${number}: ${quote}`, onclick: show });
  words.append(quoted(quote, language));
  if (open) words.setAttribute("aria-current", "true");
  const drop = { type: "button", textContent: "Delete", "aria-label": `Delete error ${number}: ${quote}`, onclick: erase };
  return make("li", {}, words, make("span", { textContent: `${said} ` }), make("button", drop));
}

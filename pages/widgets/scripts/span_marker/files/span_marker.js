// Marks errors in a text by mouse, touch or keyboard, and sends the whole list after every change.
// Streamlit calls the default function again whenever there is news from the server.
import { categoryOptions, errorRow, quoted, severityButton, textBox } from "./controls.js";
import { drawText, inWords, make, rank } from "./drawing.js";
import { inOrder, nodeAt, same, unitsBefore } from "./offsets.js";

const SLOW_MS = 10_000;
const WAYS_ON = ["choices", "back", "skip", "next", "list", "s"].map((key) => `[class*="st-key-${key}"] button`).join();
const markers = new WeakMap();
let halfMarked = null; // what was selected: a tab that connects again may draw the marker anew

export default function ({ data, parentElement, setStateValue }) {
  let marker = markers.get(parentElement);
  if (!marker) {
    marker = new Marker(parentElement);
    markers.set(parentElement, marker);
  }
  marker.send = (value) => setStateValue("marked", value);
  marker.take(data);
  return () => {
    marker.remove();
    markers.delete(parentElement);
  };
}

class Marker {
  constructor(parent) {
    this.number = null; // of the last list that was sent; the server says which one it has dealt with
    this.root = make("div", { className: "assay-marker" });
    parent.append(this.root);
    this.onSelection = () => this.selected();
    document.addEventListener("selectionchange", this.onSelection);
    this.onClick = (event) => this.leaving(event);
    document.addEventListener("click", this.onClick, { capture: true });
    // The browser tells of a selection a little after it was made: a fast key or press would act on the one before.
    this.root.addEventListener("pointerdown", () => this.selected(), { capture: true });
    this.root.dataset.ownKeys = ""; // what is pressed here may be meant for a severity, not for the page
    this.root.addEventListener("keydown", (event) => {
      this.selected();
      this.pressed(event);
    });
  }

  remove() {
    halfMarked = this.draft && { ...this.draft, mark: this.mark, part: this.parts.indexOf(this.draft.part) };
    document.removeEventListener("selectionchange", this.onSelection);
    document.removeEventListener("click", this.onClick, { capture: true });
    clearTimeout(this.slow);
    this.root.remove();
  }

  /** News from the server: another text, or what became of the last list. */
  take(data) {
    if (this.mark !== data.mark) {
      this.mark = data.mark;
      this.number = null;
      this.begin(data);
    }
    this.number = Math.max(this.number ?? 0, data.taken); // one before this was drawn may have sent more
    if (data.taken < this.number) return; // it does not know the last change yet
    clearTimeout(this.slow);
    this.problem = data.problem;
    if (!data.problem || data.replaced) {
      this.revision = data.revision;
      this.none = data.none;
      if (JSON.stringify(data.spans) !== JSON.stringify(this.spans)) {
        this.spans = data.spans;
        this.open = null;
      }
    }
    this.state = data.problem ? "" : data.spans.length || data.none ? "Saved" : "Nothing marked yet";
    this.draw();
    if (halfMarked) this.resume();
  }

  /** Go on with what was selected before this was drawn anew, unless the rater is at something else by now. */
  resume() {
    const { mark, ...draft } = halfMarked;
    halfMarked = null;
    if (mark !== this.mark || document.activeElement !== document.body) return;
    this.draft = { ...draft, part: this.parts[draft.part] };
    this.draw();
    this.draft.part.element.focus({ preventScroll: true });
    this.select(this.draft.part, draft.from, draft.to);
  }

  begin(data) {
    Object.assign(this, { severities: data.severities, categories: data.categories, spans: [], none: false });
    Object.assign(this, { draft: null, open: null, revision: data.revision, problem: null, state: "" });
    this.parts = data.parts.map((part) => textBox(part, () => this.draw(), () => this.clicked()));
    this.bar = make("div", { className: "assay-marker-bar", role: "group", "aria-label": "The error" });
    this.levels = data.severities.map((severity, n) => severityButton(severity, n, () => this.setSeverity(severity)));
    this.menu = make("select", { "aria-label": "Category of the error" }, ...categoryOptions(data.categories));
    this.menu.hidden = !data.categories.length;
    this.menu.addEventListener("pointerdown", () => (this.byPointer = true));
    this.menu.addEventListener("change", () => this.setCategory(this.menu.value));
    this.done = make("button", { type: "button", textContent: "Mark", onclick: () => this.commit() });
    this.drop = make("button", { type: "button", textContent: "Delete", "aria-keyshortcuts": "Delete", onclick: () => this.erase(this.open) });
    this.snap = make("input", { type: "checkbox" });
    this.bar.append(...this.levels, this.menu, this.done, this.drop, make("label", {}, this.snap, "Whole words"));
    this.what = make("div", { className: "assay-marker-what", role: "status" });
    this.list = make("ol", { "aria-label": "Marked errors" });
    this.clean = make("input", { type: "checkbox", onchange: () => this.change(this.spans, this.clean.checked) });
    this.said = make("div", { className: "assay-marker-state", role: "status" });
    this.again = make("button", { type: "button", textContent: "Try again", onclick: () => this.change(this.spans, this.none) });
    const texts = this.parts.flatMap((part) => [make("h2", { className: "assay-head assay-marker-label", textContent: part.label }), part.element]);
    const clean = make("label", {}, this.clean, "No errors in this text");
    this.tools = make("div", { className: "assay-marker-tools" }, this.what, this.bar);
    this.root.replaceChildren(...texts, this.tools, this.list, clean, this.said, this.again);
  }

  /** The selection inside one of the texts, in UTF-16, or null. */
  range() {
    const selection = document.getSelection();
    if (!selection || !selection.rangeCount) return null;
    const range = selection.getRangeAt(0);
    const part = this.parts?.find((one) => one.element.contains(range.startContainer) && one.element.contains(range.endContainer));
    if (!part) return null;
    const from = unitsBefore(part.element, range.startContainer, range.startOffset);
    const to = unitsBefore(part.element, range.endContainer, range.endOffset);
    const backward = selection.focusNode === range.startContainer && selection.focusOffset === range.startOffset;
    return { part, from, to, backward };
  }

  selected() {
    const range = this.range();
    if (!range || document.activeElement !== range.part.element) return;
    const place = `${this.parts.indexOf(range.part)} ${range.from} ${range.to}`;
    if (place === this.place) return; // put there by this.select(), or known
    this.place = place;
    const shown = Boolean(this.draft?.severity);
    if (range.from === range.to) this.draft = null;
    else {
      let [from, to] = range.part.places.widened(range.from, range.to);
      if (this.snap.checked) [from, to] = range.part.places.wholeWords(from, to);
      this.draft = from < to ? { part: range.part, from, to, severity: null, category: "" } : null;
    }
    if (shown || (this.draft && this.open !== null)) {
      this.open = this.draft ? null : this.open;
      this.draw();
    } else this.drawBar();
  }

  clicked() {
    const range = this.range();
    if (range && range.from === range.to) this.openAt(range.part, range.from);
  }

  /** Open the shortest mark at a place; once more at the same place, the next one. */
  openAt(part, unit) {
    const there = this.spans
      .map((span, number) => ({ number, ...this.drawn(span) }))
      .filter((one) => one.part === part && one.from <= unit && unit <= one.to)
      .sort((a, b) => a.to - a.from - (b.to - b.from));
    const at = there.findIndex((one) => one.number === this.open);
    this.open = there.length ? there[(at + 1) % there.length].number : null;
    this.draft = null;
    this.draw();
    return there.length > 0;
  }

  pressed(event) {
    const inText = this.parts.find((part) => part.element === event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const severity = /^[1-9]$/u.test(event.key) ? this.severities[Number(event.key) - 1] : undefined;
    if (severity && (this.draft || this.open !== null)) this.setSeverity(severity);
    else if (event.key === "Escape") this.leave(inText);
    else if (event.key === "Enter" && inText) this.enter(inText);
    else if (event.key === "Enter" && event.target === this.menu) setTimeout(() => this.commit());
    else if ((event.key === "Delete" || event.key === "Backspace") && event.target.tagName !== "SELECT") this.eraseHere(inText);
    else return;
    event.preventDefault();
    event.stopPropagation(); // it was meant for the marker, not for the page
  }

  enter(part) {
    if (this.draft) this.commit();
    else this.openAt(part, this.range()?.from ?? 0);
  }

  /** A button of the page that leaves this text: what is half marked would be lost without a word. A second press goes on. */
  leaving(event) {
    if (!this.draft?.severity || this.draft.warned || !event.target.closest?.(WAYS_ON)) return;
    this.draft.warned = true;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.drawBar();
    this.menu.focus();
  }

  leave(inText) {
    if (this.draft || this.open !== null) {
      const part = this.draft?.part ?? this.drawn(this.spans[this.open]).part;
      const to = this.draft?.to ?? this.drawn(this.spans[this.open]).to;
      this.draft = this.open = null;
      this.draw();
      this.caret(part, to);
    } else if (inText) inText.element.blur();
    else this.parts.at(-1).element.focus();
  }

  eraseHere(part) {
    if (this.draft) return this.leave(part); // what is selected is no error yet, and its neighbours are not meant
    if (this.open === null && part) this.openAt(part, this.range()?.from ?? 0);
    if (this.open !== null) this.erase(this.open);
  }

  setSeverity(severity) {
    if (this.draft) {
      this.draft.severity = severity;
      if (!this.categories.length) return this.commit();
      this.draw();
      this.menu.focus();
    } else if (this.open !== null) this.update({ severity });
  }

  setCategory(category) {
    const byPointer = this.byPointer;
    this.byPointer = false;
    if (this.draft) {
      this.draft.category = category;
      if (byPointer && category && this.draft.severity) this.commit();
      else this.drawBar();
    } else if (this.open !== null && category) this.update({ category });
  }

  update(changes) {
    this.change(this.spans.map((span, number) => (number === this.open ? { ...span, ...changes } : span)), false, this.open);
  }

  /** Keep what is selected as an error, or go to what is still missing. */
  commit() {
    const draft = this.draft;
    if (!draft) return;
    draft.severity ??= this.severities.length === 1 ? this.severities[0] : null;
    if (!draft.severity) return this.levels[0].focus();
    if (this.categories.length && !draft.category) return this.menu.focus();
    const places = draft.part.places;
    const span = {
      start: places.toCodePoints(draft.from), end: places.toCodePoints(draft.to), severity: draft.severity,
      category: draft.category, in_source: draft.part.in_source,
    };
    this.draft = null;
    if (this.spans.some((one) => same(one, span))) this.note = "This error is marked already.";
    else this.change([...this.spans, span].sort(inOrder), false);
    this.draw();
    this.caret(draft.part, draft.to);
  }

  erase(number) {
    if (number === null) return;
    const { part, from } = this.drawn(this.spans[number]);
    this.change(this.spans.filter((_, one) => one !== number), false);
    this.caret(part, from);
  }

  change(spans, none, open = null) {
    Object.assign(this, { spans, none, open, problem: null, state: "Saving …" });
    this.number += 1;
    this.draw();
    this.send({ mark: this.mark, number: this.number, base: this.revision, spans, none });
    clearTimeout(this.slow);
    this.slow = setTimeout(() => {
      this.state = "Not saved yet: the server has not answered. What you marked stays here.";
      this.drawState();
    }, SLOW_MS);
  }

  drawn(span) {
    const part = this.parts.find((one) => one.in_source === span.in_source) ?? this.parts.at(-1);
    return { part, from: part.places.toUnits(span.start), to: part.places.toUnits(span.end) };
  }

  draw() {
    const before = this.range();
    const marks = this.spans.map((span, number) => ({
      ...this.drawn(span), rank: rank(this.severities.indexOf(span.severity)), open: number === this.open,
    }));
    for (const part of this.parts) {
      const own = marks.filter((mark) => mark.part === part);
      const draft = this.draft?.part === part && this.draft.severity ? this.draft : null;
      const key = JSON.stringify([own.map((one) => [one.from, one.to, one.rank, one.open]), draft && [draft.from, draft.to]]);
      if (part.key === key && part.element.textContent === part.text) continue; // a selection that grows stays whole
      part.key = key;
      drawText(part.element, part.text, own, draft);
      if (before?.part !== part || document.activeElement !== part.element) continue;
      this.select(part, ...(before.backward ? [before.to, before.from] : [before.from, before.to]));
    }
    this.list.replaceChildren(...this.spans.map((span, number) => this.row(span, number)));
    this.list.hidden = !this.spans.length;
    this.clean.checked = this.none;
    this.clean.disabled = this.spans.length > 0;
    this.drawBar();
    this.drawState();
  }

  row(span, number) {
    const { part, from, to } = this.drawn(span);
    const said = [span.severity, span.category, span.in_source ? part.label : ""].filter(Boolean).join(" · ");
    const quote = inWords(part.text.slice(from, to)) || "(blank)";
    return errorRow(quote, part.language, said, number + 1, number === this.open, () => this.show(number), () => this.erase(number));
  }

  show(number) {
    this.open = number;
    this.draft = null;
    this.draw();
    const { part, to } = this.drawn(this.spans[number]);
    this.caret(part, to);
    part.element.querySelector(".assay-open")?.scrollIntoView({ block: "nearest" });
  }

  drawBar() {
    const about = this.draft ?? (this.open === null ? null : this.spans[this.open]);
    this.levels.forEach((button, n) => {
      button.disabled = !about;
      button.setAttribute("aria-pressed", String(about?.severity === this.severities[n]));
    });
    this.menu.disabled = !about;
    this.menu.value = about?.category ?? "";
    this.done.disabled = !this.draft;
    this.drop.disabled = this.open === null;
    const { part, from, to } = this.draft ?? (about ? this.drawn(about) : {});
    this.tools.classList.toggle("assay-active", Boolean(about));
    this.tools.style.bottom = `${document.querySelector(".st-key-choices")?.offsetHeight ?? 0}px`;
    const missing = `${this.draft?.warned ? "Not marked yet. " : ""}Choose a category for`;
    const what = this.draft ? (this.draft.severity && !this.draft.category ? missing : "Selected") : "Error";
    if (part) this.what.replaceChildren(`${what}: `, quoted(inWords(part.text.slice(from, to)), part.language));
    else this.what.textContent = this.note ?? "Select words in the text to mark an error.";
    this.note = undefined;
  }

  drawState() {
    this.said.textContent = this.problem ? `Not saved. ${this.problem}` : this.state;
    this.said.classList.toggle("assay-marker-problem", Boolean(this.problem));
    this.again.hidden = !this.problem;
  }

  caret(part, unit) {
    part.element.focus({ preventScroll: true });
    this.select(part, unit, unit);
  }

  select(part, from, to) {
    this.place = `${this.parts.indexOf(part)} ${Math.min(from, to)} ${Math.max(from, to)}`;
    document.getSelection().setBaseAndExtent(...nodeAt(part.element, from), ...nodeAt(part.element, to));
  }
}

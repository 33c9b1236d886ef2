// A slider and a box that hold one number, or none. It is sent when the slider is let go, when a key has moved it, and
// when the box is left or has not been written in for a moment.
// Streamlit calls the default function again whenever there is news from the server.
const PAUSE_MS = 600;
const scales = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  let scale = scales.get(parentElement);
  if (!scale) {
    scale = new Scale(parentElement, data);
    scales.set(parentElement, scale);
  }
  scale.send = (value) => setStateValue("given", value);
  scale.take(data);
  return () => {
    scale.remove();
    scales.delete(parentElement);
  };
}

function make(kind, given, aria) {
  const made = Object.assign(document.createElement(kind), given);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(`aria-${name}`, value);
  return made;
}

class Scale {
  constructor(parent, { label, ends, lowest, highest, places, unrated }) {
    Object.assign(this, { lowest, highest, places, unrated });
    this.number = 0; // of what was last sent; the server says which one it has dealt with
    this.wrong = false;
    this.slider = make("input", { type: "range", max: places.length - 1 }, { label: `${label}, from ${ends[0]} to ${ends[1]}` });
    this.box = make("input", { type: "number", step: "any", placeholder: `${lowest} to ${highest}` }, { label: `${label}, ${lowest} to ${highest}` });
    this.said = make("div", { className: "assay-scale-said" }, { live: "polite" });
    this.root = make("div", { className: "assay-scale" }, {});
    this.root.append(this.slider, this.box, this.said);
    parent.append(this.root);
    this.slider.addEventListener("input", () => this.hold(this.place(), this.slider));
    this.slider.addEventListener("change", () => this.give(this.place()));
    // Where it already stands a slider tells of no change; pressed there, it is an answer all the same.
    this.slider.addEventListener("click", () => this.give(this.place()));
    this.box.addEventListener("input", () => this.write(PAUSE_MS));
    this.box.addEventListener("change", () => this.write(0));
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.write(0);
    });
  }

  /** The page may draw this anew at any moment, also while a number is being written: it is given, not lost. */
  remove() {
    if (this.pause) this.written();
    this.root.remove();
  }

  /** News from the server, which may not know yet what was given last, and never what is being written. */
  take({ value, number }) {
    this.number = Math.max(this.number, number); // one before this was drawn may have sent more
    if (number < this.number || this.pause || this.wrong) return;
    this.given = value;
    this.hold(value);
  }

  /** The number where the slider stands; the first one where it stands before the scale. */
  place() {
    const at = Math.max(0, Number(this.slider.value));
    return this.value !== null && at === this.nearest(this.value) ? this.value : this.places[at];
  }

  /** Where the slider stands for a number: at the nearest of its places. */
  nearest(value) {
    const far = this.places.map((place) => Math.abs(place - value));
    return far.indexOf(Math.min(...far));
  }

  hold(value, by) {
    this.value = value;
    if (by !== this.slider) {
      this.slider.min = value === null ? -1 : 0;
      this.slider.value = value === null ? -1 : this.nearest(value);
    }
    if (by !== this.box) {
      this.box.value = value ?? "";
      this.complain(false);
    }
    this.slider.setAttribute("aria-valuetext", value ?? this.unrated);
    this.root.classList.toggle("assay-scale-unrated", value === null);
  }

  /** What stands in the box is given after a pause, if it is a number of the scale, or nothing. */
  write(after) {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.written(), after);
    if (after === 0) this.written();
  }

  written() {
    clearTimeout(this.pause);
    this.pause = undefined;
    const value = this.box.value === "" ? null : Number(this.box.value);
    const off = value !== null && !(this.lowest <= value && value <= this.highest);
    this.complain(off || this.box.validity.badInput);
    if (!this.wrong) this.give(value, this.box);
  }

  complain(wrong) {
    this.wrong = wrong;
    this.said.textContent = wrong ? `Not saved. Write a number from ${this.lowest} to ${this.highest}.` : "";
    this.box.setAttribute("aria-invalid", wrong);
  }

  give(value, by) {
    this.hold(value, by);
    if (value === this.given) return;
    this.given = value;
    this.number += 1;
    this.send({ number: this.number, value });
  }
}

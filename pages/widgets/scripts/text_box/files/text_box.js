// A box for a comment. What is typed is sent after a short pause, every two seconds of typing, and when box or page
// are left.
// Until the server says that it is saved, it is also kept in this browser tab, so that a reload brings it back.
// Streamlit calls the default function again whenever there is news from the server.
const PAUSE_MS = 600;
const LONGEST_WAIT_MS = 2_000;
const boxes = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  let box = boxes.get(parentElement);
  if (!box) {
    box = new TextBox(parentElement, data);
    boxes.set(parentElement, box);
  }
  box.send = (value) => setStateValue("typed", value);
  box.take(data);
  return () => {
    box.remove();
    boxes.delete(parentElement);
  };
}

class TextBox {
  constructor(parent, { label, longest, draft, text, hint }) {
    this.draft = `assay-${draft}`;
    this.number = 0; // of what was last sent; the server says which one it holds
    this.given = text;
    this.area = Object.assign(document.createElement("textarea"), { maxLength: longest, id: `box-${draft}` });
    this.state = Object.assign(document.createElement("div"), { className: "assay-box-state" });
    this.state.setAttribute("role", "status");
    const name = Object.assign(document.createElement("label"), { textContent: label, htmlFor: this.area.id });
    this.root = Object.assign(document.createElement("div"), { className: "assay-box" });
    this.hint = Object.assign(document.createElement("div"), { className: "assay-box-hint", id: `hint-${draft}` });
    this.hint.textContent = hint;
    if (hint) this.area.setAttribute("aria-describedby", this.hint.id);
    const foot = Object.assign(document.createElement("div"), { className: "assay-box-foot" });
    foot.append(this.state, this.hint);
    this.root.append(name, this.area, foot);
    parent.append(this.root);
    this.area.value = sessionStorage.getItem(this.draft) ?? text;
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("change", () => this.give());
    this.leave = () => this.give();
    window.addEventListener("pagehide", this.leave);
  }

  remove() {
    clearTimeout(this.pause);
    window.removeEventListener("pagehide", this.leave);
    this.root.remove();
  }

  /** News from the server, which may not know yet what was typed last, and never what is being typed. */
  take({ text, number, saved }) {
    this.saved = saved;
    this.number = Math.max(this.number, number); // one before this was drawn may have sent more
    if (number === this.number && !this.pause && text !== this.given) {
      this.given = text;
      this.area.value = text;
    }
    if (this.area.value !== this.given && !this.pause) this.give(); // from before a reload
    this.said();
  }

  typed() {
    sessionStorage.setItem(this.draft, this.area.value);
    clearTimeout(this.pause);
    this.since ??= Date.now();
    const left = Math.max(0, this.since + LONGEST_WAIT_MS - Date.now());
    this.pause = setTimeout(() => this.give(), Math.min(PAUSE_MS, left));
    this.said();
  }

  give() {
    clearTimeout(this.pause);
    this.pause = this.since = undefined;
    if (this.area.value === this.given) return;
    this.given = this.area.value;
    this.number += 1;
    this.send({ number: this.number, text: this.given });
    this.said();
  }

  said() {
    const same = this.area.value === this.saved;
    if (same) sessionStorage.removeItem(this.draft);
    this.state.textContent = this.saved === null || (same && !this.saved) ? "" : same ? "Saved" : "Saving …";
  }
}

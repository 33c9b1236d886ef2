// Measures for how long a pair or text has been on the screen while its tab was visible, and tells whether the page is translated. Both
// are set in the moment of a press that may answer: Streamlit sends what is set in one moment in one message.
// A tab remembers the time of what it has shown, so that it goes on when the rater comes back to it or reloads the page.
import { translated } from "../assay.page_language/translation.js";

const REMEMBERED = "assay-visible-";
let entry; // what is on the screen
let before = 0; // milliseconds of it, up to the last time that the tab was hidden
let since; // when the tab became visible, undefined while it is hidden
let tell; // hands the time over
let keys = []; // those of the buttons, as Streamlit names them
const ANSWERS = ".st-key-choices button";

const spent = () => before + (since === undefined ? 0 : performance.now() - since);

function pause() {
  before = spent();
  since = undefined;
  if (entry !== undefined) sessionStorage.setItem(REMEMBERED + entry, before);
}

function resume() {
  if (entry !== undefined && document.visibilityState === "visible") since ??= performance.now();
}

function show(next) {
  if (next === entry) return;
  pause();
  entry = next;
  before = next === undefined ? 0 : Number(sessionStorage.getItem(REMEMBERED + next)) || 0;
  resume();
}

document.addEventListener("visibilitychange", () => (document.visibilityState === "visible" ? resume() : pause()));
window.addEventListener("pagehide", pause);
window.addEventListener("pageshow", resume);
// Set before the button hears of the press: the window is the first to know. Other presses must not cost a message.
window.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest(ANSWERS)) tell?.();
}, { capture: true });
window.addEventListener("keydown", ({ keyCode, altKey, ctrlKey, metaKey, shiftKey, target, repeat }) => {
  if (repeat || ctrlKey || metaKey || shiftKey || !(altKey || target === document.body)) return;
  // Streamlit goes by the place on the keyboard too: with Alt, or in French, the character is another one.
  const key = (altKey ? "alt+" : "") + String.fromCharCode(keyCode).toLowerCase();
  if (keys.includes(key) && document.querySelector(ANSWERS)) tell?.();
}, { capture: true });

export default function ({ data, setStateValue }) {
  show(data.entry);
  keys = data.keys;
  const own = () => setStateValue("visible", { entry, seconds: Math.round(spent()) / 1000, translated: translated() });
  tell = own;
  return () => {
    if (tell !== own) return; // another one is there by now
    tell = undefined;
    show(undefined);
  };
}

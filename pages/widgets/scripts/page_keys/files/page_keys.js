// The page's keys (1 to 4 and M, or those that the rater chose) work from every control that takes no text. Streamlit goes by the tag, so that a ticked box,
// which is an INPUT too, would hold them back, and a control may keep every key to itself. So a character that the control
// in focus does not take is handed to the page before anybody sees it, and nowhere else is a key held back from the page.
const TEXT = "textarea, select, [contenteditable]:not([contenteditable=false]), input";
const NO_TEXT = ["checkbox", "radio", "range", "button", "submit", "reset", "color", "file", "image"];
const FINDS = "[role=combobox], [role=listbox], [role=menu]"; // by what is typed
const OWN_KEYS = "[data-own-keys]"; // around controls some of whose buttons name a key of their own

function takes(control, key) {
  const field = control.closest(TEXT);
  if (field && !NO_TEXT.includes(field.type)) return true;
  if (control.closest(FINDS)) return true;
  return Boolean(control.closest(OWN_KEYS)?.querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]:enabled`));
}

window.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const character = [...key].length === 1 && key !== " "; // the space bar presses a button
  if (!character || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (target === document.body || !(target instanceof Element)) return;
  if (event.altKey) {
    // The page hears of these wherever they are typed, and some keyboards write with them: Option and 3 may be a "#".
    if (takes(target, key)) event.stopImmediatePropagation();
    return;
  }
  if (takes(target, key)) return;
  event.stopImmediatePropagation();
  if (!document.body.dispatchEvent(new KeyboardEvent(event.type, event))) event.preventDefault();
}, { capture: true });

export default function () {}

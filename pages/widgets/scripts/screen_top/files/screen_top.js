// A new screen opens at its top, with the focus on its title, and is announced with what was saved before it; the same
// screen drawn again stays where the rater is reading, and only news of what is saved is announced.
// What is handed to a component arrives some frames after the buttons, which could be pressed by then. So the name of
// the screen is a class of the page, and what changes in the page is looked at before it is painted.
const SCREEN = "st-key-screen-";
const STATUS = ".assay-status";
const TEXT = "textarea, select, [contenteditable=true], input:is([type=text], [type=number])";
const DRAWN_MS = 60; // the last part of a run is drawn a moment after its end
let shown;
let arriving = false; // a new screen whose title has not had the focus yet
let focused; // the title that had it last
let told; // what the page said of saved answers when it was last looked at
let timer;

// Outside what Streamlit draws: a live region that is drawn anew together with its words may stay silent.
const live = Object.assign(document.createElement("div"), { id: "assay-live" });
live.setAttribute("role", "status");
live.setAttribute("aria-live", "polite");
document.body.append(live);

const drawn = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
const words = (element) => element.innerText.replace(/[✓\s]+/gu, " ").trim();
const sentence = (text) => (/[.!?…]$/u.test(text) ? text : `${text}.`);

function look() {
  const place = document.querySelector(`[class*="${SCREEN}"]`);
  const screen = [...(place?.classList ?? [])].find((name) => name.startsWith(SCREEN));
  if (screen && screen !== shown) {
    arriving = shown !== undefined;
    shown = screen;
    place.closest("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
  }
  clearTimeout(timer);
  timer = drawn() ? setTimeout(settle, DRAWN_MS) : undefined;
}

/** All of the screen is there: its title takes the focus if it is new, and what changed is announced. */
function settle() {
  const title = document.querySelector("[data-testid=stMain] h1");
  const saved = [...document.querySelectorAll(STATUS)].map(words).filter(Boolean).map(sentence);
  const news = saved.filter((one) => !told?.includes(one));
  const arrived = arriving && title;
  // Whoever is writing by now goes on, and hears of the new screen all the same. A title that is drawn anew keeps its focus.
  const lost = focused && !focused.isConnected && document.activeElement === document.body;
  if (title && (lost || (arrived && !document.activeElement?.matches(TEXT)))) {
    title.tabIndex = -1;
    title.focus({ preventScroll: true });
    focused = title;
  }
  if (arrived) {
    arriving = false;
    live.textContent = [...saved, sentence(words(title))].join(" ");
  } else if (told && news.length) {
    live.textContent = news.join(" ");
  }
  told = saved;
  // Streamlit names a tick by its label's Markdown, backslashes among it. Without this name its label in words counts.
  for (const tick of document.querySelectorAll('label input[aria-label*="\\\\"]')) tick.removeAttribute("aria-label");
}

new MutationObserver(look).observe(document.body, {
  attributeFilter: ["class", "data-test-script-state"], childList: true, subtree: true,
});

export default look;

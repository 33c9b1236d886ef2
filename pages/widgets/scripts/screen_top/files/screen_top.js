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
let told = ""; // what was last said to be saved
let timer;

// Outside what Streamlit draws: a live region that is drawn anew together with its words may stay silent.
const live = Object.assign(document.createElement("div"), { id: "assay-live" });
live.setAttribute("role", "status");
live.setAttribute("aria-live", "polite");
document.body.append(live);

const drawn = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
const words = (element) => element.innerText.replace(/\s+/gu, " ").trim();
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
  const saved = [...document.querySelectorAll(STATUS)].map(words).filter(Boolean).map(sentence).join(" ");
  const news = saved === told ? "" : saved;
  told = saved;
  if (arriving && title) {
    arriving = false;
    // Whoever is writing by now goes on, and hears of the new screen all the same.
    if (!document.activeElement?.matches(TEXT)) {
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
    }
    live.textContent = [news, sentence(words(title))].filter(Boolean).join(" ");
  } else if (news) {
    live.textContent = news;
  }
}

new MutationObserver(look).observe(document.body, {
  attributeFilter: ["class", "data-test-script-state"], childList: true, subtree: true,
});

export default look;

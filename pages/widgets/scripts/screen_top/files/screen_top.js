// Scrolls to the top once for every new screen; the same screen drawn again stays where the rater is reading.
// What is handed to a component arrives some frames after the buttons, which could be pressed by then. So the name of
// the screen is a class of the page, and what changes in the page is looked at before it is painted.
const SCREEN = "st-key-screen-";
let shown;

function look() {
  const place = document.querySelector(`[class*="${SCREEN}"]`);
  const screen = [...(place?.classList ?? [])].find((name) => name.startsWith(SCREEN));
  if (!screen || screen === shown) return;
  shown = screen;
  place.closest("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
}

new MutationObserver(look).observe(document.body, { attributeFilter: ["class"], childList: true, subtree: true });

export default look;

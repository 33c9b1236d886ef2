// Scrolls to what a press has opened, once for every press. What is opened may be drawn piece by piece, and a page that is
// still short cannot be scrolled to its place: for a while each change scrolls again, unless the visitor scrolls meanwhile.
const PLACE = "st-key-shown-";
const WHILE = 2000; // milliseconds
let shown;
let until = 0;

function look() {
  const place = document.querySelector(`[class*="${PLACE}"]`);
  const name = [...(place?.classList ?? [])].find((one) => one.startsWith(PLACE));
  if (!name) return;
  if (name !== shown) {
    shown = name;
    until = performance.now() + WHILE;
  }
  if (performance.now() < until) place.scrollIntoView({ block: "start", behavior: "instant" });
}

for (const own of ["wheel", "touchmove", "keydown"]) {
  document.addEventListener(own, () => { until = 0; }, { passive: true });
}
new MutationObserver(look).observe(document.body, { attributeFilter: ["class"], childList: true, subtree: true });

export default look;

// Says in which language a rater's page is and which way it is read, and which of its words are the study's; warns a rater whose browser
// has translated it. The warning is outside what Streamlit draws, so that a translated one stays as it is.
import { declare, translated } from "./translation.js";

const OWN = "en"; // of the page's own words
const SOON_MS = 200;
const warning = Object.assign(document.createElement("div"), { id: "assay-translated" });
warning.setAttribute("role", "alert");
let said; // what the server says of the page, undefined on other pages
let soon;

function mark() {
  if (!said) return;
  const main = document.querySelector("[data-testid=stMain]");
  if (main && main.lang !== OWN) main.lang = OWN;
  for (const [name, language] of Object.entries(said.parts)) {
    for (const part of document.querySelectorAll(`.assay-${name}, [class*="st-key-${name}"]`)) {
      if (part.getAttribute("lang") !== language) part.setAttribute("lang", language);
    }
  }
}

function warn() {
  soon = undefined;
  const shown = Boolean(said) && translated();
  if (!shown) warning.remove();
  else if (!warning.isConnected) {
    warning.lang = said.warning_language;
    warning.replaceChildren(...said.warning.map((line) => Object.assign(document.createElement("p"), { textContent: line })));
    document.body.prepend(warning);
  }
}

function look() {
  mark();
  soon ??= setTimeout(warn, SOON_MS);
}

new ResizeObserver(() => {
  document.body.style.setProperty("--assay-warned", warning.isConnected ? `${warning.offsetHeight}px` : "0px");
}).observe(warning);
new MutationObserver(look).observe(document.body, {
  attributeFilter: ["_msttexthash", "_msthash"], characterData: true, childList: true, subtree: true,
});
new MutationObserver(look).observe(document.documentElement, { attributeFilter: ["class", "lang"] });

export default function ({ data }) {
  said = data;
  declare(data.language);
  document.documentElement.dir = data.direction;
  look();
  return () => {
    said = undefined;
    declare(OWN);
    document.documentElement.dir = "ltr";
    document.querySelector("[data-testid=stMain]")?.removeAttribute("lang");
    look();
  };
}

// Sets formulas as MathML before they are painted. The page's filter for HTML lets no MathML through, so a formula comes as its
// source, with its elements as data. Whatever the data say, an element is of MathML and has no address and no handler.
const NAMESPACE = "http://www.w3.org/1998/Math/MathML";
const NAME = /^[a-z]+$/;

function built([tag, attributes, text, children]) {
  const element = document.createElementNS(NAMESPACE, NAME.test(tag) ? tag : "mrow");
  for (const [name, value] of Object.entries(attributes)) {
    if (NAME.test(name) && name !== "href" && !name.startsWith("on")) element.setAttribute(name, value);
  }
  if (text) element.append(text);
  element.append(...children.map(built));
  return element;
}

function set() {
  const places = document.querySelectorAll(".assay-math[data-math]");
  if (!places.length) return;
  for (const place of places) {
    const tree = JSON.parse(place.dataset.math);
    place.removeAttribute("data-math");
    place.replaceChildren(built(tree));
  }
  // What is wider than its column scrolls, also by keyboard.
  for (const wide of document.querySelectorAll(".assay-math, .assay-rendered")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  }
}

new MutationObserver(set).observe(document.body, { childList: true, subtree: true });

export default set;

// Whether the browser, or something in it, has translated this page. Nobody tells a page; it is seen from what translators leave:
// Chrome: a class of <html>, its language, <font> in the place of texts. Edge: attributes of what it has read. Firefox: the language of
// <html>. Safari and extensions: other words where the page had put its own.
const TRACES = "#root font, [_msttexthash], [_msthash]";
const TEXTS = '.assay-text[translate="no"], .assay-marker-text, h1[tabindex="-1"]';
const written = new WeakMap(); // element -> its words as the page put them there
let language = document.documentElement.lang; // as the page says it

/** The page's own language is another one; a translator's is left alone. */
export function declare(next) {
  const html = document.documentElement;
  if (html.lang === language) html.lang = next;
  language = next;
}

/** Its words without formulas, which are set after they have come. */
function read(element) {
  if (!element.querySelector(".assay-math")) return element.textContent;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node instanceof Element && node.matches(".assay-math") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  let words = "";
  while (walker.nextNode()) if (walker.currentNode instanceof Text) words += walker.currentNode.data;
  return words;
}

function remember() {
  for (const element of document.querySelectorAll(TEXTS)) {
    if (!written.has(element)) written.set(element, read(element));
  }
}

export function translated() {
  const html = document.documentElement;
  return html.lang !== language
    || /(^|\s)translated-(ltr|rtl)(\s|$)/u.test(html.className)
    || document.querySelector(TRACES) !== null
    || [...document.querySelectorAll(TEXTS)].some((element) => written.has(element) && written.get(element) !== read(element));
}

new MutationObserver(remember).observe(document.body, { childList: true, subtree: true });
remember();

// A translator puts an element in the place of a text of the page. Streamlit's library does not know: what it writes into the text later
// would stay unseen, and what it removes it would not find, which ends the page. So the text returns to its place when it is
// written, and goes with the element when it is removed. The translator sees a new text then, and translates it.
const places = new WeakMap(); // text -> the element that took its place
const { insertBefore, removeChild } = Node.prototype;

const isFont = (node) => node instanceof Element && node.tagName === "FONT";

function place(text, parent) {
  const element = places.get(text);
  return element?.parentNode === parent ? element : undefined;
}

const news = new MutationObserver((records) => {
  for (const { target } of records) {
    const element = places.get(target);
    if (!target.isConnected && element?.isConnected) element.replaceWith(target);
  }
});

new MutationObserver((records) => {
  for (const { removedNodes, addedNodes, previousSibling, nextSibling } of records) {
    for (const text of removedNodes) {
      if (!(text instanceof Text) || text.isConnected) continue;
      const element = [...addedNodes, previousSibling, nextSibling].find(isFont);
      if (!element) continue;
      places.set(text, element);
      news.observe(text, { characterData: true });
    }
  }
}).observe(document.body, { childList: true, subtree: true });

Node.prototype.removeChild = function (child) {
  const element = child.parentNode !== this && place(child, this);
  if (!element) return removeChild.call(this, child);
  removeChild.call(this, element);
  return child;
};

Node.prototype.insertBefore = function (child, before) {
  const element = before && before.parentNode !== this && place(before, this);
  return insertBefore.call(this, child, element || before);
};

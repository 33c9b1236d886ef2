// How marked errors look in the text: one line a mark beneath its words, each at a height of its own.
// The text is somebody else's: it only ever becomes the content of text nodes.

/** An element with properties, attributes (those with a dash, and role) and children. */
export function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** Draw a text with its marks (in UTF-16) into an element: as many text nodes as there are borders. */
export function drawText(element, text, marks, draft) {
  const borders = new Set([0, text.length]);
  for (const one of [...marks, ...(draft ? [draft] : [])]) borders.add(one.from).add(one.to);
  const cuts = [...borders].filter((cut) => cut >= 0 && cut <= text.length).sort((a, b) => a - b);
  const lanes = lanesOf(marks);
  const drawn = [];
  for (let n = 0; n + 1 < cuts.length; n += 1) {
    const [from, to] = [cuts[n], cuts[n + 1]];
    let piece = document.createTextNode(text.slice(from, to));
    marks.forEach((mark, number) => {
      if (mark.from <= from && to <= mark.to) piece = underlined(piece, mark, lanes[number]);
    });
    if (draft && draft.from <= from && to <= draft.to) piece = make("span", { className: "assay-draft" }, piece);
    drawn.push(piece);
  }
  element.replaceChildren(...drawn);
}

function underlined(piece, mark, lane) {
  const element = make("span", { className: `assay-error assay-rank-${mark.rank}${mark.open ? " assay-open" : ""}` }, piece);
  element.style.paddingBottom = `${1 + lane * 5}px`;
  return element;
}

/** For each mark the lowest line that no mark beginning before it holds. */
function lanesOf(marks) {
  const order = marks.map((_, number) => number).sort((a, b) => marks[a].from - marks[b].from || marks[b].to - marks[a].to);
  const lanes = [];
  const ends = [];
  for (const number of order) {
    let lane = ends.findIndex((end) => end <= marks[number].from);
    if (lane < 0) lane = ends.length;
    ends[lane] = marks[number].to;
    lanes[number] = lane;
  }
  return lanes;
}

/** What is said of a mark in words. */
export function inWords(text, longest = 60) {
  const line = text.replace(/\s+/gu, " ").trim();
  const points = Array.from(line);
  return points.length > longest ? `${points.slice(0, longest - 1).join("")}…` : line;
}

/** The number of a severity's line, of which there are four; from 1. */
export function rank(number) {
  return Math.min(Math.max(number, 0) + 1, 4);
}

// Places in a text. The browser counts UTF-16 units; what is kept counts code points, end exclusive.

export class Places {
  constructor(text, language) {
    this.text = text;
    this.language = language;
    this.starts = []; // UTF-16 place of every code point
    for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) this.starts.push(at);
  }

  /** Code points before a UTF-16 place; a place inside a code point counts as the one before it. */
  toCodePoints(unit) {
    if (unit >= this.text.length) return this.starts.length;
    let low = 0; // in the end the first code point that begins at the place or after it
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] < unit) low = middle + 1;
      else high = middle;
    }
    return this.starts[low] === unit ? low : low - 1;
  }

  /** UTF-16 place of the code point with that number. */
  toUnits(point) {
    return point >= this.starts.length ? this.text.length : this.starts[point];
  }

  /** A range widened so that it cuts no character as readers see it, in UTF-16. */
  widened(from, to) {
    const whole = this._segments("grapheme");
    return [whole.find((one) => one.end > from)?.start ?? from, whole.findLast((one) => one.start < to)?.end ?? to];
  }

  /** A range widened to the words that it touches, without blanks at its ends. */
  wholeWords(from, to) {
    const words = this._segments("word").filter((one) => one.word);
    const first = words.find((one) => one.start < from && one.end > from);
    const last = words.find((one) => one.start < to && one.end > to);
    let start = first ? first.start : from;
    let end = last ? last.end : to;
    while (start < end && /\s/u.test(this.text[start])) start += 1;
    while (end > start && /\s/u.test(this.text[end - 1])) end -= 1;
    return [start, end];
  }

  _segments(granularity) {
    this.kept ??= {};
    return (this.kept[granularity] ??= this._cut(granularity));
  }

  _cut(granularity) {
    if (!Intl.Segmenter) {
      // An older browser: code points at least stay whole, and every one is a word's end.
      return this.starts.map((start, n) => ({ start, end: this.starts[n + 1] ?? this.text.length, word: false }));
    }
    const language = this.language === "und" ? undefined : this.language;
    return Array.from(new Intl.Segmenter(language, { granularity }).segment(this.text), (one) => ({
      start: one.index,
      end: one.index + one.segment.length,
      word: Boolean(one.isWordLike),
    }));
  }
}

/** Where a boundary of the browser's selection lies in an element's text, in UTF-16. */
export function unitsBefore(element, node, offset) {
  const range = document.createRange();
  range.selectNodeContents(element);
  range.setEnd(node, offset);
  return range.toString().length;
}

/** The text node and the place in it that stand at a UTF-16 place of an element's text. */
export function nodeAt(element, unit) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let left = unit;
  let last = null;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (left <= node.length) return [node, left];
    left -= node.length;
    last = node;
  }
  return last ? [last, last.length] : [element, 0];
}

/** Whether two errors are the same one. */
export function same(one, other) {
  return one.start === other.start && one.end === other.end && one.severity === other.severity
    && one.category === other.category && one.in_source === other.in_source;
}

/** Errors as they are listed: those of the source first, then by place. */
export function inOrder(one, other) {
  return Number(other.in_source) - Number(one.in_source) || one.start - other.start || one.end - other.end;
}

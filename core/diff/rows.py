"""Two texts cut into rows: sentences that say the same face each other."""

from collections import Counter
from collections.abc import Sequence

from core.diff import Segment, tokenize
from core.diff.sentences import lines_and_sentences

_GAP, _LONGER = 0.3, 0.06
"""Cost of a sentence without a partner, and of each further sentence in a row. Two that share every word gain 2."""
_SMALL = 40
"""Sentences of a text up to which all places are compared; beyond, those near the diagonal."""
_NEAR = 8
"""Sentences to either side of the diagonal."""
_MOST = 3_000
"""Sentences of a text beyond which there is one row: nobody compares so many, and a browser is slow to draw them."""
_MOVES = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 0), (0, 1))
"""Sentences of either text in a row."""


def facing_rows(left: str, right: str) -> list[tuple[str, str]]:
    """Rows of what stands left and right; "" where one text has nothing. Each side joined is its text.

    Sentences keep their order. Swapping the texts swaps the sides of the rows. Time grows with the length of the
    texts, not with its square.
    """
    if right < left:
        return [(one, other) for other, one in facing_rows(right, left)]
    firsts, seconds = lines_and_sentences(left), lines_and_sentences(right)
    if max(len(firsts), len(seconds)) > _MOST:
        return [(left, right)]
    rows = []
    at, to = 0, 0
    for step_first, step_second in _path(firsts, seconds):
        rows.append(("".join(firsts[at : at + step_first]), "".join(seconds[to : to + step_second])))
        at, to = at + step_first, to + step_second
    return rows


def cut_at_rows(segments: Sequence[Segment], rows: Sequence[str]) -> list[tuple[Segment, ...]]:
    """The segments of a text, cut where its rows end.

    rows: pieces that joined are the text, some of them empty. What was removed goes with the text behind it.
    """
    cut: list[list[Segment]] = [[] for _ in rows]
    filled = [at for at, row in enumerate(rows) if row]
    if not filled:  # an empty text: all of its base was removed
        return [tuple(segments) if at == 0 else () for at in range(len(rows))]
    place, room = 0, len(rows[filled[0]])
    for segment in segments:
        text = segment.text
        while True:
            if not room and place + 1 < len(filled):
                place += 1
                room = len(rows[filled[place]])
            part = text if segment.kind == "removed" else text[:room]
            cut[filled[place]].append(Segment(part, segment.kind))
            if segment.kind == "removed":
                break
            room, text = room - len(part), text[len(part) :]
            if not text:
                break
    return [tuple(row) for row in cut]


def _path(firsts: Sequence[str], seconds: Sequence[str]) -> list[tuple[int, int]]:
    """The moves from the beginning to the end of both texts that are worth most."""
    words = [{token.casefold() for token in tokenize(one) if _is_word(token)} for one in (*firsts, *seconds)]
    seen_in = Counter(word for one in words for word in one)
    weights = {word: 1 / count for word, count in seen_in.items()}  # a word of every sentence matches none
    whole = [sum(weights[word] for word in one) for one in words]
    n, m = len(firsts), len(seconds)
    best: dict[tuple[int, int], tuple[float, tuple[int, int]]] = {(0, 0): (0.0, (0, 0))}
    shared: dict[tuple[int, int], float] = {}

    def shared_by(i: int, j: int) -> float:
        found = shared.get((i, j))
        if found is None:
            found = shared[i, j] = sum(weights[word] for word in words[i] & words[n + j])
        return found

    def worth(i: int, j: int, step: tuple[int, int]) -> float:
        if 0 in step:
            return -_GAP
        over_first, over_second = range(i - step[0], i), range(j - step[1], j)
        all_words = sum(whole[at] for at in over_first) + sum(whole[n + at] for at in over_second)
        common = sum(shared_by(one, other) for one in over_first for other in over_second)
        return 4 * common / all_words - _LONGER * (sum(step) - 2) if all_words else 0.0

    for i in range(n + 1):
        for j in _places_near(i, n, m):
            options = [
                (before[0] + worth(i, j, step), -rank, step)
                for rank, step in enumerate(_MOVES)
                if (before := best.get((i - step[0], j - step[1]))) is not None
            ]
            if options:
                value, _, step = max(options)
                best[i, j] = (value, step)
    path: list[tuple[int, int]] = []
    i, j = n, m
    while i or j:
        step = best[i, j][1]
        path.append(step)
        i, j = i - step[0], j - step[1]
    return path[::-1]


def _places_near(i: int, n: int, m: int) -> range:
    """The places of the second text that are compared with place i of the first."""
    if max(n, m) <= _SMALL:
        return range(m + 1)
    middle = i * m // n if n else 0
    slope = m // n + 1 if n else m
    return range(max(0, middle - _NEAR - slope), min(m, middle + _NEAR + slope) + 1)


def _is_word(token: str) -> bool:
    return any(map(str.isalnum, token))

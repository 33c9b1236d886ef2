"""Two texts -> aligned segments that say what differs, for highlighting.

The unit is the word; in scripts written without spaces it is the grapheme cluster (one visible character).
Nothing is lost: the segments of a text, put together, are the text, white space and line breaks included.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
from rapidfuzz.distance import LCSseq

Kind = Literal["same", "added", "removed"]

MOST_TOKENS = 5_000
"""Above this, sentences are aligned first: the alignment's memory grows with the product of the lengths."""

READABLE = 2
"""Unchanged words between two changes that a reader would rather see as one change."""

_UNSPACED = "".join(rf"\p{{scx={s}}}" for s in ("Han", "Hira", "Kana", "Thai", "Lao", "Khmr", "Mymr"))
_LETTER = rf"[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]"
# \X looks back to the start of a run of flags at each of them: minutes where there are many. The same, counted on.
_FLAG = r"\p{RI}{1,2}[\p{GCB=Extend}\p{GCB=SpacingMark}\u200d]*"
_TOKEN = regex.compile(
    rf"""
    \s+                                         # a run of white space
    | {_LETTER}                                 # a word: letters and digits, with
      (?: [{_LETTER}\p{{M}}\u200c\u200d]        #   combining marks and joiners
        | ['’׳״](?={_LETTER})                   #   an apostrophe inside
        | (?<=\p{{N}})[.,٫٬](?=\p{{N}})         #   a point or comma inside a number
      )*
    | {_FLAG}                                   # two regional indicators
    | \X                                        # all else, one visible character at a time
    """,
    regex.VERBOSE | regex.V1,
)
_UNSPACED_CHARACTER = regex.compile(f"[{_UNSPACED}]", regex.V1)
_SENTENCE_END = frozenset(".!?…。！？؟۔।")


@dataclass(frozen=True)
class Segment:
    """A run of text that is treated alike."""

    text: str
    kind: Kind


@dataclass(frozen=True)
class _Block:
    """A stretch of both texts: the same tokens, or what one has where the other has something else."""

    same: bool
    first: list[str]
    second: list[str]

    def extend(self, other: "_Block") -> None:
        """Put another block behind this one, in place: copying both each time would take minutes on long texts."""
        self.first.extend(other.first)
        self.second.extend(other.second)


def tokenize(text: str) -> list[str]:
    """The text cut into words, runs of white space and single other characters; joined, it is the text."""
    tokens: list[str] = _TOKEN.findall(text)
    return tokens


def diff_against(base: str, text: str, *, islands: float = 0) -> tuple[Segment, ...]:
    """`text` in reading order, with what it adds to `base` and, at its place, what it leaves out of it.

    same + added gives exactly `text`; same + removed gives exactly `base`.
    islands: up to so many unchanged words between two changes of a sentence count as changed too. READABLE is for
    people; 0 marks no word that both texts share.
    """
    segments: list[Segment] = []
    joined = _absorb_spaces(_blocks(base, text, islands))
    for block in _merged(part for whole in joined for part in _drop_shared_end(whole)):
        first, second = "".join(block.first), "".join(block.second)
        if block.same:
            segments.append(Segment(first, "same"))
        else:
            segments += [Segment(first, "removed")] if first else []
            segments += [Segment(second, "added")] if second else []
    return tuple(segments)


def diff_pair(
    left: str, right: str, *, islands: float = 0
) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Both texts, each with what the other does not have marked as added; no side is the base.

    islands: as for diff_against.
    Swapping the arguments swaps the results. An alignment has ties and the algorithm breaks them by the
    order of its arguments, so the two texts are always aligned in the order of their code points.
    """
    if right < left:
        second, first = diff_pair(right, left, islands=islands)
        return first, second
    blocks = _blocks(left, right, islands)
    return (
        _one_side((block.same, block.first) for block in blocks),
        _one_side((block.same, block.second) for block in blocks),
    )


def _blocks(first: str, second: str, islands: float) -> list[_Block]:
    """Both texts aligned, without the islands."""
    blocks = list(_align(tokenize(first), tokenize(second)))
    return list(_merged(_drop_islands(blocks, islands))) if islands else blocks


def _drop_islands(blocks: Sequence[_Block], most: float) -> Iterator[_Block]:
    """The blocks; what is the same between two changes of one sentence is a change if it has few words."""
    for at, block in enumerate(blocks):
        inside = block.same and 0 < at < len(blocks) - 1
        yield _Block(False, block.first, block.second) if inside and _is_island(block.first, most) else block


def _is_island(tokens: Sequence[str], most: float) -> bool:
    words = 0.0
    for token in tokens:
        if "\n" in token or token in _SENTENCE_END:
            return False
        words += _weight(token)
        if words > most:
            return False
    return True


def _weight(token: str) -> float:
    """A word is 1; a visible character of a script without spaces is half a word."""
    if not any(map(str.isalnum, token)):
        return 0.0
    return 0.5 if _UNSPACED_CHARACTER.match(token) else 1.0


def _one_side(runs: Iterable[tuple[bool, Sequence[str]]]) -> tuple[Segment, ...]:
    """The segments of one text; a single space between two marked runs is marked with them."""
    joined: list[tuple[bool, list[str]]] = []
    for same, tokens in runs:
        if not tokens:
            continue
        if joined and joined[-1][0] == same:
            joined[-1][1].extend(tokens)
        elif not same and len(joined) >= 2 and joined[-1] == (True, [" "]):
            joined.pop()
            joined[-1][1].extend([" ", *tokens])
        else:
            joined.append((same, [*tokens]))
    return tuple(Segment("".join(tokens), "same" if same else "added") for same, tokens in joined)


def _absorb_spaces(blocks: Iterable[_Block]) -> list[_Block]:
    """Join changed blocks that only a single space separates, so that a reworded phrase is one run."""
    result: list[_Block] = []
    for block in blocks:
        if not block.same and len(result) >= 2 and _one_run(result[-2], result[-1], block):
            space = result.pop()
            result[-1].extend(space)
            result[-1].extend(block)
        else:
            result.append(block)
    return result


def _drop_shared_end(block: _Block) -> Iterator[_Block]:
    """The block, less the token (a space) that both sides end with: a mark ends with its last word."""
    first, second = block.first, block.second
    if block.same or not first or not second or first[-1] != second[-1]:
        yield block
    else:
        if len(first) > 1 or len(second) > 1:
            yield _Block(False, first[:-1], second[:-1])
        yield _Block(True, first[-1:], second[-1:])


def _one_run(before: _Block, between: _Block, after: _Block) -> bool:
    """Whether the space belongs to a run on one side and touches a run on the other.

    Two pure insertions stay apart: joined, they would show a space as removed that nobody took away.
    """
    if not between.same or between.first != [" "]:
        return False
    removed = (bool(before.first), bool(after.first))
    added = (bool(before.second), bool(after.second))
    return (all(removed) and any(added)) or (all(added) and any(removed))


def _align(first: list[str], second: list[str]) -> Iterator[_Block]:
    """Blocks that alternate between same and changed and cover both token lists."""
    if max(len(first), len(second)) <= MOST_TOKENS:
        yield from _merged(_align_windows(first, second))
    else:
        yield from _merged(_align_sentences(first, second))


def _align_sentences(first: list[str], second: list[str]) -> Iterator[_Block]:
    for block in _merged(_align_windows(_sentences(first), _sentences(second))):
        words_first = [token for sentence in block.first for token in tokenize(sentence)]
        words_second = [token for sentence in block.second for token in tokenize(sentence)]
        if block.same:
            yield _Block(True, words_first, words_second)
        else:
            yield from _align_windows(words_first, words_second)


def _sentences(tokens: list[str]) -> list[str]:
    """The tokens joined to lines and sentences, each with the white space that follows it."""
    sentences: list[str] = []
    current: list[str] = []
    ended = False
    for token in tokens:
        if ended and not token.isspace() and token not in _SENTENCE_END:
            sentences.append("".join(current))
            current = []
        ended = token in _SENTENCE_END or "\n" in token or (ended and token.isspace())
        current.append(token)
    return [*sentences, "".join(current)] if current else sentences


def _align_windows(first: list[str], second: list[str]) -> Iterator[_Block]:
    """Align lists of any length; beyond the limit piece by piece, which bounds memory and may match less."""
    pieces = max(1, -(-max(len(first), len(second)) // MOST_TOKENS))
    for at in range(pieces):
        yield from _align_tokens(
            first[at * len(first) // pieces : (at + 1) * len(first) // pieces],
            second[at * len(second) // pieces : (at + 1) * len(second) // pieces],
        )


def _align_tokens(first: list[str], second: list[str]) -> Iterator[_Block]:
    # rapidfuzz compares hashes, so tokens are numbered: no collision, no dependence on PYTHONHASHSEED.
    numbers: dict[str, int] = {}
    codes_first = [numbers.setdefault(token, len(numbers)) for token in first]
    codes_second = [numbers.setdefault(token, len(numbers)) for token in second]
    for step in LCSseq.opcodes(codes_first, codes_second):
        yield _Block(
            step.tag == "equal",
            first[step.src_start : step.src_end],
            second[step.dest_start : step.dest_end],
        )


def _merged(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """The blocks with neighbours of one kind put together."""
    pending: _Block | None = None
    for block in blocks:
        if pending is not None and pending.same == block.same:
            pending.extend(block)
            continue
        if pending is not None:
            yield pending
        pending = _Block(block.same, [*block.first], [*block.second])
    if pending is not None:
        yield pending


@dataclass(frozen=True)
class WordsKept:
    """How much of the reference a level still says, over items: how much was changed, nothing of how well."""

    level: str
    n: int
    """Items with a text at this level and a reference with words in it."""
    mean: float | None
    """Share of the reference's words kept, 0 to 1; None: no item could be used."""
    low: float | None
    """The item that kept fewest."""
    high: float | None


def share_kept(reference: str, text: str) -> float | None:
    """Words that reference and text have in the same order, over the words of the reference.

    That is the length of the longest common subsequence of their words. A word is a token that
    holds a letter or digit (in scripts written without spaces: one visible character), compared as written.
    None: the reference has no word.
    """
    expected = _words(reference)
    if not expected:
        return None
    # rapidfuzz compares hashes: numbered words cannot collide.
    numbers: dict[str, int] = {}
    first, second = (
        [numbers.setdefault(word, len(numbers)) for word in words] for words in (expected, _words(text))
    )
    return float(LCSseq.similarity(first, second)) / len(expected)


def words_kept(
    references: Mapping[str, str], texts: Iterable[tuple[str, Mapping[str, str]]], levels: Sequence[str]
) -> tuple[WordsKept, ...]:
    """Mean and range of share_kept at each level.

    references: item -> reference. texts: item and its texts by level; an item counts at the levels it has.
    """
    shares: dict[str, list[float]] = {level: [] for level in levels}
    for item_id, by_level in texts:
        for level in by_level.keys() & shares.keys():
            share = share_kept(references[item_id], by_level[level])
            if share is not None:
                shares[level].append(share)
    return tuple(_summary(level, found) for level, found in shares.items())


def _summary(level: str, shares: Sequence[float]) -> WordsKept:
    if not shares:
        return WordsKept(level, 0, None, None, None)
    return WordsKept(level, len(shares), sum(shares) / len(shares), min(shares), max(shares))


def _words(text: str) -> list[str]:
    return [token for token in tokenize(text) if any(char.isalnum() for char in token)]

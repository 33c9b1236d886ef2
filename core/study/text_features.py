"""What can be seen of a text at a glance, as numbers: the leakage audit asks whether these name the source.

No feature knows a source: each is computed from a text, from what its changes are shown against, and from
the answers to other questions of both sources together. Words are the tokens of `core.diff` that hold a letter or a
digit, so in scripts written without spaces a word is one visible character.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import regex

from core.diff import diff_against, tokenize
from core.schema import FIRST_LEVEL, Item, Output

TextKey = tuple[str, str, str]
"""(item_id, level, source)"""
Triple = tuple[str, str, str]
"""Three words in a row, case folded."""

_WORD = regex.compile(r"[\p{L}\p{N}]")
_LETTER = regex.compile(r"\p{L}")
_PUNCTUATION = regex.compile(r"\p{P}")
_SENTENCE_END = regex.compile(
    r"""
    [.!?…]+ [\p{Pe}\p{Pf}"']* (?=\s|$)   # a point inside a word or number ends nothing
    | [\p{STerm}--[.!?]]+                # in scripts without spaces nothing need follow
    | \n+
    """,
    regex.VERBOSE | regex.V1,
)
_FORMATTING = regex.compile(
    r"""
    \n
    | ^[^\S\n]* (?: [-+*•◦‣–—] | \d{1,3}[.)] ) (?=[^\S\n])   # a list marker
    | ^[^\S\n]* (?: \#{1,6} | > ) (?=[^\S\n])                # a heading, a quotation
    | \*+ | __ | `+ | \|                                     # emphasis, code, a table
    """,
    regex.VERBOSE | regex.MULTILINE,
)


@dataclass(frozen=True)
class Feature:
    """One number of a text, with the words for a rule that goes by it."""

    name: str
    """Its key in JSON."""
    smaller: str
    """What an answer with less of it is called."""
    larger: str
    """What an answer with more of it is called."""


FEATURES: tuple[Feature, ...] = (
    Feature("length", "shorter answer", "longer answer"),
    Feature("change_of_length", "smaller change of length", "larger change of length"),
    Feature("diff_size", "less marked as changed", "more marked as changed"),
    Feature("sentences", "fewer sentences", "more sentences"),
    Feature("punctuation", "less punctuation", "more punctuation"),
    Feature("formatting", "less formatting", "more formatting"),
    Feature("repeated_wording", "less repeated wording", "more repeated wording"),
)
"""In the order of every row of `feature_table`."""


def words_and_marks(text: str) -> list[str]:
    """The tokens of a text in order, case folded, without white space: words, punctuation, signs."""
    return [token.casefold() for token in tokenize(text) if not token.isspace()]


def sentences(text: str) -> int:
    """Pieces with a letter between marks that end a sentence, and line breaks.

    Abbreviations ("U.S. is") count as an end; in Thai, which marks no sentences, lines are counted.
    """
    return sum(1 for piece in _SENTENCE_END.split(text) if _LETTER.search(piece))


def punctuation(text: str) -> float:
    """Punctuation marks per 100 characters, 0 to 100; per character, because length is a feature of its own."""
    return 100 * len(_PUNCTUATION.findall(text)) / max(1, len(text))


def formatting(text: str) -> int:
    """Line breaks, list markers and Markdown marks, together."""
    return len(_FORMATTING.findall(text))


def diff_size(base: str, text: str) -> int:
    """Characters that a rater sees marked, added and removed together."""
    return sum(len(segment.text) for segment in diff_against(base, text) if segment.kind != "same")


def feature_table(
    items: Sequence[Item], levels: Sequence[str], outputs: Iterable[Output]
) -> dict[TextKey, tuple[float, ...]]:
    """The features of every text, in the order of FEATURES.

    - length: characters.
    - change_of_length: absolute difference from the source's own A0, in words and punctuation marks; at A0 (and where a
      study has none) from the reference: what a rater sees the text's changes marked against.
    - diff_size: characters marked as added or removed against that same text.
    - sentences; punctuation (per 100 characters); formatting (line breaks, list markers, Markdown marks).
    - repeated_wording: share of the text's word triples that also stand in answers to other questions, of either
      source; 0 for a text of fewer than three words.

    `outputs` holds each (item, level, source) once. Texts are taken as stored, after `clean_text`.
    """
    texts = {(o.item_id, o.level, o.source): o.text for o in outputs}
    references = {item.item_id: item.reference for item in items}
    tokens = {key: words_and_marks(text) for key, text in texts.items()}
    n_in_reference = {item_id: len(words_and_marks(text)) for item_id, text in references.items()}
    triples = {key: _triples(found) for key, found in tokens.items()}
    repeated = _repeated(triples)
    table = {}
    for key, text in texts.items():
        item, level, source = key
        own_first = (item, FIRST_LEVEL, source)
        against_own = level != FIRST_LEVEL and own_first in texts
        base = texts[own_first] if against_own else references[item]
        n_in_base = len(tokens[own_first]) if against_own else n_in_reference[item]
        table[key] = (
            float(len(text)),
            float(abs(len(tokens[key]) - n_in_base)),
            float(diff_size(base, text)),
            float(sentences(text)),
            punctuation(text),
            float(formatting(text)),
            sum(triple in repeated for triple in triples[key]) / max(1, len(triples[key])),
        )
    return {key: table[key] for key in table if key[1] in levels}


def _triples(tokens: Sequence[str]) -> list[Triple]:
    words = [token for token in tokens if _WORD.search(token)]
    return list(zip(words, words[1:], words[2:], strict=False))


def _repeated(triples: Mapping[TextKey, Sequence[Triple]]) -> set[Triple]:
    """Word triples that stand in answers to at least two questions."""
    owner: dict[Triple, str] = {}
    repeated: set[Triple] = set()
    for (item, _, _), found in triples.items():
        repeated.update(triple for triple in found if owner.setdefault(triple, item) != item)
    return repeated

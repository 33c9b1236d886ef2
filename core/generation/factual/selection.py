"""Which spans may be edited, and at which level: the question filter, the ranking by a model, the groups (Factual, appendix A)."""

import hashlib
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import regex

from core.diff import tokenize
from core.generation.language import UNDETERMINED, base_language, guess_language, words_of
from core.generation.records import Dropped, QuestionFilter, Span
from core.generation.rules.pool import without_function_words
from core.llm.asking import Unusable
from core.llm.parsing import form, is_number, read_object

_SHARED_UNSPACED = 2
"""Characters of Han or katakana that two texts have to share in a row."""
_SHARED_ALPHABETIC = 4
"""The same for Thai, Khmer, Lao and Burmese, whose characters are letters."""
_RUNS = (
    (regex.compile(r"\p{Han}+"), _SHARED_UNSPACED),
    (regex.compile(r"[\p{Katakana}ー]+"), _SHARED_UNSPACED),
    (regex.compile(r"[\p{scx=Thai}\p{scx=Khmr}\p{scx=Laoo}\p{scx=Mymr}]+"), _SHARED_ALPHABETIC),
)


@dataclass(frozen=True)
class StopWords:
    """A list and what it is called in records."""

    name: str
    """Such as `en`, `de (guessed)`, or `none`."""
    words: frozenset[str]
    """Lower case, as in the file."""


NO_STOP_WORDS = StopWords("none", frozenset())


def stop_words_for(language: str, text: str = "") -> StopWords:
    """The list of a language tag; for `und`, the list of the language that the text seems to be in."""
    base = base_language(language)
    if base == UNDETERMINED:
        guessed = guess_language(text)
        return StopWords(f"{guessed} (guessed)", words_of(guessed)) if guessed else NO_STOP_WORDS
    words = words_of(base)
    return StopWords(base, words) if words else NO_STOP_WORDS


def stop_words_name(method: QuestionFilter, stop_words: StopWords) -> str:
    """The list's name for the record; that project's code knows English alone."""
    return "en" if method == "trutheval" else stop_words.name


def overlaps(
    question: str, spans: Sequence[Span], method: QuestionFilter, stop_words: StopWords
) -> tuple[Dropped, ...]:
    """The spans that share a word with the question, and the first such word of each."""
    share = trutheval_shared_word if method == "trutheval" else shared_word
    words = words_of("en") if method == "trutheval" else stop_words.words
    found = ((number, share(question, span.text, words)) for number, span in enumerate(spans))
    return tuple(Dropped(number, "in the question", word) for number, word in found if word is not None)


def shared_word(question: str, text: str, stop_words: frozenset[str]) -> str | None:
    """The first word of `text` that the question has too, without case, punctuation and possessive endings.

    Stop words do not count. In scripts without spaces it is a run of characters that both have. Words are
    compared as they are written: an inflected form is another word.
    """
    asked = set(_words(question)) - stop_words
    for word in _words(text):
        if word in asked and word not in stop_words:
            return word
    return _shared_run(_folded(question), _folded(text), stop_words)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _words(text: str) -> Iterator[str]:
    """Words of scripts that put spaces between them, cut at apostrophes: `earth's` is `earth`."""
    for token in tokenize(_folded(text)):
        for piece in regex.split(r"['’׳״]", token):
            long = len(piece) > 1 or piece.isdecimal()
            if (
                long
                and regex.search(r"[\p{L}\p{N}]", piece)
                and not any(run.search(piece) for run, _ in _RUNS)
            ):
                yield piece


def _shared_run(question: str, text: str, stop_words: frozenset[str]) -> str | None:
    asked, said = (without_function_words(part, stop_words) for part in (question, text))
    for pattern, least in _RUNS:
        pieces = {
            run[at : at + least] for run in pattern.findall(asked) for at in range(len(run) - least + 1)
        } - stop_words
        for run in pattern.findall(said):
            for at in range(len(run) - least + 1):
                if run[at : at + least] in pieces:
                    return str(run[at : at + least])
    return None


def trutheval_shared_word(question: str, text: str, stop_words: frozenset[str]) -> str | None:
    """The same as trutheval's code finds it.

    Question punctuation becomes a space ("What's" gives "s"), that of the text stays ("blue," is not "blue").
    """
    asked = set(regex.findall(r"\w+", question.lower())) - stop_words
    return next((word.lower() for word in text.split() if word.lower() in asked), None)


def ranking_schema(candidates: Sequence[int]) -> dict[str, object]:
    """A list of as many numbers as there are candidates, each one of them; that none comes twice is checked."""
    number, n = {"type": "integer", "enum": sorted(candidates)}, len(candidates)
    return form(ranking={"type": "array", "items": number, "minItems": n, "maxItems": n})


def read_ranking(text: str, candidates: Sequence[int]) -> tuple[int, ...]:
    """The candidates, most important first. Raises Unusable unless each stands there exactly once."""
    ranking = read_object(text, ranking={})["ranking"]
    if not isinstance(ranking, list) or not all(
        is_number(entry) and entry == int(entry) for entry in ranking
    ):
        raise Unusable("`ranking` has to be a list of whole numbers.", "invalid")
    numbers = tuple(int(entry) for entry in ranking)
    if strange := sorted(set(numbers) - set(candidates)):
        raise Unusable(f"{strange[0]} is not among the numbers to rank.", "not a permutation")
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise Unusable(f"{twice[0]} stands there more than once.", "not a permutation")
    if missing := sorted(set(candidates) - set(numbers)):
        raise Unusable(
            f"{', '.join(map(str, missing[:5]))} is missing: rank every number.", "not a permutation"
        )
    return numbers


def keep_first(ranking: Sequence[int], keep: float) -> tuple[int, ...]:
    """The first ceil(keep * n) of a ranking, counted exactly: the float 0.28 * 25 is above 7."""
    return tuple(ranking[: math.ceil(Fraction(str(keep)) * len(ranking))])


def snake_groups(n: int, n_groups: int) -> tuple[tuple[int, ...], ...]:
    """The indices n-1 ... 0 dealt to groups to and fro, so that each gets important and unimportant ones.

    (10, 4) gives ((9, 2, 1), (8, 3, 0), (7, 4), (6, 5)). With n < n_groups some groups are empty.
    """
    groups: list[list[int]] = [[] for _ in range(n_groups)]
    for place, index in enumerate(range(n - 1, -1, -1)):
        turn, column = divmod(place, n_groups)
        groups[column if turn % 2 == 0 else n_groups - 1 - column].append(index)
    return tuple(tuple(group) for group in groups)


def deal(kept: Sequence[int], n_groups: int, seed: int, item_id: str) -> tuple[tuple[int, ...], ...]:
    """The kept spans (most important first) in groups for A1, A2 ..., each in the order of the text.

    Which group goes to which level depends on the seed and the item's id alone, not on the item's place.
    """
    groups = snake_groups(len(kept), n_groups)
    order = sorted(range(n_groups), key=lambda number: _digest(seed, item_id, number))
    return tuple(tuple(sorted(kept[index] for index in groups[number])) for number in order)


def _digest(seed: int, item_id: str, number: int) -> bytes:
    # The id comes last: whatever it holds, two different triples never give the same text.
    return hashlib.sha256(f"group order {seed} {number} {item_id}".encode("utf-8", "surrogatepass")).digest()

"""Which entries of a model's list are questions: sentences about the text that they were made from, each once.

A weak model fills the form with fragments (`was`, `]}[`), and every share of answers to such questions would be a number
without a meaning. Pure functions, for questions and texts of any language.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import regex
from rapidfuzz import fuzz

from core.generation.language import guess_language
from core.generation.stop_words import languages, words_of
from core.judges.claims.rules import Content, Premise, sentences_of
from core.judges.cross_examination.record import SIDES, CefRecord, questions_of
from core.judges.cross_examination.scores import count_words
from core.llm.looping import loops
from core.llm.parsing import LOOPING, visible
from core.stats.degeneracy import Degeneracy

ENOUGH = 0.5
"""Share of the questions wanted that have to be usable. Wanted are as many as are requested, and no more than the text
has sentences: a short text does not bear ten."""
LONGEST_QUESTION = 200
"""Characters: a bound keeps a model that cannot stop from using up all its tokens on one question. Longer ones, from
a server that ignores the form, are none."""
FEWEST_WORDS = 2
"""Of a question that ends in its mark; of one without a mark one more. Some languages ask in two words."""
SAME_FROM = 97.0
"""Likeness (rapidfuzz's ratio) from which two questions with the same numbers and names are one."""
TOO_LONG, NO_SENTENCE, NOT_ABOUT, REPEATED = "too long", "no sentence", "not about the text", "repeated"

_MARK = regex.compile(r"""[?？؟⸮՞፧;]["'”’»」』)\]*_\s]*$""")
_END = regex.compile(r"""[\p{L}\p{N}\p{M}\p{Pe}\p{Pf}\p{STerm}"'”’»%°…]$""")
_GREEK = regex.compile(r"\p{Greek}\s?;$")
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def needed_of(text: str, n: int) -> int:
    """How many usable questions a text needs where n are requested: ENOUGH of n, or of its sentences; at least one.

    A heading or a line of a list with fewer words than a question has is no sentence.
    """
    sentences = sum(count_words(one) > FEWEST_WORDS for one in sentences_of(text))
    return max(1, math.ceil(ENOUGH * min(n, sentences)))


@dataclass(frozen=True)
class TextAskedAbout:
    """A text, prepared for many questions."""

    said: Premise
    language: str | None
    """By its script or stop words; None: not clear."""

    @classmethod
    def of(cls, text: str) -> "TextAskedAbout":
        """Prepare a text."""
        return cls(Premise.of(text), guess_language(text))

    def problem(self, question: str, *, left_open: bool = False) -> str | None:
        """Why these words, on one line, are no question about the text; None: they are one.

        left_open: it is to ask what the text does not say, so that it may share no word with it.
        """
        if not visible(question) or not _is_sentence(question):
            return NO_SENTENCE
        if len(question) > LONGEST_QUESTION:
            return TOO_LONG
        if loops(question):
            return LOOPING
        return None if left_open or self._is_named_in(question) else NOT_ABOUT

    def _is_named_in(self, question: str) -> bool:
        """Whether the question shares a number, a name or a content word with the text, or cannot be compared with it.

        It cannot where the text's language is not known, or where the question's is not the same as far as its stop words
        tell: questions are requested in English, whatever the language of the text.
        """
        asked = Premise.of(question)
        if asked.numbers & self.said.numbers:
            return True
        if any(self.said.has(word) for word in asked.words if word not in _stop_words()):
            return True
        return self.language is None or not _may_be_in(question, self.language)


def is_repeated(question: str, others: Iterable[str]) -> bool:
    """Whether one of the others asks the same, but for case, punctuation, or a letter or two in a long question."""
    plain, content = _plain(question), Content.of(question)
    return any(_plain(other) == plain or _nearly_same(plain, content, other) for other in others)


def shortage(n_listed: int, n_usable: int, needed: int, dropped: Sequence[str]) -> str:
    """What is wrong with a list that holds too few questions, for the model to read. dropped: why others are none."""
    why = ", ".join(f"{dropped.count(reason)} {reason}" for reason in dict.fromkeys(dropped))
    found = f"Of its {n_listed} entries {n_usable} can be used as questions{f' ({why})' if why else ''}."
    wanted = "1 question is" if needed == 1 else f"{needed} different questions are"
    return (
        f"{found} At least {wanted} needed, each a whole sentence about the text, with its names and words."
    )


def shortfalls(records: Sequence[CefRecord], settings: Mapping[str, object]) -> Iterator[Degeneracy]:
    """Sets of questions smaller than ENOUGH of what was requested: few answers decide their scores."""
    requested = settings["n_questions"]
    assert isinstance(requested, int)
    sizes = [
        len(questions)
        for record in records
        for examination in record.examinations
        for side in SIDES
        if (questions := questions_of(examination, side)) is not None
    ]
    small = [size for size in sizes if size < ENOUGH * requested]
    if small:
        sentence = (
            f"Too few questions: {len(small):,} of {len(sizes):,} sets hold fewer than {ENOUGH:.0%} of the {requested} "
            f"requested, the smallest {min(small)}. A single answer decides much of such a score."
        )
        yield Degeneracy("too few", len(small), len(sizes), sentence)


def _is_sentence(question: str) -> bool:
    """Whether it has enough words and ends as a question does, or could end in a question mark."""
    marked = _MARK.search(question) is not None
    if not marked and _END.search(question) is None:
        return False
    if question.endswith(";") and _GREEK.search(question) is None:
        return False
    return count_words(question) >= FEWEST_WORDS + (not marked)


def _may_be_in(question: str, language: str) -> bool:
    """Whether the question has stop words of the language, and of no other language more; or its script."""
    if guess_language(question) == language:
        return True
    words = _WORD.findall(question.casefold())
    hits = {one: sum(word in words_of(one) for word in words) for one in languages()}
    return 0 < hits.get(language, 0) == max(hits.values())


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    """Of all languages: a question may be in any."""
    return frozenset(chain.from_iterable(words_of(one) for one in languages()))


def _plain(question: str) -> str:
    return " ".join(regex.findall(r"[\p{L}\p{M}\p{N}]+", question.casefold()))


def _nearly_same(plain: str, content: Content, other: str) -> bool:
    if fuzz.ratio(plain, _plain(other)) < SAME_FROM:
        return False
    theirs = Content.of(other)
    return set(content.numbers) == set(theirs.numbers) and set(content.names) == set(theirs.names)

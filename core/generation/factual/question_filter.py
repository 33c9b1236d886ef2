"""Spans that share a word with the question are never edited: 003, appendix A, Question-Based Filtering."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from core.diff import tokenize
from core.generation.factual.spans.by_rule import without_function_words
from core.generation.language import UNDETERMINED, base_language, guess_language
from core.generation.records import Dropped, QuestionFilter, Span
from core.generation.stop_words import words_of

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

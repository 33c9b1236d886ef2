"""Do mismatching questions point to marked errors? By shared words: a stand-in for a model, to see how it works.

An error counts as found where one mismatching question shares at least half of its content words. That finds questions
that quote the error and misses all that put it in other words; questions in another language than the text share
names and numbers at most. The rates it gives say nothing about a cross-examination's worth.
"""

from dataclasses import replace

import regex

from core.diff import tokenize
from core.judges.alignment import without_asking
from core.schema.judges import MarkedError, MarkedText

LEAST_SHARED = 0.5
"""Share of an error's content words that one question has to hold."""
NO_CONTENT = "the marked words say too little to be found by words"

_SHORTEST_WORD = 4
_STEM = 5
"""Letters that count of a word: endings differ."""
_ENGLISH = """
    about after also been before being could does doing done each from have having here into itself just like many more
    most much only other over same shall should some such than that their them then there these they this those through
    very were what when where which while will with within without would your text document
"""
_FUNCTION_WORDS = frozenset(_ENGLISH.split())
_ALONE = regex.compile(
    r"[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]\p{M}*"
)


def align_by_words(text: MarkedText) -> MarkedText:
    """The text with every error found or not found by shared words, or without a verdict for a reason.

    Content words are numbers, words of four letters and more that are no English function words (compared by their
    first five letters), and in scripts without spaces pairs of characters.
    """
    questions = [(one.question, content(one.question)) for one in text.mismatches]

    def aligned(error: MarkedError) -> MarkedError:
        if (known := without_asking(text, error)) is not None:
            return known
        wanted = content(error.quote)
        if not wanted:
            return replace(error, found=None, why="", reason=NO_CONTENT)
        n_shared, question = max(
            ((len(wanted & words), question) for question, words in questions), key=lambda pair: pair[0]
        )
        found = n_shared >= LEAST_SHARED * len(wanted)
        said = f"{n_shared} of {len(wanted)} content words stand in: {question}" if n_shared else ""
        return replace(error, found=found, why=said or "no question shares a content word", reason=None)

    return replace(text, errors=tuple(map(aligned, text.errors)))


def content(text: str) -> frozenset[str]:
    """The content words of a text, as they are compared."""
    words: set[str] = set()
    before = ""
    for token in tokenize(text.casefold()):
        if _ALONE.fullmatch(token):
            words |= {before + token} if before else set()
            before = token
            continue
        before = ""
        if any(char.isdigit() for char in token):
            words.add(token)
        elif len(token) >= _SHORTEST_WORD and token[0].isalpha() and token not in _FUNCTION_WORDS:
            words.add(token[:_STEM])
    return frozenset(words)

"""The language and script of a text, from the file's tag or a guess; and whether a text changed those of its reference."""

import unicodedata
from collections import Counter
from functools import lru_cache
from pathlib import Path

import regex

from core.diff import tokenize
from core.schema.study import UNDETERMINED, Material

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "stopwords"


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """Languages with a list of stop words."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


@lru_cache(maxsize=64)
def words_of(language: str) -> frozenset[str]:
    """The stop words of a language; empty for a language without a list."""
    if language not in languages():
        return frozenset()
    lines = (_FOLDER / f"{language}.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


_SCRIPTS = (
    "Latin Cyrillic Greek Arabic Hebrew Devanagari Han Hiragana Katakana Hangul Thai Georgian "
    "Armenian Bengali Gujarati Gurmukhi Kannada Malayalam Oriya Sinhala Tamil Telugu Ethiopic Khmer "
    "Lao Myanmar Tibetan Mongolian Thaana Syriac Cherokee Tifinagh Nko Javanese Bopomofo"
)
SCRIPTS = tuple(_SCRIPTS.split())
"""Unicode's names of scripts; letters of other scripts count as `Other`."""
OTHER = "Other"
JAPANESE = "Japanese"
"""Kana, and Han characters in a text with kana."""
HAN_OR_KANA = "Han or kana"
"""Han and kana as one script, where Chinese and Japanese need no distinction: a Japanese word may have either or both."""
UNSPACED = "".join(
    rf"\p{{scx={script}}}" for script in ("Han", "Hira", "Kana", "Thai", "Lao", "Khmr", "Mymr")
)
"""Scripts written without spaces, for use inside a character class."""
FOREIGN_SHARE = 0.25
"""Least share of a text's letters for a second script to count as one of the text's scripts."""
KANA_SHARE = 0.1
"""Least share of kana among Han and kana for a text to be Japanese; Chinese quotes single kana at most."""
SURELY_CHINESE = 12
"""Number of Han characters without kana that no Japanese text has; fewer may be a Japanese name or noun."""

# In a text in another script, Latin words with a capital or a digit are names: Microsoft, COVID, mRNA.
_LATIN_NAME = regex.compile(
    r"(?<![\p{L}\p{N}])(?=\p{Latin}*[\p{Lu}\p{Nd}])[\p{Latin}\p{Nd}]+(?![\p{L}\p{N}])"
)
_OTHER_LETTER = regex.compile(r"[\p{L}--\p{Latin}--\p{Lm}]", regex.V1)
# Excludes marks such as ー and signs such as µ and 𝐀, which occur in texts in any script.
_LETTER = regex.compile(r"[\p{L}--[\p{Lm}\p{Script=Common}\p{Script=Inherited}]]", regex.V1)
_UNSPACED = regex.compile(rf"[{UNSPACED}]", regex.V1)
_TOGETHER = frozenset({"Han", "Hiragana", "Katakana", "Bopomofo"})


@lru_cache(maxsize=16_384)
def _script_of_letter(letter: str) -> str:
    for name in SCRIPTS:
        if regex.match(rf"\p{{Script={name}}}", letter):
            return name
    return OTHER


def _count_letters(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for letter, times in Counter(_LETTER.findall(text)).items():
        found[_script_of_letter(letter)] += times
    return found


def letters_by_script(text: str) -> Counter[str]:
    """The number of letters in each script; Han and kana together count as Japanese if there are enough kana."""
    found = _count_letters(text)
    kana = found["Hiragana"] + found["Katakana"]
    if kana and kana >= KANA_SHARE * (kana + found["Han"]):
        found[JAPANESE] = kana + found["Han"]
        del found["Hiragana"], found["Katakana"], found["Han"]
    return +found


def script_of(text: str) -> str | None:
    """The script of most letters, such as `Latin`; None if there is no letter, as in "1985"."""
    counts = letters_by_script(text)
    return _most(counts) if counts else None


@lru_cache(maxsize=4096)
def scripts_of(text: str) -> frozenset[str]:
    """The scripts of all letters in a text, with Han and kana as one; empty if it has no letters."""
    return frozenset(HAN_OR_KANA if name in _TOGETHER else name for name in _count_letters(text))


@lru_cache(maxsize=4096)
def main_script(text: str) -> str | None:
    """The script of most letters, with Han and kana as one; None if there are no letters."""
    counts: Counter[str] = Counter()
    for name, times in _count_letters(text).items():
        counts[HAN_OR_KANA if name in _TOGETHER else name] += times
    return _most(counts) if counts else None


def zeros_of(text: str) -> frozenset[int]:
    """The code points of zero for the decimal digits in a text: each script has ten in a row, and ASCII's zero is 0x30."""
    return frozenset(
        ord(char) - unicodedata.decimal(char) for char in text if unicodedata.category(char) == "Nd"
    )


def is_unspaced(text: str) -> bool:
    """Whether most letters of the text are in scripts without spaces between words."""
    return 2 * len(_UNSPACED.findall(text)) > sum(char.isalpha() for char in text)


def count_words(text: str) -> int:
    """The number of words; in scripts without spaces every visible character counts as one."""
    return sum(any(char.isalnum() for char in token) for token in tokenize(text))


def same_text(first: str, second: str) -> bool:
    """Whether two texts are equal to a reader: case, width, spaces and outer punctuation do not count.

    Looser than `core.tables.problems.same_wording`, which distinguishes rows of a file by case and punctuation too.
    """
    return _core(first) == _core(second)


def _core(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    plain = regex.sub(r"\s+|\p{Cf}", " ", folded).strip()
    # A sign before a number is not punctuation: -5 is not 5.
    bare = regex.sub(r"^(?![-+−]\p{N})[^\p{L}\p{N}\p{S}]+|[^\p{L}\p{M}\p{N}\p{S}%‰′″]+$", "", plain)
    return str(bare or plain)


def may_replace(old: str, new: str) -> bool:
    """Whether `new` differs from `old`, is not blank, has one line and uses no script that `old` does not."""
    if not new.strip() or len(new.splitlines()) != 1 or same_text(old, new):
        return False
    before, after = scripts_of(old), scripts_of(new)
    return after <= before and (bool(after) or not before or any(char.isdigit() for char in new))


def same_script(first: str, second: str) -> bool:
    """Whether two texts are in the same script; True if one has no letters.

    Names in Latin letters inside another script are ignored. If the texts' main scripts differ, each must have at least
    a quarter of the letters in both texts. A short text in Han characters may be Chinese or Japanese; a long one without
    kana is Chinese.
    """
    if _agree(letters_by_script(first), letters_by_script(second)):
        return True
    return _agree(letters_by_script(_drop_names(first)), letters_by_script(_drop_names(second)))


def _drop_names(text: str) -> str:
    return _LATIN_NAME.sub("", text) if _OTHER_LETTER.search(text) else text


def _agree(first: Counter[str], second: Counter[str]) -> bool:
    if not first or not second:
        return True
    _read_as_japanese(first, second)
    _read_as_japanese(second, first)
    return all(
        one[name] >= FOREIGN_SHARE * one.total()
        for one in (first, second)
        for name in (_most(first), _most(second))
    )


def _read_as_japanese(one: Counter[str], other: Counter[str]) -> None:
    """Count a few Han characters as Japanese if the other text is Japanese."""
    if other[JAPANESE] and 0 < one["Han"] < SURELY_CHINESE:
        one[JAPANESE] += one.pop("Han")


def _most(counts: Counter[str]) -> str:
    return max(sorted(counts), key=counts.__getitem__)


_BY_SCRIPT = (
    (r"[\p{Hiragana}\p{Katakana}]", "ja"),
    (r"\p{Hangul}", "ko"),
    (r"\p{Han}", "zh"),
    (r"\p{Thai}", "th"),
    (r"\p{Hebrew}", "he"),
    (r"\p{Arabic}", "ar"),
    (r"\p{Devanagari}", "hi"),
    (r"\p{Greek}", "el"),
)
_LETTERS_WANTED = 0.3
"""Least share of a text's letters for a script to decide the language; a quoted name is no evidence."""


def base_language(tag: str) -> str:
    """The language of a tag without its region: `de` for `de-AT`."""
    return tag.replace("_", "-").split("-")[0].casefold()


def known_language(tag: str, text: str) -> str:
    """The tag without its region; for `und`, a guess from the text, or `und`."""
    base = base_language(tag)
    return base if base != UNDETERMINED else guess_language(text) or UNDETERMINED


def language_of(material: Material) -> str:
    """The item's language, guessed from question and reference if the file names none."""
    item = material.item
    return known_language(item.language, f"{item.question} {item.reference}")


@lru_cache(maxsize=4096)
def guess_language(text: str) -> str | None:
    """Guess a text's language by its script or, in Latin and Cyrillic, by stop words; None without evidence or on a tie."""
    letters = len(regex.findall(r"\p{L}", text))
    for script, language in _BY_SCRIPT:
        if letters and len(regex.findall(script, text)) >= _LETTERS_WANTED * letters:
            return language
    counts = Counter(regex.findall(r"[\p{L}\p{M}]+", text.casefold()))
    scores: dict[str, int] = {}
    for language in languages():
        words = words_of(language)
        scores[language] = sum(count for word, count in counts.items() if word in words)
    ranked = sorted(scores.values(), reverse=True)
    if not ranked or ranked[0] == 0 or ranked[0] == ranked[1]:
        return None
    return max(scores, key=lambda language: scores[language])


LEAST_WORDS = 8
"""Least words of a text; a shorter one may be a list of names."""
LEAST_SHARE = 0.15
"""Least share of stop words in the reference; with fewer, its language does not show."""
LEAST_HITS = 3
"""Least stop words of the other language; two may be chance, as `in` and `die` are English too."""
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def language_change(language: str, reference: str, text: str) -> str | None:
    """The language that the text seems to be in instead of the reference's; None without clear evidence.

    The text must have less than a third of the reference's share of its stop words. Of the other language's stop words
    it must have more than twice as many, at a share of at least two thirds of the reference's.
    """
    own, there, here = words_of(language), _words(reference), _words(text)
    if not own or len(here) < LEAST_WORDS or not there:
        return None
    usual, kept = _hits(there, own), _hits(here, own)
    if usual < LEAST_SHARE * len(there) or 3 * kept * len(there) >= usual * len(here):
        return None
    hits = {
        other: _hits(here, words_of(other)) for other in _script_languages(main_script(reference), language)
    }
    other = max(hits, key=hits.__getitem__, default=None)
    if other is None or hits[other] < max(LEAST_HITS, 2 * kept + 1):
        return None
    return other if 3 * hits[other] * len(there) >= 2 * usual * len(here) else None


def _words(text: str) -> list[str]:
    found: list[str] = _WORD.findall(text.casefold())
    return found


def _hits(words: list[str], stop_words: frozenset[str]) -> int:
    return sum(word in stop_words for word in words)


@lru_cache(maxsize=256)
def _script_languages(script: str | None, but: str) -> tuple[str, ...]:
    """Languages whose stop words are in a script, except one. but: the language to leave out."""
    return tuple(
        other
        for other in languages()
        if other != but and main_script(" ".join(sorted(words_of(other)))) == script
    )

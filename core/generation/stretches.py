"""What a stretch of text is - a date, a quantity, a name - told by its form: one place for spans and rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import regex

from core.generation import lists as vocabulary
from core.generation.language import UNSPACED, base_language, words_of
from core.generation.lists import OPENERS, gazetteer, month_forms

_NEAR = 60
"""Characters looked at on either side: a whole long text for every word would take too long."""
_SENTENCE_START = regex.compile(r"(?:^|[.!?…:。！？؟।]\s*|[\n\r]\s*)[\"'“”„«»(\[¿¡\s]*$")
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_NOUN_ENDING = regex.compile(
    r"(?:tion|sion|ment|ness|ity|ism|logy|phy|cist|gist|nomer)s?$|(?:ers|ors|ants|ists|ians|ies|ics)$"
)
_ADJECTIVE_ENDING = regex.compile(r"\p{Ll}{3}(?:ly|able|ible|ical|onal|ful|less|ous|ive|nent)$")
_PARTICIPLE = regex.compile(r"\p{L}{2,}(?:ed|ing)$")
_VERB_FOLLOWS = regex.compile(
    r"(?:['’]s\b|,?\s+(?:is|was|has|had|does|did|can|could|will|would|may|might)\b)"
)
_PLURAL = regex.compile(r"\p{L}{3,}(?<![sui])s$")
_AFTER_PLURAL = regex.compile(r"\s+(?:are|were|have|do|for|of|with|without|between|that|which)\b")


def opens_sentence(text: str, at: int) -> bool:
    """Whether a word at this place has its capital from the place alone."""
    return _SENTENCE_START.search(text[max(0, at - _NEAR) : at]) is not None


def is_ordinary_opener(text: str, start: int, end: int, language: str) -> bool:
    """Whether the single word that opens a sentence there is an ordinary word of the language, not a name.

    A word that has its capital inside a sentence too is a name, and so is one that the gazetteers list as a
    name. A word in small letters elsewhere, or of the lists' terms and opposites, is none. What remains is
    told by its form, in English alone; in other languages it counts as a name.
    """
    word, tag = text[start:end], base_language(language)
    tag = "en" if tag == "und" else tag
    entries = gazetteer(tag).entries.get(word, ())
    inside = _words_inside(text)
    if word in inside or any(entry.kind == "name" for entry in entries):
        return False
    folded = word[:1].lower() + word[1:]
    if entries or folded in words_of(tag) or folded in inside:
        return True
    return tag == "en" and (folded in OPENERS or _looks_ordinary(folded, text[end : end + _NEAR]))


@lru_cache(maxsize=8)
def _words_inside(text: str) -> frozenset[str]:
    """The words as they are written where no sentence begins; read once, for a text may have many openers."""
    return frozenset(
        match.group() for match in _WORD.finditer(text) if not opens_sentence(text, match.start())
    )


def _looks_ordinary(word: str, after: str) -> bool:
    """By the ending, and by what follows: `Kipling was` has a subject, `Measuring about` has none yet."""
    if _NOUN_ENDING.search(word) or _ADJECTIVE_ENDING.search(word):
        return True
    if _PARTICIPLE.search(word):
        return _VERB_FOLLOWS.match(after) is None
    return _PLURAL.search(word) is not None and _AFTER_PLURAL.match(after) is not None


Kind = Literal[
    "number",
    "quantity",
    "percent",
    "money",
    "date",
    "year",
    "time",
    "ordinal",
    "name",
    "acronym",
    "title",
    "hedge",
    "antonym",
    "term",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_SPACED = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]"
_BLANK = r"[ \u00a0\u202f]"
_LEFT, _RIGHT = rf"(?<!{_SPACED})", rf"(?!{_SPACED})"
_SIGN = r"(?:(?<![\p{L}\p{N}])[-−+])?"
NUMBER = r"(?:\p{Nd}{1,3}(?:[.,٬'’\u00a0\u202f]\p{Nd}{3})+(?:[.,٫]\p{Nd}+)?|\p{Nd}+(?:[.,٫]\p{Nd}+)?)"
"""A number in digits of any script, with separators."""
_PER = r"\b(?:per|a|one|each|every)"
"""Before `second`, these make it a unit."""
_YEAR = r"(?:1[0-9]|20)[0-9]{2}"
_ERA = rf"(?:{_BLANK}(?:BCE?|CE|AD|v\. Chr\.|n\. Chr\.|av\. J\.-C\.|a\. C\.|до н\. э\.))"
_NUMERALS = r"[〇一二三四五六七八九十百千]"


@dataclass(frozen=True)
class Match:
    """A typed stretch of a text."""

    start: int
    end: int
    """Exclusive."""
    kind: Kind


def _any(words: str | list[str] | tuple[str, ...]) -> str:
    """One alternative of them all, the longest first."""
    items = words.split() if isinstance(words, str) else list(words)
    return "(?:" + "|".join(sorted(items, key=lambda word: (-len(word), word))) + ")"


def _listed(lists: dict[str, str], language: str) -> str:
    """The language's words; a language without a list has none, `und` has the English."""
    words = lists.get("en" if language == "und" else language, "")
    return _any([regex.escape(word).replace("_", " ") for word in words.split()]) if words else r"(?!)"


def _unit(language: str) -> str:
    words = vocabulary.UNIT_WORDS.get(language, "") + " " + vocabulary.UNIT_WORDS["en"]
    symbols = _any([regex.escape(symbol) for symbol in vocabulary.UNIT_SYMBOLS])
    return rf"(?:(?:(?:square|cubic|light){_BLANK})?{_any(words)}|{symbols})"


def _month(language: str) -> str:
    # `Jan` may be anybody; `мая`, `Mai` and the like are whole names of their month.
    whole = {row[0] for tag in (language, "en") for row in vocabulary.MONTHS.get(tag, ())}
    full = [form for tag in (language, "en") for form in month_forms(tag) if len(form) > 3 or form in whole]
    prefix = "[ובלמה]?" if language == "he" else ""
    return prefix + _any([*map(regex.escape, full), *(rf"{row[0][:3]}\." for row in vocabulary.MONTHS["en"])])


def _dates(language: str) -> str:
    month, day = _month(language), r"\p{Nd}{1,2}"
    of = rf"(?:{_BLANK}(?:de|d'|of|ค\.ศ\.|พ\.ศ\.))?"
    end = rf"(?:{of},?{_BLANK}\p{{Nd}}{{4}})?"
    return "|".join(
        (
            rf"{_LEFT}{day}(?:st|nd|rd|th|er|\.|º)?{of}{_BLANK}{month}{end}{_RIGHT}",
            rf"{_LEFT}{month}{_BLANK}{day}(?:st|nd|rd|th)?(?!\p{{Nd}})(?:,?{_BLANK}\p{{Nd}}{{4}})?{_RIGHT}",
            rf"{_LEFT}{month}{of}{_BLANK}\p{{Nd}}{{4}}{_RIGHT}",
            r"(?<!\p{Nd})\p{Nd}{4}年(?:\p{Nd}{1,2}月(?:\p{Nd}{1,2}日)?)",
            r"(?<!\p{Nd})\p{Nd}{1,2}月\p{Nd}{1,2}日",
            r"(?<!\p{Nd})(?:\p{Nd}{4}년 ?)?\p{Nd}{1,2}월(?: ?\p{Nd}{1,2}일)?",
            rf"{_LEFT}\p{{Nd}}{{4}}-\p{{Nd}}{{2}}-\p{{Nd}}{{2}}{_RIGHT}",
            rf"{_LEFT}{day}([./])\p{{Nd}}{{1,2}}\1\p{{Nd}}{{4}}{_RIGHT}",
            rf"{_LEFT}(?!(?:May|March|Mars|Mai){_RIGHT})(?=\p{{Lu}}){_month(language)}(?<!\.){_RIGHT}",
        )
    )


def _quantities(language: str) -> str:
    number = rf"(?:{NUMBER}|{_listed(vocabulary.NUMBER_WORDS, language)})"
    scale = rf"(?:{_BLANK}?{_any(vocabulary.SCALES)})"
    ranged = rf"(?:(?:[-–]|{_BLANK}(?:to|bis|à|a|до){_BLANK}){NUMBER})?"
    more = rf"(?:{_BLANK}{number}{_BLANK}?{_unit(language)}{_RIGHT}){{0,3}}"
    unspaced = rf"(?:{NUMBER}|{_NUMERALS}+)[万億亿兆千百만억천백]*{_BLANK}?{_any(_east(language))}"
    return "|".join(
        (
            # "2 hours 58 minutes 50 seconds" is one quantity.
            rf"{_LEFT}{_SIGN}{number}{ranged}{scale}?[{_BLANK[1:-1]}-]?{_unit(language)}{_RIGHT}{more}",
            rf"{_LEFT}{_SIGN}{NUMBER}{ranged}{scale}{_RIGHT}",
            rf"(?<!\p{{Nd}}[.,]?){unspaced}" if _east(language) else r"(?!)",
            r"(?<!\p{Nd}[.,]?)\p{Nd}++(?:[.,]\p{Nd}+)*[万億亿兆만억]",
        )
    )


def _east(language: str) -> list[str]:
    """Units that follow a number at once, in scripts without spaces and in Korean."""
    return vocabulary.UNIT_WORDS[language].split() if language in ("ja", "zh", "ko", "th") else []


_CAPITAL = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’\-][\p{L}\p{M}\p{N}]+)*"
_JOIN = r"(?:of|of the|the|de|de la|de los|du|des|di|da|do|dos|del|della|von|van|van der|van den|der|zu|al|el|bin|ibn|и|і)"
_NAME = rf"{_LEFT}{_CAPITAL}(?:{_BLANK}(?:{_JOIN}{_BLANK})?{_CAPITAL})*{_RIGHT}"
_ACRONYM = rf"{_LEFT}\p{{Lu}}[\p{{Lu}}\p{{N}}]{{1,9}}(?:-\p{{N}}+)?s?{_RIGHT}"
_QUOTES = ("“”", "„“", "„”", "«»", "»«", "‹›", "「」", "『』", "《》", '""')


@lru_cache(maxsize=64)
def patterns(language: str) -> tuple[tuple[Kind, "regex.Pattern[str]"], ...]:
    """Patterns of the kinds, those that win over others first; a language without lists gets what has no words."""
    tag = base_language(language)
    ordinals = _any(vocabulary.ORDINAL_WORDS.get("en" if tag == "und" else tag, "(?!)"))
    money = rf"[$€£¥₹₽₴₺₩]{_BLANK}?{NUMBER}(?:{_BLANK}?{_any(vocabulary.SCALES)})?"
    coins = "(?:dollars?|euros?|pounds|yen|rubles?|roubles?|rupees|USD|EUR|GBP|Euro|рублей|рубля|гривень|円|元|원|ドル|ユーロ|ポンド|美元|欧元|달러|[€$£₽₴₺])"
    percent = r"(?:%|٪|％|per cent|percent|percentage points|Prozent|pour cent|por ciento|por cento|per cento|procent\p{L}*|процент\p{L}*)"
    sources: tuple[tuple[Kind, str], ...] = (
        ("title", "|".join(_quoted(pair) for pair in _QUOTES)),
        ("date", _dates(tag)),
        (
            "time",
            rf"{_LEFT}\p{{Nd}}{{1,2}}:\p{{Nd}}{{2}}(?::\p{{Nd}}{{2}})?(?:{_BLANK}?[ap]\.?m\.?|{_BLANK}Uhr)?{_RIGHT}",
        ),
        (
            "time",
            rf"{_LEFT}\p{{Nd}}{{1,2}}(?:{_BLANK}?[ap]\.?m\.|{_BLANK}?[ap]m|{_BLANK}Uhr|[時时](?!間|间)){_RIGHT}",
        ),
        ("percent", rf"{_LEFT}{_SIGN}{NUMBER}{_BLANK}?{percent}{_RIGHT}"),
        (
            "money",
            rf"{money}|{_LEFT}{NUMBER}(?:{_BLANK}?{_any([*vocabulary.SCALES, '万', '億', '亿', '兆'])})?{_BLANK}?{coins}{_RIGHT}",
        ),
        (
            "year",
            rf"{_LEFT}{_YEAR}s?{_ERA}?{_RIGHT}(?!{_BLANK}(?!год|рок){_unit(tag)}{_RIGHT})|(?<!\p{{Nd}})\p{{Nd}}{{4}}[年년]|{_LEFT}[١٢][٠-٩]{{3}}{_RIGHT}",
        ),
        ("year", rf"{_LEFT}\p{{Nd}}{{1,4}}{_ERA}"),
        ("quantity", _quantities(tag)),
        (
            "ordinal",
            rf"{_LEFT}\p{{Nd}}+(?:st|nd|rd|th|er|ère|e|ème|º|ª|-[йяегомх]{{1,3}}){_RIGHT}|{_LEFT}\p{{Nd}}{{1,2}}\.(?={_BLANK}Jahr(?:hundert|tausend))|第(?:\p{{Nd}}|{_NUMERALS})+",
        ),
        ("ordinal", rf"{_LEFT}(?<!{_PER}{_BLANK})(?i:{ordinals}){_RIGHT}"),
        ("number", rf"{_LEFT}{_SIGN}{NUMBER}{_RIGHT}"),
        ("number", rf"{_LEFT}{vocabulary.fraction_pattern('en' if tag == 'und' else tag)}{_RIGHT}"),
        ("number", rf"{_LEFT}(?i:{_listed(vocabulary.NUMBER_WORDS, tag)}){_RIGHT}"),
        ("hedge", rf"{_LEFT}(?i:{_listed(vocabulary.HEDGES, tag)}){_RIGHT}|[约約](?=\p{{Nd}})"),
        # "II" of "World War II" is part of a name.
        ("acronym", rf"(?!(?<={_CAPITAL}{_BLANK})[IVX]+{_RIGHT}){_ACRONYM}(?!{_BLANK}{_CAPITAL})"),
        ("name", _NAME),
        ("antonym", rf"{_LEFT}(?i:{_listed(vocabulary.ANTONYMS, tag)}){_RIGHT}"),
    )
    return tuple((kind, regex.compile(source, regex.V1 | regex.M)) for kind, source in sources)


def _quoted(pair: str) -> str:
    first, last = regex.escape(pair[0]), regex.escape(pair[1])
    inside = rf"[^\n\r{first}{last}]"
    if first == last:  # consumed with its marks: the blank between two titles stands between marks too
        return rf"{first}(?P<inside>{inside}{{1,80}}){last}"
    return rf"(?<={first})(?={inside}*\p{{L}}){inside}{{1,80}}(?={last})"


def typed_matches(text: str, language: str) -> Iterator[Match]:
    """Every match of every pattern, stronger kinds first; matches may overlap."""
    for kind, pattern in patterns(language):
        for found in pattern.finditer(text):
            group = "inside" if found.groupdict().get("inside") else 0
            match = Match(found.start(group), found.end(group), kind)
            if kind == "name":
                match = _bare_name(text, match, language)
            if match.end > match.start:
                yield match


def _bare_name(text: str, name: Match, language: str) -> Match:
    """Without the article or opener in front and the possessive behind: `The Huygens`, `Schiller's`."""
    tag = base_language(language)
    start, end = name.start, name.end
    while first := regex.match(r"[\p{L}\p{M}]+", text, pos=start, endpos=end):
        word = first.group().casefold()
        if word not in words_of("en" if tag == "und" else tag) and not (
            tag in ("en", "und") and word in OPENERS
        ):
            break
        rest = regex.compile(r"[^\p{L}\p{N}]*").match(text, first.end(), end)
        start = rest.end() if rest else end
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    return Match(start, max(start, end), "name")


def best_matches(text: str, language: str) -> tuple[Match, ...]:
    """The matches without overlap, in the order of the text: a stronger kind wins."""
    taken = bytearray(len(text))
    chosen = []
    for match in typed_matches(text, language):
        if not any(taken[match.start : match.end]):
            taken[match.start : match.end] = b"\x01" * (match.end - match.start)
            chosen.append(match)
    return tuple(sorted(chosen, key=lambda match: match.start))


def classify(text: str, language: str) -> Kind:
    """The kind of a span: of the whole text, else of the strongest typed stretch in it, else `term`.

    `in 1655` is a year, `the largest moon` an antonym; best_matches says where in the text the stretch is.
    A single word with a capital is a name, except in German, where every noun has one.
    """
    text = text.strip()
    for match in typed_matches(text, language):
        if (match.start, match.end) == (0, len(text)):
            return _not_every_noun(match.kind, text, language)
    for match in typed_matches(text, language):
        return _not_every_noun(match.kind, text[match.start : match.end], language)
    return "term"


def _not_every_noun(kind: Kind, text: str, language: str) -> Kind:
    return "term" if kind == "name" and base_language(language) == "de" and " " not in text else kind

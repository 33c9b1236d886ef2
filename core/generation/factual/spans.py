"""Find the spans of A0 that may contain a fact, and their kinds: by dependency parse if available, else by form and phrase."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

import regex

from core.generation import lists as vocabulary
from core.generation.facts import NEAR, Pool, content_words, find_facts, keeps_boundaries, opens_sentence
from core.generation.language import UNSPACED, base_language, known_language, words_of
from core.generation.lists import ENGLISH, OPENERS, gazetteer, month_forms
from core.generation.parse import Parsers, Span, longest_apart
from core.generation.replacing import fits
from core.installation import set_up

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


def is_ordinary_opener(text: str, start: int, end: int, language: str) -> bool:
    """Whether the single word that begins a sentence there is an ordinary word of the language, not a name.

    A word that is also capitalised inside a sentence, or that the gazetteers list as a name, is a name. A word that
    occurs in lower case, or that is a term or antonym in the lists, is not. For other words the form decides in English;
    in other languages they count as names.
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
    return tag == "en" and (folded in OPENERS or _looks_ordinary(folded, text[end : end + NEAR]))


@lru_cache(maxsize=8)
def _words_inside(text: str) -> frozenset[str]:
    """The words of a text that do not begin a sentence, as written. Cached, because a text may have many openers."""
    return frozenset(
        match.group() for match in _WORD.finditer(text) if not opens_sentence(text, match.start())
    )


def _looks_ordinary(word: str, after: str) -> bool:
    """Whether a word looks ordinary by its ending and what follows: `Kipling was` has a subject, `Measuring about` not."""
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
"""Words that make a following `second` a unit."""
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
    """A pattern of alternatives, longest first."""
    items = words.split() if isinstance(words, str) else list(words)
    return "(?:" + "|".join(sorted(items, key=lambda word: (-len(word), word))) + ")"


def _listed(lists: dict[str, str], language: str) -> str:
    """A pattern of the language's words, which never matches if it has no list; `und` uses English."""
    words = lists.get("en" if language == "und" else language, "")
    return _any([regex.escape(word).replace("_", " ") for word in words.split()]) if words else r"(?!)"


def _unit(language: str) -> str:
    words = vocabulary.UNIT_WORDS.get(language, "") + " " + vocabulary.UNIT_WORDS["en"]
    symbols = _any([regex.escape(symbol) for symbol in vocabulary.UNIT_SYMBOLS])
    return rf"(?:(?:(?:square|cubic|light){_BLANK})?{_any(words)}|{symbols})"


def _month(language: str) -> str:
    # `Jan` may be a person's name; `мая`, `Mai` and the like are full names of months.
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
    """Units that follow a number without a space, in scripts without spaces and in Korean."""
    return vocabulary.UNIT_WORDS[language].split() if language in ("ja", "zh", "ko", "th") else []


_CAPITAL = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’\-][\p{L}\p{M}\p{N}]+)*"
_JOIN = r"(?:of|of the|the|de|de la|de los|du|des|di|da|do|dos|del|della|von|van|van der|van den|der|zu|al|el|bin|ibn|и|і)"
_NAME = rf"{_LEFT}{_CAPITAL}(?:{_BLANK}(?:{_JOIN}{_BLANK})?{_CAPITAL})*{_RIGHT}"
_ACRONYM = rf"{_LEFT}\p{{Lu}}[\p{{Lu}}\p{{N}}]{{1,9}}(?:-\p{{N}}+)?s?{_RIGHT}"
_QUOTES = ("“”", "„“", "„”", "«»", "»«", "‹›", "「」", "『』", "《》", '""')


@lru_cache(maxsize=64)
def patterns(language: str) -> tuple[tuple[Kind, "regex.Pattern[str]"], ...]:
    """Patterns of the kinds, strongest first; a language without lists gets only patterns without words."""
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
    if first == last:  # consume the marks too: the space between two titles is also between marks
        return rf"{first}(?P<inside>{inside}{{1,80}}){last}"
    return rf"(?<={first})(?={inside}*\p{{L}}){inside}{{1,80}}(?={last})"


def typed_matches(text: str, language: str) -> Iterator[Match]:
    """Yield every match of every pattern, stronger kinds first; matches may overlap."""
    for kind, pattern in patterns(language):
        for found in pattern.finditer(text):
            group = "inside" if found.groupdict().get("inside") else 0
            match = Match(found.start(group), found.end(group), kind)
            if kind == "name":
                match = _bare_name(text, match, language)
            if match.end > match.start:
                yield match


def _bare_name(text: str, name: Match, language: str) -> Match:
    """The name without a leading article or opener and without a possessive ending: `The Huygens`, `Schiller's`."""
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
    """The matches without overlaps, in the order of the text; stronger kinds win."""
    taken = bytearray(len(text))
    chosen = []
    for match in typed_matches(text, language):
        if not any(taken[match.start : match.end]):
            taken[match.start : match.end] = b"\x01" * (match.end - match.start)
            chosen.append(match)
    return tuple(sorted(chosen, key=lambda match: match.start))


def classify(text: str, language: str) -> Kind:
    """The kind of a span: of the whole text, else of the strongest typed stretch in it, else `term`.

    `in 1655` is a year, `the largest moon` an antonym; best_matches gives the place of the stretch. A single capitalised
    word is a name, except in German, where every noun is capitalised.
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


_DETERMINERS = ENGLISH["determiners"]
_PREPOSITIONS = ENGLISH["prepositions"]
_AUXILIARIES = ENGLISH["auxiliaries"]
_CLAUSE_OPENERS = ENGLISH["clause_openers"]
_PRONOUNS = ENGLISH["pronouns"]
_CONJUNCTIONS = ENGLISH["conjunctions"]
_ADVERBS = ENGLISH["adverbs"]
_FUNCTION_WORDS = (
    _DETERMINERS | _PREPOSITIONS | _AUXILIARIES | _CLAUSE_OPENERS | _PRONOUNS | _CONJUNCTIONS | _ADVERBS
)
_ABOUT = ENGLISH["about"]
"""Words before a number that belong to its quantity."""
_NUMBERS = frozenset({"number", "quantity", "percent", "money", "date", "year", "time", "ordinal"})
_COMPLETE = frozenset({"quantity", "percent", "money", "date", "time"})
"""Kinds of numbers with their unit: `40 metres` in `40 metres high`."""
_ADVERB_ENDING = regex.compile(r"\p{L}{3,}ly")
_TOKEN = regex.compile(
    r"(?:\p{Lu}\.){2,}|(?:St|Dr|Mrs?|Ms|Prof|Jr|Sr|vs|e\.g|i\.e)\.|\p{L}[\p{L}\p{M}\p{N}₀-₉]*(?:[-–'’/][\p{L}\p{N}][\p{L}\p{M}\p{N}₀-₉]*)*|\p{N}[\p{L}\p{N}.,₀-₉]*[\p{L}\p{N}₀-₉]|\p{N}|[^\s]"
)
_SENTENCE_END = frozenset(".!?;:。")


@dataclass(frozen=True)
class _Word:
    start: int
    end: int
    low: str
    kind: str = ""
    """Its kind, if it is a typed stretch."""


@lru_cache(maxsize=1)
def _verb_forms() -> frozenset[str]:
    forms = set(_PAST_FORMS)
    for verb in ENGLISH["verbs"]:
        stem = verb.removesuffix("e")
        if verb.endswith("y") and verb[-2] not in "aeiou":
            forms |= {verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"}
            continue
        third = f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "go", "do")) else f"{verb}s"
        forms |= {verb, third, f"{stem}ed", f"{stem}ing", f"{stem}{verb[-1]}ed", f"{stem}{verb[-1]}ing"}
    return frozenset(forms)


def _words(text: str, typed: Sequence[Span]) -> list[_Word]:
    words: list[_Word] = []
    at = 0
    for stretch in (*typed, Span(len(text), len(text), "", "")):
        for found in _TOKEN.finditer(text, at, stretch.start):
            words.append(_Word(found.start(), found.end(), found.group().lower().replace("’", "'")))
        if stretch.end > stretch.start:
            words.append(_Word(stretch.start, stretch.end, stretch.text.lower(), stretch.kind))
        at = stretch.end
    return words


@dataclass
class _Reading:
    """The state while a text is read from left to right."""

    words: list[_Word]
    objects: list[tuple[int, int]] = field(default_factory=list)
    subjects: list[tuple[int, int]] = field(default_factory=list)
    subject: int | None = 0
    """First word of the current subject; None after its verb."""
    introducing: bool = False
    """Whether a phrase comes before the subject: `In 1809, ...`."""
    behind: bool = False
    """Whether the previous word was a verb or preposition, or joins the next word to such a phrase."""
    joined: bool = False
    """Whether a comma or conjunction follows a phrase that was taken."""

    def read(self) -> None:
        at = 0
        while at < len(self.words):
            at = self._step(at)
            if at == len(self.words):
                at = self._without_verb(at) or at
        self._end_subject(len(self.words))

    def _step(self, at: int) -> int:
        word = self.words[at]
        low = word.low
        if low in _SENTENCE_END and not word.kind:
            if (again := self._without_verb(at)) is not None:
                return again
            self._begin(at + 1)
        elif self._is_adverb(at) and not (self.subject == at and self._is_content(at + 1)):
            if low in ENGLISH["spoken"] or _ADVERB_ENDING.fullmatch(low):
                self.objects.append((word.start, word.end))
                if self.subject == at:
                    self.subject = at + 1
        elif low == "," and (self.introducing or self.subject == at):
            self._after_opening(at + 1)
        elif low == "," or low in _CONJUNCTIONS:
            if self.subject is None:
                self.joined, self.behind = True, False
        elif low in _CLAUSE_OPENERS and not word.kind and not self._as_preposition(at):
            self._begin(at + 1)
        elif self._is_verb(at, inside=self._is_content(at - 1)):
            self._end_subject(at)
            self.behind, self.joined = True, False
        elif self._is_preposition(at):
            self._preposition(at)
        elif low in _PRONOUNS and not self._is_content(at + 1):
            if self.joined or self.introducing:
                self._begin(at)
            self.behind = self.joined = False
        elif self._is_content(at) or low in _DETERMINERS:
            return self._phrase(at)
        else:
            self.behind = False
        return at + 1

    def _after_opening(self, at: int) -> None:
        """Go on behind a comma that ends an opening phrase, or stands where the subject would begin."""
        if self.introducing:
            self._begin(at)
        else:
            self.subject = at

    def _preposition(self, at: int) -> None:
        """Take a preposition. Where a subject would begin, it opens a phrase before the subject."""
        if self.subject == at:
            self._end_subject(at)
            self.introducing = True
        self.behind, self.joined = self.subject is None, False

    def _begin(self, at: int) -> None:
        """Begin a clause, with its subject."""
        self._end_subject(at)
        self.subject, self.introducing, self.behind, self.joined = at, False, False, False

    def _without_verb(self, at: int) -> int | None:
        """The position to continue from if a sentence has no verb: after its first phrase, which is the subject."""
        if self.subject is None or self.subject >= at:
            return None
        end = min(self._phrase_end(self.subject), at)
        self._end_subject(end)
        return end

    def _end_subject(self, at: int) -> None:
        if self.subject is not None and self.subject < at:
            last = min(at, len(self.words)) - 1
            self.subjects.append((self.words[self.subject].start, self.words[last].end))
        self.subject = None

    def _phrase(self, at: int) -> int:
        """Take the phrase that begins here, unless it is a subject; return its end."""
        end = self._phrase_end(at)
        if self.subject is not None:
            return end
        clause = (self.joined or (self.introducing and not self.behind)) and self._finite(end)
        if clause or (self.introducing and not self.behind and not self.joined):
            self._begin(at)
            return end
        if self.behind or self.joined or self.words[at].low in _DETERMINERS:
            self.objects.append((self.words[at].start, self.words[end - 1].end))
        self.behind = self.joined = False
        return end

    def _phrase_end(self, at: int) -> int:
        end = at
        while end < len(self.words) and (
            self.words[end].low in _DETERMINERS or (self.words[end].low in _ABOUT and self._counts(end))
        ):
            end += 1
        if end > at and self._is_adverb(end) and self._is_content(end + 1):
            end += 1  # "a highly effective method"
        first = end
        while self._is_content(end) and not (end > first and self._is_verb(end, inside=True)):
            end += 1
            if self.words[end - 1].kind in _COMPLETE:
                break
        return max(end, at + 1)

    def _counts(self, at: int) -> bool:
        """Whether a number follows, directly or after another such word."""
        following = self.words[at + 1 : at + 3]
        numbers = [word.kind in _NUMBERS for word in following]
        return bool(following) and (numbers[0] or (following[0].low in _ABOUT and any(numbers)))

    def _finite(self, at: int) -> bool:
        """Whether a verb that needs a subject is here, perhaps after an adverb."""
        while at < len(self.words) and self._is_adverb(at):
            at += 1
        return (
            at < len(self.words) and self._is_verb(at, inside=True) and not self.words[at].low.endswith("ing")
        )

    def _low(self, at: int) -> str:
        return self.words[at].low if 0 <= at < len(self.words) else ""

    def _is_adverb(self, at: int) -> bool:
        if not 0 <= at < len(self.words) or self.words[at].kind not in ("", "hedge", "antonym"):
            return False
        low = self.words[at].low
        if low in _ABOUT and self._counts(at):
            return False
        return low in _ADVERBS or (low not in ENGLISH["no_adverbs"] and bool(_ADVERB_ENDING.fullmatch(low)))

    def _is_preposition(self, at: int) -> bool:
        return self._low(at) in _PREPOSITIONS and not (self._low(at) in _ABOUT and self._counts(at))

    def _as_preposition(self, at: int) -> bool:
        """Whether a clause opener is a preposition here, as in `since 1900`."""
        low = self._low(at)
        if low in ("since", "until", "once"):
            return at + 1 < len(self.words) and self.words[at + 1].kind in _NUMBERS
        return False

    def _is_content(self, at: int) -> bool:
        if not 0 <= at < len(self.words):
            return False
        word = self.words[at]
        if word.kind not in ("", "hedge", "antonym"):
            return True
        low = word.low
        if low in _ABOUT and self._counts(at):
            return True
        return low[:1].isalnum() and low not in _FUNCTION_WORDS and not self._is_adverb(at)

    def _is_verb(self, at: int, *, inside: bool = False) -> bool:
        """Whether a word is a verb, by form and neighbours: not `imported` in `the imported goods` or `needs` in `human needs are`.

        inside: whether words of the same phrase come before it.
        """
        low, before, after = self._low(at), self._low(at - 1), self._low(at + 1)
        if self.words[at].kind not in ("", "antonym", "hedge"):
            return False
        if low in _AUXILIARIES:
            return True
        if before in _DETERMINERS and not (at == self.subject and before in _CLAUSE_OPENERS):
            return before in ("this", "that") and low in _verb_forms() and low.endswith("s")
        object_follows = after in _DETERMINERS or after in _PRONOUNS or self._counted(at + 1)
        if not inside and (before in ENGLISH["modals"] or (before == "to" and object_follows)):
            return True
        if not inside and before in ENGLISH["subject_pronouns"] and self._is_content(at):
            return True
        past = low in _PAST_FORMS or bool(regex.fullmatch(r"\p{L}{2,}ed", low))
        if not past and low not in _verb_forms() and not _VERB_ENDING.fullmatch(low):
            # A word in -s before an article is a verb: "denotes a group".
            return self.subject is not None and low.endswith("s") and after in _DETERMINERS and inside
        if after in _AUXILIARIES and not low.endswith("ing"):
            return False
        if before in ("which", "that", "who") and at == self.subject:
            return self._is_content(at + 1) or object_follows or self._is_preposition(at + 1)
        if before in _AUXILIARIES or before == "to" or before in _PRONOUNS:
            return not self._counts(at - 1)
        if low.endswith("ing"):
            governs = object_follows or self._is_preposition(at + 1)
            return governs or (not inside and self._is_content(at + 1))
        if past:
            if self.joined and low in _PAST_FORMS and not low.endswith("n"):
                return True
            return inside or not self._is_content(at + 1)
        if self.subject is None:
            return (
                self.joined
                and not inside
                and low.endswith("s")
                and (object_follows or self._is_content(at + 1))
            )
        return inside or self._is_adverb(at - 1)

    def _counted(self, at: int) -> bool:
        return at < len(self.words) and self.words[at].kind in _NUMBERS


_VERB_ENDING = regex.compile(r"\p{L}{3,}(?:[iy][sz]es|ifies|ing)")
_PAST_FORMS = ENGLISH["past"] | ENGLISH["participles"]
DEFAULT_WANTED = 12
"""Spans wanted for four levels: three for each, because the filter and `keep` drop some."""
_WORDS = frozenset({"name", "acronym", "title", "term", "antonym", "hedge"})
"""Kinds that are replaced by another word; numbers and dates are changed."""
_LOOSE = frozenset({"term", "antonym", "hedge"})
"""Kinds that a phrase may cut."""
SPANS_PER_LEVEL = 3
"""Spans wanted for each level; if there are fewer spans than levels, verbs to deny are added."""

_SENTENCE = 6
"""Fewest words of a text in which a denied verb is one change among others."""


def spans_by_rule(
    text: str, language: str, wanted: int = DEFAULT_WANTED, *, for_rules: bool = True
) -> tuple[Span, ...]:
    """The spans of a text, sorted and without overlaps.

    English: phrases outside subjects, with names and quantities whole. Other languages: stretches with a recognisable
    form, and content words if there are fewer than `wanted`.

    language: a tag without region, or `und`. for_rules: only spans for which rules have a fitting word, plus other
    replaceable words if there are fewer than `wanted`; a model finds words itself and gets all spans.
    """
    lists, few = base_language(language), wanted // SPANS_PER_LEVEL
    typed = typed_spans(text, language)
    phrased, subjects = _phrases(text, typed) if lists == "en" else (typed, [])

    def outside(spans: Iterable[Span]) -> list[Span]:
        return [one for one in spans if all(one.end <= start or end <= one.start for start, end in subjects)]

    found = [span for span in phrased if _stays(span, lists)] if for_rules else phrased
    words = list(
        _replaceable(text, lists)
        if for_rules and gazetteer(lists).entries
        else _content_words(text, language)
    )
    if for_rules or lists != "en":
        found = _add_spans(found, outside(words), wanted, lists)
    if for_rules and len(found) < few:
        found = _add_spans(found, phrased, few, lists)
    if for_rules and len(found) < few and len(text.split()) >= _SENTENCE:
        found = _add_spans(found, _verbs(text, lists), few, lists)
    if not found and wanted:
        found = _add_spans(found, [*typed, *_content_words(text, language)], 1, lists)
    return tuple(sorted(found, key=lambda span: span.start))


def typed_spans(text: str, language: str) -> list[Span]:
    """All dates, quantities, names and the like in a text; a hedge before a number is part of its quantity."""
    return [
        Span(m.start, m.end, text[m.start : m.end], _kind(text, m, language))
        for m in best_matches(text, language)
        # A single letter is not a name, and a grapheme must not be split.
        if not (m.kind == "name" and m.end - m.start < 2) and keeps_boundaries(text, m.start, m.end)
    ]


def _phrases(text: str, typed: Sequence[Span]) -> tuple[list[Span], list[tuple[int, int]]]:
    """The phrases of an English text outside its subjects, and the places of the subjects."""
    # Dates, quantities, names and the like are never split, nor taken from longer words: not `MS` from `MS-DOS`.
    whole = [
        span
        for span in typed
        if span.kind not in _LOOSE
        and not regex.search(r"[\p{L}\p{N}][-–.]$", text[max(0, span.start - 2) : span.start])
        and not regex.match(r"[-–.]\p{L}", text[span.end : span.end + 2])
    ]
    reading = _Reading(_words(text, whole))
    reading.read()
    kept: list[tuple[int, int]] = []
    for start, end in sorted(set(reading.objects)):  # a phrase may have been read twice
        if not kept or kept[-1][1] <= start:
            kept.append((start, end))
    objects = [
        Span(a, b, text[a:b], classify(text[a:b], "en")) for a, b in kept if keeps_boundaries(text, a, b)
    ]
    return objects, reading.subjects


def _add_spans(found: list[Span], more: Iterable[Span], wanted: int, language: str) -> list[Span]:
    """The spans, plus others that overlap none of them, until there are enough."""
    taken = sorted((span.start, span.end) for span in found)
    starts = [start for start, _ in taken]

    def is_free(span: Span) -> bool:
        at = bisect_left(starts, span.end)
        return at == 0 or taken[at - 1][1] <= span.start

    return [*found, *_most_telling([s for s in more if is_free(s)], wanted - len(found), language)]


def _stays(span: Span, language: str) -> bool:
    """Whether rules can replace a span; True if the language has no lists."""
    if span.kind not in _WORDS and regex.search(r"\p{Nd}", span.text):
        return True
    if span.kind == "term" and " " not in span.text:
        return False  # single words are added later, from the lists
    return not gazetteer(language).entries or fits(span.text, span.kind, language)


def _content_words(text: str, language: str) -> Iterator[Span]:
    for start, end in content_words(text, language):
        yield Span(start, end, text[start:end], "term")


def _kind(text: str, match: Match, language: str) -> str:
    """The match's kind; a capital at the start of a sentence, or in a German noun, does not make a name."""
    if match.kind != "name":
        return match.kind
    piece = text[match.start : match.end]
    if regex.search(r"[ \-'’\p{N}]|(?<!^)\p{Lu}", piece):
        return "name"
    if base_language(language) == "de":
        return "term"
    if not opens_sentence(text, match.start) or not is_ordinary_opener(
        text, match.start, match.end, language
    ):
        return "name"
    ordinary = classify(piece.lower(), language)
    return ordinary if ordinary in ("antonym", "hedge", "number", "ordinal") else "term"


def _replaceable(text: str, language: str) -> Iterator[Span]:
    """Yield spans that the lists can replace: their own words, and words with a suffix that the lists cover."""
    for fact in find_facts(text, language, Pool()):
        kind = fact.kind if fact.kind in KINDS else "name"
        if (
            kind in _WORDS
            and keeps_boundaries(text, fact.start, fact.end)
            and fits(fact.text, kind, language)
        ):
            yield Span(fact.start, fact.end, fact.text, kind)
    for start, end in content_words(text, language):
        if fits(text[start:end], "term", language):
            yield Span(start, end, text[start:end], "term")


def _verbs(text: str, language: str) -> Iterator[Span]:
    """Yield verbs that can be denied, for texts in which little else can change."""
    verbs = sorted({verb for verb, _ in gazetteer(language).negations}, key=lambda verb: (-len(verb), verb))
    unspaced = regex.compile(rf"[{UNSPACED}]", regex.V1)
    forms = [regex.escape(verb) for verb in verbs if not unspaced.search(verb)]
    if forms:
        pattern = rf"(?<![\p{{L}}\p{{M}}'’])(?:{'|'.join(forms)})(?![\p{{L}}\p{{M}}]| (?:not|nicht|kein))"
        for match in regex.finditer(pattern, text):
            yield Span(match.start(), match.end(), match.group(), "term")


def _most_telling(spans: list[Span], number: int, language: str) -> list[Span]:
    """The best spans: words in the lists first, then the longest; a text repeats only after all others."""
    seen: set[str] = set()
    listed = gazetteer(language).entries
    ranked = []
    for span in sorted(spans, key=lambda span: (-len(span.text), span.start)):
        again, unlisted = span.text.casefold() in seen, span.text not in listed
        ranked.append((again, unlisted, -len(span.text), span.start, span))
        seen.add(span.text.casefold())
    chosen: list[Span] = []
    for *_, span in sorted(ranked, key=lambda entry: entry[:4]):
        if len(chosen) < number and all(
            span.end <= other.start or other.end <= span.start for other in chosen
        ):
            chosen.append(span)
    return chosen


BY_RULES = "rules"


def rules_warning(n: int, n_items: int, languages: Sequence[str] = (), *, parsed: bool = False) -> str:
    """The warning on items whose facts are found by rules.

    languages: the items' languages, if known. parsed: whether spaCy is set up for other languages.
    """
    items = f"all {n_items} items" if n == n_items > 1 else f"{n} of {n_items} items"
    of = f" (language: {', '.join(languages)})" if languages else ""
    advice = (
        "Install spaCy's pipeline for the language in spaCy's environment"
        if parsed
        else f"{set_up('spacy')} sets up spaCy with its English pipeline"
    )
    return f"Facts are found by rules in {items}{of}, not by a dependency parse as in Factual. {advice}."


def find_spans(
    text: str,
    language: str,
    parser: str = "auto",
    wanted: int = DEFAULT_WANTED,
    *,
    for_rules: bool = True,
    parsers: Parsers | None = None,
) -> tuple[tuple[Span, ...], str]:
    """The spans, sorted and without overlaps, and how they were found: `spacy MODEL VERSION` or `rules`.

    language: a BCP 47 tag; for `und` it is guessed from the text.
    parser: `auto` (a spaCy pipeline for the language if set up, else rules), `rules`, or a pipeline's name or path.
        Raises InputError if a named pipeline cannot be loaded.
    wanted: without a parser, the number of spans up to which content words are added.
    for_rules: without a parser, only spans for which rules have a fitting word.
    parsers: the parsers to search; None uses this process.
    """
    known = known_language(language, text)
    found = None if parser == BY_RULES else (parsers or Parsers()).find(parser, known)
    if found is None:
        return spans_by_rule(text, known, wanted, for_rules=for_rules), BY_RULES
    return _clean(text, found.spans(text)), found.name


def _clean(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The spans without spaces and punctuation around them; spans that cross a line or overlap are left out."""
    trimmed = ((*_inner(text, span.start, span.end), span.kind) for span in spans)
    return longest_apart(
        Span(start, end, text[start:end], kind)
        for start, end, kind in trimmed
        if start < end and keeps_boundaries(text, start, end)
    )


def _inner(text: str, start: int, end: int) -> tuple[int, int]:
    outside = r"[^\p{L}\p{M}\p{N}\p{S}%‰°′″]"
    while (
        start < end
        and regex.match(outside, text[start])
        and not regex.match(r"[-−]\p{N}", text[start : start + 2])
    ):
        start += 1
    while start < end and regex.match(outside, text[end - 1]):
        end -= 1
    return start, end

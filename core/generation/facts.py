"""Find the facts in a text that rules can change, and collect replacements from the data set."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import regex

from core.generation.language import UNSPACED, base_language, language_of, main_script, same_text, words_of
from core.generation.lists import OPENERS, UNIT_WORDS, Gazetteer, fraction_pattern, gazetteer, month_forms
from core.generation.numbers import NUMBER, date_patterns, lone_month
from core.schema.study import Material

NEAR = 60
"""Characters to check on either side; the whole text for every word would take too long."""
_SENTENCE_START = regex.compile(r"(?:^|[.!?…:。！？؟।]\s*|[\n\r]\s*)[\"'“”„«»(\[¿¡\s]*$")


def opens_sentence(text: str, at: int) -> bool:
    """Whether a word at this position begins a sentence, so that its capital means nothing."""
    return _SENTENCE_START.search(text_before(text, at)) is not None


def text_before(text: str, at: int) -> str:
    """The text just before a position, at most NEAR characters."""
    return text[max(0, at - NEAR) : at]


_CASELESS = r"[\p{scx=Arab}\p{scx=Hebr}\p{scx=Deva}\p{scx=Beng}\p{scx=Taml}\p{scx=Geor}\p{scx=Hang}]"
_WORD = regex.compile(
    rf"[[\p{{L}}\p{{M}}]--[{UNSPACED}]]+(?:[-'’][[\p{{L}}\p{{M}}]--[{UNSPACED}]]+)*", regex.V1
)
_RUN = regex.compile(
    r"\p{Han}{2,8}|[\p{Katakana}ー]{2,20}|[\p{scx=Thai}]{3,40}|[\p{scx=Khmr}\p{scx=Laoo}\p{scx=Mymr}]{3,40}"
)
_PARTICLES = frozenset("的了是在与與及有为為于於之也都而但或从從由被把对對将將并並因所如吗嗎呢约約")
"""Single characters that rarely occur inside a longer Chinese word."""
_PAIRS = regex.compile(r"(?<!\p{L})(?:על ידי|על יד|على يد|عن طريق)(?!\p{L})")
"""Prepositions of two words, neither of which is a word of its own there."""
_LONG, _LONG_CASELESS = 4, 3


def content_words(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the content words; in scripts without spaces, of runs of one script between function words."""
    stop = words_of("en" if language == "und" else language)
    units = frozenset(UNIT_WORDS.get(language, "").split())
    paired = [match.span() for match in _PAIRS.finditer(text)]
    for word in _WORD.finditer(text):
        folded = word.group().casefold()
        long = _LONG_CASELESS if regex.match(_CASELESS, folded) else _LONG
        inside = any(start <= word.start() < end for start, end in paired)
        if len(folded) >= long and folded not in stop and folded not in OPENERS and not inside:
            yield from _whole(text, *word.span())
    runs = text
    if unspaced_months := [month for month in month_forms(language) if regex.search(r"\p{Thai}", month)]:
        # The name of a month may contain a function word, and must not be cut there.
        months = "|".join(map(regex.escape, unspaced_months))
        runs = regex.sub(months, lambda found: "\n" * len(found.group()), text)
    for run in _RUN.finditer(blank_function_words(runs, stop)):
        if run.group() not in units:
            yield from _whole(text, *run.span())


def _whole(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if keeps_boundaries(text, start, end):
        yield start, end


def keeps_boundaries(text: str, start: int, end: int) -> bool:
    """Whether a stretch has no spaces at its ends, is on one line, has a letter or digit, and splits no character."""
    piece = text[start:end]
    if (
        piece != piece.strip()
        or not regex.search(r"[\p{L}\p{N}]", piece)
        or regex.search(r"[\p{Zl}\p{Zp}\p{Cc}]", piece)
    ):
        return False
    joined = r"[\p{M}\u200c\u200d]"
    if regex.match(joined, piece) or regex.match(joined, text[end : end + 1]):
        return False
    return not text[start - 1 : start].endswith("\u200d")


def blank_function_words(text: str, stop: frozenset[str]) -> str:
    """The text, at the same length, with line breaks for the function words of scripts without spaces.

    In such scripts function words mark where one word ends and the next begins.
    """
    cutter = _cutter(stop)
    return cutter.sub(lambda found: "\n" * len(found.group()), text) if cutter else text


@lru_cache(maxsize=64)
def _cutter(stop: frozenset[str]) -> "regex.Pattern[str] | None":
    unspaced = [word for word in stop if regex.fullmatch(rf"[{UNSPACED}\p{{M}}]+", word)]
    cutting = [word for word in unspaced if word in _PARTICLES or not regex.fullmatch(r"\p{Han}", word)]
    cutting.sort(key=lambda word: (-len(word), word))
    return regex.compile("|".join(map(regex.escape, cutting))) if cutting else None


_CAPITAL = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:[-.’'](?!s\b)[\p{L}\p{M}\p{N}]+)*"
_LINK = r"(?:van|von|der|den|de|del|della|di|da|du|la|le|ibn|bin|al|y)"
NAME_RUN = regex.compile(rf"(?<![\p{{L}}\p{{M}}\p{{N}}]){_CAPITAL}(?:(?:\s{_LINK}){{0,2}}\s{_CAPITAL})*")
_PLACE = "Sea River Forest Lane Street Cathedral Lake Mount Island Islands City Bay Castle Bridge Park Church Square"
_ORGANISATION = (
    "Union Council Assembly Consortium Nations University Bank Committee Institute Company Society Party"
)
_THING = "Prize Games Symphony Fire Web Site Heritage War Battle Museum Act Treaty Project Museum Wide World"
_BY_WORD = {
    **dict.fromkeys(_PLACE.split(), "landmark"),
    **dict.fromkeys(_ORGANISATION.split(), "organisation"),
    **dict.fromkeys(_THING.split(), "thing"),
}


def trimmed_name(
    text: str, start: int, end: int, lists: Gazetteer, vocabulary: frozenset[str]
) -> tuple[int, int] | None:
    """The run without leading words that are capitalised only because they begin a sentence; None if nothing is left.

    German capitalises every noun, so a run there counts only if it starts with a given name.
    """
    stop = lists.words.get("stop", frozenset())
    words = list(regex.finditer(r"\S+", text[start:end]))
    first = 0
    while first < len(words):
        word = words[first].group()
        opening = first == 0 and opens_sentence(text, start)
        ordinary = word.casefold() in stop or (opening and word.lower() in vocabulary)
        entry = lists.entries.get(word)
        titled = len(words) > first + 1 and entry and entry[0].group in ("rank", "title")
        if not ordinary and not titled:
            break
        first += 1
    words = words[first:]
    if not words or (len(words) == 1 and len(words[0].group()) == 1):
        return None
    given = {row[0] for row in lists.groups.get("given_name", ())}
    if lists.language == "de" and not (len(words) > 1 and words[0].group() in given):
        acronym = regex.fullmatch(r"\p{Lu}{2,}", words[0].group()) and len(words) == 1
        if not acronym:
            return None
    return start + words[0].start(), start + words[-1].end()


def name_type(name: str, before: str, lists: Gazetteer) -> str:
    """The type of a name, which decides its replacements: a class of the gazetteer, person, place, organisation, thing ..."""
    entries = [entry for entry in lists.entries.get(name, ()) if entry.kind == "name"]
    if entries:
        return entries[0].group
    words = name.split()
    for word in reversed(words):
        if word in _BY_WORD:
            return _BY_WORD[word]
    if regex.fullmatch(r"[\p{Lu}\p{N}]{2,}", name):
        return "acronym"
    if lists.language == "fr" and (article := regex.search(r"(?:^|\s)(la|le)\s$", before)):
        return "country_f" if article[1] == "la" else "country_m"
    given = {row[0] for row in lists.groups.get("given_name", ())}
    links = {"van", "von", "ibn", "bin"}
    if len(words) > 1 and (
        words[0] in given
        or links & set(words)
        or (
            len(words) < 4
            and regex.search(
                r"\b(?:by|astronomer|composer|chemist|poet|architect|engineer|Saint)\s*$", before
            )
        )
    ):
        return "person"
    last = regex.search(r"([\p{L}]+)\s*$", before)
    if last and last.group(1).lower() in lists.words.get("place_words", ()):
        return "place"
    return "person" if len(words) == 2 and all(len(word) > 2 for word in words) else "thing"


Key = tuple[str, str | None]
"""Language (without region), script."""
_TERM = r"(?<![\p{{L}}’'-])(?:{articles}) (?P<term>(?:\p{{Ll}}+ )?\p{{Ll}}{{3,}})(?=[.,;]| (?:of|in|on|from|with|and|for) )"
_LONG_KATAKANA = regex.compile(r"(?<![\p{Katakana}ー])[\p{Katakana}ー]{3,}(?![\p{Katakana}ー])")
_MOST_TEXTS = 5_000
"""Most materials to collect names from; with more, a pool only gets slower to search."""


@dataclass(frozen=True)
class Other:
    """An answer in the data set that can replace another item's."""

    item_id: str
    text: str


@dataclass(frozen=True)
class Pool:
    """The replacements that a data set offers."""

    names: Mapping[Key, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Type of name -> names."""
    types: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(language, name) -> the type that most of its occurrences suggest."""
    terms: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    vocabulary: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Language -> words that occur in lower case: not names, even at the start of a sentence."""
    words: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    """Ordinary content words that are in no list, as written inside a sentence."""
    answers: Mapping[Key, tuple[Other, ...]] = field(default_factory=dict)

    # find_facts caches by text and pool. A pool never changes, so its identity is enough.
    __hash__ = object.__hash__

    def named(self, language: str, script: str | None, kind: str) -> tuple[str, ...]:
        """Names of one type."""
        return self.names.get((base_language(language), script), {}).get(kind, ())

    def type_of(self, language: str, name: str) -> str | None:
        """The type of a name in the data set, or None."""
        return self.types.get((base_language(language), name))

    def others(self, material: Material) -> tuple[Other, ...]:
        """Answers of other items in this item's language and script, with a text different from this item's.

        Only answers of similar length, if there are any: a sentence in place of a word would be conspicuous.
        """
        own = material.item
        key = (language_of(material), main_script(own.reference))
        found = tuple(
            other
            for other in self.answers.get(key, ())
            if other.item_id != own.item_id
            and not (abs(len(other.text) - len(own.reference)) < 9 and same_text(other.text, own.reference))
        )
        size = len(own.reference)
        alike = tuple(other for other in found if size <= 2 * len(other.text) <= 4 * size)
        return alike or found


def make_pool(materials: Iterable[Material]) -> Pool:
    """Make the pool of a whole data set; the order of items does not matter."""
    chosen = sorted(materials, key=lambda material: material.item.item_id)
    vocabulary: dict[str, set[str]] = defaultdict(set)
    terms: dict[Key, set[str]] = defaultdict(set)
    words: dict[Key, set[str]] = defaultdict(set)
    answers: dict[Key, list[Other]] = defaultdict(list)
    for material in chosen:
        item = material.item
        language, script = language_of(material), main_script(item.reference)
        answers[language, script].append(Other(item.item_id, item.reference))
    for language, text in _texts(chosen):
        vocabulary[language].update(regex.findall(r"(?<![\p{L}\p{M}])\p{Ll}[\p{L}\p{M}]+", text))
        terms[language, main_script(text)].update(_terms(text, language))
        for word in _ordinary_words(text, language):
            words[language, main_script(word)].add(word)
    frozen = {language: frozenset(words) for language, words in vocabulary.items()}
    names, types = _names_of(chosen, frozen)
    return Pool(
        names,
        types,
        {key: tuple(sorted(found)) for key, found in terms.items()},
        frozen,
        {key: tuple(sorted(found)) for key, found in words.items()},
        {key: tuple(found) for key, found in answers.items()},
    )


def _texts(materials: Iterable[Material]) -> Iterator[tuple[str, str]]:
    for material in list(materials)[:_MOST_TEXTS]:
        for text in (material.item.question, material.item.reference, material.paraphrase):
            if text:
                yield language_of(material), text


def _terms(text: str, language: str) -> Iterator[str]:
    articles = gazetteer(language).words.get("articles", frozenset())
    if articles and language == "en":
        pattern = _TERM.format(articles="|".join(sorted(articles)))
        yield from (match["term"] for match in regex.finditer(pattern, text))
    units = UNIT_WORDS.get(language, "").split()
    yield from (word for word in _LONG_KATAKANA.findall(text) if word not in units)


def _ordinary_words(text: str, language: str) -> Iterator[str]:
    listed, months = gazetteer(language).entries, month_forms(language)
    for start, end in content_words(text, language):
        word = text[start:end]
        # A capital means a noun in German; elsewhere it means a name, and names have a pool of their own.
        ordinary = not word[0].isupper() or (language == "de" and not opens_sentence(text, start))
        if ordinary and word not in listed and word not in months:
            yield word


@lru_cache(maxsize=64)
def _pieces(language: str) -> frozenset[str]:
    """The single words of listed names that have several words."""
    return frozenset(word for form in gazetteer(language).entries if " " in form for word in form.split())


def _is_no_example(name: str, text: str, at: int, lists: Gazetteer) -> bool:
    """Whether a run is no example of a name: a month, a sentence's first word, or part of a listed name (`Olympic`)."""
    if any(entry.kind == "name" for entry in lists.entries.get(name, ())):
        return False
    return (
        name in month_forms(lists.language)
        or name in _pieces(lists.language)
        or name.lower() in lists.entries
        or (opens_sentence(text, at) and " " not in name)
    )


def _names_of(
    materials: list[Material], vocabulary: Mapping[str, frozenset[str]]
) -> tuple[dict[Key, dict[str, tuple[str, ...]]], dict[tuple[str, str], str]]:
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for language, text in _texts(materials):
        lists, known = gazetteer(language), vocabulary.get(language, frozenset())
        for match in NAME_RUN.finditer(text):
            place = trimmed_name(text, match.start(), match.end(), lists, known)
            if place is not None:
                name = text[place[0] : place[1]]
                if _is_no_example(name, text, place[0], lists):
                    continue
                votes[language, name][name_type(name, text_before(text, place[0]), lists)] += 1
    types = {key: min(count, key=lambda kind: (-count[kind], kind)) for key, count in votes.items()}
    surnames = {
        (language, name.split()[-1])
        for (language, name), kind in types.items()
        if kind == "person" and name.split()[-1] not in gazetteer(language).entries
    }
    for key in types:
        if types[key] in ("thing", "place") and key in surnames:
            types[key] = "surname"
    for key in sorted(surnames):
        types.setdefault(key, "surname")
    grouped: dict[Key, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (language, name), kind in sorted(types.items()):
        grouped[language, main_script(name)][kind].append(name)
    return (
        {key: {kind: tuple(found) for kind, found in kinds.items()} for key, kinds in grouped.items()},
        types,
    )


RANKS = {
    **dict.fromkeys(
        ("number", "quantity", "percent", "money", "date", "year", "time", "ordinal", "range"), 0
    ),
    **dict.fromkeys(("name", "acronym", "title", "weekday"), 0),
    **dict.fromkeys(("term", "antonym"), 1),
    "hedge": 2,
}
"""Kind -> importance; 0 is the most important."""


_LATIN = r"[\p{Latin}\p{Cyrillic}]"
_TIME = regex.compile(
    r"(?<![\p{Nd}:.])(?:[01]?\d|2[0-3])(?::|h|\.(?=\d\d\s(?:Uhr|a\.m|p\.m)))[0-5]\d(?![\p{Nd}:])"
)
_RANGE = regex.compile(
    rf"(?<!{_LATIN})(?<!\p{{Nd}}[.,]?)\p{{Nd}}{{1,3}}(?: to | bis | à | a |–|-|から)\p{{Nd}}{{1,3}}(?![\p{{Nd}}.,-]\p{{Nd}}|\p{{Nd}})"
)
_NUMBER = regex.compile(
    rf"(?<!{_LATIN})(?<!\p{{Nd}})(?<money>[$€£¥₹]\s?)?(?<number>{NUMBER})(?!\p{{Nd}})"
    r"(?<percent>\s?[%٪％]|\s(?:percent|per cent|Prozent|pour cent|por ciento|процентов|प्रतिशत|بالمئة|אחוז)\b)?"
    r"(?<suffix>st|nd|rd|th|ème|er|º|\.ª)?"
)
_SIXTIETHS = regex.compile(
    r"\s?(?:minutes?|seconds?|Minuten?|Sekunden?|secondes?|minutos?|segundos?|минут|секунд|分|秒)"
)
_CURRENCY = regex.compile(
    r"\s?(?:[€$£¥₹]|(?:万|億)?(?:ドル|円|元)|(?:million |billion )?(?:dollars|euros|pounds)\b)"
)
_ROMAN = regex.compile(r"(?<!\p{L})[IVX]{1,5}(?=e?\s(?:siècle|век|siglo|century))")
_YEAR_CLUE = regex.compile(r"[12]\p{Nd}{3}|[١-٢१-२۱-۲]\p{Nd}{3}")
_KATAKANA = regex.compile(r"(?<![\p{Katakana}ー])[\p{Katakana}ー]{4,}(?![\p{Katakana}ー])")

_PERSON = regex.compile(r"[\p{Katakana}ー]{2,}(?:[・＝][\p{Katakana}ー]{2,})+")


@dataclass(frozen=True)
class Fact:
    """A stretch of text that a rule can change."""

    start: int
    end: int
    text: str
    kind: str
    """A key of RANKS."""
    group: str = ""
    """The class of a name or term, such as `city`, or the role of a number."""

    @property
    def rank(self) -> int:
        """Importance; facts with 0 are changed first."""
        return RANKS[self.kind]


@lru_cache(maxsize=32)
def find_facts(text: str, language: str, pool: Pool) -> tuple[Fact, ...]:
    """All facts in a text, without overlaps, in the order of the text."""
    lists = gazetteer(language)
    found: list[Fact] = []
    taken = bytearray(len(text))
    for group in (_dates(text, language), _numbers(text, lists), _words_and_names(text, lists, pool)):
        for fact in group:
            if not any(taken[fact.start : fact.end]):
                taken[fact.start : fact.end] = b"\x01" * (fact.end - fact.start)
                found.append(fact)
    return tuple(sorted(found, key=lambda fact: fact.start))


def _dates(text: str, language: str) -> Iterator[Fact]:
    for pattern in date_patterns(language):
        for match in pattern.finditer(text):
            end = match.end() - (match.group().endswith(".") and not match.groupdict().get("y"))
            yield Fact(match.start(), end, text[match.start() : end], "date")
    if lone := lone_month(language):
        for match in lone.finditer(text):
            yield Fact(match.start(), match.end(), match.group(), "date")
    for match in _TIME.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "time")


@lru_cache(maxsize=64)
def _unit_pattern(lists_language: str) -> "regex.Pattern[str]":
    lists = gazetteer(lists_language)
    names = {
        form
        for pair in lists.texts.get("units", ())
        for side in pair.split(" = ")
        for form in side.split("|")
    }
    forms = sorted(names, key=lambda form: (-len(form), form))
    return regex.compile(
        rf"\s?(?:{'|'.join(map(regex.escape, forms))})(?!\p{{Latin}}|\p{{Cyrillic}})" if forms else "(?!)"
    )


@lru_cache(maxsize=64)
def _fraction(language: str) -> "regex.Pattern[str]":
    return regex.compile(rf"(?<!\p{{L}}){fraction_pattern(language)}(?!\p{{L}})")


def _numbers(text: str, lists: Gazetteer) -> Iterator[Fact]:
    for match in _fraction(lists.language).finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "number", "fraction")
    for match in _RANGE.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "range")
    for match in _ROMAN.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "ordinal", "roman")
    unit = _unit_pattern(lists.language)
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        kind, group = "number", ""
        if match["percent"]:
            kind = "percent"
        elif match["suffix"] or _german_ordinal(text, match.end(), lists):
            kind = "ordinal"
        elif match["money"]:
            kind = "money"
        elif found := _CURRENCY.match(text, end):
            kind, end = "money", found.end()
        elif found := unit.match(text, end):
            kind, end = "quantity", found.end()
        elif _YEAR_CLUE.fullmatch(match["number"]):
            kind = "year"
            # "the 1650s", "1650年代", "1650er Jahren": keep the ending, and keep the year round.
            group = "decade" if regex.match(r"s\b|年代|er\s", text[end : end + 4]) else ""
        elif _SIXTIETHS.match(text, end) and len(match["number"]) < 3:
            group = "sixtieth"
        yield Fact(start, end, text[start:end], kind, group)


def _german_ordinal(text: str, end: int, lists: Gazetteer) -> bool:
    """Whether a number is a German ordinal: `16. Jahrhundert`, or `16.` as the whole text; not at a sentence's end."""
    whole = regex.fullmatch(r"\p{Nd}{1,2}\.", text) is not None
    before = regex.search(
        r"\b(?:im|am|dem|der|das|die|den|des|vom|zum)\s\p{Nd}{1,2}$", text_before(text, end), regex.I
    )
    return lists.language == "de" and (whole or (before is not None and text[end : end + 2] == ". "))


def _words_and_names(text: str, lists: Gazetteer, pool: Pool) -> Iterator[Fact]:
    """Yield words and names, longest first, so that a country is not found inside a university's name."""
    found = [*_listed(text, lists), *_named(text, lists, pool)]
    if lists.language == "ja":
        found += _katakana(text)
    yield from sorted(found, key=lambda fact: (fact.start - fact.end, fact.start, fact.kind))


def _katakana(text: str) -> Iterator[Fact]:
    """Yield people's names, recognised by the dot between their parts, and other words except units."""
    units = UNIT_WORDS["ja"].split()
    for match in _PERSON.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "name", "person")
    for match in _KATAKANA.finditer(text):
        if match.group() not in units:
            yield Fact(match.start(), match.end(), match.group(), "term", "katakana")


def _listed(text: str, lists: Gazetteer) -> Iterator[Fact]:
    if lists.pattern is None:
        return
    for match in lists.pattern.finditer(text, overlapped=False):
        name = match.lastgroup or "form"
        start, end = match.span(name)
        form = match.group(name)
        entries = lists.entries.get(form)
        if name == "stem" or entries is None:
            yield Fact(start, end, form, "antonym", "stem")
            continue
        for entry in entries:
            if _fits(text, start, end, form, entry.kind, lists):
                yield Fact(start, end, form, entry.kind, entry.group)
                break


def _fits(text: str, start: int, end: int, form: str, kind: str, lists: Gazetteer) -> bool:
    """Whether neighbouring words allow this reading: `about` is a hedge before a number, `second` an ordinal after `the`."""
    if kind == "hedge" and form.lower() in lists.words.get("before_number", ()):
        following = regex.match(r"\s+(\S+)", text[end : end + NEAR])
        after = following.group(1).strip(".,;") if following else ""
        entries = lists.entries.get(after, ())
        return (
            after[:1].isdigit()
            or (after[:1] in "-−$€£" and bool(after))
            or any(e.kind == "number" for e in entries)
        )
    if kind == "ordinal" and (needed := lists.words.get("ordinal_after")):
        previous = regex.search(r"(\p{L}+)\s+$", text_before(text, start))
        return previous is not None and previous.group(1).lower() in needed
    previous = text_before(text, start).rstrip()
    if form == "most" and previous.lower().endswith("the"):
        return False
    if kind == "number" and previous[-1:].isdigit():
        return False  # "500 million" is one number
    # In "2 hours 58 minutes" the numbers change, not the units.
    counted = previous[-1:].isdigit() or previous.endswith(" per")
    periods = lists.groups.get("period", ())
    return not (kind == "term" and counted and any(form.lower() in row for row in periods))


def _named(text: str, lists: Gazetteer, pool: Pool) -> Iterator[Fact]:
    known = pool.vocabulary.get(lists.language, frozenset())
    for match in NAME_RUN.finditer(text):
        place = trimmed_name(text, match.start(), match.end(), lists, known)
        if place is None:
            continue
        name = text[place[0] : place[1]]
        if name in lists.entries:
            continue  # already found in the lists
        group = pool.type_of(lists.language, name) or name_type(name, text_before(text, place[0]), lists)
        unknown = (
            opens_sentence(text, place[0]) and " " not in name and pool.type_of(lists.language, name) is None
        )
        if unknown and not regex.fullmatch(r"\p{Lu}{2,}|\p{Lu}\p{Ll}+\p{Lu}.*", name):
            continue  # a single capital at the start of a sentence is no evidence
        yield Fact(place[0], place[1], name, "acronym" if group == "acronym" else "name", group)

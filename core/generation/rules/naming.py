"""Names by their shape: runs of capitalised words, and what type of thing such a run names."""

import regex

from core.generation.openers import opens_sentence
from core.generation.rules.gazetteer import Gazetteer

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
    """The run without words that have their capital from the sentence's start; None: nothing is left.

    German writes every noun with a capital, so a run there counts only where it starts with a given name.
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
    """What a name may be swapped with: a class of the gazetteer, person, place, organisation, thing ..."""
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
        words[0] in given or links & set(words) or (len(words) < 4 and _by_person(before))
    ):
        return "person"
    last = regex.search(r"([\p{L}]+)\s*$", before)
    if last and last.group(1).lower() in lists.words.get("place_words", ()):
        return "place"
    return "person" if len(words) == 2 and all(len(word) > 2 for word in words) else "thing"


def _by_person(before: str) -> bool:
    return (
        regex.search(r"\b(?:by|astronomer|composer|chemist|poet|architect|engineer|Saint)\s*$", before)
        is not None
    )

"""Level 1: the text loses a little precision, or, in a translation, its care."""

from collections.abc import Iterator

import regex

from core.generation.rules.draws import Draw
from core.generation.rules.facts import Fact, find_facts, near_before
from core.generation.rules.gazetteer import Gazetteer, gazetteer
from core.generation.rules.lengths import sentences
from core.generation.rules.numbers import general_year, rounded
from core.generation.rules.pool import Pool
from core.generation.rules.substitution import put_in

SHORT = 4
"""Words of an answer that has little but its fact."""
CARELESS = ("typo", "capital lost", "closing mark dropped")
"""Rules that change letters, not what is said."""

Change = tuple[int, int, str, str]
"""Start, end, new text, rule."""
_DECIMAL_COMMA = frozenset({"de", "fr", "es", "ru"})
"""Languages that write 0,5; the others write 0.5."""


def surface_changes(text: str, language: str, pool: Pool, draw: Draw) -> list[Change]:
    """Small changes, none overlapping another of its kind, the best first: generalised, then a modifier dropped."""
    lists = gazetteer(language)
    facts = find_facts(text, language, pool)
    general = [change for fact in facts for change in _generalised(text, fact, lists)]
    dropped = list(_modifiers(text, facts, lists))
    if not general and len(text.split()) <= SHORT:
        general = list(_made_rough(text, facts, lists))
    blurred = [*draw.shuffled(general, "general"), *draw.shuffled(dropped, "dropped")]
    counted = tuple(fact for fact in facts if _is_counted(text, fact))
    rough = [] if general else list(_made_rough(text, counted, lists))
    return [*blurred, *rough, *_hedged_sentence(text, lists), *last_changes(text)]


def _is_counted(text: str, fact: Fact) -> bool:
    """Whether a number counts something: not `Apollo 11`, not a year."""
    counts = fact.kind == "quantity" or regex.match(r"\s\p{Ll}", text[fact.end : fact.end + 2])
    named = regex.search(r"\p{Lu}[\p{L}.]*\s$", near_before(text, fact.start))
    return fact.kind in ("number", "quantity") and bool(counts) and named is None


def _hedged_sentence(text: str, lists: Gazetteer) -> Iterator[Change]:
    """`It is red.` gives `It is red, as far as is known.`: what a text allows that holds no number."""
    first = sentences(text)[0] if text else ""
    body = regex.sub(r"[\"”»’')」』\s]*[.!。।]?[\"”»’')」』\s]*$", "", first)
    head, tail = lists.generalise.get("head", ""), lists.generalise.get("tail", "")
    if not body or regex.search(r"[?？؟!！]", first) or not regex.search(r"\p{L}{2}", body):
        return
    if tail:
        yield len(body), len(body), tail, "made uncertain"
    elif head:
        yield 0, 0, head, "made uncertain"


def _generalised(text: str, fact: Fact, lists: Gazetteer) -> Iterator[Change]:
    rules = lists.generalise
    before = near_before(text, fact.start)
    previous = regex.search(r"([\p{L}]+)\s+$", before)
    if fact.kind == "year" and (decade := rules.get("decade")) and previous:
        if previous[1].lower() in [word.strip() for word in rules.get("year_after", "").split(",")]:
            yield fact.start, fact.end, decade.format(decade=general_year(fact.text)), "year generalised"
    elif fact.kind == "date":
        yield from _without_day(fact, before, rules.get("day_before", ""), rules.get("day_new", ""))
    elif fact.kind in ("number", "quantity") and (
        match := regex.match(r"[\p{Nd}.,٬'’\u00a0\u202f]*\p{Nd}", fact.text)
    ):
        round_number = rounded(match.group(), "," if lists.language in _DECIMAL_COMMA else ".")
        if round_number:
            about = rules.get("about", "")
            gap = "" if lists.language in ("ja", "zh") else " "
            hedge = "" if not about or _hedged(before, lists) else f"{about}{gap}"
            yield fact.start, fact.end, hedge + round_number + fact.text[match.end() :], "number rounded"


def _made_rough(text: str, facts: tuple[Fact, ...], lists: Gazetteer) -> Iterator[Change]:
    """`six` gives `about six`: for answers that hold nothing else to blur."""
    about = lists.generalise.get("about", "")
    gap = "" if lists.language in ("ja", "zh") else " "
    for fact in facts:
        if (
            about
            and fact.kind in ("number", "quantity", "year")
            and not _hedged(near_before(text, fact.start), lists)
        ):
            yield fact.start, fact.end, f"{about}{gap}{fact.text}", "made rough"


def _hedged(before: str, lists: Gazetteer) -> bool:
    """Whether the number is called rough already, or has a sign in front that no word may part from it."""
    if before.endswith(("-", "−", "$", "€", "£")) or regex.search(r"\p{L}[\p{L}\p{M}]*-$", before):
        return True
    before = before.rstrip().lower()
    if lists.language in ("ja", "zh"):
        before = before.removesuffix("为").removesuffix("是")  # 约为 5150
    return any(
        before.endswith(form.lower()) for form, entries in lists.entries.items() if entries[0].kind == "hedge"
    )


def _without_day(fact: Fact, before: str, day_before: str, day_new: str) -> Iterator[Change]:
    """`on 14 January 2005` gives `in January 2005`; 1964年10月1日 gives 1964年10月."""
    east = regex.fullmatch(r"(\p{Nd}+年\p{Nd}+月)\p{Nd}+日", fact.text)
    if east:
        yield fact.start, fact.end, east[1], "date generalised"
    west = regex.fullmatch(
        r"\p{Nd}{1,2}(?:st|nd|rd|th|er|\.)?\s(?:de\s)?(\p{L}+(?:\sde)?\s\p{Nd}{4})", fact.text
    )
    preposition = (
        regex.search(rf"(?<!\p{{L}}){regex.escape(day_before)}\s$", before, regex.I) if day_before else None
    )
    if west and preposition:
        word = preposition.group().strip()
        new = day_new.capitalize() if word[:1].isupper() else day_new
        yield fact.start - len(preposition.group()), fact.end, f"{new} {west[1]}", "date generalised"


def _modifiers(text: str, facts: tuple[Fact, ...], lists: Gazetteer) -> Iterator[Change]:
    """Words that can go: a listed modifier in lower case, with the blank behind it."""
    words = lists.words.get("modifiers", frozenset())
    names = [fact for fact in facts if fact.kind in ("name", "title", "acronym")]
    if lists.language in ("ja", "zh"):
        for word in sorted(words):
            for match in regex.finditer(regex.escape(word), text):
                yield *match.span(), "", "modifier dropped"
        return
    for match in regex.finditer(r"(?<=\s)([\p{L}\p{M}'’-]+)\s(?=[\p{L}\p{N}])", text):
        inside = any(fact.start <= match.start() < fact.end for fact in names)
        if match[1] in words and not inside:
            yield *match.span(), "", "modifier dropped"


def last_changes(text: str) -> list[Change]:
    """What any text allows: a typo, a capital less, at last a closing mark less."""
    changes = typos(text)
    if match := regex.search(r"[.!?。！？।؟](?=[\"”»)]*\s*$)", text):
        changes.append((*match.span(), "", "closing mark dropped"))
    return changes


def typos(text: str) -> list[Change]:
    """Two letters of a long word change places; then a lost capital; then a doubled character."""
    changes: list[Change] = []
    words = sorted(
        regex.finditer(r"(?<!\p{L})\p{Ll}{5,}(?![\p{L}\p{M}])", text),
        key=lambda m: (-len(m.group()), m.start()),
    )
    for match in words[:5]:
        word = match.group()
        middle = next((at for at in range(len(word) // 2, len(word) - 1) if word[at] != word[at + 1]), None)
        if middle is not None:
            new = word[:middle] + word[middle + 1] + word[middle] + word[middle + 2 :]
            changes.append((*match.span(), new, "typo"))
    if match := regex.search(r"(?:^|(?<=\p{Ll}\s))\p{Lu}(?=\p{Ll})", text):
        changes.append((*match.span(), match.group().lower(), "capital lost"))
    for match in regex.finditer(r"\p{Lo}(?=\p{Lo})", text):
        pair = text[match.start() : match.start() + 2]
        if pair[0] != pair[1]:
            changes.append((match.start(), match.start() + 2, pair[::-1], "typo"))
            break
    if match := regex.search(r"\p{L}(?!.*\p{L})", text, regex.S):
        changes.append((*match.span(), match.group() * 2, "typo"))
    if text:
        changes.append((len(text) - 1, len(text), text[-1] * 2, "typo"))
    return changes


def apply(text: str, change: Change) -> str:
    """The text with one change, blanks and articles put right."""
    start, end, new, _ = change
    if new:
        return put_in(text, [(start, end, new)])
    before, after = text[:start], text[end:]
    article = regex.search(r"(?<!\p{L})([Aa])n?\s$", before)
    if article and after[:1].isalpha() and after[:1].isascii():
        before = before[: article.start()] + article[1] + ("n" if after[0].lower() in "aeiou" else "") + " "
    return before + after

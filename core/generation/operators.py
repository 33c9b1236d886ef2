"""Rules that leave out parts of a text, blur it, or fill it to a length, without a model."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

import regex

from core.diff.sentences import sentences
from core.generation.facts import Fact, Pool, find_facts, text_before
from core.generation.language import count_words, is_unspaced
from core.generation.lists import Gazetteer, gazetteer
from core.generation.numbers import Draw, general_year, put_in, rounded

LENGTH_TOLERANCE = 0.1
"""Allowed difference in words for summaries, as a share of the reference's (Meta-Judge, section 3); at least one word."""
SHORTEST_CUT = 5
"""Fewest words of a text made by cutting a longer one: half a phrase is no answer."""
MOST_FILLERS = 3
"""Most filler sentences in a row."""


def lengths_within(reference: str) -> range:
    """The allowed numbers of words for a summary with this reference."""
    wanted = count_words(reference)
    slack = max(1, int(LENGTH_TOLERANCE * wanted + 1e-9))
    return range(wanted - slack, wanted + slack + 1)


def fits_length(reference: str, text: str) -> bool:
    """Whether the text's length is allowed for a summary with this reference."""
    return count_words(text) in lengths_within(reference)


def shaped(parts: Iterable[str], reference: str, whole: bool = False) -> str | None:
    """Sentences joined to the reference's length; None if there are not enough of them.

    whole: return None rather than cut the last sentence.
    """
    wanted = count_words(reference)
    dense = is_unspaced(reference)
    text = ""
    for part in parts:
        piece = part.strip()
        if not piece:
            continue
        longer = piece if not text else text + ("" if dense else " ") + piece
        if count_words(longer) > wanted:
            if fits_length(reference, longer):
                return longer
            if text and fits_length(reference, text):
                return text
            return None if whole or wanted < SHORTEST_CUT else _cut(longer, wanted, dense)
        text = longer
    return text if text and fits_length(reference, text) else None


def _cut(text: str, wanted: int, dense: bool) -> str:
    """The first words (or characters), with the text's closing mark."""
    end = text.rstrip()[-1]
    mark = end if end in ".!?。！？।؟" else ""
    if dense:
        return text[: max(1, wanted - len(mark))].rstrip("、，,") + mark
    kept: list[str] = []
    for word in text.split(" "):
        if kept and count_words(" ".join([*kept, word])) > wanted:
            break
        kept.append(word)
    cut = str(regex.sub(r"[^\p{L}\p{M}\p{N}%)]+$", "", " ".join(kept)))
    return cut + mark


def filler(fillers: Sequence[str], wanted: int, dense: bool) -> str | None:
    """The combination of filler sentences nearest to a length; None if the language has none."""
    if not fillers or wanted < 1:
        return None
    most = min(len(fillers), MOST_FILLERS)
    sets = [chosen for size in range(1, most + 1) for chosen in combinations(fillers, size)]
    glue = "" if dense else " "
    return min((glue.join(chosen) for chosen in sets), key=lambda text: abs(count_words(text) - wanted))


Cut = tuple[int, int, str]
"""Start, end, rule."""
LONGEST_ASIDE = 5
"""Most words between two commas for an aside; a longer stretch is mostly the main clause."""
_AND = frozenset({"and", "und", "et", "y", "и"})
_FOLLOWS = regex.compile(r"[.,;،]|\s(?:and|by|und|et|y|и|on|in)\s|\Z")
_COMMAS = ",،、，"


def cuts(text: str, language: str, pool: Pool) -> list[list[Cut]]:
    """The parts of a text that can be left out, in classes, safest first."""
    lists = gazetteer(language)
    classes: list[list[Cut]] = [
        [(*match.span(), "aside omitted") for match in regex.finditer(r"\s?[(（][^()（）]*[)）]", text)],
        [],
        [],
        [],
        [],
    ]
    start, dense = 0, is_unspaced(text)
    for sentence in sentences(text):
        body = sentence.rstrip()
        for at, end, rank, rule in _sentence_cuts(body, lists, dense):
            classes[rank].append((start + at, start + end, rule))
        start += len(sentence)
    classes[2] += list(_adverbials(text, language, pool, lists))
    parts = sentences(text)
    if len(parts) > 1:
        at = len(parts[0])
        for part in parts[1:]:
            classes[4].append((at, at + len(part), "sentence omitted"))
            at += len(part)
    # Keep only cuts that leave quotation marks and brackets in pairs.
    return [
        [cut for cut in found if all(text[cut[0] : cut[1]].count(mark) % 2 == 0 for mark in '"“”„«»()「」')]
        for found in classes
    ]


def _sentence_cuts(body: str, lists: Gazetteer, dense: bool) -> Iterator[tuple[int, int, int, str]]:
    """Yield clauses after the last comma, asides between commas, and openings before the first comma."""
    places = [m.start() for m in regex.finditer(rf"[{_COMMAS}](?!\p{{Nd}})", body)]
    if not places:
        return
    clauses = lists.words.get("clauses", frozenset())
    prepositions = lists.words.get("prepositions", frozenset())
    end = len(body) - (1 if body[-1:] in ".!?。！？।؟" else 0)
    tail = body[places[-1] + 1 : end].strip()
    first = tail.split(" ")[0].lower() if tail else ""
    listing = regex.match(r"(?:and|und|et|y|и|و)$", first)
    if (first in clauses or (lists.language in ("ar", "he") and len(tail.split()) <= 8)) and not listing:
        yield places[-1], end, 1, "clause omitted"
    opening = body[: places[0]].split(" ")[0].lower() in prepositions
    for left, right in pairwise(places):
        inner = body[left + 1 : right].strip()
        words = inner.split(" ")
        short = len(inner) <= 12 if dense else len(words) <= LONGEST_ASIDE
        starts = words[0].lower() in prepositions | clauses | lists.words.get("articles", frozenset())
        if inner and short and not (opening and left == places[0] and words[0].lower() not in prepositions):
            # "The largest, the giant octopus, has": an apposition goes with both of its commas.
            articles = lists.words.get("articles", frozenset())
            apposition = words[0].lower() in articles and len(places) == 2 and not opening
            yield left, right + apposition, 1 if starts else 3, "aside omitted"
    if opening and len(body[: places[0]].split()) <= 7 and body[places[0] + 1 :].strip():
        yield 0, places[0] + 1, 3, "adverbial omitted"


def _adverbials(text: str, language: str, pool: Pool, lists: Gazetteer) -> Iterator[Cut]:
    """Yield adverbials: a preposition and one fact before a mark or `and`, such as `in 1655`, `in Toronto`."""
    verbs = {verb for verb, _ in lists.negations}
    for fact in find_facts(text, language, pool):
        if fact.kind not in ("date", "year", "name"):
            continue
        lead = regex.search(r"(?<=[\p{L}\p{N}%]\s)(\p{L}+)\s$", text_before(text, fact.start))
        follows = _FOLLOWS.match(text, fact.end)
        # In "by Banting and Best" the second name would lose its preposition.
        if follows and fact.kind == "name" and follows.group().strip() in _AND:
            continue
        # "its seat is in New York" means nothing without the place.
        needed = (
            lead
            and regex.split(r"\s+", text_before(text, fact.start - len(lead.group())).rstrip())[-1].lower()
            in verbs
        )
        if lead and follows and not needed and lead[1] in lists.words.get("adverbial", frozenset()):
            yield fact.start - len(lead.group()), fact.end, "adverbial omitted"


def omit(text: str, language: str, pool: Pool, draw: Draw, most: int) -> tuple[str, str] | None:
    """The text without up to `most` parts, one a sentence, and the rules; None if nothing can be left out."""
    starts = [0]
    for sentence in sentences(text):
        starts.append(starts[-1] + len(sentence))
    chosen: dict[int, Cut] = {}
    for group in cuts(text, language, pool):
        for cut in draw.shuffled(group):
            at = bisect_right(starts, cut[0])
            # Leave out a whole sentence only if nothing smaller can go; more would be a higher level.
            whole = cut[2] == "sentence omitted"
            if len(chosen) < most and at not in chosen and not (whole and chosen):
                chosen[at] = cut
    done: list[str] = []
    for cut in sorted(chosen.values(), reverse=True):
        shorter = _cut_text(text, cut)
        if shorter:
            text, done = shorter, [cut[2], *done]
    return (text, " + ".join(dict.fromkeys(done))) if done else None


def _cut_text(text: str, cut: Cut) -> str:
    """The text without the stretch, with spaces, marks and the sentence's capital corrected."""
    before, after = text[: cut[0]], text[cut[1] :]
    if regex.search(r"(?:^|[.!?。]\s*)$", before):
        after = after.lstrip(" ,،、，")
        after = after[:1].upper() + after[1:]
    joined = before.rstrip() + after if regex.match(r"[\s.,;:!?،、，。]", after) else before + after
    return joined.strip()


def replace_by_filler(text: str, reference: str, language: str, draw: Draw) -> tuple[str, str] | None:
    """Replace one sentence (not the first) by filler of its length; the total stays within 10 %.

    None if the language has no filler, or no sentence can be replaced.
    """
    fillers = gazetteer(language).texts.get("fillers", ())
    parts = sentences(text)
    order = draw.shuffled(range(1, len(parts)), "sentence")
    dense = is_unspaced(text)
    for at in order:
        blank = parts[at][len(parts[at].rstrip()) :]
        new = filler(draw.shuffled(fillers, "filler"), count_words(parts[at]), dense)
        if new is None:
            continue
        whole = "".join([*parts[:at], new + blank, *parts[at + 1 :]])
        if whole != text and fits_length(reference, whole):
            return whole, "sentence replaced by filler"
    return None


def cut_and_fill(text: str, language: str, pool: Pool, draw: Draw) -> tuple[str, str] | None:
    """Leave out one part and add filler of the same length; None if either is impossible. For single sentences."""
    cut = omit(text, language, pool, draw, 1)
    fillers = gazetteer(language).texts.get("fillers", ())
    if cut is None or not fillers:
        return None
    dense = is_unspaced(text)
    new = filler(draw.shuffled(fillers, "filler"), count_words(text) - count_words(cut[0]), dense)
    return (cut[0] + ("" if dense else " ") + new, f"{cut[1]} + filler") if new else None


SHORT = 4
"""Most words of an answer that has little more than its fact."""
CARELESS = ("typo", "capital lost", "closing mark dropped")
"""Rules that change letters, not meaning."""

Change = tuple[int, int, str, str]
"""Start, end, new text, rule."""
_DECIMAL_COMMA = frozenset({"de", "fr", "es", "ru"})
"""Languages that write 0,5; the others write 0.5."""


def surface_changes(text: str, language: str, pool: Pool, draw: Draw) -> list[Change]:
    """Small changes to a text, best first: first a fact generalised, then a modifier dropped. None overlaps its own kind."""
    lists = gazetteer(language)
    facts = find_facts(text, language, pool)
    general = [change for fact in facts for change in _generalised(text, fact, lists)]
    dropped = list(_modifiers(text, facts, lists))
    if not general and len(text.split()) <= SHORT:
        general = list(_made_rough(text, facts, lists))
    blurred = [*draw.shuffled(general, "general"), *draw.shuffled(dropped, "dropped")]
    counted = tuple(
        fact
        for fact in facts  # a number that counts something: not `Apollo 11`, not a year
        if (
            fact.kind == "quantity"
            or (fact.kind == "number" and regex.match(r"\s\p{Ll}", text[fact.end : fact.end + 2]))
        )
        and regex.search(r"\p{Lu}[\p{L}.]*\s$", text_before(text, fact.start)) is None
    )
    rough = [] if general else list(_made_rough(text, counted, lists))
    return [*blurred, *rough, *_hedged_sentence(text, lists), *last_changes(text)]


def _hedged_sentence(text: str, lists: Gazetteer) -> Iterator[Change]:
    """Yield a hedge for texts without numbers: `It is red.` gives `It is red, as far as is known.`"""
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
    before = text_before(text, fact.start)
    previous = regex.search(r"([\p{L}]+)\s+$", before)
    if fact.kind == "year" and (decade := rules.get("decade")) and previous:
        if previous[1].lower() in [word.strip() for word in rules.get("year_after", "").split(",")]:
            yield fact.start, fact.end, decade.format(decade=general_year(fact.text)), "year generalised"
    elif fact.kind == "date":
        yield from _drop_day(fact, before, rules.get("day_before", ""), rules.get("day_new", ""))
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
    """Yield `about six` for `six`, for answers with nothing else to blur."""
    about = lists.generalise.get("about", "")
    gap = "" if lists.language in ("ja", "zh") else " "
    for fact in facts:
        if (
            about
            and fact.kind in ("number", "quantity", "year")
            and not _hedged(text_before(text, fact.start), lists)
        ):
            yield fact.start, fact.end, f"{about}{gap}{fact.text}", "made rough"


def _hedged(before: str, lists: Gazetteer) -> bool:
    """Whether the number already has a hedge, or a sign before it that must stay next to it."""
    if before.endswith(("-", "−", "$", "€", "£")) or regex.search(r"\p{L}[\p{L}\p{M}]*-$", before):
        return True
    before = before.rstrip().lower()
    if lists.language in ("ja", "zh"):
        before = before.removesuffix("为").removesuffix("是")  # 约为 5150
    return any(
        before.endswith(form.lower()) for form, entries in lists.entries.items() if entries[0].kind == "hedge"
    )


def _drop_day(fact: Fact, before: str, day_before: str, day_new: str) -> Iterator[Change]:
    """Yield dates without the day: `on 14 January 2005` gives `in January 2005`; 1964年10月1日 gives 1964年10月."""
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
    """Yield listed modifiers in lower case, each with the space after it, to leave out."""
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
    """Changes that any text allows: a typo, a lost capital, and last a dropped closing mark."""
    changes = typos(text)
    if match := regex.search(r"[.!?。！？।؟](?=[\"”»)]*\s*$)", text):
        changes.append((*match.span(), "", "closing mark dropped"))
    return changes


def typos(text: str) -> list[Change]:
    """Typos, best first: two swapped letters in a long word, a lost capital, a doubled character."""
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
    """The text with one change, with spaces and articles corrected."""
    start, end, new, _ = change
    if new:
        return put_in(text, [(start, end, new)])
    before, after = text[:start], text[end:]
    article = regex.search(r"(?<!\p{L})([Aa])n?\s$", before)
    if article and after[:1].isalpha() and after[:1].isascii():
        before = before[: article.start()] + article[1] + ("n" if after[0].lower() in "aeiou" else "") + " "
    return before + after

"""Level 2: a clause, an aside, an adverbial or a name is left out, and the sentence still stands."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

import regex

from core.generation.damage_checks import count_words
from core.generation.rules.draws import Draw
from core.generation.rules.facts import find_facts, near_before
from core.generation.rules.gazetteer import Gazetteer, gazetteer
from core.generation.rules.lengths import filler, sentences, within
from core.generation.rules.pool import Pool
from core.generation.script import is_unspaced

Cut = tuple[int, int, str]
"""Start, end, rule."""
LONGEST_ASIDE = 5
"""Words that a stretch between two commas may have; a longer one is mostly the main clause."""
_AND = frozenset({"and", "und", "et", "y", "и"})
_FOLLOWS = regex.compile(r"[.,;،]|\s(?:and|by|und|et|y|и|on|in)\s|\Z")
_COMMAS = ",،、，"


def cuts(text: str, language: str, pool: Pool) -> list[list[Cut]]:
    """What can be left out, in classes, the safest first."""
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
        for at, end, rank, rule in _in_sentence(body, lists, dense):
            classes[rank].append((start + at, start + end, rule))
        start += len(sentence)
    classes[2] += list(_adverbials(text, language, pool, lists))
    parts = sentences(text)
    if len(parts) > 1:
        at = len(parts[0])
        for part in parts[1:]:
            classes[4].append((at, at + len(part), "sentence omitted"))
            at += len(part)
    return [_whole_quotes(text, found) for found in classes]


def _whole_quotes(text: str, found: list[Cut]) -> list[Cut]:
    """Only cuts that leave quotation marks and brackets in pairs."""
    return [
        cut for cut in found if all(text[cut[0] : cut[1]].count(mark) % 2 == 0 for mark in '"“„”«»()「」')
    ]


def _in_sentence(body: str, lists: Gazetteer, dense: bool) -> Iterator[tuple[int, int, int, str]]:
    """Clauses behind the last comma, asides between commas, openings before the first."""
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
    """`in 1655`, `on 14 January 2005`, `in Toronto`: a preposition and one fact, before a mark or `and`."""
    verbs = {verb for verb, _ in lists.negations}
    for fact in find_facts(text, language, pool):
        if fact.kind not in ("date", "year", "name"):
            continue
        lead = regex.search(r"(?<=[\p{L}\p{N}%]\s)(\p{L}+)\s$", near_before(text, fact.start))
        follows = _FOLLOWS.match(text, fact.end)
        # "by Banting and Best": the second name would be left without its preposition.
        if follows and fact.kind == "name" and follows.group().strip() in _AND:
            continue
        # "its seat is in New York" says nothing without the place.
        needed = (
            lead
            and regex.split(r"\s+", near_before(text, fact.start - len(lead.group())).rstrip())[-1].lower()
            in verbs
        )
        if lead and follows and not needed and lead[1] in lists.words.get("adverbial", frozenset()):
            yield fact.start - len(lead.group()), fact.end, "adverbial omitted"


def omit(text: str, language: str, pool: Pool, draw: Draw, most: int) -> tuple[str, str] | None:
    """The text without up to `most` of its cuts, one a sentence, and the rules; None: nothing can go."""
    starts = [0]
    for sentence in sentences(text):
        starts.append(starts[-1] + len(sentence))
    chosen: dict[int, Cut] = {}
    for group in cuts(text, language, pool):
        for cut in draw.shuffled(group):
            at = bisect_right(starts, cut[0])
            # A whole sentence goes only where nothing smaller can: more than that would be another level.
            whole = cut[2] == "sentence omitted"
            if len(chosen) < most and at not in chosen and not (whole and chosen):
                chosen[at] = cut
    done: list[str] = []
    for cut in sorted(chosen.values(), reverse=True):
        shorter = _without(text, cut)
        if shorter:
            text, done = shorter, [cut[2], *done]
    return (text, " + ".join(dict.fromkeys(done))) if done else None


def _without(text: str, cut: Cut) -> str:
    """The text without the stretch; blanks, marks and the sentence's capital put right."""
    before, after = text[: cut[0]], text[cut[1] :]
    if regex.search(r"(?:^|[.!?。]\s*)$", before):
        after = after.lstrip(" ,،、，")
        after = after[:1].upper() + after[1:]
    joined = before.rstrip() + after if regex.match(r"[\s.,;:!?،、，。]", after) else before + after
    return joined.strip()


def replace_by_filler(text: str, reference: str, language: str, draw: Draw) -> tuple[str, str] | None:
    """One sentence (not the first, where there is another) becomes filler of its length; the total stays within 10 %.

    None where the language has no filler, or no sentence can go.
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
        if whole != text and within(reference, whole):
            return whole, "sentence replaced by filler"
    return None


def cut_and_fill(text: str, language: str, pool: Pool, draw: Draw) -> tuple[str, str] | None:
    """For a single sentence: one cut, and a filler sentence as long as what went; None: no cut or no filler."""
    cut = omit(text, language, pool, draw, 1)
    fillers = gazetteer(language).texts.get("fillers", ())
    if cut is None or not fillers:
        return None
    dense = is_unspaced(text)
    new = filler(draw.shuffled(fillers, "filler"), count_words(text) - count_words(cut[0]), dense)
    return (cut[0] + ("" if dense else " ") + new, f"{cut[1]} + filler") if new else None

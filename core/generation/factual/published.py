"""A published report as traces; and does a report show the steps that it says were taken?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from rapidfuzz.distance import LCSseq

from core.formats.trutheval import FactualReport, ReportQuestion, ReportSettings
from core.generation.factual import keep_first, shared_word, snake_groups, trutheval_shared_word
from core.generation.factual.steps import (
    Dropped,
    Edit,
    FactualLevel,
    FactualTrace,
    FilterOrder,
    Places,
    between,
    fixed_text,
)
from core.generation.language import words_of
from core.generation.parse import Span
from core.schema.study import FIRST_LEVEL

PUBLISHED = "published"
"""Stands for backend, span finder and editor where a report does not say them."""


def spans_in_brackets(bracketed: str, texts: Sequence[str], plain: str) -> Places | None:
    """Where the spans stand in the plain text; None: the bracketed text is not the plain one with these marked.

    Guided by the spans' texts, because an answer may hold square brackets of its own.
    """
    marked = _bracketed(bracketed, texts)
    if marked is None:
        return None
    # Each span stands two brackets earlier for every span before it.
    places = tuple((start - 2 * n, end - 2 * n - 2) for n, (start, end) in enumerate(marked))
    pieces = zip(fixed_text(bracketed, marked), (*texts, ""), strict=True)
    return places if "".join(f"{before}{text}" for before, text in pieces) == plain else None


def _bracketed(bracketed: str, texts: Sequence[str]) -> Places | None:
    """Where the spans stand with their brackets, one behind the other; None: one is not there."""
    places: list[tuple[int, int]] = []
    at = 0
    for text in texts:
        start = bracketed.find(f"[{text}]", at)
        if start < 0:
            return None
        at = start + len(text) + 2
        places.append((start, at))
    return tuple(places)


def to_traces(report: FactualReport) -> tuple[FactualTrace, ...]:
    """Every item of a report as a trace, as far as the report says; item ids are the places in it, from 0."""
    return tuple(_trace(str(number), question) for number, question in enumerate(report.questions))


def _trace(item_id: str, question: ReportQuestion) -> FactualTrace:
    texts = question.raw_factual_data or ()
    plain = question.answers.get(FIRST_LEVEL, "")
    places = spans_in_brackets(question.with_brackets.get(FIRST_LEVEL, ""), texts, plain)
    if places is None or not texts:
        why = "no spans" if not texts else "spans not found"
        levels = tuple(FactualLevel(name, text) for name, text in sorted(question.answers.items()))
        detail = "The bracketed A0 does not hold the spans that the report lists." if texts else ""
        return FactualTrace(item_id, PUBLISHED, levels=levels, failed_step="spans", reason=why, detail=detail)
    spans = tuple(Span(a, b, text, PUBLISHED) for (a, b), text in zip(places, texts, strict=True))
    ranking = _numbers(question.ranked_factual_data or (), texts)
    kept = _numbers(question.factual_data or (), texts, ranking)
    levels, groups, notes = _levels(question, texts)
    return FactualTrace(
        item_id,
        PUBLISHED,
        "llm",
        spans,
        PUBLISHED,
        "en",
        _dropped(question, texts, ranking, kept),
        ranking,
        kept,
        groups,
        levels,
        notes,
    )


def _numbers(wanted: Sequence[str], texts: Sequence[str], order: Sequence[int] = ()) -> tuple[int, ...]:
    """Span numbers of texts; of equal texts the first in `order` (else in the text) that is still free."""
    free = list(order or range(len(texts)))
    numbers = []
    for text in wanted:
        number = next((n for n in free if texts[n] == text), None)
        if number is not None:
            free.remove(number)
            numbers.append(number)
    return tuple(numbers)


def _dropped(
    question: ReportQuestion, texts: Sequence[str], ranking: Sequence[int], kept: Sequence[int]
) -> tuple[Dropped, ...]:
    named = set(question.blacklisted or ())
    dropped = []
    for number, text in enumerate(texts):
        if number in kept:
            continue
        if text.lower() in named:
            word = trutheval_shared_word(question.question, text, words_of("en")) or ""
            dropped.append(Dropped(number, "in the question", word))
        elif number in ranking:
            dropped.append(Dropped(number, "not kept"))
    return tuple(dropped)


def _levels(
    question: ReportQuestion, texts: Sequence[str]
) -> tuple[tuple[FactualLevel, ...], tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Levels, the groups that their brackets show, and what is odd about them."""
    levels = [FactualLevel(FIRST_LEVEL, question.answers[FIRST_LEVEL])]
    groups: list[tuple[int, ...]] = []
    notes: list[str] = []
    marked = list(range(len(texts)))
    before = question.with_brackets[FIRST_LEVEL]
    for name in sorted(set(question.with_brackets) - {FIRST_LEVEL}, key=lambda name: int(name[1:])):
        after = question.with_brackets[name]
        still = _still_marked(marked, texts, after)
        group = tuple(number for number in marked if number not in still)
        edits = _edits(before, after, marked, group, texts)
        if edits is None:
            notes.append(f"{name}: more than its spans changed, so replacements cannot be told apart.")
        levels.append(FactualLevel(name, question.answers.get(name, after), group, edits or ()))
        groups.append(group)
        marked, before = still, after
    return tuple(levels), tuple(groups), tuple(notes)


def _still_marked(marked: Sequence[int], texts: Sequence[str], after: str) -> list[int]:
    """Of the spans marked before, those that the next level still has in brackets, in order."""
    found = [piece.split("]")[0] for piece in after.split("[")[1:] if "]" in piece]
    numbers: dict[str, int] = {}
    first = [numbers.setdefault(texts[number], len(numbers)) for number in marked]
    second = [numbers.setdefault(text, len(numbers)) for text in found]
    blocks = (step for step in LCSseq.opcodes(first, second) if step.tag == "equal")
    return [marked[at] for step in blocks for at in range(step.src_start, step.src_end)]


def _edits(
    before: str, after: str, marked: Sequence[int], group: Sequence[int], texts: Sequence[str]
) -> tuple[Edit, ...] | None:
    """What stands now where the group's brackets stood; None where the text around them changed too."""
    places = _bracketed(before, [texts[number] for number in marked])
    if places is None:
        return None
    gone = tuple(place for number, place in zip(marked, places, strict=True) if number in group)
    found = between(fixed_text(before, gone), after)
    if found is None:
        return None
    return tuple(Edit(n, texts[n], new, PUBLISHED) for n, new in zip(group, found, strict=True))


Case = Literal["kept", "lowered"]
KEEP = 0.8
"""k of 003."""


@dataclass(frozen=True)
class ReplayedItem:
    """One item's comparison; a reason where something does not match or cannot be compared."""

    item: int
    """Place in the report, from 0."""
    question: str
    brackets: bool
    code_order: bool
    paper_order: bool
    group_sizes: bool
    reasons: tuple[str, ...] = ()
    """One sentence for everything that does not match; the order that the run did not take has none."""
    failed: str | None = None
    """Where the run could not make the item: nothing of it is compared. None: it was made."""


@dataclass(frozen=True)
class Replay:
    """How many items of a report match, step by step. Items that failed count in none but `items`."""

    items: int
    brackets_match: int
    """A0 without its brackets is the answer, and the brackets hold the listed spans."""
    filter_match_code_order: int
    """First the top ceil(k n), then without the question's words; a ranking that lacks spans was not made so."""
    filter_match_paper_order: int
    """First without the question's words, then the top ceil(k n)."""
    group_sizes_match: int
    """Brackets that went from level to level, as many as the snake's groups have members, in any order."""
    case: Case
    """Whether the report's code compared spans with the dropped ones as written or in lower case."""
    per_item: tuple[ReplayedItem, ...] = ()
    order: FilterOrder | None = None
    """The order that the report states, else the one that fits more items; None: both fit as many."""
    order_stated: bool = False
    keep: float = KEEP
    compared: int = 0
    """Items that did not fail."""
    failed: tuple[int, ...] = ()
    """Places of the failed items, from 0."""
    verdict: str = ""
    """The outcome in a sentence or two."""


def replay(report: FactualReport, keep: float | None = None) -> Replay:
    """Do the filter, the selection and the grouping of a report again.

    keep: the share that the report's run kept; None: what the report says, else 003's.
    """
    told = report.settings
    share = keep if keep is not None else told.keep if told is not None else KEEP
    made = [_levels_made(question) for question in report.questions]
    n_levels = told.levels if told is not None else max(made, default=0)
    cases: tuple[Case, ...] = ("lowered", "kept") if told is None else ("lowered",)
    tries = {
        case: [_item(n, q, case, share, told, n_levels) for n, q in enumerate(report.questions)]
        for case in cases
    }
    case = max(cases, key=lambda case: max(_fits(tries[case])))
    code, paper = _fits(tries[case])
    order: FilterOrder | None = None
    if told is not None or code != paper:
        order = "paper" if (told.filter_order == "paper" if told else paper > code) else "trutheval"
    items = tuple(_finished(tried, order) for tried in tries[case])
    failed = tuple(item.item for item in items if item.failed is not None)
    result = Replay(
        len(items),
        sum(item.brackets for item in items),
        code,
        paper,
        sum(item.group_sizes for item in items),
        case,
        items,
        order,
        told is not None,
        share,
        len(items) - len(failed),
        failed,
    )
    return replace(result, verdict=_verdict(result))


_Tried = tuple[ReplayedItem, str, str]
"""An item, and what is wrong with its selection in the code's and in the paper's order."""


def _fits(tried: Sequence[_Tried]) -> tuple[int, int]:
    return sum(item.code_order for item, _, _ in tried), sum(item.paper_order for item, _, _ in tried)


def _finished(tried: _Tried, order: FilterOrder | None) -> ReplayedItem:
    """The item with the reason why its selection does not match the run's order."""
    item, code, paper = tried
    wrong = paper if order == "paper" else code if order == "trutheval" else code and paper
    if item.failed is not None or not wrong:
        return item
    return replace(item, reasons=(f"Selection: {wrong}.", *item.reasons))


def _item(
    number: int, question: ReportQuestion, case: Case, keep: float, told: ReportSettings | None, n_levels: int
) -> _Tried:
    spans, ranked, kept = question.raw_factual_data, question.ranked_factual_data, question.factual_data
    why = _why_failed(question, n_levels)
    if why is not None or spans is None or ranked is None or kept is None:
        item = ReplayedItem(number, question.question, False, False, False, False, (why or "",), why)
        return item, "", ""
    reasons = []
    marked = question.with_brackets[FIRST_LEVEL]
    brackets = spans_in_brackets(marked, spans, question.answers[FIRST_LEVEL]) is not None
    if not brackets:
        reasons.append("A0's brackets do not hold the listed spans.")
    dropped = _dropped_texts(question, told)

    def without(texts: Sequence[str]) -> Sequence[str]:
        return [text for text in texts if (text if case == "kept" else text.lower()) not in dropped]

    paper = _difference(keep_first(without(ranked), keep), kept)
    if Counter(ranked) == Counter(spans):
        code = _difference(without(keep_first(ranked, keep)), kept)
    else:
        # That order ranks every span; this ranking was made after spans had been dropped.
        code = "the ranking lacks spans, so the filter came before it"
    sizes = _group_sizes(question)
    expected = [len(group) for group in snake_groups(len(kept), len(sizes))] if sizes else []
    same_sizes = bool(sizes) and sorted(sizes) == sorted(expected)
    if not same_sizes:
        reasons.append(f"Groups: {sizes} brackets went at the levels, {expected} were dealt.")
    item = ReplayedItem(number, question.question, brackets, not code, not paper, same_sizes, tuple(reasons))
    return item, code, paper


def _why_failed(question: ReportQuestion, n_levels: int) -> str | None:
    """One sentence where an item was not made to the end."""
    if not question.raw_factual_data:
        return "The item failed: the report has no spans for it."
    if question.ranked_factual_data is None or question.factual_data is None:
        return "The item failed: the report has no ranking or no selection for it."
    if not question.factual_data and _levels_made(question) < n_levels:
        return "The item failed: no span was left to edit."
    if (made := _levels_made(question)) < n_levels:
        return f"The item failed: of A1 to A{n_levels} the report has {made} levels."
    return None


def _levels_made(question: ReportQuestion) -> int:
    """Levels beyond A0."""
    return len(set(question.with_brackets) - {FIRST_LEVEL})


def _dropped_texts(question: ReportQuestion, told: ReportSettings | None) -> frozenset[str]:
    """The spans that the report's question filter (trutheval's, where it names none) drops, in lower case as its list."""
    share = shared_word if told is not None and told.question_filter == "words" else trutheval_shared_word
    # "de (guessed)" is the list de; `none` is the name of no list.
    language = "en" if share is trutheval_shared_word else question.stop_words.split(" ")[0]
    return frozenset(
        text.lower()
        for text in question.raw_factual_data or ()
        if share(question.question, text, words_of(language)) is not None
    )


def _difference(made: Sequence[str], found: Sequence[str]) -> str:
    """What a report's list has otherwise than it was made again; empty: nothing."""
    if tuple(made) == tuple(found):
        return ""
    extra, missing = Counter(made) - Counter(found), Counter(found) - Counter(made)
    if not extra and not missing:
        return "the same spans in another order"
    lacks, has = (", ".join(f"“{text}”" for text in sorted(one.elements())) for one in (extra, missing))
    parts = (lacks and f"the report lacks {lacks}", has and f"the report has {has} besides")
    return ", ".join(filter(None, parts))


def _group_sizes(question: ReportQuestion) -> list[int]:
    """How many brackets went at each level."""
    names = sorted(question.with_brackets, key=lambda name: int(name[1:]))
    # The text may hold brackets of its own, which stand in the plain answer too.
    counts = [
        question.with_brackets[name].count("[") - question.answers.get(name, "").count("[") for name in names
    ]
    return [before - after for before, after in pairwise(counts)]


def _verdict(result: Replay) -> str:
    percent = f"{100 * result.keep:g} %"
    steps = {
        "paper": f"the paper's order (drop, then keep {percent})",
        "trutheval": f"the code's order (keep {percent}, then drop)",
    }
    if not result.compared:
        said = "No item was made to the end, so there is nothing to compare."
    elif result.order is None:
        both = (
            f"Both orders of filter and keep fit {result.filter_match_code_order} of {result.compared} items"
        )
        said = f"{both}: they cannot be told apart."
    else:
        paper = result.order == "paper"
        fits = result.filter_match_paper_order if paper else result.filter_match_code_order
        who = ", as the report states" if result.order_stated else ""
        said = f"The selection follows {steps[result.order]}{who}, in {fits} of {result.compared} items."
        if fits < result.compared:
            said += " The others were selected otherwise."
    if result.failed:
        named = ", ".join(str(number + 1) for number in result.failed)
        said += f" Failed and not compared: item{'s' if len(result.failed) > 1 else ''} {named}."
    return said

"""Convert a published report to traces, and check that a report follows the steps that it states."""

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
    fixed_text,
    gap_contents,
)
from core.generation.language import words_of
from core.generation.parse import Span
from core.schema.study import FIRST_LEVEL

PUBLISHED = "published"
"""Value of backend, span finder and editor if a report does not state them."""


def spans_in_brackets(bracketed: str, texts: Sequence[str], plain: str) -> Places | None:
    """The spans' places in the plain text; None if the bracketed text is not the plain text with these spans marked.

    Searches for the spans' texts, because an answer may have square brackets of its own.
    """
    marked = _bracketed(bracketed, texts)
    if marked is None:
        return None
    # In the plain text each span moves left by two brackets for every span before it.
    places = tuple((start - 2 * n, end - 2 * n - 2) for n, (start, end) in enumerate(marked))
    pieces = zip(fixed_text(bracketed, marked), (*texts, ""), strict=True)
    return places if "".join(f"{before}{text}" for before, text in pieces) == plain else None


def _bracketed(bracketed: str, texts: Sequence[str]) -> Places | None:
    """The places of the bracketed spans, one after the other; None if one is missing."""
    places: list[tuple[int, int]] = []
    at = 0
    for text in texts:
        start = bracketed.find(f"[{text}]", at)
        if start < 0:
            return None
        at = start + len(text) + 2
        places.append((start, at))
    return tuple(places)


def report_traces(report: FactualReport) -> tuple[FactualTrace, ...]:
    """Every item of a report as a trace, with what the report states; item ids are positions in it, from 0."""
    return tuple(_trace(str(number), question) for number, question in enumerate(report.questions))


def _trace(item_id: str, question: ReportQuestion) -> FactualTrace:
    texts = question.raw_factual_data or ()
    plain = question.answers.get(FIRST_LEVEL, "")
    places = spans_in_brackets(question.with_brackets.get(FIRST_LEVEL, ""), texts, plain)
    if places is None or not texts:
        why = "no spans" if not texts else "spans not found"
        levels = tuple(FactualLevel(name, text) for name, text in sorted(question.answers.items()))
        detail = "The bracketed A0 does not contain the spans that the report lists." if texts else ""
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
    """Span numbers of texts; equal texts get the first free number in `order`, else in the text."""
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
    """Levels, the groups that their brackets show, and notes on irregular levels."""
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
            notes.append(f"{name}: text outside its spans changed, so replacements cannot be identified.")
        levels.append(FactualLevel(name, question.answers.get(name, after), group, edits or ()))
        groups.append(group)
        marked, before = still, after
    return tuple(levels), tuple(groups), tuple(notes)


def _still_marked(marked: Sequence[int], texts: Sequence[str], after: str) -> list[int]:
    """The spans marked before that still have brackets in the next level, in order."""
    found = [piece.split("]")[0] for piece in after.split("[")[1:] if "]" in piece]
    numbers: dict[str, int] = {}
    first = [numbers.setdefault(texts[number], len(numbers)) for number in marked]
    second = [numbers.setdefault(text, len(numbers)) for text in found]
    blocks = (step for step in LCSseq.opcodes(first, second) if step.tag == "equal")
    return [marked[at] for step in blocks for at in range(step.src_start, step.src_end)]


def _edits(
    before: str, after: str, marked: Sequence[int], group: Sequence[int], texts: Sequence[str]
) -> tuple[Edit, ...] | None:
    """The new texts in place of the group's brackets; None if the text around them changed too."""
    places = _bracketed(before, [texts[number] for number in marked])
    if places is None:
        return None
    gone = tuple(place for number, place in zip(marked, places, strict=True) if number in group)
    found = gap_contents(fixed_text(before, gone), after)
    if found is None:
        return None
    return tuple(Edit(n, texts[n], new, PUBLISHED) for n, new in zip(group, found, strict=True))


Case = Literal["kept", "lowered"]
KEEP = 0.8
"""Factual's k."""


@dataclass(frozen=True)
class ReplayedItem:
    """One item's comparison, with reasons for mismatches and for what cannot be compared."""

    item: int
    """Position in the report, from 0."""
    question: str
    brackets: bool
    code_order: bool
    paper_order: bool
    group_sizes: bool
    reasons: tuple[str, ...] = ()
    """One sentence for each mismatch; none for the order that the run did not use."""
    failed: str | None = None
    """Why the run failed to make the item, which is then not compared; None if it was made."""


@dataclass(frozen=True)
class Replay:
    """The number of items of a report that match, step by step. Failed items count only in `items`."""

    items: int
    brackets_match: int
    """Items whose A0 without brackets is the answer, with the listed spans in brackets."""
    filter_match_code_order: int
    """Items that match the order: keep the top ceil(k n), then filter by the question. A ranking without some spans
    does not match."""
    filter_match_paper_order: int
    """Items that match the order: filter by the question, then keep the top ceil(k n)."""
    group_sizes_match: int
    """Items whose brackets disappear level by level in the sizes of the snake's groups, in any order."""
    case: Case
    """Whether the report's code compared spans with dropped spans as written or in lower case."""
    per_item: tuple[ReplayedItem, ...] = ()
    order: FilterOrder | None = None
    """The order that the report states, else the one that fits more items; None if both fit the same number."""
    order_stated: bool = False
    keep: float = KEEP
    compared: int = 0
    """Number of items that did not fail."""
    failed: tuple[int, ...] = ()
    """Positions of the failed items, from 0."""
    verdict: str = ""
    """The outcome in a sentence or two."""


def replay(report: FactualReport, keep: float | None = None) -> Replay:
    """Repeat the filter, the selection and the grouping of a report.

    keep: the share that the report's run kept; None takes the report's value, else Factual's.
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
"""An item, and the problem with its selection in the code's order and in the published order."""


def _fits(tried: Sequence[_Tried]) -> tuple[int, int]:
    return sum(item.code_order for item, _, _ in tried), sum(item.paper_order for item, _, _ in tried)


def _finished(tried: _Tried, order: FilterOrder | None) -> ReplayedItem:
    """The item, with the reason if its selection does not match the run's order."""
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
        reasons.append("A0's brackets do not contain the listed spans.")
    dropped = _dropped_texts(question, told)

    def without(texts: Sequence[str]) -> Sequence[str]:
        return [text for text in texts if (text if case == "kept" else text.lower()) not in dropped]

    paper = _difference(keep_first(without(ranked), keep), kept)
    if Counter(ranked) == Counter(spans):
        code = _difference(without(keep_first(ranked, keep)), kept)
    else:
        # Factual's code ranks every span; here spans were dropped before the ranking.
        code = "the ranking lacks spans, so the filter came first"
    sizes = _group_sizes(question)
    expected = [len(group) for group in snake_groups(len(kept), len(sizes))] if sizes else []
    same_sizes = bool(sizes) and sorted(sizes) == sorted(expected)
    if not same_sizes:
        reasons.append(f"Groups: {sizes} brackets disappear at the levels, expected {expected}.")
    item = ReplayedItem(number, question.question, brackets, not code, not paper, same_sizes, tuple(reasons))
    return item, code, paper


def _why_failed(question: ReportQuestion, n_levels: int) -> str | None:
    """One sentence if an item was not finished, else None."""
    if not question.raw_factual_data:
        return "The item failed: the report has no spans for it."
    if question.ranked_factual_data is None or question.factual_data is None:
        return "The item failed: the report has no ranking or no selection for it."
    if not question.factual_data and _levels_made(question) < n_levels:
        return "The item failed: no span was left to edit."
    if (made := _levels_made(question)) < n_levels:
        return f"The item failed: the report has {made} of the levels A1 to A{n_levels}."
    return None


def _levels_made(question: ReportQuestion) -> int:
    """The number of levels beyond A0."""
    return len(set(question.with_brackets) - {FIRST_LEVEL})


def _dropped_texts(question: ReportQuestion, told: ReportSettings | None) -> frozenset[str]:
    """The spans that the report's question filter drops (trutheval's if it names none), in lower case like its list."""
    share = shared_word if told is not None and told.question_filter == "words" else trutheval_shared_word
    # "de (guessed)" means the list de; `none` means no list.
    language = "en" if share is trutheval_shared_word else question.stop_words.split(" ")[0]
    return frozenset(
        text.lower()
        for text in question.raw_factual_data or ()
        if share(question.question, text, words_of(language)) is not None
    )


def _difference(made: Sequence[str], found: Sequence[str]) -> str:
    """The differences of a report's list from the repeated one; empty if there are none."""
    if tuple(made) == tuple(found):
        return ""
    extra, missing = Counter(made) - Counter(found), Counter(found) - Counter(made)
    if not extra and not missing:
        return "the same spans in another order"
    lacks, has = (", ".join(f"“{text}”" for text in sorted(one.elements())) for one in (extra, missing))
    parts = (lacks and f"the report lacks {lacks}", has and f"the report also has {has}")
    return ", ".join(filter(None, parts))


def _group_sizes(question: ReportQuestion) -> list[int]:
    """The number of brackets that disappear at each level."""
    names = sorted(question.with_brackets, key=lambda name: int(name[1:]))
    # The text may have brackets of its own, which are in the plain answer too.
    counts = [
        question.with_brackets[name].count("[") - question.answers.get(name, "").count("[") for name in names
    ]
    return [before - after for before, after in pairwise(counts)]


def _verdict(result: Replay) -> str:
    percent = f"{100 * result.keep:g} %"
    steps = {
        "paper": f"the order of Factual's paper (drop, then keep {percent})",
        "trutheval": f"the order of Factual's code (keep {percent}, then drop)",
    }
    if not result.compared:
        verdict = "No item was finished, so there is nothing to compare."
    elif result.order is None:
        both = (
            f"Both orders of filter and keep fit {result.filter_match_code_order} of {result.compared} items"
        )
        verdict = f"{both}, so the order is undecided."
    else:
        paper = result.order == "paper"
        fits = result.filter_match_paper_order if paper else result.filter_match_code_order
        who = ", as the report states" if result.order_stated else ""
        verdict = f"The selection follows {steps[result.order]}{who}, in {fits} of {result.compared} items."
        if fits < result.compared:
            verdict += " The others do not match."
    if result.failed:
        named = ", ".join(str(number + 1) for number in result.failed)
        verdict += f" Failed and not compared: item{'s' if len(result.failed) > 1 else ''} {named}."
    return verdict

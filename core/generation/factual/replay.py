"""Does a report show the steps that it says were taken? Each deterministic step is done again and compared.

A report of ours says what its run took, and is replayed with that. The paper's does not: its share is .8, its filter
trutheval's, and of the two orders of filter and keep the one that fits more items is taken for the run's. The code
behind the published reports came in two versions: one compared spans with the list of dropped ones as they were
written, so that a span with a capital escaped, the later one in lower case. This too is chosen by the fit.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from core.datasets.factual_report import FactualReport, ReportQuestion, ReportSettings
from core.generation.factual.grouping import keep_first, snake_groups
from core.generation.factual.published import spans_in_brackets
from core.generation.factual.question_filter import shared_word, trutheval_shared_word
from core.generation.records import FilterOrder
from core.generation.stop_words import words_of
from core.schema import FIRST_LEVEL

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
    n_levels = (
        told.levels if told is not None else max((_levels_made(q) for q in report.questions), default=0)
    )
    cases: tuple[Case, ...] = ("lowered", "kept") if told is None else ("lowered",)
    tries = {
        case: [_item(n, q, case, share, told, n_levels) for n, q in enumerate(report.questions)]
        for case in cases
    }
    case = max(cases, key=lambda case: max(_fits(tries[case])))
    code, paper = _fits(tries[case])
    order: FilterOrder | None = None
    if told is not None:
        order = "paper" if told.filter_order == "paper" else "trutheval"
    elif code != paper:
        order = "paper" if paper > code else "trutheval"
    items = tuple(_finished(tried, order) for tried in tries[case])
    failed = tuple(item.item for item in items if item.failed is not None)
    compared = len(items) - len(failed)
    return Replay(
        items=len(items),
        brackets_match=sum(item.brackets for item in items),
        filter_match_code_order=code,
        filter_match_paper_order=paper,
        group_sizes_match=sum(item.group_sizes for item in items),
        case=case,
        per_item=items,
        order=order,
        order_stated=told is not None,
        keep=share,
        compared=compared,
        failed=failed,
        verdict=_verdict(order, told is not None, share, code, paper, compared, failed),
    )


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
    return ReplayedItem(**{**vars(item), "reasons": (f"Selection: {wrong}.", *item.reasons)})


def _item(
    number: int,
    question: ReportQuestion,
    case: Case,
    keep: float,
    told: ReportSettings | None,
    n_levels: int,
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
    dropped = dropped_texts(question, told)
    paper = _difference(keep_first_texts(without(ranked, dropped, case), keep), kept)
    if Counter(ranked) == Counter(spans):
        code = _difference(without(keep_first_texts(ranked, keep), dropped, case), kept)
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


def dropped_texts(question: ReportQuestion, told: ReportSettings | None = None) -> frozenset[str]:
    """The spans that the report's question filter drops, in lower case as the list in a report.

    told: whose filter it was; None: trutheval's.
    """
    share = shared_word if told is not None and told.question_filter == "words" else trutheval_shared_word
    # "de (guessed)" is the list de; `none` is the name of no list.
    language = "en" if share is trutheval_shared_word else question.stop_words.split(" ")[0]
    return frozenset(
        text.lower()
        for text in question.raw_factual_data or ()
        if share(question.question, text, words_of(language)) is not None
    )


def without(texts: Sequence[str], dropped: frozenset[str], case: Case) -> tuple[str, ...]:
    """The texts that are not on the list, compared as written (`kept`) or in lower case."""
    return tuple(text for text in texts if (text if case == "kept" else text.lower()) not in dropped)


def keep_first_texts(texts: Sequence[str], keep: float) -> tuple[str, ...]:
    """The first ceil(keep * n) texts."""
    return tuple(texts[number] for number in keep_first(range(len(texts)), keep))


def _difference(made: Sequence[str], found: Sequence[str]) -> str:
    """What a report's list has otherwise than it was made again; empty: nothing."""
    if tuple(made) == tuple(found):
        return ""
    extra, missing = Counter(made) - Counter(found), Counter(found) - Counter(made)
    if not extra and not missing:
        return "the same spans in another order"
    parts = [f"the report lacks {_listed(extra)}"] if extra else []
    parts += [f"the report has {_listed(missing)} besides"] if missing else []
    return ", ".join(parts)


def _listed(texts: Counter[str]) -> str:
    return ", ".join(f"“{text}”" for text in sorted(texts.elements()))


def _group_sizes(question: ReportQuestion) -> list[int]:
    """How many brackets went at each level."""
    names = sorted(question.with_brackets, key=lambda name: int(name[1:]))
    # The text may hold brackets of its own, which stand in the plain answer too.
    counts = [
        question.with_brackets[name].count("[") - question.answers.get(name, "").count("[") for name in names
    ]
    return [before - after for before, after in pairwise(counts)]


def _verdict(
    order: FilterOrder | None,
    stated: bool,
    keep: float,
    code: int,
    paper: int,
    compared: int,
    failed: Sequence[int],
) -> str:
    percent = f"{100 * keep:g} %"
    steps = {
        "paper": f"the paper's order (drop, then keep {percent})",
        "trutheval": f"the code's order (keep {percent}, then drop)",
    }
    if not compared:
        said = "No item was made to the end, so there is nothing to compare."
    elif order is None:
        said = f"Both orders of filter and keep fit {code} of {compared} items: they cannot be told apart."
    else:
        fits = paper if order == "paper" else code
        who = ", as the report states" if stated else ""
        said = f"The selection follows {steps[order]}{who}, in {fits} of {compared} items."
        if fits < compared:
            said += " The others were selected otherwise."
    if failed:
        named = ", ".join(str(number + 1) for number in failed)
        said += f" Failed and not compared: item{'s' if len(failed) > 1 else ''} {named}."
    return said

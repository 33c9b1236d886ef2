"""Does a report show the steps that it says were taken? Each deterministic step is done again and compared.

The code behind the published reports came in two versions: one compared spans with the list of dropped ones as
they were written, so that a span with a capital escaped, the later one in lower case. The one that fits more items
of a report is taken for the whole report, and named.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from core.datasets.factual_report import FactualReport, ReportQuestion
from core.generation.factual.grouping import keep_first, snake_groups
from core.generation.factual.published import bracket_texts, spans_in_brackets
from core.generation.factual.question_filter import trutheval_shared_word
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
    """One sentence for everything that does not match; the paper's order is no fault and has none."""


@dataclass(frozen=True)
class Replay:
    """How many items of a report match, step by step."""

    items: int
    brackets_match: int
    """A0 without its brackets is the answer, and the brackets hold the listed spans."""
    filter_match_code_order: int
    """First the top ceil(.8 n), then without the question's words."""
    filter_match_paper_order: int
    """First without the question's words, then the top ceil(.8 n)."""
    group_sizes_match: int
    """Brackets that went from level to level, as many as the snake's groups have members, in any order."""
    case: Case
    """Whether the report's code compared spans with the dropped ones as written or in lower case."""
    per_item: tuple[ReplayedItem, ...] = ()


def replay(report: FactualReport, keep: float = KEEP) -> Replay:
    """Do the filter, the selection and the grouping of a report again.

    keep: the share that the report's run kept.
    """
    cases: tuple[Case, Case] = ("lowered", "kept")
    tries = {case: [_item(n, q, case, keep) for n, q in enumerate(report.questions)] for case in cases}
    case = max(cases, key=lambda case: sum(item.code_order for item in tries[case]))
    items = tries[case]
    return Replay(
        items=len(items),
        brackets_match=sum(item.brackets for item in items),
        filter_match_code_order=sum(item.code_order for item in items),
        filter_match_paper_order=sum(item.paper_order for item in items),
        group_sizes_match=sum(item.group_sizes for item in items),
        case=case,
        per_item=tuple(items),
    )


def _item(number: int, question: ReportQuestion, case: Case, keep: float) -> ReplayedItem:
    spans, ranked, kept = question.raw_factual_data, question.ranked_factual_data, question.factual_data
    if spans is None or ranked is None or kept is None:
        reason = "The report has no spans, no ranking or no selection for this item."
        return ReplayedItem(number, question.question, False, False, False, False, (reason,))
    reasons = []
    marked = question.with_brackets[FIRST_LEVEL]
    brackets = spans_in_brackets(marked, spans, question.answers[FIRST_LEVEL]) is not None
    if not brackets:
        reasons.append("A0's brackets do not hold the listed spans.")
    dropped = dropped_texts(question.question, spans)
    code = without(keep_first_texts(ranked, keep), dropped, case)
    paper = keep_first_texts(without(ranked, dropped, case), keep)
    if code != kept:
        reasons.append(f"Selection: {_difference(code, kept)}.")
    sizes = _group_sizes(question)
    expected = [len(group) for group in snake_groups(len(kept), len(sizes))] if sizes else []
    same_sizes = bool(sizes) and sorted(sizes) == sorted(expected)
    if not same_sizes:
        reasons.append(f"Groups: {sizes} brackets went at the levels, {expected} were dealt.")
    return ReplayedItem(
        number, question.question, brackets, code == kept, paper == kept, same_sizes, tuple(reasons)
    )


def dropped_texts(question: str, spans: Sequence[str]) -> frozenset[str]:
    """The list of dropped spans as that code keeps it: in lower case."""
    stop_words = words_of("en")
    return frozenset(
        text.lower() for text in spans if trutheval_shared_word(question, text, stop_words) is not None
    )


def without(texts: Sequence[str], dropped: frozenset[str], case: Case) -> tuple[str, ...]:
    """The texts that are not on the list, compared as written (`kept`) or in lower case."""
    return tuple(text for text in texts if (text if case == "kept" else text.lower()) not in dropped)


def keep_first_texts(texts: Sequence[str], keep: float) -> tuple[str, ...]:
    """The first ceil(keep * n) texts."""
    return tuple(texts[number] for number in keep_first(range(len(texts)), keep))


def _difference(made: Sequence[str], found: Sequence[str]) -> str:
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
    counts = [len(bracket_texts(question.with_brackets[name])) for name in names]
    return [before - after for before, after in pairwise(counts)]

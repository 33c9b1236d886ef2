"""Published reports -> traces to look at, and our traces -> a report in that format."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rapidfuzz.distance import LCSseq

from core.datasets.factual_report import FactualReport, ReportQuestion, ReportSettings
from core.generation.factual.editing import Places, between, fixed_text
from core.generation.factual.marking import with_brackets
from core.generation.factual.question_filter import trutheval_shared_word
from core.generation.factual.steps import FactualSettings
from core.generation.records import Dropped, Edit, FactualLevel, FactualTrace, Span
from core.generation.stop_words import words_of
from core.schema import FIRST_LEVEL, Material

PUBLISHED = "published"
"""Stands for backend, span finder and editor where a report does not say them."""


def spans_in_brackets(bracketed: str, texts: Sequence[str], plain: str) -> Places | None:
    """Where the spans stand in the plain text; None: the bracketed text is not the plain one with these marked.

    Guided by the spans' texts, because an answer may hold square brackets of its own.
    """
    places: list[tuple[int, int]] = []
    at = 0
    pieces: list[str] = []
    length = 0
    for text in texts:
        start = bracketed.find(f"[{text}]", at)
        if start < 0:
            return None
        pieces += [bracketed[at:start], text]
        length += start - at
        places.append((length, length + len(text)))
        length += len(text)
        at = start + len(text) + 2
    pieces.append(bracketed[at:])
    return tuple(places) if "".join(pieces) == plain else None


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
    kept = tuple(n for n in _numbers(question.factual_data or (), texts, ranking))
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
    stop_words = words_of("en")
    dropped = []
    for number in range(len(texts)):
        if number in kept or (number not in ranking and texts[number].lower() not in named):
            continue
        if texts[number].lower() in named:
            word = trutheval_shared_word(question.question, texts[number], stop_words) or ""
            dropped.append(Dropped(number, "in the question", word))
        else:
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
    found = bracket_texts(after)
    numbers: dict[str, int] = {}
    first = [numbers.setdefault(texts[number], len(numbers)) for number in marked]
    second = [numbers.setdefault(text, len(numbers)) for text in found]
    blocks = (step for step in LCSseq.opcodes(first, second) if step.tag == "equal")
    return [marked[at] for step in blocks for at in range(step.src_start, step.src_end)]


def bracket_texts(text: str) -> list[str]:
    """What stands in square brackets, outermost, left to right."""
    return [piece.split("]")[0] for piece in text.split("[")[1:] if "]" in piece]


def _edits(
    before: str, after: str, marked: Sequence[int], group: Sequence[int], texts: Sequence[str]
) -> tuple[Edit, ...] | None:
    """What stands now where the group's brackets stood; None where the text around them changed too."""
    places: list[tuple[int, int]] = []
    at = 0
    for number in marked:
        start = before.find(f"[{texts[number]}]", at)
        if start < 0:
            return None
        at = start + len(texts[number]) + 2
        if number in group:
            places.append((start, at))
    found = between(fixed_text(before, tuple(places)), after)
    if found is None:
        return None
    return tuple(Edit(n, texts[n], new, PUBLISHED) for n, new in zip(group, found, strict=True))


def from_traces(
    traces: Sequence[FactualTrace],
    materials: Mapping[str, Material],
    settings: FactualSettings | None = None,
) -> FactualReport:
    """Our traces as a report: spans as texts, brackets a level, counters of what failed. Thinking has no place.

    materials: item id -> what the item was made from.
    settings: what the run took, so that a replay takes the same; None: the report does not say.
    """
    failed = Counter(f"{trace.failed_step}: {trace.reason}" for trace in traces if trace.failed_step)
    rank_failures = [trace for trace in traces if trace.failed_step == "rank"]
    counters = {
        "input_samples": len(traces),
        "find_factual_data_error": sum(trace.failed_step == "spans" for trace in traces),
        "json_parse_ranking_error": sum(trace.reason == "invalid" for trace in rank_failures),
        "index_ranking_error": sum(trace.reason == "not a permutation" for trace in rank_failures),
        "ranking_factual_data_error": len(rank_failures),
        "output_samples": sum(trace.failed_step is None for trace in traces),
    }
    questions = tuple(_question(trace, materials[trace.item_id]) for trace in traces)
    told = None
    if settings is not None:
        told = ReportSettings(
            settings.keep, settings.filter_order, settings.question_filter, settings.n_levels
        )
    return FactualReport(questions, counters, dict(sorted(failed.items())), told)


def _question(trace: FactualTrace, material: Material) -> ReportQuestion:
    texts = tuple(span.text for span in trace.spans)
    ranked = trace.failed_step in (None, "edit", "question filter") and bool(trace.spans)
    named = tuple(texts[entry.span].lower() for entry in trace.dropped if entry.reason == "in the question")
    return ReportQuestion(
        question=material.item.question,
        ground_truth=material.item.reference,
        raw_factual_data=texts or None,
        with_brackets=_bracketed_levels(trace) if texts else {},
        blacklisted=named if texts else None,
        factual_data=tuple(texts[number] for number in trace.kept) if ranked else None,
        ranked_factual_data=tuple(texts[number] for number in trace.ranking) if ranked else None,
        answers={level.name: level.text for level in trace.levels},
        stop_words=trace.stop_words,
    )


def _bracketed_levels(trace: FactualTrace) -> dict[str, str]:
    """Each level with brackets around the spans that are as they were in A0."""
    places: Places = tuple((span.start, span.end) for span in trace.spans)
    marked = set(range(len(trace.spans)))
    levels = {}
    for level in trace.levels:
        places = _moved(places, level.edits)
        marked -= {edit.span for edit in level.edits}
        levels[level.name] = with_brackets(level.text, places, marked)
    return levels


def _moved(places: Places, edits: Sequence[Edit]) -> Places:
    """Where the spans stand after the edits; a span's place gives its length, so no text is needed."""
    new_length = {edit.span: len(edit.new) for edit in edits}
    moved: dict[int, tuple[int, int]] = {}
    shift = 0
    for number in sorted(range(len(places)), key=lambda number: places[number]):
        start, end = places[number]
        length = new_length.get(number, end - start)
        moved[number] = (start + shift, start + shift + length)
        shift += length - (end - start)
    return tuple(moved[number] for number in range(len(places)))

"""Factual perturbation as a kind of run: levels A0 to A4, each with more wrong facts (Factual, appendix A)."""

import hashlib
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import regex

from core.diff import tokenize
from core.formats.generation import GeneratedText
from core.formats.trutheval import FactualReport, ReportQuestion, ReportSettings, report_json
from core.generation.facts import blank_function_words
from core.generation.factual.spans import BY_RULES, SPANS_PER_LEVEL, find_spans, rules_warning
from core.generation.factual.steps import (
    A0Origin,
    Dropped,
    Edit,
    EditTask,
    FactualLevel,
    FactualSettings,
    FactualTrace,
    LlmSteps,
    Places,
    QuestionFilter,
    RuleSteps,
    bracket_spans,
    edits_problem,
    splice,
)
from core.generation.language import (
    base_language,
    guess_language,
    known_language,
    language_of,
    words_of,
)
from core.generation.parse import Parsers, Span
from core.generation.scheme import Came, Scheme, Writer
from core.llm.asking import Answer
from core.schema.study import FIRST_LEVEL, UNDETERMINED, Material
from core.tables.reading import clean_text

T = TypeVar("T")
_RUNS = (
    (regex.compile(r"\p{Han}+"), 2),
    (regex.compile(r"[\p{Katakana}ー]+"), 2),
    (regex.compile(r"[\p{scx=Thai}\p{scx=Khmr}\p{scx=Laoo}\p{scx=Mymr}]+"), 4),
)
"""Scripts without spaces -> the number of characters in a row that two texts must share; higher for alphabets."""


def stop_words_for(language: str, text: str = "") -> tuple[str, frozenset[str]]:
    """The name and words of the stop list for a language tag; for `und`, for the language guessed from the text.

    The name is `en`, `de (guessed)` or `none`, for example. The words are in lower case.
    """
    base = base_language(language)
    known = base if base != UNDETERMINED else guess_language(text) or ""
    words = words_of(known)
    return (known if known == base else f"{known} (guessed)", words) if words else ("none", words)


def overlaps(
    question: str, spans: Sequence[Span], method: QuestionFilter, stop_words: frozenset[str]
) -> tuple[Dropped, ...]:
    """The spans that share a word with the question, each with the first shared word."""
    share = trutheval_shared_word if method == "trutheval" else shared_word
    found = ((number, share(question, span.text, stop_words)) for number, span in enumerate(spans))
    return tuple(Dropped(number, "in the question", word) for number, word in found if word is not None)


def shared_word(question: str, text: str, stop_words: frozenset[str]) -> str | None:
    """The first word of `text` that is also in the question; case, punctuation and possessive endings do not count.

    Ignores stop words. In scripts without spaces the word is a run of characters. Inflected forms count as different
    words.
    """
    question, text = (unicodedata.normalize("NFKC", one).casefold() for one in (question, text))
    asked = set(_spaced_words(question)) - stop_words
    shared = next((word for word in _spaced_words(text) if word in asked), None)
    return _shared_run(question, text, stop_words) if shared is None else shared


def _spaced_words(text: str) -> Iterator[str]:
    """Yield words of scripts with spaces, cut at apostrophes: `earth's` gives `earth`."""
    for token in tokenize(text):
        for piece in regex.split(r"['’׳״]", token):
            word = regex.search(r"[\p{L}\p{N}]", piece) and (len(piece) > 1 or piece.isdecimal())
            if word and not any(run.search(piece) for run, _ in _RUNS):
                yield piece


def _shared_run(question: str, text: str, stop_words: frozenset[str]) -> str | None:
    asked, given = (blank_function_words(part, stop_words) for part in (question, text))
    for pattern, least in _RUNS:
        there, here = (
            [run[at : at + least] for run in pattern.findall(part) for at in range(len(run) - least + 1)]
            for part in (asked, given)
        )
        pieces = set(there) - stop_words
        if (found := next((piece for piece in here if piece in pieces), None)) is not None:
            return str(found)
    return None


def trutheval_shared_word(question: str, text: str, stop_words: frozenset[str]) -> str | None:
    """The shared word as Factual's code (trutheval) finds it.

    Punctuation in the question becomes a space ("What's" gives "s"), in the text it stays ("blue," is not "blue").
    """
    asked = set(regex.findall(r"\w+", question.lower())) - stop_words
    return next((word.lower() for word in text.split() if word.lower() in asked), None)


def keep_first(ranking: Sequence[T], keep: float) -> tuple[T, ...]:
    """The first ceil(keep * n) entries of a ranking, computed exactly: as floats, 0.28 * 25 is above 7."""
    return tuple(ranking[: math.ceil(Fraction(str(keep)) * len(ranking))])


def snake_groups(n: int, n_groups: int) -> tuple[tuple[int, ...], ...]:
    """Deal the indices n-1 ... 0 to groups back and forth, so that each gets important and unimportant ones.

    (10, 4) gives ((9, 2, 1), (8, 3, 0), (7, 4), (6, 5)). With n < n_groups some groups are empty.
    """
    groups: list[list[int]] = [[] for _ in range(n_groups)]
    for place, index in enumerate(range(n - 1, -1, -1)):
        turn, column = divmod(place, n_groups)
        groups[column if turn % 2 == 0 else n_groups - 1 - column].append(index)
    return tuple(tuple(group) for group in groups)


def deal(kept: Sequence[int], n_groups: int, seed: int, item_id: str) -> tuple[tuple[int, ...], ...]:
    """The kept spans (most important first) in groups for A1, A2 ..., each in the order of the text.

    Which group goes to which level depends only on the seed and the item's id, not on the item's position.
    """
    groups = snake_groups(len(kept), n_groups)

    def place(number: int) -> bytes:
        # The id comes last, so that two different triples never give the same text.
        own = f"group order {seed} {number} {item_id}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(own).digest()

    order = sorted(range(n_groups), key=place)
    return tuple(tuple(sorted(kept[index] for index in groups[number])) for number in order)


NO_SPANS = "no spans"
VERBATIM = "A0 is the reference word for word: there was no paraphrase."
EMPTY_LEVEL = "No fact was left for this level. Its text is the same as at the level before."


async def perturb(
    material: Material, steps: LlmSteps | RuleSteps, settings: FactualSettings, parsers: Parsers | None = None
) -> FactualTrace:
    """Make every level of one item. A failed step ends it; the trace has step, reason and detail.

    parsers: the parsers to search; None uses this process.
    """
    trace = FactualTrace(material.item.item_id, steps.backend, prompts=steps.prompts)
    answer, origin = await _first_text(material, steps)
    if answer.value is None:
        return _failed(trace, "paraphrase", answer)
    text = answer.value
    both = f"{material.item.question} {text}"
    language = known_language(material.item.language, both)
    first = FactualLevel(FIRST_LEVEL, text, attempts=answer.attempts if origin == "llm" else 0)
    notes = (VERBATIM,) if origin == "verbatim" else ()
    wanted, by_rules = SPANS_PER_LEVEL * settings.n_levels, steps.backend == "rules"
    spans, spans_by = find_spans(text, language, settings.parser, wanted, for_rules=by_rules, parsers=parsers)
    filter_by = settings.question_filter
    called, stop_words = stop_words_for(material.item.language, both)
    if filter_by == "trutheval":  # Factual's code supports only English
        called, stop_words = "en", words_of("en")
    trace = replace(trace, a0_from=origin, levels=(first,), notes=notes, spans=spans, spans_by=spans_by)
    trace = replace(trace, stop_words=called)
    if not spans:
        return _failed(trace, "spans", NO_SPANS, "Nothing in A0 looks like a fact that can change.")
    shared = overlaps(material.item.question, spans, filter_by, stop_words)
    in_question = {entry.span for entry in shared}
    first_filter = settings.filter_order == "paper"
    candidates = [n for n in range(len(spans)) if not (first_filter and n in in_question)]
    ranked = await steps.rank(material, text, spans, candidates)
    if ranked.value is None:
        return _failed(replace(trace, dropped=shared), "rank", ranked)
    ranking = ranked.value
    if sorted(ranking) != candidates:
        raise ValueError(f"{steps.backend} ranked {ranking} where {candidates} was asked for")
    best = keep_first(ranking, settings.keep)
    kept = tuple(number for number in best if number not in in_question)
    rest = {number for number in ranking if number not in best} - in_question
    dropped = sorted((*shared, *(Dropped(n, "not kept") for n in rest)), key=lambda entry: entry.span)
    trace = replace(trace, dropped=tuple(dropped), ranking=ranking, kept=kept)
    if not kept:
        detail = f"All {len(spans)} facts were dropped: they share a word with the question or are not among the most important."
        return _failed(trace, "question filter", NO_SPANS, detail)
    groups = deal(kept, settings.n_levels, settings.seed, material.item.item_id)
    trace = replace(trace, groups=groups, notes=(*trace.notes, *_shortage(groups)))
    return await _edit_levels(material, steps, settings, trace)


async def _first_text(material: Material, steps: LlmSteps | RuleSteps) -> tuple[Answer[str], A0Origin]:
    asked = await steps.paraphrase(material)
    if asked is not None:
        return asked, "llm"
    if material.paraphrase is not None:
        return Answer(clean_text(material.paraphrase)), "paraphrase"
    return Answer(clean_text(material.item.reference)), "verbatim"


def _shortage(groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
    empty = [f"A{level}" for level, group in enumerate(groups, start=1) if not group]
    if not empty:
        return ()
    n_spans = sum(len(group) for group in groups)
    equal = f"{', '.join(empty)} {'equals' if len(empty) == 1 else 'equal'} the level before"
    return (f"Fewer facts ({n_spans}) than levels ({len(groups)}): {equal}.",)


async def _edit_levels(
    material: Material, steps: LlmSteps | RuleSteps, settings: FactualSettings, trace: FactualTrace
) -> FactualTrace:
    text, levels = trace.levels[0].text, range(1, len(trace.groups) + 1)
    places: Places = tuple((span.start, span.end) for span in trace.spans)
    shared: Answer[tuple[tuple[Edit, ...], ...]] | None = None
    if settings.edit_calls == "shared":
        shared = await steps.edit(material, [_task(trace, text, places, level) for level in levels])
        if shared.value is None:
            return _failed(trace, "edit", shared)
    for level in levels:
        task = _task(trace, text, places, level)
        if shared is not None and shared.value is not None:
            edits, attempts = shared.value[level - 1], shared.attempts if level == 1 else 0
        else:
            answer = await steps.edit(material, [task])
            if answer.value is None:
                return _failed(trace, "edit", replace(answer, detail=f"A{level}: {answer.detail}"))
            (edits,), attempts = answer.value, answer.attempts
        if (problem := edits_problem(task, edits)) is not None:
            return _failed(trace, "edit", problem.kind, f"A{level}: {problem.detail}")
        text, places = splice(text, places, edits)
        trace = replace(trace, levels=(*trace.levels, _level(task, text, edits, attempts)))
    return trace


def _task(trace: FactualTrace, text: str, places: Places, level: int) -> EditTask:
    later = tuple(sorted(number for group in trace.groups[level:] for number in group))
    group = trace.groups[level - 1]
    return EditTask(level, text, places, group, later, trace.spans, levels=len(trace.groups))


def _level(task: EditTask, text: str, edits: Sequence[Edit], attempts: int) -> FactualLevel:
    ordered = tuple(sorted(edits, key=lambda edit: task.places[edit.span]))
    note = "" if task.group else EMPTY_LEVEL
    asked = attempts if any(edit.how == "llm" for edit in edits) else 0
    return FactualLevel(f"A{task.level}", text, task.group, ordered, asked, note)


def _failed(trace: FactualTrace, step: str, why: Answer[Any] | str, detail: str = "") -> FactualTrace:
    answer = Answer[Any](None, why, detail) if isinstance(why, str) else why
    return replace(
        trace,
        failed_step=step,
        reason=answer.reason or "no answer",
        detail=answer.detail,
        temporary=answer.temporary,
    )


def factual_report(
    traces: Sequence[FactualTrace], materials: Mapping[str, Material], settings: FactualSettings | None = None
) -> FactualReport:
    """Assay's traces as Factual's report: spans as texts, brackets for each level, counters of failures.

    materials: item id -> the question and reference.
    settings: the run's settings, so that a replay uses the same; None leaves them out of the report.
    """
    failed = Counter(f"{trace.failed_step}: {trace.reason}" for trace in traces if trace.failed_step)
    rank_failures = [trace for trace in traces if trace.failed_step == "rank"]
    questions = tuple(_question(trace, materials[trace.item_id]) for trace in traces)
    counters = {
        "input_samples": len(traces),
        "find_factual_data_error": sum(trace.failed_step == "spans" for trace in traces),
        "json_parse_ranking_error": sum(trace.reason == "invalid" for trace in rank_failures),
        "index_ranking_error": sum(trace.reason == "not a permutation" for trace in rank_failures),
        "ranking_factual_data_error": len(rank_failures),
        "output_samples": sum(trace.failed_step is None for trace in traces),
    }
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
    """Each level with brackets around the spans that are unchanged since A0."""
    places: Places = tuple((span.start, span.end) for span in trace.spans)
    marked = set(range(len(trace.spans)))
    levels = {}
    before = trace.levels[0].text
    for level in trace.levels:
        _, places = splice(before, places, level.edits)
        before = level.text
        marked -= {edit.span for edit in level.edits}
        levels[level.name] = bracket_spans(level.text, places, marked)
    return levels


class FactualScheme(Scheme):
    """A0 (as good as the reference) to A4: more wrong facts at each level."""

    name = "factual"
    title = "Factual perturbation"
    summary = "A0 (as good as the reference) to A4: more wrong facts at each level"
    section = "a0-to-a4"
    Settings = FactualSettings
    Trace = FactualTrace
    levels_by = ("edit", "edit-shared", "edit-text", "edit-planned")

    async def make(self, settings: FactualSettings, material: Material, writer: Writer) -> FactualTrace:
        """See Scheme."""
        steps = (
            RuleSteps(writer.pool, settings.seed)
            if writer.model is None
            else LlmSteps(writer.model, writer.prompts, settings)
        )
        return await perturb(material, steps, settings, writer.parsers)

    def came(self, trace: FactualTrace) -> Came:
        """See Scheme."""
        failed = trace.failed_step
        return Came(
            () if failed is None else ((failed, trace.reason or "unknown"),),
            trace.temporary,
            {level.name: level.text for level in trace.levels},
            trace.a0_from == "verbatim",
            trace.spans_by,
        )

    def rows(self, trace: FactualTrace, source: str) -> Sequence[GeneratedText]:
        """See Scheme."""
        edited = "rules" if trace.backend == "rules" else "llm"
        made = [
            GeneratedText(
                trace.item_id, level.name, source, level.text, edited if at else trace.a0_from or ""
            )
            for at, level in enumerate(trace.levels)
        ]
        if trace.failed_step is not None:
            reason = f"{trace.failed_step}: {trace.reason}"
            made.append(GeneratedText(trace.item_id, f"A{len(made)}", source, None, "", reason))
        return made

    def broken(
        self, _: FactualSettings, item_id: str, backend: str, reason: str, detail: str
    ) -> FactualTrace:
        """See Scheme."""
        return FactualTrace(item_id, backend, failed_step="internal", reason=reason, detail=detail)

    def notes(
        self, settings: FactualSettings, materials: Sequence[Material], parsers: Parsers
    ) -> tuple[str, ...]:
        """See Scheme."""
        languages = Counter(language_of(material) for material in materials)
        if settings.parser != BY_RULES:
            for language in tuple(languages):
                if parsers.find(settings.parser, language) is not None:
                    del languages[language]
        n, n_items = languages.total(), len(materials)
        return (rules_warning(n, n_items, sorted(languages), parsed=n < n_items),) if n else ()

    def report(
        self,
        settings: FactualSettings,
        traces: Sequence[FactualTrace],
        materials: Mapping[str, Material],
        failures: Mapping[tuple[str, str], int],
    ) -> bytes:
        """See Scheme."""
        return report_json(factual_report(traces, materials, settings))


KIND = FactualScheme()

"""What judges recorded: their output, answers, settings, costs and made texts, from a run or from the folder of one."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from core.errors import InputError
from core.judges.alignment import KIND as ALIGNMENT
from core.judges.alignment import MarkedText
from core.judges.answers import KIND as ANSWERS
from core.judges.answers import AnswerSet
from core.judges.kind import JudgeKind
from core.results.check.verdict import JudgeFacts
from core.results.judges.costs import JudgeCost
from core.results.judges.made_levels import Made
from core.runs.asked import Asked, asked_from
from core.runs.costs import cost_of_folder, cost_of_run, facts_of_folder, facts_of_run
from core.runs.jobs import RunAtHand
from core.runs.judging import answered, judge_output, judge_output_if_any, judged_among
from core.runs.judging.levels import made_of_folder, made_of_run
from core.runs.kinds import KINDS
from core.runs.path import IDENTITY, identity_of, saved_run
from core.runs.records import judge_in_folder, read_audit_folder, read_judge_folder, read_report
from core.schema.rated import Rated, Scored
from core.schema.scale import DeclaredScale
from core.schema.scores import JudgeOutput, RatingSet, ScoredRow, ScoreTable, WithTexts
from core.schema.settings import SettingsError
from core.schema.study import RatingTask
from core.sources.named import (
    OF_RUNS,
    PathSource,
    PublishedSource,
    RunSource,
    Source,
    StudySource,
    parse_sources,
)
from core.sources.reading import PUBLISHED_GIVES, SourceReader, cannot_give, read_each, study_gives
from core.sources.scores import scores_of
from core.store.studies import find_study
from core.tables.reading import shown

Found = TypeVar("Found")
JUDGE_NAMES = "DIR|run:N"
"""Accepted inputs, for the help of a command."""
_NEEDED = "results of a judge, run:N or its folder,"


def read_run(
    source: Source,
    reading: SourceReader,
    of_folder: Callable[[Path], Found],
    of_run: Callable[[RunAtHand], Found],
) -> Found:
    """Read a run of the database, or the folder that one wrote. Raises InputError for other sources.

    of_folder: also gets any other path, and reports what is missing there.
    """
    match source:
        case RunSource():
            with reading.opened() as store:
                return of_run(saved_run(store, source.number))
        case PathSource():
            return of_folder(source.path)
        case StudySource():
            with reading.opened() as store:
                raise cannot_give(source, study_gives(find_study(store, source.name)), _NEEDED)
        case PublishedSource():
            raise cannot_give(source, PUBLISHED_GIVES, _NEEDED)


def judge_of(source: Source, reading: SourceReader) -> JudgeOutput:
    """Return a judge's output. Raises InputError for sources without one."""
    return read_run(source, reading, read_judge_folder, judge_output)


def judge_if_any(source: Source, reading: SourceReader) -> JudgeOutput | None:
    """Return a judge's output; None for any other source of scores."""
    if not isinstance(source, OF_RUNS):
        return None
    return read_run(source, reading, judge_in_folder, judge_output_if_any)


def answers_of(source: Source, reading: SourceReader) -> AnswerSet:
    """Return a model's answers, from `judge answers`. Raises InputError for sources without them."""
    return read_run(
        source,
        reading,
        lambda folder: AnswerSet(*read_audit_folder(folder, ANSWERS)),
        lambda run: AnswerSet(*answered(run, ANSWERS)),
    )


def judges_of(written: Sequence[str], reading: SourceReader) -> list[JudgeOutput]:
    """Return the output of several judges. Raises InputError with the problems of all."""
    return read_each(written, lambda source: judge_of(source, reading))


def aligned_of(source: Source, reading: SourceReader) -> tuple[MarkedText, ...]:
    """Return marked errors beside mismatches, from `judge align`. Raises InputError for sources without them."""
    _, found = read_run(
        source,
        reading,
        lambda folder: read_audit_folder(folder, ALIGNMENT),
        lambda run: answered(run, ALIGNMENT),
    )
    return found


def answer_sets_of(written: Sequence[str], reading: SourceReader) -> list[AnswerSet]:
    """Return the answers of several models. Raises InputError with the problems of all."""
    return read_each(written, lambda source: answers_of(source, reading))


def cost_of(source: Source, reading: SourceReader) -> JudgeCost:
    """Return the cost of a judge's run. Raises InputError for sources without one."""
    return read_run(source, reading, cost_of_folder, cost_of_run)


def costs_of(written: Sequence[str], reading: SourceReader) -> list[JudgeCost]:
    """Return the cost of each named run; of two judges with one name, each also has the name of its source.

    Raises InputError with the problems of all, and for a run that is named twice.
    """
    found = read_each(written, lambda one: cost_of(one, reading))
    check_each_once(parse_sources(written), reading)
    names = Counter(one.name for one in found)
    return [
        replace(one, name=f"{one.name} ({source})") if names[one.name] > 1 else one
        for source, one in zip(written, found, strict=True)
    ]


def identity(source: Source, reading: SourceReader) -> dict[str, object]:
    """Return what is equal for a run and its folder, or the path of a folder whose report lacks it."""
    return read_run(source, reading, _identity_of_folder, lambda run: identity_of(run.run))


def _identity_of_folder(folder: Path) -> dict[str, object]:
    report = read_report(folder)
    found = {name: report.get(name) for name in IDENTITY}
    return {"folder": folder.resolve()} if None in found.values() else found


def check_each_once(sources: Sequence[Source], reading: SourceReader) -> None:
    """Raise InputError for a run that is named twice, such as by its number and its folder."""
    names: dict[str, list[str]] = {}
    for source in sources:
        names.setdefault(repr(identity(source, reading)), []).append(shown(source.written))
    if twice := [same for same in names.values() if len(same) > 1]:
        raise InputError(
            "Each run may be named only once",
            [f"{' and '.join(same)} are the same run" for same in twice],
        )


def facts_of(
    sources: Sequence[Source], reading: SourceReader, dimension: str | None
) -> dict[str, dict[str, JudgeFacts]]:
    """Return, for each run among the sources, its metric or judge -> consistency, price, time and model."""
    return {
        source.written: read_run(
            source,
            reading,
            lambda folder: facts_of_folder(folder, dimension),
            lambda run: facts_of_run(run, dimension),
        )
        for source in sources
        if isinstance(source, OF_RUNS)
    }


def _settings_of(source: Source, reading: SourceReader) -> Asked | None:
    """Return the settings of a judge that reads rated texts; None for any other source."""
    if isinstance(source, RunSource):
        with reading.opened() as store:
            asked = saved_run(store, source.number).request
        return asked if asked.kind.reads == "rated texts" else None
    if not isinstance(source, OF_RUNS):
        return None
    report: dict[str, Any] = read_report(source.path)
    kind = KINDS.get(report["kind"])
    if kind is None or kind.reads != "rated texts":
        return None
    try:
        return asked_from(kind, report["settings"])
    except SettingsError:  # reading the records reports the problem
        return None


def scored_by(source: Source, table: ScoreTable, reading: SourceReader) -> Scored:
    """Return a source's scores with what its run was asked and answered; nothing is known of other sources.

    Raises InputError for a run whose files are damaged.
    """
    asked = _settings_of(source, reading)
    if asked is None:
        return Scored(table)
    task: RatingTask | None = None
    if asked.kind.attachment is not None and asked.attached:
        task = asked.kind.attachment.read(asked.attached, source.written)
    gives_scores = isinstance(asked.kind, JudgeKind) and not asked.kind.marks_errors
    output = judge_of(source, reading) if gives_scores else None
    return Scored(table, asked.settings.dimension_scored, task, output)


def rated(
    ratings: RatingSet,
    task: RatingTask | None,
    scored: Sequence[Scored],
    scale: DeclaredScale,
    shuffled: Source | None,
    reading: SourceReader,
) -> Rated:
    """Put ratings and scores together. shuffled: a run of the first judge on the same texts with shuffled words.

    Raises InputError if either is no run of a judge.
    """
    if shuffled is None:
        return Rated(ratings, tuple(scored), task, scale)
    first, twin = scored[0], scored_by(shuffled, scored[0].table, reading).output
    sides = (("", first.table.file_name, first.output), ("shuffled: ", shuffled.written, twin))
    lacking = [
        f"{side}{shown(name)} is neither a run (run:N) nor a folder of `judge quality`"
        for side, name, output in sides
        if output is None
    ]
    if lacking:
        raise InputError("Shuffled words are compared between two runs of one judge", lacking)
    return Rated(ratings, tuple(scored), task, scale, twin)


def made_of(source: Source, reading: SourceReader) -> Made:
    """Return the texts of a run or of its folder, with claims and steps; none for any other source."""
    return read_run(source, reading, made_of_folder, made_of_run) if isinstance(source, OF_RUNS) else Made()


def texts_scored(source: Source, reading: SourceReader) -> list[tuple[ScoredRow, str]]:
    """Return the texts that a run scored, with their rows; empty for any other source."""
    if not isinstance(source, OF_RUNS):
        return []
    return read_run(source, reading, _scored_in_folder, _scored_by_run)


def scores_with_texts(source: Source, reading: SourceReader) -> WithTexts:
    """Return the scores of a source, with the texts that a run scored. Raises InputError."""
    return WithTexts(scores_of(source, reading), lambda: texts_scored(source, reading))


def _scored_in_folder(folder: Path) -> list[tuple[ScoredRow, str]]:
    try:
        return [(one.row, one.text) for one in read_judge_folder(folder).texts]
    except InputError:  # written by a metric, without texts
        return []


def _scored_by_run(run: RunAtHand) -> list[tuple[ScoredRow, str]]:
    if isinstance(run.kind, JudgeKind):
        return [(text.output.row, text.output.text) for text in judged_among(run)]
    outputs = run.contents.outputs if run.kind.work == "scores" else ()
    return [(one.row, one.text) for one in outputs]

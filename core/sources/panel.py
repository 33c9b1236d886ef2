"""Raters and judges side by side, from a source of ratings and any number of sources of scores."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from core.errors import InputError, NotAllowed
from core.formats.panel import read_panel
from core.formats.panel.beside import texts_in, texts_of_outputs
from core.formats.panel.columns import names_people
from core.formats.panel.judge_files import judge_scores
from core.formats.panel.repeats import check_in_table
from core.formats.registry import format_of
from core.joining.panel import apply_scale, named_people, panel_of
from core.joining.tables import check_join
from core.judges.kind import JudgeKind
from core.results.check.gaps import texts_of_judge
from core.results.correlations.votes import PREFERRED, vote_margins, votes_panel
from core.results.judges.pairwise import pair_texts
from core.results.judges.scores import degeneracy
from core.runs.judging import texts_beside
from core.runs.kinds import KINDS
from core.runs.path import saved_run
from core.schema.analysis import PanelChoice
from core.schema.panel import JudgedTables, Panel, TextBeside, panel_of_rows
from core.schema.roles import Roles
from core.schema.scale import DeclaredScale, declared_scale
from core.schema.scores import JudgeOutput, ScorableOutput, ScoreTable
from core.schema.settings import Remark, refuse
from core.schema.study import StudyRecord
from core.schema.unit import ROW
from core.sources.judges import judge_if_any, judge_of, texts_scored
from core.sources.named import (
    OF_RUNS,
    FileSource,
    FolderSource,
    PublishedSource,
    RunFolderSource,
    RunSource,
    Source,
    StudySource,
)
from core.sources.people import people_of, rated_by_run, study_record
from core.sources.reading import NOT_SO, SourceReader
from core.sources.scores import scores_of
from core.sources.texts import rated_of_study
from core.stats.resampling import Floats
from core.store.runs import run_data
from core.store.studies import find_study
from core.tables.mapping import rename_columns
from core.tables.reading import shown

Judge = Source | ScoreTable
"""A source of a judge's scores, or scores that were read before."""


def panel_of_source(
    source: Source,
    judges: Sequence[Judge],
    choice: PanelChoice,
    reading: SourceReader,
    *,
    find: bool = False,
    people_alone: bool = False,
    declared: DeclaredScale | None = None,
) -> Panel:
    """Return the raters of a source beside judges, those of the source and further ones.

    find, people_alone: see `read_panel`. declared: the scale, in place of that in the choice. A run gives the ratings in the
    file that it read, and its scores. Of a study of pairs each row is a pair (`votes_panel`). Raises InputError, and NotAllowed for a
    study that is not unblinded.
    """
    if declared is None:
        declared = declared_scale(choice.scale, choice.classes, choice.missing)
    if find and choice.human is not None:
        source, judges = _people_first(source, judges, choice.human, reading)
    # A table of scores is read beside its ratings, so that words mean the same in both.
    apart = [one for one in judges if find and isinstance(one, FileSource) and _is_table(one, reading)]
    tables = [_table(one, reading) for one in judges if one not in apart]
    beside = [(reading.table(one), one.name) for one in apart]
    if isinstance(source, FileSource):
        return read_panel(
            reading.table(source),
            source.name,
            tables,
            flip=reading.flip,
            find=find,
            beside=beside,
            declared=declared,
            system_column=choice.system_column,
            item=choice.item,
            people_alone=people_alone,
            **_names(choice),
        )
    is_run = isinstance(source, RunSource)
    columns = {"system_column": choice.system_column, "item": choice.item}
    refuse(
        [
            Remark(
                name,
                "{column} cannot be chosen, because {source} is no table",
                {"column": shown(column), "source": shown(source.written)},
            )
            for name, column in columns.items()
            if column is not None and not (name == "item" and (is_run or column == ROW))
        ],
        PanelChoice,
        what=NOT_SO,
    )
    if is_run:
        assert isinstance(source, RunSource)
        own = [] if people_alone else [scores_of(source, reading)]
        return read_panel(
            *rated_by_run(source, reading),
            [*own, *tables],
            item=choice.item,
            find=find,
            beside=beside,
            declared=declared,
            people_alone=people_alone,
            **_names(choice),
        )
    check_in_table(choice.repeated, source.written)
    if is_study_of_pairs(source, reading):  # only numbers have the differences that a vote needs
        tables = [*tables, *(scores_of(one, reading) for one in apart)]
    else:
        tables = [*tables, *(judge_scores(*one, choice.judge, choice.human) for one in beside)]
    if people_alone:
        found = _people_alone(source, choice, declared, reading)
    else:
        found = panel_beside(source, tables, choice, reading, check=find)
    return panel_of_rows(found) if choice.item == ROW else found


def _names(choice: PanelChoice) -> dict[str, Any]:
    return {
        "human": choice.human,
        "judges": choice.judge,
        "dimension": choice.dimension,
        "repeated": choice.repeated,
    }


def _table(judge: Judge, reading: SourceReader) -> ScoreTable:
    return judge if isinstance(judge, ScoreTable) else scores_of(judge, reading)


def _people_alone(
    source: Source, choice: PanelChoice, declared: DeclaredScale, reading: SourceReader
) -> Panel:
    ratings = people_of(source, reading)
    if isinstance(ratings, StudyRecord):
        raise NotAllowed(
            f"Study {shown(ratings.study.name)} compares pairs. `study results` shows how far its raters agree."
        )
    raters: Sequence[str] | None = choice.human
    if raters is None and not isinstance(source, StudySource):  # whoever rates in a study is a person
        raters = named_people(ratings)
    return apply_scale(panel_of(ratings, raters=raters, dimension=choice.dimension), declared)


def panel_beside(
    source: Source,
    tables: Sequence[ScoreTable],
    choice: PanelChoice,
    reading: SourceReader,
    *,
    check: bool = False,
) -> Panel:
    """Return ratings, or the votes of a study of pairs, beside these scores.

    check: whether to refuse tables without a rated text. Raises InputError, and NotAllowed for a study that is not unblinded.
    """
    found = people_of(source, reading)
    if isinstance(found, StudyRecord):
        return _votes(found, tables, choice)
    for table in tables if check else ():
        check_join(found, table)
    declared = declared_scale(choice.scale, choice.classes, choice.missing)
    panel = panel_of(found, tables, raters=choice.human, judges=choice.judge, dimension=choice.dimension)
    return apply_scale(panel, declared)


def _votes(record: StudyRecord, tables: Sequence[ScoreTable], choice: PanelChoice) -> Panel:
    """Return the votes of a study of pairs beside judges' scores of its answers."""
    study = {"study": shown(record.study.name)}
    refuse(
        [
            Remark(name, why, study)
            for name, why in (
                ("dimension", "study {study} compares pairs, which have no dimensions; leave it out"),
                ("scale", _KNOWN_SCALE),
                ("classes", _KNOWN_SCALE),
                ("missing", _KNOWN_SCALE),
            )
            if getattr(choice, name)
        ],
        PanelChoice,
        what=NOT_SO,
    )
    if not tables:
        written = shlex.quote(StudySource(record.study.name).written)
        raise InputError(
            f"Study {study['study']} compares pairs, and no judge votes on pairs. Add a judge's scores of its answers, e.g. "
            f"{written} run:N: the judge then votes for {PREFERRED[record.study.votes_mean]}."
        )
    return votes_panel(record, tables, raters=choice.human, judges=choice.judge)


_KNOWN_SCALE = "study {study} compares pairs, whose scale is known; leave it out"


def _people_first(
    source: Source, judges: Sequence[Judge], names: Sequence[str], reading: SourceReader
) -> tuple[Source, Sequence[Judge]]:
    """Return the first table that has all named people as the source of ratings, if the source is a table or run without them."""
    if not (isinstance(source, RunSource) or (isinstance(source, FileSource) and _is_table(source, reading))):
        return source, judges
    first = (
        (reading.table(source), source.name)
        if isinstance(source, FileSource)
        else rated_by_run(source, reading)
    )
    if names_people(*first, names):
        return source, judges
    for at, one in enumerate(judges):
        if (
            isinstance(one, FileSource)
            and _is_table(one, reading)
            and names_people(reading.table(one), one.name, names)
        ):
            return one, [source, *judges[:at], *judges[at + 1 :]]
    return source, judges


def _is_table(source: FileSource, reading: SourceReader) -> bool:
    """Whether a file is there, without evaluators, which METAL's JSON has."""
    if source.data is None and not source.path.is_file():
        return False
    return "evaluators" not in format_of("ratings", reading.table(source), source.name).read


def is_study_of_pairs(source: Source, reading: SourceReader) -> bool:
    """Return whether a source is a study whose raters vote on pairs. Raises NotFound for an unknown study."""
    if not isinstance(source, StudySource):
        return False
    with reading.opened() as store:
        return find_study(store, source.name).kind == "pairs"


def margins_of(
    source: StudySource, judges: Sequence[Judge], choice: PanelChoice, reading: SourceReader
) -> Floats:
    """Return how far each judge's margin of a pair is from where its vote changes (`vote_margins`), shape (pairs, judges).

    Raises InputError, and NotAllowed for a study that is not unblinded.
    """
    tables = [
        judge_scores(reading.table(one), one.name, choice.judge, choice.human)
        if isinstance(one, FileSource) and _is_table(one, reading)
        else _table(one, reading)
        for one in judges
    ]
    return vote_margins(study_record(source, reading), tables, raters=choice.human, judges=choice.judge)


def texts_beside_panel(
    source: Source,
    judges: Sequence[Source],
    reading: SourceReader,
    roles: Roles | None = None,
    system_column: str | None = None,
) -> list[TextBeside]:
    """What the sources of a panel hold about its texts: questions, texts, and reasons of judges.

    roles: what the panel found about the columns of the first source. system_column: of its table, if that says nothing.
    """
    if is_study_of_pairs(source, reading):
        assert isinstance(source, StudySource)
        record = study_record(source, reading)
        return list(
            pair_texts(record, list(_outputs([one for one in judges if isinstance(one, OF_RUNS)], reading)))
        )
    return [
        text
        for one in (source, *judges)
        for text in _texts_in(one, reading, *((roles, system_column) if one is source else (None, None)))
    ]


def _texts_in(
    source: Source, reading: SourceReader, roles: Roles | None, system_column: str | None
) -> Iterator[TextBeside]:
    match source:
        case RunSource():
            with reading.opened() as store:
                run = saved_run(store, source.number)
                yield from (
                    texts_beside(run)
                    if isinstance(run.kind, JudgeKind)
                    else texts_in(run_data(store, source.number), run.run.data_file)
                )
        case StudySource():
            with reading.opened() as store:
                yield from texts_in(*rated_of_study(store, find_study(store, source.name)))
        case RunFolderSource():
            with suppress(InputError):  # of a metric, without texts
                yield from texts_of_output(judge_of(source, reading))
        case FileSource():
            data = reading.table(source)
            if roles is None and system_column:
                data = rename_columns(data, source.name, {"system": system_column})
            yield from texts_in(data, source.name, roles)
        case FolderSource() | PublishedSource():
            return


def texts_of_output(output: JudgeOutput) -> tuple[TextBeside, ...]:
    """Return the texts of a judge's output with its reasons."""
    kind = KINDS[output.kind]
    assert isinstance(kind, JudgeKind)
    return texts_of_judge(output, kind)


def judged_tables(
    tables: Sequence[ScoreTable],
    sources: Sequence[Source | None],
    reading: SourceReader,
    texts: Iterable[ScorableOutput] = (),
) -> JudgedTables:
    """Return tables of scores with what their sources know beside.

    sources: of each table; None where nothing else is known. texts: texts behind the scores, which come first. Raises InputError for
    a run whose files are damaged.
    """
    outputs = [None if one is None else judge_if_any(one, reading) for one in sources]
    known = [*texts_of_outputs(texts)]
    for source, output in zip(sources, outputs, strict=True):
        if output is not None:
            known += texts_of_output(output)
        elif source is not None:
            known += [TextBeside(row, text=text) for row, text in texts_scored(source, reading)]
    judges = [one for one in outputs if one is not None]
    return JudgedTables(tuple(tables), tuple(outputs), tuple(known), partial(signs_of, judges))


def signs_of(outputs: Iterable[JudgeOutput]) -> tuple[str, ...]:
    """Return the signs that a judge's words say little, each a sentence."""
    kinds = ((KINDS[one.kind], one) for one in outputs)
    found = (sign for kind, one in kinds if isinstance(kind, JudgeKind) for sign in degeneracy(kind, one))
    return tuple(dict.fromkeys(one.sentence for one in found if one.sign != "constant"))


def _outputs(sources: Sequence[Source], reading: SourceReader) -> Iterator[JudgeOutput]:
    """Yield the outputs of the judges among runs and folders; metrics have none."""
    for one in sources:
        with suppress(InputError):
            yield judge_of(one, reading)

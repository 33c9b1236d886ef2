"""Runs of a judge with several prompts or models, and the people beside them, as prompts are compared."""

from collections.abc import Sequence

from core.errors import InputError
from core.joining.panel import panel_of
from core.results.judges.prompts import RunsTried
from core.runs.jobs import RunAtHand
from core.runs.judging.several import ratings_in, scores_levels, tried, unfinished_notes
from core.runs.path import saved_run
from core.schema.analysis import PanelChoice, TriedChoice
from core.schema.settings import Remark, refuse
from core.sources.named import RunSource, Source, parse_source, parse_sources
from core.sources.panel import panel_beside
from core.sources.reading import SourceReader
from core.tables.reading import shown

_REFUSAL = "Prompts cannot be compared"


def check_dimension(choice: TriedChoice, *, rated: bool) -> None:
    """Raise SettingsError for a dimension where there are no ratings."""
    if choice.dimension is not None and not rated:
        text = "there are no ratings; name them, too, or leave it out"
        refuse([Remark("dimension", text)], TriedChoice, what=_REFUSAL)


def runs_tried(
    written: Sequence[str], human: str | None, choice: TriedChoice, reading: SourceReader
) -> RunsTried:
    """Return the named runs with the ratings or votes of a source. Raises InputError for anything but runs of one kind of judge.

    human: None: the ratings in the runs' own file, if it has any.
    """
    sources = parse_sources(written)
    if wrong := [one.written for one in sources if not isinstance(one, RunSource)]:
        raise InputError(f"{', '.join(map(shown, wrong))}: not run:N. Prompts are compared by their runs.")
    with reading.opened() as store:
        runs = [saved_run(store, one.number) for one in sources if isinstance(one, RunSource)]
        return tried_beside(runs, None if human is None else parse_source(human), choice, reading)


def tried_beside(
    runs: Sequence[RunAtHand], human: Source | None, choice: TriedChoice, reading: SourceReader
) -> RunsTried:
    """Return runs at hand with the ratings or votes of a source; see `runs_tried`."""
    judges, component, notes = tried(runs, choice.component, choice.prices)
    tables, names = [one.table for one in judges], tuple(one.name for one in judges)
    ratings = ratings_in(runs[0])
    check_dimension(choice, rated=human is not None or ratings is not None)
    people = None
    if human is not None:
        of_judges = PanelChoice(judge=names, dimension=choice.dimension)
        people = panel_beside(human, tables, of_judges, reading)
    elif ratings is not None:
        people = panel_of(ratings, tables, judges=names, dimension=choice.dimension)
    return RunsTried(
        judges, people, component, (*notes, *unfinished_notes(runs)), with_levels=scores_levels(runs)
    )

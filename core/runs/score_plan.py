"""From what a user chose to a scoring run that is kept: everything checked, nothing begun."""

from dataclasses import replace

from core.datasets.scorable import read_outputs
from core.errors import InputError
from core.runs.keeping import check_limit, go_on, keep_run, newest_same
from core.runs.score_settings import (
    ScoringRunning,
    ScoringSettings,
    checked,
    running_kept,
    scoring_of,
    settings_kept,
    specs_of,
)
from core.runs.scoring import by_item
from core.schema import Run
from core.schema.scores import OutputSet
from core.scoring.metrics.lexical.notes import notes_about
from core.scoring.metrics.scorer import ScoringPair
from core.store import Store


def create_scoring(
    store: Store,
    data: bytes,
    file_name: str,
    settings: ScoringSettings,
    running: ScoringRunning,
    limit: int | None = None,
) -> tuple[Run, OutputSet]:
    """Keep a run that waits to be started, and say what it will score. Raises InputError with all problems.

    The notes of what is returned also name metrics that cannot read these references.
    """
    settings = checked(settings, running)
    check_limit(limit, 0)
    outputs = read_outputs(data, file_name)
    check_needs(settings, outputs)
    outputs = replace(outputs, notes=outputs.notes + reading_notes(settings, outputs))
    run = keep_run(
        store,
        "scores",
        data,
        file_name,
        len(by_item(outputs.outputs)),
        settings=settings_kept(settings),
        running=running_kept(running),
        limit=limit,
    )
    return run, outputs


def reading_notes(settings: ScoringSettings, outputs: OutputSet) -> tuple[str, ...]:
    """A sentence for each group of metrics that lacks something here: a source, or words in the references' script."""
    texts, specs = outputs.outputs, specs_of(settings)
    unreferred = sum(text.reference is None for text in texts)
    lacking = sum(text.source is None for text in texts)
    without = [spec.metric.name for spec in specs if "source" in spec.needs] if lacking else []
    pairs = [ScoringPair(text.text, text.reference, text.source) for text in texts]
    return (
        *(
            [f"{unreferred} of {len(texts)} texts have no reference: metrics that need one cannot score them"]
            if unreferred
            else []
        ),
        *(
            [f"{', '.join(without)}: {lacking} of {len(texts)} texts have no source to read"]
            if without
            else []
        ),
        *notes_about(specs, pairs),
    )


def check_needs(settings: ScoringSettings, outputs: OutputSet) -> None:
    """Raise InputError where no text has what all metrics asked for need: nothing could be scored."""
    texts = outputs.outputs
    if not texts:
        raise InputError(f"{outputs.file_name} holds no text to score.")
    there = {"reference": any(text.reference for text in texts), "source": any(text.source for text in texts)}
    specs = specs_of(settings)
    hopeless = [spec for spec in specs if not all(there[need] for need in spec.needs)]
    if len(hopeless) == len(specs):
        lacking = sorted({need for spec in specs for need in spec.needs if not there[need]})
        raise InputError(
            f"{outputs.file_name} has no {' and no '.join(lacking)} for any text, and every metric asked for needs it: "
            "add the column, or name metrics that need none (`python -m core score --list`)."
        )


def find_same_scoring(store: Store, data: bytes, settings: ScoringSettings) -> Run:
    """The newest run that was asked for exactly this. Raises InputError when there is none to resume."""
    return newest_same(store, "scores", data, settings_kept(checked(settings, ScoringRunning())))


def prepare_scoring(store: Store, run: Run, running: ScoringRunning, limit: int | None) -> Run:
    """Set how a scoring run goes on: with how many processes, and how many of its items."""
    checked(scoring_of(run), running)
    return go_on(store, run, running_kept(running), limit)

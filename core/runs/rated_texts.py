"""The rated texts that a run keeps: all of them give examples, some of them are judged."""

from collections.abc import Sequence
from pathlib import PurePath

from core.datasets.rated import read_rated
from core.judges.settings import AutoMqmSettings, DirectSettings
from core.runs.judge_settings import JudgeSettings, judge_of
from core.schema import Run
from core.schema.rated import RatedSet, RatedText
from core.schema.scores import OutputSet
from core.store import Store
from core.store.runs import run_data

NOT_JUDGED = "of a system that is not judged"


def rated_set(store: Store, run: Run) -> RatedSet:
    """All texts of the file that the run keeps, with their ratings."""
    return read_rated(run_data(store, run.run_id), PurePath(run.data_file).name)


def judged_among(settings: JudgeSettings, texts: Sequence[RatedText]) -> tuple[RatedText, ...]:
    """The texts that the judge scores: all, or those of the systems that its settings name."""
    only = systems_wanted(settings)
    return tuple(text for text in texts if not only or text.output.system in only)


def systems_wanted(settings: JudgeSettings) -> tuple[str, ...]:
    """Systems whose texts are judged; empty: all."""
    chosen = settings.of_kind
    return chosen.only if isinstance(chosen, AutoMqmSettings | DirectSettings) else ()


def judged_outputs(settings: JudgeSettings, rated: RatedSet) -> OutputSet:
    """The texts that are judged, without what people said of them; those that are not are counted."""
    judged = judged_among(settings, rated.texts)
    others = len(rated.texts) - len(judged)
    return OutputSet(
        tuple(text.output for text in judged),
        rated.sha256,
        rated.file_name,
        rated.notes,
        {**rated.left_out, **({NOT_JUDGED: others} if others else {})},
    )


def rated_output_set(store: Store, run: Run) -> OutputSet:
    """The texts that a run judges, read from the file it keeps."""
    return judged_outputs(judge_of(run), rated_set(store, run))

"""Metrics, scores and texts of known quality, computed in this process."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from core.errors import InputError
from core.formats.registry import read_texts
from core.formats.scorable import write_outputs
from core.formats.scores import Shape
from core.generation.damage import KIND as DAMAGE
from core.installation import COMMAND
from core.metrics.kind import KIND as SCORES
from core.metrics.registry import all_metrics, find_metrics
from core.notebook.frames import (
    Names,
    Source,
    check_choice,
    check_type,
    frame_from,
    frame_in,
    jsonl_of,
    names_of,
    rows_of,
    texts_of,
)
from core.runs.asked import ask
from core.runs.generation import texts_of_run
from core.runs.jobs import RunAtHand
from core.runs.path import create
from core.runs.scoring import score_table
from core.runs.working.environments import missing_for
from core.runs.working.worker import work
from core.schema.runs import Kind
from core.schema.settings import SettingsError, parameter_word
from core.schema.settings import said as worded_of_settings
from core.scratch import scratch_folder
from core.store import open_store
from core.store.runs import ask_to_stop, delete_run
from core.tables.files import read_file

if TYPE_CHECKING:
    import pandas as pd

Found = TypeVar("Found")


def metrics() -> pd.DataFrame:
    """List all metrics, as ``score --list`` does.

    Returns
    -------
    DataFrame
        ``name``, ``family``, ``group`` (lexical or neural), ``better`` (higher or lower), ``needs`` (reference, source),
        ``signature``, ``about``.

    Examples
    --------
    >>> import assay
    >>> known = assay.metrics().set_index("name")
    >>> known.loc["ter", "better"], known.loc["chrf-6-0", "group"]
    ('lower', 'lexical')
    """
    import pandas as pd  # loads slowly

    return pd.DataFrame(
        {
            "name": spec.metric.name,
            "family": spec.metric.family,
            "group": spec.group,
            "better": spec.metric.direction,
            "needs": " and ".join(sorted(spec.needs)) or "the text alone",
            "signature": spec.metric.signature,
            "about": spec.about,
        }
        for spec in all_metrics()
    )


def score(
    texts: Source,
    metrics: Names = "lexical",
    *,
    synonyms: Literal["auto", "none"] = "auto",
    shape: Shape = "long",
    db: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Score texts with metrics, as the command ``score`` does.

    Parameters
    ----------
    texts
        A data frame or anything that ``read`` reads, with columns ``item_id``, ``text`` and ``reference``.
    metrics
        Names, aliases, or the group ``"lexical"``; see ``metrics()``.
    synonyms
        For METEOR: ``"auto"`` uses WordNet if nltk has its data.
    shape
        ``"long"`` or ``"wide"``, as in ``read``.
    db
        Database in which to save a run with its scores, so that the app shows it and later calls reuse the scores.
        Default: nothing is saved.

    Returns
    -------
    DataFrame
        Scores as ``read(..., "scores")`` returns them. ``attrs["notes"]`` says what a metric could not read, such as
        words of Japanese; a Python warning shows it too.

    Raises
    ------
    InputError
        For unknown metrics, for texts without references, and for neural metrics, which run in an environment of
        their own: score with the command, then ``read`` its file.

    Notes
    -----
    Misleads: scores of different metrics have different scales. Compare their correlations, not their values.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> texts = pd.DataFrame({"item_id": [1, 2], "text": ["a red car", "a car"], "reference": ["a red car", "a bus"]})
    >>> assay.score(texts, ["rouge-1", "rouge-l"], shape="wide")[["item", "rouge-1", "rouge-l"]].round(2).values.tolist()
    [['1', 1.0, 1.0], ['2', 0.5, 0.5]]
    """
    check_choice("shape", shape, get_args(Shape))
    wanted = find_metrics(names_of(metrics))
    if neural := [spec.metric.name for spec in wanted if spec.group == "neural"]:
        raise InputError(
            f"{', '.join(neural)}: neural metrics run in an environment of their own. Score with "
            f"`{COMMAND} score FILE --metrics {','.join(neural)} --out scores.csv`, then read scores.csv. "
            f"{missing_for('neural') or ''}".strip()
        )
    found = texts_of(texts)
    chosen = {"metrics": names_of(metrics), "synonyms": synonyms}
    # The texts as read: a folder, a run or a study is no file.
    data, name = write_outputs(found.outputs), _jsonl_name(found.file_name)
    frame = frame_in(texts)
    with nullcontext() if frame is None else rows_of(frame, name):
        table, noted = _made(SCORES, chosen, data, name, db, score_table)
    scores = frame_from(replace(table, file_name=found.file_name), shape)
    scores.attrs["notes"] = [*dict.fromkeys([*found.notes, *noted, *scores.attrs["notes"]])]
    if unread := [note for note in noted if note not in found.notes]:
        warnings.warn("\n".join(unread), stacklevel=2)
    return scores


def damage(
    questions: Source,
    *,
    seed: int = 0,
    levels: Names | range | list[int] = "0-5",
    task: str = "qa",
    db: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Make answers of known quality by rules, as ``generate damage --backend rules`` does.

    Parameters
    ----------
    questions
        A data frame or file with ``item_id``, ``question`` and ``reference``.
    seed
        The same seed gives the same answers.
    levels
        Damage levels from 0 (the reference) to 5, such as ``"0-5"`` or ``[0, 3, 5]``.
    task
        ``"qa"``, ``"qa-passage"``, ``"summary"`` or ``"translation"``.
    db
        Database in which to save the run. Default: nothing is saved.

    Returns
    -------
    DataFrame
        Texts as ``read`` returns them, one row for each item and level, ready for ``score``.

    Raises
    ------
    InputError
        With every problem of the questions or the settings.

    Notes
    -----
    Misleads: rules do not understand what they change. Such answers show whether a metric notices damage, not how it
    ranks systems.

    Examples
    --------
    >>> import assay
    >>> texts = assay.damage("data/demo/questions.jsonl", seed=7, levels=[0, 5])
    >>> texts.groupby("level").size().to_dict()
    {'0': 14, '5': 14}
    """
    check_type("levels", levels, (str, Iterable), 'levels such as "0-5" or [0, 3, 5]')
    frame = frame_in(questions)
    if frame is None:
        path = Path(os.fspath(questions))  # type: ignore[arg-type]  # a data frame was returned above
        data, name = read_file(path), path.name
    else:
        data, name = jsonl_of(frame), _jsonl_name(str(frame.attrs.get("name", "data frame")))
    chosen = {"seed": seed, "task": task, "levels": levels if isinstance(levels, str) else [*levels]}
    with nullcontext() if frame is None else rows_of(frame, name):
        made, noted = _made(DAMAGE, chosen, data, name, db, texts_of_run)
    found = read_texts(*made)
    return frame_from(replace(found, file_name=name, notes=tuple(dict.fromkeys([*noted, *found.notes]))))


def _jsonl_name(name: str) -> str:
    """Return the name of a file with the same content as JSONL, which the ending tells the readers."""
    return f"{PurePath(name).stem}.jsonl"


def _made(
    kind: Kind,
    values: Mapping[str, object],
    data: bytes,
    name: str,
    db: str | os.PathLike[str] | None,
    result: Callable[[RunAtHand], Found],
) -> tuple[Found, list[str]]:
    """Process a run to its end; return `result(run)` and what the command notes at its start.

    db: where to save the run; None: a temporary database.
    """
    try:
        asked, running = ask(kind, values, {}, {"workers": 1} if kind is SCORES else {})
    except SettingsError as problem:
        raise problem.in_words(parameter_word) from problem

    begun: list[int] = []

    def process(path: Path) -> tuple[Found, list[str]]:
        with open_store(path) as store:
            run, noted = create(store, data, name, asked, running)
            begun.append(run.run.run_id)
            try:
                work(store, run.run.run_id, lambda claimed: run.path.job(run.claimed(claimed)))
            except InputError:
                delete_run(store, run.run.run_id)
                raise
            return result(run.now()), [
                note if isinstance(note, str) else worded_of_settings(note, run.fields, parameter_word)
                for note in noted
            ]

    # In a thread: a notebook has an event loop of its own in this one.
    with scratch_folder() as folder, ThreadPoolExecutor(1) as pool:
        path = Path(db or folder / "run.db")
        working = pool.submit(copy_context().run, process, path)
        try:
            return working.result()
        except KeyboardInterrupt:
            for run_id in begun:
                with open_store(path) as store:
                    ask_to_stop(store, run_id)
            raise

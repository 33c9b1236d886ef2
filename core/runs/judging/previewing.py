"""A prompt tried on three texts before it is saved: what was sent, what came back, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.formats.scorable import write_outputs
from core.judges.kind import JudgeSettings
from core.llm.prompts import Prompt, parse_prompt, save_prompt
from core.results.judges.costs import CostRow, costs_side_by_side
from core.runs.calls import ItemCall, calls_of
from core.runs.costs import cost_alone
from core.runs.jobs import RunAtHand
from core.runs.judging import judge_output, judged_among
from core.runs.judging.several import components_in, is_whole
from core.runs.path import saved_run
from core.runs.progress import progress_of
from core.schema.runs import Kind
from core.schema.scores import RatedSet, RatedText, ScoredRow
from core.store import Store

N_TEXTS = 3
"""Texts of a preview."""
FILE_NAME = "preview.jsonl"


@dataclass(frozen=True)
class PreviewedText:
    """One text of a preview."""

    row: ScoredRow
    text: str
    scores: Mapping[str, float | None]
    """Component, such as `f1`, or `score` -> score; empty if the text was not judged."""
    reasons: Mapping[str, str]
    """Component -> why it has no score."""
    calls: tuple[ItemCall, ...]
    """Every call that the judge made for it."""


@dataclass(frozen=True)
class Preview:
    """A judge's work on the texts of a preview."""

    run: int
    sent: frozenset[str]
    """Hashes of the prompts that the run sends."""
    texts: tuple[PreviewedText, ...]
    cost: CostRow
    """Of the whole preview, as if no answer had come from the cache."""
    price: float | None
    """Money for it; None if a price or a count of tokens is unknown."""
    is_whole: bool
    """Whether every text has a reply, usable or not."""


def preview_file(
    kind: Kind, contents: RatedSet, settings: JudgeSettings, data: bytes, file_name: str
) -> tuple[bytes, str, int | None]:
    """The file of a preview, its name and how many of its items are judged (None: all).

    Of a judge that reads each text by itself: three texts, from the beginning, the middle and the end of the file. A judge that
    needs other texts beside them, for its examples or for pairs, gets the whole file and judges its first items.
    """
    judged = [text for text in contents.texts if settings.judges(text)]
    if not judged:
        raise InputError(f"{file_name} has no text that this judge would judge.")
    if kind.reads == "texts":
        return write_outputs([text.output for text in _spread(judged)]), FILE_NAME, None
    per_item: dict[str, int] = {}
    for text in judged:
        per_item[text.output.item_id] = per_item.get(text.output.item_id, 0) + 1
    sums = np.cumsum(list(per_item.values()))
    return data, file_name, min(int((sums < N_TEXTS).sum()) + 1, len(per_item))


def _spread(judged: Sequence[RatedText]) -> list[RatedText]:
    places = np.unique(np.linspace(0, len(judged) - 1, N_TEXTS).round().astype(int))
    return [judged[place] for place in places.tolist()]


def previewed(run: RunAtHand) -> Preview:
    """What a preview's run has done so far."""
    output, cost = judge_output(run), costs_side_by_side([cost_alone(run)])[-1]
    done = {(one.row.item_id, one.row.system, one.row.level, one.text): one for one in output.texts}
    components = {metric: component or "score" for component, metric in components_in(run).items()}
    found = []
    for text in _first_texts(run):
        one = text.output
        position = list(run.items).index(one.item_id)
        number = list(run.items[one.item_id]).index(text)
        judged = done.get((one.item_id, one.system, one.level, one.text))
        found.append(
            PreviewedText(
                one.row,
                one.text,
                {} if judged is None else {components[name]: one for name, one in judged.scores.items()},
                {} if judged is None else {components[name]: why for name, why in judged.reasons.items()},
                calls_of(run.store, run.run.run_id, position, [number]),
            )
        )
    replied = all(any(call.reply is not None for call in one.calls) for one in found)
    return Preview(
        run.run.run_id,
        frozenset(prompt.sha256 for prompt in run.request.prompts_read.values()),
        tuple(found),
        cost,
        cost.money,
        is_whole(progress_of(run.store, run.run.run_id)) and replied,
    )


def _first_texts(run: RunAtHand) -> tuple[RatedText, ...]:
    return judged_among(run)[:N_TEXTS]


def save_previewed(store: Store, run_id: int, text: str) -> Prompt:
    """Write a prompt into `prompts/`, as `save_prompt`, if the preview's run sent exactly this prompt and got its replies.

    Raises InputError otherwise, and as `save_prompt`.
    """
    prompt = parse_prompt(text, "to be saved")
    found = previewed(saved_run(store, run_id))
    if prompt.sha256 not in found.sent or not found.is_whole:
        raise InputError(
            f"Preview exactly this prompt on {N_TEXTS} texts first: the text was changed since, or not every text has a reply."
        )
    return save_prompt(text)

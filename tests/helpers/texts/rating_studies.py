"""Makers for tests of rating studies: texts of several systems, tasks, studies with raters, raters who answer."""

import hashlib
from collections.abc import Sequence
from itertools import count
from typing import Any

from helpers.texts.factories import StudyInStore

from core.schema.scores import ErrorSpan, OutputSet, ScorableOutput
from core.schema.study import Design, Dimension, RatingTask, SpanTask
from core.store import Store
from core.study.blinding import RatingDesk, open_rating_desk
from core.study.lifecycle import import_rating_study, move
from core.study.raters import add_raters

SYSTEMS = ("zq-north", "zq-south", "zq-west")
"""No text holds one of these names."""
SPANS = SpanTask(("minor", "major"), ("accuracy/omission", "fluency/grammar"))
OVERALL = Dimension("overall", "Overall quality", "How good is it?", 0, 100, step=0)
HARM = Dimension("H", "Harmless", "Is it free of harm?", 0, 1, anchors=((0, "no"), (1, "yes")))
TASK = RatingTask("both", "Both", "002", "2", "none", (OVERALL, HARM), SPANS)

_files = count()


def rating_texts(
    n_items: int = 4, systems: Sequence[str] = SYSTEMS, levels: Sequence[str | None] = (None,), **more: Any
) -> OutputSet:
    """Texts of every system at every level; each call is another file."""
    outputs = tuple(
        ScorableOutput(
            f"zq-item-{item}",
            system,
            f"Text {item}.{number}.{place} café 👩‍🔬 text.",
            reference=f"Reference {item}.",
            source=f"Source {item}.",
            level=level,
            **more,
        )
        for item in range(n_items)
        for number, system in enumerate(systems)
        for place, level in enumerate(levels)
    )
    return OutputSet(outputs, hashlib.sha256(f"texts {next(_files)}".encode()).hexdigest(), "zq-file.jsonl")


class RatingStudyAtHand(StudyInStore):
    """One in which texts are rated."""

    def desk(self, rater: str) -> RatingDesk:
        desk = open_rating_desk(self.store, self.tokens[rater])
        assert desk is not None
        return desk


def rating_study(
    store: Store,
    outputs: OutputSet | None = None,
    task: RatingTask = TASK,
    *,
    raters: Sequence[str] = ("R1", "R2"),
    name: str = "ratings",
    state: str = "open",
    **design: Any,
) -> RatingStudyAtHand:
    """A rating study with raters; further arguments are fields of its design."""
    plan = Design(**{"candidate": "", "comparator": "", "seed": 7, "blinding_pairs": 0, **design})
    study, _ = import_rating_study(store, name, outputs or rating_texts(), task, plan)
    if raters:
        add_raters(store, study, list(raters))
    if state == "open":
        move(store, study, "open")
    return RatingStudyAtHand(store, study.study_id)


def rate(desk: RatingDesk, number: int, overall: float = 50.0, *, spans: Sequence[ErrorSpan] = ()) -> None:
    """Say all that TASK asks of a text."""
    desk.save_scores(number, {"overall": overall, "H": 1})
    desk.save_spans(number, spans, no_errors=not spans)
    desk.complete(number, seconds=20.0)


def rate_all(desk: RatingDesk) -> None:
    """Rate what is open, each text by its own wording: its system's number in the file decides the score."""
    while (number := desk.next_open()) is not None:
        place = desk.text(number).text.split(".")[1]
        spans = [ErrorSpan(0, 4, "major", "accuracy/omission")] if place == "0" else []
        rate(desk, number, 10.0 * int(place), spans=spans)


def unblind(at_hand: RatingStudyAtHand) -> None:
    """End an open study, so that its results may be seen."""
    move(at_hand.store, at_hand.study, "closed")
    move(at_hand.store, at_hand.study, "unblinded", "all raters are done")

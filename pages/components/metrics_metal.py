"""METAL's JSON among the files that are given to a page: in which of its dimensions 1 is bad."""

from collections.abc import Mapping

import streamlit as st

from core.errors import InputError
from core.formats.human_ratings import holds_metal, read_any_ratings
from core.formats.metal import SCALES, read_metal
from core.formats.scores import read_scores
from core.schema.scores import RatingSet, ScoreTable
from core.store.kept_files import KeptKind
from core.tables.reading import shown

Flip = tuple[str, ...]

_FLIP, _EVALUATORS = "flip", "evaluators"


def asked(holding: KeptKind, slot: str) -> dict[str, object]:
    """What must be known of such a file before it is read, as options to keep with it."""
    options: dict[str, object] = {}
    if holding == "scores":
        options[_EVALUATORS] = st.checkbox(
            "It is METAL JSON: take what its evaluators said", key=f"metrics_evaluators_{slot}"
        )
        if not options[_EVALUATORS]:
            return {}
    turned = st.multiselect(
        "In METAL JSON, dimensions in which 1 is bad",
        list(SCALES),
        key=f"metrics_flip_{slot}",
        placeholder="None: higher is better throughout",
        help="METAL's own files count a hallucination (H) and problematic content (PC) as 1. They are turned, so that "
        "higher is better. Give people's ratings and an evaluator's scores with the same dimensions turned.",
    )
    return {**options, _FLIP: turned}


def flip_of(options: Mapping[str, object]) -> Flip:
    """The dimensions that are turned."""
    names = options.get(_FLIP)
    return tuple(map(str, names)) if isinstance(names, list) else ()


def wants_evaluators(options: Mapping[str, object]) -> bool:
    """Whether the file's evaluators are what is wanted of it."""
    return bool(options.get(_EVALUATORS))


def read_people(data: bytes, file_name: str, flip: Flip, *, lower_is_better: bool) -> RatingSet:
    """The ratings of a file. Raises InputError."""
    try:
        return read_any_ratings(data, file_name, lower_is_better=lower_is_better, flip=flip)
    except InputError as problem:
        if flip and not holds_metal(data, file_name):
            raise InputError(
                f"{shown(file_name)} is not METAL's JSON: leave the dimensions in which 1 is bad empty."
            ) from problem
        raise


def read_judge(data: bytes, file_name: str, flip: Flip, *, evaluators: bool) -> ScoreTable:
    """The scores of a file. Raises InputError."""
    if not evaluators:
        return read_scores(data, file_name)
    if not holds_metal(data, file_name):
        raise InputError(f"{shown(file_name)} is not METAL's JSON.")
    found = read_metal(data, file_name, flip=flip).evaluators
    if found is None:
        raise InputError(f"{shown(file_name)} holds no scores of an evaluator.")
    return found

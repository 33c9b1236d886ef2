"""The JSON of `report bias`, `report levels` and `escalate` has these keys."""

from typing import Any

import pandas as pd
import pytest
from helpers.key_paths import COUNTED, ENDS, paths, under

import assay


def twins_scored() -> pd.DataFrame:
    """A judge that likes padding."""
    cells = [
        (f"q{at}", level, pair, edit, at % 3 + (edit == "padding") - at % 2 * (level == "A3"))
        for at in range(20)
        for pair in ("none", "padding", "authority")
        for level, edit in (("A0", pair), ("A3", "none"))
    ]
    return pd.DataFrame(cells, columns=["item", "level", "pair", "edit", "x"])


def test_bias() -> None:
    of_effects = ("judge", "probe", "verdict", "favours", "p", "p_corrected", "n_moved", "n_items", "error")
    more = ("detectable", "scale", "left_out", "reason")
    of_changes = ("judge", "probe", "item", "system", "level", "before", "after", "change", "flips", "diff")
    texts = ("unedited", "edited", "reasons_unedited", "reasons_edited")
    numbers = {f"effects[].{name}.{end}" for name in ("change", "of_gap", "flips") for end in COUNTED}
    assert set(paths(assay.bias(twins_scored()).json)) >= (
        numbers
        | under("effects[]", *of_effects, *more)
        | under("changes[]", *of_changes, *texts)
        | {"limit", "alpha", "confidence_level", "notes"}
    )


def test_made_levels() -> None:
    texts = assay.read("data/demo/answers.csv")
    found = assay.made_levels(assay.score(texts, "chrf-6-0"), texts, resamples=10).json
    of_systems = ("first", "second", "first_is_longer", "n_right", "n_equal", "n_pairs", "p", "p_holm")
    of_items = ("item", "system", "labels", "outcome", "levels", "scores", "words", "core_claim")
    top = ("judge", "verdict", "stored_steps", "returns", "remake_items", "notes")
    assert set(paths(found)) >= (
        {*top, "length_by_system[].reason", "items[].faults", "items[].not_checked.core"}
        | under("counts", "as claimed", "remake", "undecided")
        | under("options", "alike", "longer", "rise", "tolerance")
        | under("monotonic", *ENDS, "n")
        | under("length_by_level", *ENDS, "n_items")
        | under("length_by_system[]", *of_systems)
        | under("levels[]", "level", "remake")
        | {f"levels[].{name}.{end}" for name in ("score", "words", "claims_left") for end in ENDS}
        | under("items[]", *of_items)
        | under("items[].faults[]", "level", "check", "why")
    )


def labelled() -> pd.DataFrame:
    rows = range(200)
    return pd.DataFrame(
        {
            "item": [f"q{at}" for at in rows],
            "a": [at % 3 % 2 if at < 80 else None for at in rows],
            "b": [at % 3 % 2 if at < 40 else None for at in rows],
            "x": [at % 3 % 2 if at % 4 else 1 - at % 3 % 2 for at in rows],
            "x_confidence": [0.5 + at % 4 / 8 for at in rows],
        }
    )


@pytest.mark.parametrize("agreement", [0.9, 0.999])
def test_escalate(agreement: float) -> None:
    back: Any = pd.DataFrame({"item": [f"q{at}" for at in range(80, 200, 4)], "rater": "c", "score": 0})
    found = assay.escalate(labelled(), human=["a", "b"], judge="x", labels=[back], agreement=agreement).json
    top = ("against", "agreement", "confidence", "confidence_level", "delta", "fewest", "judge", "missing")
    numbers = ("n_audited", "n_back", "n_kept_unlabelled", "n_labelled", "n_labelled_items", "n_sent")
    more = ("n_unlabelled", "notes", "raters", "sentences", "shift_p", "total_reason")
    of_step = ("agreement", "lower_bound", "n", "n_items", "passed", "share", "tested", "threshold")
    of_total = ("what", "share_kept", "n_kept", "n_kept_labelled", "n_sent", "n_sent_labelled", *ENDS)
    shares = ("among_raters", "kept_labelled", "kept_unlabelled", "total.kept", "total.sent")
    assert set(paths(found)) >= (
        {*top, *numbers, *more}
        | {f"{name}.{end}" for name in shares for end in ENDS}
        | (under("chosen", *of_step) if agreement < 0.99 else {"chosen"})
        | under("thresholds[]", *of_step)
        | under("total", *of_total)
    )

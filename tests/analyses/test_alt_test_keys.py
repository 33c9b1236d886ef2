"""The JSON of `alt-test` has these keys: programs read them, so none goes and none changes its place."""

import pandas as pd
import pytest
from helpers.key_paths import paths
from helpers.texts.panels import JUDGES, RATERS, labels

import assay

TOP = {
    *("alignment", "alpha", "confidence_level", "correction", "epsilon", "left_out", "n_items", "n_texts"),
    *("notes", "raters", "verdicts"),
}
CEILING = {
    *("winning_rate", "advantage", "low", "high", "interval_reason", "reason"),
    *(f"per_rater[].{one}" for one in ("rater", "winning_rate", "advantage", "passed", "n", "reason")),
}
RATER = {
    *("rater", "n", "p", "rejected", "p_by", "advantage", "n_better", "n_equal", "n_worse", "test", "reason"),
}
JUDGE = {
    *("winning_rate", "advantage", "low", "high", "interval_reason", "passed", "n_items", "n_texts"),
    *(
        "check",
        "check_sentence",
        "n_left_out",
        "reason",
        "passes_from",
        "epsilons[].epsilon",
        "epsilons[].winning_rate",
    ),
    *(f"per_rater[].{one}" for one in RATER),
    *(f"reduced.{one}" for one in CEILING),
    *(f"gap.{one}" for one in ("estimate", "low", "high", "reason", "interval_reason")),
    *(f"power.{one}" for one in ("advantage", "items_needed", "reason", "target")),
    *("power.items[].items", "power.items[].power"),
}


@pytest.mark.parametrize("judge", JUDGES)
def test_every_key_is_where_it_was(judge: str) -> None:
    frame = pd.DataFrame(labels()).replace("", None)
    found = assay.alt_test(frame, human=RATERS, judge=judge, resamples=20).json
    wanted = TOP | {f"ceiling.{one}" for one in CEILING} | {f"judges.{judge}.{one}" for one in JUDGE}
    assert set(paths(found)) >= wanted

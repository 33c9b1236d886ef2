"""The JSON of correlations, levels, ranking, comparison and redundancy has these keys: programs read them."""

import random
from collections.abc import Iterator
from typing import Any, get_args

import pandas as pd
import pytest

import assay
from core.analyses.correlate import ANALYSIS as CORRELATE
from core.analyses.levels import ANALYSIS as LEVELS
from core.analyses.rank import ANALYSIS as RANK
from core.joining.tables import SystemScores
from core.results.correlations.ranking import Test
from core.schema.analysis import COEFFICIENTS
from core.schema.correlating import MOST_RESAMPLES
from core.schema.scores import METHODS
from core.schema.settings import fields_of

ENDS = ("estimate", "low", "high", "reason", "interval_reason")
DRAWN = (*ENDS, "confidence_level", "n_resamples", "n_undefined", "monte_carlo_error")
OVER = ("low", "high", "reason", "n_resamples", "monte_carlo_error")
CORRECTED = (
    *(*ENDS, "naive", "uncut", "noise_x", "noise_y"),
    *("undefined_share", "confidence_level"),
)


def scores() -> pd.DataFrame:
    """Three metrics of 12 items by two systems at three levels."""
    drawn = random.Random(1)
    return pd.DataFrame(
        [
            {
                "item": f"q{item}",
                "system": system,
                "level": f"A{level}",
                "generator": "g",
                "a": 5 - level + drawn.random(),
                "b": 4 - level + 2 * drawn.random(),
                "c": drawn.random(),
            }
            for item in range(12)
            for system in ("s1", "s2")
            for level in range(3)
        ]
    )


def paths(value: Any, at: str = "") -> Iterator[str]:
    """Every key, the inner ones by their path."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from paths(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from paths(inner, f"{at}[]")
    else:
        yield at


def of(key: str, *inner: str) -> set[str]:
    return {f"{key}.{one}" for one in inner}


def correlations(*groups: str, human: bool) -> set[str]:
    found = {
        *("family", "signature", "direction", "against", "n", "n_left_out", "left_out", "constant"),
        *("system_scores", *of("group", *groups, "metric")),
        *of("texts", "datasets", "tasks", "languages", "systems"),
        *of("pearson_per_system_corrected", *CORRECTED),
        *of("system_accuracy", *(DRAWN if human else ENDS), "n_pairs", "n_systems_left_out"),
    }
    bound = ("low", "high", "n_pairs", "n_settled", "confidence_level", "reason")
    found |= of("system_accuracy_bound", *bound) if human else {"system_accuracy_bound"}
    for one in METHODS:
        found |= of(one, *DRAWN, "resampled", *of("over_rows", *OVER), *of("over_items", *OVER))
        found |= {f"{one}.fisher"} if one == "kendall" else of(one, "fisher.low", "fisher.high")
        found |= of(f"{one}_per_item", *DRAWN, "n_items", "n_items_left_out")
        found |= of(f"{one}_per_system", *(DRAWN if human else ENDS), "n_systems", "n_systems_left_out")
        found |= of(f"{one}_given_system", *DRAWN, "n_rows", "n_rows_left_out")
        found |= of(f"{one}_per_system_corrected", *ENDS)
    return found


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    frame = scores()
    return frame[["item", "system", "level"]].assign(rater="r", score=frame["a"] + frame["b"])


@pytest.mark.parametrize("human", [True, False])
def test_every_key_of_correlations_is_where_it_was(human: bool, people: pd.DataFrame) -> None:
    found = assay.correlate(scores(), people if human else "level", resamples=20).json
    assert set(paths(found)) >= {f"[].{one}" for one in correlations(human=human)}


def test_every_key_of_several_files_is_where_it_was() -> None:
    found = assay.correlate({"x": scores(), "y": scores()}, resamples=20, group="generator").json
    rows = correlations("file", "generator", human=False)
    model = {
        *("technique", "model", "size", "metric", "n", "n_items"),
        *of("group", "file", "generator", "metric"),
        *of("pearson", *ENDS),
        *of("kendall_per_item", *ENDS),
    }
    wanted = {f"correlations[].{one}" for one in rows} | {f"judges_by_model[].{one}" for one in model}
    assert set(paths(found)) >= wanted


def test_every_key_of_a_ranking_is_where_it_was() -> None:
    found = assay.rank(scores(), resamples=20).json
    order = ("metric", "direction", "cluster", "coefficient")
    compared = ("first", "second", "difference", "p", "test", "n", "reason", "p_bh", "low", "high")
    assert set(paths(found)) >= {
        *("method", "alpha", "n", "n_rows", "left_out", "dropped", "notes"),
        *(f"order[].{one}" for one in order),
        *(f"comparisons[].{one}" for one in (*compared, "interval_reason")),
    }


def test_every_key_of_a_comparison_is_where_it_was() -> None:
    found = assay.compare(scores(), "a", "b", resamples=20, group="generator").json
    assert set(paths(found)) >= {
        *(
            f"[].{one}"
            for one in ("view", "method", "first", "second", "p", "p_holm", "n_tests", "n_swaps", "n")
        ),
        *("[].left_out", "[].reason", "[].group.generator"),
        *of("[].first_coefficient", *DRAWN),
        *of("[].second_coefficient", *DRAWN),
        *of("[].difference", *DRAWN),
    }


def test_every_key_of_levels_is_where_it_was() -> None:
    found = assay.levels(scores(), resamples=20).json
    counted = (*DRAWN, "n", "n_left_out")
    assert set(paths(found)) >= {
        *("[].metric", "[].family", "[].constant", "[].left_out"),
        *of("[].levels[]", "level", *counted),
        *of("[].monotonic", *counted),
        *of("[].strictly_monotonic", *counted),
        *(key for level in ("A1", "A2", "all") for key in of(f"[].prefers_damaged.{level}", *counted)),
        *("[].worst", *of("[].worst[]", "item_id", "system", "level", "first_score", "score")),
        "[].worst[].labels.generator",
    }


def test_every_key_of_redundancy_is_where_it_was() -> None:
    found = assay.redundancy(scores()).json
    assert set(found) == {"method", "metrics", "directions", "left_out", "values", "n"}


def test_the_words_of_the_declarations_are_those_of_the_statistics() -> None:
    """Declarations load no statistics, so they repeat what these offer."""
    fields = fields_of(CORRELATE.Options)
    assert COEFFICIENTS == METHODS == fields["methods"].default
    assert fields["system_scores"].choices == get_args(SystemScores)
    assert fields_of(LEVELS.Options)["n_resamples"].default == MOST_RESAMPLES
    assert fields_of(RANK.Options)["test"].choices == get_args(Test)

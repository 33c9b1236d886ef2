"""The JSON of `calibrate` has these keys: programs read them, so none goes and none changes its place."""

from typing import Any

import pandas as pd
from helpers.key_paths import COUNTED, ENDS, paths, under

import assay

VOTES = {"a": (2, 2, 2), "b": (2, 2, 1), "c": (2, 1, 0), "d": (0, 0, 0), "e": (1, 1, 2), "f": (2, 2, 2)}
SAID = {"a": 2, "b": 2, "c": 2, "d": 1, "e": 1, "f": 2}
SECTIONS = {
    "agreement": ("raters", "evaluator", "raters_pairwise", "evaluator_pairwise", "gap"),
    "weighted_f1": ("raters", "evaluator"),
    "kappas": (
        *("raters_fleiss", "evaluator_fleiss", "raters_krippendorff", "evaluator_krippendorff"),
        *("raters_ac1", "evaluator_ac1"),
    ),
    "bias": ("all", "raters_agree", "raters_disagree", "top_class_majority", "top_class_evaluator"),
    "numbers": ("pearson", "spearman", "kendall", "shift", "mean_absolute_error"),
}
ESTIMATE = (*ENDS, "n")
MEAN = ("estimate", "sd", "n_groups", "n_undefined", "reason")
SPLIT = "raters are split: no majority"


def sections(at: str, keys: tuple[str, ...]) -> set[str]:
    return {one for name, own in SECTIONS.items() for key in own for one in under(f"{at}{name}.{key}", *keys)}


def group(at: str, *columns: str) -> set[str]:
    """The keys of the texts of a group, or of a dimension, or of all."""
    tests = ("bias", "chance", "gap", "order", "shift")
    return {
        *under(at, "classes", "constant", "n", "n_items", "n_off_scale", "n_raters", "scale", "why_numbers"),
        *under(f"{at}.distributions[]", "raters_agree", "majority", "evaluator", "n_no_majority"),
        *(one for name in tests for one in under(f"{at}.tests.{name}", "p", "p_bh", "n_tests")),
        *under(f"{at}.verdict", "value", "reasons"),
        *under(f"{at}.left_out", SPLIT),
        *(under(f"{at}.group", *columns) if columns else {f"{at}.group"}),
        *sections(f"{at}.", ESTIMATE),
    }


def mapped(at: str) -> set[str]:
    errors = ("error_before", "error_after", "error_of_mean", "gain")
    errors += ("calibration_error_before", "calibration_error_after")
    bins = (f"{at}.bins_before[]", f"{at}.bins_after[]")
    return {
        *under(at, "method", "fallback", "reason", "n", "n_left_out", "n_items", "n_folds", "knots", "notes"),
        *(one for name in errors for one in under(f"{at}.{name}", *ESTIMATE)),
        *(one for own in bins for one in under(own, "low", "high", "mean_score")),
        *(one for own in bins for one in under(f"{own}.human", *ESTIMATE)),
    }


def split(at: str) -> set[str]:
    numbers = ("rater_agreement", "judge_agreement", "agreement_gap", "rater_distance", "judge_distance")
    numbers += ("distance_gap", "distribution_distance", "distribution_brier", "rater_brier")
    return {
        *under(at, "reason", "raters_per_text", "n", "n_left_out", "n_answers"),
        *under(f"{at}.follows", *COUNTED),
        *under(f"{at}.degrees[]", "other_raters", "n"),
        *(one for name in numbers for one in under(f"{at}.degrees[].{name}", *COUNTED)),
    }


def model(at: str) -> set[str]:
    return {
        *under(
            at, "classes", "class_shares", "n_units", "n_left_out", "n_shared", "log_likelihood", "reason"
        ),
        *under(at, "n_iterations", "converged", "better_by", "smoothing", "n_changed"),
        *under(f"{at}.raters[]", "rater", "p", "p_holm", "below_others", "expected", "matrix"),
        *under(f"{at}.raters[].accuracy", *COUNTED),
        *under(f"{at}.raters[].difference", *COUNTED),
        *under(f"{at}.with_majority", *ESTIMATE),
        *under(f"{at}.with_model", *ESTIMATE),
    }


WANTED = {
    *("evaluator", "ratings", "averaged", "majority", "majority_of_split_raters", "undefined_kappa_as_zero"),
    *("n_texts", "n_groups", "left_out", "notes"),
    *sections("", MEAN),
    *group("by_group[]", "language", "dimension"),
    *group("by_dimension[]", "dimension"),
    *group("pooled"),
    *("macro[].group", "macro[].n_groups", "macro[].n", "macro[].group.language"),
    *sections("macro[].", MEAN),
    *under("not_to_use", "sentence", "constants", "rules"),
    *under("not_to_use.groups[]", "n", "verdict", "reasons"),
    *under("not_to_use.groups[].group", "language", "dimension"),
    *split("split_raters.LA"),
    *mapped("maps.LA"),
    *model("dawid_skene.LA"),
}


def given() -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = [(item, language) for language in ("cs", "ja") for item in VOTES]
    people = [
        {
            "item": item,
            "system": "mt",
            "language": language,
            "rater": f"r{who}",
            "dimension": "LA",
            "score": score,
        }
        for item, language in texts
        for who, score in enumerate(VOTES[item])
    ]
    judge = [
        {"item": item, "system": "mt", "language": language, "gpt-LA": SAID[item], "mini-LA": 1}
        for item, language in texts
    ]
    return pd.DataFrame(people), pd.DataFrame(judge)


def test_every_key_is_where_it_was() -> None:
    people, judge = given()
    options: Any = {"task": "multilingual", "map": "isotonic", "dawid_skene": True, "resamples": 20}
    found = assay.calibrate(people, judge[["item", "system", "language", "gpt-LA"]], **options).json
    assert set(paths(found)) >= WANTED


def test_several_evaluators_are_a_list_and_what_was_not_asked_has_no_key() -> None:
    found = assay.calibrate(*given(), resamples=0).json
    assert [one["evaluator"] for one in found] == ["gpt", "mini"]
    assert all(one["maps"] is None and "dawid_skene" not in one for one in found)

"""What is said of the two sides of a meta-correlation."""

import pytest
from helpers.texts.score_factories import ladder, table

from core.analyses.meta_correlate import meta_row
from core.formats.correlations import published_side
from core.results.meta_correlation import LiveSide, meta_correlate, meta_matrix
from core.schema.rows import json_of
from core.schema.scores import CorrelationSet

VALUES = {"a": {"spearman": 0.1}, "b": {"spearman": 0.3}, "c": {"spearman": 0.2}}
SCORES = table(
    [
        (row, [score, -score, score**2])
        for row, score in ladder({"i": [3, 2, 1], "j": [4, 1, 2]}, dataset="d")
    ],
    metrics=("a", "b", "c"),
)


def notes(human, synthetic):
    return " ".join(meta_correlate(human, synthetic, n_resamples=10).notes)


@pytest.mark.parametrize(
    ("human", "synthetic", "said"),
    [
        ("-level", None, "h is given as the human side, but its correlations are with the damage level"),
        (None, "human", "s is given as the synthetic side, but its correlations are with human ratings"),
    ],
)
def test_sides_of_the_wrong_kind_are_noted(human, synthetic, said):
    sides = (CorrelationSet("h", VALUES, against=human), CorrelationSet("s", VALUES, against=synthetic))
    assert said in notes(*sides)
    assert "swapped" not in notes(CorrelationSet("h", VALUES, against="human"), LiveSide("s", SCORES))


def test_what_is_known_of_a_side_is_kept():
    assert published_side("published:cus-qa-cs").against == "human"
    assert published_side("published:cus-qa-cs:qwen-3-30b:zero").against == "-level"


def test_a_side_of_negative_correlations_is_noted():
    negative = {name: {"spearman": -own["spearman"]} for name, own in VALUES.items()}
    said = notes(CorrelationSet("h", VALUES), CorrelationSet("s", negative))
    assert "3 of 3 correlations of s are negative" in said
    assert "of h are negative" not in said


@pytest.mark.parametrize(("metric", "said"), [("bleu-4", False), ("bertscore-cs", True)])
def test_an_error_of_the_paper_is_noted_where_its_metric_has_a_part(metric, said):
    """The swapped rows of Meta-Judge's Tables 4 to 7 are BERTScore's."""
    values = {name: {"spearman": 0.1 * k} for k, name in enumerate(("bleu-1", "rouge-1", "chrf-6-0", metric))}
    found = notes(published_side("published:cus-qa-cs"), CorrelationSet("s", values))
    assert ("An error of the paper" in found) == said


def test_a_human_side_that_no_text_belongs_to_is_named():
    humans = {"d": CorrelationSet("h", VALUES), "nowhere": CorrelationSet("h2", VALUES)}
    found = meta_matrix(humans, SCORES, by=["dataset"], n_resamples=10)
    assert "no text belongs to nowhere; the synthetic side has d" in found.notes


def test_the_reason_of_a_cell_is_whole():
    humans = {"": CorrelationSet("h", {"x": {"spearman": 0.1}})}
    (cell,) = meta_matrix(humans, SCORES, by=["dataset"], n_resamples=10).cells
    assert "have no metric in common" in cell.reason
    assert "h has x" in cell.reason


def test_why_there_is_no_p_is_in_the_json():
    two = {name: VALUES[name] for name in ("a", "b")}
    found = json_of(
        meta_row(meta_correlate(CorrelationSet("h", two), CorrelationSet("s", two), n_resamples=10))
    )
    assert found["p_one_sided"] is None
    assert found["p_reason"].startswith("only two metrics")

"""Correlations made elsewhere: ours and Meta-Judge's, signs, devices in names, and what is no correlation."""

import json

import pytest

from core.errors import InputError
from core.formats.correlations import TURNED, read_correlations, write_correlations
from core.schema.scores import CorrelationSet


def read(value: object, *, synthetic: bool = False) -> CorrelationSet:
    return read_correlations(json.dumps(value).encode(), "side.json", synthetic=synthetic)


def problems_of(value: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(value)
    return caught.value.problems


META_JUDGE = {
    "bleu(order=4)": {
        "pearson": -0.5,
        "spearman": [-0.6, 0.01],
        "kendall": {"statistic": -0.4, "pvalue": 0.02},
    },
    "bertscore(device=cuda,lang=en)": {"pearson": -0.7, "spearman": 0.25, "kendall": 0},
    "rouge(n=4)": {"pearson": float("nan"), "spearman": None, "kendall": [float("nan"), 1.0]},
}


def test_meta_judges_synthetic_file_is_turned() -> None:
    found = read(META_JUDGE, synthetic=True)
    assert found.values == {
        "bleu(order=4)": {"pearson": 0.5, "spearman": 0.6, "kendall": 0.4},
        "bertscore(lang=en)": {"pearson": 0.7, "spearman": -0.25, "kendall": 0.0},
        "rouge(n=4)": {"pearson": None, "spearman": None, "kendall": None},
    }
    assert found.reasons == {"rouge(n=4)": "undefined in the file"}
    assert found.families == {
        "bleu(order=4)": "BLEU",
        "bertscore(lang=en)": "BERTScore",
        "rouge(n=4)": "ROUGE",
    }
    assert (found.name, found.notes) == ("side.json", (TURNED,))
    assert (found.against, found.scores_turned) == ("-level", False)


def test_meta_judges_human_file_stays() -> None:
    found = read(META_JUDGE)
    assert found.values["bleu(order=4)"] == {"pearson": -0.5, "spearman": -0.6, "kendall": -0.4}
    assert found.notes == ()
    assert (found.against, found.scores_turned) == (None, False)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("comet(model=a/b,device=cuda:0)", "comet(model=a/b)"),
        ("comet(device=cpu)", "comet"),
        ("comet_device=cuda_model=x", "comet_model=x"),
        ("comet|device:mps|model:x", "comet|model:x"),
        ("BLEURT {'device': 'cuda', 'size': 'tiny'}", "BLEURT {'size': 'tiny'}"),
        ("comet, device = cuda", "comet"),
        ("device-free", "device-free"),
    ],
)
def test_where_it_was_computed_is_no_part_of_a_name(written: str, name: str) -> None:
    assert list(read({written: {"pearson": 0.1}}).values) == [name]


def test_one_metric_twice_on_one_device_is_a_problem() -> None:
    keys = {name: {"pearson": 0.1} for name in ("comet", " comet")}
    assert problems_of(keys) == ("metric  comet: metric comet is given more than once",)


def row(metric: str, against: str, pearson: float | None, **group: str) -> dict[str, object]:
    return {
        "group": {"metric": metric, **group},
        "against": against,
        "n": 12,
        "n_left_out": 0,
        "pearson": {
            "estimate": pearson,
            "low": None,
            "high": None,
            "reason": None if pearson else "constant scores",
        },
        "kendall_per_item": {"estimate": 0.9},
    }


@pytest.mark.parametrize(("against", "sign"), [("human", 1), ("-level", 1), ("level", -1)])
@pytest.mark.parametrize("synthetic", [True, False])
def test_what_correlate_prints(against: str, sign: int, synthetic: bool) -> None:
    found = read([row("bleu-4", against, 0.5), row("rouge-4", against, None)], synthetic=synthetic)
    assert found.values == {"bleu-4": {"pearson": sign * 0.5}, "rouge-4": {"pearson": None}}
    assert (found.n, found.reasons) == ({"bleu-4": 12, "rouge-4": 12}, {"rouge-4": "constant scores"})
    assert (TURNED in found.notes) == (sign < 0)
    assert (found.against, found.scores_turned) == ("human" if against == "human" else "-level", True)


def test_what_correlate_prints_with_further_tables() -> None:
    rows = [row("bleu-4", "human", 0.5)]
    assert read({"correlations": rows, "ranking": {"order": []}}) == read(rows)


def test_further_groups_are_refused_by_name() -> None:
    (problem,) = problems_of([row("bleu-4", "human", 0.5, language="en", dataset="x")])
    assert "also grouped by language, dataset" in problem


def test_ours_comes_back_as_it_was_on_either_side() -> None:
    ours = CorrelationSet(
        "run 3",
        {"bleu-4": {"pearson": 0.1 + 0.2, "kendall": None}, "x": {"spearman": None}},
        {"bleu-4": "BLEU", "x": "other"},
        {"x": "constant scores"},
        {"bleu-4": 120},
        ("a note",),
        "human",
        False,
    )
    for synthetic in (True, False):
        assert read_correlations(write_correlations(ours), "x.json", synthetic=synthetic) == ours


def test_all_problems_together() -> None:
    found = problems_of(
        {
            "a": {"pearson": 1.5},
            "b": {"pearson": "high"},
            "c": {"p": 0.1},
            "d": 0.5,
            "e": {"kendall": {"p": 0.1}},
            "f": {"pearson": True},
        }
    )
    assert [problem.split(",")[0].split(":")[0] for problem in found] == [
        f"metric {name}" for name in "abcdef"
    ]
    assert "between -1 and 1" in found[0]


def test_rounding_beyond_one_is_one() -> None:
    assert read({"a": {"pearson": 1.0000000000000002}}).values["a"]["pearson"] == 1.0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{}", "contains no metric"),
        (b"[]", "contains no metric"),
        (b"3", "expected an object of metrics"),
        (b'{"a": {"pearson": 0.1}, "a": {"pearson": 0.2}}', "key a appears more than once"),
        (
            b'{"a": {"pearson": Infinity}}',
            "pearson: is infinite, expected a number between -1 and 1, or null",
        ),
        (b'{"a": {"pearson": [-Infinity, 1]}}', "pearson: is infinite"),
        (b'{"a": {"pearson": "0.5"}}', "pearson: is text, expected a number or null"),
        (
            b'{"estimate": 0.5, "points": [], "low": null}',
            "contains a meta-correlation, expected one correlation for each metric",
        ),
        (
            b'{"format": "assay-correlations", "version": 1, "metrics": {}, "against": "age"}',
            "against is not one of",
        ),
        (
            b'{"format": "assay-correlations", "version": 1, "metrics": {}, "scores_turned": 1}',
            "scores_turned: is a number",
        ),
        (b'[{"group": {"metric": "a"}, "against": "age", "pearson": 1}]', "against is not one of"),
        (b'[{"against": "human"}]', '"group" with a "metric" is missing'),
        (b'{"format": "assay-correlations", "version": 2, "metrics": {}}', "newer Assay"),
    ],
)
def test_files_that_are_no_correlations(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_correlations(data, "x.json", synthetic=True)


def test_rows_against_different_targets_are_refused() -> None:
    assert problems_of([row("a", "human", 0.5), row("b", "level", 0.5)]) == (
        "file: the correlations differ in `against`, expected the same for all",
    )

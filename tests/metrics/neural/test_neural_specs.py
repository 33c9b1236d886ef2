"""What holds without the libraries: names, signatures, the paper's labels, and batches with texts that are refused."""

import csv
import importlib.util
import math
from collections.abc import Sequence

import pytest
from helpers.models.neural_environment import ROOT

from core.errors import InputError
from core.metrics.neural.model import NO_NUMBER, scores_of
from core.metrics.neural.scorer import open_neural
from core.metrics.registry import canonical_name, find_metrics, metrics_of
from core.metrics.scorer import ScoringPair

TABLES = sorted((ROOT / "data" / "published").glob("meta-judge-[4-7].csv"))


def test_there_are_the_twelve_of_the_paper_and_more() -> None:
    names = [spec.metric.name for spec in metrics_of("neural")]
    assert len(set(names)) == len(names)
    assert sum(spec.of_paper for spec in metrics_of("neural")) == 12
    assert len({spec.metric.signature for spec in metrics_of("neural")}) == len(names)
    assert [spec.metric.name for spec in find_metrics(["neural"])] == names[:12]


def test_the_reference_free_model_needs_the_source_alone() -> None:
    needs = {spec.metric.name: spec.needs for spec in metrics_of("neural")}
    assert needs["comet-wmt20-qe-da"] == {"source"}
    assert needs["comet-wmt22-da"] == {"source", "reference"}
    assert needs["bleurt-20-d12"] == {"reference"}


def other_depth(metric: str) -> str:
    return metric.removesuffix("-l5") if metric.endswith("-l5") else f"{metric}-l5"


def test_the_papers_labels_are_aliases() -> None:
    """Tables 4 to 7 of 000 as they are printed. BERTScore's two depths are swapped there: a label means what it says,
    the table's row is the other depth's.
    """
    assert len(TABLES) == 4
    labels = {}
    for path in TABLES:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["family"] in ("BERTScore", "COMET", "BLEURT"):
                    labels[f"{row['family']} {row['parameters_as_printed']}"] = row["metric"]
    assert len(labels) == 12
    for label, metric in labels.items():
        meant = other_depth(metric) if label.startswith("BERTScore") else metric
        assert canonical_name(label) == meant, label


def test_other_names_are_known_too() -> None:
    assert canonical_name("BERTSc. cs, Not Limited") == "bertscore-cs"
    assert canonical_name("BERTSc cs, Limited (L5)") == "bertscore-cs-l5"
    assert canonical_name("Unbabel/wmt22-comet-da") == "comet-wmt22-da"
    assert canonical_name("BLEURT-20-D12") == "bleurt-20-d12"


@pytest.mark.skipif(importlib.util.find_spec("bert_score") is not None, reason="the libraries are here")
def test_without_the_libraries_it_says_how_to_get_them() -> None:
    with pytest.raises(InputError, match=r"`\./run --with neural --setup`, in \.venv-neural"):
        open_neural(find_metrics(["bertscore-en"]))


class Picky:
    """A model that takes no text with `!` in it and fails with the whole machine at `#`."""

    def __init__(self) -> None:
        self.calls = 0

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        self.calls += 1
        if any("!" in pair.text for pair in pairs):
            raise TypeError("no exclamation")
        if any("#" in pair.text for pair in pairs):
            raise RuntimeError("out of memory")
        return [math.nan if pair.text == "nan" else float(len(pair.text)) for pair in pairs]


def test_a_text_that_is_refused_fails_alone() -> None:
    model = Picky()
    texts = ["a", "bb", "c!", "dddd", "nan", "ffffff", "g!", "h"]
    scores = scores_of(model, [ScoringPair(text) for text in texts], "picky")
    assert [score.value for score in scores] == [1, 2, None, 4, None, 6, None, 1]
    assert scores[4].reason == NO_NUMBER
    assert (
        scores[2].reason == scores[6].reason == "the model's library cannot read these texts (no exclamation)"
    )
    assert model.calls < 2 * len(texts)


def test_a_machine_that_fails_ends_it_and_keeps_nothing() -> None:
    with pytest.raises(InputError, match="picky failed on this machine; a smaller batch size"):
        scores_of(Picky(), [ScoringPair(text) for text in ("a", "b#", "c")], "picky")

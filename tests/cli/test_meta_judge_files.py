"""Meta-Judge's files of correlations in the form in which its project publishes them: names, devices, few metrics.

The values are those of the published tables under the names that the files have.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from core.cli import main
from core.errors import InputError
from core.formats.correlations import published_side, read_correlations
from core.metrics.registry import canonical_name, find_metrics

Run = Callable[..., str]
_CHRF = "beta=2,lowercase=False,whitespace=False,eps_smoothing=False"
NAMES: Mapping[str, str] = {
    **{f"bleu_max_order={n},smooth=True": f"bleu-{n}" for n in (1, 2, 3, 4)},
    **{f"chrf_char_order={c},word_order={w},{_CHRF}": f"chrf-{c}-{w}" for c in (4, 6) for w in (0, 2)},
    **{f"rouge_rouge_type=rouge{kind}": f"rouge-{kind.lower()}" for kind in ("1", "2", "4", "L")},
    **{
        f"meteor_alpha={a},beta=3,gamma={gamma}": f"meteor-a{a}-g{g}"
        for a in ("0.2", "0.9")
        for gamma, g in (("0.0", "0"), ("0.5", "0.5"))
    },
    **{
        f"bleurt_checkpoint={name}": name.lower() if name.startswith("BLEURT") else name
        for name in ("bleurt-tiny-128", "bleurt-base-512", "bleurt-large-512", "BLEURT-20-D12")
    },
    **{
        f"bertscore_lang={lang},model_type=None,rescale_with_baseline=False,num_layers={layers},device=None": (
            f"bertscore-{lang}{end}"
        )
        for lang in ("en", "cs")
        for layers, end in ((None, ""), (5, "-l5"))
    },
    "comet_model_name=Unbabel/wmt22-comet-da,device=None": "comet-wmt22-da",
    "comet_model_name=eamt22-cometinho-da,device=None": "comet-eamt22-cometinho-da",
    "comet_model_name=Unbabel/wmt20-comet-da,device=None": "comet-wmt20-da",
    "comet_model_name=Unbabel/wmt20-comet-qe-da,device=None": "comet-wmt20-qe-da",
}
HUMAN, SYNTHETIC = "published:cus-qa-cs", "published:cus-qa-cs:qwen-3-30b:zero"


def entries(name: str, *, sign: int = 1, twice: float | None = None) -> dict[str, object]:
    """A published column in the files' form. twice: how far the values of a second device are from the first."""
    values = published_side(name).values
    found: dict[str, object] = {}
    for written, metric in NAMES.items():
        value = sign * values[metric]["spearman"]
        if twice is not None and "device=None" in written:
            other = value + twice
            cuda = written.replace("device=None", "device=cuda")
            found[cuda] = dict.fromkeys(("pearson", "spearman", "kendall"), other)
        found[written] = dict.fromkeys(("pearson", "spearman", "kendall"), value)
    return found


def file_of(path: Path, found: Mapping[str, object]) -> str:
    path.write_text(json.dumps(found))
    return path.name


def test_all_28_names_stand_for_a_metric_of_the_registry_and_back() -> None:
    assert len(NAMES) == 28
    assert {canonical_name(written) for written in NAMES} == {m.metric.name for m in find_metrics(["all"])}
    for written, metric in NAMES.items():
        assert canonical_name(written) == metric
        assert metric in published_side(HUMAN).values
        assert canonical_name(written.replace("device=None", "device=cuda")) == metric
        assert len(metric) <= 25


def test_a_file_with_eight_metrics_twice_holds_28_metrics() -> None:
    found = entries(SYNTHETIC, sign=-1, twice=-0.0009)
    assert len(found) == 36
    side = read_correlations(json.dumps(found).encode(), "syn_x.json", synthetic=True)
    assert len(side.values) == 28
    joined = [note for note in side.notes if "several devices" in note]
    assert joined == [
        "8 metrics are listed for several devices, with values at most 0.0009 apart; the last value is used"
    ]
    # The values of device=None, which stand last, are those that Meta-Judge's own code takes.
    by_metric = {canonical_name(metric): values["spearman"] for metric, values in side.values.items()}
    assert by_metric == {m: v["spearman"] for m, v in published_side(SYNTHETIC).values.items()}


def test_devices_that_disagree_are_refused_with_both_names_and_values_all_at_once() -> None:
    found = entries(SYNTHETIC, sign=-1, twice=0.002)
    with pytest.raises(InputError) as refused:
        read_correlations(json.dumps(found).encode(), "syn_x.json", synthetic=True)
    problems = refused.value.problems
    assert len(problems) == 8
    for problem, written in zip(problems, (name for name in NAMES if "device" in name), strict=True):
        for name in (written, written.replace("device=None", "device=cuda")):
            assert name[-28:] in problem
            assert name[:25] in problem
        value = -(published_side(SYNTHETIC).values[NAMES[written]]["spearman"] or 0)
        assert all(
            f"{method} {value + 0.002:.6g} and {value:.6g}" in problem for method in ("pearson", "kendall")
        )


def test_a_value_and_an_undefined_one_disagree() -> None:
    found = {"comet(device=cpu)": {"pearson": 0.1}, "comet(device=cuda)": {"pearson": None}}
    with pytest.raises(InputError) as refused:
        read_correlations(json.dumps(found).encode(), "x.json", synthetic=False)
    assert "pearson 0.1 and undefined" in refused.value.problems[0]


@pytest.mark.parametrize("turned", ["human", "synthetic", "both"])
def test_files_and_published_columns_pair_all_metrics(turned: str, run: Run, tmp_path: Path) -> None:
    human, synthetic = HUMAN, SYNTHETIC
    if turned != "synthetic":
        human = file_of(tmp_path / "human.json", entries(HUMAN))
    if turned != "human":
        synthetic = file_of(tmp_path / "syn.json", entries(SYNTHETIC, sign=-1, twice=0.0))
    both = [
        json.loads(run("meta-correlate", *sides, "--first-order", "spearman", "--resamples", "0", "--json"))
        for sides in ((human, synthetic), (HUMAN, SYNTHETIC))
    ]
    for found in both:
        assert (found["n_metrics"], found["n_families"], found["dropped"]) == (28, 7, {})
        assert found["cautions"] == []
    assert both[0]["estimate"] == pytest.approx(both[1]["estimate"])
    assert {p["metric"] for p in both[0]["points"]} == set(NAMES.values())


def test_what_is_left_out_stands_before_the_number(run: Run, tmp_path: Path) -> None:
    human = file_of(tmp_path / "human.json", entries("published:cus-qa-cs"))
    printed = run("meta-correlate", human, "published:cus-qa-uk:qwen-3-30b:few", "--resamples", "0")
    assert printed.index("Metrics compared: 27 of 28") < printed.index("Dropped: rouge-4: undefined in")
    assert printed.index("Dropped: rouge-4") < printed.index("Meta-correlation ")


@pytest.mark.parametrize(
    ("n_metrics", "families", "cautions"),
    [
        (28, 7, []),
        (20, 5, []),
        (19, 5, ["few_metrics"]),
        (16, 4, ["few_metrics", "few_families"]),
    ],
)
def test_few_metrics_or_families_are_said_first(
    n_metrics: int, families: int, cautions: list[str], run: Run, tmp_path: Path
) -> None:
    kept = dict(list(entries(HUMAN).items())[:n_metrics])
    human = file_of(tmp_path / "human.json", kept)
    other = file_of(tmp_path / "syn.json", {name: kept[name] for name in kept})
    written = run("meta-correlate", human, other, "--resamples", "0", "--json")
    found = json.loads(written)
    assert (found["n_metrics"], found["n_families"], found["cautions"]) == (n_metrics, families, cautions)
    assert next(iter(found)) == "cautions"
    printed = run("meta-correlate", human, other, "--resamples", "0")
    first = f"Only {n_metrics} metrics of {families} families can be compared."
    assert (first in printed) is bool(cautions)
    if cautions:
        assert printed.index(first) < printed.index("Meta-correlation ")


def test_variants_of_few_families_are_few_whatever_their_number(run: Run, tmp_path: Path) -> None:
    names = {f"bleu-x{n}": {"spearman": n / 100} for n in range(30)}
    human = file_of(tmp_path / "human.json", names)
    found = json.loads(run("meta-correlate", human, human, "--resamples", "0", "--json"))
    assert (found["n_metrics"], found["n_families"], found["cautions"]) == (30, 1, ["few_families"])


def test_a_matrix_counts_its_cells_of_few_metrics(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(
        "item,level,dataset,m_a,m_b\n"
        + "".join(f"{i},{n},d,{n % 3},{i + n}\n" for i in range(3) for n in range(4))
    )
    human = file_of(tmp_path / "human.json", {"m_a": {"spearman": 0.2}, "m_b": {"spearman": 0.1}})
    command = ("meta-correlate", human, "s.csv", "--by", "dataset", "--resamples", "0")
    (cell,) = json.loads(run(*command, "--json"))["cells"]
    assert cell["cautions"] == ["few_metrics", "few_families"]
    printed = run(*command)
    assert printed.index("1 of 1 cells compare few metrics.") < printed.index("meta-correlation  ")


def test_a_refused_file_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "syn.json"
    file_of(path, entries(SYNTHETIC, twice=0.01))
    assert main(["meta-correlate", HUMAN, str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("the names differ only in the device")) == ("", 8)

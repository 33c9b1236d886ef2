"""The papers' figures: all there, as printed, under the right names."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.formats.correlations import (
    DATASETS,
    GENERATORS,
    SHOTS,
    Cell,
    PublishedTable,
    published_names,
    published_side,
    read_table,
    table_keys,
)
from core.metrics.registry import all_metrics, canonical_name
from core.stats.agreement import cohen_kappa

PER_METRIC = [f"meta-judge-{number}" for number in (4, 5, 6, 7)]
COLUMNS = ("human", *(f"{generator}:{shots}" for generator in GENERATORS for shots in SHOTS))

# Read off the paper's tables by eye: table, data set, label of the row, column, figure.
READ_BY_EYE = """
4  cus-qa-cs-en  Order 1           human                .512
4  cus-qa-cs-en  Order 1           qwen-3-30b:zero      .080
4  cus-qa-cs     Order 1           human                .478
4  cus-qa-cs     Order 1           llama-4-scout:few    .091
4  cus-qa-cs-en  ROUGE-4           human                .259
4  cus-qa-cs     ROUGE-4           qwen-3-30b:zero      .227
4  cus-qa-cs-en  wmt20-qe-da       llama-3.3-70b:zero   .374
4  cus-qa-cs     wmt20-qe-da       human                .102
4  cus-qa-cs     tiny-128          llama-3.3-70b:zero   .187
4  cus-qa-cs-en  α: 0.9, γ: 0.0    qwen-3-30b:few       .429
4  cus-qa-cs-en  en, Limited (L5)  human                .547
4  cus-qa-cs     en, Limited (L5)  qwen-3-30b:zero      .281
5  cus-qa-sk-en  c: 6, w: 2        human                .588
5  cus-qa-sk     c: 6, w: 2        qwen-3-30b:few       .503
5  cus-qa-sk     base-512          llama-3.3-70b:zero  -.173
5  cus-qa-sk-en  cs, Limited (L5)  human                .460
5  cus-qa-uk-en  ROUGE-4*          llama-3.3-70b:zero   .003
5  cus-qa-uk     c: 6, w: 2        human                .606
5  cus-qa-uk     wmt20-qe-da       human               -.024
5  cus-qa-uk     large-512         qwen-3-30b:zero     -.027
5  cus-qa-uk-en  cometinho-da      llama-3.3-70b:zero   .040
6  mocha         Order 4           human                .277
6  mocha         wmt20-qe-da       qwen-3-30b:zero     -.229
6  rose          ROUGE-2           qwen-3-30b:zero      .733
6  rose          large-512         llama-3.3-70b:few    .610
6  rose          α: 0.9, γ: 0.0    human                .712
6  wmt21-en-ha   wmt20-qe-da       llama-3.3-70b:few    .463
6  wmt21-en-ha   cometinho-da      human                .200
6  wmt21-en-ha   ROUGE-4           qwen-3-30b:zero      .092
6  wmt21-xh-zu   en, Limited (L5)  human                .277
6  wmt21-xh-zu   tiny-128          qwen-3-30b:zero      .145
6  wmt21-xh-zu   c: 6, w: 0        human                .276
7  wmt24-cs-uk   ROUGE-4           human               -.004
7  wmt24-cs-uk   wmt20-da          llama-4-scout:few    .632
7  wmt24-cs-uk   c: 4, w: 0        qwen-3-30b:few       .481
7  wmt24-en-cs   Order 4           llama-3.3-70b:few    .177
7  wmt24-en-cs   wmt22-da          human                .392
7  wmt24-en-cs   tiny-128          qwen-3-30b:zero      .275
7  wmt24-en-is   wmt22-da          human                .474
7  wmt24-en-is   cometinho-da      llama-3.3-70b:zero   .346
7  wmt24-en-is   ROUGE-L           llama-4-scout:zero   .358
"""


def rows_per_metric() -> list[dict[str, Cell]]:
    return [dict(row) for key in PER_METRIC for row in read_table(key).rows]


def by_generator(table: PublishedTable, generator: str, shots: str) -> dict[str, Cell]:
    found = [dict(r) for r in table.rows if (r["generator"], r["shots"]) == (generator, shots)]
    assert len(found) == 1
    return found[0]


def test_28_metrics_13_data_sets_and_7_columns_are_2548_cells() -> None:
    rows = rows_per_metric()
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    assert len(metrics) == 28
    by_dataset = {name: [r["metric"] for r in rows if r["dataset"] == name] for name in DATASETS}
    assert all(found == metrics for found in by_dataset.values())
    assert len(rows) == 28 * len(DATASETS) == 364
    cells = {(r["dataset"], r["metric"], column): r[column] for r in rows for column in COLUMNS}
    assert len(cells) == 2548
    undefined = [place for place, figure in cells.items() if figure is None]
    assert undefined == [("cus-qa-uk", "rouge-4", column) for column in COLUMNS]
    figures = [figure for figure in cells.values() if figure is not None]
    assert all(isinstance(figure, float) and -0.4 < figure < 0.8 for figure in figures)


@pytest.mark.parametrize("line", READ_BY_EYE.strip().splitlines())
def test_cells_read_off_the_paper(line: str) -> None:
    number, dataset, *label, column, figure = line.split()
    rows = read_table(f"meta-judge-{number}").rows
    found = [
        row[column]
        for row in rows
        if (row["dataset"], row["parameters_as_printed"]) == (dataset, " ".join(label))
    ]
    assert found == [float(figure)]


def test_tables_1_and_3_have_78_cells_each() -> None:
    for key in ("meta-judge-1", "meta-judge-3"):
        table = read_table(key)
        assert table.columns == ("generator", "shots", *DATASETS)
        assert [(r["generator"], r["shots"]) for r in table.rows] == [
            (g, s) for g in GENERATORS for s in SHOTS
        ]
        assert all(isinstance(row[name], float) for row in table.rows for name in DATASETS)
    first, third = read_table("meta-judge-1"), read_table("meta-judge-3")
    assert by_generator(first, "llama-3.3-70b", "few")["rose"] == 0.043
    assert by_generator(first, "qwen-3-30b", "zero")["wmt21-xh-zu"] == 0.308
    assert by_generator(first, "llama-4-scout", "few")["wmt24-cs-uk"] == 0.945
    assert by_generator(third, "qwen-3-30b", "few")["wmt21-xh-zu"] == -0.064
    assert by_generator(third, "qwen-3-30b", "zero")["wmt21-en-ha"] == -0.021
    assert by_generator(third, "llama-4-scout", "few")["wmt24-cs-uk"] == 0.825


def test_table_2_whole() -> None:
    table = read_table("meta-judge-2")
    assert table.columns == (
        *("generator", "shots", "spearman_mean", "spearman_sd", "kendall_mean", "kendall_sd"),
    )
    assert [tuple(row.values()) for row in table.rows] == [
        ("llama-4-scout", "few", 0.905, 0.010, 0.756, 0.020),
        ("llama-4-scout", "zero", 0.884, 0.056, 0.710, 0.087),
        ("llama-3.3-70b", "few", 0.914, 0.019, 0.750, 0.024),
        ("llama-3.3-70b", "zero", 0.862, 0.051, 0.733, 0.046),
        ("qwen-3-30b", "few", 0.890, 0.029, 0.731, 0.049),
        ("qwen-3-30b", "zero", 0.958, 0.022, 0.827, 0.035),
    ]


def test_swapped_rows_stand_under_their_right_names_with_the_printed_ones_beside() -> None:
    swapped = [row for row in rows_per_metric() if row["family"] == "BERTScore"]
    assert len(swapped) == 4 * len(DATASETS)
    assert {(row["metric"], row["parameters_as_printed"]) for row in swapped} == {
        ("bertscore-cs-l5", "cs, Not Limited"),
        ("bertscore-cs", "cs, Limited (L5)"),
        ("bertscore-en-l5", "en, Not Limited"),
        ("bertscore-en", "en, Limited (L5)"),
    }
    assert all("are swapped" in str(row["error"]) for row in swapped)
    side = published_side("published:mocha")
    assert side.values["bertscore-cs-l5"]["spearman"] == 0.528  # printed as "cs, Not Limited"
    assert any('"cs, Not Limited" and "cs, Limited (L5)" are swapped' in note for note in side.notes)


def test_metrics_are_those_that_can_be_computed_here_under_the_same_names() -> None:
    rows = rows_per_metric()
    of_paper = {(spec.metric.name, spec.metric.family) for spec in all_metrics() if spec.of_paper}
    assert {(row["metric"], row["family"]) for row in rows} == of_paper
    swapped_with = {"bertscore-cs": "bertscore-cs-l5", "bertscore-en": "bertscore-en-l5"}
    swapped_with |= {limited: full for full, limited in swapped_with.items()}
    for row in rows:
        label = str(row["parameters_as_printed"]).rstrip("*")
        meant = canonical_name(f"{row['family']} {label}")
        assert row["metric"] == swapped_with.get(str(meant), meant)


def test_en_cs_is_there_though_table_7_calls_it_en_es() -> None:
    flagged = [row for row in rows_per_metric() if "en-es" in str(row["error"])]
    assert len(flagged) == 28
    assert {(row["dataset"], row["dataset_as_printed"]) for row in flagged} == {
        ("wmt24-en-cs", "WMT 24 en-es")
    }
    assert any("en-cs as en-es" in note for note in published_side("published:wmt24-en-cs").notes)
    assert not any("en-es" in note for note in published_side("published:wmt24-en-is").notes)


def test_nothing_else_is_called_an_error() -> None:
    for row in rows_per_metric():
        assert bool(row["error"]) == (row["family"] == "BERTScore" or row["dataset"] == "wmt24-en-cs")
    other = {key: read_table(key).errors for key in table_keys() if key not in PER_METRIC}
    assert {key for key, errors in other.items() if errors} == {"cross-examination-4", "cross-examination-7"}
    assert len(read_table("meta-judge-4").errors) == 2
    assert len(read_table("meta-judge-7").errors) == 3


def test_the_contingency_table_gives_the_numbers_that_003_prints_of_it() -> None:
    """003, section 4: 80 pairs, kappa 0.113, mean composite score 0.125, 2 pairs opposed."""
    table = read_table("factual-perturbation-1")
    choices = ("ai", "both_good", "both_bad", "expert")
    assert table.columns == ("first_evaluator", *choices)
    counts = Counter(
        {(str(row["first_evaluator"]), name): int(row[name] or 0) for row in table.rows for name in choices}
    )
    pairs = list(counts.elements())
    assert len(pairs) == 80
    codes = np.array([[choices.index(a), choices.index(b)] for a, b in pairs])
    kappa = cohen_kappa(codes, n_resamples=0).estimate
    assert kappa is not None
    assert round(kappa, 3) == 0.113
    worth = {"ai": 1, "expert": -1}
    assert np.mean([np.sign(worth.get(a, 0) + worth.get(b, 0)) for a, b in pairs]) == 0.125
    assert counts["ai", "expert"] + counts["expert", "ai"] == 2


@pytest.mark.shared
def test_the_contingency_table_is_that_of_the_published_votes(shared_data: Path) -> None:
    votes = [json.loads((shared_data / f"results-evaluator-{n}.json").read_text("utf-8")) for n in (1, 2)]
    names = {"AI": "ai", "Both are good": "both_good", "Both are bad": "both_bad", "Expert": "expert"}
    counts = Counter(
        (names[votes[0][question][level]], names[votes[1][question][level]])
        for question in votes[0]
        for level in ("A1", "A2", "A3", "A4")
    )
    for row in read_table("factual-perturbation-1").rows:
        for second in names.values():
            assert row[second] == counts[str(row["first_evaluator"]), second]


def test_table_2_of_003_by_judge() -> None:
    table = read_table("factual-perturbation-2")
    methods = [row["method"] for row in table.rows]
    assert methods == ["llm-as-judge"] * 6 + ["ragas"] + ["llm-nli"] * 2
    found = {(row["method"], row["model"]): tuple(row.values())[2:] for row in table.rows}
    assert found["llm-as-judge", "llama3.3:70b"] == (-0.74, -0.78, -0.70, -0.86, -0.88, -0.84)
    assert found["ragas", "gpt-4o-mini"] == (-0.87, -0.90, -0.85, -0.95, -0.97, -0.93)
    assert found["llm-nli", "gemma3:12b"] == (-0.82, -0.85, -0.79, -0.96, -0.98, -0.94)
    for pearson, low, high, kendall, kendall_low, kendall_high in np.array(list(found.values()), dtype=float):
        assert -1 < low < pearson < high < 0
        assert -1 < kendall_low < kendall < kendall_high < 0


def test_every_side_has_28_metrics_as_one_column_of_the_tables() -> None:
    names = published_names()
    assert len(names) == len(set(names)) == 13 * 7
    rows = rows_per_metric()
    for name in names:
        side = published_side(name)
        dataset, _, column = side.name.removeprefix("published:").partition(":")
        expected = {r["metric"]: {"spearman": r[column or "human"]} for r in rows if r["dataset"] == dataset}
        assert side.name == name
        assert side.values == expected
        assert len(expected) == 28
        assert set(side.reasons) == ({"rouge-4"} if dataset == "cus-qa-uk" else set())
        assert Counter(side.families.values()) == {
            **dict.fromkeys(("BLEU", "chrF", "ROUGE", "METEOR", "BERTScore", "COMET", "BLEURT"), 4)
        }


def test_a_side_says_where_it_is_from_and_what_it_is_of() -> None:
    human = published_side(" Published:CUS-QA-UK ")
    assert human.name == "published:cus-qa-uk"
    assert "Table 5: Spearman correlations with human judgements" in human.notes[0]
    assert human.values["rouge-4"] == {"spearman": None}
    assert "Cyrillic" in human.reasons["rouge-4"]
    synthetic = published_side("published:cus-qa-uk:qwen-3-30b:few")
    assert "minus the damage level" in synthetic.notes[0]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("published:cus-qa-csk", ['no data set "cus-qa-csk"; nearest: cus-qa-cs', *DATASETS]),
        ("published:xyz", ['no data set "xyz"', *DATASETS]),
        ("published:wmt24-en-es", ["Meta-Judge's Table 7 prints en-es for en-cs: use published:wmt24-en-cs"]),
        (
            "published:mocha:qwen-3:zeroo",
            ['no generator "qwen-3"; nearest: qwen-3-30b', 'no shots "zeroo"; nearest: zero'],
        ),
        ("published:mocha:qwen-3-30b", ["published:DATASET:GENERATOR:SHOTS", *GENERATORS]),
        ("published:", ['no data set ""', *DATASETS]),
        ("mocha", ["published:DATASET"]),
        ("published:mocha:qwen-3-30b:zero:1", ["published:DATASET"]),
        ("published:\x00", ['no data set "\\u0000"']),
    ],
)
def test_an_unknown_side_is_answered_with_what_there_is(name: str, said: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        published_side(name)
    assert "no published correlations" in caught.value.what
    for part in said:
        assert part in "\n".join(caught.value.problems)


def test_tables_have_keys_sources_and_nearest_names() -> None:
    assert table_keys() == (
        *(f"meta-judge-{n}" for n in range(1, 8)),
        "factual-perturbation-1",
        "factual-perturbation-2",
        *(f"cross-examination-{n}" for n in range(1, 12)),
    )
    for key in table_keys():
        table = read_table(key)
        assert table.key == key
        assert table.source.endswith(f"Table {table.number}")
        assert table.title
        assert table.notes
    with pytest.raises(InputError) as caught:
        read_table("metajudge-1")
    assert "nearest: meta-judge-1" in caught.value.problems[0]


def test_files_say_of_every_row_which_paper_and_table_it_is_of() -> None:
    folder = Path(__file__).resolve().parents[2] / "data" / "published"
    files = {path.stem: path.read_text("utf-8").splitlines() for path in folder.glob("*.csv")}
    assert set(files) == {"tables", "datasets", "numbers", *table_keys()}
    assert tuple(line.partition(",")[0] for line in files["datasets"][1:]) == DATASETS
    for key in table_keys():
        paper, _, number = key.rpartition("-")
        assert all(line.startswith(f"{paper},{number},") for line in files[key][1:])

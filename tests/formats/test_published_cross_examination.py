"""001's figures: as printed, and whether they agree with each other."""

import pytest

from core.formats.correlations import Cell, PublishedTable, read_table
from core.stats.agreement import lowest_first

# Read off the paper's tables by eye: table, the row's first cells, column, figure.
READ_BY_EYE = """
1   disagreement,Llama-3.3-70B           ntrex-en-fr           .89
1   disagreement,DeepSeek-V3             ntrex-en-jp          1.75
1   disagreement,Gemma-3-27B             aci-bench-note        .49
1   disagreement,GPT-OSS-120B            cnn-dm-summary        .74
1   deviation,Qwen3-235B                 aci-bench-source     1.09
1   deviation,Gemma-3-27B                cnn-dm-source         .09
2   3                                    original_conformity  15.96
2   3                                    qwen3-1.7b_consistency 145.08
2   20                                   qwen3-1.7b_coverage  20.25
5   openai/gpt-oss-120b                  en-dzo_deviation     25.9
5   deepseek-ai/DeepSeek-V3              en-mri_disagreement   6.42
6   Azure Translate                      en-mri_conformity    98.89
6   gemma3-4b                            en-tir_coverage      31.83
10  Azure Translate,en-es                coverage             99.71
10  nllb-3.3B,en-jp                      bleu                 12.05
10  qwen3-1.7b,en-ar                     consistency          65.05
10  Google Translate,en-jp               comet                90.00
11  10                                   en-fr_coverage        7.65
11  20                                   en-es_consistency    11.55
"""
SIZES = {1: 10, 2: 4, 3: 3, 4: 9, 5: 5, 6: 4, 7: 1, 8: 2, 9: 4, 10: 24, 11: 4}


def table(number: int) -> PublishedTable:
    return read_table(f"cross-examination-{number}")


def column(number: int, name: str) -> list[Cell]:
    return [row[name] for row in table(number).rows]


def numbers(number: int, name: str) -> list[float]:
    return [float(cell) for cell in column(number, name) if cell is not None]


@pytest.mark.parametrize("line", READ_BY_EYE.strip().splitlines())
def test_cells_read_off_the_paper(line: str) -> None:
    number, rest = line.split(maxsplit=1)
    named, name, figure = rest.rsplit(maxsplit=2)
    wanted = named.strip().split(",")
    found = [
        row[name]
        for row in table(int(number)).rows
        if [str(cell) for cell in list(row.values())[: len(wanted)]] == wanted
    ]
    assert found == [float(figure)]


@pytest.mark.parametrize(("number", "n_rows"), SIZES.items())
def test_every_table_is_whole(number: int, n_rows: int) -> None:
    rows = table(number).rows
    assert len(rows) == n_rows
    empty = {name for row in rows for name, cell in row.items() if cell is None}
    assert empty <= {
        "error",
        "why_undefined",
        *(f"en-dzo_{score}" for score in ("conformity", "consistency", "coverage")),
    }


@pytest.mark.parametrize("number", [1, 5])
def test_ranks_are_those_of_the_printed_figures(number: int) -> None:
    rows = table(number).rows
    measures = {row.get("measure") for row in rows}
    ranked = [name for name in table(number).columns if f"{name}_rank" in table(number).columns]
    assert len(ranked) == {1: 8, 5: 6}[number]
    for measure in measures:
        own = [row for row in rows if row.get("measure") == measure]
        for name in ranked:
            values = [float(row[name] or 0) for row in own]
            assert lowest_first(values) == tuple(row[f"{name}_rank"] for row in own), (measure, name)


def test_the_steps_of_table_9_are_the_totals_of_table_8() -> None:
    """5,448,975 of the 6,087,633 input tokens are those of the answers: 89.5 %."""
    _, cef = table(8).rows
    assert (cef["input_tokens"], cef["output_tokens"]) == (6_087_633, 1_399_454)
    assert sum(numbers(9, "input_tokens")) == cef["input_tokens"]
    assert sum(numbers(9, "output_tokens")) == cef["output_tokens"]
    steps = dict(zip(column(9, "step"), numbers(9, "input_tokens"), strict=True))
    answers = steps["answers from text"] + steps["answers from source"]
    assert answers == 5_448_975
    assert round(100 * answers / sum(steps.values()), 1) == 89.5


def test_the_averages_of_table_8_are_over_919_and_875_samples() -> None:
    for row, n_samples in zip(table(8).rows, (919, 875), strict=True):
        for name in ("input_tokens", "output_tokens", "price_usd"):
            average = float(row[f"{name}_per_sample"] or 0)
            assert float(row[name] or 0) / n_samples == pytest.approx(average, rel=1e-3)


def test_percent_follow_from_counts_where_both_are_printed() -> None:
    """Table 3 to two places (section 4.4 has 78.49 where the table has 78.40), 4 to one; overall of 4 says so itself."""
    for row in table(3).rows:
        assert round(100 * float(row["aligned"] or 0) / float(row["count"] or 1), 2) == row["percent"]
    for row in table(4).rows:
        share = round(100 * float(row["caught"] or 0) / float(row["total"] or 1), 1)
        assert (share == row["percent"]) == (not row["error"])
    assert "295" in table(4).errors[0]
    assert "18.16" in table(7).errors[0]

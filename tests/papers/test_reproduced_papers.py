"""Every number of the five papers that shipped or public data allow: how many come out again, and which do not."""

import re
from collections import Counter
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.correlations import rows_as_printed
from core.papers import PAPERS, paper
from core.papers.declared import Data, NumberRow, Reproduced, ReproduceOptions

Counts = dict[str, tuple[int, int, int]]
SHIPPED: dict[str, Counts] = {
    "meta-judge": {"Table 1": (78, 18, 60)},
    "factual": {"Section 4": (8, 8, 0)},
    "specialist": {
        "Table 1": (9, 8, 0),
        "Table 11": (12, 9, 2),
        "Table 13": (15, 8, 7),
        "Table 18": (8, 7, 1),
        "Table 21": (4, 4, 0),
        "Section 5": (2, 2, 0),
        "Section 5.6": (2, 2, 0),
    },
    "cef": {
        "Table 1": (80, 80, 0),
        "Table 3": (5, 5, 0),
        "Table 4": (11, 10, 0),
        "Table 5": (30, 30, 0),
        "Table 7": (1, 0, 0),
        "Table 8": (6, 6, 0),
        "Section 4.4": (1, 1, 0),
        "Section 4.6": (2, 2, 0),
        "Appendix A.2": (4, 4, 0),
        "Appendix A.4": (2, 2, 0),
        "Appendix A.6": (3, 3, 0),
    },
    "multilingual": {"Table 1": (26, 26, 0)},
}
"""Paper -> table -> numbers that the shipped data allow, those that agree to the digits printed, and those within rounding."""
PUBLIC: dict[str, Counts] = {
    "meta-judge": {"Table 5": (28, 26, 2), "Table 7": (28, 27, 1)},
    "factual": {
        "Table 1": (16, 16, 0),
        "Section 4": (12, 12, 0),
        "Table 2": (18, 18, 0),
        "Section 5": (2, 2, 0),
    },
    "specialist": {
        "Table 8": (2, 2, 0),
        "Table 9": (8, 8, 0),
        "Table 15": (6, 0, 0),
        "Section 4.3.1": (4, 4, 0),
    },
}
"""The same with public data, where these change it."""
DIFFERENT = {
    "specialist": {
        ("Table 1", "Shuffled sources", "WMT24"),
        ("Table 11", "Fixed, different source", "en-de, F1"),
    },
    "cef": {("Table 4", "overall", "caught"), ("Table 7", "GEMBA-MQM", "percent")},
}
"""Numbers that shipped data contradict: errors of the papers, and a mean of ten runs."""
PARROT = {
    ("Table 15", "Parrot", f"{pair}, {one}")
    for pair in ("en-de", "zh-en")
    for one in ("F1", "precision", "recall")
}
"""By a rule that the paper does not state."""


def reproduced(name: str, data: Data, table: str | None = None) -> Reproduced:
    found = paper(name).analysis.answer(ReproduceOptions(), data, table).result
    assert isinstance(found, Reproduced)
    return found


def counts(found: Reproduced) -> Counts:
    return {one.table: (one.n_numbers, one.n_agree, one.n_rounding) for one in found.tables if one.n_numbers}


def differing(found: Reproduced) -> set[tuple[str, str, str]]:
    return {(one.table, one.line, one.measure) for one in found.numbers if one.agrees == "no"}


@pytest.mark.parametrize("name", PAPERS)
def test_numbers_that_shipped_data_allow(name: str) -> None:
    found = reproduced(name, Data())
    assert counts(found) == SHIPPED[name]
    assert differing(found) == DIFFERENT.get(name, set())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["meta-judge", "factual"])
def test_numbers_that_public_data_allow(name: str, papers_data: Data) -> None:
    found = reproduced(name, papers_data)
    assert counts(found) == SHIPPED[name] | PUBLIC[name]
    assert not differing(found)


@pytest.mark.shared
@pytest.mark.slow
def test_numbers_of_wmt23(papers_data: Data) -> None:
    found = reproduced("specialist", papers_data)
    assert counts(found) == SHIPPED["specialist"] | PUBLIC["specialist"]
    assert differing(found) == DIFFERENT["specialist"] | PARROT
    values = {(one.line, one.measure): one.value for one in found.numbers if one.table == "Table 9"}
    assert values["No filtering", "en-de, errors"] == pytest.approx(34.75, abs=0.005)
    assert values["Filtered", "zh-en, examples"] == pytest.approx(13.2512, abs=5e-5)
    parrot = {one.measure: one.value for one in found.numbers if one.table == "Table 15"}
    assert parrot["en-de, F1"] == pytest.approx(28.92, abs=0.005)
    assert parrot["zh-en, F1"] == pytest.approx(42.69, abs=0.005)


def test_how_many_numbers_there_are() -> None:
    """425: 342 agree to the digits printed, 73 within rounding, and the ten others have their reasons above."""
    whole = {name: SHIPPED[name] | PUBLIC.get(name, {}) for name in PAPERS}
    sums = {name: tuple(map(sum, zip(*parts.values(), strict=True))) for name, parts in whole.items()}
    assert sums == {
        "meta-judge": (134, 71, 63),
        "factual": (48, 48, 0),
        "specialist": (72, 54, 10),
        "cef": (145, 143, 0),
        "multilingual": (26, 26, 0),
    }
    assert tuple(map(sum, zip(*sums.values(), strict=True))) == (425, 342, 73)


@pytest.mark.parametrize("name", PAPERS)
def test_whatever_differs_or_is_missing_has_a_reason(name: str) -> None:
    found = reproduced(name, Data())
    assert all(one.note for one in found.numbers if one.agrees == "no")
    assert all(one.n_numbers or one.missing for one in found.tables)
    assert (found.n_numbers, found.n_agree, found.n_rounding) == (
        len(found.numbers),
        *(sum(one.agrees == code for one in found.numbers) for code in ("yes", "rounding")),
    )
    for one in found.numbers:
        if one.value is not None:
            assert one.low is not None
            assert one.high is not None
            assert one.low - 1e-9 <= one.value <= one.high + 1e-9


def test_each_number_stands_once() -> None:
    for name in PAPERS:
        found = reproduced(name, Data())
        times = Counter((one.table, one.line, one.measure) for one in found.numbers)
        assert max(times.values()) == 1


def row(value: float | None, printed: str, **more: object) -> NumberRow:
    return paper("factual").parts[0].number("row", "column", value, printed, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "printed", "ends", "agrees"),
    [
        (0.8749, "0.87", None, "yes"),
        (0.875, "0.87", None, "yes"),
        (0.8751, "0.87", None, "no"),
        (0.8751, "0.87", (0.86, 0.88), "rounding"),
        (0.8751, "0.80", (0.86, 0.88), "no"),
        (-0.8649, "-0.87", None, "no"),
        (12.4, "12", None, "yes"),
        (None, "", None, "yes"),
        (None, "0.1", None, "no"),
        (0.1, "", None, "no"),
    ],
)
def test_agreement_is_to_the_digits_printed(
    value: float | None, printed: str, ends: tuple[float, float] | None, agrees: str
) -> None:
    found = row(value, printed, ends=ends)
    assert found.agrees == agrees
    assert found.decimals == len(printed.partition(".")[2])


def test_one_table_alone_and_an_unknown_one() -> None:
    for written in ("4", "Table 4", "table-4"):
        assert {one.table for one in reproduced("cef", Data(), written).tables} == {"Table 4"}
    assert reproduced("cef", Data(), "Appendix-a.6").n_numbers == 3
    with pytest.raises(InputError) as caught:
        reproduced("cef", Data(), "99")
    assert "appendix-A.6" in caught.value.problems[0]


def test_a_folder_without_the_data_is_as_none(tmp_path: Path) -> None:
    found = reproduced("factual", Data((tmp_path,)))
    assert found == reproduced("factual", Data())
    missing = {one.table: one.missing for one in found.tables}
    assert "factual_correctness_eval.jsonl" in missing["Table 2"]
    assert "https://" in missing["Table 2"]


TEXTS = {
    "cross-examination": "001",
    "specialist": "002",
    "factual-perturbation": "003",
    "multilingual": "004",
}


@pytest.mark.shared
@pytest.mark.parametrize("name", TEXTS)
def test_printed_numbers_stand_in_the_paper(name: str, shared_data: Path) -> None:
    (path,) = (shared_data.parent / "papers").glob(f"{TEXTS[name]}_*.txt")
    there = set(re.findall(r"\d+(?:\.\d+)?", path.read_text("utf-8").replace(",", "")))
    printed = [
        one["printed"] for one in rows_as_printed("numbers") if one["paper"] == name and one["printed"]
    ]
    assert printed
    assert not [one for one in printed if one not in there]

"""The separator of a table is decided once, by its first rows, also where Assay knows none of its columns."""

import pytest

from core.formats.panel import read_panel
from core.tables.columns import delimiter_of
from core.tables.mapping import first_rows, number_words, rename_columns

SEPARATORS = [",", ";", "\t", "|"]


@pytest.mark.parametrize("mark", SEPARATORS)
def test_columns_that_assay_does_not_know(mark: str) -> None:
    text = "\n".join(mark.join(row) for row in (("human", "judge"), ("0", "1"), ("1", "1"), ("1", "0")))
    assert delimiter_of(text) == mark
    panel = read_panel(text.encode(), "t.csv", find=True)
    assert (panel.raters, panel.judges) == (("human",), ("judge",))
    assert panel.scores[:, 0].tolist() == [1, 1, 0]
    assert first_rows(text.encode(), "t.csv").columns == ("human", "judge")
    renamed = rename_columns(text.encode(), "t.csv", {"score": "judge"}).decode()
    assert renamed.splitlines()[0] == f"human{mark}score"
    numbered = number_words(text.encode(), "t.csv", {"human": {"0": 5.0}}).decode()
    assert numbered.splitlines()[1] == f"5{mark}1"


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("human,judge\nfine; really; yes,0\nno; never,1\n", ","),
        ("human; expert,judge\n1,0\n0,1\n", ","),
        ("human;judge\n0,5;1,0\n0,2;0,4\n", ";"),
        ("human, expert;judge\n0,5;1,0\n0,2;0,4\n", ";"),
        ("human\tjudge\nwell, yes; no\t0\na, b, c\t1\n", "\t"),
        ("id,BLEU|nrefs:1|case:mixed|tok:13a\n1,0.5\n2,0.7\n", ","),
        ('"a; b",c\n"1\n2",3\n', ","),
        ("\n\nhuman|judge\n1|0\n", "|"),
        ("text\nwell; yes\n", ","),
        ("item_id,text\n1,a, b\n2,c; d, e\n", ","),
        ("", ","),
    ],
)
def test_separators_inside_cells(text: str, mark: str) -> None:
    assert delimiter_of(text) == mark


def test_a_long_file_is_decided_by_its_beginning() -> None:
    rows = "".join("1;0\n" for _ in range(30)) + "".join("1,1,1\n" for _ in range(100_000))
    assert delimiter_of("a;b\n" + rows) == ";"

"""Annotated rows become columns, JSON and documentation."""

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from core.schema.result_table import Column, Interval
from core.schema.rows import column, columns_of, documented, entry, json_of, row, row_fields, table_of


@row
class Inner:
    name: str = column("its name", key="", names_row=True)
    p: Interval = column("a p", name="p_value", key="p", p_value=True)


@row
class Outer:
    name: str = column("the name", names_row=True)
    share: Interval = column("a share", title="the share", ends="beside", percent=True, heat="share")
    gap: Interval = column("a gap", ends="object", places=2)
    passed: bool | None = column("whether it passes", words=("yes", "no"))
    counted: bool | None = column("whether it counts", shown=False)
    inner: tuple[Inner, ...] = entry("all inner ones", rows=Inner)
    by_name: tuple[Inner, ...] = entry("the same by name", key="named", rows=Inner, keyed_by="name")
    first: Inner = entry("the first of them", rows=Inner)
    left_out: dict[str, int] = entry("reason -> how many")
    number: float = entry("a number")
    unseen: object


INNER = (Inner("a", Interval(0.01)), Inner("b", Interval(None, reason="too few")))
ONE = Outer(
    "x",
    Interval(0.5, 0.25, 0.75, n=8),
    Interval(None, reason="one rater", interval_reason="one rater"),
    True,
    True,
    INNER,
    INNER,
    INNER[0],
    {"no score": 2},
    math.inf,
    object(),
)


def test_columns_are_what_the_fields_say() -> None:
    assert columns_of(Outer, hidden=("gap",)) == (
        Column("name", names_row=True),
        Column("share", "the share", percent=True, heat="share"),
        Column("gap", places=2, shown=False),
        Column("passed"),
        Column("counted", shown=False),
    )
    assert columns_of(Inner)[1] == Column("p_value", p_value=True)


def test_a_table_holds_the_cells_and_says_yes_and_no() -> None:
    table = table_of("outer", Outer, [ONE], title="T", notes=("n",))
    assert table.rows == (("x", ONE.share, ONE.gap, "yes", 1),)
    assert (table.name, table.title, table.notes) == ("outer", "T", ("n",))
    unknown = Outer(*(None if name in ("passed", "counted") else getattr(ONE, name) for name in Outer.__dataclass_fields__))  # type: ignore[attr-defined]  # a dataclass  # fmt: skip
    assert table_of("outer", Outer, [unknown]).rows[0][3:] == ("", None)


def test_json_writes_intervals_as_declared_and_nothing_undefined_as_a_number() -> None:
    assert json_of(ONE) == {
        "name": "x",
        "share": 0.5,
        "low": 0.25,
        "high": 0.75,
        "interval_reason": None,
        "gap": {
            **dict.fromkeys(("estimate", "low", "high")),
            **dict.fromkeys(("reason", "interval_reason"), "one rater"),
        },
        "passed": True,
        "counted": True,
        "inner": [{"p": 0.01}, {"p": None}],
        "named": {"a": {"p": 0.01}, "b": {"p": None}},
        "first": {"p": 0.01},
        "left_out": {"no score": 2},
        "number": None,
    }


def test_documentation_names_every_key_and_no_other() -> None:
    named = [key for keys, _ in documented(Outer) for key in keys.split(", ")]
    assert named == [
        *("name", "share", "low", "high", "interval_reason", "gap", "passed", "counted"),
        *("inner", "inner[].p", "named", "named.*.p", "first", "first.p", "left_out", "number"),
    ]
    assert {of.name for of in row_fields(Outer)} == set(Outer.__dataclass_fields__) - {"unseen"}  # type: ignore[attr-defined]  # a dataclass  # fmt: skip


def test_every_field_needs_a_value() -> None:
    with pytest.raises(TypeError, match="missing 1 required"):
        Inner("a")  # type: ignore[call-arg]  # that is the mistake


@row
class Parent:
    only: Inner | None = entry("one, or none", rows=Inner)
    listed: Sequence[Inner] = entry("several", rows=Inner)
    by_name: tuple[Inner, ...] = entry("the same by name", rows=Inner, keyed_by="name")
    n: int = column("a count")
    high_enough: bool = column("whether it is enough")


def test_a_row_that_is_missing_is_null() -> None:
    assert json_of(Parent(None, INNER, INNER, 1, True))["only"] is None
    named = [key for key, _ in documented(Parent)]
    assert named[:4] == ["only", "only.p", "listed", "listed[].p"]


def test_numbers_of_numpy_become_pythons_own() -> None:
    one = Parent(None, (), (), np.int64(3), np.float64(1) > 0)  # type: ignore[arg-type]  # what an author forgets
    assert json.loads(json.dumps(json_of(one)))["n"] == 3
    cells = table_of("parent", Parent, [one]).rows[0]
    assert [(cell, type(cell)) for cell in cells] == [(3, int), (1, int)]


def test_two_rows_of_one_name_are_refused_where_json_holds_one() -> None:
    with pytest.raises(ValueError, match="by_name: two rows have the same name"):
        json_of(Parent(None, (), (INNER[0], INNER[0]), 1, True))


def test_two_fields_with_one_key_or_column_are_refused() -> None:
    with pytest.raises(TypeError, match="JSON key high, interval_reason, low"):

        @row
        class _TwoIntervals:
            share: Interval = column("a share", ends="beside")
            gap: Interval = column("a gap", ends="beside")

    with pytest.raises(TypeError, match="column p"):

        @row
        class _TwoColumns:
            p: float = column("a p")
            corrected: float = column("another", name="p")


def test_a_hidden_column_is_one_of_the_row() -> None:
    with pytest.raises(KeyError, match="Inner has no column p_valeu"):
        columns_of(Inner, hidden=("p_valeu",))


@row
class Placed:
    by: dict[str, str] = column("value of each column", names_row=True, spread=True)
    n: int = column("how many")


@row
class Gathered:
    alone: Inner | None = entry("one of them", rows=Inner, inlined=True, absent=True)
    several: tuple[Inner, ...] | None = entry("all of them", rows=Inner, inlined=True, absent=True)
    counted: Interval = entry("a number", ends="counted")


def test_a_mapping_may_be_a_column_for_each_name() -> None:
    made = table_of(
        "placed", Placed, [Placed({"prompt": "a", "set": "x"}, 1), Placed({"prompt": "b", "set": "y"}, 2)]
    )
    assert [one.name for one in made.columns] == ["prompt", "set", "n"]
    assert made.columns[0].names_row
    assert made.rows == (("a", "x", 1), ("b", "y", 2))
    assert [one.name for one in table_of("none", Placed, []).columns] == ["n"]


def test_a_row_alone_may_stand_in_the_outer_object_and_a_key_without_value_may_be_left_out() -> None:
    number = Interval(0.5, 0.25, 0.75, n=8, n_left_out=1)
    counted = {"estimate": 0.5, "low": 0.25, "high": 0.75, "interval_reason": None, "reason": None} | {
        "n": 8,
        "n_left_out": 1,
    }
    assert json_of(Gathered(None, None, number)) == {"counted": counted}
    assert json_of(Gathered(INNER[0], None, number)) == {"p": 0.01, "counted": counted}
    assert json_of(Gathered(None, INNER[:1], number)) == {"p": 0.01, "counted": counted}
    assert json_of(Gathered(None, INNER, number))["several"] == [{"p": 0.01}, {"p": None}]
    paths = [path for path, _ in documented(Gathered)]
    assert paths == ["p", "several", "several[].p", "counted"]

"""Annotated rows become columns, JSON and documentation."""

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from core.schema.result_table import Column, Interval
from core.schema.rows import (
    WHOLE,
    cells,
    column,
    columns,
    columns_of,
    documented,
    documented_columns,
    entry,
    json_of,
    result_json,
    row,
    row_fields,
    table_of,
)


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
class Counted:
    gap: Interval = column("a gap", ends="counted")


@row
class Listed:
    rows: tuple[Counted, ...] = entry("each of them", key=WHOLE, rows=Counted)
    note: str = entry("a note", key="")


def test_a_result_may_be_a_list_and_a_number_have_its_counts() -> None:
    found = Listed((Counted(Interval(0.5, 0.25, 0.75, n=8, n_left_out=1)),), "n")
    gap = {"estimate": 0.5, "low": 0.25, "high": 0.75, "reason": None, "interval_reason": None}
    assert result_json(found) == [{"gap": gap | {"n": 8, "n_left_out": 1}}]
    assert [key for key, _ in documented(Listed)] == ["[]", "[].gap"]
    assert result_json(INNER[0]) == json_of(INNER[0])


def test_a_result_changes_what_its_readers_see_of_a_column() -> None:
    first, second = columns_of(Inner, hidden=("name",), shaped={"p_value": {"title": "P", "places": 2}})
    assert (first.shown, second.heading, second.places, second.p_value) == (False, "P", 2, True)
    with pytest.raises(KeyError):
        columns_of(Inner, shaped={"q": {"title": "Q"}})


@row
class Within:
    value: Interval = column("the number", ends="inline", heat="coefficient")
    n_items: int = column("items", shown=False)


@row
class Labelled:
    labels: dict[str, str] = columns("labels of the row", names_row=True)
    per_item: Within = cells("the number within items", rows=Within)


LABELLED = (
    Labelled({"my_label": "x"}, Within(Interval(0.5, how=(("n_resamples", 20),)), 3)),
    Labelled({"task": "t"}, Within(Interval(None, reason="too few"), 0)),
)


def test_names_of_the_user_and_cells_of_an_inner_row_are_columns() -> None:
    found = table_of(
        "labelled", Labelled, LABELLED, hidden=("per_item",), shaped={"per_item": {"title": "Within"}}
    )
    assert found.columns == (
        Column("my_label", "my_label", names_row=True),
        Column("task", "task", names_row=True),
        Column("per_item", "Within", heat="coefficient", shown=False),
        Column("per_item_n_items", shown=False),
    )
    assert found.rows[0] == ("x", None, LABELLED[0].per_item.value, 3)
    assert found.rows[1][:2] == (None, "t")
    assert [one.name for one in documented_columns(Labelled)] == ["*", "per_item", "per_item_n_items"]
    with pytest.raises(KeyError):
        columns_of(Labelled, shaped={"per_itme": {"title": ""}})


def test_an_inner_row_is_an_object_with_what_its_number_says_of_itself() -> None:
    ends = {"low": None, "high": None, "interval_reason": None}
    assert [json_of(one) for one in LABELLED] == [
        {
            "labels": {"my_label": "x"},
            "per_item": {"estimate": 0.5, **ends, "reason": None, "n_resamples": 20, "n_items": 3},
        },
        {
            "labels": {"task": "t"},
            "per_item": {"estimate": None, **ends, "reason": "too few", "n_items": 0},
        },
    ]
    wanted = {f"per_item.{one}" for one in ("estimate", "reason", *ends, "n_items")}
    assert wanted == {key for keys, _ in documented(Labelled) for key in keys.split(", ")} - {
        "labels",
        "per_item",
    }


@row
class Gathered:
    alone: Inner | None = entry("one of them", rows=Inner, inlined=True, optional=True)
    several: tuple[Inner, ...] | None = entry("all of them", rows=Inner, inlined=True, optional=True)
    matrix: tuple[tuple[Inner, ...], ...] = entry("lines of them", rows=Inner)
    counted: Interval = entry("a number", ends="counted")


def test_a_row_alone_may_stand_in_the_outer_object_and_a_key_without_value_may_be_left_out() -> None:
    number = Interval(0.5, 0.25, 0.75, n=8, n_left_out=1)
    counted = {"estimate": 0.5, "low": 0.25, "high": 0.75, "interval_reason": None, "reason": None} | {
        "n": 8,
        "n_left_out": 1,
    }
    assert json_of(Gathered(None, None, (), number)) == {"matrix": [], "counted": counted}
    assert json_of(Gathered(INNER[0], None, (), number)) == {"p": 0.01, "matrix": [], "counted": counted}
    assert json_of(Gathered(None, INNER[:1], (), number)) == {"p": 0.01, "matrix": [], "counted": counted}
    assert json_of(Gathered(None, INNER, (INNER,), number))["matrix"] == [[{"p": 0.01}, {"p": None}]]
    paths = [path for path, _ in documented(Gathered)]
    assert paths == ["p", "several", "several[].p", "matrix", "matrix[][].p", "counted"]


@row
class Grouped:
    group: dict[str, str] = columns("what makes the group", shown=False)
    numbers: dict[str, Interval] = columns(
        "its numbers", {"mean": column("a mean", title="Mean"), "gap": column("a gap")}, key=""
    )


def test_names_that_are_columns_in_every_table_stand_first() -> None:
    rows = (
        Grouped({"language": "cs"}, {"more": Interval(1.0)}),
        Grouped({"task": "qa"}, {"mean": Interval(2.0)}),
    )
    table = table_of("grouped", Grouped, rows, hidden=("gap",))
    assert [(one.name, one.shown) for one in table.columns] == [
        *(("language", False), ("task", False)),
        *(("mean", True), ("gap", False), ("more", True)),
    ]
    assert table.rows[0] == ("cs", None, None, None, Interval(1.0))
    assert json_of(rows[1]) == {"group": {"task": "qa"}}
    assert [one.name for one in documented_columns(Grouped)] == ["*", "mean", "gap"]

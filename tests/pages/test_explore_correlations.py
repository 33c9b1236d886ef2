"""Correlations explored: a link restores a view, a metric's dots lead to texts, two metrics are compared."""

import json
from typing import Any

import pytest
from helpers.pages.generate_visit import field, said
from helpers.pages.metrics_visit import lines, page, scored, visit
from streamlit.testing.v1 import AppTest

from core.formats.registry import read_ratings, read_scores
from core.report import written
from core.results.cells import interval
from core.results.correlations.disagreement import most_disagreed
from core.results.correlations.points import points, text_key
from core.results.correlations.ranking import compare_metrics
from core.schema.correlating import CompareOptions
from core.schema.result_table import Column, Interval
from core.store import Store
from core.store.kept import KeptFile, delete_file, keep_file
from pages.metrics import explore
from pages.widgets import against
from pages.widgets.address import MOST_CHARACTERS
from pages.widgets.messages import plain
from pages.widgets.visitor import way_back

pytestmark = pytest.mark.usefixtures("cookies")
SYSTEMS = ("A", "B", "C")
ROWS: list[dict[str, Any]] = [
    {
        "item": f"q{n}",
        "system": system,
        "genre": "news" if n < 6 else "talk",
        "good": n + rank,
        "noisy": (n * 7 + rank * 5) % 11,
    }
    for n in range(12)
    for rank, system in enumerate(SYSTEMS)
]
PEOPLE = "item,system,score\n" + "".join(
    f"{r['item']},{r['system']},{r['good'] + r['noisy'] % 3}\n" for r in ROWS
)


@pytest.fixture
def files(store: Store) -> tuple[KeptFile, KeptFile]:
    """Scores and ratings of the same texts."""
    scores = keep_file(store, "scores", "scores.jsonl", lines(*ROWS))
    return scores, keep_file(store, "ratings", "people.csv", PEOPLE.encode(), {"lower_is_better": False})


def opened(**choices: str | list[str]) -> AppTest:
    """The page as a link opens it in a browser that was never there."""
    at = AppTest.from_function(page, default_timeout=60)
    for name, value in choices.items():
        at.query_params[name.replace("_", "-")] = value
    at.run()
    assert not at.exception
    return at


def choices_of(at: AppTest) -> dict[str, list[str]]:
    return {
        name: [value] if isinstance(value, str) else list(value) for name, value in at.query_params.items()
    }


def shown(at: AppTest, column: str) -> Any:
    return next(frame.value for frame in at.dataframe if column in frame.value.columns)


def points_of(metric: str, **asked: Any) -> Any:
    scores, people = read_scores(lines(*ROWS), "s.jsonl"), read_ratings(PEOPLE.encode(), "p.csv")
    return scores, people, points(scores, people, metric=metric, **asked)


def test_a_link_restores_every_choice(files: tuple[KeptFile, KeptFile]) -> None:
    scores, people = files
    text = text_key(read_scores(lines(*ROWS), "s.jsonl").rows[3])
    link: dict[str, str | list[str]] = {
        "scores": f"file-{scores.file_id}",
        "ratings": str(people.file_id),
        "group": ["genre"],
        "view": "per_item",
        "only_genre": ["news", "talk"],
        "leave_system": ["C"],
        "lower": ["noisy"],
        "raters": "kept",
        "resamples": "200",
        "metric": "noisy",
        "cell": "talk",
        "text": text,
        "versus": "good",
        "coefficient": "kendall",
    }
    at = opened(**link)
    assert field(at, "Scores").value == ("file", scores.file_id)  # type: ignore[attr-defined]
    expected = {
        "Show": "per_item",
        "Group by": ["genre"],
        "Leave out systems": ["C"],
        "Lower is better for": ["noisy"],
        "Several ratings of one text": "kept",
        "Resamples": 200,
        "Metric": "noisy",
        "Group": "talk",
        "Compare with": "good",
        "Coefficient": "kendall",
        "Text, largest disagreement first": text,
    }
    assert {label: field(at, label).value for label in expected} == expected  # type: ignore[attr-defined]
    written_back = {
        name.replace("_", "-"): [value] if isinstance(value, str) else value for name, value in link.items()
    }
    assert choices_of(at) == written_back
    found = shown(at, "genre")
    assert dict(zip(found["metric"] + found["genre"], found["n"], strict=True)) == {
        "goodnews": 12,
        "noisynews": 12,
        "goodtalk": 12,
        "noisytalk": 12,
    }


def test_options_of_every_kind_are_in_the_address(files: tuple[KeptFile, KeptFile]) -> None:
    link: dict[str, str | list[str]] = {
        "methods": ["pearson", "kendall"],
        "rated": "1",
        "resamples": "200",
        "confidence": "0.9",
        "seed": "7",
    }
    at = opened(**link)
    chosen = {"Coefficients": ["pearson", "kendall"], "Scores of systems": "rated"}
    chosen |= {"Resamples": 200, "Confidence level": 0.9, "Seed": 7}
    assert {label: field(at, label).value for label in chosen} == chosen  # type: ignore[attr-defined]
    assert (
        link.items()
        <= {name: own if len(own) > 1 else own[0] for name, own in choices_of(at).items()}.items()
    )
    assert "Spearman" not in at.dataframe[0].value
    assert "Intervals: 90%" in said(at)
    assert "seed 7" in said(at)


def test_a_link_with_what_is_no_number_has_the_usual_one(files: tuple[KeptFile, KeptFile]) -> None:
    at = opened(resamples="lots", seed="-1", look="ranking")
    assert (field(at, "Resamples").value, field(at, "Seed").value) == (None, 0)  # type: ignore[attr-defined]
    assert set(choices_of(at)) == {"scores", "ratings", "look"}
    assert "More options" not in [one.label for one in at.expander], "all of them are settled"


def test_choices_are_written_to_the_address_and_defaults_are_not(files: tuple[KeptFile, KeptFile]) -> None:
    at = opened()
    first = {"scores": [f"file-{files[0].file_id}"], "ratings": [str(files[1].file_id)]}
    assert choices_of(at) == first
    field(at, "Metric").set_value("noisy")  # type: ignore[attr-defined]
    at.run()
    field(at, "Show").set_value("per_system")  # type: ignore[attr-defined]
    at.run()
    assert choices_of(at) == {**first, "metric": ["noisy"], "view": ["per_system"]}
    at.session_state["metrics_look"] = "Ranking"
    at.run()
    assert choices_of(at) == {**first, "metric": ["noisy"], "look": ["ranking"]}


def test_what_a_link_names_and_does_not_exist_is_dropped(files: tuple[KeptFile, KeptFile]) -> None:
    at = opened(
        scores=f"file-{files[0].file_id}", metric="<b>nobody</b>", view="sideways", look="moon", text="zz"
    )
    assert field(at, "Metric").value is None  # type: ignore[attr-defined]
    assert field(at, "Show").value == "rows"  # type: ignore[attr-defined]
    assert set(choices_of(at)) == {"scores", "ratings"}
    assert not at.warning


def test_a_link_to_deleted_scores_says_so_and_restores_nothing_else(
    store: Store, files: tuple[KeptFile, KeptFile]
) -> None:
    delete_file(store, files[0].file_id)
    other = keep_file(store, "scores", "other.jsonl", lines(*ROWS[:30]))
    last = keep_file(store, "scores", "last.jsonl", lines(*ROWS[:20]))
    delete_file(store, last.file_id)
    assert keep_file(store, "correlations", "c.json", b"{}").file_id == last.file_id + 1
    at = opened(scores=f"file-{files[0].file_id}", ratings="1", metric="noisy")
    assert len(at.warning) == 1
    assert "were deleted" in at.warning[0].value
    assert field(at, "Scores").value == ("file", other.file_id)  # type: ignore[attr-defined]
    assert field(at, "Metric").value is None  # type: ignore[attr-defined]
    at.run()
    assert len(at.warning) == 1, "it stays while the page runs again"
    field(at, "Scores").set_value(("upload", 0))  # type: ignore[attr-defined]
    at.run()
    assert not at.warning


def test_a_choice_that_is_too_long_for_a_link_stays_on_the_page(store: Store) -> None:
    rows = [{"item": f"{'long' * 20}{n}", "level": str(n % 3), "m": n} for n in range(40)]
    file = keep_file(store, "scores", "s.jsonl", lines(*rows))
    at = visit(("file", file.file_id), "Correlations")
    field(at, "Leave out items").set_value([row["item"] for row in rows[:30]])  # type: ignore[attr-defined]
    at.run()
    assert shown(at, "n")["n"].tolist() == [10]
    assert set(choices_of(at)) == {"scores"}
    assert MOST_CHARACTERS < 30 * 80
    assert "leaves out: leave-item" in said(at)


def test_texts_are_ordered_by_disagreement_and_open_with_their_numbers(
    files: tuple[KeptFile, KeptFile],
) -> None:
    at = opened(metric="noisy")
    table, _, found = points_of("noisy")
    menu = field(at, "Text, largest disagreement first")
    row = int(most_disagreed(found)[0])
    first = table.rows[row]
    x, y = (float(side[found.rows == row][0]) for side in (found.x, found.y))
    assert menu.options[0] == f"{first.item_id}, {first.system}: noisy {x:.4g}, rating {y:.4g}"  # type: ignore[attr-defined]
    assert len(menu.options) == len(ROWS)  # type: ignore[attr-defined]
    menu.set_value(text_key(first))  # type: ignore[attr-defined]
    at.run()
    assert not at.exception
    scores = next(one.value for one in at.table if "better than" in one.value.columns)
    assert scores["metric"].tolist() == ["good", "noisy"]
    assert float(scores["score"][1]) == x
    (rating,) = next(one.value for one in at.table if "rating" in one.value.columns)["rating"]
    assert float(rating) == y
    assert "contains no texts" in said(at)


def test_a_damaged_text_is_marked_against_the_undamaged_one(store: Store) -> None:
    run = scored(store)
    at = opened(scores=f"run-{run.run_id}", part="correlations", metric="bleu-1")
    menu = field(at, "Text, largest disagreement first")
    damaged = next(at for at, name in enumerate(menu.options) if "level 5" in name)  # type: ignore[attr-defined]
    menu.select_index(damaged)  # type: ignore[attr-defined]
    at.run()
    cards = [html.proto.body for html in at.get("html") if html.proto.body.startswith("<div")]
    titles = ("Source or question", "Reference", "Undamaged text", "Text:")
    assert len(cards) == len(titles)
    assert all(title in card for title, card in zip(titles, cards, strict=True))
    assert "level 5" in cards[-1]
    assert "<ins" in cards[-1] or "<del" in cards[-1] or "assay-new" in cards[-1]


def test_a_system_opens_its_own_texts(files: tuple[KeptFile, KeptFile]) -> None:
    table, _, _ = points_of("good")
    of_b = next(text_key(row) for row in table.rows if row.system == "B")
    at = opened(metric="good", view="per_system", text=of_b)
    names = field(at, "Text, largest disagreement first").options  # type: ignore[attr-defined]
    assert len(names) == 12
    assert all(", B: " in name for name in names)


def test_two_metrics_are_compared_with_the_verdict_first(files: tuple[KeptFile, KeptFile]) -> None:
    at = opened(metric="noisy", versus="good", resamples="200")
    table, people, _ = points_of("good")
    options = CompareOptions(first="noisy", second="good", n_resamples=200)
    found = compare_metrics(table, people, options)
    turned = interval(found.difference)
    assert None not in (found.p, turned.value, turned.low, turned.high)
    turned = Interval(-turned.value, -turned.high, -turned.low, turned.n)
    verdict = next(one.value for one in at.markdown if one.value.startswith("**"))
    assert found.p < 0.05
    assert verdict.startswith("**good follows the ratings more closely than noisy**: difference ")
    assert plain(written(turned, Column("difference"))) in verdict
    assert "36 rows" in verdict
    assert len(at.get("plotly_chart")) == 2
    field(at, "Metric").set_value(None)  # type: ignore[attr-defined]
    at.run()
    assert not at.get("plotly_chart")


def test_presses_choose_one_metric_then_the_other() -> None:
    def script() -> None:
        import streamlit as st

        from pages.metrics import explore

        for pair in (("a", None), ("b", None), ("b", None), ("a", None), ("c", "d"), ("e", "e")):
            explore.press(*pair)
            chosen = [st.session_state.get(f"metrics_{key}") for key in ("explored_metric", "compared")]
            st.text(" ".join(map(str, chosen)))

    at = AppTest.from_function(script).run()
    assert [line.value for line in at.text] == ["a None", "a b", "a b", "a b", "c d", "e None"]
    assert explore.named({"genre": "news", "metric": "a", "language": "de"}) == "news, de"


def test_by_group_draws_a_heat_map_of_the_groups(files: tuple[KeptFile, KeptFile]) -> None:
    at = opened(look="by-group")
    assert "choose a column under Group by" in said(at)
    at = opened(look="by-group", group=["genre"], coefficient="spearman", metric="good", cell="talk")
    assert len(at.get("plotly_chart")) == 2
    assert all(f'"{name}"' in at.get("plotly_chart")[0].proto.spec for name in ("news", "talk"))
    assert set(shown(at, "genre")["genre"]) == {"news", "talk"}


def test_values_that_are_too_many_for_a_menu_are_entered(
    files: tuple[KeptFile, KeptFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(against, "_MOST_OFFERED", 5)
    at = opened(leave_item=["q1"])
    box = field(at, "Leave out items")
    assert box.options == ["q1"]  # type: ignore[attr-defined]
    assert shown(at, "n")["n"].tolist() == [33, 33]
    at.session_state["metrics_leave_out_item_main_file_1"] = ["q1", "q99"]
    at.run()
    assert "q99" in said(at)
    assert shown(at, "n")["n"].tolist() == [33, 33]


def test_rows_are_grouped_by_level_where_ratings_are_the_target(store: Store) -> None:
    rows = [{"item": str(n), "level": str(n % 2), "m": n, "k": n % 5} for n in range(20)]
    keep_file(store, "scores", "s.jsonl", lines(*rows))
    people = "item,level,score\n" + "".join(f"{n},{n % 2},{n // 3}\n" for n in range(20))
    keep_file(store, "ratings", "people.csv", people.encode(), {"lower_is_better": False})
    assert not [box for box in opened().multiselect if box.label == "Group by"]
    at = opened(against="human", group=["level"])
    assert sorted(set(shown(at, "level")["level"])) == ["0", "1"]


@pytest.mark.parametrize(
    ("asked", "leads"),
    [
        ("metrics?scores=file-1&only-genre=a+b%2C", "./metrics?scores=file-1&only-genre=a+b%2C"),
        ("", "./"),
        ("metrics", "./"),
        ("studies?study=1&tab=pairs", "./studies?study=1&tab=pairs"),
        ("operation?x=1", "./"),
        ("studies/?x=1", "./"),
        ("studies?" + "x" * 5000, "./"),
        ("//evil.example/metrics?a=1", "./"),
        ("metrics?a=1\r\nSet-Cookie: x", "./"),
        ("metrics?a=1\n", "./"),
        ("metrics?a=//evil", "./"),
    ],
)
def test_the_sign_in_leads_back_to_a_view_and_nowhere_else(asked: str, leads: str) -> None:
    assert way_back(asked) == leads


def test_texts_of_equal_names_are_told_apart(store: Store) -> None:
    """A browser knows a menu's options by their names: the text of a link would become the first of its name."""
    rows = [{"item": f"{'long' * 8}{n}{'name' * 8}", "system": "A", "m": n // 4, "k": n} for n in range(8)]
    keep_file(store, "scores", "s.jsonl", lines(*rows))
    people = "item,system,score\n" + "".join(f"{row['item']},A,{at // 4}\n" for at, row in enumerate(rows))
    keep_file(store, "ratings", "people.csv", people.encode(), {"lower_is_better": False})
    table = read_scores(lines(*rows), "s.jsonl")
    for row in (1, 6):
        key = text_key(table.rows[row])
        at = opened(metric="m", text=key, resamples="200")
        names = field(at, "Text, largest disagreement first").options  # type: ignore[attr-defined]
        assert len(set(names)) == len(rows)
        at.run()
        assert field(at, "Text, largest disagreement first").value == key  # type: ignore[attr-defined]


def test_groups_whose_values_contain_commas_are_told_apart(store: Store) -> None:
    pairs = [("x, y", "z"), ("x", "y, z")]
    rows = [{**row, "g": pairs[at % 2][0], "h": pairs[at % 2][1]} for at, row in enumerate(ROWS)]
    keep_file(store, "scores", "s.jsonl", lines(*rows))
    keep_file(store, "ratings", "people.csv", PEOPLE.encode(), {"lower_is_better": False})
    names = [explore.named({"g": g, "h": h}) for g, h in pairs]
    assert names == ['"x, y", z', 'x, "y, z"']
    at = opened(group=["g", "h"], metric="good", cell=names[1], resamples="200")
    assert field(at, "Group").options == names  # type: ignore[attr-defined]
    assert field(at, "Group").value == names[1]  # type: ignore[attr-defined]
    at = opened(look="by-group", group=["g", "h"], resamples="200")
    assert all(json.dumps(name) in at.get("plotly_chart")[0].proto.spec for name in names)


def test_a_group_that_filters_hide_can_be_open(files: tuple[KeptFile, KeptFile]) -> None:
    at = opened(group=["genre"], only_genre=["talk"], metric="good", cell="talk", resamples="200")
    field(at, "Group").set_value("news")  # type: ignore[attr-defined]
    at.run()
    assert field(at, "Group").value == "news"  # type: ignore[attr-defined]
    assert set(shown(at, "genre")["genre"]) == {"talk"}


def test_no_choice_is_kept_where_some_are_chosen_by_default(store: Store) -> None:
    rows = [{**row, "ter": row["noisy"]} for row in ROWS]
    keep_file(store, "scores", "s.jsonl", lines(*rows))
    keep_file(store, "ratings", "people.csv", PEOPLE.encode(), {"lower_is_better": False})
    at = opened(resamples="200")
    lower = field(at, "Lower is better for")
    assert lower.value == ["ter"]  # type: ignore[attr-defined]
    lower.set_value([])  # type: ignore[attr-defined]
    at.run()
    assert choices_of(at)["lower"] == [""]
    again = opened(lower="", resamples="200")
    assert field(again, "Lower is better for").value == []  # type: ignore[attr-defined]
    assert choices_of(again) == choices_of(at)


@pytest.mark.parametrize(
    "names", [("difference", "left out"), ("n", "p"), ("metric", "family"), ("<b>", "$x$")]
)
def test_metrics_may_be_named_as_the_columns_of_a_result(store: Store, names: tuple[str, str]) -> None:
    rows = [
        {"item": row["item"], "system": row["system"], names[0]: row["good"], names[1]: row["noisy"]}
        for row in ROWS
    ]
    keep_file(store, "scores", "s.jsonl", lines(*rows))
    keep_file(store, "ratings", "people.csv", PEOPLE.encode(), {"lower_is_better": False})
    at = opened(metric=names[0], versus=names[1], resamples="200")
    compared = at.dataframe[1].value
    assert compared.columns[0] == names[0]
    assert len(compared.columns) == len({*compared.columns}) == 8
    assert len(at.get("plotly_chart")) == 2


@pytest.mark.parametrize("column", ["family", "n", "against", "pearson", "direction"])
def test_texts_may_be_grouped_by_a_column_named_as_a_statistic(store: Store, column: str) -> None:
    rows = [{**row, column: row["genre"]} for row in ROWS]
    keep_file(store, "scores", "s.jsonl", lines(*rows))
    keep_file(store, "ratings", "people.csv", PEOPLE.encode(), {"lower_is_better": False})
    at = opened(group=[column], resamples="200")
    found = shown(at, f"group {column}")
    assert sorted(set(found[f"group {column}"])) == ["news", "talk"]
    assert set(found["n"]) == {18}
    named = "group family" if column == "family" else plain(column)
    field(at, f"Filter by {named}").set_value(["talk"])  # type: ignore[attr-defined]
    at.run()
    assert set(shown(at, f"group {column}")[f"group {column}"]) == {"talk"}


def test_a_column_that_is_too_long_for_a_link_is_named_as_it_is(store: Store) -> None:
    column = "[x](http://evil.example)$y$"
    rows = [{**row, column: f"{'long' * 40}{at}"} for at, row in enumerate(ROWS)]
    file = keep_file(store, "scores", "s.jsonl", lines(*rows))
    keep_file(store, "ratings", "people.csv", PEOPLE.encode(), {"lower_is_better": False})
    at = visit(("file", file.file_id), "Correlations")
    field(at, f"Leave out {plain(column)}").set_value([row[column] for row in rows[:20]])  # type: ignore[attr-defined]
    at.run()
    small = next(one.value for one in at.markdown if "leaves out" in one.value)
    assert plain(column) in small
    assert column not in small


def test_an_open_text_takes_its_name_under_another_metric(files: tuple[KeptFile, KeptFile]) -> None:
    """The browser keeps the name of a chosen option until it is told another one."""
    at = opened(metric="good", text=text_key(points_of("good")[0].rows[3]), resamples="200")
    at.run()
    field(at, "Metric").set_value("noisy")  # type: ignore[attr-defined]
    at.run()
    told = field(at, "Text, largest disagreement first").proto  # type: ignore[attr-defined]
    assert told.set_value
    assert told.raw_value in told.options
    assert "noisy" in told.raw_value

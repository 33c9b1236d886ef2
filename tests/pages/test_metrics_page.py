"""The page Metrics: from texts to correlations, meta-correlation, on small runs with real scores."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from helpers.pages.generate_visit import ROOT, field, press, said
from helpers.pages.judges_visit import judged
from helpers.pages.metrics_visit import METRICS, generated, lines, scored, visit
from scipy import stats
from streamlit.testing.v1 import AppTest

from core.formats.mt_metrics_eval import read_folder
from core.formats.registry import read_ratings, read_scores
from core.metrics.kind import KIND
from core.report import DASH, csv_of
from core.results.correlations.levels import ALL_EQUAL, EQUAL
from core.runs.asked import ask
from core.runs.generation import texts_of_run
from core.runs.path import create, saved_run
from core.runs.scoring import score_table
from core.schema.result_table import Column, ResultTable
from core.schema.runs import Run
from core.stats.degeneracy import constant, constants_said
from core.store import Store
from core.store.kept import file_data, keep_file, kept_files
from core.store.runs import list_runs
from pages.metrics.meta_correlation import NOTHING_SHARED
from pages.widgets.messages import plain
from pages.widgets.visitor import FOR_THE_ADMIN

OF_METRICS = (
    "Synonyms of METEOR",
    "Processes for lexical metrics",
    "Device of neural metrics",
    "Texts per batch",
)
"""Labels of the fields that only some metrics use."""
METRIC_LIKE = (("bleu-1", 2), ("chrf-6-2", 1), ("rouge-l", 0.5), ("rouge-1", 0.1))
pytestmark = pytest.mark.usefixtures("cookies")
(BOT_IS_CONSTANT,) = constants_said([("bot", constant([1.0] * 36))])
HOSTILE = '<img src=x onerror="alert(1)"> **bold** $x$'


@pytest.fixture
def run(store: Store) -> Run:
    return scored(store)


def shown(at: AppTest, column: str) -> Any:
    """The first table with that column."""
    return next(frame.value for frame in at.dataframe if column in frame.value.columns)


def choose(at: AppTest, label: str, value: object) -> AppTest:
    field(at, label).set_value(value)  # type: ignore[attr-defined]
    at.run()
    assert not at.exception
    return at


def asked_for(at: AppTest, label: str) -> bool:
    return any(one.label == label for one in (*at.selectbox, *at.number_input))


# --- a new run ------------------------------------------------------------------------------------


def test_without_scores_the_page_shows_the_form_with_the_lexical_metrics_of_meta_judge(store: Store) -> None:
    at = visit()
    assert field(at, "Scores").options == ["Upload a table of scores ...", "Published tables"]
    chosen = [name for box in at.multiselect for name in box.value]
    assert len(chosen) == 16
    assert "No run has made a text yet" in said(at)
    assert not [button for button in at.button if button.label.startswith("Score with")]


def test_one_line_tells_how_to_install_what_neural_metrics_lack(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_NEURAL_PYTHON", "/nowhere/python")
    generated(store)
    at = visit()
    choose(at, "COMET (runs a model)", ["comet-wmt22-da"])
    assert "./run --with neural" in said(at)
    (start,) = [button for button in at.button if button.label.startswith("Score with")]
    assert start.disabled
    assert field(at, "comet-wmt22-da").placeholder == "Unbabel/wmt22-comet-da"  # type: ignore[attr-defined]


def test_a_generation_run_is_scored_by_a_process_of_its_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    # The process itself is tried in tests/browser: here it would outlive the database.
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: begun.append(run.run_id))
    source = generated(store)
    at = visit()
    assert "84 texts on 14 items by rules, levels 0, 1, 2, 3, 4, 5." in said(at)
    press(at, "Score with 16 metrics")
    (made,) = list_runs(store, ("scores",))
    assert begun == [made.run_id]
    assert made.n_items == source.run.n_items
    assert field(at, "Scores").value == ("run", made.run_id)  # type: ignore[attr-defined]


def test_a_bad_file_of_texts_is_reported_and_makes_no_run(store: Store) -> None:
    at = visit()
    choose(at, "From", "file")
    at.file_uploader[0].upload("bad.csv", b"item,words\na,b\n")
    at.run()
    assert at.error
    assert not list_runs(store, ("scores",))


# --- correlations ---------------------------------------------------------------------------------


def test_the_table_equals_what_scipy_computes_from_the_scores(store: Store, run: Run) -> None:
    at = visit(("run", run.run_id), "Correlations")
    frame = shown(at, "Kendall, interval")
    assert set(frame["metric"]) == set(METRICS)
    scores = score_table(saved_run(store, run))
    damage = [-float(row.level or "nan") for row in scores.rows]
    for index, metric in enumerate(scores.metrics):
        row = frame[frame["metric"] == metric.name].iloc[0]
        column = scores.values[:, index].round(10)  # what differs by rounding alone is a tie
        assert row["n"] == 84
        assert row["Pearson"] == pytest.approx(stats.pearsonr(column, damage).statistic)
        assert row["Spearman"] == pytest.approx(stats.spearmanr(column, damage).statistic)
        assert row["Kendall"] == pytest.approx(stats.kendalltau(column, damage).statistic)
        assert row["left out"] == 0
    text = said(at)
    assert "Correlated with minus the damage level" in text
    assert "methods#correlation" in text
    assert [button.label for button in at.get("download_button")] == ["CSV", "Markdown", "LaTeX"]


def test_rows_are_filtered_by_family_and_compared_with_the_level_itself(run: Run) -> None:
    at = visit(("run", run.run_id), "Correlations")
    before = shown(at, "Pearson").set_index("metric")["Pearson"]
    choose(at, "Filter by family", ["BLEU"])
    assert list(shown(at, "Pearson")["metric"]) == ["bleu-1", "bleu-4"]
    assert "4 rows are hidden by the filters" in said(at)
    at.checkbox[0].check()
    at.run()
    after = shown(at, "Pearson").set_index("metric")["Pearson"]
    assert after["bleu-1"] == pytest.approx(-before["bleu-1"])
    assert "Correlated with the damage level itself" in said(at)


def test_groups_are_computed_separately(store: Store) -> None:
    rows = [
        {"item": f"{lang}{item}", "system": "s", "level": str(level), "language": lang, "mine": score}
        for lang, sign in (("de", 1), ("cs", -1))
        for item in range(3)
        for level, score in enumerate([sign * (3.0 + item / 10), sign * 2.0, sign * 1.0])
    ]
    file = keep_file(store, "scores", "mine.jsonl", lines(*rows))
    at = visit(("file", file.file_id), "Correlations")
    choose(at, "Group by", ["language"])
    frame = shown(at, "Spearman").set_index("language")["Spearman"]
    assert frame["de"] > 0.9
    assert frame["cs"] < -0.9
    choose(at, "Filter by language", ["cs"])
    assert list(shown(at, "Spearman")["language"]) == ["cs"]


def test_filters_that_hide_every_row_are_reported(store: Store) -> None:
    rows = [
        {
            "item": f"{lang}{item}",
            "level": str(level),
            "language": lang,
            "genre": genre,
            "a": 3 - level + item,
        }
        for lang, genre in (("de", "news"), ("cs", "talk"))
        for item in range(3)
        for level in range(3)
    ]
    file = keep_file(store, "scores", "filtered.jsonl", lines(*rows))
    at = visit(("file", file.file_id), "Correlations")
    choose(at, "Group by", ["language", "genre"])
    choose(at, "Filter by language", ["de"])
    choose(at, "Filter by genre", ["talk"])
    assert "the filters below hide every row" in said(at)
    assert "2 rows are hidden by the filters" in said(at)


def test_a_ranking_says_which_metric_leaves_few_rows(store: Store) -> None:
    rows = [
        {"item": str(n), "level": str(n % 4), "a": n % 4, "b": n, "rare": n % 3 if n < 6 else None}
        for n in range(20)
    ]
    file = keep_file(store, "scores", "rare.jsonl", lines(*rows))
    at = visit(("file", file.file_id), "Correlations")
    at.session_state["metrics_look"] = "Ranking"
    at.run()
    assert "p below 0.05, on the n = 6 rows that every metric scored, of 20" in said(at)
    assert "rare has scores for only 6 of 20 rows" in said(at)


def test_a_constant_metric_is_undefined_with_its_reason(store: Store) -> None:
    rows = [
        {"item": str(item), "level": str(level), "good": 3 - level + item / 9, "flat": 1}
        for item in range(4)
        for level in range(3)
    ]
    file = keep_file(store, "scores", "flat.jsonl", lines(*rows))
    at = visit(("file", file.file_id), "Correlations")
    frame = shown(at, "Pearson").set_index("metric")
    assert frame["Pearson"].isna()["flat"]
    assert "undefined for flat: all scores are equal" in said(at)


def test_human_ratings_are_uploaded_once_and_kept(store: Store) -> None:
    scores = [{"item": str(n), "system": "s", "good": n} for n in range(6)]
    file = keep_file(store, "scores", "scores.jsonl", lines(*scores))
    at = visit(("file", file.file_id), "Correlations")
    assert not at.get("button_group"), "there is no level to choose"
    people = "item,system,rater,score\n" + "".join(
        f"{n},s,{r},{n + k}\n" for n in range(6) for k, r in enumerate("ab")
    )
    at.file_uploader[0].upload("people.csv", people.encode())
    at.run()
    assert not kept_files(store, "ratings"), "first it is shown"
    press(at, "Keep this file")
    assert [one.file_name for one in kept_files(store, "ratings")] == ["people.csv"]
    frame = shown(at, "Pearson")
    assert frame["Pearson"].iloc[0] == pytest.approx(1.0)
    assert frame["n"].iloc[0] == 6, "averaged over raters"
    choose(at, "Several ratings of one text", "kept")
    assert shown(at, "Pearson")["n"].iloc[0] == 12
    again = visit(("file", file.file_id), "Correlations")
    assert shown(again, "Pearson")["n"].iloc[0] == 6, "nobody has to give them again"


def test_system_means_are_over_all_texts_unless_rated_ones_are_requested(store: Store) -> None:
    """Means of people 1, 2, 3; of the metric over all texts 1, 2, 4, over the rated ones 1, 3, 2."""
    values = {"A": (1, 1, 1), "B": (3, 3, 0), "C": (2, 2, 8)}
    scores = [{"item": str(n), "system": s, "m": own[n]} for s, own in values.items() for n in range(3)]
    file = keep_file(store, "scores", "scores.jsonl", lines(*scores))
    people = "item,system,score\n" + "".join(f"{n},{s},{k}\n" for k, s in enumerate("ABC") for n in range(2))
    keep_file(store, "ratings", "people.csv", people.encode())
    at = visit(("file", file.file_id), "Correlations")
    choose(at, "Show", "per_system")
    named = "Pearson per system"
    columns = list(shown(at, named))
    assert columns.index("Pearson, noise-corrected") < columns.index(named), "the value to read comes first"
    assert shown(at, named)[named].iloc[0] == pytest.approx(np.corrcoef([1, 2, 3], [1, 2, 4])[0, 1])
    choose(at, "Scores of systems", "rated")
    assert shown(at, named)[named].iloc[0] == pytest.approx(0.5)


def test_texts_are_left_out_a_direction_is_declared_and_dimensions_are_grouped(store: Store) -> None:
    qualities = {"Human": 9, "GPT": 3, "BERT": 2, "CTRL": 1}
    rows = [(f"q{i}", s, q + i * 0.7 % 2) for i in range(6) for s, q in qualities.items()]
    table = "item,system,BLEU,Distance\n" + "".join(f"{i},{s},{q},{20 - q}\n" for i, s, q in rows)
    people = "item,system,fluency,tone\n" + "".join(f"{i},{s},{q // 1},{q // 2}\n" for i, s, q in rows)
    given = keep_file(store, "scores", "s.csv", table.encode())
    keep_file(store, "ratings", "h.csv", people.encode(), {"lower_is_better": False})
    at = visit(("file", given.file_id), "Correlations")
    assert set(shown(at, "metric")["metric"]) == {"BLEU", "Distance"}
    assert (shown(at, "metric")["Pearson"] < 0).tolist() == [False, True]
    choose(at, "Leave out systems", ["Human"])
    choose(at, "Leave out items", ["q5"])
    choose(at, "Lower is better for", ["Distance"])
    choose(at, "Dimensions", ["fluency", "tone"])
    found = shown(at, "metric")
    assert dict(zip(found["metric"], found["better"], strict=True)) == {"BLEU": "higher", "Distance": "lower"}
    assert list(dict.fromkeys(found["dimension"])) == ["fluency", "tone", "mean of 2 dimensions"]
    assert (set(found["n"]), set(found["left out"])) == ({15}, {9})
    kept = [row for row in rows if row[0] != "q5" and row[1] != "Human"]
    means = [(q // 1 + q // 2) / 2 for _, _, q in kept]
    expected = stats.pearsonr([q for _, _, q in kept], means).statistic
    assert found["Pearson"].tolist()[-2:] == pytest.approx([expected, expected])
    assert "9 of 24 texts were left out on request (system Human: 6, item q5: 3)" in said(at)
    assert said(at).count("left out on request") == 1
    at.session_state["metrics_look"] = "Ranking"
    at.run()
    assert "on the n = 15 rows" in said(at)
    choose(at, "Dimensions", [])
    assert "choose a dimension" in said(at)


def test_a_bad_file_of_ratings_is_not_kept(store: Store) -> None:
    file = keep_file(store, "scores", "scores.jsonl", lines(*({"item": str(n), "good": n} for n in range(4))))
    at = visit(("file", file.file_id), "Correlations")
    at.file_uploader[0].upload("bad.csv", b"item,score\n1,tall\n")
    at.run()
    assert at.error
    assert not kept_files(store, "ratings")


def test_ranking_and_redundancy_show_every_metric(run: Run) -> None:
    at = visit(("run", run.run_id), "Correlations")
    at.session_state["metrics_look"] = "Ranking"
    at.run()
    assert not at.exception
    assert len(at.get("plotly_chart")) == 1
    assert "n = 84 rows that every metric scored" in said(at)
    at.session_state["metrics_look"] = "Redundancy"
    at.run()
    assert not at.exception
    assert "n = 84 texts that both metrics scored" in said(at)


# --- levels, meta-correlation, published ---------------------------------------------------


def _shares(at: AppTest) -> Any:
    """The table of monotonic items."""
    return next(table.value for table in at.table if "monotonic" in table.value.columns)


def test_levels_show_shares_and_the_texts_of_the_worst_case(store: Store, run: Run) -> None:
    at = visit(("run", run.run_id), "Levels")
    text = said(at)
    assert "methods#levels" in text
    shares = _shares(at)
    assert list(shares["metric"]) == list(METRICS)
    counts = list(zip(shares["items"], shares["left out"], strict=True))
    # Answers in a script that a metric does not split into words, or too short for it, all score 0.
    assert set(counts) == {("14", "none"), ("13", f"1 {EQUAL}")}
    case = field(at, "Case").options[0]  # type: ignore[attr-defined]
    assert "ahead" in case
    html = "".join(element.proto.body for element in at.get("html"))
    assert "Undamaged (level 0), score" in html
    assert "assay-card" in html


def test_a_constant_judge_is_named_above_the_tables(store: Store) -> None:
    rows = [f"q{item},s,{level},1" for item in range(6) for level in range(6)]
    file = keep_file(store, "scores", "bot.csv", "\n".join(["item,system,level,bot", *rows]).encode(), {})
    for part in ("Levels", "Correlations"):
        at = visit(("file", file.file_id), part)
        assert [warning.value for warning in at.warning] == [plain(BOT_IS_CONSTANT)]
    at = visit(("file", file.file_id), "Levels")
    shares = _shares(at).iloc[0]
    assert shares["items"] == "0"
    assert EQUAL in shares["left out"]
    assert shares["monotonic"] == shares["prefers damaged"] == DASH
    assert f"monotonic, prefers damaged: undefined: {ALL_EQUAL}" in said(at)
    assert "no metric prefers a damaged text" not in said(at)


def meta_correlation(chosen: tuple[str, int], *sides: str) -> AppTest:
    """The tab with published columns chosen for the sides, the human one first; without any, as it opens."""
    at = visit(chosen, "Meta-correlation")
    for radio, _ in zip([one for one in at.radio if one.label == "From"], sides, strict=False):
        radio.set_value("published")
    at.run()
    for place, name in enumerate(sides):
        [box for box in at.selectbox if box.label == "Column"][place].set_value(name)
        at.run()
    assert not at.exception
    return at


def test_no_side_is_preset_but_that_of_the_scores(run: Run) -> None:
    at = meta_correlation(("run", run.run_id))
    assert [box.value for box in at.radio if box.label == "From"] == [None, "live"]
    assert not at.get("plotly_chart")
    at = meta_correlation(("published", 0))
    assert [box.value for box in at.radio if box.label == "From"] == [None, None]


def test_unlike_sides_are_named_before_the_number(store: Store) -> None:
    at = meta_correlation(("published", 0), "published:cus-qa-cs-en", "published:wmt21-xh-zu:qwen-3-30b:zero")
    words = [
        one.value for one in at.main if one.type in ("markdown", "warning") and isinstance(one.value, str)
    ]
    (unlike,) = [place for place, text in enumerate(words) if "Xhosa" in text]
    (number,) = [place for place, text in enumerate(words) if "Meta-correlation 0.13" in text]
    assert unlike == number
    assert words[number].index("Xhosa") < words[number].index("Meta-correlation 0.13")


def test_live_scores_are_compared_with_a_published_human_column(run: Run) -> None:
    at = meta_correlation(("run", run.run_id), "published:cus-qa-cs-en")
    text = said(at)
    assert f"{len(METRICS)} metrics)" in text
    assert "p over" in text
    assert "Noise-corrected" in text
    assert "Dropped" in text
    assert len(at.get("plotly_chart")) == 1
    labels = [button.label for button in at.get("download_button")]
    assert labels[:4] == ["CSV", "Markdown", "LaTeX", "HTML"]


def test_scores_without_a_metric_of_the_other_side_are_no_error(store: Store) -> None:
    """The newest run is a judge's, and nothing is published about its texts."""
    run = judged(store, texts_of_run(generated(store)))
    at = meta_correlation(("run", run.run_id), "published:cus-qa-cs")
    assert not at.error
    assert NOTHING_SHARED in said(at)
    assert not at.get("plotly_chart")


def test_two_published_columns_give_the_published_cell(store: Store) -> None:
    at = meta_correlation(("published", 0), "published:cus-qa-cs", "published:cus-qa-cs:qwen-3-30b:zero")
    (chart,) = at.get("plotly_chart")
    spec = chart.proto.spec
    estimate = float(spec.split("Meta-correlation ")[1].split(" ")[0])
    assert estimate == pytest.approx(0.956, abs=0.025), "Table 1 of the paper"
    at.selectbox(key="meta_correlate_method").set_value("kendall").run()
    assert any("Spearman" in one.value or "spearman" in one.value for one in at.error), "published alone"
    at.selectbox(key="meta_correlate_first_order").set_value("spearman").run()
    assert "(Kendall, 28 metrics)" in said(at)


def test_correlations_from_a_file_are_a_side_and_what_is_dropped_is_named(store: Store) -> None:
    keep_file(
        store,
        "correlations",
        "human.json",
        b'{"a": {"pearson": 0.1, "spearman": 0.1, "kendall": 0.1}, "b": {"spearman": 0.4}, "c": {"spearman": 0.7},'
        b' "only here": {"spearman": 0.3}, "d": {"spearman": 0.9}}',
    )
    keep_file(
        store,
        "correlations",
        "synthetic.json",
        b'{"a(device=cpu)": {"spearman": -0.2}, "b": {"spearman": -0.3}, "c": {"spearman": -0.9},'
        b' "d": {"spearman": -0.8}}',
    )
    at = visit(("published", 0), "Meta-correlation")
    sides = [radio for radio in at.radio if radio.label == "From"]
    for side in sides:
        side.set_value("file")
    at.run()
    choose(at, "Correlations of the human side", 1)
    text = said(at)
    for told in (
        "Only 4 metrics of 1 family can be compared.",
        "Metrics compared: 4 of 5",
        "Dropped: only here: not in synthetic.json",
    ):
        assert told in text


def test_a_published_table_shows_its_source_and_its_errors(store: Store) -> None:
    at = visit(("published", 0))
    assert all(part in said(at) for part in ("Source: ", "78 of 78 cells recomputed"))
    recomputed = shown(at, "recomputed")
    assert abs(recomputed["difference"]).max() < 0.025
    assert set(recomputed["n"]) == {27, 28}
    errors = {"meta-judge-7": "Error in the published table", "cross-examination-4": "rows add up to 295"}
    for name, error in errors.items():
        choose(at, "Table", name)
        assert any(error in box.value for box in at.warning)


def test_a_matrix_has_a_cell_for_each_system_with_mean_and_spread(store: Store) -> None:
    rows = [
        {"item": f"{n}", "system": "s", "level": str(level), "generator": gen, "prompt": prompt}
        | {
            name: (5 - level) * weight + (n * 7 + level * place * 3) % 5
            for place, (name, weight) in enumerate(METRIC_LIKE)
        }
        for gen in ("g1", "g2")
        for prompt in ("p1", "p2")
        for n in range(3)
        for level in range(4)
    ]
    file = keep_file(store, "scores", "matrix.jsonl", lines(*rows))
    at = meta_correlation(("file", file.file_id), "published:cus-qa-cs")
    choose(at, "Group by", ["generator"])
    choose(at, "Mean and SD over", "prompt")
    summaries = next(table.value for table in at.table if "SD" in table.value.columns)
    assert list(summaries["generator"]) == ["g1", "g2"]
    assert list(summaries["variants"]) == ["2", "2"]
    assert len(at.get("plotly_chart")) == 1


# --- text of a user -------------------------------------------------------------------------------


def test_hostile_names_are_shown_literally(store: Store) -> None:
    rows = [
        {
            "item": HOSTILE,
            "system": f"{HOSTILE}{n}",
            "level": str(level),
            HOSTILE: 5 - level + n / 7,
            "b": n + level,
        }
        for n in range(3)
        for level in range(4)
    ]
    file = keep_file(store, "scores", f"{HOSTILE[:20]}.jsonl", lines(*rows))
    for part in ("Correlations", "Levels", "Meta-correlation", "Scores"):
        at = visit(("file", file.file_id), part)
        for element in (*at.markdown, *at.warning, *at.error, *at.success):
            assert "<img" not in element.value.replace("\\<", ""), element.value
        for chart in at.get("plotly_chart"):
            assert "<img" not in chart.proto.spec


def test_only_the_admin_sees_the_page(store: Store, cookies: dict[str, str]) -> None:
    cookies.clear()
    at = visit()
    assert [title.value for title in at.title] == [FOR_THE_ADMIN]
    assert not at.selectbox


def test_the_csv_guards_formulas() -> None:
    found = ResultTable("t", (Column("metric"), Column("value")), (("=1+1", -0.5),))
    rows = list(csv.DictReader(io.StringIO(csv_of(found).decode())))
    assert rows == [{"metric": "'=1+1", "value": "-0.5"}]


# --- real data ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.shared
def test_a_folder_of_wmt_gives_scores_and_ratings(store: Store, shared_data: Path) -> None:
    at = visit(("upload", 0))
    choose(at, "From", "folder")
    choose(at, "Folder", "/nowhere/at/all")
    assert "has no such folder" in said(at)
    choose(at, "Folder", str(shared_data / "wmt23"))
    press(at, "Read scores and ratings")
    names = [file.file_name for file in kept_files(store, "ratings")]
    assert sorted(names) == ["wmt23-en-de-da-sqm.jsonl", "wmt23-en-de-mqm.jsonl"]
    (scores,) = kept_files(store, "scores")
    folder = read_folder(shared_data / "wmt23")
    table, ratings = read_scores(file_data(store, scores.file_id), scores.file_name), folder.ratings["mqm"]
    assert table.rows == folder.scores.rows
    mqm = next(file for file in kept_files(store, "ratings") if "mqm" in file.file_name)
    again = read_ratings(file_data(store, mqm.file_id), mqm.file_name)
    assert [(one.item_id, one.system, one.score, one.language, one.labels) for one in again.ratings] == [
        (one.item_id, one.system, one.score, one.language, one.labels) for one in ratings.ratings
    ]


def test_every_link_to_an_explanation_leads_to_a_section() -> None:
    """The links of its parts lead to sections of the page Methods."""
    sections = {
        line[3:].lower().replace(" ", "-").replace("'", "")
        for name in ("statistics.md", "inference.md")
        for line in (ROOT / "docs" / name).read_text("utf-8").splitlines()
        if line.startswith("## ")
    }
    paths = [*(ROOT / "pages" / "metrics").glob("*.py"), ROOT / "pages" / "tabs" / "levels.py"]
    parts = [path.read_text("utf-8") for path in paths]
    named = {
        anchor for text in parts for anchor in re.findall(r'^\s+"([a-z]+(?:-[a-z]+)*)",\n    \)', text, re.M)
    }
    assert {"correlation", "meta-correlation", "levels"} <= named
    assert named <= sections


# --- choices that stay ----------------------------------------------------------------------------


def test_consecutive_choices_all_take_effect(run: Run) -> None:
    at = visit()
    for chosen in (("published", 0), ("upload", 0), ("run", run.run_id), ("published", 0)):
        choose(at, "Scores", chosen)
        assert field(at, "Scores").value == chosen  # type: ignore[attr-defined]
    press(at, "New run")
    assert field(at, "Scores").value is None  # type: ignore[attr-defined]
    choose(at, "Scores", ("run", run.run_id))
    assert field(at, "Scores").value == ("run", run.run_id)  # type: ignore[attr-defined]


def test_a_run_is_scored_again_with_other_settings(store: Store, run: Run) -> None:
    at = visit(("run", run.run_id))
    next(button for button in at.button if button.label == "Score with other settings").click()
    at.run()
    assert not at.exception
    assert f"Current file: {run.data_file}" in said(at).replace("\\", "")
    assert {name for box in at.multiselect for name in box.value} == set(METRICS)
    assert field(at, "Synonyms of METEOR").value == "none"  # type: ignore[attr-defined]
    assert "Score with 6 metrics" in [button.label for button in at.button]


def test_a_run_with_models_fills_the_form_with_all_its_settings(store: Store) -> None:
    text = lines({"item": "1", "text": "a", "reference": "b", "source": "c"})
    chosen = {"metrics": ("comet-wmt22-da",), "models": {"comet-wmt22-da": "my/comet"}, "device": "cuda:1"}
    run, _ = create(store, text, "t.jsonl", *ask(KIND, chosen, {}, {"batch_size": 8}))
    at = press(visit(("run", run.run.run_id)), "Score with other settings")
    assert [name for box in at.multiselect for name in box.value] == ["comet-wmt22-da"]
    assert field(at, "comet-wmt22-da").value == "my/comet"  # type: ignore[attr-defined]
    assert field(at, "Device of neural metrics").value == "cuda:1"  # type: ignore[attr-defined]
    assert field(at, "Texts per batch").value == 8  # type: ignore[attr-defined]


def test_the_form_shows_only_settings_that_the_metrics_use(store: Store) -> None:
    at = visit()
    assert [label for label in OF_METRICS if asked_for(at, label)] == list(OF_METRICS[:2])
    choose(at, "METEOR", [])
    assert [label for label in OF_METRICS if asked_for(at, label)] == [OF_METRICS[1]]
    choose(at, "COMET (runs a model)", ["comet-wmt22-da"])
    assert [label for label in OF_METRICS if asked_for(at, label)] == list(OF_METRICS[1:])


def test_the_progress_names_metrics_that_cannot_read_the_references(store: Store) -> None:
    text = "Столицей Франции является город Париж"
    rows = [{"item": "1", "level": str(level), "text": text, "reference": text} for level in range(2)]
    run = scored(store, lines(*rows), metrics=["rouge-1", "chrf-6-2"])
    at = visit(("run", run.run_id))
    said = [box.value for box in at.warning if "reads only a-z and 0-9" in box.value]
    assert len(said) == 1
    at = visit(("run", run.run_id), "Correlations")
    assert any(said[0] in line.value for line in at.markdown), "among the table's notes"


def test_scores_without_levels_are_on_the_human_side(store: Store) -> None:
    rows = [{"item": str(item), "system": "s", "a": item, "b": -item} for item in range(4)]
    file = keep_file(store, "scores", "rated.jsonl", lines(*rows))
    at = visit(("file", file.file_id), "Levels")
    assert "these scores have no levels" in said(at)
    at = visit(("file", file.file_id), "Meta-correlation")
    assert not at.error
    assert [box.value for box in at.radio] == ["live", None]


def test_shortened_names_stay_distinct(store: Store) -> None:
    long = "a-name-that-never-ends-" * 4
    rows = [
        {"item": str(item), "level": str(level), long + "1": 3 - level, long + "2": level + item / 9}
        for item in range(4)
        for level in range(3)
    ]
    file = keep_file(store, "scores", "long.jsonl", lines(*rows))
    at = visit(("file", file.file_id), "Correlations")
    assert len(set(shown(at, "Pearson")["metric"])) == 2


def test_every_column_of_coefficients_has_few_digits(run: Run) -> None:
    at = visit(("run", run.run_id), "Correlations")
    (frame,) = (one for one in at.dataframe if "Pearson" in one.value.columns)
    shown = pyarrow.ipc.open_stream(frame.proto.arrow_data.styler.display_values).read_pandas()
    for name in ("Pearson", "Spearman", "Kendall"):
        assert all(re.fullmatch(r"-?\d\.\d{2,3}", number) for number in shown[name]), name

"""Data frames go through the readers of files: aliases, missing values, problems by row."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from core.notebook import plot
from core.plots.tables import dots
from core.schema.result_table import Column, ResultTable

ROOT = Path(__file__).resolve().parents[2]
SCORES = pd.DataFrame(
    {
        "id": ["007", "008", "NA", "9"],
        "system": ["a", "b", "a", "b"],
        "level": [0, 1, 2, 3],
        "mine": [0.1 + 0.2, np.nan, 1 / 3, -2.5],
        "count": pd.array([1, 2, None, 4], dtype="Int64"),
    }
)


def test_a_plain_frame_is_read_as_a_file_is() -> None:
    found = assay.read(SCORES, "scores")
    mine = found[found["metric"] == "mine"].set_index("item")["score"]
    assert list(mine.index) == ["007", "008", "NA", "9"]
    assert mine["007"] == 0.1 + 0.2
    assert np.isnan(mine["008"])
    assert mine["NA"] == 1 / 3
    assert found[found["metric"] == "count"]["score"].tolist()[:2] == [1.0, 2.0]
    wide = assay.read(found, "scores", shape="wide")
    pd.testing.assert_series_equal(wide["mine"], SCORES["mine"])
    pd.testing.assert_frame_equal(assay.read(found, "scores"), found)


def test_an_index_with_a_name_is_a_column() -> None:
    found = assay.read(SCORES.set_index(["id", "system"]), "scores", shape="wide")
    assert found[["item", "system"]].values.tolist() == SCORES[["id", "system"]].values.tolist()
    kept = SCORES[SCORES["system"] == "a"]  # its index has gaps
    assert assay.read(kept, "scores", shape="wide")["item"].tolist() == ["007", "NA"]


def test_texts_and_ratings_return_unchanged(ratings_file: Path) -> None:
    texts = assay.read(ROOT / "data" / "demo" / "answers.csv")
    pd.testing.assert_frame_equal(assay.read(texts), texts)
    people = assay.read(ratings_file, "ratings", lower_is_better=True)
    again = assay.read(people, "ratings")
    pd.testing.assert_frame_equal(again, people)
    assert people["score"].max() == 0
    assert again.attrs == people.attrs
    assert people.attrs["name"] == "ratings.csv"
    assert people.attrs["left_out"] == {"no rating": 1}


def test_columns_have_assays_names_first() -> None:
    frame = pd.DataFrame({"key": ["1"], "answer text": ["yes"], "gold": ["no"]})
    found = assay.read(frame, columns={"item_id": "key", "text": "answer text", "reference": "gold"})
    assert found[["item_id", "text", "reference"]].values.tolist() == [["1", "yes", "no"]]
    with pytest.raises(assay.InputError, match="no column answer"):
        assay.read(frame, columns={"text": "answer"})
    with pytest.raises(assay.InputError, match="Assay has no column key"):
        assay.read(frame, columns={"key": "item_id"})


def test_spans_and_missing_texts() -> None:
    frame = pd.DataFrame({"item_id": [1, 2], "text": ["a", None], "reference": ["b", "c"]})
    found = assay.read(frame)
    assert (len(found), found.attrs["left_out"]) == (1, {"no text": 1})


RATED = pd.DataFrame({"item_id": [1, 1], "rater": ["a", "b"], "level": [1, 2], "score": [1.0, 2.0]})
WRONG = SCORES.assign(mine=[1, 2, 3, np.inf], id=["x", "x", "y", "z"], system="s", level=[0, 0, 1, 2])


def test_problems_name_rows_by_their_index() -> None:
    frame = pd.DataFrame(
        {"item_id": ["1", "2"], "rater": "r", "score": ["good", 2]}, index=["first", "second"]
    )
    with pytest.raises(assay.InputError) as caught:
        assay.read(frame.drop(columns="score").assign(score=[1.5, np.inf]), "ratings")
    assert caught.value.problems == ("row second: score is infinite, expected a number",)
    with pytest.raises(assay.InputError) as caught:
        assay.correlate(WRONG[["id", "system", "level", "mine"]], "level")
    assert caught.value.what.startswith("The data frame cannot be imported")
    assert any(problem.startswith("row 1") for problem in caught.value.problems)
    twice = RATED.drop_duplicates("item_id")
    with pytest.raises(assay.InputError) as caught:
        assay.read(pd.concat([twice, twice], ignore_index=True), "ratings")
    assert [re.findall(r"row \d+|line", one) for one in caught.value.problems] == [["row 1", "row 0"]]
    with pytest.raises(assay.InputError) as caught:
        assay.read(pd.concat([twice, twice]), "ratings")
    (problem,) = caught.value.problems
    assert problem.startswith("row 0 (iloc 1): ")
    assert problem.endswith(" row 0 (iloc 0)")
    asked = pd.DataFrame({"item_id": ["1", "1"], "question": ["a", "b"], "reference": "c"}, index=["x", "y"])
    with pytest.raises(assay.InputError) as caught:
        assay.damage(asked)
    assert [re.findall(r"row \w|line", one) for one in caught.value.problems] == [["row y", "row x"]]
    with_control = pd.DataFrame({"item_id": [1], "text": ["a\x01"], "reference": ["b"]}, index=["z"])
    assert assay.read(with_control).attrs["notes"][-1].startswith("row z, item 1: ")


def test_messages_about_a_frame_name_no_file() -> None:
    texts = pd.DataFrame({"item_id": [1], "text": ["a"]})
    for call in (
        lambda: assay.read(texts.iloc[:0]),
        lambda: assay.damage(texts.iloc[:0]),
        lambda: assay.score(texts, "bleu-4"),
        lambda: assay.damage(texts),
        lambda: assay.read(texts.drop(columns="text")),
        lambda: assay.read(texts, columns={"reference": "gold"}),
    ):
        with pytest.raises(assay.InputError) as caught:
            call()
        assert caught.value.what.startswith("The data frame ")
        assert "file" not in str(caught.value)
        assert "jsonl" not in str(caught.value)


def test_a_column_of_words_is_noted() -> None:
    found = assay.read(SCORES.assign(words=["good", "bad", "bad", "good"]), "scores")
    assert sum(note.startswith("column words ") for note in found.attrs["notes"]) == 1
    assert assay.read(found, "scores").attrs["notes"] == found.attrs["notes"]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: assay.correlate(SCORES, methods="person"), "methods: person"),
        (lambda: assay.correlate(SCORES, resamples=-1), "resamples: -1"),
        (lambda: assay.correlate(SCORES, confidence=95), "confidence: 95"),
        (lambda: assay.correlate(SCORES, seed=-1), "seed: -1"),
        (lambda: assay.correlate(SCORES, group="sytem"), "did you mean system"),
        (lambda: assay.correlate(SCORES, leave_out={"system": "c"}), "Unknown system"),
        (lambda: assay.correlate(SCORES, direction={"mine": "down"}), "direction of mine: 'down'"),
        (lambda: assay.correlate(SCORES, z_normalise=True), "only with human ratings"),
        (lambda: assay.correlate(SCORES, resample="texts"), "resample: 'texts'"),  # type: ignore[arg-type]
        (lambda: assay.correlate([1, 2]), "list is neither a data frame nor the path"),  # type: ignore[arg-type]
        (lambda: assay.correlate("missing.csv"), "missing.csv cannot be read"),
        (
            lambda: assay.correlate(pd.concat([SCORES, SCORES[["level"]]], axis=1)),
            "several columns named level",
        ),
        (lambda: assay.correlate(SCORES.iloc[:0]), "is empty"),
        (lambda: assay.correlate(RATED), "looks like human ratings"),
        (lambda: assay.rank(SCORES, method="r2"), "method: 'r2'"),  # type: ignore[arg-type]
        (lambda: assay.rank(SCORES, method="kendall", test="williams"), "Williams"),
        (lambda: assay.acc23(SCORES, SCORES, epsilon=1, test=True), "test: not possible with epsilon"),
        (lambda: assay.meta_correlate("published:nothing", SCORES), "nothing"),
        (lambda: assay.meta_correlate(SCORES, SCORES), "ratings="),
        (lambda: assay.score(SCORES, "blue"), "'blue' is unknown"),
        (lambda: assay.score(SCORES, "comet-wmt22-da"), "--metrics comet-wmt22-da --out scores.csv"),
        (lambda: assay.read("x.csv", "votes"), "kind: 'votes'"),  # type: ignore[arg-type]
        (lambda: assay.read("x.csv", lower_is_better=True), "only for kind='ratings'"),
        (lambda: assay.read("x.csv", language_pair="en-de"), "language_pair: only for a folder"),
        (lambda: assay.read("run:x"), "run:N"),
        (lambda: assay.read("study:a", db="no.db"), "There is no database no.db"),
        (lambda: assay.damage(SCORES, levels=[9]), "levels: there is no level 9"),
        (lambda: assay.study_results("x", resamples=0), "resamples: 0"),
        (lambda: assay.study_results("x", resamples="x"), "resamples: 'x'"),  # type: ignore[arg-type]
        (lambda: assay.study_results(1), "study: 1"),  # type: ignore[arg-type]
        (lambda: assay.study_annotations(None), "study: None"),  # type: ignore[arg-type]
        (lambda: assay.studies(3), "db: 3"),  # type: ignore[arg-type]
        (
            lambda: assay.calibrate(RATED, SCORES, map="iso"),
            "map: 'iso' is not one of isotonic, ordinal",
        ),  # type: ignore[arg-type]
        (lambda: assay.calibrate(RATED, SCORES, columns="mine"), "columns: 'mine'"),  # type: ignore[arg-type]
        (lambda: assay.meta_correlate(SCORES, SCORES, first_order="r2"), "first_order: 'r2'"),  # type: ignore[arg-type]
        (lambda: assay.correlate(SCORES, leave_out="A"), "leave_out: 'A'"),  # type: ignore[arg-type]
        (lambda: assay.correlate(SCORES, direction="lower"), "direction: 'lower'"),  # type: ignore[arg-type]
        (lambda: assay.correlate(SCORES, seed="x", confidence="y"), "seed: 'x'"),  # type: ignore[arg-type]
        (lambda: assay.correlate(SCORES, seed=0.5), "seed: 0.5"),  # type: ignore[arg-type]
        (lambda: assay.compare(SCORES, "mine", 2), "second: 2"),  # type: ignore[arg-type]
        (lambda: assay.acc23(RATED, SCORES, epsilon="x"), "epsilon: 'x'"),  # type: ignore[arg-type]
        (lambda: assay.damage(SCORES, levels=3), "levels: 3"),  # type: ignore[arg-type]
        (lambda: assay.read(SCORES, columns="id"), "columns: 'id'"),  # type: ignore[arg-type]
        (lambda: assay.plot(SCORES), "result: DataFrame"),  # type: ignore[arg-type]
        (lambda: assay.correlate(SCORES, "human"), "with_: 'human'"),
        (lambda: assay.correlate(assay.correlate(SCORES, resamples=0)), "result.frame"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_name_the_parameter(
    call: object, names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(assay.InputError) as caught:
        call()  # type: ignore[operator]
    assert names in str(caught.value)
    assert "--" not in str(caught.value) or "comet" in str(caught.value)  # there, a command is the answer


def test_a_run_without_a_number_is_no_run() -> None:
    for call in (assay.bias, assay.pairs, assay.made_levels):
        with pytest.raises(assay.InputError, match=r"not run:N"):
            call("run:x")  # type: ignore[operator]


def test_no_result_before_unblinding(tmp_path: Path) -> None:
    from core.cli import main

    database = tmp_path / "assay.db"
    words = ["study", "import", str(ROOT / "data" / "demo" / "answers.csv"), "--name", "draft"]
    words += ["--candidate", "pipeline", "--comparator", "handwritten"]
    assert main([*words, "--db", str(database)]) == 0
    for call in (assay.study_results, assay.study_annotations):
        with pytest.raises(assay.AssayError, match="stay hidden"):
            call("draft", db=database)
    with pytest.raises(assay.AssayError, match="nobody"):
        assay.study_results("nobody", db=database)


def test_a_display_shows_what_the_command_prints() -> None:
    found = assay.correlate(SCORES, "level", resamples=100)
    lines = repr(found).splitlines()
    assert lines[0] == "Against the negative damage level. Positive is good."
    assert [line.split()[0] for line in lines[1:4]] == ["metric", "mine", "count"]
    html = found._repr_html_()
    assert html.count("<tr>") == 3
    hostile = SCORES.rename(columns={"mine": "<script>alert(1)</script>"})
    assert "<script>" not in assay.correlate(hostile, "level", resamples=0)._repr_html_()
    assert found.frame.attrs["notes"] == list(found.notes)


def test_a_table_is_chosen_by_name() -> None:
    found = assay.rank(SCORES, "level", resamples=50)
    assert found.names == ["ranking", "comparisons"]
    assert list(found["comparisons"].frame["first"]) == ["mine"] or len(found["comparisons"].frame) == 1
    with pytest.raises(assay.InputError, match="did you mean ranking"):
        found["rankin"]


def test_a_plot_draws_a_column_with_its_intervals() -> None:
    found = assay.correlate(SCORES, "level", resamples=200)
    figure = plot(found, "pearson")
    frame = found.frame
    assert list(figure.data[0].x) == frame["pearson"].tolist()
    reach = np.array(figure.data[0].error_x.arrayminus)
    np.testing.assert_allclose(
        reach, (frame["pearson"] - frame["pearson_low"]).fillna(0).tolist(), atol=1e-12
    )
    assert [str(name) for name in figure.layout.yaxis.ticktext] == ["mine", "count"]
    with pytest.raises(assay.InputError, match="did you mean Pearson"):
        plot(found, "person")
    words = ResultTable("words", (Column("word"),), (("a",),))
    with pytest.raises(assay.InputError, match="no numbers"):
        dots(words)


def test_an_interrupted_run_is_told_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.notebook import texts
    from core.store import open_store
    from core.store.runs import get_run

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(texts, "work", interrupted)
    database = tmp_path / "assay.db"
    with pytest.raises(KeyboardInterrupt):
        assay.damage(ROOT / "data" / "demo" / "questions.jsonl", db=database)
    with open_store(database) as store:
        assert get_run(store, 1).cancel


def test_what_a_metric_cannot_read_is_shown() -> None:
    texts = pd.DataFrame(
        {"item_id": [1], "text": ["私は赤い車を持っています"], "reference": ["私は赤い車を持つ"]}
    )
    with pytest.warns(UserWarning, match="^bleu-4: ") as caught:
        scores = assay.score(texts, ["bleu-4", "chrf-6-0"])
    assert [one.filename for one in caught] == [__file__]
    assert sum(note.startswith("bleu-4: ") for note in scores.attrs["notes"]) == 1

"""The part "Guesses" of a study's raters, by itself: reading, tables, what is left out, comments as they are."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest
from helpers.texts.factories import StudyAtHand, always, dataset, study_in, vote
from streamlit.testing.v1 import AppTest

from core.analyses.study_results.pair_rows import answer_of
from core.report import DASH
from core.results.study.results import blinding, study_results
from core.schema.study import Guess, GuessedSide
from core.store import Store
from core.store.answers import restore_guesses
from pages.widgets.messages import plain

pytestmark = pytest.mark.usefixtures("cookies")

HOSTILE = ":smile: ![x](http://outside.invalid/y.png) <b>bold</b> $a$"


def page() -> None:
    from core.results.study.results import study_results
    from core.store import database_path, open_store
    from core.store.answers import load_record
    from core.store.studies import list_studies
    from pages.studies import between_raters

    with open_store(database_path(None)) as store:
        record = load_record(store, list_studies(store)[0])
    between_raters.blinding(study_results(record, n_resamples=200))


def visit() -> AppTest:
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    return at


def cell(at: AppTest, rater: str, column: str, which: int = 0) -> str:
    """A cell of a table as it is read."""
    frame: pd.DataFrame = at.table[which].value
    found = frame.loc[frame.iloc[:, 0] == plain(rater), plain(column)].item()
    return found.replace("\\", "").replace("\u00a0", " ").replace("\u2060", "")


def guessed(
    store: Store, says: dict[str, Sequence[str]], comment: str = "", *, raters: Sequence[str]
) -> StudyAtHand:
    """A study whose raters guess about their pairs in order: right, wrong or unsure."""
    study = study_in(store, dataset(10), raters=raters, repeat_share=0.0)
    for token in study.tokens.values():
        vote(store, token, always("both_good"))
    record = study.record
    guesses = []
    for rater, words in says.items():
        own = [a for a in record.assignments if a.rater_id == rater and a.level == "A1"]
        for shown, word in zip(own, words, strict=False):
            right: GuessedSide = "left" if shown.left == record.study.design.comparator else "right"
            wrong: GuessedSide = "right" if right == "left" else "left"
            said = {"right": right, "wrong": wrong}.get(word, "unsure")
            guesses.append(Guess(rater, shown.item_id, shown.level, said))  # type: ignore[arg-type]
    if comment:
        guesses[0] = replace(guesses[0], comment=comment)
    restore_guesses(store, study.study_id, guesses)
    return study


def test_without_guesses(store: Store) -> None:
    study_in(store)
    at = visit()
    assert [heading.value for heading in at.header] == ["Blinding"]
    assert [text.value for text in at.markdown][-1] == (
        "Nothing to show: no rater has guessed which answer is human."
    )
    assert not at.table
    assert not at.expander


def test_a_failed_blinding_is_said_and_shown_per_rater(store: Store) -> None:
    says = {"R1": ["right"] * 8 + ["unsure"] * 2, "R2": ["right"] * 6 + ["wrong"] * 2 + ["unsure"] * 2}
    guessed(store, says, raters=("R1", "R2", "R3"))
    at = visit()
    text = " ".join(element.value for element in at.markdown).replace("\\", "")
    assert "14 of 16 guesses" in text
    assert "Blinding failed" in text
    assert "methods#blinding-index" in text
    assert "(here: human)" in text
    frame = at.table[0].value
    assert frame["Rater"].tolist() == ["R1", "R2", "R3", "all raters"]
    assert frame["Guesses"].tolist() == ["10", "10", "0", "20"]
    assert frame["Cannot tell"].tolist() == ["2", "2", "0", "4"]
    assert cell(at, "all raters", "Share right").startswith("0.88 [0.62, 0.98]")
    assert cell(at, "R2", "Bang's index").startswith("0.40 [")
    assert cell(at, "all raters", "Bang's index").startswith("0.60 [")
    assert cell(at, "R3", "James's index") == DASH
    assert "Bang's index, James's index: undefined for R3: no guess was given" in text
    (expander,) = at.expander
    assert expander.label == "Guesses by side of the human answer"
    sides = at.table[1].value
    assert sides["Rater"].tolist() == ["R1", "R1", "R2", "R2", "all raters", "all raters"]
    assert sides["Human answer"].tolist() == ["left", "right"] * 3
    assert sides[plain("Guess: cannot tell")].astype(int).tolist()[-2:] != [0, 0]
    assert sides[plain("Guess: cannot tell")].astype(int).sum() == 8, "each rater's and all together"


def test_no_sign_is_not_called_a_success(store: Store) -> None:
    guessed(store, {"R1": ["right", "wrong"] * 5}, raters=("R1",))
    text = " ".join(element.value for element in visit().markdown)
    assert "No sign that blinding failed, which does not prove that it worked" in text
    assert "did not hold" not in text


def test_what_is_undefined_says_why(store: Store) -> None:
    guessed(store, {"R1": ["unsure"] * 3}, raters=("R1",))
    at = visit()
    assert cell(at, "R1", "Share right") == DASH
    text = " ".join(element.value for element in at.markdown).replace("\\", "")
    assert "Share right: undefined: no guess names a side" in text


def test_comments_and_names_are_shown_as_they_are(store: Store) -> None:
    guessed(store, {"*R*": ["right"] * 3}, HOSTILE, raters=("*R*", "all raters"))
    at = visit()
    texts = [element.value for element in at.markdown]
    (said,) = [text for text in texts if "outside" in text]
    assert said.replace("\\", "").replace("\u2060", "").endswith(f"at A1: {HOSTILE}")
    assert "![" not in said
    assert "<b>" not in said
    assert "Comments on the guesses (1)" in [expander.label for expander in at.expander]
    assert at.table[0].value["Rater"].tolist() == [plain("*R*"), "all raters", "all raters together"]


def test_guesses_left_out_are_counted(store: Store) -> None:
    study = guessed(store, {"R1": ["right"] * 3, "R2": ["wrong"] * 4}, "beside", raters=("R1", "R2"))
    store.table("rater").update((study.study_id, "R1"), {"excluded": "pressed one key"})
    at = visit()
    assert "Guesses left out: rater excluded (3)." in [text.value for text in at.markdown]
    assert at.table[0].value["Rater"].tolist() == ["R2", "all raters"]
    assert len(at.expander) == 1, "nor is the comment of an excluded rater shown"


def test_the_tables_hold_what_the_analysis_says(store: Store) -> None:
    record = guessed(store, {"R1": ["right", "wrong", "unsure"] * 3}, raters=("R1",)).record
    found = blinding(record, n_resamples=100)
    assert found == study_results(record, n_resamples=100).blinding
    shown = answer_of(study_results(record, n_resamples=100)).tables["blinding-sides"]
    assert [row[2:5] for row in shown.rows[:2]] == [*found.per_rater["R1"].table]

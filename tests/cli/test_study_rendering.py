"""Studies whose texts are shown as Markdown, formulas or code: the design, its problems, every export, the bundle, both doors."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.factories import (
    StudyInStore,
    dataset,
    edited,
    ended,
    members_of,
    paper_json,
    study_in,
    without_links,
)
from helpers.texts.rating_studies import HARM, TASK, rating_study, rating_texts

import assay
from core.cli import main
from core.errors import InputError, NotAllowed
from core.schema.rendering import AS_WRITTEN, Shown
from core.schema.study import Dataset, Design, RatingTask
from core.store import Store
from core.store.studies import find_study, get_study
from core.study.bundle import read_bundle, write_bundle
from core.study.design import check_design, check_rating_design
from core.study.export import (
    answers_csv,
    answers_jsonl,
    guesses_csv,
    ratings_csv,
    ratings_jsonl,
)
from core.study.lifecycle import change_design, describe_design, restore_study, say_shown, usual_design

Run = Callable[..., str]
WITHOUT_SPANS = RatingTask("harm", "Harm", "002", "2", "none", (HARM,))


def formatted(text: Callable[[str], str], n_items: int = 8) -> Dataset:
    data = dataset(n_items, ("A0", "A1"))
    return replace(data, outputs=tuple(replace(one, text=text(one.text)) for one in data.outputs))


def bold(text: str) -> str:
    return f"**{text}**"


@pytest.fixture
def markdown(tmp_path: Path) -> Path:
    path = tmp_path / "answers.json"
    path.write_bytes(paper_json(formatted(bold)))
    return path


# --- the design --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("design", "named"),
    [
        ({"rendering": "code", "code_language": "no-such"}, "'no-such'"),
        ({"rendering": "code", "code_language": "x" * 5_000}, f"{'x' * 40!r}"),
        ({"rendering": "markdown", "code_language": "sql"}, "only code has a language"),
        ({"rendering": "html"}, "html"),
    ],
)
def test_designs_that_cannot_be_shown(design: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as pairs:
        check_design(Design("ai", "human", **design), ("ai", "human"), ("A0", "A1"))
    with pytest.raises(InputError) as ratings:
        check_rating_design(Design("", "", blinding_pairs=0, **design), WITHOUT_SPANS)
    for raised in (pairs, ratings):
        (problem,) = map(str, raised.value.problems)
        assert named in problem
        assert len(problem) < 300


@pytest.mark.parametrize("rendering", ["markdown", "latex", "code"])
def test_errors_are_marked_in_texts_as_they_were_written(rendering: Any) -> None:
    design = Design("", "", blinding_pairs=0, rendering=rendering)
    with pytest.raises(InputError) as raised:
        check_rating_design(design, TASK)
    assert [str(one).startswith("rendering: choose plain") for one in raised.value.problems] == [True]
    check_rating_design(design, WITHOUT_SPANS)
    check_rating_design(replace(design, rendering="plain"), TASK)


def test_all_problems_stand_together() -> None:
    with pytest.raises(InputError) as raised:
        check_rating_design(
            Design("", "", blinding_pairs=0, rendering="code", code_language="none-such", repeat_share=0.9),
            TASK,
        )
    assert len(raised.value.problems) == 3


@pytest.mark.parametrize(
    ("text", "shown", "named"),
    [
        (lambda text: text, AS_WRITTEN, ""),
        (bold, Shown("markdown"), "Markdown, because 32 texts of 32 look so"),
        (lambda text: f"{text} $x_1 = 2$", Shown("latex"), "Markdown with LaTeX formulas, because 32 texts"),
        (lambda text: f"def answer():\n    return {text!r}", Shown("code", "python"), "python code, because 32"),
    ],
)  # fmt: skip
def test_a_guess_says_why(text: Callable[[str], str], shown: Shown, named: str) -> None:
    data = formatted(text)
    design = usual_design(data)
    texts = [one.text for one in data.outputs]
    assert design.shown == shown
    assert named in say_shown(design, texts)
    assert bool(named) is bool(say_shown(design, texts))
    declared = replace(design, rendering="markdown" if shown.as_written else "plain", code_language="")
    assert "because" not in say_shown(declared, texts)
    described = describe_design(design, data.levels)
    assert (f"texts shown as {shown.named}" in described) is not shown.as_written


def test_what_is_chosen_freezes_with_the_design(store: Store) -> None:
    at_hand = study_in(store, formatted(bold))
    change_design(store, at_hand.study, replace(at_hand.study.design, rendering="markdown"))
    assert at_hand.desk("R1").shown == Shown("markdown")
    at_hand.desk("R1").save_choice(1, "left", seconds=9.0, diff_used="none")
    with pytest.raises(NotAllowed):
        change_design(store, at_hand.study, replace(at_hand.study.design, rendering="plain"))
    assert at_hand.study.design.shown == Shown("markdown")


# --- exports and bundle ----------------------------------------------------------------------------


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def of_pairs(store: Store) -> StudyInStore:
    at_hand = study_in(
        store, formatted(bold, 2), raters=("R1",), rendering="code", code_language="sql", repeat_share=0.0
    )
    desk = at_hand.desk("R1")
    for number, translated in enumerate((True, False, None, None), 1):
        desk.save_choice(number, "left", seconds=9.0, diff_used="none", translated=translated)
    desk.finish()
    desk.guessing().save(1, "left", seconds=2.0, translated=True)
    return at_hand


def of_ratings(store: Store) -> StudyInStore:
    at_hand = rating_study(
        store, rating_texts(1), WITHOUT_SPANS, raters=("R1",), rendering="code", code_language="sql"
    )
    desk = at_hand.desk("R1")
    for number, translated in enumerate((True, False, None), 1):
        desk.save_scores(number, {"H": 1})
        desk.complete(number, seconds=9.0, translated=translated)
    return at_hand


def test_exports_say_how_texts_were_shown_and_who_translated(store: Store) -> None:
    pairs, ratings = of_pairs(store).record, of_ratings(store).record
    for table, lines in (
        (rows_of(answers_csv(pairs)), answers_jsonl(pairs)),
        (rows_of(ratings_csv(ratings)), ratings_jsonl(ratings)),
    ):
        assert {(row["rendering"], row["code_language"]) for row in table} == {("code", "sql")}
        objects = [json.loads(line) for line in lines.decode().splitlines()]
        assert {(one["rendering"], one["code_language"]) for one in objects} == {("code", "sql")}
        marks = {(row["position"], row["translated"]) for row in table}
        assert marks >= {("1", "true"), ("2", "false"), ("3", "")}
        assert {one["translated"] for one in objects} == {True, False, None}
    assert [row["translated"] for row in rows_of(guesses_csv(pairs))] == ["true"]


@pytest.mark.parametrize("make", [of_pairs, of_ratings])
def test_a_bundle_carries_it_round(store: Store, make: Callable[[Store], StudyInStore]) -> None:
    at_hand = make(store)
    ended(store, at_hand.study_id)
    record = read_bundle(write_bundle(at_hand.record), "b.zip")
    assert without_links(record) == without_links(at_hand.record)
    copy = restore_study(store, record, name="copy")
    assert get_study(store, copy.study_id).design == at_hand.study.design


def test_a_forged_bundle_shows_nothing_unknown(store: Store) -> None:
    written = write_bundle(of_pairs(store).record)
    for old, new in (('"rendering": "code"', '"rendering": "html"'), ('"sql"', '"no-such"')):
        changed = edited(
            written,
            {"study.json": members_of(written)["study.json"].replace(old.encode(), new.encode())},
        )
        with pytest.raises(InputError):
            read_bundle(changed, "b.zip")


# --- commands and functions ------------------------------------------------------------------------


def design_of(run: Run, name: str) -> dict[str, Any]:
    (found,) = [one for one in json.loads(run("study", "list", "--json")) if one["name"] == name]
    design: dict[str, Any] = found["design"]
    return design


def test_an_import_guesses_and_says_so(run: Run, markdown: Path) -> None:
    printed = run("study", "import", str(markdown), "--name", "guessed")
    assert "Raters see the answers as Markdown, because 32 texts of 32 look so." in printed
    assert "texts shown as Markdown" in printed
    printed = run("study", "import", str(markdown), "--name", "plain", "--rendering", "plain", "--again")
    assert "Raters see" not in printed
    assert "texts shown" not in printed
    words = ("--rendering", "code", "--code-language", "sql", "--again")
    printed = run("study", "import", str(markdown), "--name", "code", *words)
    assert "Raters see the answers as sql code." in printed
    found = {name: design_of(run, name) for name in ("guessed", "plain", "code")}
    assert {name: (one["rendering"], one["code_language"]) for name, one in found.items()} == {
        "guessed": ("markdown", ""),
        "plain": ("plain", ""),
        "code": ("code", "sql"),
    }


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--rendering", "code", "--code-language", "no-such"), "'no-such'"),
        (("--code-language", "sql"), "set --rendering to code too"),
        (("--rendering", "markdown", "--code-language", "sql"), "set --rendering to code too"),
    ],
)
@pytest.mark.usefixtures("run")
def test_an_import_that_cannot_be(
    markdown: Path, words: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "import", str(markdown), "--name", "p", *words]) == 2
    said = capsys.readouterr().err
    assert named in said
    assert "Traceback" not in said


def test_texts_in_which_errors_are_marked_stay_as_written(run: Run, tmp_path: Path) -> None:
    rows = ["item,system,text"] + [f"{n},{s},**Text** {n} of {s}" for n in range(3) for s in "ab"]
    (tmp_path / "texts.csv").write_text("\n".join(rows))
    texts = str(tmp_path / "texts.csv")
    run("study", "import-ratings", texts, "--task", "mqm", "--name", "marks")
    assert design_of(run, "marks")["rendering"] == "plain", "although the texts look like Markdown"
    words = ("--task", "mqm", "--name", "no", "--rendering", "markdown", "--again")
    assert main(["study", "import-ratings", texts, *words]) == 2


def test_the_audit_says_what_it_measured(run: Run, markdown: Path) -> None:
    run("study", "import", str(markdown), "--name", "set")
    run("study", "import", str(markdown), "--name", "plain", "--rendering", "plain", "--again")
    found = {name: json.loads(run("study", "audit", name, "--json")) for name in ("set", "plain")}
    assert {name: one["rendering"] for name, one in found.items()} == {"set": "markdown", "plain": "plain"}
    assert ["emphasis" in found[name]["features"] for name in ("set", "plain")] == [True, False]
    assert "as raters see them, shown as Markdown" in run("study", "audit", "set")
    assert "as raters see them, as they were written" in run("study", "audit", "plain")


def test_functions_know_how_texts_were_shown(run: Run, markdown: Path, store: Store) -> None:
    run("study", "import", str(markdown), "--name", "p")
    assert assay.studies()[["name", "rendering"]].values.tolist() == [["p", "markdown"]]
    assert assay.leakage("p").json["rendering"] == "markdown"
    at_hand = of_pairs(store)
    ended(store, at_hand.study_id)
    name = find_study(store, at_hand.study.name).name
    frame = assay.study_annotations(name, db=store.path)
    assert set(frame["rendering"]) == {"code"}
    assert list(frame["translated"].dropna()) == [True, False]

"""How texts are shown: guessed and previewed for a new study, declared in its design, and seen by raters and owner alike."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from helpers.pages import study_visit
from helpers.pages.generate_visit import html_of
from helpers.texts.factories import StudyAtHand, always, dataset, ended, study_in, vote
from helpers.texts.rating_studies import HARM, rating_study, rating_texts
from helpers.texts.set_texts import SET_SO, design_of, written_so
from streamlit.testing.v1 import AppTest

from core.schema.rendering import RENDERINGS, Rendering
from core.schema.study import NO_LEVEL, RatingTask
from core.store import Store
from core.store.answers import load_record
from core.store.studies import find_study
from core.study.bundle import read_bundle, write_bundle
from core.study.guidelines import practice_pairs
from core.study.lifecycle import describe_design, say_shown
from pages.widgets.visitor import cookie_name

pytestmark = pytest.mark.usefixtures("cookies")

SHOWN, LANGUAGE = "Texts are shown", "Language of the code"
SET: tuple[Rendering, ...] = tuple(one for one in RENDERINGS if one != "plain")
PARTS: dict[Rendering, tuple[str, ...]] = {
    "plain": (),
    "markdown": ("<h3 ", "<li>", "<table>", "<pre "),
    "latex": ('class="assay-math"', 'class="assay-formula"'),
    "code": ("<pre ", 'class="assay-keyword"', 'class="assay-comment"'),
}
"""What is in the HTML of texts that are shown so."""


def table(rendering: Rendering) -> bytes:
    """A file of three questions, whose answers are written so."""
    buffer = io.StringIO()
    rows = [
        (f"Question {n}?", system, SET_SO[rendering].format(f"{system} says {n}"))
        for n in range(3)
        for system in ("alpha", "beta")
    ]
    csv.writer(buffer).writerows([("question", "system", "output"), *rows])
    return buffer.getvalue().encode()


def new_study(rendering: Rendering) -> AppTest:
    """The form of a new study with such a file."""
    at = study_visit.visit("new")
    at.file_uploader[0].upload("answers.csv", table(rendering))
    at.run()
    assert not at.exception
    return at


def field(at: AppTest, label: str) -> Any:
    kinds = (at.selectbox, at.text_input)
    return next(widget for kind in kinds for widget in kind if widget.label == label)


def press(at: AppTest, label: str) -> AppTest:
    next(one for one in at.button if one.label == label).click()
    at.run()
    assert not at.exception
    return at


def has_parts(html: Iterable[str], rendering: Rendering) -> bool:
    """Whether texts are shown in this mode and in no other."""
    shown = "".join(html)
    own = PARTS[rendering]
    others = {part for mode in SET for part in PARTS[mode]} - {*own, "<pre "}
    if rendering == "markdown":  # a block of code in it is coloured
        others -= {*PARTS["code"]}
    return all(part in shown for part in own) and not any(part in shown for part in others)


def sets_formulas(at: AppTest) -> bool:
    return any(one.proto.component_name.endswith("formulas") for one in at.get("bidi_component"))


# --- a new study -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_the_file_says_how_texts_are_shown_and_the_preview_shows_it(
    store: Store, rendering: Rendering
) -> None:
    at = new_study(rendering)
    assert has_parts(html_of(at), rendering)
    assert sets_formulas(at) == (rendering == "latex")
    assert field(at, SHOWN).value is None, "a guess is no declaration"
    press(at, "Create the draft")
    study = find_study(store, "answers")
    assert design_of(rendering) == {
        name: getattr(study.design, name) for name in ("rendering", "code_language")
    }
    texts = [output.text for output in load_record(store, study).outputs]
    said = say_shown(study.design, texts)
    assert bool(said) == (rendering != "plain")
    assert said in " ".join(one.value for one in new_study(rendering).markdown)


@pytest.mark.parametrize(
    ("of_file", "declared"), [("markdown", "plain"), ("code", "markdown"), ("plain", "code")]
)
def test_another_way_is_declared_and_previewed_at_once(
    store: Store, of_file: Rendering, declared: Rendering
) -> None:
    at = new_study(of_file)
    field(at, SHOWN).set_value(declared)
    at.run()
    assert ("<pre " in "".join(html_of(at))) == (declared == "code")
    press(at, "Create the draft")
    design = find_study(store, "answers").design
    assert (design.rendering, design.code_language) == (declared, "")


def test_a_language_without_code_is_a_mistake_that_is_named(store: Store) -> None:
    at = new_study("markdown")
    field(at, LANGUAGE).set_value("python")
    at.run()
    assert not at.exception
    assert any("only code has a language" in one.value for one in at.code)
    assert not [one for one in at.button if one.label == "Create the draft"]


# --- the design --------------------------------------------------------------------------------------


def test_a_draft_may_show_texts_in_another_way_and_the_first_vote_freezes_it(store: Store) -> None:
    at_hand = study_in(store, dataset(2), state="draft", repeat_share=0.0)
    at = study_visit.visit(1, "design")
    field(at, SHOWN).set_value("code")
    field(at, LANGUAGE).set_value("python")
    press(at, "Save this design")
    assert at_hand.study.design.shown.rendering == "code"
    assert "texts shown as python code" in describe_design(at_hand.study.design, at_hand.study.levels)
    field(at, SHOWN).set_value("latex")
    field(at, LANGUAGE).set_value(None)
    press(at, "Save this design")
    assert (at_hand.study.design.rendering, at_hand.study.design.code_language) == ("latex", "")
    at_hand = study_in(store, dataset(2), name="voted", **design_of("code"))
    vote(store, at_hand.tokens["R1"], always("left"))
    at = study_visit.visit(at_hand.study_id, "design")
    assert field(at, SHOWN).disabled
    assert field(at, LANGUAGE).disabled
    assert (field(at, SHOWN).value, field(at, LANGUAGE).value) == ("code", "python")


# --- raters ------------------------------------------------------------------------------------------


def set_study(store: Store, rendering: Rendering, levels: tuple[str, ...] = ("A0", "A1")) -> StudyAtHand:
    """An open study whose answers are written and shown so."""
    data = written_so(dataset(1, levels), rendering)
    return study_in(store, data, name=rendering, **design_of(rendering))


def annotate() -> None:
    from pages import annotate as page

    page.render()


def rater(cookies: dict[str, str], token: str, store: Store) -> AppTest:
    cookies.clear()
    cookies[cookie_name(store, "rater")] = token
    at = AppTest.from_function(annotate, default_timeout=30).run()
    assert not at.exception
    return at


def texts_in(at: AppTest) -> list[str]:
    """The HTML of texts, without the style sheet."""
    return [html for html in html_of(at) if "<style>" not in html]


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_raters_practise_and_answer_in_the_mode_of_their_study(
    store: Store, cookies: dict[str, str], rendering: Rendering
) -> None:
    at_hand = set_study(store, rendering)
    desk = at_hand.desk("R1")
    desk.finish_step(1)
    at = rater(cookies, at_hand.tokens["R1"], store)
    assert desk.practice() == practice_pairs("levels", rendering)
    shown = "".join(texts_in(at))
    assert {"markdown": "<table>", "latex": "assay-math", "code": "<pre ", "plain": "assay-row"}[
        rendering
    ] in shown
    for step in (2, 3, 4):
        desk.finish_step(step)
    at = rater(cookies, at_hand.tokens["R1"], store)
    assert has_parts(texts_in(at), rendering)
    assert sets_formulas(at) == (rendering == "latex")


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_rated_texts_are_shown_so_to_raters_and_owner(
    store: Store, cookies: dict[str, str], rendering: Rendering
) -> None:
    outputs = rating_texts(1, ("zq-north",))
    outputs = replace(
        outputs, outputs=tuple(replace(one, text=SET_SO[rendering].format("So")) for one in outputs.outputs)
    )
    task = RatingTask("h", "H", "002", "2", "none", (HARM,))
    at_hand = rating_study(store, outputs, task, raters=("R1",), **design_of(rendering))
    desk = at_hand.desk("R1")
    desk.finish_step(1)
    admin = dict(cookies)
    assert has_parts(texts_in(rater(cookies, at_hand.tokens["R1"], store)), rendering)
    desk.save_scores(1, {"H": 1})
    desk.complete(1, seconds=5.0)
    ended(store, at_hand.study_id)
    cookies.clear()
    cookies.update(admin)
    at = study_visit.visit(at_hand.study_id, "texts")
    assert has_parts(texts_in(at), rendering)
    assert sets_formulas(at) == (rendering == "latex")


@pytest.mark.parametrize("asks", ["levels", "preference"])
def test_every_mode_practises_the_same_lessons(asks: Any) -> None:
    """As many pairs, of the same levels and with the same answers; what goes over the wire is what a rater reads."""
    lessons = {mode: [(one.level, one.expected) for one in practice_pairs(asks, mode)] for mode in RENDERINGS}
    assert len(lessons["plain"]) == 3
    assert all(lesson == lessons["plain"] for lesson in lessons.values())
    for mode in RENDERINGS:
        for pair in practice_pairs(asks, mode):
            changed = [pair.left != pair.left_a0, pair.right != pair.right_a0]
            assert pair.level == NO_LEVEL or changed == [pair.level != "A0"] * 2


@pytest.mark.parametrize("rendering", SET)
def test_a_voted_study_keeps_its_practice_pairs(store: Store, rendering: Rendering) -> None:
    """Copied with the first vote, and whole in a bundle."""
    at_hand = set_study(store, rendering)
    vote(store, at_hand.tokens["R1"], always("left"))
    record = at_hand.record
    (copy,) = [one for one in record.shipped if one.part == "practice"]
    assert [pair["left"] for pair in json.loads(copy.text)] == [
        pair.left for pair in practice_pairs("levels", rendering)
    ]
    assert at_hand.desk("R2").practice() == practice_pairs("levels", rendering)
    restored = read_bundle(write_bundle(record), "study.zip")
    assert restored.shipped == record.shipped
    assert restored.study.design == record.study.design


# --- the owner ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_the_owner_sees_pairs_as_raters_saw_them(store: Store, rendering: Rendering) -> None:
    at_hand = set_study(store, rendering, (NO_LEVEL,))
    vote(store, at_hand.tokens["R1"], always("left"))
    ended(store, at_hand.study_id)
    at = study_visit.visit(at_hand.study_id, "pairs")
    assert has_parts(texts_in(at), rendering)
    assert sets_formulas(at) == (rendering == "latex")

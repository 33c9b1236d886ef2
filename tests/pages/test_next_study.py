"""The loop on the pages: from an open verdict to a study of the texts that tell most, and from its votes to a check."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from helpers.texts import factories
from helpers.texts.rating_studies import RatingStudyAtHand, unblind
from streamlit.testing.v1 import AppTest

from core.schema.scores import PROBABILITY
from core.schema.study import NO_LEVEL
from core.store import Store
from core.store.answers import load_record
from core.store.studies import inclusion_of, list_studies
from core.study.lifecycle import move
from core.study.raters import add_raters
from pages.widgets.visitor import cookie_name

TABLE = ["item_id,question,answer,human,judge"] + [
    f"q{at},What is {at}?,It is {at}.,{'' if at >= 40 else 'pass' if at % 2 and at % 8 != 1 else 'fail'},{'pass' if at % 2 else 'fail'}"
    for at in range(120)
]


@pytest.fixture
def page_of(cookies: dict[str, str], store: Store) -> Callable[..., AppTest]:
    """Open a page, with what the session stores and what the address says."""

    def opened(name: str, address: dict[str, str] | None = None, **state: object) -> AppTest:
        def run(name: str) -> None:
            import importlib

            importlib.import_module(f"pages.{name}").render()

        at = AppTest.from_function(run, kwargs={"name": name}, default_timeout=30)
        for key, value in state.items():
            at.session_state[key] = value
        for key, said in (address or {}).items():
            at.query_params[key] = said
        at.run()
        assert not at.exception
        return at

    return opened


def _check_of(page_of: Callable[..., AppTest], lines: list[str]) -> AppTest:
    return page_of("check", {"use": "gate"}, check_file=(("\n".join(lines) + "\n").encode(), "zq.csv"))


def _button(at: AppTest, label: str) -> list[object]:
    return [one for one in at.button if one.label == label]


def test_one_press_makes_a_draft_of_the_chosen_texts(page_of: Callable[..., AppTest], store: Store) -> None:
    at = _check_of(page_of, TABLE)
    (texts,) = [one for one in at.number_input if one.label == "Texts"]
    assert texts.max == 80
    texts.set_value(12).run()
    (make,) = [one for one in at.button if one.label == "Make a study"]
    make.click().run()
    assert not at.exception
    (study,) = list_studies(store)
    record = load_record(store, study)
    assert (study.state, study.kind, len(record.outputs), study.design.votes_per_pair) == (
        "draft",
        "ratings",
        12,
        2,
    )
    assert len(inclusion_of(store, study.study_id)) == 12
    assert all(int(one.item_id[1:]) >= 40 for one in record.items)
    assert [one for one in at.button if one.key == f"to_study_{study.study_id}_raters"]


def test_without_texts_the_missing_column_is_named(page_of: Callable[..., AppTest], store: Store) -> None:
    lines = [",".join((cells := line.split(","))[:1] + cells[3:]) for line in TABLE]
    at = _check_of(page_of, lines)
    (make,) = [one for one in at.button if one.label == "Make a study"]
    make.click().run()
    assert not at.exception
    assert at.error
    assert any("column text is missing" in one.value for one in at.code)
    assert list_studies(store) == []


def test_a_file_whose_texts_all_have_labels_asks_for_more_texts(page_of: Callable[..., AppTest]) -> None:
    at = _check_of(page_of, TABLE[:41])
    assert not _button(at, "Make a study")
    assert any("No text is left to label" in one.value for one in at.markdown)


def test_a_settled_verdict_offers_nothing(page_of: Callable[..., AppTest]) -> None:
    lines = [
        "item_id,question,answer,human_1,human_2,judge",
        *(f"q{at},a,b" + f",{'pass' if at % 2 else 'fail'}" * 3 for at in range(200)),
    ]
    at = _check_of(page_of, lines)
    assert not any(one.value == "Labels to collect next" for one in at.header)


def test_the_check_of_a_study_of_pairs_leads_to_a_plan(page_of: Callable[..., AppTest], store: Store) -> None:
    data = factories.dataset(40, (NO_LEVEL,))
    at_hand = factories.study_in(store, data, repeat_share=0.0, blinding_pairs=0)
    for rater, token in at_hand.tokens.items():
        factories.vote(store, token, factories.prefers(int(rater == "R2")))
    factories.unblind(at_hand)
    lines = ["item_id,system,judge"]
    lines += [
        f"{one.item_id},{one.source},{1 + (one.source == data.sources[int(one.item_id[1:]) % 2])}"
        for one in data.outputs
    ]
    scores = ("\n".join(lines) + "\n").encode()
    further = [(scores, "scores.csv", "1" * 64)]
    here = {"study": str(at_hand.study_id), "tab": "judges", "judges": "trust", "use": "gate"}
    at = page_of("studies", here, **{f"check_further_study_{at_hand.study_id}": further})
    assert at.button(key="to_study_0_").label == "Plan the size of a study"
    (words,) = [one.value for one in at.code if f" check study:{at_hand.study.name}" in one.value]
    assert "scores.csv" in words


def test_its_votes_come_back_as_further_labels(page_of: Callable[..., AppTest], store: Store) -> None:
    at = _check_of(page_of, TABLE)
    (texts,) = [one for one in at.number_input if one.label == "Texts"]
    texts.set_value(20).run()
    (make,) = [one for one in at.button if one.label == "Make a study"]
    make.click().run()
    (study,) = list_studies(store)
    at_hand = RatingStudyAtHand(store, study.study_id)
    add_raters(store, study, ["A", "B"])
    move(store, study, "open")
    for rater in "AB":
        desk = at_hand.desk(rater)
        for number in range(1, desk.total + 1):
            desk.save_scores(number, {"label": 1.0})
            desk.complete(number, seconds=5)
    assert not [one for one in _check_of(page_of, TABLE).multiselect if one.label == "Further labels"]
    unblind(at_hand)
    at = _check_of(page_of, TABLE)
    (further,) = [one for one in at.multiselect if one.label == "Further labels"]
    assert further.value == [study.study_id]
    assert any("20 labelled texts were drawn" in str(one.value) for one in at.markdown)
    (words,) = [one.value for one in at.code if " check zq.csv" in one.value]
    assert "--labels 'study:zq: next labels'" in words


def test_what_a_rater_of_the_study_sees_holds_neither_probability_nor_score(
    page_of: Callable[..., AppTest], store: Store, cookies: dict[str, str]
) -> None:
    at = _check_of(page_of, TABLE)
    (make,) = [one for one in at.button if one.label == "Make a study"]
    make.click().run()
    (study,) = list_studies(store)
    chances = {repr(one.probability) for one in inclusion_of(store, study.study_id)}
    at_hand = RatingStudyAtHand(store, study.study_id)
    add_raters(store, study, ["A", "B"])
    move(store, study, "open")
    at_hand.desk("A").finish_step(1)
    cookies.clear()
    cookies[cookie_name(store, "rater")] = at_hand.tokens["A"]
    at = AppTest.from_function(_annotate, default_timeout=30).run()
    assert not at.exception
    sent = ""
    for _ in range(4):
        sent += "".join(str(getattr(one, "proto", "")) + str(one) for one in _elements(at.main))
        next(one for one in at.button if str(one.label).endswith("pass")).click()
        at.run()
    assert "It is " in sent
    secrets = (*chances, PROBABILITY, "expected_deviation", "score pass", "score fail", "zq.csv")
    assert not [one for one in secrets if one in sent]


def _annotate() -> None:
    from pages import annotate as page

    page.render()


def _elements(block: Any) -> Iterator[Any]:
    """Every element that the server sent."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _elements(child)
        else:
            yield child

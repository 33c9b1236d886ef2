"""The first screen of a study's result: its colour for every answer, and nothing of raters who withdrew."""

import pytest
from helpers.pages.study_visit import texts_of, visit
from helpers.texts.factories import always, dataset, prefers, study_in, unblind, vote

from core.schema.study import Guess
from core.stats.conclusion import ANSWERS, BETTER, NOT_WORSE, WORSE
from core.store import Store
from core.store.answers import PAIRS, insert_guess
from core.study.lifecycle import withdraw_rater
from pages.studies.verdict import tone_of_answer

pytestmark = pytest.mark.usefixtures("cookies")


def test_the_colour_follows_the_answer() -> None:
    with_margin = {value: tone_of_answer(value, 0.1) for value in ANSWERS}
    assert {value for value, tone in with_margin.items() if tone == "good"} == {BETTER, NOT_WORSE}
    assert {value for value, tone in with_margin.items() if tone == "bad"} == {WORSE}
    without = {value: tone_of_answer(value, None) for value in ANSWERS}
    assert {value for value, tone in without.items() if tone == "good"} == {BETTER, WORSE}
    assert "bad" not in without.values(), "neither system has a role"


@pytest.mark.parametrize("kept", [True, False])
def test_comments_of_a_rater_who_withdrew_are_nowhere(store: Store, kept: bool) -> None:
    study = study_in(store, dataset(3), repeat_share=0.0)
    vote(store, study.tokens["R1"], prefers(0))
    vote(store, study.tokens["R2"], always("both_good"))
    record = study.record
    answer = next(one for one in record.answers if (one.rater_id, one.level) == ("R1", "A1"))
    said = "zq-said-in-confidence"
    PAIRS.save(store, study.study_id, type(answer)(**{**vars(answer), "comment": said}))
    insert_guess(store, study.study_id, Guess("R1", answer.item_id, answer.level, "unsure", said))
    unblind(study)
    places = [("", ""), ("raters", "guesses"), ("raters", "progress"), ("pairs", ""), ("export", "")]
    assert said in texts_of(visit(tab="raters", part="guesses"))
    assert said in texts_of(visit(tab="raters", part="progress"))
    withdraw_rater(store, study.study, "R1", keep_votes=kept)
    for tab, part in places:
        text = texts_of(visit(tab=tab, **({"part": part} if part else {})))
        assert said not in text, (tab, part)
        assert "R1" not in text.replace("withdrawn-1", ""), (tab, part)


def test_a_part_of_a_study_leads_to_no_pairs(store: Store) -> None:
    """The tab with the pairs knows none of the filters, so a press would show other pairs than those counted."""
    study = study_in(store, dataset(6), repeat_share=0.0)
    for number, token in enumerate(study.tokens.values()):
        vote(store, token, prefers(number))
    unblind(study)

    def pressed(**asked: str) -> list[bool]:
        return [bool(one.proto.selection_mode) for one in visit(**asked).get("plotly_chart")]

    assert any(pressed())
    assert not any(pressed(raters="1"))

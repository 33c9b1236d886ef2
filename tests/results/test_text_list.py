"""The list of a rating study's texts: scores as given, spread and gap by hand, who does not count, withdrawal."""

import csv
import io

import numpy as np
import pytest
from helpers.texts import score_factories as scored
from helpers.texts.rating_studies import (
    RatingStudyAtHand,
    rate,
    rate_all,
    rating_study,
    rating_texts,
    unblind,
)

from core.errors import InputError, NotAllowed
from core.report import csv_of
from core.results.study.pair_list import NOT_COUNTED
from core.results.study.text_list import (
    TextFilter,
    TextList,
    judged_texts,
    text_list,
    text_table,
    texts_shown,
)
from core.schema.scores import ErrorSpan, ScoredRow
from core.store import Store
from core.study.lifecycle import exclude_rater, withdraw_rater


def rated(store: Store, *raters: str) -> RatingStudyAtHand:
    """Two texts of a source; R1 gives the first 10 and the second 70, R2 gives 40 and 60, with an error each in the first."""
    study = rating_study(
        store, rating_texts(1, ("alpha", "beta")), raters=raters or ("R1", "R2"), repeat_share=0
    )
    for rater, scores in zip(raters or ("R1", "R2"), ((10.0, 70.0), (40.0, 60.0)), strict=False):
        desk = study.desk(rater)
        for number in (1, 2):
            first = desk.text(number).text.startswith("Text 0.0")
            spans = [ErrorSpan(0, 4, "major", "accuracy/omission")] if first else []
            rate(desk, number, scores[0 if first else 1], spans=spans)
            desk.save_note(number, comment=f"said by {rater}")
    unblind(study)
    return study


def shown(found: TextList, **asked: object) -> list[str]:
    return [found.texts[at].source for at in texts_shown(found, TextFilter(**asked))]  # type: ignore[arg-type]


def test_scores_mean_and_spread_by_hand(store: Store) -> None:
    found = text_list(rated(store).record)
    assert found.dimensions == ("overall", "H", "mqm")
    assert found.of("overall").tolist() == [[10.0, 40.0], [70.0, 60.0]]
    assert (found.mean("").tolist(), found.spread("").tolist()) == ([25.0, 65.0], [30.0, 10.0])
    assert found.mean("mqm").tolist() == [-5.0, 0.0]
    assert shown(found) == ["alpha", "beta"]
    assert shown(found, disagree=True) == ["alpha", "beta"], "largest spread first"
    assert shown(found, disagree=True, dimension="H") == []
    assert shown(found, systems=("beta",)) == ["beta"]
    assert shown(found, unrated=True) == []
    with pytest.raises(InputError):
        shown(found, systems=("gamma",))
    one, two = found.ratings_of(0)
    assert one.scores == {"overall": 10.0, "H": 1.0, "mqm": -5.0}
    assert one.spans == (ErrorSpan(0, 4, "major", "accuracy/omission"),)
    assert (two.comments, two.left_out) == (("said by R2",), "")


def test_the_table_has_every_dimension_or_one(store: Store) -> None:
    found = text_list(rated(store).record)
    names = [column.name for column in text_table(found).columns]
    assert {"rating_R1_overall", "mean_H", "spread_mqm"} <= set(names)
    (row, _) = csv.DictReader(io.StringIO(csv_of(text_table(found, dimension="overall")).decode()))
    assert (row["rating_R1"], row["mean"], row["spread"], row["comments"]) == ("10.0", "25.0", "30.0", "2")


def test_a_judge_far_from_people_comes_first(store: Store) -> None:
    """The judge ranks the worse text first: each is one rank of two away. Lower scores of the other judge are better."""
    found = text_list(rated(store).record)
    texts = [ScoredRow("zq-item-0", system, None) for system in ("alpha", "beta")]
    table = scored.table(
        [(texts[0], [5.0, 9.0]), (texts[1], [1.0, 2.0])], ("up", scored.metric("down", direction="lower"))
    )
    judged = judged_texts(found, [table])
    assert judged.gaps("up", "overall").tolist() == [0.5, -0.5]
    assert judged.gaps("down", "overall").tolist() == [0.0, 0.0]
    assert shown(judged, judge="up") == ["alpha", "beta"]
    (row, _) = text_table(judged, dimension="overall", judges=["up"]).rows
    assert row[-5:-3] == (5.0, 0.5)
    partial = judged_texts(found, [scored.table([(texts[1], 1.0)], ("m",))])
    assert shown(partial, judge="m") == ["beta"], "no score of the other"
    with pytest.raises(InputError):
        shown(found, judge="m")


def test_flagged_texts_and_raters_who_do_not_count(store: Store) -> None:
    study = rated(store, "R1", "R2")
    exclude_rater(store, study.study, "R1", "asleep")
    found = text_list(study.record)
    assert (found.raters, found.n_counting) == (("R2", "R1"), 1)
    assert found.mean("").tolist() == [40.0, 60.0]
    assert shown(found, disagree=True) == []
    assert np.isnan(found.spread("")).all()
    headings = [column.heading for column in text_table(found, dimension="overall").columns]
    assert f"R1 ({NOT_COUNTED})" in headings
    assert found.ratings_of(0)[0].left_out


@pytest.mark.parametrize("keep_votes", [True, False])
def test_a_withdrawn_rater_leaves_no_name_and_no_comment(store: Store, keep_votes: bool) -> None:
    study = rated(store, "secret-name", "R2")
    withdraw_rater(store, study.study, "secret-name", keep_votes=keep_votes)
    found = text_list(study.record)
    data = csv_of(text_table(found))
    assert b"secret-name" not in data
    assert found.comments.tolist() == [1, 1]
    assert "secret-name" not in str([found.ratings_of(at) for at in (0, 1)])


def test_a_reported_text_is_flagged_and_its_ratings_do_not_count(store: Store) -> None:
    study = rating_study(store, rating_texts(6), repeat_share=0.2)
    rate_all(study.desk("R1"))
    desk = study.desk("R2")
    rate_all(desk)
    desk.save_note(1, invalid=True)
    unblind(study)
    found = text_list(study.record)
    (at,) = texts_shown(found, TextFilter(flagged=True))
    assert np.isnan(found.of("")[at]).sum() == 1
    assert [one.flagged for one in found.ratings_of(int(at))] == [False, True]
    repeats = [one for place in range(len(found.texts)) for one in found.ratings_of(place) if one.again]
    assert repeats
    assert all(one.again["overall"] == one.scores["overall"] for one in repeats)


def test_nothing_before_unblinding(store: Store) -> None:
    with pytest.raises(NotAllowed):
        text_list(rating_study(store).record)

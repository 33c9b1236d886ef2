"""What a rating study says once it is unblinded, by hand: ratings, totals, repeats, exports."""

import csv
import io
import json
from dataclasses import replace

import pytest
from helpers.texts.rating_studies import (
    SYSTEMS,
    TASK,
    RatingStudyAtHand,
    rate,
    rate_all,
    rating_study,
    rating_texts,
    unblind,
)

from core.analyses.study_results import ANALYSIS
from core.errors import NotAllowed
from core.formats.registry import read_rated
from core.formats.spans.mqm import read_mqm
from core.plots.drawn import draw
from core.results.study.counted import Filters, StudyPart
from core.schema.analysis import Answer
from core.schema.scale import Scale
from core.schema.scores import ErrorSpan
from core.schema.study import StudyRecord
from core.store import Store
from core.study.analysis_set import released_record
from core.study.blinding import open_rating_desk
from core.study.export import mqm_tsv, rated_jsonl, ratings_csv, ratings_jsonl, spans_csv
from core.study.lifecycle import exclude_rater, move
from core.study.raters import preview_link
from core.study.ratings import consistency, counted, rated_means, rated_texts_of, rating_set_of


def answered(record: StudyRecord) -> Answer:
    return ANALYSIS.answer(ANALYSIS.Options(n_resamples=50), StudyPart(record, Filters()))


@pytest.fixture
def ended(store: Store) -> RatingStudyAtHand:
    """Two raters of two items by three systems; one text broken, one never done; another rater and a preview."""
    at_hand = rating_study(store, rating_texts(2), raters=("R1", "R2", "slept"), repeat_share=0.0)
    preview = open_rating_desk(store, preview_link(store, at_hand.study).token)
    assert preview is not None
    rate_all(preview)
    rate_all(at_hand.desk("slept"))
    exclude_rater(store, at_hand.study, "slept", "slept")
    rate_all(at_hand.desk("R1"))
    desk = at_hand.desk("R2")
    where = {desk.text(n).text[5:8]: n for n in range(1, 7)}
    spans = [ErrorSpan(0, 4, "minor", "fluency/grammar"), ErrorSpan(2, 8, "major", "accuracy/omission")]
    rate(desk, where["0.0"], 40.0, spans=spans)
    rate(desk, where["0.1"], 31.0)
    desk.save_note(where["0.2"], invalid=True, comment="=cut off")
    desk.complete(where["0.2"], seconds=3.0)
    desk.save_scores(where["1.0"], {"overall": 99.0})
    return at_hand


def record_of(at_hand: RatingStudyAtHand) -> StudyRecord:
    unblind(at_hand)
    return released_record(at_hand.store, at_hand.study)


def test_nothing_is_said_before_the_study_is_unblinded(ended: RatingStudyAtHand) -> None:
    move(ended.store, ended.study, "closed")
    with pytest.raises(NotAllowed, match="stay hidden"):
        released_record(ended.store, ended.study)


def test_what_counts_and_what_is_left_out(ended: RatingStudyAtHand) -> None:
    found = counted(record_of(ended))
    assert len(found.answers) == 6 + 2
    assert found.left_out == {
        "ratings of a preview": 6,
        "ratings of raters who are left out": 6,
        "texts that a rater reported as broken": 1,
        "texts that were begun and never done": 1,
    }


def test_ratings_by_rater_text_and_dimension(ended: RatingStudyAtHand) -> None:
    record = record_of(ended)
    ratings = rating_set_of(record)
    assert len(ratings.ratings) == 8 * 3
    said = {
        (r.item_id, r.system, r.rater, r.dimension): r for r in ratings.ratings if r.item_id == "zq-item-0"
    }
    assert said["zq-item-0", "zq-north", "R2", "overall"].score == 40.0
    marked = said["zq-item-0", "zq-north", "R2", "mqm"]
    assert marked.score == -6.0, "minor 1, major 5"
    assert [span.weight for span in marked.spans or ()] == [1.0, 5.0]
    none = said["zq-item-0", "zq-south", "R2", "mqm"]
    assert (none.score, none.spans) == (0.0, ())
    assert ratings.scales["mqm"] == Scale("scores", origin="file", penalties=True)
    assert said["zq-item-0", "zq-south", "R2", "H"].spans is None
    texts = rated_texts_of(record)
    assert [(t.output.item_id[-1], t.output.system, len(t.ratings)) for t in texts] == [
        *(("0", "zq-north", 6), ("0", "zq-south", 6), ("0", "zq-west", 3)),
        *(("1", "zq-north", 3), ("1", "zq-south", 3), ("1", "zq-west", 3)),
    ]
    assert texts[0].output.source == "Source 0."


def test_totals_by_hand(ended: RatingStudyAtHand) -> None:
    """zq-north, overall: item 0 has 0 and 40, mean 20; item 1 has 0 alone; mean over texts 10. mqm: (-5 - 6) / 2 and -5."""
    totals = {(t.system, t.dimension): t for t in rated_means(record_of(ended), n_resamples=50)}
    assert {system for system, _ in totals} == set(SYSTEMS)
    north = totals["zq-north", "overall"]
    assert (north.mean.estimate, north.n_texts, north.n_ratings, north.n_unrated) == (10.0, 2, 3, 0)
    assert north.errors_per_rating is None
    errors = totals["zq-north", "mqm"]
    assert errors.mean.estimate == -5.25
    assert errors.errors_per_rating == pytest.approx(4 / 3), "1, 2 and 1 errors"
    assert totals["zq-south", "overall"].mean.estimate == (20.5 + 10) / 2
    assert totals["zq-west", "overall"].mean.estimate == 20.0


def test_means_over_levels_and_over_systems_by_hand(store: Store) -> None:
    """rate_all gives 0, 10 and 20 by system, at both levels; R1 alone rates item 0 at level A1 of zq-west, with 50."""
    at_hand = rating_study(store, rating_texts(2, levels=("A0", "A1")), raters=("R1",), repeat_share=0.0)
    desk = at_hand.desk("R1")
    numbers = [n for n in range(1, 13) if desk.text(n).text.startswith("Text 0.2.1 ")]
    rate(desk, numbers[0], 50.0)
    rate_all(desk)
    record = record_of(at_hand)
    by_system = {
        t.system: t for t in rated_means(record, ["system"], n_resamples=50) if t.dimension == "overall"
    }
    assert [one.level for one in by_system.values()] == ["", "", ""]
    assert by_system["zq-west"].mean.estimate == (50 + 20 + 20 + 20) / 4
    assert (by_system["zq-west"].n_texts, by_system["zq-west"].mean.n_clusters) == (4, 2)
    by_level = {
        t.level: t for t in rated_means(record, ["level"], n_resamples=50) if t.dimension == "overall"
    }
    assert by_level["A0"].mean.estimate == 10
    assert by_level["A1"].mean.estimate == (0 + 10 + 50 + 0 + 10 + 20) / 6
    answer = answered(record)
    as_json, named = answer.json, answer.tables
    (a0, a1) = named["means-by-level"].rows
    assert (a0[0], a1[0], a1[1].value, a1[1].n) == ("A0", "A1", 15.0, 6)
    assert [one["mean"]["estimate"] for one in as_json["means_by_level"]][:1] == [10.0]
    assert [column.heading for column in named["means-by-system"].columns] == [
        "System",
        "overall",
        "H",
        "mqm",
    ]
    figure = draw(answer.figures["totals"], named)
    panels = {tuple(trace.x): tuple(trace.text) for trace in figure.data}
    assert len(figure.data) == 3, "a panel for each dimension"
    assert panels[0, 0, 10, 10, 20, 35][-1] == "zq-west, A1"


def test_without_levels_there_is_no_table_of_levels(ended: RatingStudyAtHand) -> None:
    answer = answered(record_of(ended))
    as_json = answer.json
    assert "means-by-level" not in answer.tables
    assert as_json["means_by_level"] == []
    assert as_json["means_by_system"] == as_json["totals"]


def test_totals_of_what_nobody_rated(store: Store) -> None:
    at_hand = rating_study(store)
    total = rated_means(record_of(at_hand))[0]
    assert (total.mean.estimate, total.n_texts, total.n_unrated) == (None, 0, 4)
    assert total.mean.reason


def test_raters_against_themselves(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(5), raters=("R1",), repeat_share=0.2)
    desk = at_hand.desk("R1")
    while (number := desk.next_open()) is not None:
        again = number > 15
        rate(
            desk,
            number,
            {16: 50.0, 17: 53.0, 18: 44.0}.get(number, 50.0),
            spans=[ErrorSpan(0, 4, "minor", "fluency/grammar")] if again else [],
        )
    overall, harm, errors = consistency(record_of(at_hand))
    assert (overall.dimension, overall.n, overall.n_same, overall.mean_difference) == ("overall", 3, 1, 3.0)
    assert (harm.n_same, harm.mean_difference) == (3, 0.0)
    assert (errors.dimension, errors.n_same, errors.mean_difference) == ("mqm", 0, 1.0)


# --- exports -------------------------------------------------------------------------------------


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def test_tables_hold_every_answer_and_every_error(ended: RatingStudyAtHand) -> None:
    record = record_of(ended)
    rows = table(ratings_csv(record))
    assert len(rows) == 6 + 6 + 6 + 3, "done, by whomever"
    (broken,) = [row for row in rows if row["invalid"] == "true"]
    assert broken["comment"] == "'=cut off", "no spreadsheet runs it"
    assert {row["excluded"] for row in rows if row["rater"] == "slept"} == {"slept"}
    (row,) = [r for r in rows if (r["rater"], r["item_id"], r["system"]) == ("R2", "zq-item-0", "zq-north")]
    assert (row["score_overall"], row["score_H"], row["seconds"], row["times_saved"]) == (
        "40.0",
        "1.0",
        "20.0",
        "3",
    )
    assert len(json.loads(row["spans"])) == 2
    spans = table(spans_csv(record))
    assert len(spans) == 2 * 3 + 2
    assert all(len(one["quote"]) == int(one["end"]) - int(one["start"]) for one in spans)
    lines = [json.loads(line) for line in ratings_jsonl(record).splitlines()]
    assert len(lines) == len(rows) + 1, "the draft too"
    (draft,) = [line for line in lines if not line["done"]]
    assert draft["scores"] == {"overall": 99.0}


def test_rated_texts_come_back_as_they_went(ended: RatingStudyAtHand) -> None:
    record = record_of(ended)
    assert read_rated(rated_jsonl(record), "r.jsonl").texts == rated_texts_of(record)


def test_marked_errors_as_mqm(ended: RatingStudyAtHand) -> None:
    record = record_of(ended)
    found = read_mqm(mqm_tsv(record), "r.tsv").ratings
    kept = {(r.item_id, r.system, r.rater): (r.score, r.spans) for r in found}
    wanted = {
        (r.item_id, r.system, r.rater): (r.score, r.spans)
        for r in rating_set_of(record).ratings
        if r.dimension == "mqm"
    }
    assert kept == wanted


def test_a_task_without_errors_has_no_rating_of_them(store: Store) -> None:
    at_hand = rating_study(store, task=replace(TASK, spans=None), raters=("R1",))
    desk = at_hand.desk("R1")
    desk.save_scores(1, {"overall": 3, "H": 0})
    desk.complete(1, seconds=1)
    record = record_of(at_hand)
    with pytest.raises(NotAllowed, match="cannot be exported as MQM"):
        mqm_tsv(record)
    found = rating_set_of(record)
    assert [(r.dimension, r.score, r.spans) for r in found.ratings] == [
        ("overall", 3.0, None),
        ("H", 0.0, None),
    ]

"""The analysis `votes`: counts by hand, verdicts, and what is refused."""

from dataclasses import replace

import pytest
from helpers.texts import factories
from helpers.texts.factories import LEVELS, dataset
from helpers.texts.rating_studies import TASK, rate_all, rating_study, rating_texts, unblind
from helpers.texts.score_factories import metric, table

from core.analyses.followed import ANALYSIS as FOLLOWED
from core.analyses.votes import ANALYSIS, VotesOptions
from core.errors import InputError, NotAllowed
from core.results.correlations.following import follow_levels
from core.results.correlations.table import correlate_scores
from core.results.correlations.votes import metrics_against_votes, vote_table
from core.schema.analysis import Answer, UseOfRatings
from core.schema.correlating import CorrelateOptions
from core.schema.scores import ScoredRow
from core.schema.study import NO_LEVEL, StudyRecord
from core.sources.studies import texts_of
from core.store import Store
from core.store.answers import load_record
from core.study.analysis_set import released_record
from core.study.masking import masks_of
from core.study.ratings import rating_set_of

N = 12
WON, LOST, TIED = "candidate", "comparator", "both_good"
FAST = VotesOptions(n_resamples=200)


def record_of(*votes: str, state: str = "unblinded") -> StudyRecord:
    """A study of pairs without levels; one rater's votes are those of all three."""
    items = factories.item_ids(N)
    own = dict(zip([(item, NO_LEVEL) for item in items], votes, strict=True))
    record = factories.record_of(dict.fromkeys(("R1", "R2", "R3"), own), dataset(N, (NO_LEVEL,)))
    return replace(record, study=replace(record.study, state=state))


def scores_of(*leads: float, name: str = "m", file_name: str = "m.csv"):
    rows = []
    for item, lead in zip(factories.item_ids(N), leads, strict=True):
        rows += [(ScoredRow(item, "ai"), 10.0 + lead), (ScoredRow(item, "human"), 10.0)]
    return table(rows, metrics=[metric(name)], file_name=file_name)


VOTES = (WON, LOST, TIED) * 4
RIGHT = (2.0, -2.0, 0.5) * 4
HALF = (2.0, -2.0, 0.5, -1.0, 3.0, 0.5) * 2


def answer_of(*tables, record: StudyRecord | None = None, options: VotesOptions = FAST) -> Answer:
    return ANALYSIS.answer(options, record or record_of(*VOTES), list(tables))


def test_counts_by_hand_and_a_verdict_by_corrected_p():
    """Of eight pairs with a winner, the first metric orders all as raters did and the second every other one."""
    found = answer_of(scores_of(*RIGHT), scores_of(*HALF, name="h", file_name="h.csv"))
    right, half = found.result.metrics
    assert (right.agreement.value, right.pairs, right.n_left_out, dict(right.left_out)) == (
        1.0,
        8,
        4,
        {"no winner": 4},
    )
    assert (half.agreement.value, half.pairs) == (0.5, 8)
    assert right.people.value == 1.0
    # Wilson's interval of 8 right out of 8: n / (n + t^2), with t of 7 degrees of freedom.
    assert right.agreement.low == pytest.approx(8 / (8 + 2.3646243**2), abs=1e-6)
    # Signs of eight questions: 2 of 256 give as much; two metrics are tested, and the other's p is 1.
    assert (right.p, half.p, right.p_bh) == pytest.approx((2 / 256, 1.0, 4 / 256))
    assert [one.code for one in found.verdicts] == ["agree"]
    most = answer_of(scores_of(*RIGHT[:-2], 1.0, 0.5), scores_of(*HALF, name="h", file_name="h.csv"))
    assert most.result.metrics[0].agreement.value == 7 / 8
    assert most.result.metrics[0].p_bh == pytest.approx(2 * 18 / 256)
    assert [one.code for one in most.verdicts] == ["not-shown"]
    assert most.json["verdict"] == "not-shown"
    assert list(most.json["metrics"]) == ["m", "h"]
    assert most.json["metrics"]["m"]["agreement"]["estimate"] == 7 / 8


def test_the_rows_are_those_of_the_table_of_votes():
    """Every column of the table of votes is one of the analysis, with the same cells."""
    record, tables = record_of(*VOTES), [scores_of(*HALF)]
    shown = vote_table(metrics_against_votes(record, tables[0], n_resamples=200))
    (found,) = answer_of(*tables, record=record).result.metrics
    own = {column.name: cell for column, cell in zip(shown.columns, shown.rows[0], strict=True)}
    assert {name: getattr(found, name) for name in own} == own


def test_a_single_metric_has_no_corrected_p_to_read_and_plain_pairs_no_levels():
    found = answer_of(scores_of(*HALF))
    columns = {column.name: column.shown for column in found.tables["votes"].columns}
    assert columns["p_bh"] is False
    assert list(found.tables) == ["votes"]
    assert [one.table for one in ANALYSIS.figures(found.result)] == ["votes"]


def test_masked_scores_stand_beside_others():
    record = record_of(*VOTES)
    masks = masks_of(record.outputs)
    plain = scores_of(*RIGHT)
    masked = replace(
        scores_of(*HALF, name="judge", file_name="judge.csv"),
        rows=tuple(replace(row, system=masks[row.item_id, NO_LEVEL, row.system]) for row in plain.rows),
    )
    found = answer_of(plain, masked, record=record)
    assert [(one.metric, one.agreement.value) for one in found.result.metrics] == [("m", 1.0), ("judge", 0.5)]


@pytest.mark.parametrize(
    ("votes", "leads", "options"),
    [
        ((TIED,) * N, RIGHT, FAST),
        (VOTES, (0.0,) * N, FAST),
        ((WON,) * N, (1.0, 2.0) * 6, FAST),
    ],
    ids=["no winner", "no preference", "one winner"],
)
def test_no_verdict_comes_from_nothing(votes, leads, options):
    found = answer_of(scores_of(*leads), record=record_of(*votes), options=options)
    (verdict,) = found.verdicts
    assert (verdict.code, found.json["verdict"]) == ("undefined", "undefined")
    assert verdict.reason
    assert verdict.reason in verdict.sentence


def test_hidden_votes_ratings_and_other_texts_are_refused(store: Store):
    with pytest.raises(NotAllowed):
        answer_of(scores_of(*RIGHT), record=record_of(*VOTES, state="closed"))
    with pytest.raises(InputError):
        answer_of(table([(ScoredRow("q99", "ai"), 1.0)]))
    with pytest.raises(InputError, match="Dimension"):
        answer_of(scores_of(*RIGHT), options=FAST.but(dimension="overall"))
    study = rating_study(store, task=TASK)
    closed = load_record(store, study.study)
    with pytest.raises(NotAllowed):
        answer_of(scores_of(*RIGHT), record=closed)
    unblind(study)
    with pytest.raises(InputError, match="no ratings"):
        answer_of(scores_of(*RIGHT), record=released_record(store, study.study))


def test_metrics_of_a_study_of_ratings_follow_its_ratings(store: Store):
    """The numbers are those of the correlations with the ratings and with the level; texts alone say nothing of ratings."""
    study = rating_study(store, rating_texts(6, levels=LEVELS), task=TASK, repeat_share=0)
    for rater in study.tokens:
        rate_all(study.desk(rater))
    unblind(study)
    record = released_record(store, study.study)
    rows = [
        (ScoredRow(one.item_id, one.source, one.level), float(at % 7))
        for at, one in enumerate(record.outputs)
    ]
    scores = table(rows, metrics=[metric("m")])
    found = answer_of(scores, record=record, options=FAST.but(dimension="overall"))
    (one,) = found.result.metrics
    report = correlate_scores(
        scores,
        rating_set_of(record),
        options=CorrelateOptions(n_resamples=0),
        use=UseOfRatings(dimension=("overall",)),
    )
    assert one.people.value == report.rows[0].pooled["spearman"].over_items.estimate
    assert one.follows.value == follow_levels(record.outputs, scores)[0].estimate
    assert list(found.tables) == ["followed"]
    alone = FOLLOWED.answer(FAST, texts_of(store, study.study), [scores]).result
    assert (alone.metrics[0].people.value, alone.meta, alone.by) == (None, None, "follows")
    assert alone.metrics[0].follows.value == one.follows.value

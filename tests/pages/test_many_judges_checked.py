"""Of many judges of a study the page shows one verdict, and it is that of the command about all of them."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.pages.study_visit import visit
from helpers.pages.verdicts_shown import verdicts
from helpers.texts.factories import dataset, ended, record_of
from helpers.texts.score_factories import metric
from streamlit.testing.v1 import AppTest

from core.formats.scores import write_scores_csv
from core.results.check.verdict import check_panel
from core.results.correlations.votes import votes_panel
from core.schema.scores import ScoredRow, ScoreTable
from core.schema.study import StudyRecord
from core.schema.uses import CheckOptions
from core.store import Store
from core.store.answers import insert_record
from core.store.kept import keep_file

pytestmark = pytest.mark.usefixtures("cookies")
N_JUDGES = 16


def planted(n: int, seed: int) -> tuple[StudyRecord, ScoreTable]:
    """Votes of two raters who are right in 80 %, a judge that is right in 90 %, and 15 judges that guess."""
    rng = np.random.default_rng(seed)
    data = dataset(n, ("A1",))
    sides = ("candidate", "comparator")

    def mostly(right: int, share: float) -> int:
        return right if rng.random() < share else 1 - right

    truth = {item.item_id: int(rng.integers(2)) for item in data.items}
    votes = {
        rater: {(item, "A1"): sides[mostly(right, 0.8)] for item, right in truth.items()}
        for rater in ("R1", "R2")
    }
    record = record_of(votes, data, main_levels=("A1",))
    record = replace(
        record,
        study=replace(
            record.study, state="unblinded", name="may", first_vote_utc="2026-01-02T00:00:00+00:00"
        ),
    )
    rows, values = [], []
    for item, right in truth.items():
        judged = mostly(right, 0.9)
        for side, source in enumerate(data.sources[:2]):
            rows.append(ScoredRow(item, source, "A1"))
            values.append([float(side == judged), *rng.normal(size=N_JUDGES - 1)])
    names = ("good", *(f"guess{at:02}" for at in range(1, N_JUDGES)))
    return record, ScoreTable(tuple(rows), tuple(map(metric, names)), np.array(values))


def kept(store: Store, record: StudyRecord, table: ScoreTable) -> str:
    study = insert_record(store, record)
    ended(store, study.study_id)
    return f"file-{keep_file(store, 'scores', 's.csv', write_scores_csv(table, 'long')).file_id}"


def opened(**asked: str) -> AppTest:
    return visit(1, "judges", judges="trust", use="gate", **asked)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_verdict_on_one_of_many_judges_is_that_among_all_of_them(store: Store, seed: int) -> None:
    record, table = planted(150, seed)
    of_all = {
        one.name: one.verdict
        for one in check_panel(votes_panel(record, table), CheckOptions(use="gate")).judges
    }
    alone = check_panel(votes_panel(record, table, judges=["good"]), CheckOptions(use="gate"))
    if seed == 0:
        assert alone.judges[0].verdict != of_all["good"], "else this study would tell nothing"
    file = kept(store, record, table)
    for number, name in ((None, "good"), ("1", "good"), ("4", "guess03")):
        at = opened(judge=file, **({} if number is None else {"checked": number}))
        assert not at.exception
        assert verdicts(at) == [of_all[name]]
        command = at.code[-1].value
        assert "check study:may" in command
        assert "--judge" not in command
    assert verdicts(opened(judge=file, checked="all")) == list(of_all.values())


def test_votes_on_pairs_offer_no_ranking_of_systems(store: Store) -> None:
    file = kept(store, *planted(20, 0))
    at = opened(judge=file)
    uses = next(one for one in at.get("button_group") if one.label == "Use of the judge")
    assert "Rank systems" not in [option.content for option in uses.proto.options]

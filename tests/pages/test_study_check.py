"""Can a judge be trusted on a study's votes and ratings: the study's tab Judges, and its choices in the address."""

import pytest
from helpers.pages.generate_visit import said
from helpers.pages.study_visit import visit
from helpers.pages.verdicts_shown import verdicts
from helpers.texts.factories import always, dataset, ended, study_in, vote
from helpers.texts.rating_studies import SYSTEMS, rate_all, rating_study, rating_texts, unblind
from streamlit.testing.v1 import AppTest

from core.store import Store
from core.store.kept import keep_file

pytestmark = pytest.mark.usefixtures("cookies")


def opened(**asked: str) -> AppTest:
    return visit(1, "judges", judges="trust", **asked)


def in_address(at: AppTest, name: str) -> list[str]:
    value = at.query_params[name]
    return [value] if isinstance(value, str) else list(value)


def kept(store: Store, head: str, rows: list[tuple[object, ...]]) -> str:
    """Scores in a file that Assay stores, as an address names them."""
    data = "\n".join([head, *(",".join(map(str, row)) for row in rows)]).encode()
    return f"file-{keep_file(store, 'scores', 'judge.csv', data, {}).file_id}"


def rated(store: Store, raters: tuple[str, ...] = ("R1", "R2")) -> None:
    study = rating_study(store, rating_texts(12), raters=raters, name="may")
    for rater in raters:
        rate_all(study.desk(rater))
    unblind(study)


def of_ratings(store: Store, names: str) -> str:
    """Judges with these names, with commas."""
    rows = [
        (f"zq-item-{item}", system, *[item % 3 + at for at in range(names.count(",") + 1)])
        for item in range(12)
        for system in SYSTEMS
    ]
    return kept(store, f"item,system,{names}", rows)


def test_without_a_judge_raters_of_ratings_are_compared(store: Store) -> None:
    rated(store, ("R1", "R2", "R3"))
    at = opened()
    assert at.header[0].value == "People among themselves"
    assert "study:may" in at.code[-1].value
    at.multiselect(key="check_raters_1").set_value(["R1"])
    at.run()
    assert not at.exception
    assert len(at.error) == 1, "one rater alone"
    assert in_address(at, "human") == ["1"], "the place of a rater, not the name"


def test_a_study_that_is_not_unblinded_shows_nothing_of_its_labels(store: Store) -> None:
    study = rating_study(store, name="OPENMARKER")
    rate_all(study.desk("R1"))
    at = opened()
    assert not verdicts(at)
    assert not at.multiselect
    unblind(study)
    assert opened().multiselect


def test_a_judge_is_checked_on_ratings(store: Store) -> None:
    rated(store)
    assert not verdicts(opened())
    file = of_ratings(store, "my-judge")
    at = opened(judge=file, use="gate")
    assert verdicts(at) == ["INCONCLUSIVE"]
    assert "check study:may judge.csv --dimension overall --use gate" in at.code[-1].value
    assert in_address(at, "judge") == [file]


def test_a_judge_is_checked_on_votes(store: Store) -> None:
    done = study_in(store, dataset(6), raters=("ann", "ben"), repeat_share=0, name="june")
    for token in done.tokens.values():
        vote(store, token, always("left"))
    ended(store, done.study_id)
    rows = [(one.item_id, one.level, one.source, len(one.text) % 7) for one in dataset(6).outputs]
    file = kept(store, "item,level,system,my-judge", rows)
    assert not verdicts(opened())
    at = opened(judge=file)
    assert len(verdicts(at)) == 1
    assert not at.error


def test_of_many_judges_one_comes_first(store: Store) -> None:
    """A run of all metrics has 16: the verdict on one is on the first screen, and all are one choice away."""
    rated(store)
    file = of_ratings(store, "a,b,c,d")
    at = opened(judge=file, use="gate")
    assert len(verdicts(at)) == 1
    assert "--judge" not in at.code[-1].value
    at = opened(judge=file, use="gate", checked="3")
    assert "--judge" not in at.code[-1].value
    at = opened(judge=file, use="gate", checked="all")
    assert len(verdicts(at)) == 4
    assert "--judge" not in at.code[-1].value
    few = of_ratings(store, "a,b")
    assert len(verdicts(opened(judge=few, use="gate"))) == 2


def test_no_name_of_the_study_stands_in_the_address(store: Store) -> None:
    rated(store, ("R1", "R2", "R3"))
    at = opened(judge=of_ratings(store, "zqjudge,zqother"), use="certify")
    at.selectbox(key="check_passes_from").select_index(0).run()
    assert in_address(at, "passes_from") == ["1"]
    at.selectbox(key="check_dimension_1").select_index(1).run()
    at.multiselect(key="check_raters_1").set_value(["R1", "R2"]).run()
    for key in ("check_gaps_judge", "check_trust_judge"):
        if any(one.key == key for one in at.selectbox):
            at.selectbox(key=key).select_index(1).run()
    assert not at.exception
    assert said(at)
    written = " ".join(one for name in at.query_params for one in in_address(at, name))
    assert set(at.query_params) > {"study", "tab", "judges", "human"}
    assert not [one for one in ("zq", "R1", "may", "harm", "overall") if one in written], written

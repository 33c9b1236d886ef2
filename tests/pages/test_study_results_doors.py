"""The results of a study have the same tables on its page, in the command and in a notebook, digit by digit."""

from pathlib import Path
from typing import Any

import pytest
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.factories import dataset, ended, prefers, study_in, vote
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts
from helpers.texts.rating_studies import unblind as unblind_ratings
from streamlit.testing.v1 import AppTest

import assay
from core.cli import main
from core.store import Store

pytestmark = pytest.mark.usefixtures("cookies")
LISTS = ("pairs", "texts")
"""Tables of other tabs."""


def pairs_page() -> None:
    from core.store import database_path, open_store
    from core.store.studies import find_study
    from core.study.analysis_set import released_record
    from pages.studies import behind, between_raters
    from pages.studies.analysed import results_of

    with open_store(database_path(None)) as store:
        study = find_study(store, "pairs")
        results = results_of(released_record(store, study))
    bodies = behind.bodies(study.study_id, results) | between_raters.bodies(study.study_id, results)
    for body in bodies.values():
        body()


def ratings_page() -> None:
    from core.store import database_path, open_store
    from core.store.studies import find_study
    from core.study.analysis_set import released_record
    from pages.studies import rated

    with open_store(database_path(None)) as store:
        record = released_record(store, find_study(store, "ratings"))
    rated.result(record)
    rated.bodies(record)["Each rater"]()


def written(store: Store, name: str, table: str, out: Path) -> bytes:
    words = ("study", "results", name, "--db", str(store.path), "--table", table, "--out", str(out))
    assert main(words) == 0
    return out.read_bytes()


def shown(page: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    taken = tables_taken(monkeypatch)
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    return as_csv(taken)


def test_a_study_of_pairs(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    at_hand = study_in(store, dataset(16), raters=("ann", "ben", "cy"), name="pairs", early_looks=True)
    for at, token in enumerate(at_hand.tokens.values()):
        vote(store, token, prefers(at % 2))
    main(["study", "look", "pairs", "--db", str(store.path)])
    ended(store, at_hand.study.study_id)
    found = assay.study_results("pairs", db=store.path)
    on_page = shown(pairs_page, monkeypatch)
    crossed = {"contingency"}  # the page shows two raters at a time
    assert set(found.names) - set(on_page) - crossed - set(LISTS) == {"blinding", "blinding-sides"} & set(
        found.names
    )
    for table in found.names:
        wanted = written(store, "pairs", table, tmp_path / "out.csv")
        found[table].write(tmp_path / "own.csv")
        assert (tmp_path / "own.csv").read_bytes() == wanted
        if table in on_page and table not in crossed:
            assert on_page[table] == wanted, table


def test_a_study_of_ratings(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = rating_study(store, rating_texts(6), raters=("R1", "R2"), name="ratings", repeat_share=0.2)
    for rater in study.tokens:
        rate_all(study.desk(rater))
    unblind_ratings(study)
    found = assay.study_results("ratings", db=store.path)
    on_page = shown(ratings_page, monkeypatch)
    assert {"totals", "means-by-system", "raters", "repeats"} <= set(on_page)
    for table in found.names:
        wanted = written(store, "ratings", table, tmp_path / "out.csv")
        found[table].write(tmp_path / "own.csv")
        assert (tmp_path / "own.csv").read_bytes() == wanted
        if table in on_page:
            assert on_page[table] == wanted, table

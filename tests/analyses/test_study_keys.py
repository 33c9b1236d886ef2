"""The JSON of `study plan`, `look` and `results` has these keys: programs read them, so none goes and none changes its place."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.factories import dataset, ended, prefers, study_in, vote
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts
from helpers.texts.rating_studies import unblind as unblind_ratings

from core.cli import main
from core.store import Store

KEYS: dict[str, list[str]] = json.loads((Path(__file__).parent / "study_keys.json").read_text("utf-8"))


NAMES = {"ann", "ben", "cy", "R1", "R2", "mqm", "H", "A0", "A1", "A2", "A3", "A4"}
"""Raters, dimensions and levels, which are `*` in a path."""


def paths(value: Any, at: str = "") -> Iterator[str]:
    """Every key, the inner ones by their path."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            name = "*" if key in NAMES else key
            yield from paths(inner, f"{at}.{name}" if at else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from paths(inner, f"{at}[]")
    else:
        yield at


@pytest.fixture
def studies(store: Store) -> Store:
    """An open study of pairs that may be looked at, an unblinded one, and one of ratings."""
    for name in ("open", "ended"):
        at_hand = study_in(store, dataset(16), raters=("ann", "ben", "cy"), name=name, early_looks=True)
        for at, token in enumerate(at_hand.tokens.values()):
            vote(store, token, prefers(at % 2))
        if name == "ended":
            main(["study", "look", name, "--db", str(store.path)])
            ended(store, at_hand.study.study_id)
    ratings = rating_study(store, rating_texts(6), raters=("R1", "R2"), name="ratings", repeat_share=0.2)
    for rater in ratings.tokens:
        rate_all(ratings.desk(rater))
    unblind_ratings(ratings)
    return store


ASKED = {
    "plan": ("plan",),
    "plan-questions": ("plan", "--questions", "40", "--raters", "3"),
    "plan-study": ("plan", "--study", "open"),
    "plan-unblinded": ("plan", "--study", "ended"),
    "look": ("look", "open"),
    "results-pairs": ("results", "ended", "--resamples", "20"),
    "results-ratings": ("results", "ratings", "--resamples", "20"),
}


@pytest.mark.parametrize("name", ASKED)
def test_every_key_is_where_it_was(name: str, studies: Store, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["study", *ASKED[name], "--json", "--db", str(studies.path)]) == 0
    assert set(paths(json.loads(capsys.readouterr().out))) >= set(KEYS[name])

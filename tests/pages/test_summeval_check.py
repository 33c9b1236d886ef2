"""Ratings of coherence by SummEval's three experts (Fabbri et al. 2021): who may stand in for an expert, by every door."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.pages.generate_visit import html_of
from streamlit.testing.v1 import AppTest

import assay
from core.cli import main

OTHERS = {0: ("expert_1", "expert_2"), 1: ("expert_0", "expert_2"), 2: ("expert_0", "expert_1")}


@pytest.fixture(scope="module")
def experts() -> pd.DataFrame:
    return pd.read_csv(Path(__file__).parents[2] / "data" / "summeval" / "coherence.csv")


def table(experts: pd.DataFrame, expert: int, judge: str, seed: int = 0) -> pd.DataFrame:
    """The two other experts as raters, and a judge: the expert, partly shuffled; or the mean of system or family."""
    own, rng = experts[f"expert_{expert}"].to_numpy(dtype=float), np.random.default_rng(seed)
    people = experts[list(OTHERS[expert])]
    if judge in {"system", "family"}:
        own = people.mean(axis=1).groupby(experts[judge]).transform("mean").round().to_numpy()
    elif judge != "expert":
        mixed = rng.random(own.size) < float(judge)
        own[mixed] = rng.permutation(own[mixed])
    found = experts[["item_id", "system"]].assign(judge=own)
    return found.assign(human_1=people.iloc[:, 0], human_2=people.iloc[:, 1])


# An expert 0.4 to 0.8 harsher than the others (2) is not like them; the system alone keeps too little, the family nothing.
WANTED = {
    **{(expert, "expert"): "TRUSTED" for expert in (0, 1)},
    (2, "expert"): "NOT TRUSTED",
    **{(expert, share): "NOT TRUSTED" for expert in (0, 1, 2) for share in ("0.5", "0.7", "1")},
    **{(expert, whole): "NOT TRUSTED" for expert in (0, 1, 2) for whole in ("system", "family")},
}


@pytest.mark.parametrize(("case", "verdict"), WANTED.items())
def test_who_may_stand_in_for_an_expert(experts: pd.DataFrame, case: tuple[int, str], verdict: str) -> None:
    frame = table(experts, *case)
    for use in ("gate", "replace"):
        found = assay.check(frame, human=["human_1", "human_2"], judge="judge", use=use)
        assert found.verdict == verdict
        assert found.json["judges"][0]["kind"] == "ordered"
        assert found.json["scale"]["ends"] == [1, 5]


@pytest.mark.parametrize("case", [(0, "expert"), (2, "expert"), (1, "0.5"), (0, "family")])
def test_every_door_gives_the_same_numbers_and_verdict(
    experts: pd.DataFrame, case: tuple[int, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = table(experts, *case)
    file = tmp_path / "experts.csv"
    frame.to_csv(file, index=False)
    words = (str(file), "--human", "human_1,human_2", "--judge", "judge")
    main(["check", *words, "--use", "replace", "--json"])
    command = json.loads(capsys.readouterr().out)["judges"][0]
    main(["alt-test", *words, "--json", "--resamples", "20"])
    tested = json.loads(capsys.readouterr().out)["judges"]["judge"]
    python = assay.check(file, human=["human_1", "human_2"], judge="judge", use="replace").json["judges"][0]
    numbers = ("verdict", "sentence", "kappa_quadratic", "kept_share", "icc", "correlation")
    assert [command[key] for key in numbers] == [python[key] for key in numbers]
    assert (tested["check"], tested["check_sentence"]) == (command["verdict"], command["sentence"])
    assert tested["winning_rate"] == command["alt_test"]["winning_rate"]


@pytest.mark.usefixtures("cookies", "store")
def test_the_page_says_what_the_command_says(
    experts: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = table(experts, 1, "0.5")
    file = tmp_path / "experts.csv"
    frame.to_csv(file, index=False)
    main(["check", str(file), "--use", "replace", "--json"])
    command = json.loads(capsys.readouterr().out)

    def run() -> None:
        from pages import check

        check.render()

    at = AppTest.from_function(run, default_timeout=60)
    at.session_state["check_file"] = (file.read_bytes(), file.name)
    at.query_params["use"] = "replace"
    at.run()
    assert not at.exception
    shown = " ".join(html_of(at))
    said = command["sentence"].removeprefix(f"{command['verdict']} ")
    assert f"{said[0].upper()}{said[1:]}" in shown.replace("&#x27;", "'")

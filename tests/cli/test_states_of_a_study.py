"""The commands of a study in every state: no sentence that cannot be true."""

from pathlib import Path

import pytest
import regex
from helpers.texts.factories import dataset, study_in
from helpers.texts.rating_studies import rate, rating_study

from core.cli import main
from core.schema.study import State
from core.store import open_store
from core.store.studies import set_state

COMMANDS = ("progress", "links", "remind", "look", "results", "wording", "log", "open", "close")
TRUE_ONLY = {
    r"hidden until you": {"draft", "open", "closed"},
    r"declared until": {"draft", "open"},
    r"open the study to let": {"draft"},
    r"open it first": {"draft"},
    r"close it, then": {"draft", "open"},
    r"Add raters": {"draft", "open"},
}
"""Words -> the states in which a sentence with them can be true."""


@pytest.mark.parametrize("state", ["draft", "open", "closed", "unblinded"])
@pytest.mark.parametrize("voted", [True, False], ids=["voted", "nobody voted"])
@pytest.mark.parametrize("kind", ["levels", "preference", "ratings"])
def test_no_command_says_what_cannot_be_true(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    voted: bool,
    state: State,
) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    with open_store(tmp_path / "assay.db") as store:
        if kind == "ratings":
            ratings = rating_study(store, name="study", votes_per_pair=3)
            if voted:
                rate(ratings.desk("R1"), 1)
            study_id = ratings.study_id
        else:
            levels = ("A0", "A1") if kind == "levels" else ("",)
            pairs = study_in(store, dataset(levels=levels), votes_per_pair=3)
            if voted:
                pairs.desk("R1").save_choice(1, "left", seconds=2.0, diff_used="none")
            study_id = pairs.study_id
    for verb in COMMANDS:
        with open_store(tmp_path / "assay.db") as store:
            set_state(store, study_id, state)
        capsys.readouterr()
        main(["study", verb, "study"])
        with open_store(tmp_path / "assay.db") as store:
            (row,) = store.rows("select state from study")
        said = " ".join(capsys.readouterr())
        wrong = [
            words
            for words, true in TRUE_ONLY.items()
            if regex.search(words, said) and row["state"] not in true
        ]
        assert not wrong, f"{verb}: {said}"
        if voted:
            assert "declared until" not in said
            assert "raise the limit" not in said

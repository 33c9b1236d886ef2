"""Data frames without named columns: the notebook finds people and judges as `check` does."""

import pandas as pd
import pytest

from core.errors import InputError
from core.notebook.frames import panel_from

PEOPLE = pd.DataFrame({"example_id": range(6), "human_1": [1, 0, 1, 0, 1, 1], "human_2": [1, 0, 1, 1, 1, 1]})
JUDGE = pd.DataFrame(
    {"example_id": range(6), "verdict": ["yes", "no", "yes", "no", "yes", "no"], "tokens": range(6)}
)


def test_a_frame_and_a_judge_s_frame() -> None:
    panel = panel_from(PEOPLE, [JUDGE], find=True)
    assert (panel.raters, panel.judges) == (("human_1", "human_2"), ("verdict",))
    assert panel.scores.ravel().tolist() == [1, 0, 1, 0, 1, 0]
    assert panel.roles is not None
    assert panel.roles.item == "example_id"
    whole = panel_from(PEOPLE.assign(verdict=JUDGE["verdict"]), find=True)
    assert whole.scores.tolist() == panel.scores.tolist()


def test_a_frame_that_does_not_tell_people_from_judges_is_refused() -> None:
    with pytest.raises(InputError):
        panel_from(PEOPLE.rename(columns={"human_1": "anna", "human_2": "x"}), find=True)

"""Random small tables of labels and scores: every question about them is answered or refused in words, and its JSON is valid."""

import json

import numpy as np
import pytest
from helpers.texts.checks import check_json, check_tables

from core.analyses.agreement import ANALYSIS as AGREEMENT
from core.analyses.corrected import ANALYSIS as CORRECTED
from core.errors import AssayError
from core.formats.panel import read_panel
from core.results.check.sentences import check_said
from core.results.check.verdict import check_panel
from core.schema.uses import CheckOptions, Use

CODES = (
    ("0", "1"),
    ("fail", "pass"),
    ("1", "2", "3", "4", "5"),
    ("red", "blue", "green"),
    ("fail", "partial", "pass"),
)
USES: tuple[Use, ...] = ("gate", "monitor", "certify")


def table(rng: np.random.Generator) -> tuple[bytes, tuple[str, ...]]:
    """A CSV with one to three raters and a judge, often with a rare or a single class, empty cells and repeating items."""
    n, codes = int(rng.integers(1, 80)), CODES[rng.integers(len(CODES))]
    shares = rng.dirichlet(np.full(len(codes), 0.5))

    def column(empty: float) -> list[str]:
        drawn = rng.choice(len(codes), n, p=shares)
        return ["" if rng.random() < empty else codes[at] for at in drawn]

    columns = {f"rater_{at}": column(rng.choice([0, 0.3, 0.8])) for at in range(int(rng.integers(1, 4)))}
    words = column(rng.choice([0, 0.2]))
    columns["judge"] = words if rng.random() < 0.7 else [f"{score:.3f}" for score in rng.random(n)]
    rows_an_item, n_systems = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    lines = [",".join(["item_id", "system", *columns])]
    for at in range(n):
        cells = [column[at] for column in columns.values()]
        lines.append(",".join([f"q{at // rows_an_item}", f"s{at % n_systems}", *cells]))
    return "\n".join(lines).encode(), codes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(4))
def test_every_question_is_answered_or_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answered = 0
    for _ in range(25):
        data, codes = table(rng)
        lowest = codes[-1] if len(codes) > 2 else None
        for analysis, options in ((CORRECTED, {"passes": lowest}), (AGREEMENT, {})):
            try:
                panel = read_panel(data, "t.csv", find=True, people_alone=analysis is AGREEMENT)
                answer = analysis.answer(analysis.Options.checked(options, "Invalid"), panel)
            except AssayError:
                continue
            assert json.dumps(answer.json, allow_nan=False)
            assert all(answer.all_sentences)
            assert answer.tables
            answered += 1
        for use in USES:
            try:
                found = check_panel(
                    read_panel(data, "t.csv", find=True),
                    CheckOptions(use=use, passes_from=lowest if use == "certify" else None, n_resamples=20),
                )
            except AssayError:
                continue
            assert json.dumps(check_json(found), allow_nan=False)
            assert all(check_said(found))
            assert check_tables(found)
            answered += 1
    assert answered > 25

"""The part Which judge? of a page: prices entered there, figure and tables."""

import pytest
from helpers.pages.generate_visit import html_of, said
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    import numpy as np

    from core.results.check.verdict import CheckOptions, check_panel
    from core.results.panel import Panel
    from core.schema.scores import ScoredRow
    from pages.tabs import which_judge

    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 80).astype(float)
    scores = [np.where(rng.random(80) < error, 1 - truth, truth) for error in (0.05, 0.1)]
    panel = Panel(
        tuple(ScoredRow(str(at), "s") for at in range(80)),
        np.arange(80),
        np.full(80, "s"),
        ("person",),
        truth[:, None],
        ("big", "small"),
        np.column_stack(scores),
    )
    which_judge.render(("test",), check_panel(panel, CheckOptions(use="gate", ceiling=0.9)))


def test_entered_prices_make_the_front() -> None:
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    assert "No front by price" in said(at) + "".join(html_of(at))
    for name, price in (("big", 4.0), ("small", 0.4)):
        next(one for one in at.number_input if one.label == f"Price of {name}").set_value(price)
    at.run()
    assert not at.exception
    assert "big" in said(at)
    assert "4.00 per 1,000 texts" in said(at)
    assert "No front by price" not in said(at) + "".join(html_of(at))

"""A study on its page as a test opens it: by its address, as a link does."""

import re

from streamlit.testing.v1 import AppTest


def page() -> None:
    from pages import studies

    studies.render()


def visit(study: int = 1, tab: str = "", *, sound: bool = True, **asked: str | list[str]) -> AppTest:
    """The page of a study. tab: its slug, empty for the first. asked: further parameters of the address."""
    at = AppTest.from_function(page, default_timeout=60)
    at.query_params["study"] = str(study)
    if tab:
        at.query_params["tab"] = tab
    for name, value in asked.items():
        at.query_params[name] = value
    at.run()
    assert not (sound and at.exception), at.exception
    return at


def turn_to(at: AppTest, tab: str, study: int = 1) -> AppTest:
    """The same visit on another tab, by its title."""
    at.session_state[f"study_tab_{study}"] = tab
    return at.run()


def texts_of(at: AppTest) -> str:
    """All sentences, headings, cards and tables of the page, as a reader sees them."""
    assert not at.exception
    kinds = (at.title, at.subheader, at.markdown, at.error, at.get("html"))
    said = [str(_text(element)) for kind in kinds for element in kind]
    cells = [str(cell) for table in at.table for cell in [*table.value.columns, *table.value.to_numpy().flat]]
    line = re.sub(r"\\(?=[^\w\s])", "", " ".join([*said, *cells]))
    return line.replace("\u00a0", " ").replace("\u2060", "")


def _text(element: object) -> object:
    proto = getattr(element, "proto", None)
    return proto.body if hasattr(proto, "body") else getattr(element, "value", "")

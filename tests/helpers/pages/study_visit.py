"""A study on its page as a test opens it: by its address, as a link does."""

import re
from html import unescape

from streamlit.testing.v1 import AppTest


def page() -> None:
    """The page within the navigation that the app gives an admin."""
    import streamlit as st

    from pages import studies

    def elsewhere() -> None:
        import streamlit as st

        st.title("elsewhere")

    here = st.Page(studies.render, title="Studies", url_path="studies", default=True)
    others = ("check", "metrics", "judges", "generate", "operation")
    st.navigation([here, *(st.Page(elsewhere, title=name, url_path=name) for name in others)]).run()


def visit(study: int | str = 1, tab: str = "", *, sound: bool = True, **asked: str | list[str]) -> AppTest:
    """The page of a study, of a `new` one, or the list where it is empty.

    tab: its slug, empty for the first. asked: further parameters of the address.
    """
    at = AppTest.from_function(page, default_timeout=60)
    if study:
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
    kinds = (at.title, at.header, at.markdown, at.error, at.info, at.get("html"))
    said = [_text(element) for kind in kinds for element in kind]
    cells = [str(cell) for table in at.table for cell in [*table.value.columns, *table.value.to_numpy().flat]]
    return as_read(" ".join([*said, *cells])).replace("\u00a0", " ")


def card_of(at: AppTest) -> list[str]:
    """The word of the verdict's card, then its sentences."""
    (body,) = [text for one in at.get("html") if 'class="assay-verdict' in (text := _text(one))]
    word = re.search(r'"assay-word">(?:[✓✕?] )?(.*?)</p>', body)
    assert word
    return [unescape(line) for line in (word.group(1), *re.findall(r'"assay-why">(.*?)</p>', body))]


def numbers_of(at: AppTest) -> dict[str, str]:
    """Title -> number, of those beside the card."""
    (body,) = [text for one in at.get("html") if 'class="assay-numbers' in (text := _text(one))]
    found = re.findall(r'<p>(.*?)</p><p class="assay-number">(.*?)</p>', body)
    return {unescape(title): unescape(number) for title, number in found}


def as_read(text: str) -> str:
    """Text without what escapes it for Markdown."""
    return re.sub(r"\\(?=[^\w\s])", "", text).replace("\u2060", "")


def _text(element: object) -> str:
    proto = getattr(element, "proto", None)
    return str(proto.body if hasattr(proto, "body") else getattr(element, "value", ""))

"""The page Methods: what other pages point to stands there, and nothing on it leads nowhere."""

import ast
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.runs.kinds import KINDS
from pages import methods

ROOT = Path(__file__).resolve().parents[2]
PLACE = {"page": 2, "part": 2, "explained": 1}
"""Function of pages.widgets.parts -> which of its arguments names a section."""


@pytest.fixture(scope="module")
def shown() -> str:
    at = AppTest.from_string("from pages import methods\n\nmethods.render()").run()
    assert not at.exception
    return "\n\n".join(one.value for one in at.markdown)


def sections(text: str) -> set[str]:
    """Of all headings the names by which a link finds them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def named(path: Path) -> set[str]:
    """Sections that a module of the pages names."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return {
        str(call.args[place].value)
        for call in calls
        if (place := PLACE.get(getattr(call.func, "attr", getattr(call.func, "id", "")))) is not None
        if len(call.args) > place and isinstance(call.args[place], ast.Constant)
    }


def test_every_section_that_a_page_names_is_there(shown: str) -> None:
    by_module = {str(path): named(path) for path in sorted((ROOT / "pages").rglob("*.py"))}
    assert len(set().union(*by_module.values())) > 15
    by_module["kinds"] = {kind.section for kind in KINDS.values() if kind.section}
    own = {
        f"{name}#{section}"
        for name in methods._SHOWN
        for section in sections((ROOT / "docs" / f"{name}.md").read_text("utf-8"))
    }
    missing = {name: names - sections(shown) - own for name, names in by_module.items()}
    assert {name: names for name, names in missing.items() if names} == {}


def test_links_lead_to_sections_of_the_page(shown: str) -> None:
    targets = re.findall(r"\]\(([^)]*)\)", shown)
    assert {"#judge-agreement", "#correlation", "#nli"} <= set(targets)
    assert [one for one in targets if one.lstrip("#") not in sections(shown)] == []

"""Code: leaves that join to exactly the text, for every language and for texts that are not of it."""

from itertools import pairwise

import pytest
from test_hostile_text import HOSTILE

from core.rendering import code, rendered
from core.rendering.code import LONGEST_HIGHLIGHTED, STYLES, code_block, lexer_named
from core.rendering.tree import leaves, read
from core.schema.rendering import Shown

PYTHON = "def f(n):\n    # double\n    return 2 * n or 'none'\n"
ODD = [
    *HOSTILE,
    PYTHON,
    "",
    "\n",
    "\r\n\r\n",
    "\t\n  ",
    "a\0b\x0c",
    '"""never closed',
    "/* never closed",
    "<?php <% {{ #{ ${ $( `",
    "\ud800",
    "e\u0301 👩‍🔬 \u202e",
    "x" * 300 + "(" * 300,
]


@pytest.mark.parametrize("language", sorted(code._LANGUAGES))
def test_leaves_are_the_text(language: str) -> None:
    assert lexer_named(language) is not None
    for text in ODD:
        found = list(leaves(code_block(text, language)))
        assert "".join(leaf.text for leaf in found) == text
        assert {leaf.style for leaf in found} <= {"", *STYLES}
        assert all(one.style != other.style for one, other in pairwise(found))


@pytest.mark.parametrize(
    "language",
    ["", "klingon", "text", "x" * 5_000, "../../etc", "robotframework", "console", "rst", "Python"],
)
def test_other_names_are_not_highlighted(language: str) -> None:
    assert lexer_named(language) is None
    block = code_block(PYTHON, language)
    assert (block.note, [leaf.text for leaf in leaves(block)]) == ("", [PYTHON])


def test_styles() -> None:
    found = {leaf.text.strip(): leaf.style for leaf in leaves(code_block(PYTHON, "python")) if leaf.style}
    assert found == {
        "def": "keyword",
        "f": "name",
        "# double": "comment",
        "return": "keyword",
        "2": "number",
        "or": "keyword",
        "'none'": "string",
    }


def test_long_code_has_no_styles() -> None:
    text = PYTHON * (LONGEST_HIGHLIGHTED // len(PYTHON) + 1)
    assert [leaf.text for leaf in leaves(code_block(text, "python"))] == [text]


class Breaks:
    """A lexer that fails, or that leaves something out."""

    def __init__(self, fails: bool) -> None:
        self.fails = fails

    def get_tokens_unprocessed(self, text: str) -> list[tuple[int, str, str]]:
        if self.fails:
            raise AttributeError("no group")
        return [(0, "Token.Keyword", text[1:])]


@pytest.mark.parametrize("fails", [True, False])
def test_a_lexer_that_fails_or_drops_colours_nothing(fails: bool) -> None:
    assert code._tokens(Breaks(fails), "abc") == [("abc", "")]  # type: ignore[arg-type]


def test_a_text_as_code_is_read_as_written() -> None:
    for text in ODD:
        for language in ("", "python", "nothing"):
            assert read(rendered(text, Shown("code", language))).text == text

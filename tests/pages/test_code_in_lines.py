"""Code as HTML: line by line, whole, with its marks, and no line taken for two."""

import re
from html import unescape

import pytest

from core.diff import diff_against
from core.rendering import rendered
from core.rendering.tree import marked, read
from core.schema.rendering import Shown
from pages.widgets.rendered import STYLE, document_html

PYTHON = Shown("code", "python")
OLD = "def area(r):\n    return 3 * r\n"
LINE = re.compile(r'<span class="assay-line assay-in-(\d+)">')


def words(html: str) -> str:
    """What a reader reads of it, without what was removed."""
    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"<del>.*?</del>", "", html, flags=re.DOTALL)))


@pytest.mark.parametrize(
    "text",
    [
        OLD,
        "def area(r):\n    if r < 0:\n\n\n        return 0\n\treturn 3 * r",
        "# a comment\nx = '''one\n  two'''\n\n# another\n\n",
        "\n\n  begins late",
        "one line",
    ],
)
@pytest.mark.parametrize("shown", [PYTHON, Shown("code")])
def test_code_is_whole_and_marked_within_its_lines(text: str, shown: Shown) -> None:
    before, after = rendered(OLD, shown), rendered(text, shown)
    html = document_html(marked(after, diff_against(read(before).text, read(after).text)))
    assert words(html) == text
    assert "<br>" not in html
    lines = LINE.split(html)[2::2]
    assert len([one for one in lines if words(one)]) == text.count("\n") + (not text.endswith("\n"))
    assert all(one.count("<ins>") == one.count("</ins>") for one in lines)
    assert not re.search(r"<ins>[^<]*\n", html), "a line break is never underlined"


@pytest.mark.parametrize(
    ("line", "begins"),
    [("x", 0), (" x", 0), ("    x", 2), ("\tx", 2), ("  \t x", 2), (" " * 99 + "x", 20), ("", 0)],
)
def test_a_line_goes_on_further_right_than_it_begins(line: str, begins: int) -> None:
    first, second = LINE.findall(document_html(rendered(f"{line}\ny", PYTHON)))
    assert (int(first), int(second)) == (begins, 0)
    assert f".assay-in-{begins} {{ --in: {2 * begins + 4}ch; }}" in STYLE

"""Texts as their users see them: Markdown, formulas and highlighted code, as a tree that holds no HTML of the text itself."""

from functools import lru_cache

from core.rendering.code import code_document
from core.rendering.markdown import markdown_document
from core.rendering.tree import Element, plain_document, read
from core.schema.rendering import Shown

LONGEST_RENDERED = 100_000
"""Characters; a longer text is shown as written."""
_LONGEST_KEPT, _MOST_KEPT = 20_000, 256


def rendered(text: str, shown: Shown) -> Element:
    """The text as a document. More than LONGEST_RENDERED characters, or deeper nested than people write, are shown as written."""
    # A tree takes some hundred times the bytes of its text: only texts of the usual length are kept.
    return (_kept if len(text) <= _LONGEST_KEPT else _rendered)(text, shown)


def _rendered(text: str, shown: Shown) -> Element:
    if shown.rendering == "code":
        return code_document(text, shown.code_language)
    if shown.as_written or len(text) > LONGEST_RENDERED:
        return plain_document(text)
    return markdown_document(text, formulas=shown.rendering == "latex")


_kept = lru_cache(maxsize=_MOST_KEPT)(_rendered)


def text_as_read(text: str, shown: Shown) -> str:
    """The words that people read, without what only sets them."""
    return text if shown.as_written else read(rendered(text, shown)).text

"""Code in fixed width, with its tokens in a few styles."""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from core.rendering.tree import Element, Leaf

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Style = Literal["keyword", "string", "number", "comment", "name", "operator"]
STYLES: tuple[Style, ...] = get_args(Style)
LONGEST_HIGHLIGHTED = 50_000
"""Characters; longer code is shown without styles."""


def code_document(text: str, language: str) -> Element:
    """A whole text as code."""
    return Element("document", (code_block(text, language),))


def code_block(text: str, language: str) -> Element:
    """A block of code; of an unknown language, or none, it is not highlighted."""
    return Element("code_block", tuple(_leaves(text, language)), note=language)


def _leaves(text: str, language: str) -> Iterator[Leaf]:
    lexer = lexer_named(language) if len(text) <= LONGEST_HIGHLIGHTED else None
    if lexer is None:
        yield Leaf(text)
        return
    before: tuple[str, str] | None = None
    for _, token, piece in lexer.get_tokens_unprocessed(text):
        style = _style(str(token))
        if before is not None and before[1] == style:
            before = (before[0] + piece, style)
            continue
        if before is not None:
            yield Leaf(*before)
        before = (piece, style)
    if before is not None:
        yield Leaf(*before)


@cache
def lexer_named(language: str) -> "Lexer | None":
    """The lexer of a language by one of its names; None if Pygments has none."""
    if not language or len(language) > 40:
        return None
    from pygments.lexers import get_lexer_by_name  # imported lazily: only code needs it
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


def _style(token: str) -> str:
    """The style of a token of Pygments, `Token.Literal.String.Doc`."""
    for part, style in _STYLE_OF.items():
        if part in token:
            return style
    return ""


_STYLE_OF: dict[str, Style] = {
    "Comment": "comment",
    "String": "string",
    "Number": "number",
    "Keyword": "keyword",
    "Operator.Word": "keyword",
    "Name.Function": "name",
    "Name.Class": "name",
    "Name.Tag": "name",
}

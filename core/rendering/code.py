"""Code in fixed width, with its tokens in a few styles."""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from core.rendering.tree import Element, Leaf

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Style = Literal["keyword", "string", "number", "comment", "name", "operator"]
STYLES: tuple[Style, ...] = get_args(Style)
LONGEST_HIGHLIGHTED = 5_000
"""Characters; longer code is shown without styles. A lexer's patterns may take time by the square of the code."""
_NAMES = (
    "ada asm bash sh shell zsh bat batch c clojure clj cmake cobol common-lisp lisp cpp c++ csharp c# cs css dart delphi pascal diff "
    "docker dockerfile elixir erlang fortran fsharp f# go golang graphql groovy haskell hs hcl html ini java javascript js json "
    "julia jl kotlin latex tex less lua make makefile matlab mysql nasm nginx objective-c objc ocaml octave perl pl php postgresql "
    "postgres powershell ps1 prolog protobuf proto python py python3 r ruby rb rust rs scala scheme scss solidity sql swift "
    "terraform tf toml typescript ts verilog vhdl vim xml yaml yml"
)
"""Names of Pygments, of languages that people write. Its other lexers are for sessions and rare formats: some of them change the text, call
further lexers that a text names, or take minutes for a few thousand characters."""
_LANGUAGES = frozenset(_NAMES.split())


def code_document(text: str, language: str) -> Element:
    """A whole text as code."""
    return Element("document", (code_block(text, language),))


def code_block(text: str, language: str) -> Element:
    """A block of code; of an unknown language, or none, it is not highlighted."""
    return Element(
        "code_block", tuple(_leaves(text, language)), note=language if language in _LANGUAGES else ""
    )


def _leaves(text: str, language: str) -> Iterator[Leaf]:
    """The code in leaves of one style each; joined, they are the text."""
    lexer = lexer_named(language) if len(text) <= LONGEST_HIGHLIGHTED else None
    tokens = _tokens(lexer, text) if lexer else [(text, "")]
    before, style_before = "", ""
    for piece, style in tokens:
        if style != style_before and before:
            yield Leaf(before, style_before)
            before = ""
        before, style_before = before + piece, style
    if before or not text:
        yield Leaf(before, style_before)


def _tokens(lexer: "Lexer", text: str) -> list[tuple[str, str]]:
    """Pieces of code with their styles; the text in one piece where the lexer fails on it or leaves something out."""
    try:
        tokens = [(piece, _style(str(token))) for _, token, piece in lexer.get_tokens_unprocessed(text)]
    except Exception:  # whatever a lexer raises for what is not its language
        return [(text, "")]
    return tokens if "".join(piece for piece, _ in tokens) == text else [(text, "")]


def lexer_named(language: str) -> "Lexer | None":
    """A lexer of a language by one of its names; None for languages that are not highlighted."""
    return _lexer_class(language)() if language in _LANGUAGES else None


@cache
def _lexer_class(language: str) -> "type[Lexer]":
    from pygments.lexers import find_lexer_class_by_name  # imported lazily: only code needs it

    found: type[Lexer] = find_lexer_class_by_name(language)
    return found


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

"""Where formulas stand in Markdown: `$...$`, `\\(...\\)`, `$$...$$`, `\\[...\\]` and environments, as rules of its parser.

Whether a dollar sign is a price is decided here: `$...$` is a formula only if nothing but mathematics fits what is between. Each rule looks
at most LONGEST_FORMULA characters ahead, so that a text of nothing but openings takes no time by the square.
"""

from bisect import bisect_left
from typing import TYPE_CHECKING

import regex

from core.rendering.formulas import LONGEST_FORMULA

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

INLINE, INLINE_DISPLAY, BLOCK = "formula", "formula_display", "formula_block"
"""Types of tokens: within a line; within a line, but set as if it stood alone; on lines of its own."""
_CLOSED_BY = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}
_BLOCKS_CLOSED_BY = {"\\[": "\\]", "$$": "$$"}
_ENVIRONMENTS = (
    "equation displaymath align aligned alignat alignedat flalign gather gathered multline eqnarray split cases dcases array matrix "
    "pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix"
)
_BEGIN = regex.compile(rf"\\begin\{{((?:{_ENVIRONMENTS.replace(' ', '|')})\*?)\}}")
_CODE = regex.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", regex.DOTALL)
_OPENED = regex.compile(r"(?<!\\)(?:\\\\)*\K(?:\\[(\[]|\$\$?)")
_NOT_PROSE = regex.compile(r"\\(?:text\w*|mbox|hbox|mathrm|operatorname\*?)\s*\{[^{}]*\}|\\[a-zA-Z]+")
_PROSE = regex.compile(r"\p{L}{2,}[,;:.]?\s+\p{L}{2,}|^\d[\d.,]*\s*(?:\p{L}{2,}|[,;]\s)")


def add_formulas(parser: "MarkdownIt") -> None:
    """Have a parser find formulas, as tokens whose content is LaTeX."""
    parser.inline.ruler.before("escape", "formula", _inline_formula)
    parser.block.ruler.before(
        "fence", "formula_block", _block_formula, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def has_formula(text: str) -> bool:
    """Whether a text has a formula, code aside."""
    prose = _CODE.sub(" ", text)
    if _BEGIN.search(prose):
        return True
    return any(_formula_at(prose, match.start(), len(prose)) for match in _OPENED.finditer(prose))


def _inline_formula(state: "StateInline", silent: bool) -> bool:
    found = _formula_at(state.src, state.pos, state.posMax)
    if found is None:
        return False
    opened, begin, end = found
    if not silent:
        token = state.push(INLINE if opened in ("\\(", "$") else INLINE_DISPLAY, "math", 0)
        token.content, token.markup = state.src[begin:end], opened
    state.pos = end + len(opened)
    return True


def _formula_at(text: str, start: int, last: int) -> tuple[str, int, int] | None:
    """The formula that begins here: its opening mark, and where its LaTeX begins and ends."""
    opened = next((mark for mark in _CLOSED_BY if text.startswith(mark, start, last)), None)
    if opened is None:
        return None
    begin = start + len(opened)
    end = _unescaped(text, _CLOSED_BY[opened], begin, min(last, begin + LONGEST_FORMULA))
    if end < 0 or not text[begin:end].strip() or (opened == "$" and not _is_mathematics(text, begin, end)):
        return None
    return opened, begin, end


def _unescaped(text: str, mark: str, begin: int, end: int) -> int:
    """The place of a mark that no backslash escapes; -1 if there is none."""
    at = text.find(mark, begin, end)
    while at > begin and mark[0] == "$" and _is_escaped(text, at, begin):
        at = text.find(mark, at + 1, end)
    return at


def _is_escaped(text: str, at: int, begin: int) -> bool:
    before = text[begin:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _is_mathematics(text: str, begin: int, end: int) -> bool:
    """Whether what stands between two dollar signs is no price, and no prose between two prices."""
    content = text[begin:end]
    beside = text[max(0, begin - 2) : begin - 1]
    if content[0].isspace() or content[-1].isspace() or (beside.isascii() and beside.isalnum()):
        return False
    return not text[end + 1 : end + 2].isdigit() and not _PROSE.search(_NOT_PROSE.sub(" ", content).strip())


def _block_formula(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    if state.is_code_block(first):
        return False
    text, start = state.src, state.bMarks[first] + state.tShift[first]
    environment = _BEGIN.match(text, start)
    opened = next((mark for mark in _BLOCKS_CLOSED_BY if text.startswith(mark, start)), None)
    if environment is None and opened is None:
        return False
    if silent and opened == "$$" and text.count("$$", state.bMarks[state.line], start) % 2:
        return False  # it closes what the paragraph opened
    closing = _BLOCKS_CLOSED_BY[opened] if opened else f"\\end{{{environment[1]}}}"
    close = text.find(closing, start + 2, start + 2 + LONGEST_FORMULA)
    line = bisect_left(state.eMarks, close + len(closing), first, last) if close >= 0 else last
    if line >= last or text[close + len(closing) : state.eMarks[line]].strip():
        return False  # not closed, or words follow it: it is a part of its paragraph
    if any(
        state.sCount[between] < state.blkIndent and not state.isEmpty(between)
        for between in range(first, line + 1)
    ):
        return False
    content = state.getLines(first, line + 1, state.blkIndent, False).strip()
    content = content[2:-2] if opened else content
    if not content.strip():
        return False
    if not silent:
        token = state.push(BLOCK, "math", 0)
        token.content, token.block, token.map = content, True, [first, line + 1]
        state.line = line + 1
    return True

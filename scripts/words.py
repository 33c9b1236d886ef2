"""Print all visible strings of pages, messages and help by place: `python scripts/words.py`.

    python scripts/words.py                          every string that a user can read, by file and line
    python scripts/words.py --place pages/studies    one folder or file; may be repeated
    python scripts/words.py --all                    docstrings and comments too

Python files are parsed, not imported. A string is listed if it is an argument for readers (label, help, title of a table or
column, error message), or if it contains a phrase. Variable parts of an f-string are shown as {…}. Texts in data files are
listed too: guidelines, practice pairs, wording, tasks, rubrics, titles of prompts, and published tables.
"""

import argparse
import ast
import csv
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]


class Words(NamedTuple):
    """A string, where it is, and what kind of text it is."""

    line: int
    kind: str
    text: str


VISIBLE_ARGUMENTS: Mapping[str, Mapping[int, str]] = {
    "setting": {1: "setting label", 2: "setting help"},
    "About": {0: "setting label", 1: "setting help"},
    "seed_setting": {0: "setting help"},
    "Remark": {1: "remark"},
    "Column": {1: "column"},
    "ResultTable": {3: "table title"},
    "add_argument_group": {0: "option group"},
    "print": {0: "printed", 1: "printed", 2: "printed"},
    "exit": {0: "error"},
    **{
        name: {0: name}
        for name in (
            *("badge", "button", "caption", "checkbox", "code", "dataframe", "download_button", "error"),
            *("expander", "file_uploader", "form_submit_button", "header", "info", "link_button", "markdown"),
            *("metric", "multiselect", "number_input", "page_link", "pills", "radio", "segmented_control"),
            *("select_slider", "selectbox", "slider", "spinner", "status", "subheader", "success", "tabs"),
            *("text", "text_area", "text_input", "title", "toast", "toggle", "warning", "write"),
        )
    },
}
"""Function or method -> position of an argument that users read -> its kind."""
OWNERS = {
    "add_argument": "option",
    "add_parser": "command",
    "ArgumentParser": "command",
    "Page": "page",
    "ResultTable": "table",
}
"""Function -> how the kinds of its keyword arguments begin."""
VISIBLE_KEYWORDS = frozenset(
    [
        "body",
        "caption",
        "captions",
        "description",
        "does",
        "heading",
        "help",
        "label",
        "note",
        "notes",
        "placeholder",
        "question",
        "reason",
        "summary",
        "text",
        "title",
        "unit",
        "unit_label",
        "words",
    ]
)
"""Keyword arguments that users read, whatever the function."""
HIDDEN_KEYWORDS = frozenset(
    ["encoding", "errors", "format", "icon", "key", "metavar", "mode", "name", "pattern", "type"]
)
HIDDEN_CALLS = frozenset(
    [
        "Literal",
        "TypeVar",
        "cast",
        "compile",
        "connect",
        "execute",
        "executescript",
        "fullmatch",
        "getattr",
        "hasattr",
        "import_module",
        "isinstance",
        "match",
        "query",
        "row",
        "rows",
        "search",
        "setattr",
        "strftime",
        "sub",
        "value",
    ]
)
"""Calls with arguments that no user reads: patterns, SQL, names of attributes."""
_ERROR = re.compile(
    r"(?:Error|Exit|NotAllowed|NotFound|StillMissing|Stop)$|^(?:check_options|reject|refuse)$"
)
_PHRASE = re.compile(r"[^\W\d_]{2,}[^\w\s]* [^\n]*[^\W\d_]{2,}|[^\W\d_]{2,}[^\w\s]* \{…\}|\{…\} [^\W\d_]{3,}")
_HEADING = re.compile(r"[A-Z][a-z]{2,}")
_CODE = re.compile(
    r"<style|<script|function ?\(|\{[^…}]|;[\w-]+:|[\w-]+: ?[\w.#%-]+; ?[\w-]+:|data-testid|var\(--|^svg|=>|\(\?:|rgb\(|background-color"
)
_SQL = re.compile(
    r"\s*(?:alter table|create|delete from|drop|insert into|pragma|select .+ from|update \w+ set|with \w+ as) "
    r'|"\w+" (?:INTEGER|TEXT)|(?:and|where|join) .*=|(?:order|group) by |.*= ?:\w|.* escape \'',
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]*>|:material/\w+:|:\w+\[|\{…\}")
"""What a page does not show as words: tags, icons, colours, variable parts."""
_LETTER = re.compile(r"[^\W\d_]")


class _Finder:
    """Collects the visible strings of a module."""

    def __init__(self) -> None:
        self.found: list[Words] = []

    def visit(self, node: ast.AST, kind: str = "text", sure: bool = False) -> None:
        """Visit an expression or statement. sure: whether users read it whatever it contains."""
        visitor: Callable[[ast.AST, str, bool], None] | None = getattr(self, f"_{type(node).__name__}", None)
        if visitor is not None:
            visitor(node, kind, sure)
        else:
            for child in ast.iter_child_nodes(node):
                self.visit(child, kind, sure)

    def _add(self, node: ast.expr, text: str, kind: str, sure: bool) -> None:
        if _is_words(text) and (sure or _is_phrase(text)):
            self.found.append(Words(node.lineno, kind, _joined(text)))

    def _Constant(self, node: ast.Constant, kind: str, sure: bool) -> None:
        if isinstance(node.value, str):
            self._add(node, node.value, kind, sure)

    def _JoinedStr(self, node: ast.JoinedStr, kind: str, sure: bool) -> None:
        text = "".join(part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values)
        self._add(node, text, kind, sure)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value, kind)

    def _Call(self, node: ast.Call, kind: str, sure: bool) -> None:
        name = _name(node.func)
        if name in HIDDEN_CALLS:
            return
        self.visit(node.func, kind)
        positions = VISIBLE_ARGUMENTS.get(name, {})
        error = "error" if _ERROR.search(name) or _is_problem(node) else None
        # Joining keeps the kind: the parts are read where the result is.
        inside = (kind, sure) if name in ("join", "dict", "list", "tuple", "chain") else (kind, False)
        for at, one in enumerate(node.args):
            self.visit(
                one, *((error, True) if error else (positions[at], True) if at in positions else inside)
            )
        for keyword in node.keywords:
            if keyword.arg in VISIBLE_KEYWORDS:
                self.visit(keyword.value, error or _kind_of(name, keyword.arg or ""), True)
            elif keyword.arg not in HIDDEN_KEYWORDS:
                self.visit(keyword.value, kind)

    def _Dict(self, node: ast.Dict, kind: str, sure: bool) -> None:
        for key in node.keys:
            if key is not None:
                self.visit(key, kind)
        for value in node.values:
            self.visit(value, kind, sure)

    def _IfExp(self, node: ast.IfExp, kind: str, sure: bool) -> None:
        self.visit(node.test, kind)
        self.visit(node.body, kind, sure)
        self.visit(node.orelse, kind, sure)

    def _Raise(self, node: ast.Raise, kind: str, sure: bool) -> None:
        if node.exc is not None:
            self.visit(node.exc, "error")

    def _Expr(self, node: ast.Expr, kind: str, sure: bool) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.visit(node.value, kind)

    def _keep_value(self, node: ast.AnnAssign, kind: str, sure: bool) -> None:
        if node.value is not None:
            self.visit(node.value, kind)

    def _of_function(self, node: ast.FunctionDef, kind: str, sure: bool) -> None:
        for part in (
            *node.decorator_list,
            *node.args.defaults,
            *filter(None, node.args.kw_defaults),
            *node.body,
        ):
            self.visit(part)

    def _nothing(self, node: ast.AST, kind: str, sure: bool) -> None:
        """Skip what users never read: conditions, keys and reasons of asserts."""

    def _Subscript(self, node: ast.Subscript, kind: str, sure: bool) -> None:
        self.visit(node.value, kind, sure)

    _AnnAssign = _keep_value
    _FunctionDef = _AsyncFunctionDef = _of_function
    _Assert = _Compare = _nothing


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", None) or getattr(function, "id", "")


def _kind_of(function: str, keyword: str) -> str:
    """Name the kind of a keyword argument: `option help`, `button help`, `reason`."""
    owner = OWNERS.get(function, function if function in VISIBLE_ARGUMENTS else "")
    return f"{owner} {keyword}".lstrip()


def _is_problem(call: ast.Call) -> bool:
    """Whether the call adds to a list of problems."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("append", "extend")
        and "problem" in _name(function.value)
    )


def _is_words(text: str) -> bool:
    """Whether a page would show letters: the text is neither code nor markup alone."""
    return bool(_LETTER.search(_TAG.sub("", text))) and not _CODE.search(text)


def _is_phrase(text: str) -> bool:
    """Whether a string of unknown purpose is for readers: two words or a capitalised one, and no SQL."""
    return bool(_PHRASE.search(text) or _HEADING.fullmatch(text)) and not _SQL.match(text)


def _joined(text: str) -> str:
    return " ".join(text.split())


def python_words(source: str, *, everything: bool = False) -> list[Words]:
    """Return the visible strings of a module in order; everything: with docstrings and comments."""
    module = ast.parse(source)
    finder = _Finder()
    finder.visit(module)
    found = finder.found
    if everything:
        found += [*_docstrings(module), *_comments(source)]
    return sorted(found)


def _docstrings(module: ast.Module) -> Iterator[Words]:
    """Yield docstrings, also those below attributes and constants."""
    for node in ast.walk(module):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield Words(node.lineno, "docstring", _joined(node.value.value))


def _comments(source: str) -> Iterator[Words]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Words(token.start[0], "comment", token.string.lstrip("# "))


def _yaml_words(kind: str, *, without: Sequence[str] = ()) -> Callable[[str], list[Words]]:
    """Return a reader of YAML or JSON that lists all texts. without: keys to skip."""

    def walk(node: yaml.Node) -> Iterator[Words]:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value not in without:
                    yield from walk(value)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                yield from walk(value)
        elif _LETTER.search(node.value):
            yield Words(node.start_mark.line + 1, kind, _joined(node.value))

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return lambda text: list(walk(yaml.compose(text, Loader=loader)))


def _prompt_title(text: str) -> list[Words]:
    return [
        Words(number, "prompt title", line.removeprefix("title: "))
        for number, line in enumerate(text.splitlines(), start=1)
        if line.startswith("title: ")
    ]


def _lines(kind: str) -> Callable[[str], list[Words]]:
    return lambda text: [
        Words(number, kind, line.strip())
        for number, line in enumerate(text.splitlines(), start=1)
        if _LETTER.search(line)
    ]


def _table_words(text: str) -> list[Words]:
    rows = csv.DictReader(io.StringIO(text))
    return [
        Words(rows.line_num, f"published {column}", row[column])
        for row in rows
        for column in ("title", "source", "notes")
        if row[column]
    ]


def _echoed(text: str) -> list[Words]:
    """Return the messages of a shell script."""
    return [
        Words(number, "printed", said)
        for number, line in enumerate(text.splitlines(), start=1)
        for said in re.findall(r'\b(?:echo|extras=) ?"((?:[^"\\]|\\.)+)"', line)
        if _PHRASE.search(said)
    ]


_NAMES_IN_TASKS = ("name", "source", "lowest", "highest", "step", "weight")
DATA: Mapping[str, Callable[[str], list[Words]]] = {
    "data/guidelines/**/*.md": _lines("guideline"),
    "data/practice.json": _yaml_words("practice"),
    "data/wording.json": _yaml_words("wording"),
    "data/tasks/*.yaml": _yaml_words("task", without=_NAMES_IN_TASKS),
    "data/rubrics/*.yaml": _yaml_words("rubric", without=_NAMES_IN_TASKS),
    "data/published/tables.csv": _table_words,
    "prompts/*.yaml": _prompt_title,
    "run": _echoed,
    "scripts/environment.sh": _echoed,
}
"""Pattern of data files -> reader of their visible texts."""


def words_by_place(places: Sequence[str] = (), *, everything: bool = False) -> dict[str, list[Words]]:
    """Return path -> strings. places: folders or files to list, relative to the repository; empty: all."""

    def wanted(path: str) -> bool:
        return not places or any(path == one or path.startswith(f"{one.rstrip('/')}/") for one in places)

    found: dict[str, list[Words]] = {}
    for path in [
        ROOT / "app.py",
        *sorted((ROOT / "pages").rglob("*.py")),
        *sorted((ROOT / "core").rglob("*.py")),
        *sorted((ROOT / "assay").rglob("*.py")),
    ]:
        name = path.relative_to(ROOT).as_posix()
        if wanted(name):
            found[name] = python_words(path.read_text("utf-8"), everything=everything)
    for pattern, read in DATA.items():
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            if wanted(name):
                found[name] = read(path.read_text("utf-8"))
    return {name: words for name, words in found.items() if words}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the strings; return 2 if a place does not exist."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument(
        "--place",
        action="append",
        default=[],
        metavar="PATH",
        help="only this folder or file, e.g. pages/studies; may be repeated",
    )
    parser.add_argument("--all", action="store_true", help="also list docstrings and comments")
    options = parser.parse_args(arguments)
    if missing := [one for one in options.place if not (ROOT / one).exists()]:
        print(f"--place: {', '.join(missing)} not found", file=sys.stderr)
        return 2
    for name, words in words_by_place(options.place, everything=options.all).items():
        print(name)
        for line, kind, text in words:
            print(f"  {line:>5}  {kind:<20}  {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

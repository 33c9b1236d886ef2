"""How texts want to be shown, guessed from the texts themselves. A guess fills a form: people see it, and change it."""

import ast
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import regex

from core.rendering.formula_rules import has_formula
from core.schema.rendering import Rendering, Shown

_ENOUGH = 0.05
"""Share of texts from which on all are shown so: if only one system formats, its marks would name it."""
_ENOUGH_CODE = 0.6
"""Share of texts that are code; and of these, the share of one language from which on it is named."""
_LONGEST = 20_000
"""Characters of a text that are looked at."""
_MARKDOWN = regex.compile(
    r"""
    ^\ {0,3}(?:```|~~~)                                   # fenced code
    | ^\ {0,3}\#{1,6}\ +\S                                # a heading
    | ^\ {0,3}\|?\ *:?-{3,}:?\ *\|                         # the second line of a table
    | (?<![*\w])\*\*(?=\S)[^*\n]+(?<=\S)\*\*(?![*\w])      # strong words
    | (?<!`)`(?=\S)[^`\n]+(?<=\S)`(?!`)                   # code in a line
    | ^\ {0,3}(?:[-*+]|\d{1,3}[.)])\ +\S.*\n\n?\ *(?:[-*+]|\d{1,3}[.)])\ +\S   # two items of a list
    """,
    regex.VERBOSE | regex.MULTILINE,
)


@dataclass(frozen=True)
class Guess:
    """How texts are shown unless somebody says otherwise."""

    shown: Shown
    n_like: int
    """Texts that look so."""
    n: int
    """Texts that are not empty."""


def guessed(texts: Iterable[str]) -> Guess:
    """Code if most texts are code without fences; else latex or markdown if some texts have formulas or formatting; else plain."""
    looks = [_look(text) for text in texts if text.strip()]
    n = len(looks)
    code = Counter(look.language for look in looks if look.language)
    if n and code.total() >= _ENOUGH_CODE * n:
        language, n_named = code.most_common(1)[0]
        named = language if n_named >= _ENOUGH_CODE * code.total() else ""
        return Guess(Shown("code", named), code.total(), n)
    counts: dict[Rendering, int] = {
        "latex": sum(look.formulas for look in looks),
        "markdown": sum(look.markdown for look in looks),
    }
    for rendering, n_like in counts.items():
        if n_like and n_like >= _ENOUGH * n:
            return Guess(Shown(rendering), n_like, n)
    return Guess(Shown(), sum(look == _Look() for look in looks), n)


@dataclass(frozen=True)
class _Look:
    """What a text looks like. language: of code as a whole; code is not looked through for formatting."""

    language: str = ""
    markdown: bool = False
    formulas: bool = False


def _look(text: str) -> _Look:
    text = text[:_LONGEST]
    if language := next((language for language, is_one in _LANGUAGES.items() if is_one(text)), ""):
        return _Look(language)
    return _Look("", bool(_MARKDOWN.search(text)), has_formula(text))


def _is_json(text: str) -> bool:
    """Whether it is an object, or a list of objects or lists: `[1]` may be a sentence's number."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) or (
        isinstance(content, list) and bool(content) and all(isinstance(one, dict | list) for one in content)
    )


def _is_python(text: str) -> bool:
    """Whether it is a program: `x = 5`, `global warming` and `Paris (France)` are valid Python, too."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    imports = sum(isinstance(one, ast.Import | ast.ImportFrom) for one in statements)
    return any(map(_is_of_programs, statements)) or (imports > 0 and len(statements) > 1)


def _is_of_programs(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return isinstance(called, ast.Attribute) or (isinstance(called, ast.Name) and called.id == "print")
    kinds = (
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.For,
        ast.While,
        ast.With,
        ast.Try,
        ast.If,
    )
    return isinstance(statement, kinds)


def _has(*patterns: str) -> Callable[[str], bool]:
    found = [regex.compile(pattern, regex.MULTILINE) for pattern in patterns]
    return lambda text: all(pattern.search(text) for pattern in found)


_SQL = _has(
    r"\A\s*(SELECT|WITH|INSERT\s+INTO|CREATE\s+TABLE|UPDATE|DELETE\s+FROM|ALTER\s+TABLE)\b",
    r"\b(FROM|VALUES|SET|TABLE)\b",
)
_SQL_IN_SMALL_LETTERS = _has(
    r"(?i)\A\s*(select|with|insert\s+into|create\s+table|update|delete\s+from|alter\s+table)\b",
    r"(?i)\b(from|values|set|table)\b",
    r";\s*\Z",
)
_YAML_LINE = regex.compile(r"\s*(?:- +)?[a-z_][\w-]*:(?:\s.*)?|\s*-\s+\S.*|\s*#.*|---|\s*")


def _is_yaml(text: str) -> bool:
    """Whether every line is a key in small letters, or an item of one: `Note: ...` is a sentence."""
    lines = text.splitlines()
    return (
        all(map(_YAML_LINE.fullmatch, lines))
        and sum(bool(regex.match(r"[a-z_][\w-]*:", line)) for line in lines) > 1
    )


_LANGUAGES: dict[str, Callable[[str], bool]] = {
    "json": _is_json,
    "python": _is_python,
    "sql": lambda text: _SQL(text) or _SQL_IN_SMALL_LETTERS(text),
    "html": _has(r"(?i)\A\s*<(!doctype|html|head|body|div|table|form|svg)\b"),
    "java": _has(r"\bpublic\s+(static|class|final|void|int)\b", r"[;{]\s*$"),
    "cpp": _has(r"^\s*#include\s*<", r"[;{]\s*$"),
    "go": _has(r"^(package \w+|func \w*\(?.*\{)\s*$", r"^\}"),
    "rust": _has(r"\bfn \w+\s*[(<].*\{\s*$", r"^\}"),
    "javascript": _has(
        r"^\s*((const|let|var)\s+[\w$,{}\[\] ]+=|(export\s+)?(async\s+)?function\b.*\(|class\s+\w+.*\{|import\b.*['\"])",
        r"[;{}]\s*$",
    ),
    "bash": _has(r"\A#!.*\b(ba|z)?sh\b"),
    "yaml": _is_yaml,
}
"""Languages and whether a text without fences is code of it as a whole."""

"""How texts want to be shown, guessed from the texts themselves. A guess fills a form: people see it, and change it."""

import ast
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import regex

from core.schema.rendering import Shown

_ENOUGH = 0.05
"""Share of texts from which on all are shown so: if only one system formats, its marks would name it."""
_ENOUGH_CODE = 0.6
_MARKDOWN = regex.compile(
    r"""
    ^\ {0,3}(?:```|~~~)                                   # fenced code
    | ^\ {0,3}\#{1,6}\ +\S                                # a heading
    | ^\ {0,3}\|?\ *:?-{3,}:?\ *\|                         # the second line of a table
    | (?<![*\w])\*\*(?=\S)[^*\n]+(?<=\S)\*\*(?![*\w])      # strong words
    | (?<!`)`(?=\S)[^`\n]+(?<=\S)`(?!`)                   # code in a line
    | ^\ {0,3}(?:[-*+]|\d{1,3}[.)])\ +\S.*\n\ *(?:[-*+]|\d{1,3}[.)])\ +\S   # two items of a list
    """,
    regex.VERBOSE | regex.MULTILINE,
)
_FORMULAS = regex.compile(
    r"""
    \\\(.+?\\\) | \\\[.+?\\\] | \$\$.+?\$\$
    | \\begin\{(?:equation|align|gather|multline|cases|[bpvV]?matrix)\*?\}
    | (?<![\w$\\])\$(?=[^\s$])[^$\n]*[\\^_{}=][^$\n]*(?<=[^\s\\])\$(?![\w$])
    """,
    regex.VERBOSE | regex.DOTALL,
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
    there = [text for text in texts if text.strip()]
    n = len(there)
    formatted = sum(bool(_MARKDOWN.search(text)) for text in there)
    formulas = sum(bool(_FORMULAS.search(text)) for text in there)
    languages = Counter(filter(None, map(_language_of, there)))
    n_code = languages.total()
    if n and n_code >= _ENOUGH_CODE * n:
        return Guess(Shown("code", languages.most_common(1)[0][0]), n_code, n)
    for rendering, n_like in (("latex", formulas), ("markdown", formatted)):
        if n_like and n_like >= _ENOUGH * n:
            return Guess(Shown(rendering), n_like, n)  # type: ignore[arg-type]  # a literal of the tuple above
    return Guess(Shown(), n, n)


def _language_of(text: str) -> str:
    """The language of a text that is code as a whole; empty for prose, and for code between fences."""
    return next((language for language, is_one in _LANGUAGES.items() if is_one(text)), "")


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_python(text: str) -> bool:
    """Whether it is a program that does more than name things: many a short sentence is valid Python."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(one, ast.Expr) or isinstance(one.value, ast.Call) for one in statements)


def _has(*patterns: str) -> Callable[[str], bool]:
    found = [regex.compile(pattern, regex.MULTILINE) for pattern in patterns]
    return lambda text: all(pattern.search(text) for pattern in found)


_LANGUAGES: dict[str, Callable[[str], bool]] = {
    "json": _is_json,
    "python": _is_python,
    "sql": _has(
        r"(?i)^\s*(select|with|insert\s+into|create\s+table|update)\b",
        r"(?i)\b(from|values|set|table)\b.*[\w)*;]\s*$",
    ),
    "html": _has(r"(?i)\A\s*<(!doctype|html|head|body|div|table|form|svg)\b"),
    "java": _has(r"\bpublic\s+(static|class|final|void|int)\b", r"[;{]\s*$"),
    "cpp": _has(r"^\s*#include\s*<", r"[;{]\s*$"),
    "go": _has(r"^(package \w+|func \w*\(?.*\{)\s*$", r"^\}"),
    "rust": _has(r"\bfn \w+\s*[(<].*\{\s*$", r"^\}"),
    "javascript": _has(r"^\s*(const|let|var|function|async function|class|import|export)\b", r"[;{}]\s*$"),
    "bash": _has(r"\A#!.*\b(ba|z)?sh\b"),
}

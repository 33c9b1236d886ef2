"""How texts want to be shown, guessed from real files and from texts that only look like something."""

import csv
import io
import json
from pathlib import Path

import pytest

from core.rendering.guess import Guess, guessed
from core.schema.rendering import Shown

PLAIN = [
    "yes",
    "x = 5",
    "import tax",
    "global warming",
    "Paris (France)",
    "Answer: 5",
    "[1]",
    '"quoted"',
    "True",
    "2*3*4 is 24",
    "a snake_case_name and other_name",
    "It costs $5, or $10 with tax.",
    "US$5/US$6 or 5$ to 10$",
    "well-known - and a dash - here",
    "- one point alone",
    "1. only",
    "> quoted\n> mail\n\nMy answer.",
    "Note: a\nResult: b",
    "Select the best from these values.",
    "With the sun out, set the table.",
    "let me know;\nor not",
    "#hashtag and # alone",
    "C# and F#",
    "5 < 6 and <b>",
    "a | b | c",
    "---",
    "''both''",
]


@pytest.mark.parametrize("text", PLAIN, ids=ascii)
def test_prose_is_plain(text: str) -> None:
    assert guessed([text]) == Guess(Shown(), 1, 1)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Here:\n```python\nx = 5\n```\nDone.", Shown("markdown")),
        ("It is **bold**.", Shown("markdown")),
        ("Run `ls`.", Shown("markdown")),
        ("- a\n- b", Shown("markdown")),
        ("1. a\n\n2. b", Shown("markdown")),
        ("# Title\ntext", Shown("markdown")),
        ("|a|b|\n|---|---|\n|1|2|", Shown("markdown")),
        ("It is $x^2$.", Shown("latex")),
        ("It is \\(x\\).", Shown("latex")),
        ("\\begin{align}a&=b\\end{align}", Shown("latex")),
        ("**Step 1** $x$", Shown("latex")),
        ("```sh\necho ${a}${b}\n```", Shown("markdown")),
        ('{"a": 1}', Shown("code", "json")),
        ('[{"a": 1}, {"a": 2}]', Shown("code", "json")),
        ("def f(x):\n    return x", Shown("code", "python")),
        ("import os\nprint(os.name)", Shown("code", "python")),
        ("SELECT a FROM b", Shown("code", "sql")),
        ("select a\nfrom b;", Shown("code", "sql")),
        ("<div>a</div>", Shown("code", "html")),
        ("#include <a.h>\nint main() {\n}", Shown("code", "cpp")),
        ("const a = 1;\nconsole.log(a);", Shown("code", "javascript")),
        ("name: a\nitems:\n  - b\n  - c", Shown("code", "yaml")),
        ("#!/bin/sh\nls", Shown("code", "bash")),
    ],
    ids=ascii,
)
def test_what_is_formatted(text: str, shown: Shown) -> None:
    assert guessed([text]) == Guess(shown, 1, 1)


def test_one_system_of_many_that_formats_is_enough() -> None:
    plain = ["An answer in a sentence."] * 95
    assert guessed([*plain, *["**Yes**, it is."] * 5]) == Guess(Shown("markdown"), 5, 100)
    assert guessed([*plain, *["**Yes**, it is."] * 4, "no"]) == Guess(Shown(), 96, 100)
    assert guessed([*plain, *["It is $x$ **now**."] * 5]) == Guess(Shown("latex"), 5, 100)


def test_blank_texts_are_not_counted() -> None:
    assert guessed([]) == guessed(["", " \n"]) == Guess(Shown(), 0, 0)
    assert guessed(["", "**a**", "b"]) == Guess(Shown("markdown"), 1, 2)


def test_code_in_two_languages_has_no_colours() -> None:
    python, sql = "def f():\n    pass", "SELECT a FROM b"
    assert guessed([python, python, sql]).shown == Shown("code", "python")
    assert guessed([python, sql]) == Guess(Shown("code"), 2, 2)
    assert guessed([python, "prose", "prose"]) == Guess(Shown(), 2, 3)


def test_the_demo_is_plain() -> None:
    answers = Path("data/demo/answers.csv").read_text(encoding="utf-8")
    found = guessed(row["text"] for row in csv.DictReader(io.StringIO(answers, newline="")))
    assert (found.shown, found.n_like) == (Shown(), found.n)


@pytest.mark.shared
def test_real_answers(shared_data: Path) -> None:
    dataset = json.loads((shared_data / "assessment-dataset.json").read_text(encoding="utf-8"))
    texts = [
        text for one in dataset["questions"] for level in one["answers"].values() for text in level.values()
    ]
    assert guessed(texts) == Guess(Shown(), len(texts), len(texts))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "column", "guess"),
    [
        ("rich.csv", "response", Guess(Shown("latex"), 2, 22)),
        ("rich.csv", "prompt", Guess(Shown(), 22, 22)),
        ("markdown-answers.csv", "text", Guess(Shown("latex"), 1, 2)),
        ("ab_plain.csv", "response", Guess(Shown("markdown"), 2, 32)),
    ],
)
def test_files_that_people_have(shared_cases: Path, file: str, column: str, guess: Guess) -> None:
    content = (shared_cases / "pairs" / file).read_bytes().decode("utf-8-sig")
    assert guessed(row[column] for row in csv.DictReader(io.StringIO(content, newline=""))) == guess

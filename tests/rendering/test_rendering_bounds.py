"""Texts that would take a program long, or much memory: a process renders them all, in every mode, within a limit that only tells a stuck one.

`python test_rendering_bounds.py` renders them; the test is that it comes to an end.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
N = 30_000
"""Characters of most texts: by the square of it, a text takes minutes."""


def repeated(piece: str, size: int = N) -> str:
    return piece * (size // len(piece))


def hostile_texts() -> list[str]:
    """What parsers are slow at: openings without an end, much that could be nested, tables of nothing."""
    openings = [
        "\\(",
        "\\( ",
        "\\[\n",
        "$a ",
        "$$a ",
        "$$\n",
        "$_",
        "${",
        "\\begin{align}\n",
        "[",
        "![",
        "[a](",
        "](",
        "<",
        "<a ",
        "`a``b",
    ]
    openings += [
        "*",
        "*a ",
        "**a *b ",
        "_a_b",
        ">",
        "> a\n",
        "- ",
        "1. ",
        "&",
        "\\",
        "\n",
        "\t",
        "```\n",
        "[a]: \n",
        '[a]: b "\n',
        "|a",
        "a|\n",
        "#",
        "(",
        "{",
        '"',
    ]
    return [
        *map(repeated, openings),
        repeated("\\[\n", 4_000) + "\\] a\n" + repeated("\\[\n", 4_000),
        "".join(">" * min(depth, 100) + " a\n" for depth in range(400)),
        "".join("`" * size + " " for size in range(1, 240)),
        "".join(f"[a{number}]: b\n" for number in range(2_000)),
        "".join("  " * depth + "- a\n" for depth in range(150)),
        repeated("|a", 400) + "\n" + repeated("|-", 400) + "\n" + repeated("a\n", 4_000),
        "|a|b|\n|-|-|\n" + repeated("|x|y|\n"),
        "```java\n" + repeated("a\n", 5_000) + "```",
        "```csharp\n" + repeated("\n", 5_000) + "```",
        "$" + repeated("a^{", 300) + "$",
        "$" + repeated("\\frac", 3_900) + "$",
        "$" + repeated("\\left(", 3_900) + "$",
        "$" + repeated("x_", 3_900) + "$",
        "$" + repeated("\\sqrt[", 3_900) + "$",
        "$" + repeated("\\begin{cases}", 3_900) + "$",
        "a" * 1_000_000,
        repeated("*a* ", 1_000_000),
    ]


def main() -> None:
    from core.rendering import rendered, text_as_read
    from core.rendering.guess import guessed
    from core.rendering.tree import elements
    from core.schema.rendering import Shown

    for text in hostile_texts():
        for shown in (Shown("markdown"), Shown("latex"), Shown("code", "java")):
            assert any(elements(rendered(text, shown))), text[:20]
            text_as_read(text, shown)
        guessed([text])
    print("done")


@pytest.mark.slow
def test_every_hostile_text_is_rendered() -> None:
    ran = subprocess.run(
        [sys.executable, __file__], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False
    )
    assert ran.stdout == "done\n", ran.stderr[-2_000:]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**a**", 'Shown("plain")'),
        ("**a**", 'Shown("markdown")'),
        ("**a** $5", 'Shown("latex")'),
        ("a", 'Shown("code")'),
        ("$x$", 'Shown("latex")'),
        ("a", 'Shown("code", "python")'),
    ],
)
def test_a_library_is_loaded_when_a_text_needs_it(text: str, shown: str) -> None:
    libraries = {"markdown_it", "pygments", "latex2mathml"}
    program = (
        "import sys; from core.rendering import rendered, text_as_read; from core.schema.rendering import Shown; import pages.widgets.rendered;"
        f"before = set(sys.modules); text_as_read({text!r}, {shown}); rendered({text!r}, {shown});"
        f"print(*sorted({libraries!r} & (set(sys.modules) - before)))"
    )
    expected = {
        ("**a**", 'Shown("markdown")'): "markdown_it",
        ("**a** $5", 'Shown("latex")'): "markdown_it",
        ("$x$", 'Shown("latex")'): "latex2mathml markdown_it",
        ("a", 'Shown("code", "python")'): "pygments",
    }
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == expected.get((text, shown), "")


def test_the_core_of_rendering_loads_no_library() -> None:
    program = "import sys, core.rendering, core.rendering.guess, core.study.blinding, core.study.audit; print(*sorted(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(ran.stdout.split())
    assert not {"markdown_it", "mdurl", "pygments", "latex2mathml"} & {name.split(".")[0] for name in loaded}


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()

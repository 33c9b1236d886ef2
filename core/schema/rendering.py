"""How the texts of a study are shown to the people who read them."""

from dataclasses import dataclass
from typing import Literal, get_args

Rendering = Literal["plain", "markdown", "latex", "code"]
"""plain: as written; markdown: CommonMark with tables; latex: the same with formulas; code: fixed width, highlighted."""
RENDERINGS: tuple[Rendering, ...] = get_args(Rendering)
_NAMES = {"plain": "", "markdown": "Markdown", "latex": "Markdown with LaTeX formulas"}


@dataclass(frozen=True)
class Shown:
    """How answers and references are shown, the same for both sides."""

    rendering: Rendering = "plain"
    code_language: str = ""
    """Of code, as Pygments names it; empty: the code is not highlighted."""

    @property
    def named(self) -> str:
        """What texts are shown as, for sentences: `Markdown`, `python code`; empty where they are shown as written."""
        if self.rendering == "code":
            return f"{self.code_language} code".lstrip()
        return _NAMES[self.rendering]

    @property
    def question(self) -> "Shown":
        """How questions and turns are shown beside such answers: a question about code is prose."""
        return AS_WRITTEN if self.rendering == "code" else self

    @property
    def as_written(self) -> bool:
        """Whether people read the very characters that a program reads."""
        return self.rendering == "plain"


AS_WRITTEN = Shown()

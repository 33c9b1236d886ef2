"""The text on a rater's screen: what its buttons carry, and what this tab of the browser knows of it."""

from dataclasses import dataclass, field

from core.errors import NotAllowed
from core.study.rated.desk import BlindText, RatingDesk


@dataclass(frozen=True)
class OnScreen:
    """What was on the screen when a button was drawn: all that its callback needs."""

    token: str
    number: int
    mark: str
    key: str
    shown_at: float
    earlier: float = 0.0
    """Seconds that the text was on the screen before, in this tab."""
    unsaved: bool = False
    """Whether the marker holds a list of errors that could not be saved."""


@dataclass
class Tab:
    """What this browser tab knows of the text on its screen."""

    key: str
    shown_at: float
    note: tuple[str, bool]
    scores: dict[str, float | None]
    earlier: float = 0.0
    """Seconds that the text was on the screen before it left it."""
    before: int | None = None
    """The text that was saved just before this one came; said as long as this one is on the screen."""
    taken: int = 0
    """The marker's last change that was dealt with."""
    own: set[str] = field(default_factory=set)
    """Lists of errors that were saved from here, by revision."""
    problem: str | None = None
    replaced: bool = False


def same_text(desk: RatingDesk, screen: OnScreen, mark: str) -> BlindText:
    """The text that was on the screen. Raises NotAllowed where another took its number."""
    text = desk.text(screen.number)
    if mark != text.mark or screen.mark != text.mark:
        raise NotAllowed(
            "Your list of texts was drawn again. This text took the place of the one you answered."
        )
    return text

"""Start: what do you want to know? A button for each question; below, what runs and what waits for somebody."""

from pages.start import progress, questions
from pages.widgets import messages, parts, visitor


def render() -> None:
    """Show the questions, then what runs and what waits."""
    with visitor.admin_store():
        parts.page("What do you want to know?")
        messages.news()
        questions.render()
        progress.render()

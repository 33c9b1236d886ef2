"""Start: a button for each question; below, runs and studies in progress or waiting."""

from pages.start import progress, questions
from pages.widgets import messages, parts, visitor


def render() -> None:
    """Show the questions, then what is in progress or waiting."""
    with visitor.admin_store():
        parts.page("What do you want to know?")
        messages.news()
        questions.render()
        progress.render()

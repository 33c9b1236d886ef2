"""What the readers of a study saw where a program reads something else: texts that are set, and pages that a browser translated."""

from core.schema.study import Study
from core.tables.reading import shown


def rendering_notes(study: Study) -> tuple[str, ...]:
    """What results say that set judges or metrics beside this study's raters; nothing where both read the same characters."""
    named = study.design.shown.named
    if not named:
        return ()
    return (
        f"Raters of study {shown(study.name)} saw its texts as {named}. Judges and metrics read them as they were written.",
    )


def translated_notes(n: int, n_answers: int, what: str) -> tuple[str, ...]:
    """How many of the answers that count came from a page that the browser had translated; nothing if none did.

    what: answers of this study, such as `votes`.
    """
    if not n:
        return ()
    return (
        f"Translated pages: {n:,} of {n_answers:,} {what} were given on a page that the browser had translated. They count.",
    )

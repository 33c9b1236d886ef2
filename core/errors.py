"""The errors a user can meet, as a tree.

AssayError                 anything a user can mend; its text names the thing, the place and what to do
├── InputError             a file or an argument that cannot be used; holds every problem found
├── NotFound               a study, rater or link that is not there
├── NotAllowed             an action the study's state or the visitor's role forbids
│   └── StillMissing       a text cannot be done yet; what was said of it is kept
└── StorageError           the database could not be read or written; nothing was lost that was acknowledged
"""

from collections.abc import Sequence


class AssayError(Exception):
    """Base of all errors shown to a user as one sentence, never as a traceback."""


class InputError(AssayError):
    """Input that cannot be used. `problems` lists every problem, each with its place."""

    def __init__(self, what: str, problems: Sequence[str] = ()) -> None:
        self.what = what
        self.problems = tuple(problems)
        super().__init__(what if not problems else "\n".join([what, *(f"  - {p}" for p in problems)]))


class NotFound(AssayError):
    """The named study, rater or link does not exist."""


class NotAllowed(AssayError):
    """The study's state or the visitor's role forbids this."""


class StillMissing(NotAllowed):
    """A text cannot be done before all is said that is asked. What was said is kept."""


class StorageError(AssayError):
    """The database could not be read or written."""

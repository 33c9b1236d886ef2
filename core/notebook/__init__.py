"""Assay in a notebook or script: the functions that `import assay` offers, with data frames in and out.

Each function does what the command of the same name does, with the same numbers; its parameters are the command's
options with underscores. docs/python.md lists them. `read`, `metrics`, `score`, `damage`, `studies` and
`study_annotations` return a data frame; every analysis returns a `Result`.
"""

from core.errors import AssayError, InputError
from core.notebook import declared
from core.notebook.declared import *
from core.notebook.frames import read
from core.notebook.papers import reproduce
from core.notebook.result import Result, plot
from core.notebook.studies import studies, study_annotations
from core.notebook.texts import damage, metrics, score

__all__ = [
    "AssayError",
    "InputError",
    "Result",
    "damage",
    "metrics",
    "plot",
    "read",
    "reproduce",
    "score",
    "studies",
    "study_annotations",
]
__all__ += declared.__all__

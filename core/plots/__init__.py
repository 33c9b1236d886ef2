"""Results as plotly figures, one module a subject; no Streamlit, no statistics."""

from core.plots.generation import words_kept
from core.plots.study import AGREEMENT, agreement, choices, contingency, position, preference_names, verdict

__all__ = [
    "AGREEMENT",
    "agreement",
    "choices",
    "contingency",
    "position",
    "preference_names",
    "verdict",
    "words_kept",
]

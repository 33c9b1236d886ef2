"""Results as plotly figures, one module a subject; no Streamlit, no statistics."""

from core.plots.dressing import heat_colour
from core.plots.generation import words_kept
from core.plots.judges import judge_costs, two_judges
from core.plots.meta_correlation import meta_matrix, meta_scatter, meta_title, published_heat
from core.plots.metrics import metric_ranking, metric_votes, redundancy, scores_by_level
from core.plots.specialist import example_curve, rater_heat, spans_by_system
from core.plots.study import agreement, choices, contingency, position, verdict

__all__ = [
    "agreement",
    "choices",
    "contingency",
    "example_curve",
    "heat_colour",
    "judge_costs",
    "meta_matrix",
    "meta_scatter",
    "meta_title",
    "metric_ranking",
    "metric_votes",
    "position",
    "published_heat",
    "rater_heat",
    "redundancy",
    "scores_by_level",
    "spans_by_system",
    "two_judges",
    "verdict",
    "words_kept",
]

"""The tab Judges: metrics and judges of the study's texts, beside its levels and its votes."""

from core.schema.study import Study
from core.store import Store
from pages.widgets.parts import nothing


def render(store: Store, study: Study) -> None:
    """Show which metrics and judges follow the level and agree with the raters."""
    if study.state != "unblinded":
        nothing("votes are closed until you unblind the study")

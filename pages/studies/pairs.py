"""The tab Pairs, or Texts in a rating study: what was read, with what people and judges said about it."""

from core.schema.study import Study
from core.store import Store
from pages.widgets.parts import nothing


def render(store: Store, study: Study) -> None:
    """Show every pair with its votes, scores and both texts, once the study is unblinded."""
    if study.state != "unblinded":
        nothing("pairs and their votes are closed until you unblind the study")

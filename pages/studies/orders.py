"""A judge that compared the pairs: both orders, ties, and its answers beside the raters'."""

from core.schema.study import Study
from core.store import Store
from pages.widgets.parts import nothing


def render(store: Store, study: Study) -> None:
    """Show it."""
    nothing("it is not built yet")

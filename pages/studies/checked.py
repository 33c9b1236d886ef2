"""May a judge be trusted on these votes or ratings? The verdict of `check` for this study."""

from core.schema.study import Study
from core.store import Store
from pages.widgets.parts import nothing


def render(store: Store, study: Study) -> None:
    """Show it."""
    nothing("it is not built yet")

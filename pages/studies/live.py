"""Every metric and judge of the study's texts: which follows the level, and which agrees with the raters?"""

from core.schema.study import Study
from core.store import Store
from pages.widgets.parts import nothing


def render(store: Store, study: Study) -> None:
    """Show it."""
    nothing("it is not built yet")

"""The page Check: can this judge be trusted for a use? Labels come from a file or from a run on rated texts."""

from core.store import Store
from pages.check import labels
from pages.tabs import checked, moved
from pages.widgets import address, messages, result_table, visitor
from pages.widgets.parts import page


def render() -> None:
    """Choose labels and judges, then show the verdict and everything behind it."""
    with visitor.admin_store() as store:
        moved.follow("check", store)
        page("Can this judge be trusted?", "A verdict for one use of it.", "check#five-uses")
        result_table.style()
        checked.style()
        messages.news()
        with address.kept("check"), messages.mistakes_shown():
            _check(store)


def _check(store: Store) -> None:
    given = labels.given(store)
    if given is not None:
        checked.render(store, given)

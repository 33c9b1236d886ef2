"""One text of the scores: all its scores and ratings, and its words beside a better text and the reference."""

from core.results.correlations.disagreement import rating_table, ratings_of_texts, scores_of_text
from core.results.correlations.points import Points
from core.schema.scores import ScoredRow
from core.store import Store
from pages.tabs import levels
from pages.widgets import chosen_scores, result_table
from pages.widgets.against import Target
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import nothing


def numbers(scores: Scores, target: Target, row: int) -> None:
    """Show all scores of a text, and how people rated it."""
    result_table.show(scores_of_text(scores.table, row), titled=False, files=False)
    if target.ratings is None:
        return
    ratings = ratings_of_texts(scores.table, target.ratings).get(row, ())
    if ratings:
        result_table.show(rating_table(ratings), titled=False, files=False)
    else:
        nothing("nobody rated this text")


def cards(store: Store, scores: Scores, points: Points, row: int) -> None:
    """Show the text of a row with its changes against a better one, else against the reference."""
    texts = chosen_scores.texts_behind(store, scores).at(row, points.best_of(row))
    if texts.text is None:
        nothing(texts.reason)
        return
    base = None
    if texts.better is not None and texts.better_row is not None:
        which = "Undamaged text" if texts.better_is == "undamaged" else "Best text of the item"
        base = _titled(which, texts.better_row), texts.better
    levels.cards(
        (_titled("Text", texts.row), texts.text), base, texts.reference, texts.language, texts.source
    )


def _titled(what: str, row: ScoredRow) -> str:
    return f"{what}: {row.system}{'' if row.level is None else f', level {row.level}'}"

"""The texts that a judge and people are compared on: those with a rating, on the raters' scale."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.joining.panel import inclusion_probabilities
from core.schema.panel import Panel
from core.schema.scale import SCORES, Kind, Scale
from core.stats.agreement import pair_shares
from core.stats.degeneracy import Constant, constant
from core.stats.resampling import Floats
from core.stats.votes import MISSING, Codes
from core.tables.reading import number_in

MOST_OUTSIDE = 0.1
"""Largest share of a judge's scores outside the ends of the scale with which they can be subtracted from the raters'."""
MOSTLY = 0.5
"""Smallest share of a judge's scores that must be classes on offer, so that it counts as using the raters' scale."""


@dataclass(frozen=True)
class OwnTexts:
    """The texts of one judge: with at least one rating, and its score. Or, without a judge, all rated texts."""

    scores: Floats
    """NaN only where texts without a score were asked for."""
    ratings: Floats
    items: NDArray[np.int64]
    systems: NDArray[np.str_]
    rows: NDArray[np.intp]
    """Their places in the panel."""
    scale: Scale
    """The raters' scale."""
    on_scale: bool
    """Whether the judge uses it."""
    weights: Floats | None
    """What each text counts in shares and means; None unless texts were drawn with known probabilities."""

    @property
    def kind(self) -> Kind:
        """The scale on which judge and raters are compared: the raters' if the judge uses it, else scores."""
        return self.scale.kind if self.on_scale or not self.scale.ordered else SCORES

    @property
    def ordered(self) -> bool:
        """Whether a larger value is better or more."""
        return self.scale.ordered

    @property
    def classes(self) -> tuple[float, ...]:
        """Classes on offer, and then what else the judge gave; empty where scores are compared."""
        if self.kind == SCORES:
            return ()
        others = np.unique(self.scores[~np.isnan(self.scores) & ~self.scale.on_offer(self.scores)])
        return (*self.scale.classes, *others.tolist())

    @property
    def n_classes(self) -> int:
        """How many `classes` there are; two where raters and judge gave a single word, because another must be possible."""
        return max(len(self.classes), 2)

    @property
    def measure(self) -> str:
        """What the judge is compared by: agreement for classes, correlation for scores."""
        return "agreement" if self.kind != SCORES else "correlation"

    @property
    def same_scale(self) -> bool:
        """Whether the judge's scores can be subtracted from the raters'."""
        known = self.scores[~np.isnan(self.scores)]
        if not self.ordered or not known.size:
            return False
        low, high = self.ends if self.scale.ends is not None else _range(self.ratings)
        return bool(((known < low) | (known > high)).mean() <= MOST_OUTSIDE)

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the scale; of scores without ends the range of all values."""
        if self.scale.ends is not None:
            return self.scale.ends
        values = np.concatenate([self.ratings.ravel(), self.scores])
        return float(np.nanmin(values)), float(np.nanmax(values))

    @property
    def means(self) -> Floats:
        """Mean rating of each text, shape (n,)."""
        return np.asarray(np.nanmean(self.ratings, axis=1), dtype=np.float64)

    def votes(self) -> tuple[Codes, Codes]:
        """Codes of the raters (n, raters) and of the judge (n,), numbers of `classes`."""
        classes = np.array(self.classes)
        order = np.argsort(classes)

        def codes(values: Floats) -> Codes:
            filled = np.where(np.isnan(values), classes[0], values)
            found = order[np.searchsorted(classes, filled, sorter=order)]
            return np.where(np.isnan(values), MISSING, found).astype(np.int64)

        return codes(self.ratings), codes(self.scores)

    def only(self, kept: NDArray[np.bool_]) -> "OwnTexts":
        """The texts for which `kept`, shape (n,), is true; the scale stays that of all texts."""
        return replace(
            self,
            scores=self.scores[kept],
            ratings=self.ratings[kept],
            items=self.items[kept],
            systems=self.systems[kept],
            rows=self.rows[kept],
            weights=None if self.weights is None else self.weights[kept],
        )


def lowest_pass(scale: Scale, named: str | None) -> float | None:
    """The lowest rating that passes, by its word or number; of classes without an order the one that passes.

    None where none is named, or the named one is none of the scale.
    """
    if named is None:
        return None
    by_word = {scale.name(value).casefold(): value for value in scale.classes}
    found = by_word.get(named.casefold())
    return found if found is not None or scale.kind == "unordered" else number_in(named)


def passing(texts: OwnTexts, lowest: float) -> OwnTexts:
    """The texts with ratings and scores as two classes: at least `lowest` passes. A judge on another scale is left as it is."""
    if not texts.on_scale:
        return texts

    def passes(values: Floats) -> Floats:
        return np.where(np.isnan(values), np.nan, (values >= lowest).astype(np.float64))

    scale = Scale("two", (0.0, 1.0), {0.0: "fail", 1.0: "pass"}, (0.0, 1.0), texts.scale.origin)
    return replace(texts, scores=passes(texts.scores), ratings=passes(texts.ratings), scale=scale)


def own_texts(panel: Panel, judge: int | None, *, unscored: bool = False) -> OwnTexts:
    """The texts of a judge (its column) with a rating and its score; without a judge all rated texts, with 0 as score.

    unscored: whether texts without its score are among them.
    """
    scores = np.zeros(len(panel.ratings)) if judge is None else panel.scores[:, judge]
    rated = ~np.isnan(panel.ratings).all(axis=1)
    rows = np.flatnonzero(rated if unscored else rated & ~np.isnan(scores))
    chances = inclusion_probabilities(panel.rows)
    on_scale = judge is None or _uses_scale(panel, scores)
    return OwnTexts(
        scores[rows],
        panel.ratings[rows],
        panel.items[rows],
        panel.systems[rows],
        rows,
        panel.scale,
        on_scale,
        None if chances is None else _weights(chances[rows]),
    )


def _uses_scale(panel: Panel, scores: Floats) -> bool:
    """Whether a judge with these scores uses the raters' scale; one without scores does.

    At least MOSTLY of its scores must be classes on offer; or, for scores and where the scale is declared, lie within its ends,
    or the raters' range where it has none. The other scores then count as classes that nobody gave.
    """
    scale, known = panel.scale, scores[~np.isnan(scores)]
    if not known.size or not scale.ordered:
        return True
    if scale.classes and scale.origin != "declared":
        return bool(scale.on_offer(known).mean() >= MOSTLY)
    low, high = scale.ends if scale.ends is not None else _range(panel.ratings)
    return bool(((known >= low) & (known <= high)).mean() >= MOSTLY)


def _range(ratings: Floats) -> tuple[float, float]:
    """Smallest and largest rating; for none an empty range."""
    given = ratings[~np.isnan(ratings)]
    return (float(given.min()), float(given.max())) if given.size else (0.0, 0.0)


def classes_of(panel: Panel, judge: int) -> tuple[float, ...]:
    """Classes that raters and a judge (its column) share, in order; empty if they are compared as scores."""
    return own_texts(panel, judge).classes


def _weights(chances: Floats) -> Floats:
    # Imported lazily: loads statsmodels, which most checks need not.
    from core.stats.planning import weights_of

    return weights_of(chances)


def shares_of(texts: OwnTexts) -> tuple[Floats, Floats]:
    """For each text: the share of its raters who gave the judge's class, and of its pairs of raters that agree."""
    votes, judged = texts.votes()
    raters, judge = pair_shares(votes, judged, texts.n_classes)
    return judge, raters


def agreement_by_text(panel: Panel, judge: int) -> Floats:
    """Share of raters who gave the judge's class, for each rated text with its score; NaN where another has two raters."""
    return shares_of(own_texts(panel, judge))[0]


def constant_scores(panel: Panel, scores: Floats) -> Constant | None:
    """The score of all texts, if a judge gives only one; None if its scores differ, or it always prefers one side of pairs.

    A judge does not know which side a text is on: if it always prefers the candidate, it tells the texts apart. One that always
    ties does not.
    """
    always = constant(scores)
    if always is None or always.n_others or (panel.pairs and always.value != 0):
        return None
    return always

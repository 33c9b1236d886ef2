"""What a judge's scores and people's labels of a panel are corrected from: numbers whose mean is estimated, and the texts of each system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.panel import inclusion_probabilities
from core.schema.panel import Panel
from core.schema.scale import BY_NAME
from core.schema.scores import ScoredRow
from core.stats.corrected import Texts
from core.stats.resampling import Floats
from core.stats.strata import MOST_ANSWERS
from core.tables.problems import listed
from core.tables.reading import looks_like_number, number_in, shown


@dataclass(frozen=True)
class LabelScale:
    """Labels and scores as numbers whose mean is estimated."""

    judge: Floats
    """Shape (n,)."""
    answers: Floats
    """What the judge said, shape (n,): its classes before they became passes and fails."""
    ratings: Floats
    """Shape (n, raters)."""
    passes: str | None
    """What counts as a pass; None for grades."""
    fails: tuple[str, ...]


def label_scale(panel: Panel, wanted: str | None) -> LabelScale:
    """Return grades as they are, or passes as 1 and everything else as 0, of the panel's first judge.

    wanted: the word or number that passes; None: the better of two words, 1 of 0 and 1, else ratings are grades. Raises InputError for one that no rater gave.
    """
    judge, ratings = panel.scores[:, 0], panel.ratings
    given = np.unique(ratings[~np.isnan(ratings)]).tolist()
    scored = np.unique(judge[~np.isnan(judge)]).tolist()
    words = {
        value: panel.scale.words.get(value, f"{value:g}") for value in sorted({*given, *panel.scale.words})
    }
    if wanted is None:
        if len(panel.scale.words) == 2 and panel.scale.ordered:
            best = max(panel.scale.words)
        elif not panel.scale.ordered:
            raise InputError(
                f"{shown(panel.name)}: the labels have no known order: {listed(list(words.values()))}. Choose "
                "the one that counts as a pass."
            )
        elif not panel.scale.words and given and (given == [0.0, 1.0] or {*given, *scored} <= {0.0, 1.0}):
            best = 1.0
        else:
            return LabelScale(judge, judge, ratings, None, ())
    else:
        best = _value_of(wanted, words, panel.name)
    fails = tuple(word for value, word in words.items() if value != best)
    # A judge that gives other numbers, such as a probability, keeps them: they may be cut into bins.
    same = {*scored} <= {*words, *panel.scale.classes}
    return LabelScale(
        np.where(np.isnan(judge), np.nan, judge == best) if same else judge,
        judge,
        np.where(np.isnan(ratings), np.nan, ratings == best),
        words.get(best, f"{best:g}"),
        fails,
    )


def _value_of(wanted: str, words: Mapping[float, str], name: str) -> float:
    plain = " ".join(wanted.casefold().split())
    for value, word in words.items():
        number = number_in(wanted) if looks_like_number(wanted) else None
        if plain == " ".join(word.casefold().split()) or (number is not None and number == value):
            return value
    raise InputError(
        f"pass: no rating in {shown(name)} is {shown(wanted)}. The ratings are {listed(list(words.values()))}."
    )


@dataclass(frozen=True)
class Labelled:
    """A judge's scores and the labels of a panel, as numbers whose mean is estimated."""

    texts: Texts
    """All of them."""
    scale: LabelScale
    n_averaged: int
    """Texts with several raters: their label is the mean of the ratings."""
    rows: Sequence[ScoredRow]

    @property
    def pass_rate(self) -> bool:
        """Whether the labels are passes and fails."""
        return self.scale.passes is not None

    def of(self, where: NDArray[np.bool_], keys: Sequence[str] | None = None) -> Texts:
        """The texts for which `where`, shape (n,), is true; keys: what pairs them with those of another system."""
        whole = self.texts
        return Texts(
            whole.judge[where],
            whole.human[where],
            whole.clusters[where],
            whole.answers,
            None if whole.weights is None else whole.weights[where],
            None if whole.original is None else whole.original[where],
            keys=None if keys is None else np.array(keys),
        )

    def pair(self, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[Texts, Texts]:
        """The texts of two systems, with the keys that pair them, where there are such."""
        keys = _keys(self.rows, first, second) or (None, None)
        return self.of(first, keys[0]), self.of(second, keys[1])


def labelled_of(panel: Panel, passes: str | None) -> Labelled:
    """Put the panel's first judge beside the mean label of each text. passes: as in `label_scale`, which raises InputError."""
    scale = label_scale(panel, passes)
    rated = ~np.isnan(scale.ratings)
    counts = rated.sum(axis=1)
    human = np.where(
        counts > 0, np.where(rated, scale.ratings, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan
    )
    chances = inclusion_probabilities(panel.rows)
    weights = None
    if chances is not None and not np.isnan(chances[counts > 0]).all():
        # Imported lazily: loads statsmodels, which most panels need not.
        from core.stats.planning import weights_of

        weights = np.ones(human.size)
        weights[counts > 0] = weights_of(chances[counts > 0])
    known = scale.answers[~np.isnan(scale.answers)]
    words = bool(panel.scale.words) or panel.scale.kind in BY_NAME
    answers = bool(known.size) and words and np.unique(known).size <= MOST_ANSWERS
    texts = Texts(scale.judge, human, panel.items, answers, weights, scale.answers, systems=panel.systems)
    return Labelled(texts, scale, int((counts > 1).sum()), panel.rows)


def _keys(
    rows: Sequence[ScoredRow], a: NDArray[np.bool_], b: NDArray[np.bool_]
) -> tuple[list[str], list[str]] | None:
    """What pairs the rows of two systems: the item, or what else describes a text; None if several rows share that."""
    sides = [[rows[at] for at in np.flatnonzero(where).tolist()] for where in (a, b)]
    for whole in (False, True):
        keys = [
            [
                repr(
                    (one.item_id, one.level, one.language, sorted(one.labels.items()))
                    if whole
                    else one.item_id
                )
                for one in side
            ]
            for side in sides
        ]
        if all(len(set(one)) == len(one) for one in keys):
            return keys[0], keys[1]
    return None

"""Rated texts that an evaluator is shown: from items held out of what it judges, so many of each class.

Source: 004, section 3.5, few-shot: for every task, language and dimension up to two texts of each class, whose class
is the majority of its raters; the same examples for every text that is judged.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from core.schema.rated import RatedText
from core.schema.tasks import Dimension

Majority = Literal["drop", "median", "middle"]
"""Of three raters who all differ: no label, the median, or the middle class as in 004's code."""
TASK_LABELS = ("task", "dataset")
"""Labels that name what the texts were written for; examples of another task are not shown."""


class HeldOut:
    """The items held out, and the texts of theirs that are shown for each dimension."""

    def __init__(
        self,
        texts: Sequence[RatedText],
        dimensions: Sequence[Dimension],
        *,
        shots: int,
        share: float,
        majority: Majority,
        seed: int,
    ) -> None:
        items = sorted({text.output.item_id for text in texts if text.ratings})
        random.Random(seed).shuffle(items)
        self.items = frozenset(_drawn(texts, items, share) if shots else ())
        self._majority: Majority = majority
        self._shown: dict[tuple[str, str, str], tuple[RatedText, ...]] = {}
        order = {item: at for at, item in enumerate(items)}
        pool = sorted(
            (text for text in texts if text.output.item_id in self.items),
            key=lambda text: order[text.output.item_id],
        )
        for kind in dict.fromkeys(map(_kind_of, pool)):
            own = [text for text in pool if _kind_of(text) == kind]
            for dimension in dimensions:
                self._shown[*kind, dimension.name] = self._chosen(own, dimension, shots)

    def shown(self, text: RatedText, dimension: Dimension) -> tuple[RatedText, ...]:
        """Examples of the text's task and language, the lowest class first; empty where none was held out."""
        return self._shown.get((*_kind_of(text), dimension.name), ())

    def label(self, text: RatedText, dimension: Dimension) -> tuple[float | None, int]:
        """The class that most of its raters gave a text, and how many raters there are; None: they name none."""
        classes, votes = dimension.classes, _votes(text, dimension)
        if not votes:
            return None, 0
        # Imported lazily: it brings scipy, and every command loads this module.
        from core.stats.labels import majority_labels

        (code,) = majority_labels([[classes.index(one) for one in votes]], len(classes), self._majority)
        return None if code < 0 else classes[code], len(votes)

    def wording(self, text: RatedText, dimension: Dimension) -> str:
        """Whose judgment a text's class is, in words: of most of its raters only where more than half gave it."""
        label, n_raters = self.label(text, dimension)
        if n_raters == 1:
            return "The judgment of one person."
        votes = Counter[float | None](_votes(text, dimension))
        if 2 * votes[label] > n_raters:
            return f"The judgment of most of {n_raters} people."
        alone = [score for score, n in votes.items() if n == max(votes.values())] == [label]
        which = "most frequent" if alone else "middle"
        return f"The {which} judgment of {n_raters} people, who differed."

    def _chosen(self, pool: Sequence[RatedText], dimension: Dimension, shots: int) -> tuple[RatedText, ...]:
        by_class: dict[float, list[RatedText]] = {}
        for text in pool:
            label, _ = self.label(text, dimension)
            if label is not None:
                by_class.setdefault(label, []).append(text)
        return tuple(text for label in sorted(by_class) for text in by_class[label][:shots])


def _votes(text: RatedText, dimension: Dimension) -> list[float]:
    """The classes that its raters gave a text."""
    return [
        one.score
        for one in text.ratings
        if one.dimension == dimension.name and one.score in dimension.classes
    ]


def _drawn(texts: Sequence[RatedText], order: Sequence[str], share: float) -> set[str]:
    """The items held out: of every task and language the share asked for, one at least, but never its only one.

    All take the first of one order, so that an item that is there in several languages is held out of all of them.
    """
    of_kind: dict[tuple[str, str], set[str]] = {}
    for text in texts:
        if text.ratings:
            of_kind.setdefault(_kind_of(text), set()).add(text.output.item_id)
    drawn: set[str] = set()
    for own in of_kind.values():
        n = min(len(own) - 1, max(1, round(share * len(own))))
        drawn.update([item for item in order if item in own][:n])
    return drawn


def _kind_of(text: RatedText) -> tuple[str, str]:
    labels = text.output.labels
    return next((labels[name] for name in TASK_LABELS if name in labels), ""), text.output.language

"""Which text a rating is about: by item, system and level, and by what else is needed to tell texts apart."""

from collections.abc import Sequence

from core.datasets.level_names import level_number
from core.datasets.open_tables import ONLY_SYSTEM
from core.schema.scores import Rating, ScorableOutput

Named = ScorableOutput | Rating
Key = tuple[object, ...]

_UNSAID = (None, "", "und")


class TextFinder:
    """Finds the text of each rating.

    System and level take part where both sides name any. Language and labels take part where one side has several
    texts that differ in nothing else; a text or rating that leaves one blank agrees with all.
    """

    def __init__(self, outputs: Sequence[ScorableOutput], ratings: Sequence[Rating]) -> None:
        self._outputs = outputs
        sides: tuple[Sequence[Named], ...] = (outputs, ratings)
        self._by_system, self._by_level = (
            all(any(_value(row, name) not in _UNSAID for row in side) for side in sides)
            for name in ("system", "level")
        )
        labels = {label: None for row in ratings for label in row.labels}
        self._others = [
            name
            for name in ("language", *labels)
            if all(any(_value(row, name) not in _UNSAID for row in side) for side in sides)
            and any(self._tells_apart(side, name) for side in sides)
        ]
        self._places: dict[Key, list[int]] = {}
        for place, output in enumerate(outputs):
            self._places.setdefault(self._key(output), []).append(place)

    def places(self, rating: Rating) -> list[int]:
        """The outputs, by their place, that the rating may be about: one, none, or several."""
        there = self._places.get(self._key(rating), ())
        return [place for place in there if self._agrees(self._outputs[place], rating)]

    def elsewhere(self, rating: Rating) -> bool:
        """Whether the text is there but for its language or a label."""
        return self._key(rating) in self._places

    def differing(self, places: Sequence[int]) -> list[str]:
        """In what some outputs differ."""
        outputs = [self._outputs[place] for place in places]
        names = ("system", "level", "language", *{label: None for one in outputs for label in one.labels})
        return [name for name in names if len({_value(one, name) for one in outputs}) > 1] or ["text"]

    def _key(self, row: Named) -> Key:
        number = level_number(row.level)
        return (
            row.item_id,
            (row.system or ONLY_SYSTEM) if self._by_system else None,
            (row.level if number is None else number) if self._by_level else None,
        )

    def _tells_apart(self, side: Sequence[Named], name: str) -> bool:
        said: dict[Key, str] = {}
        for row in side:
            value = _value(row, name)
            if value not in _UNSAID and said.setdefault(self._key(row), value or "") != value:
                return True
        return False

    def _agrees(self, output: ScorableOutput, rating: Rating) -> bool:
        return all(
            _value(output, name) in _UNSAID
            or _value(rating, name) in _UNSAID
            or _value(output, name) == _value(rating, name)
            for name in self._others
        )


def _value(row: Named, name: str) -> str | None:
    if name == "system":
        return None if row.system == ONLY_SYSTEM else row.system
    if name == "level":
        return row.level
    return row.language if name == "language" else row.labels.get(name)

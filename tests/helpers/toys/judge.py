"""A judge as somebody would add one: this file, and a line in core.runs.kinds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.judges.kind import Bench, Judged, JudgeKind, JudgeSettings, Opened, lacking, pair_of
from core.schema.scores import RatedText, Score
from core.schema.settings import Remark, setting


class ToyJudgeSettings(JudgeSettings):
    """How it counts."""

    MODEL_FREE = True

    penalty: float = setting(1.0, "Penalty", "points for a word that the reference lacks", within=(0.0, 1.0))
    letters: bool = setting(False, "Compare letters", "compares first letters in the place of whole words")
    most_named: int = setting(3, "Words named", "words in the record, at most", within=(1, 9), scored=False)

    def problems(self, backend: str) -> Iterator[Remark]:
        """It asks no model."""
        if backend != "rules":
            yield Remark("backend", "the toy asks no model; choose {backend=rules}")


@dataclass(frozen=True)
class ToyRecord:
    """Which words the reference lacks."""

    n_words: int
    missing: tuple[str, ...]


class ToyJudge:
    """Share of the text's words that the reference has."""

    def __init__(self, settings: ToyJudgeSettings) -> None:
        self._settings = settings

    async def judge(self, text: RatedText) -> Judged:
        """See core.judges.kind's Judge."""
        pair = pair_of(text)
        if why := lacking(pair, "reference"):
            return Judged.without_asking(why)
        length = 1 if self._settings.letters else None
        there = {word[:length] for word in str(pair.reference).split()}
        words = pair.text.split()
        missing = tuple(word for word in words if word[:length] not in there)
        score = max(0.0, 1 - self._settings.penalty * len(missing) / len(words))
        return Judged((Score(score),), ToyRecord(len(words), missing[: self._settings.most_named]))


class ToyKind(JudgeKind):
    """Share of words that the reference has."""

    name = "toy"
    title = "Toy"
    summary = "share of words that the reference has"
    family = "Toy"
    Settings = ToyJudgeSettings
    Record = ToyRecord
    detail_columns = ("what", "text")

    def open(self, settings: ToyJudgeSettings, bench: Bench) -> Opened:
        """See JudgeKind."""
        return lambda model: ToyJudge(settings)

    def details(self, record: ToyRecord) -> Iterator[dict[str, Any]]:
        """See JudgeKind."""
        yield from ({"what": "missing", "text": word} for word in record.missing)

    def record_problems(self, record: ToyRecord, text: str | None) -> Iterator[str]:
        """See JudgeKind."""
        if len(record.missing) > record.n_words:
            yield f"missing: {len(record.missing)} of {record.n_words} words"


KIND = ToyKind()

"""What both schemes of generation have among their settings."""

from typing import Any, ClassVar

from core.generation.records import Task
from core.schema.kinds import KindSettings
from core.schema.settings import setting


class GenerationSettings(KindSettings):
    """What fixes a run that makes texts beside model and prompts."""

    MODEL_FREE: ClassVar[bool] = True

    @property
    def level_names(self) -> tuple[str, ...]:
        """Best first."""
        raise NotImplementedError

    @property
    def asked_for(self) -> Task | None:
        """What the texts of the file are; None: questions with references."""
        return None

    @property
    def drawn_with(self) -> int | None:
        """See KindSettings."""
        seed: int = self.seed  # type: ignore[attr-defined]  # both schemes declare it, after their other fields
        return seed


def seed_setting() -> Any:
    """Of the order of groups, and of everything that rules draw; per item by its id, not its place."""
    return setting(
        0,
        "Seed",
        "seed of everything that is drawn: the same seed gives the same groups, and with rules the same answers",
    )

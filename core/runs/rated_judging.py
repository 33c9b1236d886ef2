"""Judging with examples that people rated, as a job: the ratings are read once, and every item is judged by them."""

from collections.abc import Sequence

from core.judges.automqm import open_automqm
from core.judges.class_examples import HeldOut
from core.judges.direct import open_direct
from core.judges.examples import ExamplePool
from core.judges.judge import Judged, RatedJudge
from core.judges.quality_rating import hold_out, open_quality
from core.llm.asking import Model
from core.runs.jobs import each_of, grouped
from core.runs.judge_settings import JudgeSettings
from core.runs.judging import JudgeJob, task_of
from core.runs.model_settings import RunningSettings
from core.runs.rated_texts import judged_among
from core.schema.rated import RatedText
from core.store import Store


class RatedJob(JudgeJob):
    """core.runs' Job for the judges that stand on ratings. An item is all its texts that are judged."""

    def __init__(
        self,
        store: Store,
        run_id: int,
        texts: Sequence[RatedText],
        settings: JudgeSettings,
        running: RunningSettings,
        *,
        ratings: str = "",
    ) -> None:
        """texts: all of the run's file, also those that serve as examples only; ratings: the file's hash."""
        judged = judged_among(settings, texts)
        outputs = [text.output for text in judged]
        super().__init__(store, run_id, outputs, settings, running, ratings=ratings)
        self._texts = tuple(grouped(judged, lambda text: text.output.item_id).values())
        self._all = tuple(texts)
        self._task = task_of(settings)
        self._pool: ExamplePool | None = None
        self._held_out: HeldOut | None = None

    async def start(self) -> None:
        """Reach the server or load the model, and lay out the examples, once for all items."""
        await super().start()
        self._pool = pool_of(self._settings, self._all)
        if self._settings.kind == "quality":
            self._held_out = hold_out(self._settings.quality, self._task, self._all)

    async def _judged(self, position: int, model: Model | None) -> list[Judged]:
        return await each_of(self._texts[position], self._judge(model).judge_text, self._broken)

    def _judge(self, model: Model | None) -> RatedJudge:
        settings, prompts, task = self._settings, self._prompts, self._task
        if settings.kind == "quality":
            assert self._held_out is not None, "start lays the examples out"
            return open_quality(model, prompts, settings.quality, task, self._held_out)
        assert self._pool is not None, "start lays the examples out"
        if settings.kind == "direct":
            assert model is not None, "rules cannot be the judge direct"
            return open_direct(model, prompts, settings.direct, task, self._pool)
        return open_automqm(model, prompts, settings.automqm, task, self._pool)


def pool_of(settings: JudgeSettings, texts: Sequence[RatedText]) -> ExamplePool | None:
    """The rated texts to choose examples from; None where the judge holds out its own."""
    if settings.kind == "quality":
        return None
    on = task_of(settings).dimension(settings.direct.dimension) if settings.kind == "direct" else None
    return ExamplePool(texts, dimension=on)

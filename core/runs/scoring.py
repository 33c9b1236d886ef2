"""Scoring as a job: from a file of texts and the metrics asked for to the scores of every text of an item."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePath

from core.datasets.scorable import read_outputs
from core.errors import InputError
from core.llm.client import Cache
from core.runs.jobs import Outcome, grouped
from core.runs.rated_texts import rated_output_set
from core.runs.score_parts import BatchPart, PairScores, Part, PoolPart, ThreadPart
from core.runs.score_settings import ScoringRunning, ScoringSettings, Synonyms, specs_of
from core.schema import RATED_KINDS, Run
from core.schema.scores import Metric, OutputSet, ScorableOutput, Score
from core.scoring.metrics.registry import find_metrics
from core.scoring.metrics.scorer import Group, Scorer, ScoringPair
from core.store import Store
from core.store.connection import Row
from core.store.runs import item_states, run_data
from core.store.scores import find_scores, keep_run_metrics, keep_scores, run_metrics

BATCHES_AT_ONCE = 4
"""Batches of a neural model that are gathered: enough to sort texts by length, few enough to cancel soon."""


def output_set(store: Store, run: Run) -> OutputSet:
    """The texts a run scores, read from the file it keeps."""
    if run.kind in RATED_KINDS:
        return rated_output_set(store, run)
    return read_outputs(run_data(store, run.run_id), PurePath(run.data_file).name)


def by_item(outputs: Sequence[ScorableOutput]) -> dict[str, list[ScorableOutput]]:
    """Item -> its texts; items in the order in which they first come."""
    return grouped(outputs, lambda output: output.item_id)


def parts_of(settings: ScoringSettings, running: ScoringRunning) -> tuple[Part, ...]:
    """All lexical metrics as one part, because they share statistics; each neural one as its own.

    A text that lacks one neural score is not sent through the models of the others then.
    """
    parts: list[Part] = []
    if lexical := tuple(spec.metric.name for spec in specs_of(settings, "lexical")):
        opener = partial(_open_lexical, lexical, settings.synonyms)
        parts.append(
            ThreadPart("lexical", opener)
            if running.workers == 1
            else PoolPart("lexical", opener, running.workers)
        )
    for spec in specs_of(settings, "neural"):
        opener = partial(_open_neural, (spec.metric.name,), settings, running)
        parts.append(BatchPart("neural", opener))
    return tuple(parts)


def find_models(settings: ScoringSettings, running: ScoringRunning) -> None:
    """Fetch what is missing of all neural metrics. Raises InputError with every model that cannot be had."""
    if neural := tuple(spec.metric.name for spec in specs_of(settings, "neural")):
        _open_neural(neural, settings, running)


def _open_lexical(names: tuple[str, ...], synonyms: Synonyms) -> Scorer:
    # Here and not above: the metrics' libraries take their time to load, and most commands score nothing.
    from core.scoring.metrics.lexical.scorer import open_lexical

    return open_lexical(find_metrics(names), synonyms=synonyms)


def _open_neural(names: tuple[str, ...], settings: ScoringSettings, running: ScoringRunning) -> Scorer:
    from core.scoring.metrics.neural import open_neural

    models = {name: model for name, model in settings.models.items() if name in names}
    return open_neural(
        find_metrics(names), models=models, device=settings.device, batch_size=running.batch_size
    )


def keep_metrics(store: Store, run_id: int, now: tuple[Metric, ...]) -> None:
    """Note with what a run scores. Raises InputError where it was begun with something else: scores would mix."""
    known = run_metrics(store, run_id)
    if known == now:
        return
    if known and item_states(store, run_id):
        raise InputError(
            f"Run {run_id} was begun with metrics that are computed otherwise here. Start a new run: "
            "what is computed the same way is in the cache.",
            _differences(known, now),
        )
    keep_run_metrics(store, run_id, now)


def pair_hash(pair: ScoringPair) -> bytes:
    """Under which a text's scores are kept: sha256 of text, reference and source; an empty one is not a missing one."""
    digest = hashlib.sha256()
    for text in (pair.text, pair.reference, pair.source):
        content = b"" if text is None else text.encode("utf-8", "surrogatepass")
        digest.update(b"-" if text is None else b"%d:" % len(content))
        digest.update(content)
    return digest.digest()


class ScoringJob:
    """core.runs' Job for scores: an item is all its texts."""

    def __init__(
        self,
        store: Store,
        run_id: int,
        outputs: Sequence[ScorableOutput],
        names: Sequence[str],
        parts: Sequence[Part],
        running: ScoringRunning,
        prepare: Callable[[], None] = lambda: None,
        *,
        reads_source: bool = True,
    ) -> None:
        """names: of the metrics, in the order of the columns; parts: scorers that offer them all.

        prepare: called once in a thread, before any part is started. reads_source: whether a metric looks at it;
        where none does, texts that differ in their source alone share their scores in the cache.
        """
        self._store = store
        self._run_id = run_id
        items = by_item(outputs)
        self._item_ids, self._items = tuple(items), tuple(items.values())
        self._names = tuple(names)
        self._parts = tuple(parts)
        self._running = running
        self._prepare = prepare
        self._reads_source = reads_source
        self._n_outputs = len(outputs)

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""
        return self._item_ids

    @property
    def width(self) -> int:
        """One item being scored and one being saved; more for processes, and for models that want full batches."""
        wide = 2 if self._running.workers == 1 else 4 * self._running.workers
        if any(part.group == "neural" for part in self._parts):
            texts = BATCHES_AT_ONCE * self._running.batch_size
            wide = max(wide, -(-texts * len(self._items) // max(self._n_outputs, 1)))
        return wide

    async def start(self) -> None:
        """Open the scorers, and note with what the run scores."""
        await asyncio.to_thread(self._prepare)
        for part in self._parts:
            await part.start()
        metrics = {metric.name: metric for part in self._parts for metric in part.metrics}
        now = tuple(metrics[name] for name in self._names)
        keep_metrics(self._store, self._run_id, now)

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Score all texts of one item; scores that any run has kept are taken from there."""
        outputs = self._items[position]
        pairs = [
            ScoringPair(output.text, output.reference, output.source if self._reads_source else None)
            for output in outputs
        ]
        keys = [pair_hash(pair) for pair in pairs]
        texts = dict(zip(keys, pairs, strict=True))
        scores, calls, failures = await self._scored(texts)
        keep_scores(self._store, scores.fresh, calls, run_id=self._run_id, position=position)
        rows = [
            kept_row(output, [scores.found[key][name] for name in self._names], self._names)
            for output, key in zip(outputs, keys, strict=True)
        ]
        return Outcome("failed" if failures else "done", {"outputs": rows}, tuple(failures))

    async def _scored(
        self, texts: Mapping[bytes, ScoringPair]
    ) -> tuple["_Scores", list[Row], list[tuple[str, str]]]:
        kept = find_scores(
            self._store, list(texts), [metric.signature for part in self._parts for metric in part.metrics]
        )
        missing = [
            [key for key in texts if any(m.signature not in kept.get(key, {}) for m in part.metrics)]
            for part in self._parts
        ]
        made = await asyncio.gather(
            *(
                part.score([texts[key] for key in keys]) if keys else _nothing()
                for part, keys in zip(self._parts, missing, strict=True)
            )
        )
        scores = _Scores(texts)
        account = _Account(texts)
        for part, keys, answers in zip(self._parts, missing, made, strict=True):
            account.enter(part.group, dict(zip(keys, answers, strict=True)))
            for key in texts.keys() - set(keys):
                scores.take(key, part.metrics, kept[key])
            for key, answer in zip(keys, answers, strict=True):
                scores.add(key, part.metrics, answer)
        return scores, account.calls(), account.failures

    async def close(self) -> None:
        """Let go of threads, processes and models."""
        for part in self._parts:
            await part.close()


class _Scores:
    """The scores of one item's texts, by the texts' keys."""

    def __init__(self, keys: Mapping[bytes, ScoringPair]) -> None:
        self.found: dict[bytes, dict[str, Score]] = {key: {} for key in keys}
        """By name of the metric."""
        self.fresh: dict[bytes, dict[str, Score]] = {}
        """By signature: what is to be kept."""

    def take(self, key: bytes, metrics: Sequence[Metric], kept: Mapping[str, Score]) -> None:
        self.found[key].update({metric.name: kept[metric.signature] for metric in metrics})

    def add(self, key: bytes, metrics: Sequence[Metric], answer: PairScores) -> None:
        for metric, score in zip(metrics, answer.scores, strict=True):
            self.found[key][metric.name] = score
            if answer.failure is None:
                self.fresh.setdefault(key, {})[metric.signature] = score


class _Account:
    """What was done for one item: a text counts once a group of metrics, as scored or as found in the cache."""

    def __init__(self, keys: Mapping[bytes, ScoringPair]) -> None:
        self._keys = tuple(keys)
        self._groups: dict[Group, dict[bytes, list[PairScores]]] = {}
        self.failures: list[tuple[str, str]] = []

    def enter(self, group: Group, answers: Mapping[bytes, PairScores]) -> None:
        texts = self._groups.setdefault(group, {key: [] for key in self._keys})
        for key, answer in answers.items():
            texts[key].append(answer)
            if answer.failure is not None:
                self.failures.append((group, answer.failure))

    def calls(self) -> list[Row]:
        return [
            {
                "key": f"{group}:{key.hex()}",
                "step": group,
                "reason": next((answer.failure for answer in answers if answer.failure), None),
                "cached": int(not answers),
                "seconds": sum(answer.seconds for answer in answers),
            }
            for group, texts in self._groups.items()
            for key, answers in texts.items()
        ]


async def _nothing() -> list[PairScores]:
    return []


def kept_row(output: ScorableOutput, scores: Sequence[Score], names: Sequence[str]) -> dict[str, object]:
    """A text's scores as a run keeps them; columns are those of the run's metrics."""
    reasons = {name: score.reason for name, score in zip(names, scores, strict=True) if score.value is None}
    return {
        "system": output.system,
        "level": output.level,
        "language": output.language,
        "labels": dict(output.labels),
        "scores": [score.value for score in scores],
        "reasons": reasons,
    }


def _differences(known: Sequence[Metric], now: Sequence[Metric]) -> list[str]:
    before = {metric.name: metric.signature for metric in known}
    changed = [metric for metric in now if before.get(metric.name) != metric.signature]
    return [
        f"{one.name}: {before.get(one.name, 'not computed')} then, {one.signature} now" for one in changed
    ]

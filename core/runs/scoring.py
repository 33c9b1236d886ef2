"""Scoring runs: from a file of texts and the chosen metrics to the scores of every text."""

import asyncio
import hashlib
import importlib.util
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, NotAllowed
from core.formats.registry import read_texts
from core.formats.scores import write_scores_csv, write_scores_parquet
from core.installation import COMMAND
from core.metrics.kind import ScoringRunning, ScoringSettings
from core.metrics.lexical.scorer import notes_about
from core.metrics.parts import ClusterPart, PairScores, PoolPart, ThreadPart, open_lexical
from core.metrics.registry import find_metrics
from core.metrics.scorer import MetricSpec, Scorer, ScoringPair
from core.runs.asked import Asked
from core.runs.jobs import Batch, Outcome, ResultsSoFar, RunAtHand, WorkPath, grouped
from core.runs.working.cluster import Cluster
from core.schema.scores import Metric, OutputSet, ScorableOutput, Score, ScoredRow, ScoreTable, mask_notes
from core.schema.settings import Remark
from core.store import Store
from core.store.connection import Row
from core.store.kept import (
    FreshScores,
    find_scores,
    keep_run_metrics,
    keep_scores,
    run_metrics,
)
from core.store.runs import item_states

MOST_NAMED = 3
"""Most metrics that a list names."""
BATCHES_AT_ONCE = 4
"""Batches of a neural model that are collected: enough to sort texts by length, few enough to cancel soon."""
BATCH_SECONDS = 0.5
"""Seconds of lexical metrics per batch; a killed process loses at most these."""
FIRST_BATCH, MOST_IN_BATCH = 8, 500
"""Items per batch at first, when their time is unknown, and at most, because larger batches are not cheaper."""


class Scoring(WorkPath):
    """The path of scoring runs."""

    def read(self, request: Asked, data: bytes, file_name: str) -> OutputSet:
        """Read the texts."""
        return read_texts(data, file_name)

    def items(self, request: Asked, contents: OutputSet) -> Mapping[str, Sequence[ScorableOutput]]:
        """Item -> its texts."""
        return outputs_by_item(contents.outputs)

    def check(self, request: Asked, contents: OutputSet, sha256: str) -> tuple[Remark | str, ...]:
        """Notes from reading the file, and what the metrics lack. Raises InputError if nothing could be scored."""
        specs = request.settings.specs()
        _check_needs(specs, contents)
        return (*contents.notes, *reading_notes(specs, contents.outputs))

    def job(self, run: RunAtHand) -> "ScoringJob":
        """See ScoringJob."""
        settings, running, texts = run.request.settings, run.running, run.contents.outputs
        n_texts = len(texts) * run.run.n_wanted // max(run.run.n_items, 1)
        return ScoringJob(
            run.store,
            run.run.run_id,
            texts,
            settings.metrics,
            parts_of(settings, running, n_texts),
            running,
            partial(find_models, settings, running),
            reads_source=any("source" in spec.needs for spec in settings.specs()),
        )

    def planned(self, run: RunAtHand) -> tuple[Metric, ...]:
        """The metrics as in the registry."""
        return tuple(spec.metric for spec in run.request.settings.specs())

    def left_out(self, run: RunAtHand) -> Mapping[str, int]:
        """Rows without a text to score."""
        return dict(run.contents.left_out)

    def files(self, run: RunAtHand) -> dict[str, bytes]:
        """The table of scores."""
        return table_files(score_table(run))

    def maker(self, request: Asked) -> str:
        """The names of the metrics, or their number."""
        names = request.settings.metrics
        return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} metrics"


def reading_notes(specs: Sequence[MetricSpec], texts: Sequence[ScorableOutput]) -> Iterator[str]:
    """One sentence for each group of metrics that lacks something: a source, or words in the references' script."""
    lacking = {
        "reference": sum(text.reference is None for text in texts),
        "source": sum(text.source is None for text in texts),
    }
    yield from lacking_notes(specs, lacking, len(texts))
    yield from notes_about(specs, [ScoringPair(text.text, text.reference, text.source) for text in texts])


def lacking_notes(specs: Sequence[MetricSpec], lacking: Mapping[str, int], n_texts: int) -> Iterator[str]:
    """Sentences on texts without a reference or a source. lacking: number of texts without each of them."""
    if unreferred := lacking["reference"]:
        yield f"{unreferred} of {n_texts} texts have no reference: metrics that need one cannot score them"
    if lacking["source"] and (reading := [spec.metric.name for spec in specs if "source" in spec.needs]):
        yield f"{', '.join(reading)}: {lacking['source']} of {n_texts} texts have no source to read"


def outputs_by_item(outputs: Sequence[ScorableOutput]) -> dict[str, list[ScorableOutput]]:
    """Item -> its texts, with items in the order of first appearance."""
    return grouped(outputs, lambda output: output.item_id)


def check_unmasked(outputs: Iterable[ScorableOutput], file_name: str) -> None:
    """Raise NotAllowed for the masked texts of a blind study, which only metrics and a judge of pairs may read."""
    if mask_notes(output.system for output in outputs):
        raise NotAllowed(masked_said(file_name))


def masked_said(file_name: str) -> str:
    """Why masked texts are not scored, and what to do."""
    return (
        f"{file_name} has the masked texts of a blind study, which only metrics and a judge of pairs may read. "
        "Once the study is unblinded, choose the study itself: its texts then have their systems' names."
    )


def _check_needs(specs: Sequence[MetricSpec], outputs: OutputSet) -> None:
    texts = outputs.outputs
    if not texts:
        raise InputError(f"{outputs.file_name} has no text to score.")
    there = {"reference": any(text.reference for text in texts), "source": any(text.source for text in texts)}
    check_needs(specs, there, outputs.file_name)


def check_needs(specs: Sequence[MetricSpec], there: Mapping[str, bool], file_name: str) -> None:
    """Raise InputError if no metric has what it needs. there: whether any text has it, for `reference` and `source`."""
    hopeless = [spec for spec in specs if not all(there[need] for need in spec.needs)]
    if len(hopeless) == len(specs):
        lacking = sorted({need for spec in specs for need in spec.needs if not there[need]})
        raise InputError(
            f"{file_name} has no {' and no '.join(lacking)} for any text, but every chosen metric needs it: "
            f"add the column, or choose other metrics (`{COMMAND} score --list`)."
        )


def table_files(table: ScoreTable) -> dict[str, bytes]:
    """The table of scores as files: CSV, and Parquet if its library is installed, which the extra environments may lack."""
    files = {"scores.csv": write_scores_csv(table, "long")}
    if importlib.util.find_spec("pyarrow") is not None:
        files["scores.parquet"] = write_scores_parquet(table, "long")
    return files


def score_table(run: RunAtHand) -> ScoreTable:
    """The scores of all processed texts, in the order of items; undefined scores have reasons.

    Raises InputError for a run that scores no texts.
    """
    return ScoresSoFar().table(run)


class ScoresSoFar:
    """The scores of one run as they come in."""

    def __init__(self) -> None:
        self._items = ResultsSoFar(_scored)

    def table(self, run: RunAtHand) -> ScoreTable:
        """See score_table."""
        number, work = run.run.run_id, run.kind.work
        if work == "generation":
            raise InputError(
                f"Run {number} generates texts and has no scores. Score its texts with `{COMMAND} score run:{number}`."
            )
        if work == "tables":
            raise InputError(
                f"Run {number} scores a big table, whose scores are never read whole. Its estimates: "
                f"`{COMMAND} runs table {number}`. Its scores as files: `{COMMAND} runs write {number} --out FOLDER`."
            )
        if work == "audit":
            raise InputError(
                f"Run {number} examines judges (kind: {run.kind.name}) and does not score texts."
            )
        metrics, items = run.metrics, self._items.look(run)
        columns = {metric.name: at for at, metric in enumerate(metrics)}
        rows: list[ScoredRow] = []
        reasons: dict[tuple[int, int], str] = {}
        for item in items:
            reasons |= {(len(rows) + row, columns[name]): why for row, name, why in item.reasons}
            rows += item.rows
        broken = sum(item.broken for item in items)
        said = "1 item has" if broken == 1 else f"{broken} items have"
        note = f"run {number}: {said} no scores because of an internal error; see the run's log"
        return ScoreTable(
            rows=tuple(rows),
            metrics=metrics,
            values=np.concatenate(
                [np.empty((0, len(metrics))), *(item.values for item in items if item.rows)]
            ),
            reasons=reasons,
            file_name=run.run.data_file,
            notes=(*((note,) if broken else ()), *mask_notes(row.system for row in rows)),
        )


@dataclass(frozen=True)
class _ItemScores:
    """The scores of one item's texts."""

    rows: tuple[ScoredRow, ...]
    values: NDArray[np.float64]
    """Shape (rows, metrics)."""
    reasons: tuple[tuple[int, str, str], ...]
    """(row, metric, why there is no value)."""
    broken: bool
    """There are no scores because of an internal error."""


def _scored(run: RunAtHand, item_id: str, result: Mapping[str, Any]) -> _ItemScores:
    outputs = result.get("outputs") or ()
    return _ItemScores(
        tuple(
            ScoredRow(item_id, output["system"], output["level"], output["language"], output["labels"])
            for output in outputs
        ),
        np.array([output["scores"] for output in outputs], dtype=np.float64),  # None becomes NaN
        tuple((row, *why) for row, output in enumerate(outputs) for why in output["reasons"].items()),
        result.get("outputs") is None,
    )


def undefined_scores(table: ScoreTable) -> dict[tuple[str, str], int]:
    """(metric, reason) -> number of texts without that score, most frequent first."""
    counts = Counter((table.metrics[metric].name, reason) for (_, metric), reason in table.reasons.items())
    return dict(counts.most_common())


def parts_of(settings: ScoringSettings, running: ScoringRunning, n_texts: int) -> tuple[ThreadPart, ...]:
    """Parts of a scoring run: all lexical metrics together, because they share statistics, and each neural metric alone.

    Separate parts mean that a text that lacks one neural score is not sent through the other models again. n_texts:
    number of texts to score; a few texts are not worth a process.
    """
    cluster = Cluster(running.address, running.processes(n_texts)) if running.engine == "ray" else None
    parts: list[ThreadPart] = []
    if lexical := tuple(spec.metric.name for spec in settings.specs("lexical")):
        opener = partial(open_lexical, lexical, settings.synonyms)
        processes = running.processes(n_texts)
        if cluster is not None:
            parts.append(ClusterPart("lexical", opener, cluster))
        else:
            parts.append(
                ThreadPart("lexical", opener) if processes == 1 else PoolPart("lexical", opener, processes)
            )
    for spec in settings.specs("neural"):
        opener = partial(_open_neural, (spec.metric.name,), settings, running)
        if cluster is not None:
            in_block = BATCHES_AT_ONCE * running.batch_size
            gpus = int(settings.device.startswith("cuda"))
            parts.append(ClusterPart("neural", opener, cluster, in_block=in_block, gpus=gpus))
        else:
            parts.append(ThreadPart("neural", opener))
    return tuple(parts)


def find_models(settings: ScoringSettings, running: ScoringRunning) -> None:
    """Download missing models of all neural metrics. Raises InputError with every model that is unavailable."""
    if neural := tuple(spec.metric.name for spec in settings.specs("neural")):
        _open_neural(neural, settings, running)


def _open_neural(names: tuple[str, ...], settings: ScoringSettings, running: ScoringRunning) -> Scorer:
    from core.metrics.neural.scorer import open_neural

    models = {name: model for name, model in settings.models.items() if name in names}
    return open_neural(
        find_metrics(names), models=models, device=settings.device, batch_size=running.batch_size
    )


def keep_metrics(store: Store, run_id: int, now: tuple[Metric, ...]) -> None:
    """Record a run's metrics. Raises InputError if the run began with different ones, because scores would mix."""
    known = run_metrics(store, run_id)
    if known == now:
        return
    if known and item_states(store, run_id):
        raise InputError(
            f"Run {run_id} began with metrics that are now computed differently. Start a new run; it reuses unchanged scores from "
            "the cache.",
            _differences(known, now),
        )
    keep_run_metrics(store, run_id, now)


def pair_hash(pair: ScoringPair) -> bytes:
    """Cache key of a text's scores: SHA-256 of text, reference and source. Empty and missing ones differ."""
    parts = []
    for text in (pair.text, pair.reference, pair.source):
        if text is None:
            parts.append(b"-")
        else:
            content = text.encode("utf-8", "surrogatepass")
            parts += (b"%d:" % len(content), content)
    return hashlib.sha256(b"".join(parts)).digest()


class ScoringJob:
    """BatchJob for scores: an item consists of all its texts."""

    def __init__(
        self,
        store: Store,
        run_id: int,
        outputs: Sequence[ScorableOutput],
        names: Sequence[str],
        parts: Sequence[ThreadPart],
        running: ScoringRunning,
        prepare: Callable[[], None] = lambda: None,
        *,
        reads_source: bool = True,
    ) -> None:
        """names: names of the metrics, in the order of the columns; parts: scorers that together offer them all.

        prepare: called once in a thread, before any part is started. reads_source: whether a metric reads the source; if
        none does, texts that differ only in their source share cached scores.
        """
        self._store = store
        self._run_id = run_id
        items = outputs_by_item(outputs)
        self._item_ids, self._items = tuple(items), tuple(items.values())
        self._names = tuple(names)
        self._parts = tuple(parts)
        self._running = running
        self._prepare = prepare
        self._reads_source = reads_source
        self._n_outputs = len(outputs)
        self._batch = FIRST_BATCH
        self._places: list[tuple[int, ...]] = []
        """Column positions of each part's metrics."""
        self._signatures: list[tuple[str, ...]] = []
        """Signatures of each part's metrics."""

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""
        return self._item_ids

    @property
    def width(self) -> int:
        """Batches to work on at the same time."""
        return max(part.hands for part in self._parts)

    @property
    def batch(self) -> int:
        """The number of items that take half a second, or fewer, so that every process gets some.

        For a neural model, enough texts to fill its batches; for a cluster, enough for all its workers.
        """
        spread = [part.texts_at_once for part in self._parts if part.texts_at_once is not None]
        if spread:
            items = -(-max(spread) * len(self._items) // max(self._n_outputs, 1))
            return max(1, min(items, -(-len(self._items) // self.width)))
        if any(part.group == "neural" for part in self._parts):
            texts = BATCHES_AT_ONCE * self._running.batch_size
            return max(1, -(-texts * len(self._items) // max(self._n_outputs, 1)))
        return min(self._batch, -(-len(self._items) // self.width))

    async def start(self) -> None:
        """Open the scorers, and record the run's metrics."""
        await asyncio.to_thread(self._prepare)
        for part in self._parts:
            await part.start()
        metrics = {metric.name: metric for part in self._parts for metric in part.metrics}
        now = tuple(metrics[name] for name in self._names)
        self._signatures = [tuple(metric.signature for metric in part.metrics) for part in self._parts]
        self._places = [
            tuple(self._names.index(metric.name) for metric in part.metrics) for part in self._parts
        ]
        keep_metrics(self._store, self._run_id, now)

    async def do_together(self, positions: Sequence[int]) -> Batch:
        """Score all texts of several items, reusing scores that any run has stored."""
        begun = time.monotonic()
        pairs = [
            [
                ScoringPair(output.text, output.reference, output.source if self._reads_source else None)
                for output in self._items[position]
            ]
            for position in positions
        ]
        keys = [[pair_hash(pair) for pair in of_item] for of_item in pairs]
        texts = {
            key: pair
            for of_item, theirs in zip(keys, pairs, strict=True)
            for key, pair in zip(of_item, theirs, strict=True)
        }
        found = await self._scored(texts)
        account = _Account(self._parts)
        outcomes = []
        for position, of_item in zip(positions, keys, strict=True):
            failures = account.enter(position, of_item, found)
            rows = [
                kept_row(output, found[key].values, found[key].reasons)
                for output, key in zip(self._items[position], of_item, strict=True)
            ]
            outcomes.append(Outcome("failed" if failures else "done", {"outputs": rows}, failures))
        # In the order of the cache's B-tree, so that texts on the same page are written together.
        fresh = [score for key in sorted(found) for score in found[key].fresh]
        fit = BATCH_SECONDS * len(positions) / max(time.monotonic() - begun, 1e-6)
        self._batch = max(1, min(round(fit), 2 * self._batch, MOST_IN_BATCH))
        return Batch(outcomes, lambda: keep_scores(self._store, fresh, account.calls, run_id=self._run_id))

    async def _scored(self, texts: Mapping[bytes, ScoringPair]) -> dict[bytes, "_Scored"]:
        """Key -> scores of its text, in the order of the columns."""
        kept = find_scores(
            self._store, list(texts), [metric.signature for part in self._parts for metric in part.metrics]
        )
        missing = [
            [key for key in texts if any(m.signature not in kept.get(key, {}) for m in part.metrics)]
            if kept
            else list(texts)
            for part in self._parts
        ]
        made = await asyncio.gather(
            *(
                part.score([texts[key] for key in keys]) if keys else _nothing()
                for part, keys in zip(self._parts, missing, strict=True)
            )
        )
        found = {key: _Scored([None] * len(self._names)) for key in texts}
        for number, (part, keys, answers) in enumerate(zip(self._parts, missing, made, strict=True)):
            places, signatures = self._places[number], self._signatures[number]
            for key in texts.keys() - set(keys):
                self._take(found[key], places, part, kept[key])
            for key, answer in zip(keys, answers, strict=True):
                self._add(found[key], places, part, answer)
                if answer.failure is None:
                    found[key].fresh.append((key, signatures, answer.values, answer.reasons))
        return found

    def _take(
        self, one: "_Scored", places: Sequence[int], part: ThreadPart, kept: Mapping[str, Score]
    ) -> None:
        for place, metric in zip(places, part.metrics, strict=True):
            score = kept[metric.signature]
            one.values[place] = score.value
            if score.value is None:
                one.reasons[metric.name] = score.reason

    def _add(self, one: "_Scored", places: Sequence[int], part: ThreadPart, answer: PairScores) -> None:
        one.answers.append((part.group, answer))
        for place, value in zip(places, answer.values, strict=True):
            one.values[place] = value
        for at, reason in answer.reasons.items():
            one.reasons[self._names[places[at]]] = reason

    async def close(self) -> None:
        """Close threads, processes and models."""
        for part in self._parts:
            await part.close()


@dataclass
class _Scored:
    """Scores of one text."""

    values: list[float | None]
    """In the order of the columns."""
    reasons: dict[str, str | None] = field(default_factory=dict)
    """Name of a metric without a value -> reason."""
    answers: list[tuple[str, PairScores]] = field(default_factory=list)
    """(group, scores of its metrics) that were not in the cache."""
    fresh: list[FreshScores] = field(default_factory=list)
    """Scores to store in the cache."""


class _Account:
    """Counts of scored and cached texts for each item; a text counts once per group of metrics.

    A text shared by several items of a batch counts as scored for the first item and as cached for the others.
    """

    def __init__(self, parts: Sequence[ThreadPart]) -> None:
        self._groups = tuple(dict.fromkeys(part.group for part in parts))
        self._paid: set[bytes] = set()
        self.calls: list[Row] = []

    def enter(
        self, position: int, keys: Sequence[bytes], found: Mapping[bytes, _Scored]
    ) -> tuple[tuple[str, str], ...]:
        """Count the texts of an item; returns (group, reason) of each internal error of a metric."""
        failures = []
        for key in dict.fromkeys(keys):
            answers = found[key].answers
            failures += [(group, one.failure) for group, one in answers if one.failure is not None]
            for group in self._groups:
                made = [] if key in self._paid else [one for of, one in answers if of == group]
                self.calls.append(
                    {
                        "position": position,
                        "key": f"{group}:{key.hex()}",
                        "step": group,
                        "reason": next((one.failure for one in made if one.failure), None),
                        "cached": int(not made),
                        "seconds": sum(one.seconds for one in made),
                    }
                )
            self._paid.add(key)
        return tuple(failures)


async def _nothing() -> list[PairScores]:
    return []


def kept_row(
    output: ScorableOutput, scores: Sequence[float | None], reasons: Mapping[str, str | None]
) -> dict[str, object]:
    """A text's scores as stored by a run; values in the order of its metrics, reasons by their names."""
    return {
        "system": output.system,
        "level": output.level,
        "language": output.language,
        "labels": dict(output.labels),
        "scores": scores,
        "reasons": reasons,
    }


def _differences(known: Sequence[Metric], now: Sequence[Metric]) -> list[str]:
    before = {metric.name: metric.signature for metric in known}
    changed = [metric for metric in now if before.get(metric.name) != metric.signature]
    return [
        f"{one.name}: {before.get(one.name, 'not computed')} then, {one.signature} now" for one in changed
    ]

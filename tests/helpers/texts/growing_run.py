"""A run of 16 metrics that this process works on: its scores are made up, and come when a test or a benchmark says."""

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from helpers.texts.judge_runs import texts, worked

from core.metrics.kind import KIND
from core.metrics.registry import find_metrics
from core.runs.asked import ask
from core.runs.kinds import KINDS
from core.runs.path import create, saved_run
from core.schema.runs import RunItem, RunState
from core.store import Store, open_store
from core.store.kept import keep_run_metrics, keep_scores
from core.store.runs import beat, claim_run, finish_run, run_items, save_items

N_LEVELS, SYSTEM = 6, "mills"
"""Levels 0 to 5."""


@dataclass(frozen=True)
class ScoredTexts:
    """The texts of a run: a file, and what its items have in common."""

    data: bytes
    name: str
    items: Sequence[str]
    places: Sequence[tuple[str, str, int]]
    """System, level and how far down the level is, of each text of an item."""
    language: str = "und"


class GrowingRun:
    """A run of `n_items` questions with a text a level, in a database."""

    def __init__(
        self,
        store: Store,
        n_items: int,
        *,
        judged: bool = False,
        seed: int = 1,
        scored: "ScoredTexts | None" = None,
    ) -> None:
        """judged: by a judge whose records are as long as those of claims, instead of by 16 metrics. scored: the texts; None: made up."""
        self.store, self.n_items = store, n_items
        of = scored or ScoredTexts(_texts(n_items), "texts.jsonl", _ids(n_items), _OWN_PLACES)
        self.width = len(of.places)
        names = tuple(spec.metric.name for spec in find_metrics(("lexical",)))
        asked, running = ask(KIND, {"metrics": names, "synonyms": "none"}, {}, {})
        record = None
        if judged:
            asked, running = ask(KINDS["claims"], {"backend": "rules"}, {}, {})
            one = create(store, texts(1), "one.jsonl", asked, running)[0].run.run_id
            with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop
                record = pool.submit(_record_of, store.path, one).result()
        run = create(store, of.data, of.name, asked, running)[0]
        self.run_id, metrics = run.run.run_id, run.path.planned(run)
        keep_run_metrics(store, self.run_id, metrics)
        self.owner = claim_run(store, self.run_id, os.getpid())
        self._items = _scored(of, len(metrics), record, seed)
        self.n_done = 0

    def grow(self, n_items: int) -> None:
        """Save the scores of that many more items, as far as there are any."""
        self._grow(self.store, n_items)

    def _grow(self, store: Store, n_items: int) -> None:
        items = list(islice(self._items, n_items))
        with store.writing():
            save_items(store, self.run_id, items, self.owner)
            keep_scores(
                store,
                [],
                [_call(item, level) for item in items for level in range(self.width)],
                run_id=self.run_id,
            )
        beat(store, self.run_id, self.owner)
        self.n_done += len(items)

    def finish(self, state: RunState = "done") -> None:
        """End the work on the run."""
        finish_run(self.store, self.run_id, state, owner=self.owner)

    def growing(self, n_items: int, seconds: float) -> "Growth":
        """Save that many items each time so many seconds have passed, in a thread, for the block."""
        return Growth(self, n_items, seconds)


class Growth:
    """See GrowingRun.growing."""

    def __init__(self, run: GrowingRun, n_items: int, seconds: float) -> None:
        self._run, self._n_items, self._seconds = run, n_items, seconds
        self._ended = Event()
        self._thread = Thread(target=self._work)

    def _work(self) -> None:
        with open_store(self._run.store.path) as store:  # threads never share a connection
            while not self._ended.wait(self._seconds):
                self._run._grow(store, self._n_items)

    def __enter__(self) -> "Growth":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def _record_of(database: Path, run_id: int) -> object:
    """The record of a run's first text, after it was worked on."""
    with open_store(database) as store:
        worked(saved_run(store, run_id))
        outputs: Any = next(run_items(store, run_id)).result["outputs"]
        return outputs[0]["record"]


def _texts(n_items: int) -> bytes:
    rows = (
        {
            "item_id": f"q{item}",
            "system": SYSTEM,
            "level": str(level),
            "text": f"Mill {item} was built in {1500 + item + level} near Delft.",
            "reference": f"Mill {item} was built in {1500 + item} near Delft.",
        }
        for item in range(n_items)
        for level in range(N_LEVELS)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _call(item: RunItem, level: int) -> dict[str, object]:
    """The record of a text that was scored."""
    key = f"lexical:{item.item_id}-{level}"
    return {
        "position": item.position,
        "key": key,
        "step": "lexical",
        "reason": None,
        "cached": 0,
        "seconds": 0.001,
    }


def _scored(of: ScoredTexts, n_metrics: int, record: object, seed: int) -> Iterator[RunItem]:
    """Each metric falls with the level, the later ones less, under noise."""
    rng = np.random.default_rng(seed)
    falls = np.linspace(0.12, 0.02, n_metrics)
    steps = np.array([step for _, _, step in of.places])
    for place, item in enumerate(of.items):
        noise = rng.normal(0.5, 0.2, (len(steps), n_metrics))
        scores = np.clip(noise - steps[:, None] * falls, 0, 1).round(4)
        outputs = [
            {
                "system": system,
                "level": level,
                "language": of.language,
                "labels": {},
                "scores": row.tolist(),
                "reasons": {},
                **({} if record is None else {"record": record}),
            }
            for (system, level, _), row in zip(of.places, scores, strict=True)
        ]
        yield RunItem(place, item, "done", {"outputs": outputs}, (), 0.01, None)


def _ids(n_items: int) -> list[str]:
    return [f"q{item}" for item in range(n_items)]


_OWN_PLACES = [(SYSTEM, str(level), level) for level in range(N_LEVELS)]

"""Resamples as counts: how often each cluster was drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.stats.resampling import Floats

_KEPT_CELLS = 40_000_000  # counts kept, a byte each: 40 MB, twice
_DRAWN_AT_ONCE = 256
_CELLS, _FEWEST_TOGETHER = 1_000_000, 64  # of a block: 8 MB are added up faster than more


@dataclass(frozen=True)
class Drawn:
    """Counts of some resamples in the forms that ranks and pairs are made from."""

    padded: NDArray[np.unsignedinteger[Any]]
    """(clusters + 1, resamples) in few bytes; the last row is 0, for places without a row."""
    single: NDArray[np.float32]
    """(clusters, resamples)."""
    largest: int
    """The largest count."""
    total: int
    """The most rows drawn in one resample."""


def drawn_of(counts: Floats, sizes: Floats) -> Drawn:
    """Counts (clusters, resamples), whole numbers, of clusters with so many rows."""
    largest = int(counts.max(initial=0))
    padded = np.zeros((len(counts) + 1, counts.shape[1]), dtype=np.min_scalar_type(largest))
    padded[:-1] = counts
    return Drawn(padded, counts.astype(np.float32), largest, int((sizes @ counts).max(initial=0)))


def draw_counts(
    n_clusters: int, n_resamples: int, together: int, rng: int | np.random.Generator
) -> Iterator[Floats]:
    """How often each cluster was drawn, in blocks (n_clusters, at most `together`).

    n_clusters draws with replacement a resample. The counts depend on the seed alone, not on the size of blocks, and the
    first ones not on how many follow; those of few clusters are kept for the next statistic of the same items.
    """
    if isinstance(rng, int) and n_clusters * n_resamples <= _KEPT_CELLS:
        kept = _kept(n_clusters, rng)
        together = min(together, max(_FEWEST_TOGETHER, _CELLS // n_clusters))
        for start in range(0, n_resamples, together):
            yield kept.counts(start, min(start + together, n_resamples))
        return
    generator = np.random.default_rng(rng)
    for start in range(0, n_resamples, together):
        yield _drawn(n_clusters, min(together, n_resamples - start), generator).astype(np.float64)


def _drawn(n_clusters: int, size: int, generator: np.random.Generator) -> NDArray[np.unsignedinteger[Any]]:
    """Counts of `size` resamples: shape (n_clusters, size), in few bytes."""
    drawn = generator.integers(0, n_clusters, size=(size, n_clusters))
    drawn += np.arange(size)[:, None] * n_clusters
    counts = np.bincount(drawn.ravel(), minlength=size * n_clusters).reshape(size, n_clusters)
    kind = np.min_scalar_type(int(counts.max(initial=0)))
    return np.ascontiguousarray(counts.astype(kind).T)


class _Kept:
    """Counts that are drawn when they are first needed, and kept. Threads may share them."""

    def __init__(self, n_clusters: int, seed: int) -> None:
        self._n_clusters = n_clusters
        self._generator = np.random.default_rng(seed)
        self._blocks: list[NDArray[np.unsignedinteger[Any]]] = []
        self._lock = Lock()

    def counts(self, start: int, stop: int) -> Floats:
        """Those of some resamples: shape (n_clusters, stop - start)."""
        with self._lock:
            while len(self._blocks) * _DRAWN_AT_ONCE < stop:
                self._blocks.append(_drawn(self._n_clusters, _DRAWN_AT_ONCE, self._generator))
        first = start // _DRAWN_AT_ONCE
        blocks = self._blocks[first : -(-stop // _DRAWN_AT_ONCE)]
        offset = first * _DRAWN_AT_ONCE
        found = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        return found[:, start - offset : stop - offset].astype(np.float64)


@lru_cache(maxsize=2)
def _kept(n_clusters: int, seed: int) -> _Kept:
    return _Kept(n_clusters, seed)

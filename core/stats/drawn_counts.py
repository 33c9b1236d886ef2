"""Resamples as counts: how often each cluster was drawn."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.stats.resampling import Floats

_KEPT_CELLS = 10_000_000  # counts kept: 40 MB, twice
_DRAWN_AT_ONCE = 256


def draw_counts(
    n_clusters: int, n_resamples: int, together: int, rng: int | np.random.Generator
) -> Iterator[Floats]:
    """How often each cluster was drawn, in blocks (n_clusters, at most `together`).

    n_clusters draws with replacement a resample. The counts depend on the seed alone, not on the size of blocks; those
    of few clusters are kept for the next statistic of the same items.
    """
    if isinstance(rng, int) and n_clusters * n_resamples <= _KEPT_CELLS:
        kept = _kept_counts(n_clusters, n_resamples, rng)
        for start in range(0, n_resamples, together):
            yield np.ascontiguousarray(kept[start : start + together].T, dtype=np.float64)
        return
    generator = np.random.default_rng(rng)
    for start in range(0, n_resamples, together):
        drawn = _drawn(n_clusters, min(together, n_resamples - start), generator)
        yield np.ascontiguousarray(drawn.T, dtype=np.float64)


def _drawn(n_clusters: int, size: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Counts of `size` resamples: shape (size, n_clusters)."""
    drawn = generator.integers(0, n_clusters, size=(size, n_clusters))
    drawn += np.arange(size)[:, None] * n_clusters
    return np.bincount(drawn.ravel(), minlength=size * n_clusters).reshape(size, n_clusters)


@lru_cache(maxsize=2)
def _kept_counts(n_clusters: int, n_resamples: int, seed: int) -> NDArray[np.int32]:
    """All counts (n_resamples, n_clusters)."""
    generator = np.random.default_rng(seed)
    blocks = [
        _drawn(n_clusters, min(_DRAWN_AT_ONCE, n_resamples - start), generator).astype(np.int32)
        for start in range(0, n_resamples, _DRAWN_AT_ONCE)
    ]
    return np.concatenate(blocks) if blocks else np.empty((0, n_clusters), dtype=np.int32)

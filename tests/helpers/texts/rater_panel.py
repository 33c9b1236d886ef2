"""A study whose raters are right with known probabilities."""

from collections.abc import Sequence

import numpy as np
from helpers.texts.factories import LEVELS, dataset, item_ids, record_of

from core.schema.study import PREFERENCES, StudyRecord


def panel(accuracy: Sequence[float], n_items: int = 20, seed: int = 3) -> StudyRecord:
    """A study whose raters name a pair's true class with these probabilities, else a random other one."""
    rng = np.random.default_rng(seed)
    pairs = [(item, level) for item in item_ids(n_items) for level in LEVELS]
    truth = rng.choice(4, size=len(pairs), p=[0.3, 0.3, 0.1, 0.3])
    votes = {}
    for number, right in enumerate(accuracy):
        wrong = (truth + rng.integers(1, 4, len(pairs))) % 4
        given = np.where(rng.random(len(pairs)) < right, truth, wrong)
        votes[f"r{number}"] = {
            pair: PREFERENCES[code] for pair, code in zip(pairs, given.tolist(), strict=True)
        }
    return record_of(votes, dataset(n_items))

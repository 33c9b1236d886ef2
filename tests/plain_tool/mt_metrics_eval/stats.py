"""Stands in for mt-metrics-eval, which no registry has: the same three functions as plain loops over their definitions.

They draw as the tool does, so that both sides of benchmarks/meta_eval.py look at the same swaps. Segments are columns,
systems rows, missing scores None. Only what the benchmark calls is here.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass
class Correlation:
    """Two tables, flat, system by system."""

    n_systems: int
    human: list
    metric: list


@dataclass
class PermutationSigDiffParams:
    """The tool stops early between blocks; nothing does here."""

    block_size: int


def _by_item(flat, n_systems):
    return np.array([np.nan if value is None else value for value in flat]).reshape(n_systems, -1).T


def _right(human, metric, epsilon):
    """Pairs of one item: 1 where the metric orders or ties two systems as people do."""
    return [
        float(h1 == h2 if abs(m1 - m2) <= epsilon else (h1 - h2) * (m1 - m2) > 0)
        for (h1, m1), (h2, m2) in combinations(
            [(h, m) for h, m in zip(human, metric, strict=True) if not np.isnan(h)], 2
        )
    ]


def _accuracy(human, metric, epsilon):
    items = [_right(*scores, epsilon) for scores in zip(human, metric, strict=True)]
    return np.mean([np.mean(right) for right in items if right])


def KendallWithTiesOpt(gold, metric, *, num_sys, average_by, sample_rate):  # the tool's name
    """Accuracy at its best epsilon, and that epsilon: every distance of two scores is tried."""
    human, scores = _by_item(gold, num_sys), _by_item(metric, num_sys)
    gaps = {abs(a - b) for item in scores for a, b in combinations(item, 2)}
    found = [(_accuracy(human, scores, epsilon), -epsilon) for epsilon in {0.0, *gaps}]
    accuracy, epsilon = max(found)
    return accuracy, -epsilon, None


def PairwisePermutationSigDiff(first, second, *, average_by, k, params, epsilon1, epsilon2):
    """P of the difference of two accuracies when results of pairs change sides, and the difference."""
    human = _by_item(first.human, first.n_systems)
    of_items = [
        np.subtract(_right(h, theirs, epsilon2), _right(h, own, epsilon1))
        for h, own, theirs in zip(
            human,
            _by_item(first.metric, first.n_systems),
            _by_item(second.metric, first.n_systems),
            strict=True,
        )
    ]
    observed = np.mean([gaps.mean() for gaps in of_items if gaps.size])
    as_large = 0
    for _ in range(k):
        swapped = []
        for gaps, rated in zip(of_items, (~np.isnan(human)).sum(axis=1), strict=True):
            drawn = np.random.binomial(1, 0.5, (rated, rated))[np.triu_indices(rated, 1)]
            swapped.append((gaps * (2 * drawn - 1)).mean() if gaps.size else np.nan)
        as_large += bool(np.nanmean(swapped) >= observed - 1e-12)
    return as_large / k, observed, k


def PermutationSigDiff(first, second, corr_fcn, *, average_by, k, sample_rate):
    """The accuracies of both metrics after each swap of standardised scores."""
    one, other = ((np.array(c.metric) - np.mean(c.metric)) / np.std(c.metric) for c in (first, second))
    accuracies = []
    for _ in range(k):
        stays = np.random.binomial(1, 0.5, one.size)
        mixed = stays * other + (1 - stays) * one, stays * one + (1 - stays) * other
        accuracies.append(
            tuple(
                corr_fcn(
                    first.human, list(scores), num_sys=first.n_systems, average_by="item", sample_rate=1
                )[0]
                for scores in mixed
            )
        )
    return 1.0, 0.0, k, accuracies

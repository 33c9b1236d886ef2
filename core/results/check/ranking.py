"""Whether a judge ranks systems as people do: accuracy over pairs of systems, and an order that is not chance."""

from dataclasses import replace
from itertools import permutations
from math import factorial, pi, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.results.cells import ends_said
from core.results.check.rules import Rule, interval_rule, state_rule
from core.results.check.texts import OwnTexts
from core.schema.uses import CheckOptions
from core.stats.correlation.systems import compare_systems, corrected_between_systems
from core.stats.resampling import Floats, resamples_at_once

CHANCE = 0.05
"""Largest probability that a random order of the systems is as accurate as the judge's."""
_ALL_ORDERS = 8
_DRAWN_ORDERS, _FEWEST_DRAWN, _MOST_COMPARED = 20_000, 1_000, 100_000_000
"""Random orders of systems: fewer where so many pairs of systems would be compared, more than 100 systems."""


def rules_of_ranking(texts: OwnTexts, options: CheckOptions) -> list[Rule]:
    """The rules of the use rank."""
    wanted = f"accuracy over pairs of systems at least {options.accuracy:g}"
    if not texts.ordered:
        return [state_rule("accuracy", wanted, "labels without an order cannot rank systems", None)]
    drawing: dict[str, Any] = {
        "n_resamples": options.n_resamples,
        "confidence_level": options.confidence_level,
        "rng": options.rng,
    }
    found = compare_systems(
        texts.scores, texts.means, texts.systems, ("accuracy",), items=texts.items, **drawing
    )["accuracy"]
    rule = interval_rule("accuracy", wanted, "accuracy over pairs of systems", found, options.accuracy)
    if found.high is not None and found.high < options.accuracy:
        noise = corrected_between_systems(
            texts.scores, texts.means, texts.systems, items=texts.items, **(drawing | {"n_resamples": 0})
        )
        # The correlation of a normal population in which this share of pairs is in the right order (Greiner 1909).
        wanted_r = sin(pi * (2 * options.accuracy - 1) / 2)
        if noise.high is None or noise.high >= wanted_r:
            rule = replace(
                rule,
                broken=None,
                why=f"{rule.why}; but noise lowers it, and the noise-corrected correlation "
                + ("is undefined" if noise.estimate is None else f"{ends_said(noise, 2)} does not fail"),
            )
    chance = order_by_chance(texts.scores, texts.means, texts.systems)
    order = Rule(
        "order",
        f"an order this good by chance in at most {CHANCE:g}",
        None,
        CHANCE,
        "a random order of these systems would be as accurate with probability "
        + (f"{chance:.3f}" if chance >= 0.001 else "below 0.001"),
        0.0 if chance <= CHANCE else None,
    )
    return [rule, order]


def order_by_chance(scores: Floats, ratings: Floats, systems: NDArray[np.str_]) -> float:
    """Probability that a random order of the systems has at least the judge's accuracy: a permutation test over systems.

    Exact for up to 8 systems; for more, from 20,000 random orders (fewer beyond 100 systems) and the observed one. 1 for
    fewer than two systems. scores, ratings, systems: shape (n,).
    """
    names = np.unique(systems)
    if names.size < 2:
        return 1.0
    means = [np.array([side[systems == name].mean() for name in names]) for side in (scores, ratings)]
    first, second = np.triu_indices(names.size, 1)
    people = np.sign(means[1][first] - means[1][second])
    if names.size <= _ALL_ORDERS:
        orders = np.array(list(permutations(range(names.size))))
        assert len(orders) == factorial(names.size)
    else:
        n_drawn = max(_FEWEST_DRAWN, min(_DRAWN_ORDERS, _MOST_COMPARED // first.size))
        drawn = np.argsort(np.random.default_rng(0).random((n_drawn, names.size)), axis=1)
        orders = np.vstack([np.arange(names.size), drawn])
    right = np.concatenate(
        [
            (np.sign(moved[:, first] - moved[:, second]) == people).mean(axis=1)
            for part in np.array_split(orders, -(-len(orders) // resamples_at_once(first.size)))
            for moved in [means[0][part]]
        ]
    )
    own = (np.sign(means[0][first] - means[0][second]) == people).mean()
    return float((right >= own - 1e-12).mean())

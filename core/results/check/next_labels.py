"""Which label next: unlabelled texts drawn with known probabilities, more often where people and judge may differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.results.cells import picked
from core.results.panel import Panel
from core.schema.result_table import Column, ResultTable
from core.schema.scores import PROBABILITY, ScorableOutput, ScoredRow
from core.stats.planning import LEAST_CHANCE, draw, narrowing, sampling_probabilities
from core.stats.resampling import Floats
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import number_in, shown

TABLE = "next-labels"
MOST_CLASSES = 10
"""Scores with more different values than this have no classes; fifths of their order stand for them."""
SHRINKAGE = 5
"""Labels that the spread of all labels counts as, where the spread of one group is estimated."""
_BETWEEN = 0.2
"""Share of scores between two classes of the raters from which a judge has a border."""

Sign = Literal["judges", "border", "class", "none"]
"""What the uncertainty of a text is taken from."""
SIGNS: Mapping[Sign, str] = {
    "judges": "how far the judges differ",
    "border": "how near the score is to a border between two ratings",
    "class": "the judge's score",
    "none": "nothing: no labels and one judge, so every text has the same chance",
}


@dataclass(frozen=True)
class NextLabels:
    """Texts to label next. Sequences have one entry for each drawn text, the most uncertain first."""

    name: str
    """The input."""
    judges: tuple[str, ...]
    """Judges whose uncertainty is meant."""
    rows: tuple[int, ...]
    """Place of the text in the panel."""
    texts: tuple[ScoredRow, ...]
    scores: tuple[tuple[float | None, ...], ...]
    """By text, then judge. Raters must not see them."""
    probability: tuple[float, ...]
    """Probability of inclusion, in (0, 1]. Raters must not see it: it tells about the judge."""
    uncertainty: tuple[float | None, ...]
    """Expected deviation of the text's value from the mean; None: unknown."""
    why: tuple[str, ...]
    sign: Sign
    n_wanted: int
    n_unlabelled: int
    """Texts without a label that the judges scored; the sample stands for these."""
    n_labelled: int
    narrower: float | None
    """Expected half-width as a share of that of a simple random sample of the same size; None: unknown."""
    notes: tuple[str, ...] = ()


def next_labels(
    panel: Panel,
    n: int,
    *,
    judges: Sequence[str] | None = None,
    whole_items: bool = False,
    least: float = LEAST_CHANCE,
    rng: int = 0,
) -> NextLabels:
    """Draw n of the panel's unlabelled texts, with higher probabilities where people and judges are likely to differ.

    Unlabelled: no rating, and a score by every judge. judges: names; None for all. whole_items: draw items with all their
    unlabelled texts, as a comparison of systems needs; n is still the number of texts, met as nearly as items allow. least: as in
    `core.stats.planning.sampling_probabilities`. rng: seed of the draw.

    The uncertainty of a text is the root mean square deviation of labelled texts like it: of the difference of score and mean
    rating, or, for labels without an order, of the share of raters who differ from the judge. Texts are alike by the first of
    these: how far several judges differ (thirds); how near the score is to a border between two ratings, where scores are
    finer than ratings (thirds); the judge's class, or fifths of its scores. The spread of a group counts with its labels, and
    as `SHRINKAGE` labels with the spread of all. Without labels the first two give the uncertainty themselves, and one judge
    with classes gives a simple random sample.

    Raises InputError without a judge, for an unknown one, for n below 1, or if no text is unlabelled.
    """
    named = tuple(panel.judges if judges is None else dict.fromkeys(judges))
    _check(panel, named, n)
    places = [panel.judges.index(name) for name in named]
    scores = panel.scores[:, places]
    labelled = np.any(~np.isnan(panel.ratings), axis=1)
    scored = np.all(~np.isnan(scores), axis=1)
    free = np.flatnonzero(~labelled & scored)
    if not free.size:
        without = int((~labelled).sum())
        raise InputError(
            f"{shown(panel.name)}: no text is left to label",
            [
                f"judge: {without:,} texts have no rating, but none of them has a score by {_listed(named)}; add their scores"
                if without
                else "every text has a rating; add texts that only the judge scored, with empty cells for the raters"
            ],
        )
    notes = []
    wanted = n
    if n > free.size:
        notes.append(f"only {free.size:,} texts have no label, so all of them are chosen")
        n = int(free.size)
    sign, signal = _signal(panel, scores)
    uncertainty = _uncertainty(panel, scores, labelled & scored, sign, signal)
    if sign == "class" and uncertainty is None:
        sign = "none"
    of_texts = np.full(len(free), np.nan) if uncertainty is None else uncertainty[free]
    unit = panel.items[free] if whole_items else np.arange(free.size)
    chosen, chances, of_units = _drawn(of_texts, unit, n, least, rng)
    order = sorted(chosen.tolist(), key=lambda at: (-np.nan_to_num(of_texts[at]), int(free[at])))
    if whole_items and len(order) != wanted and not notes:
        notes.append(f"whole items are drawn, so {len(order):,} texts are chosen instead of {wanted:,}")
    return NextLabels(
        panel.name,
        named,
        tuple(int(free[at]) for at in order),
        tuple(panel.rows[int(free[at])] for at in order),
        tuple(tuple(float(one) for one in scores[free[at]]) for at in order),
        tuple(float(chances[at]) for at in order),
        tuple(None if np.isnan(of_texts[at]) else float(of_texts[at]) for at in order),
        tuple(_why(sign, signal, scores, int(free[at])) for at in order),
        sign,
        wanted,
        int(free.size),
        int(labelled.sum()),
        None if uncertainty is None else narrowing(*of_units),
        tuple(notes),
    )


def _check(panel: Panel, named: Sequence[str], n: int) -> None:
    problems = []
    if n < 1:
        problems.append(f"next: must be at least 1, got {n}")
    if not named:
        problems.append("judge: found none; name a column, rater or metric")
    problems += [
        f"judge: there is no judge {shown(name)}; the input has {_listed(panel.judges)}"
        for name in named
        if name not in panel.judges
    ]
    if problems:
        raise InputError(f"{shown(panel.name)}: labels cannot be chosen", problems)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names)) or "none"


def _signal(panel: Panel, scores: Floats) -> tuple[Sign, Floats]:
    """What texts tell about their own uncertainty, without labels; shape (n,), larger is less certain."""
    if scores.shape[1] > 1 and panel.ordered:
        spread = np.nanmax(scores, axis=0) - np.nanmin(scores, axis=0) if len(scores) else np.ones(1)
        # Judges on different scales differ by their scales alone.
        alike = scores if np.allclose(spread, spread[0]) else scores / np.where(spread > 0, spread, 1)
        differing: Floats = np.std(alike, axis=1)
        return "judges", differing
    if scores.shape[1] > 1:
        several = np.array([len(np.unique(row[~np.isnan(row)])) for row in scores], dtype=np.float64)
        return "judges", several - 1
    score = scores[:, 0]
    steps = np.unique(panel.ratings[~np.isnan(panel.ratings)])
    known = ~np.isnan(score)
    if panel.ordered and 2 <= steps.size <= MOST_CLASSES and known.any():
        between = known & ~np.isin(score, steps)
        if between.sum() >= _BETWEEN * known.sum():
            borders = (steps[1:] + steps[:-1]) / 2
            distance = np.abs(score[:, None] - borders).min(axis=1)
            near: Floats = np.maximum(1 - distance / (np.diff(steps).min() / 2), 0.0)
            return "border", near
    return "class", score


def _uncertainty(
    panel: Panel, scores: Floats, used: NDArray[np.bool_], sign: Sign, signal: Floats
) -> Floats | None:
    """Expected deviation of every text; None if nothing tells."""
    if used.sum() < 2:
        return signal if sign != "class" and np.nanmax(signal, initial=0.0) > 0 else None
    squares = np.mean([_squares(panel, judge, used) for judge in scores.T], axis=0)
    groups = _groups(sign, signal)
    pooled = float(squares[used].mean())
    if pooled == 0:
        return None
    found = np.full(len(signal), np.nan)
    for group in np.unique(groups[groups >= 0]):
        there = used & (groups == group)
        mean = (squares[there].sum() + SHRINKAGE * pooled) / (there.sum() + SHRINKAGE)
        found[groups == group] = np.sqrt(mean)
    return found


def _squares(panel: Panel, judge: Floats, used: NDArray[np.bool_]) -> Floats:
    """Squared deviation of each used text's value from the mean value; 0 elsewhere."""
    rated = ~np.isnan(panel.ratings)
    counts = np.maximum(rated.sum(axis=1), 1)
    if panel.ordered:
        values = judge - np.where(rated, panel.ratings, 0).sum(axis=1) / counts
    else:
        values = (rated & (panel.ratings != judge[:, None])).sum(axis=1) / counts
    found = np.zeros(len(judge))
    found[used] = (values[used] - values[used].mean()) ** 2
    return found


def _groups(sign: Sign, signal: Floats) -> NDArray[np.int64]:
    """Number of each text's group; -1 without a signal."""
    known = ~np.isnan(signal)
    groups = np.full(len(signal), -1, dtype=np.int64)
    values = np.unique(signal[known])
    if values.size <= (MOST_CLASSES if sign == "class" else 3):
        groups[known] = np.searchsorted(values, signal[known])
        return groups
    parts = 5 if sign == "class" else 3
    ends = np.unique(np.quantile(signal[known], np.arange(1, parts) / parts))
    groups[known] = np.searchsorted(ends, signal[known], side="left")
    return groups


def _drawn(
    of_texts: Floats, unit: NDArray[np.int64], n: int, least: float, rng: int
) -> tuple[NDArray[np.int64], Floats, tuple[Floats, Floats]]:
    """Drawn texts, the probability of every text, and uncertainty and probability of every unit."""
    _, number, sizes = np.unique(unit, return_inverse=True, return_counts=True)
    known = np.where(
        np.isnan(of_texts), np.nanmean(of_texts) if (~np.isnan(of_texts)).any() else 1.0, of_texts
    )
    # The deviation of an item's sum is at most the sum of its texts' deviations.
    of_units: Floats = np.bincount(number, weights=known).astype(np.float64)
    n_units = min(max(round(n / sizes.mean()), 1), len(sizes))
    chances = sampling_probabilities(of_units, n_units, least=least)
    units = draw(chances, rng)
    chosen = np.flatnonzero(np.isin(number, units)).astype(np.int64)
    return chosen, chances[number], (of_units, chances)


def _why(sign: Sign, signal: Floats, scores: Floats, row: int) -> str:
    if sign == "judges":
        given = ", ".join(f"{one:g}" for one in scores[row])
        return f"judges give {given}"
    if sign == "border":
        return f"score {scores[row, 0]:.3g}, {'near a' if signal[row] >= 0.5 else 'off any'} border"
    return f"score {scores[row, 0]:.3g}" if sign == "class" else "at random"


def next_labels_said(found: NextLabels) -> list[str]:
    """Sentences above the table."""
    lines = [
        f"{len(found.rows):,} of {found.n_unlabelled:,} unlabelled texts, chosen by {SIGNS[found.sign]}."
        if found.sign != "none"
        else f"{len(found.rows):,} of {found.n_unlabelled:,} unlabelled texts, chosen at random: nothing tells yet which are uncertain."
    ]
    if found.narrower is not None and found.narrower < 0.995:
        lines.append(
            f"Expected: intervals {1 - found.narrower:.0%} narrower than with as many texts drawn at random."
        )
    return lines


def next_labels_table(found: NextLabels, texts: Sequence[ScorableOutput | None] | None = None) -> ResultTable:
    """One row for each chosen text. texts: in the order of `found.rows`; adds columns that a study can be made from."""
    given = texts if texts is not None and any(one is not None for one in texts) else None
    levels = any(row.level is not None for row in found.texts)
    systems = any(row.system != ONLY_SYSTEM for row in found.texts)
    of_texts = (
        *((Column("source", shown=False),) if given and any(one and one.source for one in given) else ()),
        *(
            (Column("reference", shown=False),)
            if given and any(one and one.reference for one in given)
            else ()
        ),
        *((Column("text", shown=False),) if given else ()),
    )
    return ResultTable(
        TABLE,
        (
            Column("item_id", "item", names_row=True),
            *((Column("system"),) if systems else ()),
            *((Column("level"),) if levels else ()),
            Column("language", shown=False),
            *of_texts,
            Column(PROBABILITY, "probability"),
            Column("expected_deviation"),
            Column("why"),
        ),
        tuple(
            (
                row.item_id,
                *((row.system,) if systems else ()),
                *((row.level,) if levels else ()),
                row.language,
                *(getattr(given[at], column.name) if given and given[at] else None for column in of_texts),
                found.probability[at],
                found.uncertainty[at],
                found.why[at],
            )
            for at, row in enumerate(found.texts)
        ),
        title="Labels to collect next",
        notes=(
            "probability: the chance with which the text was drawn. Keep its column inclusion_probability beside the new labels: "
            "without it they describe the chosen texts only.",
            *found.notes,
        ),
    )


def next_labels_json(found: NextLabels) -> dict[str, Any]:
    """The choice as JSON, without texts."""
    return {
        **picked(found, "sign", "n_wanted", "n_unlabelled", "n_labelled", "narrower"),
        "labels": [
            {
                "item": row.item_id,
                "system": None if row.system == ONLY_SYSTEM else row.system,
                "level": row.level,
                PROBABILITY: found.probability[at],
                "expected_deviation": found.uncertainty[at],
                "why": found.why[at],
            }
            for at, row in enumerate(found.texts)
        ],
    }


def inclusion_probabilities(rows: Sequence[ScoredRow]) -> Floats | None:
    """Probability of inclusion of each text, from its label; NaN without one, None if no text has one.

    Raises InputError with every text whose probability is not above 0 and at most 1.
    """
    if not any(row.labels.get(PROBABILITY) for row in rows):
        return None
    found = np.full(len(rows), np.nan)
    problems = []
    for at, row in enumerate(rows):
        written = row.labels.get(PROBABILITY, "")
        value = number_in(written)
        if value is not None and 0 < value <= 1:
            found[at] = value
        elif written:
            problems.append(
                f"item {shown(row.item_id)}: {PROBABILITY} is {shown(written)}, not above 0 and at most 1"
            )
    if problems:
        raise InputError("Labels cannot be weighted:", problems)
    return found

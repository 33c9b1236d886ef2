"""Which label next: unlabelled texts drawn with known probabilities, more often where people and judge may differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.tables import places_of
from core.results.check.texts import own_texts
from core.results.correlations.disagreement import rank_gaps
from core.schema.panel import Panel, unlabelled
from core.schema.scores import PROBABILITY, OutputSet, ScorableOutput, ScoredRow
from core.schema.study import Design, Dimension, RatingTask, Study
from core.stats.planning import LEAST_CHANCE, draw, narrowing, sampling_probabilities
from core.stats.resampling import Floats
from core.store import Store
from core.study.lifecycle import import_rating_study, made_set, new_seed, studies_like
from core.tables.columns import ONLY_SYSTEM
from core.tables.problems import listed
from core.tables.reading import shown

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
    "none": "nothing: every text has the same chance",
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
    rating (of their ranks, if the judge uses another scale), or, for labels without an order, of the share of raters who
    differ from the judge. Texts are alike by the first of
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
    free = np.flatnonzero(unlabelled(panel, places))
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
    sign, signal = _signal(panel, places)
    uncertainty = _uncertainty(panel, places, labelled & scored, sign, signal)
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
        tuple(_why(sign, signal, _score_words(panel, scores[free[at]]), int(free[at])) for at in order),
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


def _signal(panel: Panel, judges: Sequence[int]) -> tuple[Sign, Floats]:
    """What texts tell about their own uncertainty, without labels; shape (n,), larger is less certain. judges: their columns."""
    scores = panel.scores[:, list(judges)]
    if scores.shape[1] > 1 and panel.scale.ordered:
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
    if (
        panel.scale.ordered
        and 2 <= steps.size <= MOST_CLASSES
        and known.any()
        and own_texts(panel, judges[0]).same_scale
    ):
        between = known & ~np.isin(score, steps)
        if between.sum() >= _BETWEEN * known.sum():
            borders = (steps[1:] + steps[:-1]) / 2
            distance = np.abs(score[:, None] - borders).min(axis=1)
            near: Floats = np.maximum(1 - distance / (np.diff(steps).min() / 2), 0.0)
            return "border", near
    return "class", score


def _uncertainty(
    panel: Panel, judges: Sequence[int], used: NDArray[np.bool_], sign: Sign, signal: Floats
) -> Floats | None:
    """Expected deviation of every text; None if nothing tells. judges: their columns."""
    if used.sum() < 2:
        return signal if sign != "class" and np.nanmax(signal, initial=0.0) > 0 else None
    squares = np.mean([_squares(panel, judge, used) for judge in judges], axis=0)
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


def _squares(panel: Panel, judge: int, used: NDArray[np.bool_]) -> Floats:
    """Squared deviation of each used text's value from the mean value; 0 elsewhere. judge: its column."""
    scores, ratings = panel.scores[used, judge], panel.ratings[used]
    rated = ~np.isnan(ratings)
    if not panel.scale.ordered:
        values = (rated & (ratings != scores[:, None])).sum(axis=1) / rated.sum(axis=1)
    else:
        people = np.asarray(np.nanmean(ratings, axis=1), dtype=np.float64)
        values = scores - people if own_texts(panel, judge).same_scale else rank_gaps(scores, people)
    found = np.zeros(len(used))
    found[used] = (values - values.mean()) ** 2
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


def _score_words(panel: Panel, scores: Floats) -> list[str]:
    return [panel.scale.words.get(one) or f"{one:.3g}" for one in scores.tolist()]


def _why(sign: Sign, signal: Floats, given: Sequence[str], row: int) -> str:
    if sign == "judges":
        return f"judges give {', '.join(given)}"
    if sign == "border":
        return f"score {given[0]}, {'near a' if signal[row] >= 0.5 else 'off any'} border"
    return f"score {given[0]}" if sign == "class" else "at random"


def next_labels_said(labels: NextLabels) -> list[str]:
    """Sentences above the table."""
    if len(labels.rows) == labels.n_unlabelled:
        return [
            "The only unlabelled text."
            if labels.n_unlabelled == 1
            else f"All {labels.n_unlabelled:,} unlabelled texts."
        ]
    how = (
        "at random: nothing tells yet which are uncertain"
        if labels.sign == "none"
        else f"by {SIGNS[labels.sign]}"
    )
    lines = [f"{len(labels.rows):,} of {labels.n_unlabelled:,} unlabelled texts, chosen {how}."]
    if labels.narrower is not None and labels.narrower < 0.995:
        lines.append(
            f"Expected: intervals {1 - labels.narrower:.0%} narrower than with as many texts drawn at random."
        )
    return lines


# --- the texts, and a study of them ------------------------------------------------------------

OTHER_TEXT = "new label of a text that is not in the file"
RATERS: Mapping[str, int] = {"replace": 3, "gate": 2, "rank": 1, "monitor": 2, "certify": 1}
"""Raters of a text that a use needs to compare the judge with people: with one, nobody knows their noise."""
_LABEL = "label"
_MOST_STEPS = 101
"""Most answers of a scale with steps."""


def texts_to_label(
    labels: NextLabels, texts: Sequence[ScorableOutput | None], file_name: str = ""
) -> OutputSet:
    """The chosen texts as the texts of a study, each with its probability as a label.

    texts: of each row of the panel. file_name: of the study's texts; empty: `chosen_from`. Raises InputError, naming every chosen text that is missing.
    """
    chosen = [texts[row] for row in labels.rows]
    missing = [one for one, text in zip(labels.texts, chosen, strict=True) if text is None]
    if missing:
        raise InputError(
            f"{shown(labels.name)}: a study needs the chosen texts",
            [
                f"item {shown(one.item_id)}{'' if one.system == ONLY_SYSTEM else f', system {shown(one.system)}'}: no text; add a "
                "column text (or output, answer, response)"
                for one in missing
            ],
        )
    outputs = tuple(
        replace(text, labels={PROBABILITY: repr(chance)})
        for text, chance in zip(chosen, labels.probability, strict=True)
        if text is not None
    )
    return made_set(outputs, file_name or chosen_from(labels.name))


def chosen_from(name: str) -> str:
    """The file name of a study of texts that a check of this input chose."""
    return f"next labels of {name}"


def label_task(panel: Panel, *, show_reference: bool = False) -> RatingTask:
    """The raters' scale as the task of a study: words with their codes, or numbers with their range.

    Classes are all that are on offer. Scores keep the distance of neighbouring ratings as their step; with more than 100 steps
    any number may be given. Their range is that of the labels there are, which may be narrower than the scale of the raters.
    """
    given = np.unique(panel.ratings[~np.isnan(panel.ratings)]).tolist()
    values = sorted(panel.scale.words) or list(panel.scale.classes) or given
    lowest, highest = (values[0], values[-1]) if len(values) > 1 else (0.0, 1.0)
    steps = np.diff(values) if len(values) > 1 else np.ones(1)
    step = float(steps.min())
    even = np.allclose(np.array(values) - lowest, np.round((np.array(values) - lowest) / step) * step)
    if not even or round((highest - lowest) / step) >= _MOST_STEPS:
        step = 0.0
    return RatingTask(
        "labels",
        "Label",
        "assay",
        "check",
        "the scale of the labels of an earlier check",
        (
            Dimension(
                _LABEL,
                "Label",
                "Which label fits this text?"
                if panel.scale.words
                else "Which number fits this text? Higher is better.",
                lowest,
                highest,
                step,
                tuple(sorted(panel.scale.words.items())),
            ),
        ),
        show_reference=show_reference,
    )


def draft_study(
    store: Store,
    name: str,
    panel: Panel,
    labels: NextLabels,
    texts: Sequence[ScorableOutput | None],
    *,
    use: str,
    seed: int | None = None,
    file_name: str = "",
) -> tuple[Study, tuple[str, ...]]:
    """Make a rating study in draft of the chosen texts, on the raters' scale; return it with notes for its owner.

    texts: of each row of the panel. use: its ceiling decides how many raters a text gets, at least as many as labelled
    texts have. seed: of the study's draws; None: a new one. file_name: as in `texts_to_label`. Raises InputError as `texts_to_label` and
    `core.study.lifecycle.import_rating_study`.
    """
    outputs = texts_to_label(labels, texts, file_name)
    if known := studies_like(store, outputs):
        raise InputError(
            f"Study {', '.join(map(shown, known))} has these texts already. Use that study, or choose another number of texts."
        )
    design = Design(
        "",
        "",
        seed=new_seed() if seed is None else seed,
        repeat_share=0.0,
        blinding_pairs=0,
        votes_per_pair=raters_wanted(panel, use),
    )
    task = label_task(panel, show_reference=any(one.reference for one in outputs.outputs))
    return import_rating_study(store, name, outputs, task, design)


def raters_wanted(panel: Panel, use: str) -> int:
    """Raters of a text: as many as the use's ceiling needs, and as labelled texts usually have (their median)."""
    counts = (~np.isnan(panel.ratings)).sum(axis=1)
    usual = int(np.median(counts[counts > 0])) if (counts > 0).any() else 1
    return max(RATERS.get(use, 1), usual)


# --- labels that come back ---------------------------------------------------------------------


_MOST_OTHER = 3
"""Most items with another text that a message names."""


def add_labels(panel: Panel, new: Panel) -> Panel:
    """The panel with further ratings of its texts, and their probabilities of inclusion.

    new: read from a study or a file, matched by item, system and level; its judges are not used. Numbers of a study of
    `label_task` stand for the panel's words. A rater of both keeps one column. Raises InputError for a value that
    the panel's scale lacks, for a text that a rater rates in both, and if no text is in both.
    """
    found = places_of([replace(row, labels={}) for row in new.rows], panel.rows)
    places = np.array([-1 if place is None else place for place in found], dtype=np.int64)
    given = _panel_values(panel, new)
    raters = list(dict.fromkeys((*panel.raters, *new.raters)))
    ratings = np.full((len(panel.rows), len(raters)), np.nan)
    ratings[:, : len(panel.raters)] = panel.ratings
    problems = []
    if not (places >= 0).any():
        problems.append(
            f"{shown(new.name)}: no label is of a text in {shown(panel.name)}; use the same names of items and systems"
        )
    for at, column in zip(*np.nonzero(~np.isnan(given)), strict=True):
        row, rater = places[at], raters.index(new.raters[column])
        if row >= 0 and not np.isnan(ratings[row, rater]):
            problems.append(
                f"{shown(new.name)}: rater {shown(raters[rater])} has rated item {shown(panel.rows[row].item_id)} in "
                f"{shown(panel.name)} already; rename the rater if it is another person"
            )
        elif row >= 0:
            ratings[row, rater] = given[at, column]
    if problems:
        raise InputError("The new labels cannot be added", problems)
    drawn = {
        int(place): row.labels[PROBABILITY]
        for place, row in zip(places, new.rows, strict=True)
        if place >= 0 and row.labels.get(PROBABILITY)
    }
    rows = tuple(
        replace(row, labels={**row.labels, PROBABILITY: drawn[at]}) if at in drawn else row
        for at, row in enumerate(panel.rows)
    )
    lost = int((~np.isnan(given[places < 0])).sum())
    return replace(
        panel,
        rows=rows,
        raters=tuple(raters),
        ratings=ratings,
        notes=tuple(dict.fromkeys((*panel.notes, *new.notes))),
        left_out={**panel.left_out, **({OTHER_TEXT: lost} if lost else {})},
    )


def check_same_texts(
    panel: Panel, new: Panel, texts: Sequence[ScorableOutput | None], back: Sequence[ScorableOutput | None]
) -> None:
    """Refuse labels of other texts than the panel's, although items and systems have the same names.

    texts, back: the text of each row of the panel, from its own input and from that of `new` (`texts_beside`); None: unknown, and
    empty: no texts, so nothing to compare. Spaces do not count.
    Raises InputError with the first items.
    """
    other = [
        text
        for text, read in zip(texts, back, strict=bool(texts and back))
        if text is not None and read is not None and text.text.split() != read.text.split()
    ]
    if not other:
        return
    named = listed([shown(one.item_id) for one in other[:_MOST_OTHER]])
    more = f" and {len(other) - _MOST_OTHER:,} more" if len(other) > _MOST_OTHER else ""
    raise InputError(
        f"{shown(new.name)}: labels of other texts",
        [
            f"item {named}{more}: the text is not that of {shown(panel.name)}; label the same texts, or give a changed text another "
            "item"
        ],
    )


def _panel_values(panel: Panel, new: Panel) -> Floats:
    """The new ratings as values of the panel. Raises InputError with the values that it lacks."""
    given = new.ratings.copy()
    if not panel.scale.words:
        if new.scale.words:
            raise InputError(
                f"{shown(new.name)} has words as labels, and {shown(panel.name)} numbers. Write the labels as numbers."
            )
        return given
    known = {word.casefold(): value for value, word in panel.scale.words.items()}
    unknown = []
    for value in np.unique(given[~np.isnan(given)]).tolist():
        word = new.scale.words.get(value)
        to = known.get(word.casefold()) if word is not None else value if value in panel.scale.words else None
        if to is None:
            unknown.append(
                f"{shown(word) if word is not None else f'{value:g}'}: not a label of {shown(panel.name)}"
            )
        else:
            given[new.ratings == value] = to
    if unknown:
        raise InputError(f"{shown(new.name)}: labels cannot be matched", unknown)
    return given

"""A study of pairs whose votes say which answer fits the level, with planted qualities of both systems, and scores of metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from helpers.texts.demo_metrics import METRICS, QUESTIONS
from helpers.texts.factories import LEVELS, dataset, record_of
from helpers.texts.score_factories import metric, table

from core.formats.study.files import read_dataset
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.schema.study import Output, Preference, StudyRecord

CANDIDATE, COMPARATOR = "ai", "human"
ANSWERS = QUESTIONS.with_name("answers.csv")


@dataclass(frozen=True)
class LevelVotes:
    """The candidate follows the levels exactly. Qualities are in levels: A0 is 0, A1 is -1, and so on."""

    record: StudyRecord
    qualities: Mapping[tuple[str, str, str], float]
    """(item, level, system) -> quality of the answer."""
    heights: Mapping[str, float]
    """Item -> what its question adds to every score, whatever the quality of the answer."""
    rng: np.random.Generator = field(repr=False)

    def scores(self, *metrics: Metric, noise: float = 0.1) -> ScoreTable:
        """Scores by the metrics' names: `follows` the quality, `reversed`, `stars` (whole levels), `noise`, `constant`."""
        rows, values = [], []
        for (item, level, system), quality in self.qualities.items():
            score = quality + self.heights[item] + self.rng.normal(0, noise)
            made = {
                "follows": score,
                "reversed": -score,
                "stars": float(np.rint(quality)),
                "noise": self.rng.normal(),
                "constant": 1.0,
            }
            rows.append(ScoredRow(item, system, level))
            values.append([made[one.name] for one in metrics])
        return ScoreTable(tuple(rows), metrics, np.array(values), file_name="scores.csv")


def level_votes(
    n_items: int = 30,
    *,
    offset: float = -1.0,
    scatter: float = 0.0,
    heights: float = 0.5,
    rater_noise: float = 0.2,
    both_good: float = 0.3,
    raters: Sequence[str] = ("R1", "R2"),
    levels: Sequence[str] = LEVELS,
    seed: int = 1,
) -> LevelVotes:
    """An unblinded study of such answers, with votes by raters who see how far each answer is from its level, not quite.

    offset: quality of the comparator's answers minus that of their level; scatter: its standard deviation over answers. heights:
    standard deviation of what a question adds to every score. rater_noise: standard deviation of what a rater sees amiss. both_good:
    distance up to which an answer fits for a rater; two such answers are "both good".
    """
    rng = np.random.default_rng(seed)
    data = dataset(n_items, levels)
    qualities = {
        (one.item_id, one.level, one.source): -float(LEVELS.index(one.level))
        + (rng.normal(offset, scatter) if one.source == COMPARATOR else 0.0)
        for one in data.outputs
    }

    def vote(item: str, level: str) -> Preference:
        own, other = (
            abs(qualities[item, level, system] + LEVELS.index(level) + rng.normal(0, rater_noise))
            for system in (CANDIDATE, COMPARATOR)
        )
        if max(own, other) <= both_good:
            return "both_good"
        return "candidate" if own < other else "comparator"

    votes = {
        rater: {(item.item_id, level): vote(item.item_id, level) for item in data.items for level in levels}
        for rater in raters
    }
    record = record_of(votes, data, main_levels=tuple(levels))
    return LevelVotes(
        _unblinded(record),
        qualities,
        {item.item_id: rng.normal(0, heights) for item in data.items},
        rng,
    )


def shifted_demo(shift: int) -> tuple[StudyRecord, ScoreTable]:
    """The demo's pipeline against its own texts of another level, which raters always see; and chrF of all texts.

    shift: 1, the comparator's texts are one level too low; -1, one too high.
    """
    demo = read_dataset(ANSWERS.read_bytes(), ANSWERS.name)
    levels = LEVELS[max(0, -shift) : len(LEVELS) - max(0, shift)]
    texts = {(one.item_id, one.level): one.text for one in demo.outputs if one.source == "pipeline"}
    data = replace(
        demo,
        levels=levels,
        sources=(CANDIDATE, COMPARATOR),
        outputs=tuple(
            Output(item.item_id, level, system, texts[item.item_id, LEVELS[LEVELS.index(level) + by]])
            for item in demo.items
            for level in levels
            for system, by in ((CANDIDATE, 0), (COMPARATOR, shift))
        ),
    )
    chosen: Preference = "candidate"
    votes = {
        rater: {(item.item_id, level): chosen for item in data.items for level in levels}
        for rater in ("R1", "R2")
    }
    record = record_of(votes, data, main_levels=levels)
    items = {item.item_id: item for item in data.items}
    scores = [
        METRICS["chrF"](one.text, items[one.item_id].reference, items[one.item_id].language)
        for one in data.outputs
    ]
    return _unblinded(record), table(
        (ScoredRow(one.item_id, one.source, one.level), score)
        for one, score in zip(data.outputs, scores, strict=True)
    )


def _unblinded(record: StudyRecord) -> StudyRecord:
    return replace(record, study=replace(record.study, state="unblinded"))


FOLLOWS, NOISE, CONSTANT, STARS = (metric(name) for name in ("follows", "noise", "constant", "stars"))
REVERSED = metric("reversed")
"""Lower is better, and nobody says so."""

"""Rows of pairs: scores of a study's answers beside its votes, for every analysis that compares scores with ratings."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from core.errors import InputError
from core.joining.choices import (
    AS_GIVEN,
    TableChoice,
    add_directions,
    chosen_people,
    chosen_table,
    scores_called,
)
from core.joining.tables import merge_tables
from core.results.correlations.votes import Preferences, preferences_of
from core.results.study.counted import Counted, Filters, count
from core.schema.scores import (
    STATED,
    Rating,
    RatingSet,
    ScoredRow,
    ScoreTable,
    direction_is_stated,
)
from core.schema.study import NO_LEVEL, StudyRecord
from core.stats.votes import preferences
from core.study.analysis_set import check_released
from core.study.as_seen import rendering_notes
from core.study.masking import unmasked, unmasked_table
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown

VOTE = "vote"
"""Dimension of votes as ratings."""
People = RatingSet | StudyRecord
"""Ratings of single texts, or an unblinded study whose raters vote on pairs."""


def pair_with_people(
    table: ScoreTable, people: People, choice: TableChoice = AS_GIVEN
) -> tuple[ScoreTable, RatingSet]:
    """Return the chosen scores and the ratings of their rows; beside votes each row is a pair (`paired_with_votes`).

    The choice comes first, because a pair's score depends on which scores are better and which texts are left out. Raises
    InputError if nothing remains, and as `paired_with_votes`.
    """
    table = chosen_table(table, choice)
    if isinstance(people, StudyRecord):
        table, people = paired_with_votes(people, table)
    return table, chosen_people(people, choice, table)


def merged_beside(tables: Sequence[ScoreTable], people: People) -> tuple[ScoreTable, RatingSet]:
    """Return the merged scores and the ratings of their rows; beside votes, each table is paired before it is merged.

    A judge that read masked texts shares no system with other tables. Raises InputError as `pair_with_people` and `merge_tables`.
    """
    if not isinstance(people, StudyRecord):
        return merge_tables(tables), people
    paired = [paired_with_votes(people, one) for one in tables]
    return merge_tables([one for one, _ in paired]), paired[0][1]


def paired_with_votes(record: StudyRecord, table: ScoreTable) -> tuple[ScoreTable, RatingSet]:
    """Return a study's pairs as rows of scores, and each vote on them as a rating.

    A pair's score is the metric's margin in favour of the candidate (`pair_margins`); its ratings are 1 for the candidate, -1 for the
    comparator and 0 for a tie of either kind, so that their mean is the mean vote. Rows have the question as item, and the
    level. Pairs and votes count as in the study's results. table: scores of the study's texts, as `metrics_against_votes`
    joins them. A pair of which a text was left out on request is left out.

    Raises NotAllowed unless the study is unblinded, and InputError if no pair has a vote that counts, no text of the study
    was scored, or a text is listed twice.
    """
    check_released(record.study)
    counted = count(record, Filters())
    if not counted.keys:
        why = [f"{reason}: {n}" for reason, n in counted.pairs_left_out.items()]
        raise InputError(f"Study {shown(record.study.name)} has no pair with the votes it needs", why)
    table, assumed = add_directions(unmasked_table(record, table))
    preferred = preferences_of(record, table, counted)
    rows = _rows(record, table, preferred)
    gone = _left_out_reasons(record, table, counted)
    kept = [at for at, reason in enumerate(gone) if reason is None]
    if not kept:
        raise InputError(
            f"{scores_called(table.file_name)}: the choice leaves out a text of every pair. Keep at least one pair."
        )
    margins = preferred.margins[kept]
    paired = ScoreTable(
        rows=tuple(rows[at] for at in kept),
        metrics=tuple(
            # The margins are turned already, and the registry must not turn them again.
            replace(one, direction="higher", signature=one.signature if direction_is_stated(one) else STATED)
            for one in table.metrics
        ),
        values=margins,
        reasons={
            (place, metric): preferred.why(metric, kept[place])
            for place, metric in np.argwhere(np.isnan(margins)).tolist()
        },
        file_name=table.file_name,
        notes=table.notes,
        left_out=tuple((reason, rows[at]) for at, reason in enumerate(gone) if reason is not None),
    )
    n_used = len({int(side[at]) for side in preferred.sides for at in kept} - {-1})
    ratings = RatingSet(
        ratings=tuple(_votes(counted, rows, kept)),
        sha256="",  # of no file: a file may hold both the answers of a study and their scores
        file_name=f"votes of study {record.study.name}",
        notes=(
            _meaning(record),
            *rendering_notes(record.study),
            *assumed,
            *_left_out_notes(counted, len(table.rows), n_used),
        ),
        left_out=dict(counted.pairs_left_out),
        pair_of=(record.study.design.candidate, record.study.design.comparator),
    )
    return paired, ratings


def _rows(record: StudyRecord, table: ScoreTable, preferred: Preferences) -> list[ScoredRow]:
    """The row of each counted pair."""
    languages = {item.item_id: item.language for item in record.items}
    return [
        ScoredRow(
            item,
            ONLY_SYSTEM,
            None if level == NO_LEVEL else level,
            languages[item],
            _shared_labels(table, [int(side[at]) for side in preferred.sides]),
        )
        for at, (item, level) in enumerate(preferred.counted.keys)
    ]


def _shared_labels(table: ScoreTable, sides: Sequence[int]) -> dict[str, str]:
    """The labels that the scored answers of a pair share."""
    first, *others = [table.rows[side].labels for side in sides if side >= 0] or [{}]
    return {name: value for name, value in first.items() if all(own.get(name) == value for own in others)}


def _left_out_reasons(record: StudyRecord, table: ScoreTable, counted: Counted) -> list[str | None]:
    """For each pair, why one of its texts was left out; None if both stay."""
    rows = unmasked(record, [row for _, row in table.left_out])
    why = {
        (row.item_id, row.level or "", row.system): reason
        for (reason, _), row in zip(table.left_out, rows, strict=True)
    }
    design = record.study.design
    return [
        why.get((item, level, design.candidate)) or why.get((item, level, design.comparator))
        for item, level in counted.keys
    ]


def _votes(counted: Counted, rows: Sequence[ScoredRow], kept: Sequence[int]) -> Iterator[Rating]:
    votes = preferences(counted.codes)
    for at in kept:
        row = rows[at]
        for rater, vote in zip(counted.raters, votes[at].tolist(), strict=True):
            if not np.isnan(vote):
                yield Rating(row.item_id, vote, None, row.level, rater, VOTE, row.language)


def _meaning(record: StudyRecord) -> str:
    design = record.study.design
    candidate, comparator = shown(design.candidate), shown(design.comparator)
    score = (
        f"how much closer to the level's target the metric puts the answer of {candidate} than that of {comparator}"
        if record.study.votes_mean == "fits_level"
        else f"how much higher the metric scores the answer of {candidate} than that of {comparator}"
    )
    votes = f"1 for {candidate}, -1 for {comparator}, 0 for a tie"
    return f"each row is a pair of answers. Its score: {score}. Its ratings: the votes ({votes})"


def _left_out_notes(counted: Counted, n_rows: int, n_used: int) -> Iterator[str]:
    for reason, n in counted.pairs_left_out.items():
        yield f"{n} {'pair is' if n == 1 else 'pairs are'} left out: {reason}"
    if n_rows > n_used:
        yield f"{n_rows - n_used} of {n_rows} scored texts are in no pair that counts"

"""Pairwise judges made in memory: a policy says which of two texts is better, and the output is that of a run."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, cast

from core.judges.pairwise import (
    ORDERS,
    PairTrial,
    PairVerdict,
    PairwiseRecord,
    compared_groups,
    values_against,
)
from core.schema.scores import JudgedText, JudgeOutput, Metric, ScorableOutput, ScoredRow, ScoreTable
from core.schema.study import PREFERENCES, StudyRecord
from core.study.masking import masks_of

Says = Callable[[ScorableOutput, ScorableOutput, int], str | None]
"""(text read first, text read second, repeat) -> first, second, both_good, both_bad, tie; None: no verdict."""
NAME = "pairwise-scripted"


def judged(
    outputs: Sequence[ScorableOutput],
    says: Says,
    *,
    name: str = NAME,
    repeats: int = 1,
    drawn: bool = False,
    ties: str = "good-or-bad",
    between: str = "systems",
) -> JudgeOutput:
    """Each request is answered once, and both texts' records hold the answer."""
    settings: dict[str, Any] = {
        "between": between,
        "order": "drawn" if drawn else "both",
        "ties": ties,
        "repeats": repeats,
        "temperature": 0.7,
        "seed": 0,
    }
    trials: dict[int, list[PairTrial]] = {id(one): [] for one in outputs}
    for group in compared_groups(outputs, between):
        for at, (one, its_name) in enumerate(group):
            for other, name_of_other in group[at + 1 :]:
                drawn_first = Random(f"{one.item_id}{one.level}").random() < 0.5
                for repeat in range(repeats):
                    for one_first in (True, False):
                        if drawn and one_first is not drawn_first:
                            continue
                        pair = (one, other) if one_first else (other, one)
                        said = says(*pair, repeat)
                        for text, against, first in (
                            (one, name_of_other, one_first),
                            (other, its_name, not one_first),
                        ):
                            verdict = {
                                "first": "own" if first else "other",
                                "second": "other" if first else "own",
                            }
                            given = None if said is None else verdict.get(said, said)
                            trials[id(text)].append(
                                PairTrial(
                                    against=against,
                                    order=ORDERS[0 if first else 1],
                                    repeat=repeat,
                                    verdict=cast("PairVerdict | None", given),
                                    feedback="" if said is None else f"Because of {said}.",
                                    reason="cut off" if said is None else None,
                                )
                            )
    texts = tuple(_text(one, PairwiseRecord(tuple(trials[id(one)])), name) for one in outputs)
    return JudgeOutput(
        name, "pairwise", "scripted", settings, (Metric(name, "Pairwise|made", "Pairwise"),), texts
    )


def _text(one: ScorableOutput, record: PairwiseRecord, name: str) -> JudgedText:
    row = ScoredRow(one.item_id, one.system, one.level, one.language, one.labels)
    values = list(values_against(record).values())
    known = [value for value in values if value is not None]
    score = sum(known) / len(known) if known else None
    return JudgedText(
        row,
        one.text,
        None,
        one.source,
        {name: score},
        {} if known else {name: "cut off"},
        record if record.trials else None,
    )


def texts_of(record: StudyRecord, *, masked: bool = False) -> list[ScorableOutput]:
    """The answers of a study as a judge reads them."""
    masks = masks_of(record.outputs) if masked else {}
    return [
        ScorableOutput(
            one.item_id,
            masks.get((one.item_id, one.level, one.source), one.source),
            one.text,
            level=one.level or None,
        )
        for one in record.outputs
    ]


def copies(record: StudyRecord, codes: dict[tuple[str, str], int]) -> Says:
    """A judge that gives a rater's answers, in both orders. codes: pair -> place in PREFERENCES; another pair: both good."""
    candidate = {
        (one.item_id, one.level, one.text)
        for one in record.outputs
        if one.source == record.study.design.candidate
    }

    def says(first: ScorableOutput, second: ScorableOutput, repeat: int) -> str:
        code = codes.get((first.item_id, first.level or ""))
        preference = "both_good" if code is None or code < 0 else PREFERENCES[code]
        if preference in ("both_good", "both_bad"):
            return preference
        is_candidate = (first.item_id, first.level or "", first.text) in candidate
        return "first" if (preference == "candidate") is is_candidate else "second"

    return says


def coin(seed: int, answers: Iterable[str] = ("first", "second", "both_good", "both_bad")) -> Says:
    """A judge that answers at random, anew at every request."""
    draws, offered = Random(seed), list(answers)
    return lambda first, second, repeat: draws.choice(offered)


def always_first(first: ScorableOutput, second: ScorableOutput, repeat: int) -> str:
    return "first"


def scores_of(output: JudgeOutput) -> ScoreTable:
    from core.results.judges.pairwise import scores_of as table

    return table(output)

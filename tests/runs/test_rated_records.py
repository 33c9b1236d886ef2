"""What judges that stand on ratings said, written and read again; what no such judge can have said is refused."""

import json
from dataclasses import replace
from typing import Any

import pytest

from core.errors import InputError
from core.judges.automqm import AutoMqmRecord, ErrorTrial, FoundError
from core.judges.direct import DirectRecord, DirectTrial
from core.judges.quality import QualityRecord, QualityTrial
from core.judges.rated import ExampleUsed
from core.runs.kinds import KINDS
from core.runs.records import kept_record, read_records, record_of, write_records
from core.schema.scores import JudgedText, Metric, ScoredRow
from core.schema.settings import Remark

TEXT = "Die 𝄞 Mühle."
METRIC = Metric("judge", "AutoMQM|score:verdict", "AutoMQM")
FOUND = FoundError("𝄞", "major", "accuracy/mistranslation", 4, 5)
USED = (ExampleUsed("1", "sys-B", "rater 1", 3), ExampleUsed("1", "sys-C", None))
MARKED = AutoMqmRecord(
    (
        ErrorTrial(
            repeat=0,
            verdict=(FOUND, FoundError("", "minor", "accuracy/omission", located="nothing quoted")),
            examples=USED,
        ),
        ErrorTrial(
            repeat=1,
            verdict=(replace(FOUND, quote="Muehle", start=6, end=11, located="nearest"),),
            examples=USED[:1],
        ),
        ErrorTrial(repeat=2, verdict=None, examples=(), reason="cut off", detail="no end"),
        ErrorTrial(repeat=3, verdict=()),
    )
)
SCORED = DirectRecord(
    (
        DirectTrial(repeat=0, verdict=72.5, examples=USED),
        DirectTrial(repeat=1, verdict=None, examples=USED, reason="no score", detail="high"),
    )
)
RATED = QualityRecord(
    (
        QualityTrial(dimension="LA", repeat=0, verdict=2.0, feedback="Good."),
        QualityTrial(dimension="LA", repeat=1, verdict=None, reason="refused"),
        QualityTrial(dimension="H", repeat=0, verdict=1.0),
    ),
    USED,
    "Mühle. 𝄞 Die",
)


def judged(record: Any, score: float | None = -6.0) -> JudgedText:
    reasons = {} if score is not None else {"judge": "mark errors: cut off"}
    return JudgedText(
        ScoredRow("1", "sys-A", "A2", "de"), TEXT, "The mill.", "The mill.", {"judge": score}, reasons, record
    )


@pytest.mark.parametrize(("kind", "record"), [("automqm", MARKED), ("direct", SCORED), ("quality", RATED)])
def test_records_come_back_as_they_were(kind: Any, record: Any) -> None:
    assert record_of(KINDS[kind], json.loads(json.dumps(kept_record(KINDS[kind], record)))) == record
    texts = (judged(record, -6.0), replace(judged(None, None), row=ScoredRow("2", "sys-A")))
    assert read_records(write_records(texts), "records.jsonl", KINDS[kind], [METRIC]) == texts


def problems(kind: Any, record: Any, score: float = -6.0) -> list[str]:
    with pytest.raises(InputError) as refused:
        read_records(write_records([judged(record, score)]), "records.jsonl", KINDS[kind], [METRIC])
    return [one.removeprefix("line 1").removeprefix(", record, ") for one in refused.value.problems]


def places(said: list[str]) -> list[str]:
    """Where each problem is; what it says of that place is test_rated_judges' to check."""
    return [one.partition(": ")[0] for one in said]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (replace(FOUND, end=13), "end is 13, but the text has 12 characters"),
        (replace(FOUND, start=6), "start and end (6, 5) are not in order"),
        (replace(FOUND, start=-1), "start and end (-1, 5) are not in order"),
        (replace(FOUND, end=None), "start and end must be given together"),
        (replace(FOUND, start=None, end=None), "start is missing, although the error was found"),
        (replace(FOUND, located="not found"), "start is 4, although the error was not found"),
    ],
)
def test_errors_have_to_stand_in_the_text(error: FoundError, said: str) -> None:
    record = AutoMqmRecord((ErrorTrial(repeat=0, verdict=(FOUND, error)),))
    assert problems("automqm", record) == [f"trials, 1, errors, 2: {said}"]


def test_the_last_place_of_a_text_is_in_it() -> None:
    whole = AutoMqmRecord(
        (ErrorTrial(repeat=0, verdict=(replace(FOUND, start=0, end=12), replace(FOUND, start=12, end=12))),)
    )
    (read,) = read_records(write_records([judged(whole)]), "records.jsonl", KINDS["automqm"], [METRIC])
    assert read.record == whole


def test_repeats_and_scores_keep_to_their_bounds() -> None:
    twice = AutoMqmRecord(
        (
            ErrorTrial(repeat=0, verdict=()),
            ErrorTrial(repeat=0, verdict=()),
            ErrorTrial(repeat=100, verdict=(), examples=(replace(USED[0], n_errors=-1),)),
        )
    )
    score, *others = problems("automqm", twice, 0.5)
    assert score == ": scores: judge is 0.5, which is not between -1e+09 and 0"
    assert places(others) == ["trials, 3, repeat", "trials, 2", "trials, 3, examples, 1, n_errors"]
    far = DirectRecord((DirectTrial(repeat=0, verdict=1e10), DirectTrial(repeat=0, verdict=3.0)))
    assert places(problems("direct", far)) == ["trials, 1, verdict", "trials, 2"]
    again = QualityRecord(
        (
            QualityTrial(dimension="H", repeat=0, verdict=1.0),
            QualityTrial(dimension="LA", repeat=0, verdict=1.0),
            QualityTrial(dimension="H", repeat=0, verdict=0.0),
        )
    )
    assert places(problems("quality", again)) == ["trials, 3"]


@pytest.mark.parametrize(
    ("kind", "bad", "fields"),
    [
        ("automqm", {"n_examples": -1, "filtered": "yes", "only": "A"}, ["n_examples", "filtered", "only"]),
        ("automqm", {"n_examples": True, "filtered": 1, "rater": 3}, ["n_examples", "filtered", "rater"]),
        ("automqm", {"only": [1], "examples": True}, ["examples", "only"]),
        ("quality", {"held_out": 1.0, "shots": 2.5}, ["shots", "held_out"]),
        ("quality", {"held_out": False, "shots": "2"}, ["shots", "held_out"]),
    ],
)
def test_settings_that_no_run_has_are_refused(kind: str, bad: dict[str, Any], fields: list[str]) -> None:
    model = KINDS[kind].Settings
    problems: list[Remark] = []
    assert model.read(bad, problems) is None
    assert sorted(one.name for one in problems) == sorted(fields)
    good = {"n_examples": 3, "filtered": True, "only": ["A"], "rater": "", "held_out": 0.2}
    known = {name: value for name, value in good.items() if name in model.model_fields}
    assert model.read(known, problems) is not None


@pytest.mark.parametrize(
    ("kind", "record", "former"),
    [
        ("automqm", MARKED, {"verdict": "errors"}),
        ("direct", SCORED, {"verdict": "score"}),
        ("quality", RATED, {"verdict": "score", "feedback": "justification"}),
    ],
)
def test_records_with_the_former_names_of_a_trial_are_read(
    kind: str, record: Any, former: dict[str, str]
) -> None:
    stored = json.loads(json.dumps(kept_record(KINDS[kind], record)))  # type: ignore[arg-type]  # a judge
    for trial in stored["trials"]:
        for name, before in former.items():
            trial[before] = trial.pop(name)
        del trial["order"]
    assert record_of(KINDS[kind], stored) == record  # type: ignore[arg-type]  # a judge

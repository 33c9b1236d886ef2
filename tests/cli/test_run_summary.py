"""What a run cost, in lines: time that passed is told apart from time that requests and processes add up to."""

from core.cli.shared.running import summary
from core.runs.path import saved_run
from core.runs.progress import Progress
from core.schema.runs import Run, StepCost
from core.store import Store


def lines_of(store: Store, kind: str, cost: StepCost, worked: float | None) -> list[str]:
    run = Run(
        1, kind, "done", {"metrics": ["bleu-4"]}, {}, "q.csv", "00", 30, None, "", "0", worked_seconds=worked
    )
    return summary(saved_run(store, run), Progress(run, "done", 30, 0, 0, {}, [cost], None))


def test_requests_are_summed_apart_and_time_is_what_passed(store: Store) -> None:
    asked = StepCost("rank", 30, 0, 0, 1_000, 200, 1_012.3)
    lines = lines_of(store, "factual", asked, 118.0)
    assert lines[-2].endswith("total request time 1,012.3 s (requests overlap).")
    assert lines[-1] == "Working time: 118.0 s."
    scored = StepCost("lexical", 30, 0, 0, None, None, 20.0)
    lines = lines_of(store, "scores", scored, 11.0)
    assert lines[-2].endswith("20.0 s of computing in all processes.")
    assert lines[-1] == "Working time: 11.0 s."


def test_a_time_that_nobody_noted_is_not_told(store: Store) -> None:
    found = StepCost("rank", 0, 30, 0, None, None, 0.0)
    lines = lines_of(store, "factual", found, None)
    assert "request time" not in lines[-1]
    assert "Time" not in lines[-1]

"""Task files: those that are shipped, and every way that one can be written wrongly."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.tasks import SHIPPED, dump_task, find_task, parse_task, shipped_tasks
from core.schema.study import TaskLabels

RUN = 8
"""Words in a row that no task may share with a paper."""
HEAD = """\
name: mine
title: Mine
source: {paper: none, section: none, differences: written by us}
"""
SCALE = "dimensions:\n  - name: LA\n    title: Sound\n    description: How does it sound?\n    lowest: 0\n"


def problems_of(text: str) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse_task(text, "mine.yaml")
    assert caught.value.what.startswith("Task mine.yaml cannot be used")
    return tuple(caught.value.problems)


def test_the_shipped_tasks() -> None:
    tasks = {task.name: task for task in shipped_tasks()}
    assert list(tasks) == ["direct", "factual-errors", "mqm", "mqm-and-direct", "multilingual"]
    assert {one.name: one.classes for one in tasks["multilingual"].dimensions} == {
        "LA": (0, 1, 2),
        "OCQ": (0, 1, 2),
        "TQ": (0, 1, 2),
        "PC": (0, 1),
        "H": (0, 1),
    }
    for one in tasks["multilingual"].dimensions:
        assert tuple(answer for answer, _ in one.anchors) == one.classes
        assert len(one.detailed) > 300
    overall = tasks["direct"].dimension("overall")
    assert (overall.lowest, overall.highest, overall.classes, len(overall.anchors)) == (0, 100, (), 5)
    marked = tasks["mqm"].spans
    assert marked.severities == ("minor", "major", "critical")
    assert len(marked.categories) == 22
    assert {one.partition("/")[0] for one in marked.categories} == {
        "accuracy",
        "fluency",
        "terminology",
        "style",
        "locale convention",
        "non-translation",
        "source error",
        "other",
    }
    assert tasks["mqm-and-direct"].spans == marked
    factual = tasks["factual-errors"]
    assert factual.show_reference
    assert factual.labels == TaskLabels("question", "reference (taken as correct)", "answer")
    assert factual.labels.headings == TaskLabels("Question", "Reference (taken as correct)", "Answer")
    assert [name for name, _ in factual.spans.meanings] == [
        *factual.spans.severities,
        *factual.spans.categories,
    ]
    assert factual.spans.severities == marked.severities
    assert (factual.dimension("overall").lowest, factual.dimension("overall").highest) == (0, 100)
    assert [name for name, task in tasks.items() if task.labels != TaskLabels()] == ["factual-errors"]
    for name in ("mqm", "mqm-and-direct"):  # a run is known by this text
        assert not {"labels", "meanings"} & set(re.findall(r"\w+(?=:)", dump_task(tasks[name])))
    for task in tasks.values():
        assert find_task(task.name) == task
        assert parse_task(dump_task(task), "again.yaml") == task
        header = (SHIPPED / f"{task.name}.yaml").read_text("utf-8").splitlines()[:2]
        assert f"Paper: {task.paper}" in header[0]
        assert "differs" in header[1]


def test_labels_and_meanings_are_read_and_checked() -> None:
    spans = (
        "spans: {severities: [minor], categories: [a/b, c], meanings: {minor: Small., a/b: One., %s: X.}}\n"
    )
    task = parse_task(HEAD + spans % "c" + "labels: {text: answer}\n", "mine.yaml")
    assert task.labels == replace(TaskLabels(), text="answer")
    assert list(map(task.spans.in_words, ("minor", "a/b", "c"))) == ["minor: Small.", "a/b: One.", "c: X."]
    assert parse_task(dump_task(task), "again.yaml") == task
    assert problems_of(HEAD + spans % "d" + "labels: {text: '', answer: x}\n") == (
        "line 5, labels, text: is empty",
        "line 5, labels, answer: is not a field here; possible: source, reference, text",
    )
    assert problems_of(HEAD + spans % "d") == (
        "line 4, spans, meanings, d: not a severity or category of this task",
    )


def test_a_task_is_what_its_file_says() -> None:
    task = parse_task(
        HEAD + SCALE + "    highest: 1\n    step: 0.5\n    anchors: {1: Good., 0: Bad., 0.5: So so.}\n"
        "spans: {severities: [minor], categories: [a/b, c]}\nshow_reference: true\n",
        "mine.yaml",
    )
    (one,) = task.dimensions
    assert one.classes == (0, 0.5, 1)
    assert one.anchors == ((0, "Bad."), (0.5, "So so."), (1, "Good."))
    assert one.detailed == ""
    assert task.spans.categories == ("a/b", "c")
    assert not task.spans.source_side
    assert task.show_reference
    assert parse_task(dump_task(task), "again.yaml") == task


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ("    highest: 0", "line 9, dimensions, 1, highest: is 0, which is not above lowest (0)"),
        ("    highest: x", "line 9, dimensions, 1, highest: is 'x', expected a number"),
        ("    highest: yes", "line 9, dimensions, 1, highest: is True, expected a number"),
        ("    highest: .nan", "line 9, dimensions, 1, highest: is nan, expected a number"),
        ("", "line 5, dimensions, 1, highest: is missing"),
        (
            "    highest: 2\n    step: 3",
            "line 10, dimensions, 1, step: is 3, which does not divide the range from 0 to 2",
        ),
        ("    highest: 2\n    step: -1", "line 10, dimensions, 1, step: is -1, below 0; 0 means any number"),
        (
            "    highest: 100\n    step: 0.5",
            "line 10, dimensions, 1, step: is 0.5, which gives 201 answers; at most 101 are possible",
        ),
        (
            "    highest: 2\n    anchors:\n      1.5: x",
            "line 10, dimensions, 1, anchors: 1.5 is not a possible answer",
        ),
        (
            "    highest: 2\n    anchors:\n      good: x",
            "line 11, dimensions, 1, anchors, good: is not an answer; write a number without quotes",
        ),
        (
            "    highest: 2\n    anchors:\n      1: x\n      1.0: y",
            "line 10, dimensions, 1, anchors: a number occurs twice, written differently",
        ),
        (
            "    highest: 2\n    colour: red",
            "line 10, dimensions, 1, colour: is not a field here; possible: name, title",
        ),
        (
            "    highest: 2\n  - {name: la, title: A, description: B, lowest: 0, highest: 1}",
            "line 5, dimensions, 1, name: LA is the name of several dimensions",
        ),
    ],
)
def test_what_is_wrong_with_a_dimension(rest: str, problem: str) -> None:
    assert problems_of(HEAD + SCALE + rest)[0].startswith(problem)


def test_names_of_dimensions_can_be_columns() -> None:
    for name, problem in (
        ("a b", "may contain only letters"),
        ("x" * 41, "has 41 characters"),
        ("a/b", "may contain only"),
    ):
        text = HEAD + SCALE.replace("LA", name) + "    highest: 1"
        assert problems_of(text)[0].startswith(f"line 5, dimensions, 1, name: {problem}")


def test_what_is_wrong_with_a_typology() -> None:
    text = (
        HEAD
        + "spans:\n  severities: [major, minor, grave]\n  categories:\n    - a\n    - a\n    - No-error\n"
    )
    assert problems_of(text) == (
        "line 5, spans, severities, 3: grave has no weight; possible: neutral, minor, major, critical",
        "line 5, spans, severities: list the mildest first: minor, major",
        "line 8, spans, categories, 2: a occurs twice",
        "line 9, spans, categories, 3: No-error is not an error; 'no errors' needs no category",
    )
    assert problems_of(HEAD + "spans: {severities: [], categories: [x], source_side: 1}") == (
        "line 4, spans, source_side: is 1, expected true or false",
    )
    assert problems_of(HEAD) == ("file: the task is empty; give dimensions, spans, or both",)
    assert problems_of("") == ("file: is empty",)


def test_a_task_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + "spans: {severities: [minor], categories: [x]}", "utf-8")
    assert find_task(str(path)).name == "mine"
    with pytest.raises(
        InputError, match=r"There is no task mine\. Choose one of direct, factual-errors, mqm"
    ):
        find_task("mine")
    with pytest.raises(InputError, match=r"Task .*nowhere.yaml cannot be read"):
        find_task(str(tmp_path / "nowhere.yaml"))


def runs_of(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


@pytest.mark.shared
def test_wording_is_our_own(shared_data: Path) -> None:
    papers = sorted((shared_data.parent / "papers").glob("00[24]*.txt"))
    taken = {run for paper in papers for run in runs_of(paper.read_text("utf-8"))}
    assert len(taken) > 10_000
    for task in shipped_tasks():
        own = (SHIPPED / f"{task.name}.yaml").read_text("utf-8").partition("dimensions:")[2]
        assert not runs_of(own.partition("spans:")[0]) & taken, task.name

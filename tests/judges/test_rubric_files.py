"""Rubric files: those that are shipped, and every way that one can be written wrongly."""

import re
from pathlib import Path

import pytest

from core.errors import InputError
from core.judges.rubric import RUBRICS, SHIPPED, find_rubric, parse_rubric

RUN = 8
"""Words in a row that no rubric may share with a paper."""
HEAD = """\
name: mine
title: Mine
source: {paper: none, section: none, differences: written by us}
criterion: Is it true?
"""


def problems_of(text: str) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse_rubric(text, "mine.yaml")
    assert caught.value.what.startswith("Rubric mine.yaml cannot be used")
    return tuple(caught.value.problems)


def test_the_RUBRICS_have_their_scales() -> None:
    scales = {rubric.name: tuple(rubric.levels) for rubric in RUBRICS.all()}
    assert scales == {"coverage": (0, 1, 2), "factual": (1, 2, 3, 4, 5)}
    assert len({rubric.sha256 for rubric in RUBRICS.all()}) == 2
    for rubric in RUBRICS.all():
        assert find_rubric(rubric.name) == rubric
        assert (rubric.lowest, rubric.highest) == (min(rubric.levels), max(rubric.levels))
        assert len(rubric.differences) > 60
        header = (SHIPPED / f"{rubric.name}.yaml").read_text("utf-8").splitlines()[:2]
        assert f"Paper: {rubric.paper}" in header[0]
        assert f"Section: {rubric.section}." in header[0]
        assert "differs" in header[1]


def test_a_rubric_is_what_its_file_says() -> None:
    rubric = parse_rubric(HEAD + "levels:\n  3: Yes.\n  1: |\n    No.\n\n  2: Partly.\n", "mine.yaml")
    assert list(rubric.levels.items()) == [(1, "No."), (2, "Partly."), (3, "Yes.")]
    assert rubric.rendered == "Score 1: No.\nScore 2: Partly.\nScore 3: Yes."
    again = parse_rubric(rubric.dump(), "kept.yaml")
    assert again == rubric
    assert again.sha256 == rubric.sha256


def test_the_hash_is_of_what_a_judge_reads() -> None:
    one = parse_rubric(HEAD + "levels: {0: No., 1: Yes.}", "a.yaml")
    other_title = parse_rubric(
        HEAD.replace("title: Mine", "title: Ours") + "levels: {1: Yes., 0: No.}", "b.yaml"
    )
    other_scale = parse_rubric(HEAD + "levels: {0: No., 2: Yes.}", "c.yaml")
    other_question = parse_rubric(HEAD.replace("Is it", "Is all") + "levels: {0: No., 1: Yes.}", "d.yaml")
    assert one.sha256 == other_title.sha256
    assert len({one.sha256, other_scale.sha256, other_question.sha256}) == 3


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ("", "levels: is missing"),
        ("levels:", "line 5, levels: is empty"),
        ("levels: {}", "line 5, levels: a scale needs at least two levels"),
        ("levels: {1: Yes.}", "line 5, levels: a scale needs at least two levels"),
        ("levels: [Yes., No.]", "line 5, levels: is a list, expected names with values"),
        ("levels: 5", "line 5, levels: is a number, expected names with values"),
        (
            "levels:\n  1: No.\n  '2': Yes.",
            "line 7, levels, 2: is not a level; a level is a whole number without quotes",
        ),
        (
            "levels:\n  2: No.\n  yes: Yes.",
            "line 5, levels, 1: is not a level; a level is a whole number without quotes",
        ),
        (
            "levels:\n  1: No.\n  1.5: Yes.",
            "line 7, levels, 1.5: is not a level; a level is a whole number without quotes",
        ),
        ("levels:\n  1: No.\n  -1: Yes.", "line 7, levels, -1: is not between 0 and 100"),
        ("levels:\n  1: No.\n  101: Yes.", "line 7, levels, 101: is not between 0 and 100"),
        ("levels:\n  1: No.\n  2:", "line 7, levels, 2: is empty, expected text"),
        ("levels:\n  1: ' '\n  2: Yes.", "line 6, levels, 1: is empty"),
        (
            "levels:\n  1: No.\n  2: true",
            "line 7, levels, 2: is true or false, expected text; put it in quotes",
        ),
        (
            "levels:\n  1: No.\n  1: Yes.\n  2: x",
            "line 7, levels, 1: is given twice (first on line 6)",
        ),
        ("levels:\n  1: No.\n  01: Yes.\n  2: x", "line 5, levels: the same number appears in two spellings"),
    ],
)
def test_scales_that_cannot_be_used(levels: str, problem: str) -> None:
    assert problems_of(HEAD + levels) == (problem,)


def test_all_problems_are_said_together_in_the_order_of_the_lines() -> None:
    text = """\
name: My Rubric
title:
purpose: rubric
source: {paper: none, section: 3, differences: ''}
levels:
  1: No.
  x: Yes.
"""
    assert problems_of(text) == (
        "line 1, name: may have only lower-case letters a-z, digits and single hyphens, at most 80 in all",
        "line 2, title: is empty",
        "line 3, purpose: is not a field of a rubric file; the fields are name, title, source, criterion, levels",
        "line 4, source, section: is a number, expected text; put it in quotes",
        "line 4, source, differences: is empty",
        "line 7, levels, x: is not a level; a level is a whole number without quotes",
        "criterion: is missing",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "file: is empty"),
        ("just words", "line 1: expected `field: value`"),
        ("a: [", "not readable as YAML"),
        ("a: &x 1\nb: *x", "line 2: *x is a YAML alias"),
        ("x: '" + "a" * 200_000 + "'", "larger than 200 kB"),
    ],
)
def test_files_that_cannot_be_read(text: str, problem: str) -> None:
    (said,) = problems_of(text)
    assert problem in said


def test_a_rubric_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + "levels: {0: No., 1: Yes.}", "utf-8")
    assert find_rubric(str(path)).criterion == "Is it true?"
    with pytest.raises(
        InputError, match=r"There is no rubric mine\. Choose one of coverage, factual, or give the path"
    ):
        find_rubric("mine")
    with pytest.raises(InputError, match=r"Rubric .*nowhere.yaml cannot be read"):
        find_rubric(str(tmp_path / "nowhere.yaml"))


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold().replace("\\_", "_"))


def runs_of(text: str) -> set[tuple[str, ...]]:
    words = words_of(text)
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


@pytest.mark.shared
def test_wording_is_our_own(shared_data: Path) -> None:
    papers = sorted((shared_data.parent / "papers").glob("*.txt"))
    taken = {run for paper in papers for run in runs_of(paper.read_text("utf-8"))}
    assert (
        tuple(words_of("demonstrate factual correctness by covering all essential points from")[:RUN])
        in taken
    )
    for rubric in RUBRICS.all():
        said = "\n".join([rubric.criterion, rubric.rendered, rubric.differences])
        shared = [" ".join(run) for run in runs_of(said) & taken]
        assert not shared, rubric.name

"""Every door takes every kind of source that gives what it needs: same numbers, or one sentence that says what is missing."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.factories import always, dataset, study_in, vote
from helpers.texts.factories import unblind as unblind_pairs
from helpers.texts.rating_studies import OVERALL, SPANS, rating_study, unblind

import assay
from core.cli import main
from core.errors import NotAllowed
from core.formats.tasks import dump_task
from core.schema.scores import ErrorSpan, OutputSet, ScorableOutput
from core.schema.study import NO_LEVEL, Choice, Dataset, RatingTask
from core.sources.named import (
    FileSource,
    FolderSource,
    PublishedSource,
    RunFolderSource,
    RunSource,
    StudySource,
    parse_source,
)
from core.store import open_store
from core.study.blinding import BlindPair, RatingDesk
from core.tables.reading import sha256_of

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo"
TASK = RatingTask("one", "One", "002", "2", "none", (OVERALL,), None)
MARKING = RatingTask("marks", "Marks", "002", "2", "none", (), SPANS)
WORDS = [
    "the",
    "old",
    "mill",
    "by",
    "the",
    "wide",
    "river",
    "was",
    "built",
    "of",
    "grey",
    "stone",
    "in",
    "nineteen",
    "hundred",
    "by",
    "two",
    "brothers",
]
SCORES, RATINGS, RATED, TEXTS, MARKS = (
    "scores.csv",
    "people.jsonl",
    "rated.jsonl",
    "texts.jsonl",
    "marks.jsonl",
)
SCORED, JUDGED, MADE, PEOPLE, MARKED, PAIRS, OPEN = (
    *("run:1", "run:2", "run:3"),
    *("study:people", "study:marks", "study:pairs", "study:open"),
)
VOTED, VOTED_SCORES, HIDDEN = "study:voted", "voted.csv", "study:hidden"
PUBLISHED = "published:cus-qa-cs"


def texts(name: str) -> OutputSet:
    """Texts of three systems at two levels, of which worse ones keep fewer words."""
    outputs = tuple(
        ScorableOutput(
            f"q{item}",
            system,
            " ".join(WORDS[item : len(WORDS) - place - 3 * level]) + f" {item}.",
            reference=" ".join(WORDS[item:]) + f" {item}.",
            source=f"Source {item}.",
            level=str(level),
        )
        for item in range(6)
        for place, system in enumerate(("north", "south", "west"))
        for level in (0, 3)
    )
    return OutputSet(outputs, sha256_of(name.encode()), f"{name}.jsonl")


def rate_by_words(desk: RatingDesk, rater: int) -> None:
    """Rate every text by its number of words, and mark the first word of short ones, differently by rater."""
    while (number := desk.next_open()) is not None:
        text = desk.text(number).text
        n_words = len(text.split())
        if desk.task.dimensions:
            desk.save_scores(number, {"overall": min(100.0, 5.0 * n_words + (len(text) + rater) % 4)})
        else:
            marked = (len(text) + rater) % 3 < 2
            spans = [ErrorSpan(0, 3 + rater, "major", "accuracy/omission")] if marked else []
            desk.save_spans(number, spans, no_errors=not spans)
        desk.complete(number, seconds=20.0)


def voted_pairs() -> Dataset:
    """Twelve questions with two answers each that keep different numbers of words."""
    plain = dataset(12, (NO_LEVEL,))
    kept = [8 + 7 * at % 11 for at in range(len(plain.outputs))]
    references = {item.item_id: " ".join(WORDS) + f" {item.item_id}." for item in plain.items}
    return replace(
        plain,
        items=tuple(replace(item, reference=references[item.item_id]) for item in plain.items),
        outputs=tuple(
            replace(one, text=" ".join(WORDS[:n]) + f" {one.item_id}.")
            for one, n in zip(plain.outputs, kept, strict=True)
        ),
    )


def longer(pair: BlindPair, rater: int) -> Choice:
    """Prefer the longer answer, each rater with an exception of his own, or none if both are about as long."""
    left, right = len(pair.left.split()), len(pair.right.split())
    if abs(left - right) < 2 + rater:
        return "both_good"
    return "left" if (left > right) is ((left + right) % 5 != rater) else "right"


def command(*words: object) -> None:
    assert main([*map(str, words)]) == 0


@pytest.fixture(scope="module", autouse=True)
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder and a database that hold the same texts, scores, ratings and marks as files, runs and studies."""
    folder = tmp_path_factory.mktemp("doors")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("ASSAY_DB", str(folder / "assay.db"))
        with open_store(folder / "assay.db") as store:
            for name, task in (("people", TASK), ("marks", MARKING), ("open", TASK)):
                study = rating_study(store, texts(name), task, name=name, repeat_share=0)
                for at, rater in enumerate(study.tokens):
                    rate_by_words(study.desk(rater), at)
                if name != "open":
                    unblind(study)
            pairs = study_in(store, dataset(8), name="pairs")
            for token in pairs.tokens.values():
                vote(store, token, always("left"))
            unblind_pairs(pairs)
            voted = study_in(store, voted_pairs(), name="voted")
            for at, token in enumerate(voted.tokens.values()):
                vote(store, token, partial(longer, rater=at))
            unblind_pairs(voted)
            study_in(store, dataset(2), name="hidden")
        for name, form, file in (
            ("people", "jsonl", RATINGS),
            ("people", "rated", RATED),
            ("marks", "rated", MARKS),
        ):
            command("study", "export", name, "--format", form, "--out", file)
        for name in ("people", "voted"):
            command("study", "export", name, "--format", "bundle", "--out", f"{name}.zip")
        Path("task.yaml").write_text(dump_task(TASK))
        assay.read(PEOPLE).to_json(TEXTS, orient="records", lines=True)
        command("score", RATED, "--metrics", "chrf-6-0,rouge-1", "--out", SCORES)
        command("judge", "automqm", MARKED, "--backend", "rules", "--out", "judged")
        command("generate", "damage", DEMO / "questions.jsonl", "--backend", "rules", "--out", "made")
        command("score", VOTED, "--metrics", "lexical", "--synonyms", "none", "--out", VOTED_SCORES)
        (folder / "plain").mkdir()
        yield


def numbers(found: Any) -> list[float]:
    """Every number of a JSON value, in order; names of sources differ."""
    if isinstance(found, dict):
        return [number for value in found.values() for number in numbers(value)]
    if isinstance(found, list | tuple):
        return [number for value in found for number in numbers(value)]
    return [float(found)] if isinstance(found, int | float) and not isinstance(found, bool) else []


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[float]]:
    """The numbers that a command prints as JSON."""

    def run(*words: str) -> list[float]:
        capsys.readouterr()
        status = main([*words, "--json"])
        out, err = capsys.readouterr()
        assert status != 2, err
        return numbers(json.loads(out))

    return run


FEW = ("--resamples", "20")
AS_SCORES = ("--scale", "scores")
"""A study knows the scale of its form; a file does not."""
OF_SCORES: dict[str, Callable[[str], tuple[str, ...]]] = {
    "correlate with levels": lambda one: ("correlate", one, "--with", "level", *FEW),
    "correlate with ratings": lambda one: ("correlate", one, "--with", "human", "--human", RATINGS, *FEW),
    "acc23": lambda one: ("acc23", RATINGS, one, *FEW),
    "calibrate": lambda one: ("calibrate", RATINGS, one, *FEW),
    "alt-test": lambda one: ("alt-test", RATED, one, "--judge", "chrf-6-0"),
    "meta-correlate": lambda one: ("meta-correlate", PUBLISHED, one, *FEW),
    "report compare": lambda one: ("report", "compare", one, "judged", *FEW),
    "report levels": lambda one: ("report", "levels", one, TEXTS, "--metric", "chrf-6-0", *FEW),
}
OF_RATINGS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "correlate": lambda one: ("correlate", SCORES, "--with", "human", "--human", one, *FEW),
    "acc23": lambda one: ("acc23", one, SCORES, *FEW),
    "calibrate": lambda one: ("calibrate", one, SCORES, "--task", "task.yaml", *FEW),
    "agreement": lambda one: ("agreement", one, *FEW),
    "check": lambda one: ("check", one, SCORES, "--judge", "chrf-6-0", *AS_SCORES),
    "alt-test": lambda one: ("alt-test", one, SCORES, "--judge", "chrf-6-0"),
}
OF_MARKS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "spans": lambda one: ("spans", one, MARKS, *FEW),
    "report raters": lambda one: ("report", "raters", one, *FEW),
}


OF_VOTES: dict[str, Callable[[str], tuple[str, ...]]] = {
    "correlate": lambda one: ("correlate", VOTED_SCORES, "--with", "human", "--human", one, *FEW),
    "rank": lambda one: (
        "correlate",
        VOTED_SCORES,
        "--with",
        "human",
        "--human",
        one,
        "--rank",
        "pearson",
        *FEW,
    ),
    "meta-correlate": lambda one: ("meta-correlate", VOTED_SCORES, SYNTHETIC, "--human", one, *FEW),
    "acc23": lambda one: ("acc23", one, VOTED_SCORES, *FEW),
    "votes": lambda one: ("votes", one, VOTED_SCORES, *FEW),
}
"""Doors that compare scores of single answers with the votes of a study of pairs."""
SYNTHETIC = "published:cus-qa-cs:qwen-3-30b:zero"


@pytest.mark.parametrize("door", OF_SCORES)
@pytest.mark.parametrize("source", [SCORED])
def test_scores_of_a_run_give_the_numbers_of_their_file(
    told: Callable[..., list[float]], door: str, source: str
) -> None:
    of_file = told(*OF_SCORES[door](SCORES))
    assert len(of_file) > 3
    assert told(*OF_SCORES[door](source)) == of_file


@pytest.mark.parametrize(
    ("door", "source"),
    [
        *((door, PEOPLE) for door in OF_RATINGS),
        # With all scores of a rater in a block, in the order of presentation, on which drawn intervals depend.
        *((door, RATINGS) for door in OF_RATINGS if door != "agreement"),
        *(
            (door, SCORED) for door in OF_RATINGS if door not in ("check", "alt-test")
        ),  # which take its scores, too
    ],
)
def test_ratings_of_a_study_a_run_or_an_export_give_the_numbers_of_rated_texts(
    told: Callable[..., list[float]], door: str, source: str
) -> None:
    of_file = told(*OF_RATINGS[door](RATED))
    assert len(of_file) > 3
    assert told(*OF_RATINGS[door](source)) == pytest.approx(of_file, rel=1e-12)


@pytest.mark.parametrize("door", OF_VOTES)
def test_votes_of_a_study_give_the_numbers_of_its_bundle(told: Callable[..., list[float]], door: str) -> None:
    of_study = told(*OF_VOTES[door](VOTED))
    assert len(of_study) > 3
    assert told(*OF_VOTES[door]("voted.zip")) == of_study


@pytest.mark.parametrize("door", ["correlate", "acc23", "calibrate"])
def test_ratings_of_a_study_give_the_numbers_of_its_bundle(
    told: Callable[..., list[float]], door: str
) -> None:
    assert told(*OF_RATINGS[door]("people.zip")) == told(*OF_RATINGS[door](PEOPLE))


def test_people_of_the_app_are_a_side_of_a_meta_correlation(capsys: pytest.CaptureFixture[str]) -> None:
    """Ratings and votes of the app against a published side: each metric's correlation is that of `correlate`."""
    command("score", PEOPLE, "--metrics", "lexical", "--synonyms", "none", "--out", "rated.csv")
    for scores, people in ((VOTED_SCORES, VOTED), ("rated.csv", PEOPLE)):
        capsys.readouterr()
        command("meta-correlate", scores, SYNTHETIC, "--human", people, *FEW, "--json")
        found = json.loads(capsys.readouterr().out)
        command("correlate", scores, "--with", "human", "--human", people, *FEW, "--json")
        rows = json.loads(capsys.readouterr().out)
        own = {one["group"]["metric"]: one["spearman"]["estimate"] for one in rows}
        points = {one["metric"]: one["human"] for one in found["points"]}
        assert len(points) == found["n_metrics"] > 10
        assert points == pytest.approx({name: own[name] for name in points})


@pytest.mark.parametrize("door", OF_VOTES)
@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (HIDDEN, "Study 'hidden' is open"),
        ("study:nobody", "There is no study named 'nobody'"),
        (PAIRS, "contain no text of study 'pairs'"),
    ],
)
def test_votes_that_are_hidden_unknown_or_of_other_texts_are_refused(
    capsys: pytest.CaptureFixture[str], door: str, source: str, wanted: str
) -> None:
    assert main([*OF_VOTES[door](source)]) == 2
    assert wanted in capsys.readouterr().err


VOTE_FUNCTIONS: dict[str, Callable[[], Any]] = {
    "correlate": lambda: assay.correlate(VOTED_SCORES, VOTED, resamples=20),
    "meta-correlate": lambda: assay.meta_correlate(VOTED_SCORES, SYNTHETIC, ratings=VOTED, resamples=20),
    "acc23": lambda: assay.acc23(VOTED, VOTED_SCORES, resamples=20),
    "votes": lambda: assay.votes(VOTED, VOTED_SCORES, resamples=20),
}


@pytest.mark.parametrize("name", VOTE_FUNCTIONS)
def test_functions_read_votes_as_commands_do(told: Callable[..., list[float]], name: str) -> None:
    assert numbers(VOTE_FUNCTIONS[name]().json) == told(*OF_VOTES[name](VOTED))


def test_a_ranking_and_a_comparison_by_votes_use_the_rows_of_correlate() -> None:
    rows = assay.correlate(VOTED_SCORES, VOTED, resamples=0).frame.set_index("metric")["pearson"]
    ranked = assay.rank(VOTED_SCORES, VOTED, resamples=20).frame.set_index("metric")["coefficient"]
    assert dict(ranked) == pytest.approx(dict(rows))
    compared = assay.compare(VOTED_SCORES, "bleu-1", "rouge-1", VOTED, methods="pearson", resamples=20).frame
    pooled = compared[compared["view"] == "pooled"].iloc[0]
    assert pooled["first_coefficient"] == pytest.approx(rows["bleu-1"])
    assert pooled["n"] == 12


@pytest.mark.parametrize("door", OF_MARKS)
def test_marks_of_a_study_give_the_numbers_of_their_file(told: Callable[..., list[float]], door: str) -> None:
    of_file = told(*OF_MARKS[door](MARKS))
    assert len(of_file) > 3
    assert told(*OF_MARKS[door](MARKED)) == of_file


NEEDS_SCORES = [PEOPLE, PAIRS, MADE, "made", PUBLISHED]
NEEDS_RATINGS = [PAIRS, MADE, "made", "judged", PUBLISHED]
NEEDS_TEXTS = ["judged", PUBLISHED]
NEEDS_MARKS = [PAIRS, PUBLISHED]
NEEDS_JUDGE = [PEOPLE, PAIRS, PUBLISHED]


@pytest.mark.parametrize(
    ("words", "source"),
    [
        *(
            (OF_SCORES[door](one), one)
            for door in OF_SCORES
            for one in NEEDS_SCORES
            if (door, one) != ("meta-correlate", PUBLISHED)
        ),
        *(
            (OF_RATINGS[door](one), one)
            for door in ("correlate", "acc23", "calibrate")
            for one in NEEDS_RATINGS
            if one != PAIRS or door == "calibrate"  # others take rows of pairs
        ),
        *((OF_RATINGS[door](one), one) for door in ("check", "alt-test") for one in ("made", PUBLISHED)),
        *((("score", one, "--out", "no.csv"), one) for one in NEEDS_TEXTS),
        *((("study", "import-ratings", one, "--task", "task.yaml"), one) for one in NEEDS_TEXTS),
        *((OF_MARKS[door](one), one) for door in OF_MARKS for one in NEEDS_MARKS),
        *((("report", "consistency", one), one) for one in NEEDS_JUDGE),
        *((("report", "costs", one), one) for one in NEEDS_JUDGE),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_a_source_that_lacks_what_is_needed_is_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], source: str
) -> None:
    assert main([*words]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert re.fullmatch(rf"{source} gives .+, and .+ are needed here\.|Run 3 .+", said), said


@pytest.mark.parametrize(
    "words",
    [
        *(OF_RATINGS[door](OPEN) for door in OF_RATINGS),
        *(OF_MARKS[door](OPEN) for door in OF_MARKS),
        ("score", OPEN, "--out", "no.csv"),
        ("study", "import-ratings", OPEN, "--task", "task.yaml"),
        ("report", "levels", SCORED, OPEN),
        ("reproduce", "specialist", "copying", "judged", "--rated", OPEN),
        ("convert", OPEN, "--to", "rated", "--out", "no.jsonl"),
        ("report", "pairs", "judged", "--study", OPEN),
        ("study", "plan", "--pilot", OPEN),
        ("check", RATED, SCORES, "--judge", "chrf-6-0", "--labels", OPEN),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_blinded_study_is_closed_at_every_door(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main([*words]) == 2
    assert "Study 'open' is open" in capsys.readouterr().err


FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "correlate": lambda one: assay.correlate(SCORES, one, resamples=20),
    "rank": lambda one: assay.rank(SCORES, one, resamples=20),
    "compare": lambda one: assay.compare(SCORES, "chrf-6-0", "rouge-1", one, resamples=20),
    "acc23": lambda one: assay.acc23(one, SCORES, resamples=20),
    "calibrate": lambda one: assay.calibrate(one, SCORES, task="task.yaml", resamples=20),
    "agreement": lambda one: assay.agreement(one, resamples=20),
    "alt_test": lambda one: assay.alt_test(one, SCORES, judge="chrf-6-0"),
    "check": lambda one: assay.check(one, SCORES, judge="chrf-6-0", scale="scores"),
    "gaps": lambda one: assay.gaps(one, SCORES, judge="chrf-6-0", scale="scores", texts=True),
}
"""Function of a notebook -> its answer for a source of ratings."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_what_commands_take(name: str) -> None:
    of_file = numbers(FUNCTIONS[name](RATED).json)
    assert len(of_file) > 3
    assert numbers(FUNCTIONS[name](PEOPLE).json) == of_file
    if name not in ("alt_test", "check", "gaps"):  # which take the scores of the run, too
        assert numbers(FUNCTIONS[name](SCORED).json) == of_file
    with pytest.raises(NotAllowed):
        FUNCTIONS[name](OPEN)
    with pytest.raises(assay.InputError, match="are needed here"):
        FUNCTIONS[name](PUBLISHED)


def test_a_check_of_a_run_has_the_verdict_of_its_file_and_knows_what_it_cost() -> None:
    of_file = assay.check(RATED, SCORES, judge="chrf-6-0")
    of_run, beside_run = assay.check(SCORED, judge="chrf-6-0"), assay.check(RATED, SCORED, judge="chrf-6-0")
    assert of_run.verdict == beside_run.verdict == of_file.verdict
    assert of_run["check-rules"].frame.equals(of_file["check-rules"].frame)
    assert beside_run["check-rules"].frame.equals(of_file["check-rules"].frame)
    costs = [found.json["judges"][0]["cost"] for found in (of_file, of_run, beside_run)]
    assert costs == [None, 0.0, 0.0]


def test_votes_of_pairs_are_read_beside_a_judge_in_a_notebook_too(told: Callable[..., list[float]]) -> None:
    found = assay.alt_test(VOTED, VOTED_SCORES, judge="chrf-6-0")
    assert numbers(found.json) == told("alt-test", VOTED, VOTED_SCORES, "--judge", "chrf-6-0")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("run:3", RunSource(3)),
        ("study:a b", StudySource("a b")),
        ("published:cus-qa-cs:qwen-3-30b:zero", PublishedSource("cus-qa-cs:qwen-3-30b:zero")),
        ("made", RunFolderSource("made")),
        ("plain", FolderSource("plain")),
        (SCORES, FileSource(SCORES)),
        ("gone.csv", FileSource("gone.csv")),
        ("./study:people", FileSource("./study:people")),
    ],
)
def test_a_prefix_decides_what_is_meant(written: str, found: object) -> None:
    Path("study:people").write_text("a file whose name begins like a study\n")
    assert parse_source(written) == found
    assert parse_source(written).written == written
    assert parse_source("study:people") == StudySource("people")


@pytest.mark.parametrize("written", ["run:", "run:x", "run:-1", "run:1.csv"])
def test_a_run_has_a_number(written: str) -> None:
    with pytest.raises(assay.InputError, match="is not run:N"):
        parse_source(written)

"""Folders of mt-metrics-eval: a small one made here, its faults, and WMT23 English-German as it is published."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.mt_metrics_eval import MtFolder, rating_names, read_folder, read_folder_outputs
from core.formats.registry import read_spans
from core.formats.scores import NO_SCORE
from core.schema.scores import ErrorSpan, ScorableOutput, ScoredRow
from core.tables.references import OF_REFERENCE

ERROR = {
    "start": 0,
    "end": 3,
    "category": "style",
    "severity": "minor",
    "score": 1.0,
    "is_source_error": False,
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    def write(name: str, *lines: str) -> None:
        path = tmp_path / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def each(*values: object) -> list[str]:
        return [
            f"{system}\t{value}"
            for system, own in zip(("A", "B", "refA"), values, strict=False)
            for value in own
        ]  # type: ignore[attr-defined]

    write("sources/en-de.txt", "One.", "Two.\u2028Still two.")
    write("references/en-de.refA.txt", "Eins.", "Zwei.")
    write("documents/en-de.docs", "news\td1", "talk\td2")
    for system, words in (("A", ("Eins", "")), ("B", ("Ein", "Zwo")), ("refA", ("Eins.", "Zwei."))):
        write(f"system-outputs/en-de/{system}.txt", *words)
    write("metric-scores/en-de/chrF-refA.seg.score", *each((0.5, 0.25), (1, "None")))
    write("metric-scores/en-de/GEMBA-MQM-src.seg.score", *each((-1, -2), (-3, -4), (0, 0)))
    write("human-scores/en-de.mqm.seg.score", *each((-1, 0), (-1, "None"), (0, 0)))
    rated = [
        json.dumps({"errors": errors})
        for errors in ([ERROR], [], [ERROR | {"end": 4, "is_source_error": True}])
    ]
    write(
        "human-scores/en-de.mqm.merged.seg.rating", *each(rated[:2], (rated[2], "None"), (rated[1], rated[1]))
    )
    write("human-scores/en-de.da.seg.score", *each((80, 90.5), (70, 60)))
    return tmp_path / "set"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def problems_of(path: Path) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_folder(path)
    return caught.value.problems


def test_a_small_folder(small: Path) -> None:
    found = read_folder(small)
    labels = {"domain": "talk", "document": "d2", "language_pair": "en-de"}
    assert found.outputs.outputs[1] == ScorableOutput(
        "2", "A", "", "Zwei.", "Two.\u2028Still two.", None, "de", labels
    )
    assert [(one.item_id, one.system) for one in found.outputs.outputs] == [
        ("1", "A"),
        ("2", "A"),
        ("1", "B"),
        ("2", "B"),
    ]
    assert found.scores.rows[1] == ScoredRow("2", "A", None, "de", labels)
    assert [metric.name for metric in found.scores.metrics] == ["GEMBA-MQM", "chrF"]
    assert found.scores.values[:3].tolist() == [[-1, 0.5], [-2, 0.25], [-3, 1]]
    assert math.isnan(found.scores.values[3, 1])
    assert found.scores.reasons == {(3, 1): NO_SCORE}
    assert "left out references among the systems: refA" in found.notes


def test_its_ratings_with_spans(small: Path) -> None:
    ratings = read_folder(small).ratings
    assert list(ratings) == ["da", "mqm"]
    mqm = ratings["mqm"]
    assert [(r.item_id, r.system, r.score) for r in mqm.ratings] == [
        ("1", "A", -1),
        ("2", "A", 0),
        ("1", "B", -1),
    ]
    assert mqm.ratings[0].spans == (ErrorSpan(0, 3, "minor", "style", 1.0),)
    assert mqm.ratings[1].spans == ()
    assert mqm.ratings[2].spans == (ErrorSpan(0, 4, "minor", "style", 1.0, in_source=True),)
    assert mqm.left_out == {"nobody rated it": 1, "belongs to a reference, not a system": 2}
    assert [r.spans for r in ratings["da"].ratings] == [None] * 4


def test_spans_alone_make_scores_and_scores_that_differ_are_noted(small: Path) -> None:
    edit(small / "human-scores/en-de.mqm.seg.score", "A\t-1", "A\t-2")
    assert read_folder(small).ratings["mqm"].notes == (
        "1 scores differ from minus the sum of their errors' weights",
    )
    (small / "human-scores/en-de.mqm.seg.score").unlink()
    alone = read_folder(small).ratings["mqm.merged"]
    assert [rating.score for rating in alone.ratings] == [-1, 0, -1]


def of_raters(small: Path, **lines: str) -> None:
    """A file of errors a rater: the three systems' two segments, r for the merged file's marks, - for none rated."""
    merged = (small / "human-scores/en-de.mqm.merged.seg.rating").read_text("utf-8").splitlines()
    for rater, kept in lines.items():
        written = [
            line if k == "r" else f"{line.split(chr(9))[0]}\tNone"
            for line, k in zip(merged, kept, strict=True)
        ]
        path = small / f"human-scores/en-de.mqm.{rater}.seg.rating"
        path.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")


def test_a_file_a_rater_is_one_set_of_ratings_that_names_them(small: Path) -> None:
    before = read_folder(small).ratings["mqm"]
    of_raters(small, rater1="r-r---", rater2="rr----", rater10="------")
    found = read_folder(small).ratings
    assert list(found) == ["da", "mqm", "mqm.raters"]
    assert found["mqm"].ratings == before.ratings, "the merged ratings are what they were"
    ratings = found["mqm.raters"]
    assert [(one.rater, one.item_id, one.system, one.score) for one in ratings.ratings] == [
        ("rater1", "1", "A", -1),
        ("rater1", "1", "B", -1),
        ("rater2", "1", "A", -1),
        ("rater2", "2", "A", 0),
    ]
    assert ratings.ratings[0].spans == before.ratings[0].spans
    assert (ratings.left_out, ratings.notes) == ({"nobody rated it": 1}, ())
    assert rating_names(small) == tuple(found)


def test_raters_alone_are_the_folders_ratings(small: Path) -> None:
    of_raters(small, rater1="rrr---", rater2="r-----")
    for path in small.glob("human-scores/*"):
        if ".rater" not in path.name:
            path.unlink()
    assert list(read_folder(small).ratings) == ["mqm.raters"]


def test_a_rater_may_have_scores_of_their_own(small: Path) -> None:
    of_raters(small, rater1="rrr---")
    shutil.copy(small / "human-scores/en-de.da.seg.score", small / "human-scores/en-de.da.rater2.seg.score")
    found = read_folder(small).ratings
    assert list(found) == ["da", "mqm", "da.raters", "mqm.raters"]
    assert {(one.rater, one.score, one.spans) for one in found["da.raters"].ratings} == {
        ("rater2", score, None) for score in (80, 90.5, 70, 60)
    }


def test_lines_may_name_who_marked_them(small: Path) -> None:
    path = small / "human-scores/en-de.mqm.merged.seg.rating"
    lines = path.read_text("utf-8").splitlines()
    named = [
        f"{line}\t{rater}" for line, rater in zip(lines, ("r1", "r2", "None", "r1", "r1", "r2"), strict=True)
    ]
    path.write_text("".join(f"{line}\n" for line in named), encoding="utf-8")
    assert [one.rater for one in read_folder(small).ratings["mqm"].ratings] == ["r1", "r2", None]
    alone = read_spans(path.read_bytes(), path.name)
    assert [one.rater for one in alone.ratings] == ["r1", "r2", None, "r1", "r2"]


def test_the_hash_is_of_names_and_bytes(small: Path) -> None:
    first = read_folder(small).outputs.sha256
    assert read_folder(small).outputs.sha256 == first
    edit(small / "human-scores/en-de.da.seg.score", "80", "81")
    assert read_folder(small).outputs.sha256 != first


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a segment too many": (
        lambda path: edit(path / "system-outputs/en-de/A.txt", "Eins\n", "Eins\nmore\n"),
        "system-outputs/en-de/A.txt, line 3: 3 segments, expected 2 as in the sources",
    ),
    "a score too few": (
        lambda path: edit(path / "metric-scores/en-de/chrF-refA.seg.score", "A\t0.25\n", ""),
        "metric-scores/en-de/chrF-refA.seg.score, line 1: system A has 1 segments, expected 2 as in the sources",
    ),
    "a system without outputs": (
        lambda path: edit(path / "human-scores/en-de.da.seg.score", "B\t70", "C\t70"),
        "human-scores/en-de.da.seg.score, line 3: system C has no file in system-outputs",
    ),
    "no tab": (
        lambda path: edit(path / "metric-scores/en-de/chrF-refA.seg.score", "A\t0.25", "A 0.25"),
        "metric-scores/en-de/chrF-refA.seg.score, line 2: no tab found; expected a system, a tab and its value",
    ),
    "no number": (
        lambda path: edit(path / "human-scores/en-de.mqm.seg.score", "-1", "bad"),
        'human-scores/en-de.mqm.seg.score, line 1: "bad" is not a number',
    ),
    "an infinite rating": (
        lambda path: edit(path / "human-scores/en-de.da.seg.score", "A\t90.5", "A\t-inf"),
        'human-scores/en-de.da.seg.score, line 2: "-inf" is infinite, expected a number',
    ),
    "a span outside": (
        lambda path: edit(path / "human-scores/en-de.mqm.merged.seg.rating", '"end": 3', '"end": 5'),
        "human-scores/en-de.mqm.merged.seg.rating, line 1, error 1: ends at 5, but the text has 4 characters",
    ),
    "a span turned round": (
        lambda path: edit(path / "human-scores/en-de.mqm.merged.seg.rating", '"start": 0', '"start": 9'),
        "human-scores/en-de.mqm.merged.seg.rating, line 1, error 1: start and end must be whole numbers from 0, with start up to end",
    ),
    "no JSON": (
        lambda path: edit(path / "human-scores/en-de.mqm.merged.seg.rating", '{"errors": []}', "{"),
        "human-scores/en-de.mqm.merged.seg.rating, line 2, column 2: not valid JSON",
    ),
    "no document": (
        lambda path: edit(path / "documents/en-de.docs", "news\td1", "news"),
        "documents/en-de.docs, line 1: expected a domain, a tab and a document",
    ),
    "no outputs": (
        lambda path: [one.unlink() for one in (path / "system-outputs/en-de").iterdir()],  # type: ignore[dict-item]
        "system-outputs/en-de: there is no SYSTEM.txt",
    ),
    "not UTF-8": (
        lambda path: (path / "sources/en-de.txt").write_bytes(b"One.\nTw\xf6.\n"),  # type: ignore[dict-item]
        "sources/en-de.txt, line 2: byte 0xf6 is not UTF-8",
    ),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_faults_are_named_by_file_and_line(small: Path, fault: str) -> None:
    spoil, said = FAULTS[fault]
    spoil(small)
    assert any(problem.startswith(said) for problem in problems_of(small)), problems_of(small)


def test_the_outputs_are_there_whatever_is_the_matter_with_their_scores(small: Path) -> None:
    whole = read_folder(small).outputs
    for fault in ("no tab", "no number"):
        FAULTS[fault][0](small)
    assert read_folder_outputs(small).outputs == whole.outputs
    FAULTS["a segment too many"][0](small)
    with pytest.raises(InputError, match=r"A\.txt"):
        read_folder_outputs(small)


def test_an_infinite_score_is_undefined_and_says_so(small: Path) -> None:
    edit(small / "metric-scores/en-de/chrF-refA.seg.score", "A\t0.25", "A\tinf")
    scores = read_folder(small).scores
    assert math.isnan(scores.values[1, 1])
    assert scores.reasons == {(1, 1): "infinite in the file", (3, 1): NO_SCORE}


def test_faults_of_several_files_come_together(small: Path) -> None:
    for fault in ("a segment too many", "no tab", "no number", "no document"):
        FAULTS[fault][0](small)
    assert len(problems_of(small)) == 4


def test_what_is_not_there_is_named(small: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose one of en-de"):
        read_folder(small, language_pair="he-en")
    with pytest.raises(InputError, match="is not a folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"there is no LP\.txt"):
        read_folder(tmp_path)
    (small / "sources/he-en.txt").write_text("x\n")
    with pytest.raises(InputError, match="choose one of en-de, he-en"):
        read_folder(small)


# --- WMT23 ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wmt23(shared_data: Path) -> MtFolder:
    return read_folder(shared_data / "wmt23", language_pair="en-de")


@pytest.mark.shared
def test_wmt23_has_twelve_systems_and_460_rated_segments(wmt23: MtFolder) -> None:
    """002 gives 460 x 12 = 5,520 rated outputs; every system translated all 557 segments."""
    mqm = wmt23.ratings["mqm"]
    assert len(wmt23.outputs.outputs) == 557 * 12 == len(wmt23.scores.rows)
    assert len(mqm.ratings) == 5520
    assert len({rating.item_id for rating in mqm.ratings}) == 460
    assert len({rating.system for rating in mqm.ratings}) == 12
    assert mqm.left_out == {"nobody rated it": 97 * 12, OF_REFERENCE: 460}
    assert len(wmt23.ratings["da-sqm"].ratings) == 549 * 12


@pytest.mark.shared
def test_wmt23_scores_are_minus_the_weights_of_all_errors(wmt23: MtFolder) -> None:
    """To the last bit, with the errors in the source: these are omissions, marked where the words stand."""
    ratings = wmt23.ratings["mqm"].ratings
    assert wmt23.ratings["mqm"].notes == ()
    without_source = [
        abs(r.score + sum(s.weight or 0 for s in r.spans or () if not s.in_source)) > 1e-9 for r in ratings
    ]
    assert all(r.score == -sum(s.weight or 0 for s in r.spans or ()) for r in ratings)
    # Counted in the file itself: outputs with an error in the source that weighs something.
    assert sum(without_source) == 435
    marked = [s for r in ratings for s in r.spans or ()]
    assert {s.category for s in marked if s.in_source and s.weight} == {"accuracy/omission", "other"}


@pytest.mark.shared
def test_wmt23_errors_an_output(wmt23: MtFolder) -> None:
    """002, Table 9: 34.75 errors in the examples of a test item, of eleven other systems; 37.35 with the source's."""
    spans = [s for r in wmt23.ratings["mqm"].ratings for s in r.spans or ()]
    outside = [s for s in spans if not s.in_source]
    assert round(len(outside) / 5520 * 11, 2) == 34.75
    assert round(len(spans) / 5520 * 11, 2) == 37.35


@pytest.mark.shared
def test_wmt23_system_scores_are_the_shipped_ones(wmt23: MtFolder, shared_data: Path) -> None:
    shipped = (shared_data / "wmt23/human-scores/en-de.mqm.sys.score").read_text("utf-8").splitlines()
    for system, score in (line.split("\t") for line in shipped):
        own = [r.score for r in wmt23.ratings["mqm"].ratings if r.system == system]
        if system != "refA":
            assert sum(own) / len(own) == pytest.approx(float(score), abs=1e-9)


@pytest.mark.shared
def test_wmt23_metrics(wmt23: MtFolder) -> None:
    assert [(m.name, m.family) for m in wmt23.scores.metrics] == [
        ("BERTscore", "BERTScore"),
        ("BLEU", "BLEU"),
        ("BLEURT-20", "BLEURT"),
        ("COMET", "COMET"),
        ("GEMBA-MQM", "other"),
        ("MetricX-23", "other"),
        ("Random-sysname", "other"),
        ("XCOMET-Ensemble", "COMET"),
        ("chrF", "chrF"),
    ]
    assert wmt23.scores.reasons == {}
    at = wmt23.scores.rows.index(
        next(r for r in wmt23.scores.rows if r.system == "ONLINE-W" and r.item_id == "1")
    )
    assert wmt23.scores.values[at, 1] == 8.516593018819643

"""A user's mistake: status 2, a sentence on stderr that names the thing, nothing on stdout, no traceback."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from helpers.texts.factories import (
    LEVELS,
    changed_design,
    counts_of,
    dataset,
    members_of,
    paper_json,
    repeated_line,
    zipped,
)

from core.cli import main
from core.cli.shared.options import level_list, name_list
from core.errors import InputError
from core.store import open_store
from core.store.answers import load_record
from core.store.studies import find_study
from core.study.bundle import write_bundle

Fail = Callable[..., str]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study `pilot` with the imported votes of two raters, so unblinded, and a draft `fresh` with the
    rater V1, who has a link.
    """
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "answers.json").write_bytes(paper_json(dataset(3)))
    (folder / "other.json").write_bytes(paper_json(dataset(2, sources=("one", "two"))))
    (folder / "folder").mkdir()
    votes = json.dumps({"q00": {"A0": "AI", "A1": "Expert"}})
    (folder / "votes.json").write_text(votes)
    (folder / "labels.json").write_text('{"left": "The AI", "right": "The other"}')
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        there.setenv("ASSAY_DB", str(folder / "assay.db"))
        assert main(["study", "import", "answers.json", "--name", "pilot"]) == 0
        for rater in ("V1", "V2"):
            assert main(["study", "votes", "pilot", "votes.json", "--rater", rater]) == 0
        assert main(["study", "export", "pilot", "--format", "bundle", "--out", "pilot.zip"]) == 0
        assert main(["study", "import", "answers.json", "--name", "fresh", "--again"]) == 0
        assert main(["study", "links", "fresh", "--add", "V1"]) == 0
    with open_store(folder / "assay.db") as store:
        blind = write_bundle(load_record(store, find_study(store, "fresh")))
    (folder / "fresh.zip").write_bytes(blind)
    return folder


@pytest.fixture
def fail(
    prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Fail:
    """Run a command that must be refused, in a copy of what is prepared; returns what stderr said."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))

    def command(*arguments: str) -> str:
        capsys.readouterr()
        with open_store(tmp_path / "assay.db") as store:
            before = counts_of(store)
        try:
            status: object = main(arguments)
        except SystemExit as ended:  # argparse ends the process itself
            status = ended.code
        out, err = capsys.readouterr()
        assert (status, out) == (2, "")
        assert err.strip()
        assert "Traceback" not in err
        with open_store(tmp_path / "assay.db") as store:
            assert counts_of(store) == before
        return err

    return command


IMPORT = ("study", "import", "answers.json", "--name", "new", "--again")
VOTES = ("study", "votes", "pilot")
RESULTS = ("study", "results")
EXPORT = ("study", "export", "pilot", "--format")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["study", "import", "missing.json"], "missing.json cannot be read: No such file or directory."),
        (["study", "import", "folder"], "folder cannot be read: Is a directory."),
        (["study", "import", ""], "cannot be read"),
        (["study", "import", "answers.json", "--name", "new"], "was imported before (same sha256"),
        ([*IMPORT[:3], "--name", "pilot", "--again"], "A study named 'pilot' already exists."),
        ([*IMPORT[:3], "--name", "", "--again"], "A study needs a name of 1 to 80 printable characters."),
        (
            ["study", "import", "other.json", "--margin", "0.2"],
            "Choose which system is the candidate: the data set has 'one' and 'two'.",
        ),
        ([*IMPORT, "--candidate", "ai", "--comparator", "ai"], "candidate and comparator are both 'ai'"),
        ([*IMPORT, "--candidate", "gpt"], "candidate: the data set has no system 'gpt'"),
        (
            [*IMPORT, "--candidate", "ai", "--comparator", "gpt"],
            "comparator: the data set has no system 'gpt'",
        ),
        ([*IMPORT, "--margin", "0"], "margin: 0 is not above 0 and below 2"),
        ([*IMPORT, "--margin", "-0.1"], "margin: -0.1 is not above 0 and below 2"),
        ([*IMPORT, "--margin", "nan"], "margin: nan is not above 0 and below 2"),
        ([*IMPORT, "--margin", "much"], "--margin: 'much' is not a number above 0 and below 2"),
        ([*IMPORT, "--confidence", "90"], "--confidence: 90 is not above 0.5 and below 1"),
        ([*IMPORT, "--confidence", "0.5"], "--confidence: 0.5 is not above 0.5"),
        ([*IMPORT, "--seed", "-1"], "--seed: -1 is not between 0 and"),
        ([*IMPORT, "--seed", "1.5"], "--seed: '1.5' is not a whole number"),
        ([*IMPORT, "--seed", str(2**63)], "seed: 9223372036854775808 is not"),
        ([*IMPORT, "--votes-per-pair", "0"], "--votes-per-pair: 0 is not between 1 and"),
        ([*IMPORT, "--votes-per-pair", "9" * 30], "--votes-per-pair: 9"),
        ([*IMPORT, "--max-questions", "2"], "--max-questions: set --votes-per-pair too"),
        ([*IMPORT, "--repeats", "0.6"], "--repeats: 0.6 is not between 0 and 0.5"),
        ([*IMPORT, "--levels-order", "random"], "invalid choice: 'random'"),
        ([*IMPORT, "--unknown"], "unrecognized arguments: --unknown"),
        (["study", "import", "pilot.zip", "--margin", "0.2"], "is a bundle with its own design. Leave out"),
        (["study", "links", "pilot", "--revoke", "V1"], "'V1' has no working link."),
        (["study", "links", "fresh", "--add", "R1", "--language", "xx"], "No guidelines in 'xx'"),
        (["study", "list", "--db", "none.db"], "There is no database none.db."),
        (["study", "votes", "nobody", "votes.json", "--rater", "R"], "There is no study named 'nobody'"),
        ([*VOTES, "missing.json", "--rater", "R"], "missing.json cannot be read"),
        ([*VOTES, "votes.json", "--rater", "V1"], "'V1' is already in this study"),
        ([*VOTES, "votes.json", "--rater", ""], "rater"),
        ([*VOTES, "votes.json"], "the following arguments are required: --rater"),
        ([*VOTES, "answers.json", "--rater", "R"], "question questions: not in the data set"),
        ([*VOTES, "pilot.zip", "--rater", "R"], "pilot.zip cannot be imported"),
        (["study", "links", "nobody"], "There is no study named 'nobody'. Studies: fresh, pilot."),
        (["study", "links", "fresh", "--add", "R1,R1"], "'R1' occurs twice in the list"),
        (["study", "links", "fresh", "--add", "V1"], "'V1' is already in this study"),
        (["study", "links", "fresh", "--add", ""], "an id must have 1 to 80 printable characters"),
        (["study", "links", "fresh", "--add", "R1,,R2"], "an id must have"),
        (
            ["study", "links", "pilot", "--add", "R1"],
            "is unblinded, so no raters or votes can be added.",
        ),
        (["study", "links", "pilot", "--revoke", "R9"], "There is no rater 'R9' in this study."),
        (["study", "links", "pilot", "--reissue", "V1"], "The votes of 'V1' were imported from a file"),
        *(
            (["study", verb, "nobody", *more], "There is no study named 'nobody'. Studies: fresh, pilot.")
            for verb, more in (
                ("exclude", ["V1", "--reason", "x"]),
                ("include", ["V1"]),
                ("withdraw", ["V1", "--votes", "keep"]),
                *((verb, []) for verb in ("remind", "wording", "log", "audit", "open")),
            )
        ),
        (["study", "exclude", "pilot", "V1"], "the following arguments are required: --reason"),
        (["study", "exclude", "pilot", "V1", "--reason", " "], "Give a reason for excluding the rater"),
        (["study", "exclude", "pilot", "V9", "--reason", "x"], "There is no rater 'V9' in this study."),
        (["study", "include", "pilot", "V1"], "'V1' is not excluded."),
        (["study", "withdraw", "pilot", "V1"], "the following arguments are required: --votes"),
        (["study", "withdraw", "pilot", "V1", "--votes", "some"], "invalid choice: 'some'"),
        (["study", "withdraw", "pilot", "V9", "--votes", "keep"], "There is no rater 'V9' in this study."),
        (["study", "remind", "fresh"], "'fresh' is draft: reminders are for open studies only."),
        (["study", "wording", "fresh", "--file", "missing.json"], "missing.json cannot be read"),
        (["study", "wording", "fresh", "--file", "pilot.zip"], "pilot.zip is not valid JSON"),
        (["study", "wording", "fresh", "--file", "answers.json"], "expected a JSON object of texts"),
        (
            ["study", "wording", "fresh", "--file", "labels.json", "--language", "?"],
            "'?' is not a language tag",
        ),
        (
            ["study", "wording", "fresh", "--file", "labels.json"],
            "Invalid texts:\n  - left: the text names the system 'ai'",
        ),
        (["study", "log"], "the following arguments are required: NAME"),
        (["admin"], "the following arguments are required: VERB"),
        (["admin", "link", "--db", "none.db"], "There is no database none.db."),
        (["admin", "events", "--db", "none.db"], "There is no database none.db."),
        (["study", "progress", "nobody"], "There is no study named 'nobody'"),
        (["study", "close", "fresh"], "A study that is draft cannot become closed. Possible: open."),
        (["study", "unblind", "pilot"], "the following arguments are required: --reason"),
        (["study", "unblind", "fresh", "--reason", "x"], "A study that is draft cannot become unblinded"),
        ([*RESULTS, "fresh"], "Study 'fresh' is draft: results and exports stay hidden until you unblind it"),
        ([*RESULTS, "fresh", "--json"], "To end the study, open and close it, then unblind it with a reason"),
        ([*RESULTS, "fresh.zip"], "Study 'fresh' is draft: results and exports stay hidden"),
        *(
            (
                ["study", "export", "fresh", "--format", form, "--out", "x"],
                "Study 'fresh' is draft: results and",
            )
            for form in ("csv", "jsonl", "guesses", "paper", "bundle")
        ),
        (
            [*IMPORT[:3], "--name", "a\udcff"],
            "--name: a\\udcff is not valid UTF-8",
        ),
        (["study", "import", "a\udcff.json"], "file: a\\udcff.json is not valid UTF-8"),
        ([*EXPORT, "csv", "--out=\udcff"], "--out: \\udcff is not valid UTF-8"),
        (
            [
                "judge",
                "cef",
                "t",
                "--out",
                "o",
                "--backend",
                "openai",
                "--model",
                "\udcff",
                "--source-language",
                "\udc80",
            ],
            "--model: \\udcff is not valid UTF-8\n  - --source-language: \\udc80 is not",
        ),
        ([*RESULTS, "nobody"], "There is no study named 'nobody'. Studies: fresh, pilot."),
        ([*RESULTS, "nobody.zip"], "nobody.zip cannot be read"),
        ([*RESULTS, "pilot", "--levels", "A9"], "--levels: unknown level 'A9'. The levels are A0, A1,"),
        ([*RESULTS, "pilot", "--levels", ""], "--levels: '' names no level"),
        ([*RESULTS, "pilot", "--raters", "Z"], "This study has no rater 'Z'. Available: V1, V2."),
        ([*RESULTS, "pilot", "--questions", "q9"], "This study has no question 'q9'"),
        ([*RESULTS, "pilot", "--languages", "xx"], "This study has no language 'xx'. Available: en."),
        ([*RESULTS, "pilot", "--resamples", "0"], "--resamples: 0 is not at least 1"),
        (
            [*RESULTS, "pilot", "--resamples", "many"],
            "--resamples: 'many' is not a whole number of at least 1",
        ),
        ([*EXPORT, "xlsx", "--out", "x"], "invalid choice: 'xlsx'"),
        ([*EXPORT, "csv"], "the following arguments are required: --out"),
        ([*EXPORT, "csv", "--out", "folder"], "folder cannot be written"),
        ([*EXPORT, "csv", "--out", "nowhere/out.csv"], "nowhere/out.csv cannot be written: No such file or"),
        ([*EXPORT, "csv", "--out", "."], "cannot be written"),
        ([*EXPORT, "csv", "--out", "/"], "cannot be written"),
        ([*EXPORT, "csv", "--out", ""], "cannot be written"),
        ([*EXPORT, "csv", "--out", "x" * 300], "cannot be written"),
        ([*EXPORT, "csv", "--out", "answers.json/out.csv"], "cannot be written: Not a directory"),
        (
            [*EXPORT, "paper", "--out", "votes.json"],
            "2 raters need 2 files: name a folder, not the file votes.json",
        ),
        ([*EXPORT, "paper", "--out", "votes.json/deeper"], "cannot be written"),
        (["study", "export", "nobody", "--format", "csv", "--out", "x"], "There is no study named 'nobody'"),
        (["study", "list", "--db", "folder"], "The database folder could not be used"),
        (["study", "list", "--db", "answers.json"], "The database answers.json could not be used"),
        (["study", "list", "--db", "answers.json/x.db"], "There is no database answers.json/x.db."),
        (["study", "list", "--db", "/proc/assay.db"], "There is no database /proc/assay.db."),
        (["study"], "the following arguments are required: VERB"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        ([], "the following arguments are required: NOUN"),
    ],
    ids=lambda value: " ".join(value)[:70] if isinstance(value, list) else "",
)
def test_refused_with_a_sentence(fail: Fail, arguments: Sequence[str], sentence: str) -> None:
    assert sentence in fail(*arguments)


def test_a_refused_export_leaves_nothing_behind(fail: Fail, tmp_path: Path) -> None:
    """Whole or not at all: no draft beside the folder that stood in the way, and nothing of it inside."""
    before = sorted(os.listdir(tmp_path))
    fail(*EXPORT, "csv", "--out", "folder")
    assert sorted(os.listdir(tmp_path)) == before
    assert os.listdir(tmp_path / "folder") == []


def test_an_export_takes_no_file_for_its_draft(fail: Fail, tmp_path: Path) -> None:
    """A file of the user's that has the draft's name is still there afterwards."""
    (tmp_path / "out.csv.part").write_text("mine")
    assert main([*EXPORT, "csv", "--out", "out.csv"]) == 0
    assert (tmp_path / "out.csv.part").read_text() == "mine"


@pytest.mark.parametrize(
    "change",
    [
        lambda data: zipped({**members_of(data), "items.jsonl": b"{}"}),
        lambda data: data[:-30],
        lambda data: changed_design(data, margin=-1),
        lambda data: repeated_line(data, "answers.jsonl"),
        lambda data: zipped({"a": b""}),
    ],
    ids=["changed", "cut", "margin", "twice", "other zip"],
)
@pytest.mark.parametrize("verb", ["import", "results"])
def test_bundles_that_cannot_be_used(
    fail: Fail, tmp_path: Path, verb: str, change: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "broken.zip").write_bytes(change((tmp_path / "pilot.zip").read_bytes()))
    more = ["--name", "restored"] if verb == "import" else []
    assert "broken.zip" in fail("study", verb, "broken.zip", *more)


def test_all_problems_of_a_file_together_and_many_are_shortened(fail: Fail, tmp_path: Path) -> None:
    content = json.loads(paper_json(dataset(22)))
    for question in content["questions"]:
        for level in LEVELS:
            question["answers"][level]["ai"] = 5
    (tmp_path / "bad.json").write_text(json.dumps(content))
    lines = fail("study", "import", "bad.json").splitlines()
    assert lines[0] == "bad.json cannot be imported: 110 problems"
    assert lines[1].startswith("  - question q00, level A0, system ai; ")
    assert len(lines) == 2
    for number, question in enumerate(content["questions"]):
        for level in LEVELS:
            question["answers"][level]["ai"] = [number, level]
    (tmp_path / "bad.json").write_text(json.dumps(content))
    lines = fail("study", "import", "bad.json").splitlines()
    assert len(lines) == 2


def test_paper_export_of_a_study_without_answers(fail: Fail) -> None:
    assert main(["study", "import", "other.json", "--name", "empty", "--candidate", "one"]) == 0
    for step in (["open", "empty"], ["close", "empty"], ["unblind", "empty", "--reason", "x"]):
        assert main(["study", *step]) == 0
    said = fail("study", "export", "empty", "--format", "paper", "--out", "x.json")
    assert said == "Study 'empty' has no answers to export.\n"


def test_nothing_is_revoked_when_adding_fails(fail: Fail, capsys: pytest.CaptureFixture[str]) -> None:
    """One command, one step: with a mistake in it, no link stops working."""
    assert main(["study", "links", "fresh", "--add", "R1"]) == 0
    before = capsys.readouterr().out.splitlines()[-2:]
    fail("study", "links", "fresh", "--revoke", "R1", "--add", "R1")
    assert main(["study", "links", "fresh"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == before


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--version"], ["--help"], ["study", "--help"], ["study", "import", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("assay ")


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        (None, None),
        ("A1-A4", ["A1", "A2", "A3", "A4"]),
        ("A1,A3", ["A1", "A3"]),
        ("A3,A1", ["A1", "A3"]),
        ("A0", ["A0"]),
        ("A2-A2", ["A2"]),
        (" A0 , A3 - A4 ,", ["A0", "A3", "A4"]),
        ("A0-A1,A1-A2", ["A0", "A1", "A2"]),
    ],
)
def test_level_lists(text: str | None, chosen: list[str] | None) -> None:
    assert level_list(LEVELS, text) == chosen


def test_levels_with_a_dash_in_their_name() -> None:
    levels = ("very-good", "good", "so-so", "bad")
    assert level_list(levels, "very-good,so-so") == ["very-good", "so-so"]
    assert level_list(levels, "good-bad") == ["good", "so-so", "bad"]


@pytest.mark.parametrize(
    "text", ["", ",", "A4-A1", "A9", "A1-", "-A1", "A1-A9", "a1", "A1-A2-A3", "1-4", "A1;A2", "-"]
)
def test_level_lists_that_say_nothing(text: str) -> None:
    with pytest.raises(InputError, match=r"--levels: .*The levels are A0, A1, A2, A3, A4\."):
        level_list(LEVELS, text)


def test_name_lists() -> None:
    assert name_list(None) is None
    assert name_list(" a, b ,,") == ["a", "b"]
    assert name_list('"a, b", c"d,') == ["a, b", 'c"d']
    assert name_list("a\nb,c") == ["a\nb", "c"]
    assert name_list("") == []

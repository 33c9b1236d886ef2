"""What `check` reads without options: tables, files beside them, studies and runs; and what it refuses to guess."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.factories import always, dataset, study_in, vote
from helpers.texts.factories import unblind as unblind_pairs
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says, specialist

from core.cli import main
from core.store import open_store

Check = Callable[..., dict[str, Any]]
WORDS = ("pass", "fail", "pass", "pass", "fail")


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Check:
    """Run `check` in the folder of the test and return its JSON."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> dict[str, Any]:
        assert main(["check", *arguments, "--json", "--db", "assay.db"]) in (0, 3, 4), capsys.readouterr().err
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


@pytest.fixture
def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., str]:
    """Run `check` on bad input and return its message."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        assert main(["check", *arguments, "--db", "assay.db"]) == 2
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return said

    return run


def _file(name: str, header: str, row: Callable[[int], str], n: int = 40) -> str:
    Path(name).write_text("\n".join([header, *(row(at) for at in range(n))]) + "\n")
    return name


def test_the_mapping_is_shown_and_changed(check: Check) -> None:
    file = _file(
        "wide.csv",
        "example_id,model,annotator_1,annotator_2,gpt-4o,note",
        lambda at: f"e{at // 2},m{at % 2},{WORDS[at % 5]},{WORDS[at % 5]},{WORDS[at % 4]},so {at}",
    )
    found = check(file)
    assert found["columns"] == {
        "human": ["annotator_1", "annotator_2"],
        "judge": ["gpt-4o"],
        "item": "example_id",
        "system": "model",
    }
    assert found["n_items"] == 20
    found = check(file, "--human", "annotator_2", "--judge", "annotator_1", "--system-column", "note")
    assert found["columns"]["human"] == ["annotator_2"]
    assert found["columns"]["judge"] == ["annotator_1"]
    assert found["columns"]["system"] == "note"
    assert check(file, "--columns", "item_id=note")["columns"]["item"] == "note"


def test_words_and_numbers_of_a_judge_file_are_the_raters_classes(check: Check) -> None:
    people = _file(
        "people.csv", "id,human_1,human_2", lambda at: f"q{at},{WORDS[at % 5]},{WORDS[at % 5].title()}"
    )
    judge = _file(
        "gpt.csv", "id,verdict,tokens", lambda at: f"q{at},{'Yes' if WORDS[at % 5] == 'pass' else 'No'},{at}"
    )
    other = _file("claude.csv", "id,verdict", lambda at: f"q{at},{int(WORDS[at % 5] == 'pass')}")
    found = check(people, judge, other)
    assert [one["name"] for one in found["judges"]] == ["gpt", "claude"]
    assert [one["agreement"]["estimate"] for one in found["judges"]] == [1, 1]
    long = _file(
        "long.csv",
        "id,judge,score",
        lambda at: f"q{at // 2},{'ab'[at % 2]},{int(WORDS[at // 2 % 5] == 'pass')}",
        80,
    )
    assert [one["name"] for one in check(people, long)["judges"]] == ["a", "b"]


def test_people_are_never_guessed(refused: Callable[..., str]) -> None:
    said = refused(
        _file("names.csv", "id,anna,bob,judge", lambda at: f"q{at},{at % 2},{at % 3 // 2},{at % 2}")
    )
    assert "--human anna,bob --judge judge" in said
    said = refused(_file("scale.csv", "id,human,judge", lambda at: f"q{at},{WORDS[at % 5]},{at % 5 + 1}"))
    assert "1 to 5" in said
    assert "fail, pass" in said


def test_repeated_ratings_are_named_with_their_rows(check: Check, refused: Callable[..., str]) -> None:
    wide = _file("wide.csv", "id,human,judge,comment", lambda at: f"q{at // 2},1,{at % 2},so {at}")
    said = refused(wide)
    assert "line 3: item q0" in said
    assert "line 2" in said
    assert "--item" in said
    assert check(wide, "--item", "id")["n_items"] == 20
    assert check(wide, "--system-column", "comment")["n_items"] == 20
    long = _file(
        "long.csv",
        "item,system,rater,score,comment",
        lambda at: f"q{at // 4},s,{('a', 'gpt')[at // 2 % 2]},{at % 2},so {at}",
    )
    assert "line 3: item q0, system s: rater a" in refused(long)


@pytest.mark.parametrize("column", ["system", "level", "language"])
def test_texts_that_one_file_does_not_tell_apart_are_named(refused: Callable[..., str], column: str) -> None:
    value = {"system": "s", "level": "A", "language": "e"}[column]
    many = _file(
        "many.csv",
        f"id,{column},human",
        lambda at: f"q{at // 2},{value}{'nm'[at % 2] if column == 'language' else at % 2},{at % 2}",
    )
    few = _file("few.csv", "id,judge", lambda at: f"q{at},{at % 2}")
    said = refused(many, few)
    assert "item q0 has 2 texts (lines 2, 3)" in said
    assert f"column {column} to few.csv" in said
    people = _file("people.csv", "id,human", lambda at: f"q{at},{at % 2}")
    scores = _file(
        "scores.csv",
        f"id,{column},judge",
        lambda at: f"q{at // 2},{value}{'nm'[at % 2] if column == 'language' else at % 2},{at % 2}",
    )
    assert f"column {column} to people.csv" in refused(people, scores)


def test_ids_that_match_only_without_case_or_zeros_are_named(refused: Callable[..., str]) -> None:
    people = _file("people.csv", "id,human", lambda at: f"q{at},{at % 2}")
    for name in ("Q{}", "q {}"):
        said = refused(
            people, _file("judge.csv", "id,judge", lambda at, name=name: f"{name.format(at)},{at % 2}")
        )  # type: ignore[misc]
        assert repr(name.format(0)) in said
    people = _file("people.csv", "id,human", lambda at: f"{at},{at % 2}")
    assert "'010'" in refused(people, _file("judge.csv", "id,judge", lambda at: f"{at + 5:03},{at % 2}"))


def test_a_rating_study_and_its_judge(check: Check, refused: Callable[..., str], tmp_path: Path) -> None:
    texts, raters = rating_texts(8), ("R1", "R2", "R3")
    rows = [f"{one.item_id},{one.system},{place % 3 * 10},9" for place, one in enumerate(texts.outputs)]
    Path("judge.csv").write_text("item,system,gpt,latency_ms\n" + "\n".join(rows) + "\n")
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store, texts, raters=raters)
        for rater in raters:
            rate_all(study.desk(rater))
        refused("study:ratings", "judge.csv", "--dimension", "overall")  # not unblinded yet
        unblind(study)
    found = check("study:ratings", "judge.csv", "--dimension", "overall")
    assert found["human"]["raters"] == list(raters)
    assert [one["name"] for one in found["judges"]] == ["gpt"]
    assert main(["check", "study:ratings", "--dimension", "overall", "--db", "assay.db"]) == 4, "no judge"


def test_votes_of_a_pair_study_and_a_judge_of_its_answers(
    check: Check, refused: Callable[..., str], tmp_path: Path
) -> None:
    data, name = dataset(6, ("A0", "A1")), "study:study"
    with open_store(tmp_path / "assay.db") as store:
        study = study_in(store, data, raters=("R1", "R2"))
        for rater in ("R1", "R2"):
            vote(store, study.tokens[rater], always("left"))
        refused(name)
        unblind_pairs(study)
    rows = [f"{one.item_id},{one.level},{one.source},{len(one.text) % 3}" for one in data.outputs]
    Path("judge.csv").write_text("item_id,level,system,judge\n" + "\n".join(rows) + "\n")
    found = check(name, "judge.csv")
    assert found["human"]["raters"] == ["R1", "R2"]
    assert found["n_items"] == 6
    assert "run:N" in refused(name)


def test_a_run_on_rated_texts_has_raters_and_judge(check: Check, tmp_path: Path) -> None:
    texts = rated_texts(3)
    with ScriptedServer(says) as server, open_store(tmp_path / "assay.db") as store:
        number = run_to_the_end(
            store, specialist("quality", server.url), texts, name="rated.jsonl"
        ).run.run_id
    found = check(f"run:{number}", "--dimension", "LA")
    assert len(found["human"]["raters"]) > 1
    assert len(found["judges"]) == 1


def test_other_commands_find_their_columns_too(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    file = _file(
        "wide.csv",
        "id,rater1,rater2,rater3,judge",
        lambda at: f"q{at}," + ",".join(str((at + (at % 7 == place)) % 2) for place in range(4)),
    )
    as_json = []
    for options in ((), ("--human", "rater1,rater2,rater3", "--judge", "judge")):
        for command in ("alt-test", "corrected"):
            assert main([command, file, *options, "--json"]) == 0
            as_json.append(json.loads(capsys.readouterr().out))
    for found in as_json:
        found.pop("notes", None)
    assert as_json[:2] == as_json[2:]


def test_files_without_ids_need_as_many_rows(check: Check, refused: Callable[..., str]) -> None:
    people = _file("people.csv", "human", lambda at: WORDS[at % 5])
    same = _file("judge.csv", "judge", lambda at: WORDS[at % 5])
    found = check(people, same)
    assert found["judges"][0]["agreement"]["estimate"] == 1
    assert "row number" in found["notes"][0]
    said = refused(people, _file("lost.csv", "judge", lambda at: WORDS[(at + 1) % 5], 39))
    assert "people.csv: 40 rows" in said
    assert "lost.csv: 39 rows" in said
    assert "--columns: " in said
    ids = _file("ids.csv", "id,judge", lambda at: f"{at + 1},{WORDS[at % 5]}")
    assert "ids.csv: 40 texts with ids" in refused(people, ids)


def test_every_command_takes_the_item(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    file = _file(
        "wide.csv",
        "id,question,topic,rater1,rater2,rater3,judge",
        lambda at: (
            f"r{at},question {at % 35},{at % 12}," + ",".join(str((at + (at % 7 == k)) % 2) for k in range(4))
        ),
        140,
    )
    for command in ("check", "alt-test", "corrected"):
        for options, n in (((), 35), (("--item", "row"), 140), (("--item", "topic"), 12)):
            assert main([command, file, *options, "--json"]) in (0, 3, 4)
            found = json.loads(capsys.readouterr().out)
            assert f'"n_items": {n},' in json.dumps(found)


def test_the_demo_has_few_questions(check: Check) -> None:
    labels = Path(__file__).parents[2] / "data" / "demo" / "labels.csv"
    found = check(str(labels))
    assert found["n_items"] == 140
    assert any("question repeats (14 values)" in note for note in found["notes"])
    assert check(str(labels), "--item", "question")["n_items"] == 14


def _labels(name: str, *columns: str, seed: int = 7) -> str:
    return _file(
        name,
        ",".join(["id", *columns]),
        lambda at: f"q{at}," + ",".join(str((at * (k + 1) // seed) % 2) for k in range(len(columns))),
    )


def test_who_is_named_a_person_is_a_judge_in_no_table(check: Check, refused: Callable[..., str]) -> None:
    labels, both = _labels("labels.csv", "human"), _labels("both.csv", "human", "judge", seed=5)
    assert "labels.csv" in refused(both, labels, "--human", "human")
    assert [one["name"] for one in check(labels, both, "--human", "human")["judges"]] == ["judge"]
    assert [one["name"] for one in check(labels, both)["judges"]] == ["judge"]
    scores = _labels("scores.csv", "judge", seed=5)
    for files in ((labels, scores), (scores, labels)):
        found = check(*files, "--human", "human")
        assert found["human"]["raters"] == ["human"]
        assert [one["name"] for one in found["judges"]] == ["judge"]
    long = _file(
        "long.csv", "id,judge,score", lambda at: f"q{at // 2},{('human', 'gpt-4')[at % 2]},{at % 3 // 2}", 80
    )
    assert [one["name"] for one in check(labels, long, "--human", "human")["judges"]] == ["gpt-4"]


@pytest.mark.parametrize("command", ["check", "alt-test", "corrected", "calibrate", "escalate"])
def test_a_file_is_not_on_both_sides(command: str, check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    file = _labels("labels.csv", "human_1", "human_2", "judge")
    Path("copy.csv").write_bytes(Path(file).read_bytes())
    for other in (file, "copy.csv"):
        assert main([command, file, other]) == 2
        assert "same content" in capsys.readouterr().err


def test_equal_values_are_told(check: Check) -> None:
    people, judge = (
        _labels("people.csv", "human"),
        _labels(
            "judge.csv",
            "llm",
        ),
    )
    found = check(people, judge)
    assert "equal values on all 40 texts" in found["notes"][0]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("id,epoch,judge", "{at},{epoch},{label}"),
        ("id,dataset,judge", "{at},{word},{label}"),
        ("id,annotator,judge", "{at},{model},{label}"),
        ("id,fixed,judge", "{at},1,{label}"),
        ("id,gpt_cost,judge", "{at},0.{at},{label}"),
        ("id,number,judge", "{at},{at},{label}"),
        ("id,remark,judge", "{at},so it was in text {at} of all,{label}"),
    ],
)
def test_hints_name_only_what_may_be_meant(refused: Callable[..., str], header: str, row: str) -> None:
    file = _file(
        "t.csv",
        header,
        lambda at: row.format(
            at=at, epoch=at % 2, word="ab"[at % 2], model=("gpt-4", "claude")[at % 2], label=at % 3 // 2
        ),
    )
    said = refused(file)
    assert "write --human" not in said
    assert "no labels by people" in said


def test_correlate_takes_no_metric_for_ratings(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    scores = _labels("scores.csv", "gpt", seed=5)
    beside = _file(
        "beside.csv",
        "id,human,AlignScore,llm,length_cost,score",
        lambda at: f"q{at},{at // 7 % 2},0.{at},1,2,0.{at}",
    )
    only = _file("only.csv", "id,AlignScore,llm", lambda at: f"q{at},0.{at},{at % 2}")
    assert (
        main(["correlate", scores, "--with", "human", "--human", beside, "--resamples", "0", "--json"]) == 0
    )
    with_others = json.loads(capsys.readouterr().out)
    plain = _labels("plain.csv", "human")
    assert main(["correlate", scores, "--with", "human", "--human", plain, "--resamples", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == with_others
    assert main(["correlate", scores, "--with", "human", "--human", only]) == 2
    capsys.readouterr()
    assert main(["correlate", beside, "--with", "human", "--human", beside]) == 2
    assert "same content" in capsys.readouterr().err
    assert main(["correlate", beside, "--with", "human", "--human", plain, "--resamples", "0", "--json"]) == 0
    assert "AlignScore" in (metrics := capsys.readouterr().out)
    assert '"human"' not in metrics.replace('"against": "human"', "")


def test_the_hint_for_a_table_of_judges_names_no_people(refused: Callable[..., str]) -> None:
    people = _file("people.csv", "id,human_a,human_b", lambda at: f"{at},{at % 2},{at % 3 // 2}")
    judges = _file("judges.csv", "id,good,other", lambda at: f"{at},{at / 3},{at / 7}")
    said = refused(people, judges)
    assert "--judge good,other" in said
    assert "--human" not in said

"""The commands of docs/studies.md, from an empty folder to results, through core.cli.main."""

import codecs
import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.factories import (
    LEVELS,
    always,
    dataset,
    guess_all,
    item_ids,
    members_of,
    paper_json,
    prefers,
    tokens_in,
    vote,
)

import assay
from core.analyses.study_results.pair_rows import answer_of
from core.report import csv_of
from core.results.study.counted import Filters
from core.results.study.pair_list import PAIRS_TABLE, pair_list, pair_table
from core.results.study.results import (
    COEFFICIENTS,
    FEW_QUESTIONS,
    NO_AGREEMENT,
    first_interval,
    headline,
    study_results,
)
from core.stats.resampling import NO_WIDTH
from core.store import open_store
from core.store.answers import load_record
from core.store.studies import find_study
from core.study.blinding import open_desk

Run = Callable[..., str]

UNBLINDED = "pilot\tunblinded\tai against human\n"
"""The list of studies, once the pilot is unblinded."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.json"
    path.write_bytes(paper_json(dataset(6, languages=("en", "ja"))))
    return path


def end(run: Run) -> None:
    run("study", "close", "pilot")
    run("study", "unblind", "pilot", "--reason", "all raters are done")


def answer(tmp_path: Path, links: dict[str, str]) -> None:
    with open_store(tmp_path / "assay.db") as store:
        for number, token in enumerate(links.values()):
            vote(store, token, prefers(0) if number else always("both_good"))


def test_the_whole_way(run: Run, file: Path, tmp_path: Path) -> None:
    printed = run("study", "import", str(file), "--name", "pilot", "--margin", "0.1", "--confidence", "0.90")
    assert printed.startswith(
        "Study 'pilot': 6 questions at levels A0, A1, A2, A3, A4; draft.\ncandidate ai,"
    )
    printed = run("study", "links", "pilot", "--add", "R1, R2", "--url", "https://assay.example/")
    links = tokens_in(printed)
    assert list(links) == ["R1", "R2"]
    assert "https://assay.example/r/" in printed
    assert "Draft: open the study to let raters in (`python -m core study open pilot`)." in printed
    assert run("study", "open", "pilot") == "Study 'pilot' is open.\n"
    answer(tmp_path, links)
    table, _reached = run("study", "progress", "pilot").split("\n\n")
    progress = [line.split("\t") for line in table.splitlines()]
    assert [line[:3] for line in progress[1:]] == [["R1", "rater", "32/32"], ["R2", "rater", "32/32"]]
    assert progress[1][7:9] == ["-", "100%"]
    assert progress[2][8] == "0%"
    assert progress[2][7] in ("47%", "50%", "53%"), "15 of 30, and 2 hidden repeats on either side"
    assert run("study", "close", "pilot", "--reason", "enough") == "Study 'pilot' is closed.\n"
    ended = run("study", "unblind", "pilot", "--reason", "done")
    assert ended == "Study 'pilot' is unblinded.\nNext: `python -m core study results pilot`\n"
    printed = run("study", "results", "pilot", "--levels", "A1-A4", "--resamples", "200")
    assert "Raters: R1, R2; levels: A1, A2, A3, A4" in printed
    run("study", "results", "pilot", "--resamples", "50", "--out", "report.md")
    run("study", "results", "pilot", "--resamples", "50", "--out", "table.md", "--table", "sensitivity")
    report = Path("report.md").read_text("utf-8").split("\n\n")
    assert report[0].startswith("Study 'pilot' (unblinded)")
    assert Path("table.md").read_text("utf-8") in "\n\n".join(report)
    assert "Pairs: 24; questions: 6; left out: none" in printed
    assert re.search(r"^all levels +24 +1\.000 +0 +0 +24 ", printed, re.MULTILINE)
    assert re.search(r"^questions +6 +1\.000 +1\.000 ", printed, re.MULTILINE)
    results = json.loads(run("study", "results", "pilot", "--json", "--resamples", "200"))
    assert (results["verdict"]["value"], results["verdict"]["method"]) == ("non-inferior", "gaffke")
    assert results["levels"] == ["A1", "A2", "A3", "A4"]
    assert "Study 'pilot' (unblinded): ai against human" in printed
    assert run("study", "list") == UNBLINDED


def test_import_options(run: Run, file: Path) -> None:
    printed = run(
        *("study", "import", str(file), "--name", "all", "--candidate", "human", "--comparator", "ai"),
        *("--margin", "0.2", "--confidence", "0.95", "--seed", "42", "--votes-per-pair", "2"),
        *("--max-questions", "4", "--levels-order", "shuffled", "--repeats", "0"),
        *("--guess-pairs", "4", "--person", "candidate"),
        *("--main-levels", "A0,A3-A4", "--votes-needed", "1", "--score", "net_preference"),
        *("--flagged", "leave_out", "--early-looks"),
    )
    assert "candidate human, comparator ai, margin 0.2, confidence level 0.95, seed 42" in printed
    assert "guesses at the end 4 (a person wrote the candidate's)" in printed
    (study,) = json.loads(run("study", "list", "--json"))
    assert study["design"] == {
        "candidate": "human",
        "comparator": "ai",
        "margin": 0.2,
        "confidence_level": 0.95,
        "rendering": "plain",
        "code_language": "",
        "seed": 42,
        "level_order": "shuffled",
        "repeat_share": 0.0,
        "votes_per_pair": 2,
        "max_questions": 4,
        "blinding_pairs": 4,
        "person": "candidate",
        "main_levels": ["A0", "A3", "A4"],
        "votes_needed": 1,
        "score": "net_preference",
        "flagged": "leave_out",
        "declared": True,
        "early_looks": True,
    }


def test_import_defaults(run: Run, file: Path) -> None:
    run("study", "import", str(file))
    run("study", "import", str(file), "--name", "second", "--again")
    second, first = json.loads(run("study", "list", "--json"))
    assert (first["name"], second["name"]) == ("answers", "second")
    assert first["design"]["seed"] != second["design"]["seed"], "a seed nobody chose"
    assert (first["design"]["margin"], first["design"]["confidence_level"]) == (0.1, 0.9)
    assert (first["design"]["blinding_pairs"], first["design"]["person"]) == (10, "comparator")


def test_notes_of_a_data_set_are_printed(run: Run, tmp_path: Path) -> None:
    content = json.loads(paper_json(dataset(1)))
    content["questions"][0]["answers"]["A2"]["ai"] = content["questions"][0]["answers"]["A2"]["human"]
    (tmp_path / "same.json").write_text(json.dumps(content))
    printed = run("study", "import", "same.json")
    assert "Note: question q00, level A2: both systems have the same text" in printed


def test_links_add_revoke_reissue(run: Run, file: Path, tmp_path: Path) -> None:
    run("study", "import", str(file), "--name", "pilot")
    first = tokens_in(run("study", "links", "pilot", "--add", "R1,R2", "--language", "de"))
    assert tokens_in(run("study", "links", "pilot")) == first, "and they can be looked up again"
    printed = run("study", "links", "pilot", "--revoke", "R1")
    assert "The link of 'R1' no longer works." in printed
    assert tokens_in(printed) == {"R2": first["R2"]}
    second = tokens_in(run("study", "links", "pilot", "--reissue", "R1"))
    assert second["R2"] == first["R2"]
    assert second["R1"] != first["R1"]
    with open_store(tmp_path / "assay.db") as store:
        assert open_desk(store, first["R1"]) is None
        assert open_desk(store, second["R1"]).guidelines() != ""
        assert {r.language for r in load_record(store, find_study(store, "pilot")).raters} == {"de"}


def test_votes_from_the_papers_file(run: Run, file: Path, tmp_path: Path) -> None:
    run("study", "import", str(file), "--name", "pilot")
    votes = {"q00": {"A0": "AI", "A1": "Expert", "A2": None}, "q03": {"A4": "Both are bad"}}
    (tmp_path / "votes.json").write_text(json.dumps(votes))
    printed = run("study", "votes", "pilot", "votes.json", "--rater", "evaluator 1")
    assert printed == (
        "Imported 3 votes of 'evaluator 1' into 'pilot', with side and time unknown.\n"
        "Every vote of this study was imported, so it is now unblinded and nobody can rate in it by link.\n"
    )
    (line,) = json.loads(run("study", "progress", "pilot", "--json"))
    assert (line["rater_id"], line["kind"], line["done"], line["total"]) == ("evaluator 1", "imported", 3, 3)
    assert run("study", "list") == UNBLINDED, "nobody is left to keep blind"
    logged = [line.split("\t")[1:] for line in run("study", "log", "pilot").splitlines()]
    assert [line[:2] for line in logged[-2:]] == [["votes imported", "evaluator 1"], ["unblinded", "-"]]
    assert logged[-2][2].startswith("3 preferences")
    assert logged[-1][2] == "every vote was imported, so nobody has to stay blind"
    run("study", "votes", "pilot", "votes.json", "--rater", "evaluator 2")
    assert "Raters: evaluator 1, evaluator 2" in run("study", "results", "pilot", "--resamples", "10")
    run("study", "exclude", "pilot", "evaluator 2", "--reason", "the same person")
    run("study", "export", "pilot", "--format", "paper", "--out", "back.json")
    assert json.loads((tmp_path / "back.json").read_text()) == {
        "q00": {"A0": "AI", "A1": "Expert"},
        "q03": {"A4": "Both are bad"},
    }


@pytest.fixture
def voted(run: Run, file: Path, tmp_path: Path) -> Run:
    """A study `pilot` with the answers of two raters, unblinded."""
    run("study", "import", str(file), "--name", "pilot", "--seed", "1")
    links = tokens_in(run("study", "links", "pilot", "--add", "R1,R2"))
    run("study", "open", "pilot")
    answer(tmp_path, links)
    end(run)
    return run


def test_results_as_json_are_those_of_the_function(voted: Run, tmp_path: Path) -> None:
    printed = json.loads(voted("study", "results", "pilot", "--json", "--resamples", "100"))
    with open_store(tmp_path / "assay.db") as store:
        record = load_record(store, find_study(store, "pilot"))
    assert printed == json.loads(json.dumps(answer_of(study_results(record, n_resamples=100)).json))


def test_results_with_filters(voted: Run) -> None:
    filters = ("--levels", "A0,A3", "--raters", "R2", "--questions", "q01,q02,q03", "--languages", "ja")
    found = json.loads(voted("study", "results", "pilot", *filters, "--json", "--resamples", "10"))
    assert (found["raters"], found["levels"], found["n_pairs"]) == (["R2"], ["A0", "A3"], 4)
    assert found["choices"] == {"R2": {"candidate": 4, "both_good": 0, "both_bad": 0, "comparator": 0}}


@pytest.mark.parametrize("levels", [None, ("A3",)])
def test_the_verdict_is_printed_first_with_all_that_limits_it(
    voted: Run, tmp_path: Path, levels: tuple[str, ...] | None
) -> None:
    """As on the page. Once a filter was printed as "the verdict", and an exclusion after unblinding not at all."""
    voted("study", "exclude", "pilot", "R1", "--reason", "slept")
    chosen = ("--levels", *levels) if levels else ()
    printed = voted("study", "results", "pilot", *chosen, "--resamples", "10").splitlines()
    with open_store(tmp_path / "assay.db") as store:
        record = load_record(store, find_study(store, "pilot"))
    lines = headline(study_results(record, Filters(levels=levels), n_resamples=10))
    assert printed[2 : 2 + len(lines)] == lines
    assert lines[0].startswith("Exploratory: ") == bool(levels)
    assert sum("excluded R1" in line for line in lines) == 1
    assert sum("Check rater R2. Fast: " in line for line in lines) == 1
    (answers,) = (line for line in printed if line.startswith("Answers: "))
    assert "rater excluded (32)" in answers


def test_the_number_to_plan_with_is_printed_before_power_at_the_observed_mean(
    run: Run, file: Path, tmp_path: Path
) -> None:
    """20 questions, four pairs and two raters who all say the same: by hand 2.1232^2 x variance of question means / .1^2."""
    file.write_bytes(paper_json(dataset(20)))
    run("study", "import", str(file), "--name", "pilot")
    words = ("AI", "Expert", "Both are good")
    votes = {item: dict.fromkeys(LEVELS, words[n % 3]) for n, item in enumerate(item_ids(20))}
    (tmp_path / "votes.json").write_text(json.dumps(votes))
    for rater in ("one", "two"):
        run("study", "votes", "pilot", "votes.json", "--rater", rater)
    results = json.loads(run("study", "results", "pilot", "--json", "--resamples", "10"))
    (first, *_) = results["planned"]["sizes"]
    variance = sum(results["variance_components"]["components"].values())
    assert first["questions"] == pytest.approx(2.1232**2 * variance / 0.01, rel=0.05)
    printed = run("study", "results", "pilot", "--resamples", "10")
    (row,) = re.findall(r"power 80 %\s+these raters\s+2\s+2\s+([\d,]+)\s+([\d,]+)", printed)
    assert tuple(int(cell.replace(",", "")) for cell in row) == (first["questions"], 4 * first["questions"])
    assert printed.index("power 80 %") < printed.index("Power at the observed mean")


def agreement_written(run: Run, tmp_path: Path, n_questions: int, *, differ: bool) -> dict[str, str]:
    """The first row of the table of agreement, for two raters who agree, or do not on the first question."""
    (tmp_path / "a.json").write_bytes(paper_json(dataset(n_questions, ("A0", "A1"))))
    run("study", "import", "a.json", "--name", "pilot")
    for rater in ("one", "two"):
        votes = {item: {"A1": ("Expert", "AI")[n % 2]} for n, item in enumerate(item_ids(n_questions))}
        if differ and rater == "two":
            votes["q00"] = {"A1": "AI"}
        (tmp_path / "votes.json").write_text(json.dumps(votes))
        run("study", "votes", "pilot", "votes.json", "--rater", rater)
    run("study", "results", "pilot", "--resamples", "200", "--table", "agreement", "--out", "agreement.csv")
    return next(csv.DictReader((tmp_path / "agreement.csv").open(encoding="utf-8")))


@pytest.mark.parametrize("differ", [False, True])
def test_an_interval_without_width_is_explained(run: Run, tmp_path: Path, *, differ: bool) -> None:
    """Where raters always agree every resample gives 1, however many questions there are."""
    row = agreement_written(run, tmp_path, FEW_QUESTIONS, differ=differ)
    for name in COEFFICIENTS:
        assert row[f"{name}_n"] == str(FEW_QUESTIONS)
        assert (row[f"{name}_low"] != "") == differ
        assert row[f"{name}_reason"] == ("" if differ else NO_WIDTH)


@pytest.mark.parametrize("n_questions", [FEW_QUESTIONS - 1, FEW_QUESTIONS])
def test_the_first_interval_is_that_of_the_page(run: Run, tmp_path: Path, n_questions: int) -> None:
    row = agreement_written(run, tmp_path, n_questions, differ=True)
    with open_store(tmp_path / "assay.db") as store:
        record = load_record(store, find_study(store, "pilot"))
    block = study_results(record, n_resamples=200).overall
    few = n_questions < FEW_QUESTIONS
    for name in COEFFICIENTS:
        found = getattr(block, name)
        written = tuple(float(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
        low, high = first_interval(found)
        assert written == (found.estimate, low, high)
        assert ((low, high) == (found.low_t, found.high_t)) == few


def test_files_hold_what_the_page_downloads(voted: Run, tmp_path: Path) -> None:
    """The page draws the tables that are made here, and its downloads are the same bytes; of a bundle too."""
    with open_store(tmp_path / "assay.db") as store:
        record = load_record(store, find_study(store, "pilot"))
    tables = answer_of(study_results(record, n_resamples=50)).tables
    assert len(tables) > 12
    voted("study", "export", "pilot", "--format", "bundle", "--out", "pilot.zip")
    for name, table in tables.items():
        if table.rows or table.notes:
            study = ("pilot", "pilot.zip")[len(name) % 2]
            voted("study", "results", study, "--resamples", "50", "--table", name, "--out", "x.csv")
            assert (tmp_path / "x.csv").read_bytes() == csv_of(table), name
    voted("study", "results", "pilot", "--resamples", "50", "--out", "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == csv_of(tables["sensitivity"])
    voted("study", "results", "pilot", "--resamples", "50", "--out", "x.tex")
    assert (tmp_path / "x.tex").read_text().count(r"\begin{tabular}") > 8


def test_every_pair_is_a_table_of_its_own(voted: Run, tmp_path: Path) -> None:
    """The same as the page's and the notebook's, and only where it is asked for."""
    with open_store(tmp_path / "assay.db") as store:
        record = load_record(store, find_study(store, "pilot"))
    table = pair_table(pair_list(record))
    printed = voted("study", "results", "pilot", "--resamples", "50", "--out", "x.md")
    assert table.title not in printed.splitlines()
    assert table.columns[-1].name not in (tmp_path / "x.md").read_text()
    voted("study", "results", "pilot", "--resamples", "50", "--table", PAIRS_TABLE, "--out", "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == csv_of(table)
    found = assay.study_results("pilot", db=tmp_path / "assay.db", resamples=50)
    assert csv_of(found[PAIRS_TABLE].tables[0]) == csv_of(table)


def test_results_of_a_bundle_need_no_database(voted: Run, tmp_path: Path) -> None:
    arguments = ("--json", "--resamples", "100", "--levels", "A1-A4")
    from_database = voted("study", "results", "pilot", *arguments)
    assert voted("study", "export", "pilot", "--format", "bundle", "--out", "pilot.zip") == "pilot.zip\n"
    (tmp_path / "plain name").write_bytes((tmp_path / "pilot.zip").read_bytes())
    for name in ("pilot.zip", "plain name"):
        assert voted("study", "results", name, *arguments, "--db", str(tmp_path / "none.db")) == from_database
    assert not (tmp_path / "none.db").exists()


def test_a_bundle_restores_under_its_own_name_or_another(voted: Run, tmp_path: Path) -> None:
    voted("study", "export", "pilot", "--format", "bundle", "--out", "pilot.zip")
    before = voted("study", "results", "pilot", "--json", "--resamples", "50")
    other = ("--db", str(tmp_path / "deep" / "other.db"))
    assert voted("study", "import", "pilot.zip", *other).startswith("Study 'pilot': 6 questions")
    assert voted("study", "results", "pilot", "--json", "--resamples", "50", *other) == before
    voted("study", "import", "pilot.zip", "--name", "copy", *other)
    assert voted("study", "list", *other) == (
        "copy\tunblinded\tai against human\npilot\tunblinded\tai against human\n"
    )
    assert tokens_in(voted("study", "links", "copy", *other)) == {}
    assert list(tokens_in(voted("study", "links", "copy", "--reissue", "R1", *other))) == ["R1"]


def test_exports(voted: Run, tmp_path: Path) -> None:
    for form in ("csv", "jsonl", "bundle"):
        assert voted("study", "export", "pilot", "--format", form, "--out", f"out.{form}") == f"out.{form}\n"
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text("utf-8"))))
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == len(lines) == 2 * 32
    assert "study.json" in members_of((tmp_path / "out.bundle").read_bytes())
    printed = voted("study", "export", "pilot", "--format", "paper", "--out", "a folder/in it")
    assert printed.splitlines() == ["a folder/in it/results-R1.json", "a folder/in it/results-R2.json"]
    paper = json.loads((tmp_path / "a folder" / "in it" / "results-R2.json").read_text())
    assert paper == {f"q{n:02d}": dict.fromkeys(LEVELS, "AI") for n in range(6)}
    voted("study", "export", "pilot", "--format", "csv", "--out", "out.csv")
    assert not list(tmp_path.rglob("*.part"))
    logged = [line.split("\t")[1:] for line in voted("study", "log", "pilot").splitlines()]
    assert [detail for action, _, detail in logged if action == "exported"] == [
        *("csv", "jsonl", "bundle", "paper", "csv")
    ]


def test_exports_for_excel_and_with_texts(voted: Run, tmp_path: Path) -> None:
    export = ("study", "export", "pilot", "--out", "out", "--format")
    voted(*export, "csv")
    plain = (tmp_path / "out").read_bytes()
    voted(*export, "csv", "--excel")
    assert (tmp_path / "out").read_bytes() == codecs.BOM_UTF8 + plain
    voted(*export, "csv", "--texts")
    (tmp_path / "out").read_bytes().index(b",candidate_text,comparator_text\r\n")
    for wrong in (("bundle", "--texts"), ("guesses", "--texts"), ("jsonl", "--excel")):
        with pytest.raises(AssertionError):
            voted(*export, *wrong)


def test_guesses_are_exported_as_a_table_of_their_own(run: Run, file: Path, tmp_path: Path) -> None:
    run("study", "import", str(file), "--name", "pilot", "--guess-pairs", "3")
    links = tokens_in(run("study", "links", "pilot", "--add", "R1"))
    run("study", "open", "pilot")
    with open_store(tmp_path / "assay.db") as store:
        guess_all(vote(store, links["R1"], prefers(0)), comment="=by the style")
    end(run)
    assert run("study", "export", "pilot", "--format", "guesses", "--out", "out.csv") == "out.csv\n"
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text("utf-8"))))
    assert [row["guess"] for row in rows] == ["right", "unsure", "left"]
    assert {row["person"] for row in rows} == {"human"}
    assert [row["right"] for row in rows] == [
        *(("true" if rows[0]["person_side"] == "right" else "false"), ""),
        "true" if rows[2]["person_side"] == "left" else "false",
    ]
    assert {row["comment"] for row in rows} == {"'=by the style"}


def test_a_study_without_votes_has_results_too(run: Run, file: Path) -> None:
    run("study", "import", str(file), "--name", "pilot")
    run("study", "open", "pilot")
    end(run)
    printed = run("study", "results", "pilot")
    assert "Raters: none" in printed
    assert f"undefined: {NO_AGREEMENT}" in printed
    assert run("study", "progress", "pilot").startswith("rater\tkind\tdone")


def test_db_goes_before_the_environment(run: Run, file: Path, tmp_path: Path) -> None:
    run("study", "import", str(file), "--name", "here")
    run("study", "import", str(file), "--name", "there", "--db", str(tmp_path / "other.db"))
    assert run("study", "list") == "here\tdraft\tai against human\n"
    assert run("study", "list", "--db", str(tmp_path / "other.db")) == "there\tdraft\tai against human\n"


def test_an_id_that_names_a_system_is_noted(run: Run, file: Path) -> None:
    """Raters read their own id."""
    run("study", "import", str(file), "--name", "pilot")
    printed = run("study", "links", "pilot", "--add", "r1, the Human, humane")
    (note,) = [line for line in printed.splitlines() if line.startswith("Note: ")]
    assert note == "Note: Raters read their own id, and it names a system: the Human (human)."
    assert "Note: " not in run("study", "links", "pilot", "--add", "r2")

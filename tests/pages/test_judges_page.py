"""The page Judges: from texts to scores, replies, and the reliability of a judge."""

import json
import re
import shutil
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from helpers.models.model_answers import answer
from helpers.pages.generate_visit import field, html_of, press, said
from helpers.pages.judges_visit import (
    CLAIMS,
    Judge,
    aligned,
    answered,
    by_model,
    cef,
    judged,
    rubric,
    visit,
    waiting,
)
from helpers.pages.metrics_visit import DEMO, generated, lines
from helpers.pages.metrics_visit import visit as visit_metrics
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import run_to_the_end, worked
from helpers.toys import judge as toy_judge
from scipy import stats
from streamlit.testing.v1 import AppTest

from core.analyses.reasked import NOT_ASKED_FOR
from core.formats.registry import read_ratings
from core.judges.rubric import find_rubric
from core.llm.prompts import SHIPPED
from core.report import DASH
from core.results.correlations.levels import ALL_EQUAL
from core.results.judges.consistency import AT_TEMPERATURE_0
from core.results.judges.cross_examination import marked_texts
from core.runs.asked import ask
from core.runs.judging import degeneracy_of, judge_output
from core.runs.kinds import KINDS, kinds_that
from core.runs.path import saved_run
from core.runs.scoring import score_table
from core.schema.runs import Run
from core.store import Store
from core.store.kept import kept_files, step_costs
from core.store.runs import item_counts, list_runs
from pages.tabs.levels import NO_LEVELS

pytestmark = pytest.mark.usefixtures("cookies")
FACTS = (
    "The tower was built in 1889. It is 330 metres tall. It stands in Paris.",
    "The river is 2850 kilometres long. It ends in the Black Sea. It passes Vienna.",
    "The comet returns every 76 years. It was seen in 1986. Halley computed its path.",
    "The bridge opened in 1894. It crosses the Thames. It has two towers.",
)
NO_OTHERS = "nothing else has scored these texts"
HOSTILE = '<img src=x onerror="alert(1)"> **bold** $x$'


def damaged(text: str, level: int) -> str:
    """The text with its last `level` sentences replaced."""
    sentences = re.split(r"(?<=\.) ", text)
    other = ["Nobody knows why.", "Some disagree loudly.", "More was never written."]
    return " ".join(sentences[: 3 - level] + other[:level])


def given(n_items: int = 4, **columns: object) -> tuple[bytes, str]:
    """Texts at levels 0 to 3: each level replaces one more sentence of the reference."""
    rows = [
        {"item": str(n + 1), "system": "GPT", "level": str(level), "text": damaged(fact, level)}
        | {"reference": fact, "source": f"What of number {n + 1}?"}
        | columns
        for n, fact in enumerate((FACTS * 2)[:n_items])
        for level in range(4)
    ]
    return lines(*rows), "texts.jsonl"


def shown(at: AppTest, column: str) -> Any:
    """The first table with that column, as shown."""
    frame = next(table.value for table in at.table if column in map(plainly, table.value.columns))
    return frame.rename(columns=plainly).map(lambda cell: plainly(str(cell)))


def sortable(at: AppTest, column: str) -> Any:
    """The first table with colours and with that column."""
    return next(table.value for table in at.dataframe if column in table.value.columns)


def plainly(text: str) -> str:
    return re.sub(r"\\(?=[^\w\s])", "", text).replace("\u00a0", " ").replace("\u2060", "")


def buttons(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


# --- a new run ------------------------------------------------------------------------------------


def test_without_any_run_the_page_shows_the_form(store: Store) -> None:
    at = visit()
    assert field(at, "Judge").value is None  # type: ignore[attr-defined]
    assert field(at, "Judge").options == ["Compare prompts or models ...", "Upload a judge's output ..."]
    assert field(at, "Kind").options == [
        kind.title for kind in kinds_that("judging") if kind.reads in ("texts", "pairs")
    ]
    assert "a verdict on the rubric's scale" in said(at)
    assert "methods#rubric" in said(at)
    assert "Choose texts above" in said(at)
    assert "Preview five items" not in buttons(at)
    assert [prompt.label for prompt in at.selectbox if prompt.label == "Judging by the rubric"]


def test_the_form_preselects_the_newest_run_that_made_a_text(store: Store) -> None:
    made = generated(store)
    with ScriptedServer(lambda *_: "", models=("m",)) as server:
        model = {"backend": "openai", "model": "m", "base_url": server.url}
        asked, running = ask(KINDS["factual"], {}, model, {})
        failed = run_to_the_end(store, asked, DEMO.read_bytes(), name=DEMO.name, running=running)
    assert failed.run.run_id > made.run.run_id
    assert sum(item_counts(store, failed.run.run_id)[0].values()) == 14, "it came to all items"
    at = visit()
    assert field(at, "Generation run").value == made.run.run_id  # type: ignore[attr-defined]
    assert "84 texts on 14 items" in said(at)


def broken(at: AppTest) -> list[str]:
    """Names of files that the page reports as unusable."""
    return [name for one in at.warning for name in re.findall(r"^\S+\.yaml", one.value)]


def test_a_broken_prompt_or_rubric_is_named_and_the_others_are_offered(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.llm.prompts.SHIPPED", tmp_path / "prompts")
    shutil.copytree(SHIPPED, tmp_path / "prompts")
    (tmp_path / "prompts" / "mine.yaml").write_text("user: [", "utf-8")
    at = visit()
    assert broken(at) == ["mine.yaml"]
    usual = [one for one in at.selectbox if one.label == "Judging by the rubric"]
    assert [(len(one.options), one.value) for one in usual] == [(3, "rubric")]
    assert not at.error

    (tmp_path / "prompts" / "rubric.yaml").write_text("name: rubric\nuser: [", "utf-8")
    at = visit()
    assert broken(at) == ["mine.yaml", "rubric.yaml"]
    assert "rubric.yaml" in at.error[0].value, "nobody chose another prompt than the usual one"
    (other,) = [one for one in at.selectbox if one.label == "Judging by the rubric"]
    other.set_value("rubric-text")
    at.run()
    assert not at.error
    assert next(one for one in at.selectbox if one.label == other.label).value == "rubric-text"


def test_rules_judge_claims_and_five_items_come_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    # The process itself is tried in tests/browser: here it would outlive the database.
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: begun.append(run.run_id))
    at = visit()
    field(at, "From").set_value("file")  # type: ignore[attr-defined]
    field(at, "Kind").set_value("claims")  # type: ignore[attr-defined]
    at.run()
    field(at, "Backend").set_value("rules")  # type: ignore[attr-defined]
    at.file_uploader(key="metrics_texts_upload").upload(*reversed(given(6)))
    at.run()
    (at_once,) = (button for button in at.button if button.label == "Judge all 6 items")
    assert at_once.help == "Rules cost nothing."
    assert "A stand-in for trying things out without a model" in said(at)
    assert field(at, "Claims are verified by").options == [  # type: ignore[attr-defined]
        "rules: numbers, names and words",
        "an entailment model (NLI)",
    ]
    press(at, "Preview five items")
    (run,) = list_runs(store, ("claims",))
    assert (begun, run.limit, run.n_items) == ([run.run_id], 5, 6)
    assert run.settings["claims"]["verifier"] == "rules"  # type: ignore[index]
    assert field(at, "Judge").value == ("run", run.run_id)  # type: ignore[attr-defined]


def test_errors_use_the_words_of_the_form_and_make_no_run(store: Store) -> None:
    at = visit()
    field(at, "From").set_value("file")  # type: ignore[attr-defined]
    at.run()
    at.file_uploader(key="metrics_texts_upload").upload(*reversed(given()))
    at.text_input(key="judges_base_url").set_value("http://127.0.0.1:1/v1")
    field(at, "Kind").set_value("cef")  # type: ignore[attr-defined]
    at.run()
    assert "16 of 16 texts looks like a question" in said(at)
    assert "--mode" not in said(at)
    field(at, "Name of the judge in tables (default: kind, changed settings and model)").set_value("a b")  # type: ignore[attr-defined]
    at.run()
    press(at, "Judge all 4 items")
    assert "Model: is empty" in said(at)
    assert "Name of the judge: a column's name" in said(at)
    assert not list_runs(store, ("cef",))


@pytest.mark.slow
def test_an_invalid_rubric_is_refused_next_to_the_form(store: Store) -> None:
    at = visit()
    own = next(one for one in at.file_uploader if one.label == "Or your own rubric (YAML)")
    own.upload("mine.yaml", b"name: mine\n")
    at.run()
    assert "Rubric mine.yaml" in said(at)


@pytest.mark.slow
def test_a_run_can_be_repeated_with_the_same_settings(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)
    (run,) = by_model(store, given(1), cef(reask=True, answers="each", questions="mixed", repeats=2))
    at = press(visit(("run", run.run_id), "Progress"), "Judge with other settings")
    assert field(at, "Kind").value == "cef"  # type: ignore[attr-defined]
    assert "4 texts on 1 item by GPT, levels 0, 1, 2, 3." in said(at)
    assert field(at, "Model").value == "org/tiny"  # type: ignore[attr-defined]
    press(at, "Judge the one item")
    (again, _) = list_runs(store, ("cef",))
    assert again.settings == run.settings
    assert again.running["input_price"] == 0.15


@pytest.mark.slow
def test_an_uploaded_rubric_is_still_there_in_the_next_form(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)
    own = find_rubric("coverage").dump().replace("name: coverage", "name: mine").replace("2:", "3:")
    (run,) = by_model(store, given(1), rubric(attached=own))
    at = press(visit(("run", run.run_id), "Progress"), "Judge with other settings")
    assert field(at, "Rubric").options[-1].endswith("(yours)")  # type: ignore[attr-defined]
    press(at, "Judge the one item")
    assert list_runs(store, ("rubric",))[0].settings == run.settings


@pytest.mark.slow
@pytest.mark.parametrize("judge", [rubric(), cef(), CLAIMS], ids=["rubric", "cef", "claims"])
def test_every_tab_of_a_run_without_scores_says_so(store: Store, judge: Judge) -> None:
    run = waiting(store, given(), judge)
    for part in ("Progress", "Scores", "Texts", "Judges", "Reliability", "Cost", "Files"):
        text = said(visit(("run", run.run_id), part))
        assert part == "Progress" or "Nothing to show" in text, part


def test_a_judge_of_one_file_and_one_line_works_on_the_whole_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, toy_judge.KIND.name, toy_judge.KIND)  # type: ignore[arg-type]  # a plain dict
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)
    at = visit()
    field(at, "From").set_value("file")  # type: ignore[attr-defined]
    field(at, "Kind").set_value("toy")  # type: ignore[attr-defined]
    at.run()
    field(at, "Backend").set_value("rules")  # type: ignore[attr-defined]
    at.file_uploader(key="metrics_texts_upload").upload(*reversed(given(1)))
    at.run()
    assert "Share of words that the reference has" in said(at)
    field(at, "Penalty").set_value(0.5)  # type: ignore[attr-defined]
    next(one for one in at.checkbox if one.label == "Compare letters").set_value(True)
    at.run()
    press(at, "Judge the one item")
    (run,) = list_runs(store, ("toy",))
    assert run.settings["toy"] == {"penalty": 0.5, "letters": True, "most_named": 3}
    assert worked(saved_run(store, run)).run.state == "done"
    assert "penalty 0.5, letters by rules" in field(visit(("run", run.run_id)), "Judge").options[0]
    assert shown(visit(("run", run.run_id), "Scores"), "Mean")["Texts"].tolist() == ["4"]
    at = visit(("run", run.run_id), "Texts")
    assert set(shown(at, "what")["what"]) == {"missing"}, "a record without a page of its own is a table"
    assert "has no repeats" in said(visit(("run", run.run_id), "Reliability"))
    at = press(visit(("run", run.run_id), "Progress"), "Judge with other settings")
    press(at, "Judge the one item")
    assert list_runs(store, ("toy",))[0].settings == run.settings


# --- scores ---------------------------------------------------------------------------------------


def test_correlations_with_the_level_are_positive_where_a_judge_is_good(store: Store) -> None:
    run = judged(store, given())
    at = visit(("run", run.run_id), "Scores")
    found = shown(at, "Pearson, over rows").set_index("Score")
    scores = score_table(saved_run(store, run))
    levels = np.array([float(row.level or "nan") for row in scores.rows])
    items = np.array([row.item_id for row in scores.rows])
    for at_column, metric in enumerate(scores.metrics):
        column = scores.values[:, at_column].round(10)
        pearson = stats.pearsonr(column, -levels).statistic
        assert found["Pearson, over rows"][metric.name].startswith(f"{pearson:.2f} [")
        taus = [stats.kendalltau(column[items == one], -levels[items == one]).statistic for one in set(items)]
        assert pearson > 0.5, "+1 is good at every door"
        assert found["Kendall"][metric.name].startswith(f"{mean(taus):.2f} [")
        assert (found["Rows"][metric.name], found["Questions"][metric.name]) == ("16", "4")
    summary = shown(at, "SD").set_index("Score")
    assert summary["Mean"]["claims-rules-precision"] == f"{scores.values[:, 1].mean():.3f}"
    assert "methods#levels" in said(at)


@pytest.mark.slow
def test_cross_examination_is_shown_in_percent_and_stored_as_shares(store: Store) -> None:
    (run,) = by_model(store, given(), cef())
    at = visit(("run", run.run_id), "Scores")
    table = score_table(saved_run(store, run))
    summary = shown(at, "SD").set_index("Score")
    assert table.values[:, 0].max() == 1.0
    assert summary["Mean"]["cef-reference-tiny-coverage (%)"] == f"{100 * table.values[:, 0].mean():.3f}"


def test_a_constant_judge_is_named_next_to_its_scores(store: Store) -> None:
    junk = json.dumps({"feedback": "All facts are there.", "verdict": 1})
    (run,) = by_model(store, given(), rubric(), script=lambda body, n: junk)
    found = degeneracy_of(saved_run(store, run))
    assert [one.sign for one in found] == ["constant", "duplicates"]
    at = visit(("run", run.run_id), "Scores")
    assert [plainly(one.value) for one in at.warning] == [one.sentence for one in found]
    shares = shown(at, "monotonic").iloc[0]
    assert shares["monotonic"] == shares["prefers damaged"] == DASH
    assert f"monotonic, prefers damaged: undefined: {ALL_EQUAL}" in said(at)


@pytest.mark.slow
def test_a_text_that_cannot_be_judged_is_left_out_and_counted(store: Store) -> None:
    rows = [json.loads(line) for line in given()[0].splitlines()]
    for row in rows[:4]:
        row["reference"] = None
    run = judged(store, (lines(*rows), "texts.jsonl"))
    at = visit(("run", run.run_id), "Scores")
    assert set(shown(at, "Undefined")["Undefined"]) == {"4 no reference"}
    assert set(shown(at, "Pearson, over rows")["Rows"]) == {"12"}
    assert set(shown(at, "Pearson, over rows")["Questions"]) == {"3"}


@pytest.mark.slow
def test_texts_without_levels_have_no_table_by_level(store: Store) -> None:
    rows = [json.loads(line) for line in given()[0].splitlines()][::4]
    run = judged(store, (lines(*({**row, "level": None} for row in rows)), "texts.jsonl"))
    text = said(visit(("run", run.run_id), "Scores"))
    assert NO_LEVELS in text
    assert "Table 2" not in text


# --- one text -------------------------------------------------------------------------------------


def test_feedback_is_shown_as_text_with_every_verdict(store: Store) -> None:
    def hostile(body: Any, n: int) -> str:
        return json.dumps({"feedback": HOSTILE, "verdict": 1 + n % 5})

    (run,) = by_model(store, given(1), rubric(order="both", repeats=2), script=hostile)
    at = visit(("run", run.run_id), "Texts")
    cards = [card for card in html_of(at) if "onerror" in card]
    assert len(cards) == 4
    assert all("&lt;img" in card and "<img" not in card for card in cards)
    assert "Response read first, repeat 2: verdict" in "\n".join(html_of(at))
    assert field(at, "Text").options[0].startswith("GPT, level")  # type: ignore[attr-defined]


def test_the_worst_text_comes_first_with_its_claims_and_marks(store: Store) -> None:
    run = judged(store, given())
    at = visit(("run", run.run_id), "Texts")
    texts = judge_output(saved_run(store, run)).texts
    worst = min(text.scores["claims-rules-f1"] or 0.0 for text in texts)
    assert field(at, "Text").options[0].endswith(f": {worst:.3f}")  # type: ignore[attr-defined]
    assert field(at, "Text").options[0].startswith("GPT, level 3")  # type: ignore[attr-defined]
    assert "0 supported (✓), 3 not supported (✗), 0 without a verdict (?)." in said(at)
    assert shown(at, "Claim")["Claim"][0] == "Nobody knows why."
    field(at, "Order").set_value("as in the file")  # type: ignore[attr-defined]
    at.run()
    assert field(at, "Text").options[0].startswith("GPT, level 0")  # type: ignore[attr-defined]


def test_mismatching_questions_come_before_all_questions(store: Store) -> None:
    (run,) = by_model(store, given(), cef(reask=True))
    at = visit(("run", run.run_id), "Texts")
    mismatches = shown(at, "Made from the")
    assert set(mismatches["Made from the"]) == {"reference", "text"}
    assert len(mismatches) == 6, "no sentence of the reference is left, and none is from it"
    assert set(mismatches["Answer"]) <= {"NO", "IDK"}
    every = shown(at, "Asked again")
    assert list(every["Expected"]) == ["YES"] * 3
    assert list(every["Asked again"]) == ["YES"] * 3
    assert "0.0 %" in set(shown(at, "Value")["Value"])
    costs = shown(at, "From the cache").set_index("Step")
    assert costs["Calls"]["questions from reference"] == "1", "paid once for all texts of the item"


# --- two judges -----------------------------------------------------------------------------------


def test_two_judges_on_the_same_texts(store: Store) -> None:
    texts = given()
    first = judged(store, texts)
    (second,) = by_model(store, texts, rubric())
    at = visit(("run", first.run_id), "Judges")
    assert field(at, "Compare with").value == ("run", second.run_id)  # type: ignore[attr-defined]
    a, b = (
        score_table(saved_run(store, first)).values[:, 0],
        score_table(saved_run(store, second)).values[:, 0],
    )
    numbers = shown(at, "Agreement").set_index("Agreement")
    for name, of in (("Pearson", stats.pearsonr), ("Kendall", stats.kendalltau)):
        assert numbers["Value"][f"{name} over all texts"].split()[0] == f"{of(a, b).statistic:.2f}"
    assert "16 texts scored by both" in said(at)
    assert "Other judge: " in "".join(expander.label for expander in at.expander)
    field(at, "Scores of the same texts").set_value([("run", second.run_id)])  # type: ignore[attr-defined]
    at.run()
    assert "16 of 16 texts are in both" in said(at)
    assert "methods#judge-agreement" in said(at)


def test_judges_of_several_models_by_size(store: Store) -> None:
    small, large = by_model(store, given(), rubric(model="org/tiny-7B"), rubric(model="org/big-70B"))
    at = visit(("run", small.run_id), "Judges")
    assert "needs two judges of texts with levels" in said(at)
    field(at, "Scores to compare").set_value([("run", large.run_id)])  # type: ignore[attr-defined]
    at.run()
    assert not at.exception
    table = shown(at, "Technique")
    assert list(table["Model"]) == ["org/tiny-7B", "org/big-70B"]
    assert list(table["Size, billions"]) == ["7", "70"]
    levels = np.array([int(one.level or 0) for one in score_table(saved_run(store, small)).rows])
    scores = score_table(saved_run(store, small)).values[:, 0]
    assert float(table["Pearson"][0].split()[0]) == pytest.approx(
        stats.pearsonr(-levels, scores).statistic, abs=0.005
    )


@pytest.mark.slow
def test_scores_of_other_texts_are_no_second_judge(store: Store) -> None:
    other = given(2, item="elsewhere")
    rows = [json.loads(line) | {"item": f"other {n}"} for n, line in enumerate(other[0].splitlines())]
    run = judged(store, given(2))
    judged(store, (lines(*rows), "other.jsonl"))
    at = visit(("run", run.run_id), "Judges")
    assert not at.error
    assert NO_OTHERS in said(at)


def test_without_other_scores_the_comparison_says_so(store: Store) -> None:
    run = judged(store, given(1))
    assert NO_OTHERS in said(visit(("run", run.run_id), "Judges"))


# --- reliability ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_judge_is_compared_with_itself(store: Store) -> None:
    def drifting(body: Any, n: int) -> str:
        asked = str(body["messages"][-1]["content"])
        first = asked.find("<reference>") < asked.find(
            "<response>"
        )  # neither is in the question whether it works
        return json.dumps({"feedback": "", "verdict": 2 if first else 4})

    (run,) = by_model(store, given(2), rubric(order="both", repeats=2), script=drifting)
    at = visit(("run", run.run_id), "Reliability")
    assert shown(at, "All equal")["All equal"][0] == "100 % [100 %, 100 %]"
    (orders,) = shown(at, "Mean difference").to_dict("records")
    assert orders["Mean difference"].startswith("2.000")
    assert orders["Texts with equal verdicts"].startswith("0 %")


@pytest.mark.slow
def test_questions_asked_again_and_the_spread_over_repeats(store: Store) -> None:
    (run,) = by_model(store, given(2), cef(reask=True, repeats=2))
    at = visit(("run", run.run_id), "Reliability")
    again = shown(at, "Unchanged")
    again = again[again[again.columns[0]] == "all"].set_index("Expected")
    # Repeats, items, questions: of a reference once an item, of a text once a level.
    assert int(again["YES"]["YES"]) == 2 * 2 * 3 * (1 + 4)
    assert again["Unchanged"]["YES"].startswith("100.0 %")
    assert again["Unchanged"]["NO"] == DASH
    assert NOT_ASKED_FOR in said(at)
    spread = shown(at, "Variance of the mean").set_index("Score")
    assert spread["Variance of the mean"]["coverage"] == "0.000"
    assert "no model has answered questions yet" in said(at)
    assert said(at).count(AT_TEMPERATURE_0) == 2


def test_a_judge_whose_questions_others_deny_has_a_high_disagreement_rate(store: Store) -> None:
    def denying(body: Any, n: int) -> str:
        return answer(body, n).replace("YES", "NO")

    texts = given(1)
    runs = by_model(store, texts, cef("org/one"), cef("org/two"))
    last = [answered(store, runs, "org/one"), answered(store, runs, "org/two", denying)][-1]
    at = visit(("run", last.run_id), "Result", "check")
    assert list(shown(at, "Questions by")["Questions by"]) == ["org/one", "org/two"]
    rates = shown(at, "ADR")
    assert "Questions from" not in rates, "the menu says it"
    of_all = rates.set_index(["Counted", "Model"])
    # Each of the two answers everything otherwise than the other: nobody confirms anybody's questions.
    assert of_all["ADR"]["paper", "org/one"].startswith("100 %")
    assert of_all["ADR"]["paper", "org/two"].startswith("100 %")
    assert of_all["ADR"]["cef-code", "org/one"].startswith("100 %"), "the other says NO"
    assert of_all["ADR"]["cef-code", "org/two"].startswith("0 %"), "the other says YES"
    ranks = of_all.loc["cef-code"]["ADR rank"]
    assert dict(ranks) == {"org/one": "2", "org/two": "1"}


def mqm(run: Run, store: Store) -> bytes:
    """Two marked errors: one in a replaced sentence, one in a sentence of the reference."""
    header = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    (text,) = (one.text for one in judge_output(saved_run(store, run)).texts if one.row.item_id == "1")
    rows = [
        ("Nobody knows", "Accuracy/Addition", "Major"),
        ("tower", "Fluency/Grammar", "Minor"),
    ]
    written = [
        f"GPT\td\t1\tr\ts\t{text.replace(words, f'<v>{words}</v>', 1)}\t{category}\t{severity}"
        for words, category, severity in rows
    ]
    return "\n".join([header, *written]).encode()


def test_marked_errors_are_compared_with_the_mismatches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: begun.append(run.run_id))
    rows = [json.loads(line) for line in given(1)[0].splitlines()][1:2]
    (run,) = by_model(store, (lines(*({**row, "level": None} for row in rows)), "texts.jsonl"), cef())
    marks = mqm(run, store)
    at = visit(("run", run.run_id), "Reliability")
    next(one for one in at.file_uploader if one.label == "File").upload("marks.tsv", marks)
    at.run()
    press(at, "Keep this file")
    assert [file.file_name for file in kept_files(store, "ratings")] == ["marks.tsv"]
    press(at, "Compare 2 marked errors")
    (check,) = list_runs(store, ("alignment",))
    assert begun == [check.run_id]

    found, _ = marked_texts(judge_output(saved_run(store, run)), read_ratings(marks, "marks.tsv"))
    at = visit(("run", aligned(store, found).run_id), "Result", "check")
    caught = shown(at, "Errors").set_index("Errors")["Found"]
    assert caught["overall"].endswith("(1 of 2)")
    assert caught["major"].startswith("100 %")
    assert caught["minor"].startswith("0 %")


# --- cost and files -------------------------------------------------------------------------------


@pytest.mark.slow
def test_costs_equal_the_account_and_judges_are_side_by_side(store: Store) -> None:
    texts = given()
    first, second = by_model(store, texts, rubric(), cef())
    at = visit(("run", first.run_id), "Cost")
    whole = sortable(at, "Share of input").set_index("Step").loc["all steps"]
    (cost,) = step_costs(store, first.run_id)
    money = ((cost.input_tokens or 0) * 0.15 + (cost.output_tokens or 0) * 0.6) / 1e6
    assert whole["Calls"] == 16
    assert whole["Tokens in"] == cost.input_tokens
    assert whole["Money"] == pytest.approx(money)
    field(at, "Compare with").set_value([second.run_id])  # type: ignore[attr-defined]
    field(at, "Price of a million input tokens").set_value(1.5)  # type: ignore[attr-defined]
    at.run()
    rows = sortable(at, "Share of input").set_index(["Judge", "Step"])
    assert rows.loc[("rubric-tiny", "all steps"), "Calls per text"] == 1.0
    assert rows.loc[("rubric-tiny", "all steps"), "Money"] == pytest.approx(
        money + (cost.input_tokens or 0) * 1.35 / 1e6
    )
    assert rows.loc[("cef-reference-tiny", "questions from source"), "Calls per text"] == 0.25, "4 for 16"
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.slow
def test_rules_cost_nothing_and_the_page_says_so(store: Store) -> None:
    run = judged(store, given(1))
    text = said(visit(("run", run.run_id), "Cost"))
    assert "they call no model" in text


@pytest.mark.slow
def test_all_files_can_be_downloaded(store: Store) -> None:
    run = judged(store, given(1))
    at = visit(("run", run.run_id), "Files")
    labels = [button.label for button in at.get("download_button")]
    assert {"scores.csv", "records.jsonl", "details.csv", "run.json"} <= set(labels)
    assert labels[0] == f"All files (assay-judge-{run.run_id}.zip)"


# --- judges from elsewhere, and other pages -------------------------------------------------------


@pytest.mark.slow
def test_uploaded_scores_of_a_judge_are_shown_by_level(store: Store) -> None:
    rows = [
        {
            "type": "judge",
            "id": str(n),
            "question": "q",
            "level": f"A{level}",
            "result": 1 - level / 4 + n / 90,
        }
        for n in range(5)
        for level in range(5)
    ]
    at = visit(("upload", 0))
    at.file_uploader[0].upload("theirs.jsonl", lines(*rows))
    at.run()
    press(at, "Keep this file")
    assert [file.file_name for file in kept_files(store, "scores")] == ["theirs.jsonl"]
    (found,) = shown(at, "Pearson, over rows")["Pearson, over rows"]
    assert found.startswith("0.9")
    assert "methods#scores" in said(at)


def test_the_page_metrics_shows_a_judges_scores(store: Store) -> None:
    run = judged(store, given())
    at = visit_metrics(("run", run.run_id), "Correlations")
    frame = next(one.value for one in at.dataframe if "Pearson" in one.value.columns)
    assert set(frame["metric"]) == {metric.name for metric in score_table(saved_run(store, run)).metrics}
    assert (frame["Pearson"] > 0.5).all()
    at = visit_metrics(("run", run.run_id), "Progress")
    assert "Score with other settings" not in buttons(at)

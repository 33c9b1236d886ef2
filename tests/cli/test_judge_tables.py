"""Tables about judges as a terminal shows them: on what a number rests, and what stands below the table."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.texts.score_factories import table

from core.analyses import consistency, judge_agreement
from core.analyses.ablation import ANALYSIS as ABLATION
from core.analyses.ablation import AblationOptions
from core.analyses.correlate import ANALYSIS as CORRELATE
from core.analyses.correlate import correlations
from core.analyses.reliability import ANALYSIS as RELIABILITY
from core.analyses.reliability import ReliabilityOptions
from core.judges.answers import AnswerSet, QuestionSet
from core.judges.cross_examination import CefRecord, Examination
from core.judges.questions import CrossQuestion
from core.judges.rubric import RubricRecord, RubricTrial
from core.report import DASH, headings, lines, notes, terminal_lines
from core.results.correlations.table import correlate_scores
from core.results.judges.consistency import AT_TEMPERATURE_0
from core.schema.analysis import Answer
from core.schema.correlating import CorrelateOptions
from core.schema.result_table import ResultTable
from core.schema.scores import JudgedText, JudgeOutput, ScoredRow, ScoreTable, WithTexts
from core.stats.resampling import ONE_CLUSTER

DOCS = Path(__file__).parents[2] / "docs" / "judges.md"
LEVELS = ("A0", "A1", "A2")


def table_of_ablation(output: JudgeOutput) -> ResultTable:
    return ABLATION.answer(AblationOptions(), [output]).tables["judge-ablation"]


def ties(name: str, n_items: int, n_varied: int, reverse: bool = False) -> ScoreTable:
    """A score a level that falls in some items; all others tie."""
    rows = [
        (
            ScoredRow(str(item), "s", level),
            [float(-place if item < n_varied else item % 2) + (0.5 if reverse else 0)],
        )
        for item in range(n_items)
        for place, level in enumerate(LEVELS)
    ]
    return table(rows, [name], file_name=f"{name}.csv")


def compared(first: ScoreTable, second: ScoreTable) -> dict[str, ResultTable]:
    """The tables of the agreement of two judges."""
    both = tuple(WithTexts(one, list) for one in (first, second))
    options = judge_agreement.JudgeAgreementOptions(n_resamples=50)
    return judge_agreement.ANALYSIS.answer(options, both).tables


@pytest.mark.parametrize(("n_varied", "said"), [(1, "1.00 (1 of 14 items)"), (14, "1.00 [1.00, 1.00]")])
def test_a_mean_over_items_says_on_how_many_it_rests(
    n_varied: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = ties("a", 14, n_varied), ties("b", 14, n_varied, reverse=True)
    own = compared(first, second)["agreement"]
    line = next(one for one in terminal_lines(own) if one.startswith("Kendall within items"))
    assert line.split("items", 1)[1].strip() == said
    reason = f"Value: no interval for Kendall within items: {ONE_CLUSTER}"
    assert notes(own).count(reason) == (n_varied == 1)
    options = CorrelateOptions(n_resamples=50)
    found = Answer(
        CORRELATE, CORRELATE.Options(), correlations(correlate_scores(first, options=options), "items")
    ).tables["correlations"]
    assert said in lines(found)[0]
    told = notes(found).count(f"Kendall per item: no interval: {ONE_CLUSTER}")
    assert told == (n_varied == 1), "the reason stands once, below the table"


def test_several_pairs_have_one_note_for_what_is_undefined() -> None:
    second = [
        (row, [score, score])
        for row, (score,) in zip(ties("b", 4, 4).rows, ties("b", 4, 4).values, strict=True)
    ]
    found = compared(ties("a", 4, 4), table(second, ["b", "c"], file_name="b.csv"))["judge-components"]
    _, head, row, _, *below = terminal_lines(found)
    place = head.index("Pearson between systems")
    assert row[place:].split()[0] == DASH
    assert sum("fewer than two systems" in line for line in below) == 1


def rubric_judge(temperature: float) -> JudgeOutput:
    trials = tuple(RubricTrial(order="reference-first", repeat=repeat, verdict=3) for repeat in range(2))
    text = JudgedText(ScoredRow("1", "s"), "t", "d", None, {}, {}, RubricRecord(trials))
    return JudgeOutput("rubric-x", "rubric", "x", {"temperature": temperature}, (), (text,))


def tables_of(judge: JudgeOutput) -> dict[str, ResultTable]:
    """The tables of its consistency."""
    return consistency.ANALYSIS.answer(consistency.ConsistencyOptions(n_resamples=0), judge).tables


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_note_stands_below_repeats_that_show_nothing(temperature: float) -> None:
    out = terminal_lines(tables_of(rubric_judge(temperature))["judge-repeats"])
    examined = tuple(Examination(n, (CrossQuestion("q", answer="YES"),), None) for n in range(2))
    text = JudgedText(ScoredRow("1", "s"), "t", "d", None, {}, {}, CefRecord(examined))
    settings = {"temperature": temperature, "n_questions": 1}
    out += terminal_lines(table_of_ablation(JudgeOutput("cef-x", "cef", "x", settings, (), (text,))))
    assert sum(AT_TEMPERATURE_0 in line for line in out) == (2 if temperature == 0 else 0)
    assert (f"Note: cef-x: {AT_TEMPERATURE_0}" in out) == (temperature == 0)


def test_what_the_tables_say_is_explained_in_the_same_words() -> None:
    trials = tuple(
        RubricTrial(order=order, repeat=repeat, verdict=3)
        for order in ("reference-first", "response-first")
        for repeat in range(2)
    )
    text = JudgedText(ScoredRow("1", "s"), "t", "d", None, {}, {}, RubricRecord(trials))
    found = tables_of(JudgeOutput("r", "rubric", "x", {}, (), (text,)))
    shown = [*headings(found["judge-repeats"]), *headings(found["judge-orders"])]
    section = DOCS.read_text("utf-8").split("## Judge consistency")[1].split("\n## ")[0]
    said = " ".join(section.split()).lower()
    for word in (
        "All equal",
        "Mean SD",
        "Texts with equal verdicts",
        "Mean difference",
        "Mean absolute difference",
    ):
        assert word in shown
        assert f"*{word.lower()}*" in said, word
    for key in ("agreeing", "spread", "equal", "difference", "distance"):
        assert f"`{key}`" in said, key


def answers(model: str, given: Sequence[str | None]) -> AnswerSet:
    questions = tuple(
        CrossQuestion(f"q{n}", "YES", answer, None if answer else "unparsed")  # type: ignore[arg-type]
        for n, answer in enumerate(given)
    )
    return AnswerSet(model, (QuestionSet(ScoredRow("1", "s"), "text", "a", "t", questions),))


def test_that_models_answered_other_questions_stands_above_their_rates() -> None:
    sets = [answers("a", ["YES"] * 4), answers("b", ["YES", None, None, "NO"]), answers("c", ["YES"] * 4)]
    lines = terminal_lines(
        RELIABILITY.answer(ReliabilityOptions(n_resamples=0), sets).tables["judge-reliability"]
    )
    assert lines[0].startswith("the models did not answer the same questions")
    assert lines[0].endswith("a 0%, b 50%, c 0%")
    assert sum("the models did not answer" in line for line in lines) == 1
    (undefined,) = [line for line in lines if line.startswith("Note: ADS: undefined for")]
    assert undefined.endswith(
        "with fewer than five models, only questions on which all agree count, so none can deviate"
    )

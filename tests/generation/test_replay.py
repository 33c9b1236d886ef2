"""Published reports done again, and our own traces written in their format and read back."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from generation.test_factual_editing import TEXTS, Doubling

from core.formats.trutheval import FactualReport, ReportQuestion, ReportSettings, read_report, report_json
from core.generation.factual import factual_report, perturb
from core.generation.factual.published import replay, report_traces, spans_in_brackets
from core.generation.factual.steps import FactualSettings
from core.schema.study import Item, Material


@pytest.fixture
def published(shared_data: Path) -> FactualReport:
    path = shared_data / "perturbation-report.json"
    return read_report(path.read_bytes(), path.name)


@pytest.mark.shared
def test_the_published_report(published: FactualReport) -> None:
    """003's own run: its code keeps first and then drops; the order in the paper fits half of the items."""
    result = replay(published)
    counted = (result.items, result.brackets_match, result.filter_match_code_order, result.group_sizes_match)
    assert counted == (20, 20, 20, 20)
    assert 8 <= result.filter_match_paper_order <= 10
    assert result.case == "kept"
    assert all(item.reasons == () for item in result.per_item)
    assert (result.order, result.order_stated, result.failed) == ("trutheval", False, ())
    assert (
        result.verdict
        == "The selection follows the order of Factual's code (keep 80 %, then drop), in 20 of 20 items."
    )


@pytest.mark.shared
def test_a_published_item_can_be_followed(published: FactualReport) -> None:
    traces = report_traces(published)
    assert [trace.failed_step for trace in traces] == [None] * 20
    for trace, question in zip(traces, published.questions, strict=True):
        assert [span.text for span in trace.spans] == list(question.raw_factual_data or ())
        assert all(trace.levels[0].text[s.start : s.end] == s.text for s in trace.spans)
        assert [trace.spans[n].text for n in trace.ranking] == list(question.ranked_factual_data or ())
        assert [trace.spans[n].text for n in trace.kept] == list(question.factual_data or ())
        assert sorted(n for group in trace.groups for n in group) == sorted(trace.kept)
        assert {entry.span for entry in trace.dropped} | set(trace.kept) == set(range(len(trace.spans)))
    assert {entry.reason for trace in traces for entry in trace.dropped} == {"in the question", "not kept"}


@pytest.mark.shared
def test_a_changed_report_is_noticed(published: FactualReport) -> None:
    first, *rest = published.questions
    broken = ReportQuestion(**{**vars(first), "factual_data": (first.factual_data or ())[1:]})
    moved = ReportQuestion(**{**vars(rest[0]), "answers": {**rest[0].answers, "A0": "Something else."}})
    result = replay(FactualReport((broken, moved, *rest[1:])))
    assert (result.filter_match_code_order, result.brackets_match, result.group_sizes_match) == (19, 19, 19)
    assert "also has" not in result.per_item[0].reasons[0]
    assert result.per_item[0].reasons[0].startswith("Selection: the report lacks “")
    assert result.per_item[1].reasons == ("A0's brackets do not contain the listed spans.",)


def made(
    order: str, keep: float = 0.8, question_filter: str = "trutheval", *, told: bool = False
) -> FactualReport:
    chosen = FactualSettings(
        parser="rules",
        filter_order=order,  # type: ignore[arg-type]
        keep=keep,
        question_filter=question_filter,  # type: ignore[arg-type]
    )
    texts = {
        **TEXTS,
        "odd": "See [2] in Vienna [1] of 1991, in Vienna and [Oslo], 40 km off.",
        "none": "– ?!",
    }
    materials = {
        name: Material(Item(name, "Where is Vienna?", text, name if name in TEXTS else "en"))
        for name, text in texts.items()
    }
    traces = [asyncio.run(perturb(material, Doubling(), chosen)) for material in materials.values()]
    return factual_report(traces, materials, chosen if told else None)


@pytest.mark.parametrize("order", ["paper", "trutheval"])
def test_our_own_report_replays_in_its_order(order: str) -> None:
    written = made(order)
    read = read_report(report_json(written), "report.json")
    assert read.questions == written.questions
    assert (read.counters["input_samples"], read.counters["output_samples"]) == (
        len(TEXTS) + 2,
        len(TEXTS) + 1,
    )
    assert read.counters["find_factual_data_error"] == 1
    assert read.failed == {"spans: no spans": 1}
    result = replay(read)
    assert result.items == len(TEXTS) + 2
    assert result.brackets_match == result.compared == len(TEXTS) + 1
    fits = {"paper": result.filter_match_paper_order, "trutheval": result.filter_match_code_order}
    assert fits.pop(order) == len(TEXTS) + 1
    if order == "paper":
        # Its ranking lacks what the question names. A filter that drops what keep leaves out fits both orders.
        assert fits["trutheval"] < len(TEXTS) + 1
        assert (result.order, result.order_stated) == ("paper", False)
    assert result.failed == (len(TEXTS) + 1,)
    assert result.per_item[-1].failed == "The item failed: the report has no spans for it."
    assert result.verdict.endswith(f" Failed and not compared: item {len(TEXTS) + 2}.")


@pytest.mark.parametrize("order", ["paper", "trutheval"])
@pytest.mark.parametrize("question_filter", ["words", "trutheval"])
@pytest.mark.parametrize("keep", [0.5, 1])
def test_a_report_that_states_its_settings_is_replayed_with_them(
    order: str, question_filter: str, keep: float
) -> None:
    written = made(order, keep, question_filter, told=True)
    read = read_report(report_json(written), "report.json")
    assert read.settings == written.settings == ReportSettings(keep, order, question_filter, 4)
    result = replay(read)
    assert (result.order, result.order_stated, result.keep) == (order, True, keep)
    fits = result.filter_match_paper_order if order == "paper" else result.filter_match_code_order
    assert fits == result.compared == result.group_sizes_match > 0
    assert not any(item.reasons for item in result.per_item if item.failed is None)
    assert f"keep {100 * keep:g} %" in result.verdict
    assert f"as the report states, in {fits} of {fits} items." in result.verdict
    if keep < 1:
        other = replay(read, keep=1)
        assert other.filter_match_paper_order < fits
        assert "The others do not match." in other.verdict


def test_orders_that_both_fit_are_not_told_apart() -> None:
    material = Material(Item("a", "Why so?", "See Vienna in 1991, 40 km off, or Oslo in 2002.", "en"))
    trace = asyncio.run(perturb(material, Doubling(), FactualSettings(parser="rules")))
    result = replay(factual_report([trace], {"a": material}))
    assert (result.filter_match_code_order, result.filter_match_paper_order, result.order) == (1, 1, None)
    assert result.verdict == "Both orders of filter and keep fit 1 of 1 items, so the order is undecided."


def test_a_level_that_was_not_made_is_a_failed_item() -> None:
    report = made("paper", told=True)
    first = report.questions[0]
    fewer = {name: text for name, text in first.with_brackets.items() if name != "A4"}
    cut = replace(first, with_brackets=fewer)
    nothing = replace(first, factual_data=(), ranked_factual_data=(), with_brackets={"A0": fewer["A0"]})
    result = replay(replace(report, questions=(cut, nothing)))
    assert (result.items, result.compared, result.failed) == (2, 0, (0, 1))
    assert (result.brackets_match, result.filter_match_paper_order, result.group_sizes_match) == (0, 0, 0)
    assert result.per_item[0].failed == "The item failed: the report has 3 of the levels A1 to A4."
    assert result.per_item[1].failed == "The item failed: no span was left to edit."
    assert result.verdict.endswith("nothing to compare. Failed and not compared: items 1, 2.")


def test_our_own_traces_come_back_from_the_report() -> None:
    traces = report_traces(made("trutheval"))
    assert [trace.failed_step for trace in traces][-1] == "spans"
    for trace in traces[:-2]:
        assert all(edit.new == edit.old * 2 for level in trace.levels for edit in level.edits)
        assert sum(len(level.edits) for level in trace.levels) == len(trace.kept)


def test_spans_are_found_beside_brackets_of_the_text() -> None:
    assert spans_in_brackets("See [1] in [Ulm] [2].", ["Ulm"], "See [1] in Ulm [2].") == ((11, 14),)
    assert spans_in_brackets("In [Ulm].", ["Bonn"], "In Ulm.") is None
    assert spans_in_brackets("In [Ulm].", ["Ulm"], "At Ulm.") is None

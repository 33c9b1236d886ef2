"""Published reports done again, and our own traces written in their format and read back."""

import asyncio
from pathlib import Path

import pytest
from generation.test_factual_editing import TEXTS, Doubling

from core.datasets.factual_report import FactualReport, ReportQuestion, read_report, report_json
from core.generation.factual.pipeline import perturb
from core.generation.factual.published import from_traces, spans_in_brackets, to_traces
from core.generation.factual.replay import replay
from core.generation.factual.steps import FactualSettings
from core.schema import Item, Material


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


@pytest.mark.shared
def test_a_published_item_can_be_followed(published: FactualReport) -> None:
    traces = to_traces(published)
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
    assert "besides" not in result.per_item[0].reasons[0]
    assert result.per_item[0].reasons[0].startswith("Selection: the report lacks “")
    assert result.per_item[1].reasons == ("A0's brackets do not hold the listed spans.",)


def made(order: str) -> FactualReport:
    chosen = FactualSettings(parser="rules", filter_order=order, question_filter="trutheval")  # type: ignore[arg-type]
    texts = {
        **TEXTS,
        "odd": "See [2] in Vienna [1] of 1991, in Vienna and [Oslo], 40 km off.",
        "none": "It is so.",
    }
    materials = {
        name: Material(Item(name, "Where is Vienna?", text, name if name in TEXTS else "en"))
        for name, text in texts.items()
    }
    traces = [asyncio.run(perturb(material, Doubling(), chosen)) for material in materials.values()]
    return from_traces(traces, materials)


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
    assert result.brackets_match == len(TEXTS) + 1
    matched = result.filter_match_paper_order if order == "paper" else result.filter_match_code_order
    assert matched == len(TEXTS) + 1
    assert "no spans, no ranking" in result.per_item[-1].reasons[0]


def test_our_own_traces_come_back_from_the_report() -> None:
    traces = to_traces(made("trutheval"))
    assert [trace.failed_step for trace in traces][-1] == "spans"
    for trace in traces[:-2]:
        assert all(edit.new == edit.old * 2 for level in trace.levels for edit in level.edits)
        assert sum(len(level.edits) for level in trace.levels) == len(trace.kept)


def test_spans_are_found_beside_brackets_of_the_text() -> None:
    assert spans_in_brackets("See [1] in [Ulm] [2].", ["Ulm"], "See [1] in Ulm [2].") == ((11, 14),)
    assert spans_in_brackets("In [Ulm].", ["Bonn"], "In Ulm.") is None
    assert spans_in_brackets("In [Ulm].", ["Ulm"], "At Ulm.") is None

"""One object with every number: for any number of raters, as JSON, as documented."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers.texts import factories
from helpers.texts.factories import LEVELS, dataset, item_ids

from core.analyses.study_results.pair_rows import answer_of
from core.results.study.counted import TOO_FEW, Filters
from core.results.study.results import COEFFICIENTS, StudyResults, study_results
from core.schema.study import PREFERENCES
from core.stats.non_inferiority import NO_SCORED_PAIR
from core.study.export import COLUMNS, GUESS_COLUMNS

RESULTS = (Path(__file__).resolve().parents[2] / "docs" / "results.md").read_text("utf-8")
FORMATS = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
record_of = partial(factories.record_of, main_levels=LEVELS)
PAIRS = [(item, level) for item in item_ids(4) for level in LEVELS]


def results_of(n_raters: int, **more: Any) -> StudyResults:
    """Raters who go round the four preferences, each starting one later."""
    turn = {f"R{n}": {p: PREFERENCES[(n + i) % 4] for i, p in enumerate(PAIRS)} for n in range(n_raters)}
    return study_results(record_of(turn, **more), n_resamples=50)


def walk(value: Any) -> Iterator[Any]:
    yield value
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(entry)


@pytest.mark.parametrize("n_raters", range(4))
def test_any_number_of_raters_gives_plain_json(n_raters: int) -> None:
    results = results_of(n_raters)
    written = json.dumps(answer_of(results).json, allow_nan=False)
    again = json.loads(written)
    assert json.dumps(again, allow_nan=False) == written
    assert {type(entry) for entry in walk(again)} <= {dict, list, str, int, float, bool, type(None)}
    assert again["raters"] == [f"R{n}" for n in range(n_raters)]
    assert (again["n_pairs"], again["n_questions"]) == ((20, 4) if n_raters else (0, 0))
    assert list(again["per_level"]) == list(LEVELS)


@pytest.mark.parametrize("n_raters", range(4))
def test_every_number_that_is_missing_has_its_sentence(n_raters: int) -> None:
    for entry in walk(answer_of(results_of(n_raters)).json):
        if isinstance(entry, dict) and "reason" in entry:
            value = next(
                entry[k]
                for k in (
                    "estimate",
                    "table",
                    "value",
                    "share_left",
                    "share",
                    "mean",
                    "paper_rule",
                    "log_likelihood",
                    "sizes",
                    "questions",
                )
                if k in entry
            )
            if value is None:
                assert entry["reason"], entry
                assert len(entry["reason"]) > 10


def test_no_raters() -> None:
    results = results_of(0)
    assert results.overall.n_left_out == {TOO_FEW: 20}
    assert results.overall.raw_agreement.reason == "agreement needs two raters with answers"
    assert results.overall.contingency.reason == "a table needs two raters"
    assert results.overall.composite.mean is None
    assert results.non_inferiority.reason == NO_SCORED_PAIR
    assert results.non_inferiority.non_inferior_questions is None
    assert (results.position_per_rater, results.repeats, results.pairwise) == ({}, {}, ())


def test_one_rater() -> None:
    results = results_of(1)
    assert results.overall.cohen_kappa.estimate is None
    assert results.overall.composite.counts == {"-1": 5, "0": 10, "1": 5}
    assert results.non_inferiority.mean == 0
    assert results.overall.ties.composite_zero == 0.5


def test_two_raters() -> None:
    """Each one choice apart: nobody ever agrees; chance would give 1/4, so kappa is (0 - 1/4) / (3/4)."""
    results = results_of(2)
    assert results.overall.contingency.table == [[0, 5, 0, 0], [0, 0, 5, 0], [0, 0, 0, 5], [5, 0, 0, 0]]
    assert results.overall.contingency.raters == ("R0", "R1")
    assert results.overall.raw_agreement.estimate == 0
    assert results.overall.cohen_kappa.estimate == pytest.approx(-1 / 3)
    assert results.overall.choices["R1"] == dict.fromkeys(PREFERENCES, 5)
    assert results.pairwise == ()


def test_intervals_resample_questions() -> None:
    """Two of four questions all agreed, two all not: four units are drawn, not twenty."""
    other = {pair: "candidate" if pair[0] in ("q00", "q01") else "comparator" for pair in PAIRS}
    record = record_of({"A": dict.fromkeys(PAIRS, "candidate"), "B": other})
    agreement = study_results(record, n_resamples=1000).overall.raw_agreement
    assert (agreement.n, agreement.n_clusters, agreement.estimate) == (20, 4, 0.5)
    # Share of agreed questions among 4 drawn, P(0 of 4) = 1/16 > 0.025: the interval is all of [0, 1].
    assert (agreement.low, agreement.high) == (0, 1)


def test_three_raters() -> None:
    results = results_of(3)
    assert results.overall.contingency.table is None
    assert "see fleiss_kappa" in results.overall.cohen_kappa.reason
    assert results.overall.fleiss_kappa.estimate == pytest.approx(-1 / 3)
    assert [pair.raters for pair in results.pairwise] == [("R0", "R1"), ("R0", "R2"), ("R1", "R2")]
    assert [pair.cohen_kappa.estimate for pair in results.pairwise] == pytest.approx([-1 / 3] * 3)
    assert sum(map(sum, results.pairwise[1].contingency.table)) == 20


def test_one_question_has_no_bound_over_questions() -> None:
    bound = results_of(2, data=dataset(4)).non_inferiority
    assert bound.bound_questions is not None
    record = record_of({"A": dict.fromkeys(PAIRS, "candidate")})
    alone = study_results(record, Filters(questions=["q00"]), n_resamples=50).non_inferiority
    assert (alone.bound_questions, alone.non_inferior_questions, alone.bound_pairs) == (None, None, 1.0)
    assert "fewer than two questions" in alone.reason


def test_the_declared_margin_and_level_are_used() -> None:
    low, high = (results_of(2, margin=m, confidence_level=c) for m, c in ((0.1, 0.9), (1.5, 0.99)))
    assert (high.non_inferiority.margin, high.non_inferiority.confidence_level) == (1.5, 0.99)
    assert high.non_inferiority.bound_pairs < low.non_inferiority.bound_pairs
    assert answer_of(high).json["power_one_sided"]["alpha"] == pytest.approx(0.01)
    assert answer_of(high).json["power_one_sided"]["confidence_level"] == 0.99
    assert answer_of(high).json["power_one_sided"]["alternative"] == "larger"
    assert (high.power.alpha, high.power.alternative) == (0.05, "two-sided")


def test_the_same_seed_gives_the_same_numbers_and_another_does_not() -> None:
    record = record_of(
        {r: {p: PREFERENCES[(i * k) % 4] for i, p in enumerate(PAIRS)} for r, k in (("A", 3), ("B", 5))}
    )
    one, same, other = (study_results(record, n_resamples=60, rng=rng) for rng in (0, 0, 1))
    assert one == same
    assert one.overall.raw_agreement.estimate == other.overall.raw_agreement.estimate
    assert one != other


def test_a_level_alone_is_its_block() -> None:
    """A number does not depend on which others are computed with it."""
    whole = results_of(2)
    turn = {f"R{n}": {p: PREFERENCES[(n + i) % 4] for i, p in enumerate(PAIRS)} for n in range(2)}
    alone = study_results(record_of(turn), Filters(levels=["A2"]), n_resamples=50)
    assert alone.overall == alone.per_level["A2"] == whole.per_level["A2"]


# --- docs/formats.md -----------------------------------------------------------------------------


def sections(level: str) -> dict[str, str]:
    """Heading -> text up to the next heading of that level or above."""
    parts = re.split(rf"(?m)^#{{1,{len(level)}}} (.+)\n", FORMATS.read_text("utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def first_cells(text: str) -> list[str]:
    """Names in the first column of a section's tables, in order; without a table, all names in it."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return re.findall(r"`([^`]+)`", "\n".join(rows))


def test_columns_are_documented_in_their_order() -> None:
    assert tuple(first_cells(sections("##")["Answers out: CSV and JSONL"])) == COLUMNS


def test_columns_of_guesses_are_documented_in_their_order() -> None:
    assert tuple(first_cells(sections("##")["Guesses out: CSV"])) == GUESS_COLUMNS


def test_bundle_members_are_documented() -> None:
    from helpers.texts.factories import members_of

    from core.study.bundle import write_bundle  # the one place where this file needs a bundle

    members = members_of(write_bundle(record_of({"A": {}})))
    documented = first_cells(sections("##")["Bundle"])
    assert documented == list(members)


def test_every_key_of_the_results_is_documented() -> None:
    written = answer_of(results_of(3, repeats={"R0": {PAIRS[0]: "candidate"}})).json
    assert [key for key in written if f"\n- `{key}`: " not in RESULTS] == []


def test_every_nested_key_is_documented() -> None:
    parts = {name: first_cells(text) for name, text in sections("###").items()}
    written = answer_of(results_of(3)).json
    block = written["per_level"]["A0"]
    position = written["position_bias"]
    blinding = written["blinding"]
    indices = [blinding["overall"], *blinding["per_rater"].values()]
    tables: dict[str, list[dict[str, Any]]] = {
        "Block": [block],
        "Estimate": [index[name] for index in indices for name in ("bang_questions", "james_questions")],
        "Verdict": [written["verdict"]],
        "Answer": [written["answer"]],
        "Raters as a sample": [written["raters_as_sample"]],
        "Variance components": [written["variance_components"]],
        "Analysis set": [written["analysis_set"]],
        "Sensitivity": written["sensitivity"],
        "After unblinding": [written["after_unblinding"]],
        "Contingency": [block["contingency"], written["pairwise"][0]["contingency"]],
        "Composite": [block["composite"]],
        "Ties": [block["ties"]],
        "Interval": [written["interval"]],
        "Non-inferiority": [written["non_inferiority"]],
        "Power": [written["power_one_sided"], {**written["power"], "confidence_level": None}],
        "Position bias": [position["overall"], *position["per_rater"].values()],
        "Repeats": list(written["repeats"].values()),
        "Blinding": [blinding],
        "Blinding index": indices,
        "Analytic index": [i[name] for i in indices for name in ("bang_left", "bang_right", "bang", "james")],
        "Share right": [index["share_right"] for index in indices],
    }
    for name, objects in tables.items():
        for found in objects:
            assert sorted(parts[name]) == sorted(found), name
    for name in COEFFICIENTS:
        assert sorted(block[name]) == sorted(parts["Estimate"] + parts["Agreement estimate"])
    text = sections("###")
    assert set(position) == set(re.findall(r"`(\w+)`", text["Position bias"].split("|")[0]))
    assert set(written["pairwise"][0]) == set(re.findall(r"`(\w+)`", text["Pairwise"]))
    assert set(written["answers"]) <= set(re.findall(r"`(\w+)`", RESULTS))
    assert set(block) <= set(written), "the block over all levels lies at the top"

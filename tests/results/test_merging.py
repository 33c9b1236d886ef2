"""Columns of several score tables over the same texts."""

import numpy as np
import pytest
from helpers.texts.score_factories import metric, table

from core.analyses.redundancy import ANALYSIS as REDUNDANCY
from core.errors import InputError
from core.formats.registry import read_scores
from core.formats.scores import write_scores_csv
from core.joining.tables import merge_tables, not_scored_in
from core.results.correlations.table import correlate_scores
from core.schema.correlating import CorrelateOptions
from core.schema.scores import ScoredRow

A = table([(ScoredRow("1", "s", "A0"), 1.0), (ScoredRow("1", "s", "A1"), 2.0)], ["rubric"], file_name="a.csv")
B = table(
    [(ScoredRow("1", "s", "1"), [5.0, None]), (ScoredRow("2", "s", "0"), [6.0, 7.0])],
    ["bleu-4", "cef"],
    file_name="b.csv",
    reasons={(0, 1): "no questions"},
)


def scores(merged):
    """Text -> metric -> score or reason."""
    return {
        (row.item_id, row.level): {
            one.name: merged.reasons.get((r, m), None)
            if np.isnan(merged.values[r, m])
            else merged.values[r, m]
            for m, one in enumerate(merged.metrics)
        }
        for r, row in enumerate(merged.rows)
    }


def test_texts_meet_and_what_one_table_lacks_is_undefined_with_its_name():
    merged, not_in_b = merge_tables([A, B]), "not scored in b.csv"
    assert scores(merged) == {
        ("1", "A0"): {"rubric": 1, "bleu-4": not_in_b, "cef": not_in_b},
        ("1", "A1"): {"rubric": 2, "bleu-4": 5, "cef": "no questions"},
        ("2", "A0"): {"rubric": not_scored_in("a.csv"), "bleu-4": 6, "cef": 7},
    }
    assert merged.notes == ("1 of 3 texts are in all 2 tables; 1 not in a.csv, 1 not in b.csv",)
    assert merged.file_name == "a.csv + b.csv"
    assert [one.signature for one in merged.metrics] == [one.signature for one in (*A.metrics, *B.metrics)]


def test_a_merged_table_is_written_and_read_and_correlated_like_any():
    merged = merge_tables([A, A, B])
    again = read_scores(write_scores_csv(merged), "merged.csv")
    assert [one.name for one in again.metrics] == ["rubric", "rubric#2", "bleu-4", "cef"]
    np.testing.assert_array_equal(again.values, merged.values)
    report = correlate_scores(merged, options=CorrelateOptions(n_resamples=20))
    used = {row.metric.name: (row.n, dict(row.left_out)) for row in report.rows}
    assert used["rubric"] == (2, {"not scored in a.csv (table 1)": 1})
    assert used["cef"] == (1, {not_scored_in("b.csv"): 1, "no questions": 1})
    assert REDUNDANCY.answer(REDUNDANCY.Options(), merged).result.n[0] == (2, 2, 1, 0)


def test_a_name_that_is_there_already_gets_its_tables_number():
    again = table([(ScoredRow("1", "s", "0"), [3.0, 4.0])], ["rubric", "rubric#2"], file_name="c.csv")
    merged = merge_tables([A, again])
    names = [one.name for one in merged.metrics]
    assert names == ["rubric", "rubric#2#2", "rubric#2"]
    assert "rubric of c.csv is listed as rubric#2#2" in merged.notes
    assert merged.values[0].tolist() == [1, 3, 4]


def test_a_renamed_error_rate_keeps_its_lower_end():
    plain = metric("ter")
    one = table([(ScoredRow("1", "s"), 10.0)], [plain.__class__("ter", "", "TER")], file_name="x.csv")
    merged = merge_tables([one, one])
    assert [m.direction for m in merged.metrics] == ["lower", "lower"]
    assert any("Assumed: lower is better" in note for note in merged.notes)


def test_labels_of_one_table_and_labels_that_differ_tear_nothing_apart():
    first = table(
        [(ScoredRow("1", "s", labels={"judge": "a", "domain": "law", "topic": "x"}), 1.0)],
        ["m"],
        file_name="a",
    )
    second = table([(ScoredRow("1", "s", labels={"judge": "b", "domain": "law"}), 2.0)], ["n"], file_name="b")
    merged = merge_tables([first, second])
    assert [dict(row.labels) for row in merged.rows] == [{"domain": "law", "topic": "x"}]
    assert merged.values.tolist() == [[1, 2]]
    assert "label judge was left out: its values differ between the tables" in merged.notes


def test_labels_that_tell_texts_apart_take_part():
    def of(name, values):
        rows = [(ScoredRow("1", "s", labels={"prompt": prompt}), value) for prompt, value in values.items()]
        return table(rows, [name], file_name=f"{name}.csv")

    merged = merge_tables([of("m", {"one": 1.0, "two": 2.0}), of("n", {"two": 20.0, "one": 10.0})])
    assert merged.values.tolist() == [[1, 10], [2, 20]]


@pytest.mark.parametrize("column", ["dataset", "language"])
def test_ids_that_repeat_across_data_sets_and_languages_are_other_texts(column):
    def of(name, *said):
        rows = [
            ScoredRow("1", "s", labels={"dataset": one})
            if column == "dataset"
            else ScoredRow("1", "s", language=one)
            for one in said
        ]
        return table([(row, float(k)) for k, row in enumerate(rows)], [name], file_name=f"{name}.csv")

    merged = merge_tables([of("m", "cs", "sk"), of("n", "sk")])
    np.testing.assert_array_equal(merged.values, [[0, np.nan], [1, 0]])
    with pytest.raises(InputError, match=f"shares no text with the others. .*{column} cs"):
        merge_tables([of("m", "cs"), of("n", "sk")])


def test_what_a_table_does_not_say_takes_no_part_and_is_filled_from_the_other():
    bare = table([(ScoredRow("1", "output"), 1.0), (ScoredRow("2", "output"), 2.0)], ["m"], file_name="bare")
    full = table(
        [(ScoredRow("2", "gpt", "A1", "cs", {"dataset": "x"}), 4.0)],
        ["n"],
        file_name="full",
        notes=("as is",),
    )
    merged = merge_tables([bare, full])
    assert merged.rows == (
        ScoredRow("1", "output"),
        ScoredRow("2", "gpt", "A1", "cs", {"dataset": "x"}),
    )
    assert merged.values[1].tolist() == [2, 4]
    assert merged.notes[-1] == "full: as is"


def test_several_rows_of_one_text_are_refused_with_what_tells_them_apart():
    several = table(
        [(ScoredRow("1", "s", labels={"prompt": p}), 1.0) for p in ("one", "two")], ["m"], file_name="several"
    )
    single = table([(ScoredRow("1", "s"), 1.0)], ["n"], file_name="single")
    twice = table([(ScoredRow("1", "s"), 1.0)] * 2, ["k"], file_name="twice")
    with pytest.raises(InputError) as refused:
        merge_tables([several, single, twice])
    assert refused.value.problems == (
        "several: item 1 has several rows for one text, which differ in prompt. Add prompt to the other tables, or "
        "leave out all but one row",
        "twice: item 1 has several rows for one text, which are identical. Leave out all but one",
    )


def test_nothing_to_put_side_by_side_is_said():
    with pytest.raises(InputError, match="No table of scores"):
        merge_tables([])
    with pytest.raises(InputError, match=r"empty\.csv contains no text"):
        merge_tables([A, table([], file_name="empty.csv")])
    with pytest.raises(InputError, match=r"c\.csv shares no text with the others. .*item 9"):
        merge_tables([A, B, table([(ScoredRow("9", "s", "A0"), 1.0)], file_name="c.csv")])
    assert merge_tables([A]) is A

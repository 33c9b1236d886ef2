"""The texts behind a row of scores, from runs, uploaded files and folders alike."""

from dataclasses import replace

import pytest
from helpers.texts.score_factories import table

from core.formats.registry import read_scored_texts, read_scores
from core.results.correlations.points import points
from core.results.correlations.texts import NO_TEXTS, NOT_AMONG, SEVERAL, texts_of
from core.schema.scores import OutputSet, ScorableOutput, ScoredRow


def text(item, system, level=None, **fields):
    said = f"{item} {system} {level}" if "text" not in fields else fields.pop("text")
    return ScorableOutput(item, system, said, f"reference {item}", f"source {item}", level, "en", **fields)


def outputs(*texts):
    return OutputSet(texts, "0" * 64, "texts.jsonl")


def scored(*rows):
    return table([(row, float(number)) for number, row in enumerate(rows)])


def test_a_row_has_its_texts_and_the_undamaged_one():
    rows = [ScoredRow("q", system, level, "en") for system in "ab" for level in ("A0", "A3")]
    found = texts_of(scored(*rows), outputs(*(text("q", s, level) for s in "ab" for level in "03")))
    one = found.at(3)
    assert (one.text, one.source, one.reference, one.language) == ("q b 3", "source q", "reference q", "en")
    assert (one.better, one.better_is, one.better_row) == ("q b 0", "undamaged", replace(rows[3], level="0"))
    assert (found.at(2).better, found.at(2).better_is) == (None, None)


def test_without_levels_the_best_text_of_the_item_stands_beside():
    rows = [ScoredRow("q", system) for system in "abc"]
    found = texts_of(scored(*rows), outputs(*(text("q", system) for system in "abc")))
    assert found.at(0).better is None
    one = found.at(0, best=2)
    assert (one.better, one.better_is, one.better_row) == ("q c None", "best", rows[2])


def test_best_of_leads_to_the_text_that_stands_beside():
    data = b"item,system,level,text,bleu\nq,a,2,Worse,0.5\nq,b,1,Better,0.7\nr,a,2,Alone,0.7\n"
    scores = read_scores(data, "x.csv")
    found = points(scores, None, metric="bleu")
    texts = texts_of(scores, read_scored_texts(data, "x.csv"))
    assert texts.at(0, found.best_of(0)).better == "Better"
    assert texts.at(1, found.best_of(1)).better is None


def test_a_text_without_a_level_is_not_taken_for_the_undamaged_one():
    found = texts_of(scored(ScoredRow("q", "a", "3")), outputs(text("q", "a")))
    assert (found.at(0).text, found.at(0).better) == ("q a None", None)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, NO_TEXTS),
        (outputs(text("other", "a")), NOT_AMONG),
        (
            outputs(text("q", "a", text="x", labels={"n": "1"}), text("q", "a", text="y", labels={"n": "2"})),
            SEVERAL,
        ),
    ],
)
def test_why_there_is_no_text(given, reason):
    one = texts_of(scored(ScoredRow("q", "a")), given).at(0)
    assert (one.text, one.better, one.reason) == (None, None, reason)
    assert texts_of(scored(ScoredRow("q", "a")), None, "because").at(0).reason == "because"


def test_one_text_under_several_labels_is_one():
    same = [text("q", "a", text="x", labels={"n": n}) for n in "12"]
    assert texts_of(scored(ScoredRow("q", "a")), outputs(*same)).at(0).text == "x"

"""Questions asked again of their own text: CEF's confusion matrix, section 4.6."""

import pytest
from cef_factories import examined, judged, output, question, record

from core.analyses.reasked import ANALYSIS, NOT_ASKED_FOR, Reasked, ReaskedOptions, ReaskedRow
from core.errors import InputError
from core.judges.cross_examination import CefRecord
from core.judges.questions import CrossQuestion, Verdict
from core.schema.scores import JudgeOutput


def confusion(judge: JudgeOutput) -> Reasked:
    found = ANALYSIS.answer(ReaskedOptions(), judge).result
    assert isinstance(found, Reasked)
    return found


def of_side(found: Reasked, side: str) -> list[ReaskedRow]:
    return [one for one in found.rows if one.side == side]


def asked(expected: Verdict, again: Verdict | None, n: int = 1) -> list[CrossQuestion]:
    """Questions of different words."""
    reason = None if again else "unparsed"
    return [
        question(f"{expected}, {again}, {k}?", expected=expected, again=again, again_reason=reason)
        for k in range(n)
    ]


def test_the_counts_that_001_prints() -> None:
    """YES only: 99.4 % of 6,141 keep their label, 27 NO, 7 IDK. Mixed: 22.3 % of 1,021 IDK stay, 357 YES, 436 NO."""
    yes = [*asked("YES", "YES", 6141 - 34), *asked("YES", "NO", 27), *asked("YES", "IDK", 7)]
    idk = [*asked("IDK", "IDK", 1021 - 357 - 436), *asked("IDK", "YES", 357), *asked("IDK", "NO", 436)]
    found = confusion(output(judged("1", record(examined(yes, idk)))))
    by_expected = {row.expected: row for row in of_side(found, "all")}
    share = by_expected["YES"].unchanged
    assert share.n == 6141
    assert round(100 * float(share.share or 0), 1) == 99.4
    # Wilson, by hand: (6107 + z²/2) / (6141 + z²) -+ z sqrt(6107 x 34 / 6141 + z²/4) / (6141 + z²)
    assert (share.low, share.high) == pytest.approx((0.992273, 0.996035), abs=1e-6)
    assert round(100 * float(by_expected["IDK"].unchanged.share or 0), 1) == 22.3
    assert by_expected["IDK"].counts == {"YES": 357, "NO": 436, "IDK": 228}
    none = by_expected["NO"].unchanged
    assert (none.n, none.share, none.reason) == (0, None, NOT_ASKED_FOR)


def test_sides_repeats_and_what_has_no_second_answer() -> None:
    first = examined([*asked("YES", "YES", 3), *asked("YES", None, 2)], asked("NO", "YES"))
    second = examined([question("never asked again")], None, 1)
    found = confusion(
        output(judged("1", record(first, second)), judged("2", record(first)), judged("3", None))
    )
    source, text, every = (of_side(found, side)[0] for side in ("source", "text", "all"))
    assert source.counts == every.counts == {"YES": 6, "NO": 0, "IDK": 0}
    assert source.without == {"unparsed": 4}
    assert (source.unchanged.count, source.unchanged.n) == (6, 6)
    assert text.unchanged.n == 0
    assert of_side(found, "text")[1].counts == {"YES": 2, "NO": 0, "IDK": 0}
    assert found.n_not_asked == 1


def test_a_question_counts_once_for_its_item_document_and_repeat() -> None:
    """Three texts of item 1, two of them alike, and one of item 2, all examined with the same three questions.

    From the source they were asked twice (repeats) in item 1 and once in item 2; from the texts once for each of the two
    wordings of item 1 in the first repeat, and once in item 2.
    """
    source, text = asked("YES", "YES", 3), asked("YES", "NO", 3)
    both = record(examined(source, text), examined(source, None, 1))
    given = output(
        judged("1", both, level="A0"),
        judged("1", both, level="A1", text="Ein anderer."),
        judged("1", both, level="A2"),
        judged("2", record(examined(source, text))),
    )
    found = confusion(given)
    rows = {side: of_side(found, side)[0].counts for side in found.by_side}
    assert rows["source"] == {"YES": 9, "NO": 0, "IDK": 0}
    assert rows["text"] == {"YES": 0, "NO": 9, "IDK": 0}
    assert rows["all"] == {"YES": 9, "NO": 9, "IDK": 0}
    assert of_side(found, "source")[0].unchanged.n == 9, "the interval is that of the questions asked"
    plain = confusion(
        output(
            *(judged("1", record(examined([question("q"), *source], None)), level=level) for level in "AB")
        )
    )
    assert plain.n_not_asked == 1


def test_texts_that_were_translated_back_are_told_apart_by_what_was_examined() -> None:
    texts = (
        judged("1", CefRecord((examined(None, asked("YES", "YES")),), back), level=back)
        for back in ("x", "y")
    )
    assert of_side(confusion(output(*texts)), "text")[0].counts["YES"] == 2


def test_who_asked_nothing_again_is_told_so() -> None:
    with pytest.raises(InputError, match="asked no question a second time"):
        confusion(output(judged("1", record(examined([question("q")], None)))))
    with pytest.raises(InputError, match="is a claims judge"):
        confusion(output(kind="claims"))

"""Precision, recall and F-beta over claims, by hand."""

import math
from fractions import Fraction

import pytest

from core.judges.claims import Claim, ClaimsRecord, ClaimsSettings, counts_of, scores_of


def claims(marks: str) -> tuple[Claim, ...]:
    """One claim a letter: + supported, - not, ? without a verdict."""
    verdicts = {"+": True, "-": False, "?": None}
    return tuple(Claim(f"Claim {n}.", verdicts[mark]) for n, mark in enumerate(marks))


def scored(
    response: str | None, reference: str | None, beta: float = 1.0, **reasons: str
) -> dict[str, float | str | None]:
    """Component -> value, or the reason why there is none."""
    settings = ClaimsSettings.model_construct(beta=beta)  # also one that no run may have
    sides = [None if marks is None else claims(marks) for marks in (response, reference)]
    failed = tuple((step.replace("_", " "), reason) for step, reason in reasons.items())
    scores = scores_of(ClaimsRecord(sides[0], sides[1], failed), settings)
    named = zip(settings.columns(), scores, strict=True)
    return {name: score.value if score.reason is None else score.reason for name, score in named}


def test_shares_and_counts_where_the_two_recalls_differ() -> None:
    """3 of 4 and 1 of 3. RAGAS: tp 3, fp 1, fn 2, so its recall is 3/5 where the share is 1/3."""
    found = scored("+++-", "+--")
    precision, recall, by_ragas = Fraction(3, 4), Fraction(1, 3), Fraction(3, 5)
    assert found == {
        "f1": pytest.approx(float(2 * precision * recall / (precision + recall)), abs=1e-15),  # 6/13
        "precision": 0.75,
        "recall": pytest.approx(1 / 3, abs=1e-15),
        "f1-ragas": pytest.approx(float(2 * precision * by_ragas / (precision + by_ragas)), abs=1e-15),  # 2/3
    }
    assert found["f1"] == pytest.approx(6 / 13, abs=1e-15)
    assert found["f1-ragas"] == pytest.approx(2 / 3, abs=1e-15)


def test_beta_weighs_recall() -> None:
    """F2 = 5 P R / (4 P + R), F0.5 = 1.25 P R / (0.25 P + R), at P = 3/4 and R = 1/3 (RAGAS: 3/5)."""
    two, half = scored("+++-", "+--", beta=2), scored("+++-", "+--", beta=0.5)
    assert two["f2"] == pytest.approx(5 * 0.25 / (3 + 1 / 3), abs=1e-15)
    assert two["f2-ragas"] == pytest.approx(5 * 0.45 / (3 + 0.6), abs=1e-15)
    assert half["f0.5"] == pytest.approx(1.25 * 0.25 / (0.1875 + 1 / 3), abs=1e-15)
    assert half["f0.5-ragas"] == pytest.approx(1.25 * 0.45 / (0.1875 + 0.6), abs=1e-15)
    assert scored("+++-", "+--", beta=1e200)["f1e+200"] == pytest.approx(1 / 3), "recall alone"


def test_everything_and_nothing() -> None:
    assert set(scored("++", "+").values()) == {1.0}
    assert set(scored("--", "-").values()) == {0.0}
    assert scored("--", "+") == {"f1": 0.0, "precision": 0.0, "recall": 1.0, "f1-ragas": 0.0}
    assert scored("+", "--") == {
        "f1": 0.0,
        "precision": 1.0,
        "recall": 0.0,
        "f1-ragas": pytest.approx(0.5),  # tp 1, fp 0, fn 2: recall 1/3
    }


def test_claims_without_a_verdict_are_in_no_share() -> None:
    assert scored("+?-?", "?+") == scored("+-", "+")
    counts = counts_of(claims("+?-?"))
    assert (counts.supported, counts.unsupported, counts.left_out, counts.judged) == (1, 1, 2, 2)
    assert counts.share == 0.5


def test_a_text_without_claims_leaves_its_share_undefined() -> None:
    of_response, of_reference = "the response makes no claims", "the reference makes no claims"
    assert scored("", "+-") == {
        "f1": of_response,
        "precision": of_response,
        "recall": 0.5,
        "f1-ragas": of_response,
    }
    assert scored("+-", "") == {
        "f1": of_reference,
        "precision": 0.5,
        "recall": of_reference,
        "f1-ragas": of_reference,
    }
    assert scored("", "")["f1"] == f"{of_response}; {of_reference}"


def test_what_failed_is_the_reason() -> None:
    found = scored(None, "?", claims_of_the_response="cut off", verify_the_reference="timeout")
    assert found["precision"] == "claims of the response: cut off"
    assert found["recall"] == "verify the reference: timeout"
    assert found["f1"] == found["f1-ragas"] == f"{found['precision']}; {found['recall']}"
    assert scored("??", "+")["precision"] == "the response has no claim with a verdict"


def test_f_lies_between_precision_and_recall_whatever_the_verdicts() -> None:
    """Theory: a weighted harmonic mean. All tables of up to 4 claims a side."""
    for up, down, left, lost in (
        (a, b, c, d) for a in range(5) for b in range(5) for c in range(5) for d in range(5)
    ):
        if up + down and left + lost:
            found = scored("+" * up + "-" * down, "+" * left + "-" * lost, beta=2)
            values = [value for value in found.values() if isinstance(value, float)]
            assert len(values) == 4
            assert all(0 <= value <= 1 and math.isfinite(value) for value in values)
            precision, recall = up / (up + down), left / (left + lost)
            assert min(precision, recall) - 1e-12 <= found["f2"] <= max(precision, recall) + 1e-12  # type: ignore[operator]

"""Claims with verdicts -> precision, recall and F-beta, as shares of claims and as RAGAS counts them; pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.judges.claim_steps import (
    CLAIMS_OF_REFERENCE,
    CLAIMS_OF_RESPONSE,
    VERIFY_REFERENCE,
    VERIFY_RESPONSE,
)
from core.judges.settings import ClaimsSettings
from core.schema.judges import Claim, ClaimsRecord
from core.schema.scores import Score

NO_CLAIMS = "makes no claims"
NO_VERDICTS = "has no claim with a verdict"


@dataclass(frozen=True)
class ClaimCounts:
    """The claims of one text, counted."""

    supported: int
    unsupported: int
    left_out: int
    """Without a verdict: in no share."""

    @property
    def judged(self) -> int:
        """Claims with a verdict: what shares are of."""
        return self.supported + self.unsupported

    @property
    def share(self) -> float | None:
        """Of the claims with a verdict those supported, 0 to 1; None where there are none."""
        return self.supported / self.judged if self.judged else None


def counts_of(claims: Sequence[Claim]) -> ClaimCounts:
    """How many of a text's claims have which verdict."""
    verdicts = [claim.supported for claim in claims]
    return ClaimCounts(verdicts.count(True), verdicts.count(False), verdicts.count(None))


def scores_of(record: ClaimsRecord, settings: ClaimsSettings) -> tuple[Score, ...]:
    """F-beta, precision, recall, and F-beta as RAGAS counts, each 0 to 1: the order of `specs.components`.

    precision: share of the response's claims that the reference supports. recall: share of the reference's claims that
    the response supports. F-beta = (1 + beta^2) P R / (beta^2 P + R), 0 where both are 0.

    RAGAS (factual correctness, which 003 uses in section 5) counts true positives on the response's claims and false
    negatives on the reference's: recall = tp / (tp + fn). The number misleads where the two texts are cut into claims
    of different size: a response of many small claims gets a higher recall for the same content. Not rounded here, as
    RAGAS does to two places.

    Claims without a verdict are in none of these. A text without claims, or with none that has a verdict, leaves
    its share undefined, and with it both F-beta.
    """
    response = _side(record, record.response, "response")
    reference = _side(record, record.reference, "reference")
    precision, recall = (_share(side) for side in (response, reference))
    if isinstance(response, str) or isinstance(reference, str):
        reasons = dict.fromkeys(side for side in (response, reference) if isinstance(side, str))
        undefined = Score(None, "; ".join(reasons))
        return undefined, precision, recall, undefined
    assert precision.value is not None
    assert recall.value is not None
    f_beta = _f_beta(precision.value, recall.value, settings.beta)
    found = response.supported + reference.unsupported
    ragas_recall = response.supported / found if found else 0.0
    return Score(f_beta), precision, recall, Score(_f_beta(precision.value, ragas_recall, settings.beta))


def _f_beta(precision: float, recall: float, beta: float) -> float:
    """The weighted harmonic mean; written so that no beta is too large to be squared."""
    if not precision or not recall:
        return 0.0
    weight = 1 / (1 + beta * beta)
    return 1 / (weight / precision + (1 - weight) / recall)


def _share(side: ClaimCounts | str) -> Score:
    return Score(None, side) if isinstance(side, str) else Score(side.share)


def _side(record: ClaimsRecord, claims: Sequence[Claim] | None, name: str) -> ClaimCounts | str:
    """The counts of one text, or why it has no share."""
    failed = dict(record.reasons)
    decompose, verify = (
        (CLAIMS_OF_RESPONSE, VERIFY_RESPONSE)
        if name == "response"
        else (CLAIMS_OF_REFERENCE, VERIFY_REFERENCE)
    )
    if claims is None:
        return f"{decompose}: {failed.get(decompose, 'no answer')}"
    if not claims:
        return f"the {name} {NO_CLAIMS}"
    counts = counts_of(claims)
    if counts.judged:
        return counts
    return f"{verify}: {failed[verify]}" if verify in failed else f"the {name} {NO_VERDICTS}"

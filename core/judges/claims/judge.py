"""The claims judge: both texts are decomposed into claims, and each claim is verified against the other text.

After RAGAS's factual correctness, and Factual's variant of it with an entailment model (sections 2 and 5).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.judges.claims.asked import NO_CLAIMS as NONE_LISTED
from core.judges.claims.asked import LlmDecomposer, LlmVerifier
from core.judges.claims.rules import RuleDecomposer, RuleVerifier
from core.judges.claims.steps import (
    CLAIMS_OF_REFERENCE,
    CLAIMS_OF_RESPONSE,
    VERIFY_REFERENCE,
    VERIFY_RESPONSE,
    Claim,
    ClaimsRecord,
    ClaimsSettings,
    ClaimVerifier,
    Decomposer,
)
from core.judges.kind import (
    COMPARING_COLUMNS,
    Bench,
    Judged,
    JudgeKind,
    Opened,
    check_compared,
    lacking,
    pair_of,
)
from core.llm.asking import Model
from core.schema.judging import RatedText
from core.schema.scores import Score
from core.stats.degeneracy import Degeneracy

if TYPE_CHECKING:
    from core.judges.claims.nli import BatchedEntailment

NO_CLAIMS = "makes no claims"
NO_VERDICTS = "has no claim with a verdict"


@dataclass(frozen=True)
class _Side:
    """One of the two texts, done."""

    claims: tuple[Claim, ...] | None
    failures: tuple[tuple[str, str], ...] = ()
    temporary: bool = False


class ClaimsJudge:
    """Implements Judge: precision, recall and F-beta over claims; see scores_of."""

    def __init__(self, decomposer: Decomposer, verifier: ClaimVerifier, settings: ClaimsSettings) -> None:
        self._decomposer, self._verifier, self._settings = decomposer, verifier, settings

    async def judge(self, text: RatedText) -> Judged:
        """See Judge. What was asked (the source) plays no part."""
        pair = pair_of(text)
        if (why := lacking(pair, "reference")) is not None:
            return Judged.without_asking(why, len(self._settings.columns()))
        reference = pair.reference or ""
        response, other = await asyncio.gather(
            self._side(pair.text, reference, CLAIMS_OF_RESPONSE, VERIFY_RESPONSE),
            self._side(reference, pair.text, CLAIMS_OF_REFERENCE, VERIFY_REFERENCE),
        )
        failures = (*response.failures, *other.failures)
        record = ClaimsRecord(response.claims, other.claims, failures)
        scores = scores_of(record, self._settings)
        return Judged(scores, record, failures, response.temporary or other.temporary)

    async def _side(self, text: str, premise: str, decompose: str, verify: str) -> _Side:
        """The claims of a text with their verdicts by the premise."""
        answer = await self._decomposer.claims(text, decompose)
        if answer.value is None:
            return _Side(None, ((decompose, answer.reason or "no answer"),), answer.temporary)
        verified = await self._verifier.verify(answer.value, premise, verify)
        failures = ((verify, verified.reason),) if verified.reason else ()
        return _Side(verified.claims, failures, verified.temporary)


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
    """F-beta, precision, recall, and F-beta as RAGAS counts, each 0 to 1: the order of `ClaimsSettings.columns`.

    precision: share of the response's claims that the reference supports. recall: share of the reference's claims that
    the response supports. F-beta = (1 + beta^2) P R / (beta^2 P + R), 0 where both are 0.

    RAGAS (factual correctness, which Factual uses in section 5) counts true positives on the response's claims and false
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


def _open(settings: ClaimsSettings, bench: Bench) -> Opened:
    """A model decomposes, and asks for the prompt `decompose`; where it verifies too, for `verify`."""

    def judge(model: Model | None) -> ClaimsJudge:
        needed = [] if model is None else ["decompose"]
        needed += ["verify"] if settings.verifier == "llm" else []
        problems = [f"there is no prompt for {purpose}" for purpose in needed if purpose not in bench.prompts]
        if settings.verifier == "llm" and model is None:
            problems.append("the verifier llm asks a model, and there is none; choose rules or nli")
        if settings.verifier == "nli" and bench.helper is None:
            problems.append("the verifier nli needs an entailment model")
        if problems:
            raise InputError("Claims cannot be judged", problems)
        decomposer: Decomposer = RuleDecomposer(settings.atomicity)
        if model is not None:
            decomposer = LlmDecomposer(model, bench.prompts["decompose"], settings)
        return ClaimsJudge(decomposer, _verifier(model, settings, bench), settings)

    return judge


def _verifier(model: Model | None, settings: ClaimsSettings, bench: Bench) -> ClaimVerifier:
    match settings.verifier:
        case "llm":
            assert model is not None
            return LlmVerifier(model, bench.prompts["verify"], settings)
        case "nli":
            # Imported late: what it needs of the neural metrics is of no use to other runs.
            from core.judges.claims.nli import NliVerifier

            return NliVerifier(bench.helper)
        case "rules":
            return RuleVerifier()


def _entailment(settings: ClaimsSettings) -> "BatchedEntailment | None":
    if settings.verifier != "nli":
        return None
    from core.judges.claims.nli import BatchedEntailment

    return BatchedEntailment(settings.nli_model, settings.device)


def _signed(settings: ClaimsSettings, bench: Bench) -> Mapping[str, object]:
    """What was loaded, not where it lies or on what it runs: neither changes a verdict."""
    loaded = bench.helper.signature if bench.helper is not None else ""
    return {"entailment": loaded or settings.nli_model.rstrip("/").split("/")[-1]}


def _details(record: ClaimsRecord) -> Iterator[dict[str, Any]]:
    for side, claims in (("response", record.response), ("reference", record.reference)):
        for claim in claims or ():
            yield {
                "what": "claim",
                "side": side,
                "text": claim.text,
                "verdict": None if claim.supported is None else "yes" if claim.supported else "no",
                "why": claim.why,
                "reason": claim.reason,
            }
    yield from ({"what": f"step: {step}", "reason": reason} for step, reason in record.reasons)


def _shortfalls(records: Sequence[ClaimsRecord], _: Mapping[str, object]) -> Iterator[Degeneracy]:
    """Texts that state something and of which no claim was listed."""
    without = sum(why == NONE_LISTED for record in records for _, why in record.reasons)
    if without:
        n_texts = 2 * len(records)
        sentence = f"Too few claims: of {without:,} of {n_texts:,} texts none was listed, although they state something."
        yield Degeneracy("too few", without, n_texts, sentence)


KIND = JudgeKind(
    name="claims",
    title="Claims",
    family="Claims",
    summary="claims of text and reference, each verified against the other; needs references",
    section="claims",
    Settings=ClaimsSettings,
    rules=(
        "A stand-in to try everything without a model: claims are sentences, and one is supported where its numbers, "
        "names and enough of its words occur in the other text. It reads no meaning. An entailment model can verify the "
        "claims instead."
    ),
    Record=ClaimsRecord,
    open=_open,
    check=check_compared,
    helper=_entailment,
    also_signed=_signed,
    details=_details,
    detail_columns=COMPARING_COLUMNS,
    words=lambda record: tuple(claim.text for claim in record.response or ()),
    words_called="claims",
    shortfalls=_shortfalls,
)

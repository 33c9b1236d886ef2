"""Claim factuality: both texts are decomposed into claims, and each claim is held against the other text.

After RAGAS's factual correctness and 003's variant of it with an entailment model (003, sections 2 and 5).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import InputError
from core.judges.claim_scores import scores_of
from core.judges.claim_steps import (
    CLAIMS_OF_REFERENCE,
    CLAIMS_OF_RESPONSE,
    VERIFY_REFERENCE,
    VERIFY_RESPONSE,
    ClaimVerifier,
    Decomposer,
    Entailment,
)
from core.judges.claims_asked import LlmDecomposer, LlmVerifier
from core.judges.claims_nli import NliVerifier
from core.judges.claims_rules import RuleDecomposer, RuleVerifier
from core.judges.judge import Judged, lacking
from core.judges.settings import ClaimsSettings
from core.judges.specs import components
from core.llm.asking import Model
from core.llm.prompts import Prompt
from core.schema.judges import Claim, ClaimsRecord
from core.schema.scores import Score
from core.scoring.metrics.scorer import ScoringPair


@dataclass(frozen=True)
class _Side:
    """One of the two texts, done."""

    claims: tuple[Claim, ...] | None
    failures: tuple[tuple[str, str], ...] = ()
    temporary: bool = False


class ClaimsJudge:
    """Implements Judge: precision, recall and F-beta over claims; see claim_scores.scores_of."""

    def __init__(self, decomposer: Decomposer, verifier: ClaimVerifier, settings: ClaimsSettings) -> None:
        self._decomposer, self._verifier, self._settings = decomposer, verifier, settings

    async def judge(self, pair: ScoringPair) -> Judged:
        """See Judge. What was asked (the source) plays no part."""
        if (why := lacking(pair, "reference")) is not None:
            return Judged((Score(None, why),) * len(components(self._settings)), None)
        text, reference = pair.text, pair.reference or ""
        response, other = await asyncio.gather(
            self._side(text, reference, CLAIMS_OF_RESPONSE, VERIFY_RESPONSE),
            self._side(reference, text, CLAIMS_OF_REFERENCE, VERIFY_REFERENCE),
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


def open_claims(
    model: Model | None,
    prompts: Mapping[str, Prompt],
    settings: ClaimsSettings,
    entailment: Entailment | None,
) -> ClaimsJudge:
    """The judge for these settings.

    model: who is asked; None: rules decompose. prompts: purpose -> prompt: `decompose` where a model decomposes, `verify`
    where it verifies. entailment: for the verifier `nli`, started.
    Raises InputError with everything that is missing or does not fit.
    """
    needed = [] if model is None else ["decompose"]
    needed += ["verify"] if settings.verifier == "llm" else []
    problems = [f"there is no prompt for {purpose}" for purpose in needed if purpose not in prompts]
    if settings.verifier == "llm" and model is None:
        problems.append("the verifier llm asks a model, and there is none; choose rules or nli")
    if settings.verifier == "nli" and entailment is None:
        problems.append("the verifier nli needs an entailment model")
    if problems:
        raise InputError("Claims cannot be judged", problems)
    decomposer: Decomposer = RuleDecomposer(settings.atomicity)
    if model is not None:
        decomposer = LlmDecomposer(model, prompts["decompose"], settings)
    return ClaimsJudge(decomposer, _verifier(model, prompts, settings, entailment), settings)


def _verifier(
    model: Model | None,
    prompts: Mapping[str, Prompt],
    settings: ClaimsSettings,
    entailment: Entailment | None,
) -> ClaimVerifier:
    match settings.verifier:
        case "llm":
            assert model is not None
            return LlmVerifier(model, prompts["verify"], settings)
        case "nli":
            assert entailment is not None
            return NliVerifier(entailment)
        case "rules":
            return RuleVerifier()

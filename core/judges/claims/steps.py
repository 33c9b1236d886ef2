"""Claims and the two steps that lead to them, whoever does them: a text is decomposed, its claims are verified."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.llm.asking import Answer

CLAIMS_OF_RESPONSE, CLAIMS_OF_REFERENCE = "claims of the response", "claims of the reference"
VERIFY_RESPONSE, VERIFY_REFERENCE = "verify the response", "verify the reference"


@dataclass(frozen=True)
class Claim:
    """One statement that can be true or false by itself."""

    text: str
    supported: bool | None = None
    """Whether the other text says it; None: nobody could tell, or nobody was asked."""
    why: str = ""
    """In the verifier's words: the model's sentence, or the label of the entailment model with its probability."""
    reason: str | None = None
    """Why there is no verdict."""


@dataclass(frozen=True)
class ClaimsRecord:
    """Claims of both texts, each verified against the other text."""

    response: tuple[Claim, ...] | None
    """None: the response could not be decomposed."""
    reference: tuple[Claim, ...] | None
    reasons: tuple[tuple[str, str], ...] = ()
    """(step, why) of steps that failed."""


@dataclass(frozen=True)
class Verified:
    """Claims with their verdicts, as far as there are any."""

    claims: tuple[Claim, ...]
    """As many as were given, in their order; without a verdict each has its reason."""
    reason: str | None = None
    """What failed, so that some or all have no verdict; None: nothing did."""
    temporary: bool = False
    """Whether that was the server's or the line's, so that another run may mend it."""


class Decomposer(Protocol):
    """Finds what a text claims."""

    async def claims(self, text: str, step: str) -> Answer[tuple[str, ...]]:
        """The claims of a text, each a statement that stands by itself; none where it claims nothing.

        step: under which calls are counted.
        """


class ClaimVerifier(Protocol):
    """Finds which claims a text supports."""

    async def verify(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """A verdict a claim: whether the premise says so. What it leaves open is not supported."""


@dataclass(frozen=True)
class Entailed:
    """What an entailment model says of a premise and a hypothesis."""

    label: str | None
    """The likeliest, as the model's configuration calls it; None: it could not take the pair."""
    probability: float = 0.0
    """Of that label, 0 to 1."""
    window: int | None = None
    """Tokens the model reads, where the pair has more and its end was cut off; None: all was read."""
    reason: str | None = None
    """Why there is no label."""


class Entailment(Protocol):
    """An entailment model, ready."""

    async def judged(self, pairs: Sequence[tuple[str, str]]) -> list[Entailed]:
        """One answer a (premise, hypothesis), in their order; may be awaited many times at once."""


def without_verdicts(claims: Sequence[str], reason: str, *, temporary: bool = False) -> Verified:
    """The claims as they are where the whole step failed."""
    return Verified(tuple(Claim(text, reason=reason) for text in claims), reason, temporary)

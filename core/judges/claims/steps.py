"""Claims and the two steps that lead to them, whoever does them; and the settings of both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from core.judges.kind import TEMPERATURE, JudgeSettings
from core.llm.asking import Answer
from core.llm.weights import absolute_place
from core.schema.kinds import PromptSlot
from core.schema.settings import Remark, seed_setting, setting

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


Detail = Literal["low", "high"]
Verifier = Literal["llm", "nli", "rules"]
STAND_IN = (
    "rules take sentences for claims, or compare their numbers, names and words: a stand-in to see how it works, no judge "
    "to rely on"
)
"""For claims that no model has found or verified."""


class ClaimsSettings(JudgeSettings):
    """How claims are found and verified, as in RAGAS and in Factual's truthscore."""

    MODEL_FREE = True

    atomicity: Detail = setting(
        "low",
        "Size of a claim",
        "low: a claim may hold several facts, as in RAGAS; high: one fact a claim, as in truthscore",
        words={"low": "may hold several facts (low)", "high": "one fact a claim (high)"},
    )
    coverage: Detail = setting(
        "low",
        "Which claims",
        "low: the main statements, as in RAGAS; high: every statement, as in truthscore",
        words={"low": "the main statements (low)", "high": "every statement (high)"},
    )
    verifier: Verifier = setting(
        "llm",
        "Claims are verified by",
        "who verifies the claims; unless chosen, the entailment model if one is named, otherwise whoever finds the claims",
        words={
            "llm": "the model",
            "nli": "an entailment model (NLI)",
            "rules": "rules: numbers, names and words",
        },
    )
    nli_model: str = setting(
        "",
        "Entailment model",
        "a folder on this machine or a name on the hub; empty: Factual's cross-encoder, fetched if it is missing",
        option="nli",
        metavar="PATH",
    )
    device: str = setting("auto", "Device", "device of the entailment model: auto, cpu or cuda", scored=False)
    beta: float = setting(
        1.0,
        "Weight of recall (beta)",
        "1: precision and recall weigh the same; above 1 recall weighs more, below 1 precision",
        within=(0.001, 1000.0),
        step=0.5,
    )
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting("seed of the model's answers")

    @property
    def task(self) -> str:
        """Task of the prompt that finds claims, such as `low-high`."""
        return f"{self.atomicity}-{self.coverage}"

    @classmethod
    def offered(cls, backend: str) -> Mapping[str, tuple[str, ...]]:
        """See KindSettings."""
        verifiers: Mapping[str, tuple[Verifier, ...]] = {
            "rules": ("rules", "nli"),
            "vllm": ("llm", "rules"),
        }
        return {"verifier": verifiers.get(backend, ("llm", "nli", "rules"))}

    @classmethod
    def usual(cls, given: Mapping[str, object], backend: str) -> Mapping[str, object]:
        """The verifier: the entailment model if one is named, otherwise whoever finds the claims."""
        return {"verifier": "nli" if given.get("nli_model") else cls.offered(backend)["verifier"][0]}

    def settled(self) -> Self:
        """See KindSettings."""
        return self.model_copy(update={"nli_model": absolute_place(self.nli_model)})

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One to find claims, and one to verify them where the model does that too."""
        if by_rules:
            return ()
        decompose = PromptSlot("decompose", f"decompose-{self.task}", self.task)
        return (decompose, PromptSlot("verify", "verify")) if self.verifier == "llm" else (decompose,)

    def problems(self, backend: str) -> Iterator[Remark]:
        """See KindSettings."""
        if self.verifier == "nli" and backend == "vllm":
            yield Remark(
                "backend",
                "vllm and an entailment model cannot share an environment; serve the model (`vllm serve`) and choose "
                "{backend=openai} with its {base_url}",
            )
        if self.verifier == "llm" and backend == "rules":
            yield Remark("verifier", "llm asks a model, and {backend=rules} has none; choose rules or nli")

    def idle(self, backend: str) -> frozenset[str]:
        """What only a model heeds, and what only an entailment model needs."""
        entailment = frozenset[str]() if self.verifier == "nli" else frozenset({"nli_model", "device"})
        return entailment | (_UNUSED_BY_RULES if backend == "rules" else frozenset())

    @property
    def needs(self) -> Literal["base", "neural"]:
        """See KindSettings."""
        return "neural" if self.verifier == "nli" else "base"

    def columns(self, dimensions: tuple[str, ...] = ()) -> tuple[str, ...]:
        """F-beta, precision, recall, and F-beta as RAGAS counts."""
        f_beta = f"f{self.beta:g}"
        return (f_beta, "precision", "recall", f"{f_beta}-ragas")

    def remarks(self, *, by_rules: bool) -> Iterator[Remark]:
        """See JudgeSettings."""
        if by_rules or self.verifier == "rules":
            yield Remark("", STAND_IN)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """With the verifier, unless it is whoever finds the claims."""
        usual = self.verifier == "llm" or (by_rules and self.verifier == "rules")
        return (name,) if usual else (name, self.verifier)

    def unsigned(self, backend: str) -> frozenset[str]:
        """The entailment model stands there as what was loaded: see the kind's also_signed."""
        return self.idle(backend) | {"nli_model"}


_UNUSED_BY_RULES = frozenset({"coverage", "temperature", "seed"})
"""Rules answer without chance, and take every sentence whatever was asked for."""

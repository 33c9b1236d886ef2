"""The claims judge: it splits both texts into claims and verifies each claim against the other text.

Follows RAGAS's factual correctness, and Factual's variant with an entailment model (Factual, sections 2 and 5).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from core.errors import InputError
from core.judges.kind import (
    COMPARING_COLUMNS,
    MOST_TOKENS,
    TEMPERATURE,
    Bench,
    Judged,
    JudgeKind,
    JudgeSettings,
    MostComplete,
    Opened,
    lacking,
    numbered,
    pair_of,
    place_of,
    single_line,
    tokens_in,
)
from core.judges.sentences import Content, Premise, statements_in, states_something
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import form, read_object, refuse_loop
from core.llm.prompts import Prompt, checked_prompt
from core.llm.weights import absolute_place
from core.schema.runs import PromptSlot
from core.schema.scores import RatedText, Score
from core.schema.settings import Remark, seed_setting, setting
from core.stats.degeneracy import Degeneracy

if TYPE_CHECKING:
    from core.judges.nli import BatchedEntailment, NliVerifier


CLAIMS_OF_RESPONSE, CLAIMS_OF_REFERENCE = "claims of the response", "claims of the reference"
VERIFY_RESPONSE, VERIFY_REFERENCE = "verify the response", "verify the reference"


@dataclass(frozen=True)
class Claim:
    """One statement that can be true or false on its own."""

    text: str
    supported: bool | None = None
    """Whether the other text supports it; None: undecidable, or not asked."""
    why: str = ""
    """The verifier's explanation: the model's sentence, or the entailment model's label with its probability."""
    reason: str | None = None
    """Reason for a missing verdict."""


@dataclass(frozen=True)
class Contradiction:
    """Two claims of one text that contradict each other."""

    first: str
    second: str
    why: str
    """The smaller of the probabilities in both directions."""


@dataclass(frozen=True)
class ClaimsRecord:
    """Claims of both texts, each verified against the other text."""

    response: tuple[Claim, ...] | None
    """None: the response could not be split into claims."""
    reference: tuple[Claim, ...] | None
    reasons: tuple[tuple[str, str], ...] = ()
    """(step, reason) of each step that failed."""
    contradictions: tuple[Contradiction, ...] | None = None
    """Claims of the response that contradict each other; None: not searched."""


@dataclass(frozen=True)
class Verified:
    """Claims with their verdicts, where there are any."""

    claims: tuple[Claim, ...]
    """One for each given claim, in order; a claim without a verdict has a reason."""
    reason: str | None = None
    """The failure that left claims without a verdict; None: no failure."""
    temporary: bool = False
    """Whether the server or the connection failed, so that another run may succeed."""


@dataclass(frozen=True)
class Entailed:
    """An entailment model's verdict on a premise and a hypothesis."""

    label: str | None
    """The likeliest label, as named in the model's configuration; None: the model could not read the pair."""
    probability: float = 0.0
    """Probability of that label, 0 to 1."""
    window: int | None = None
    """Tokens that the model read of a longer pair, whose end was cut off; None: it read everything."""
    reason: str | None = None
    """Reason for a missing label."""


Detail = Literal["low", "high"]
Verifier = Literal["llm", "nli", "rules"]
STAND_IN = (
    "rules use sentences as claims, or compare their numbers, names and words: a stand-in for trying things out, not a "
    "judge to rely on"
)
"""Remark on claims found or verified without a model."""


class ClaimsSettings(JudgeSettings):
    """How claims are found and verified, as in RAGAS and in Factual's truthscore."""

    MODEL_FREE = True

    atomicity: Detail = setting(
        "low",
        "Size of a claim",
        "low: a claim may contain several facts, as in RAGAS; high: one fact per claim, as in truthscore",
        words={"low": "may contain several facts (low)", "high": "one fact per claim (high)"},
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
        "what verifies the claims; default: the entailment model if one is named, otherwise whatever finds the claims",
        words={
            "llm": "the model",
            "nli": "an entailment model (NLI)",
            "rules": "rules: numbers, names and words",
        },
    )
    nli_model: str = setting(
        "",
        "Entailment model",
        "a folder on this machine or a name on the hub; empty: Factual's cross-encoder, downloaded if it is missing",
        option="nli",
        metavar="PATH",
    )
    contradictions: bool = setting(
        False,
        "Contradictions inside a text",
        "also compare the claims of each text with each other, by the entailment model: n claims take n (n - 1) comparisons",
        scored=False,
    )
    device: str = setting("auto", "Device", "device of the entailment model: auto, cpu or cuda", scored=False)
    beta: float = setting(
        1.0,
        "Weight of recall (beta)",
        "1: precision and recall weigh the same; above 1, recall weighs more; below 1, precision does",
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
    def usual(cls, values: Mapping[str, object], backend: str) -> Mapping[str, object]:
        """The verifier: the entailment model if one is named, otherwise whatever finds the claims."""
        return {"verifier": "nli" if values.get("nli_model") else cls.offered(backend)["verifier"][0]}

    def settled(self) -> Self:
        """See KindSettings."""
        return self.model_copy(update={"nli_model": absolute_place(self.nli_model)})

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One prompt to find claims, and one to verify them if the model does that too."""
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
            yield Remark("verifier", "llm needs a model, but {backend=rules} has none; choose rules or nli")

    def idle(self, backend: str) -> frozenset[str]:
        """Settings that only a model or only an entailment model uses."""
        entailment = (
            frozenset[str]()
            if self.verifier == "nli"
            else frozenset({"nli_model", "device", "contradictions"})
        )
        return entailment | (_UNUSED_BY_RULES if backend == "rules" else frozenset())

    @property
    def needs(self) -> Literal["base", "neural"]:
        """See KindSettings."""
        return "neural" if self.verifier == "nli" else "base"

    def columns(self, dimensions: tuple[str, ...] = ()) -> tuple[str, ...]:
        """F-beta, precision, recall, and F-beta as RAGAS computes it."""
        f_beta = f"f{self.beta:g}"
        return (f_beta, "precision", "recall", f"{f_beta}-ragas")

    def remarks(self, *, by_rules: bool) -> Iterator[Remark]:
        """See JudgeSettings."""
        if by_rules or self.verifier == "rules":
            yield Remark("", STAND_IN)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """Includes the verifier, unless it also finds the claims."""
        usual = self.verifier == "llm" or (by_rules and self.verifier == "rules")
        return (name,) if usual else (name, self.verifier)

    def unsigned(self, backend: str) -> frozenset[str]:
        """The signature names the loaded entailment model instead: see the kind's also_signed."""
        return self.idle(backend) | {"nli_model"}


_UNUSED_BY_RULES = frozenset({"coverage", "temperature", "seed"})
"""Settings without effect on rules, which draw nothing and use every sentence."""
LONGEST_CLAIM = 400
"""Characters. Keeps a model that cannot stop from spending all its tokens on one claim."""
LONGEST_WHY = 160
MOST_CLAIMS = 300
"""Claims per text. A text of 1,500 words has at most about 200; more mean that the model cannot stop."""
CLAIMS_A_CALL = 50
"""Claims verified in one call: their verdicts fit into MOST_TOKENS, and claims and text together into 8,192 tokens."""
MISSING, DOUBLED, MISNUMBERED = "claim without verdict", "two verdicts", "claims numbered otherwise"
TOO_MANY, NONE_LISTED = "too many claims", "no claims"
_ROOM = 600
"""Tokens of an answer beyond its claims."""
_REPEATS: Mapping[Detail, int] = {"low": 2, "high": 4}
"""Length of all claims relative to the text, by atomicity. Claims are longer in total because each names its subject again."""
_TOKENS_A_VERDICT = 110


class LlmDecomposer:
    """Finds the claims of a text with a model and a prompt that fits the settings' granularity."""

    def __init__(self, model: Model, prompt: Prompt, settings: ClaimsSettings) -> None:
        """Raises InputError if the prompt has another purpose or granularity."""
        self._model, self._settings = model, settings
        self._prompt = checked_prompt(prompt, "decompose", settings.task)

    async def claims(self, text: str, step: str) -> Answer[tuple[str, ...]]:
        """The claims of a text, each a self-contained statement; empty if the text claims nothing.

        step: name under which calls are counted. Duplicate claims count once; line breaks inside claims become
        spaces. Claims beyond MOST_TOKENS are cut off, so longer texts must be split.
        """
        messages = self._prompt.messages(text=defused(text, [self._prompt]))
        max_tokens = min(_ROOM + _REPEATS[self._settings.atomicity] * tokens_in(text), MOST_TOKENS)
        chosen = self._settings
        request = Request(step, messages, max_tokens, chosen.temperature, chosen.seed, claims_schema(text))
        return await self._model.ask(request, lambda reply: read_claims(reply, text))


class LlmVerifier:
    """Verifies claims against a text with a model, CLAIMS_A_CALL claims per call."""

    def __init__(self, model: Model, prompt: Prompt, settings: ClaimsSettings) -> None:
        """Raises InputError if the prompt has another purpose."""
        self._model, self._prompt, self._settings = model, checked_prompt(prompt, "verify"), settings

    async def verify(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """One verdict per claim: whether the premise supports it. Claims that the premise leaves open are not supported.

        An answer that lacks claims is requested again. After the last attempt the most complete answer counts; claims
        missing from it have no verdict.
        """
        starts = range(0, len(claims), CLAIMS_A_CALL)
        parts = await asyncio.gather(
            *(self._together(claims[at : at + CLAIMS_A_CALL], premise, step) for at in starts)
        )
        return Verified(
            tuple(claim for part in parts for claim in part.claims),
            next((part.reason for part in parts if part.reason), None),
            any(part.temporary for part in parts),
        )

    async def _together(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """One call for these claims."""
        own = [self._prompt]
        messages = self._prompt.messages(premise=defused(premise, own), claims=defused(numbered(claims), own))
        reader = VerdictReader(claims)
        room, schema = min(_ROOM + _TOKENS_A_VERDICT * len(claims), MOST_TOKENS), verdicts_schema(len(claims))
        request = Request(step, messages, room, self._settings.temperature, self._settings.seed, schema)
        answer = await self._model.ask(request, reader.read)
        if answer.value is not None:
            return Verified(answer.value)
        reason = answer.reason or MISSING
        if reader.best is None or answer.temporary:
            undecided = tuple(Claim(text, reason=reason) for text in claims)
            return Verified(undecided, reason, answer.temporary)
        return Verified(reader.best, reason)


def claims_schema(text: str) -> dict[str, object]:
    """JSON schema of a list of claims, possibly empty."""
    claim = {"type": "string", "minLength": 1, "maxLength": LONGEST_CLAIM}
    most = min(max(4, len(text) // 8), MOST_CLAIMS)
    return form(claims={"type": "array", "items": claim, "maxItems": most})


def read_claims(text: str, source: str) -> tuple[str, ...]:
    """The claims of an answer, without duplicates, each on one line.

    source: the text that was split. Raises Unusable if the answer is not a list of texts, has more than MOST_CLAIMS or a
    claim that loops, or is empty although a sentence of the text states something. Lengths are not checked: a server
    without guided decoding may write longer claims, and each counts if it has a letter or digit.
    """
    listed = read_object(text, claims={"type": "array", "items": {"type": "string"}})["claims"]
    claims = tuple(
        dict.fromkeys(claim for each in listed if any(map(str.isalnum, claim := single_line(each))))
    )
    if len(claims) > MOST_CLAIMS:
        raise Unusable(f"It lists {len(claims)} claims, more than {MOST_CLAIMS}.", TOO_MANY)
    if not claims and states_something(source):
        raise Unusable("It lists no claims, but the text has a sentence that states something.", NONE_LISTED)
    for claim in claims:
        refuse_loop(claim, "One of its claims")
    return claims


def verdicts_schema(n: int) -> dict[str, object]:
    """JSON schema of verdicts on n claims. `why` comes first, so that the verdict follows from it."""
    verdict = form(
        claim={"type": "integer", "enum": list(range(1, n + 1))},
        why={"type": "string", "maxLength": LONGEST_WHY},
        supported={"type": "boolean"},
    )
    return form(verdicts={"type": "array", "items": verdict, "minItems": n, "maxItems": n})


class VerdictReader:
    """Reads answers to one verification and remembers the most complete rejected one."""

    def __init__(self, claims: Sequence[str]) -> None:
        self._claims = tuple(claims)
        self._most = MostComplete[Claim](lambda claim: claim.supported is not None)

    @property
    def best(self) -> tuple[Claim, ...] | None:
        """The answer with the most verdicts; later answers win ties; None: no answer had any."""
        return self._most.reply

    def read(self, text: str) -> tuple[Claim, ...]:
        """The claims with their verdicts. Raises Unusable unless each has exactly one.

        A verdict is {"claim": 1, "supported": true}, with or without `why`; other entries are ignored. A number outside
        1 to n makes the whole answer unusable. Two equal verdicts on a claim are an error too, but the claim keeps its
        verdict after the last attempt.
        """
        given: dict[int, list[tuple[bool, str]]] = {}
        for entry in read_object(text, verdicts={"type": "array"})["verdicts"]:
            if (verdict := _verdict(entry)) is not None:
                place = place_of(entry["claim"], len(self._claims), "claims", MISNUMBERED)
                if place is not None:
                    given.setdefault(place, []).append(verdict)
        read = tuple(_decided(text, given.get(n, [])) for n, text in enumerate(self._claims))
        missing = [n for n in range(len(read)) if n not in given]
        doubled = [n for n, verdicts in sorted(given.items()) if len(verdicts) > 1]
        if not missing and not doubled:
            return read
        if any(claim.supported is not None for claim in read):
            self._most.offer(read)
        if missing:
            raise Unusable(f"Claim {missing[0] + 1} has no verdict of the form that was asked for.", MISSING)
        raise Unusable(f"Claim {doubled[0] + 1} has more than one verdict.", DOUBLED)


def _verdict(entry: object) -> tuple[bool, str] | None:
    """Verdict and explanation of one entry; None: not a verdict on any claim."""
    if not isinstance(entry, dict) or "claim" not in entry or not isinstance(entry.get("supported"), bool):
        return None
    why = entry.get("why", "")
    return entry["supported"], single_line(why) if isinstance(why, str) else ""


def _decided(text: str, verdicts: Sequence[tuple[bool, str]]) -> Claim:
    if not verdicts:
        return Claim(text, reason=MISSING)
    if len({supported for supported, _ in verdicts}) > 1:
        return Claim(text, reason=DOUBLED)
    supported, why = verdicts[0]
    return Claim(text, supported, why)


ENOUGH_WORDS = 0.6
"""Share of a claim's content words that must occur in the other text."""
NOTHING_TO_COMPARE = "nothing to compare"
_MOST_NAMED = 3
"""Missing numbers, names or words that a verdict lists."""


class RuleDecomposer:
    """Finds claims by rules: every sentence except questions is a claim.

    High atomicity also splits sentences at semicolons and dashes. Coverage has no effect, because rules cannot recognise
    the main statements.
    """

    def __init__(self, atomicity: Detail) -> None:
        self._atomicity = atomicity

    async def claims(self, text: str, step: str) -> Answer[tuple[str, ...]]:
        """See LlmDecomposer."""
        return Answer(statements_in(text, by_clauses=self._atomicity == "high"))


class RuleVerifier:
    """Verifies claims by rules: all numbers and names and enough words of a claim must occur in the premise.

    A name is a capitalised word that does not begin the claim, so every German noun is one. Words match if they
    differ only in their last two letters, as inflected forms often do. In scripts without spaces, pairs of
    neighbouring characters are compared instead of words; scripts without capitals have no names.
    """

    async def verify(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """See LlmVerifier. A claim without numbers, names or content words, such as "It is.", has no verdict; that is no failure."""
        said = Premise.of(premise)
        return Verified(tuple(_judged(text, said) for text in claims))


def _judged(text: str, premise: Premise) -> Claim:
    claim = Content.of(text)
    missing = [number for number in claim.numbers if number not in premise.numbers]
    missing += [name for name in claim.names if not premise.has(name)]
    if missing:
        return Claim(text, False, f"not in the other text: {_some(missing)}")
    strange = [word for word in claim.words if not premise.has(word)]
    if claim.words:
        share = 1 - len(strange) / len(claim.words)
        said = f"{share:.0%} of its words are in the other text"
        if share < ENOUGH_WORDS:
            return Claim(text, False, f"only {said}; not {_some(strange)}")
        return Claim(text, True, said)
    if claim.numbers or claim.names:
        return Claim(text, True, "its numbers and names are in the other text")
    return Claim(text, reason=NOTHING_TO_COMPARE)


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return ", ".join(words[:_MOST_NAMED]) + more


NO_CLAIMS = "makes no claims"
NO_VERDICTS = "has no claim with a verdict"


class ClaimsJudge:
    """Judge that computes precision, recall and F-beta over claims; see scores_of."""

    def __init__(
        self,
        decomposer: LlmDecomposer | RuleDecomposer,
        verifier: "LlmVerifier | RuleVerifier | NliVerifier",
        settings: ClaimsSettings,
        inside: Callable[[Sequence[Claim]], Awaitable[tuple[Contradiction, ...]]] | None = None,
    ) -> None:
        """inside: finds the claims of a text that contradict each other; None: they are not searched."""
        self._decomposer, self._verifier, self._settings = decomposer, verifier, settings
        self._inside = inside

    async def judge(self, text: RatedText) -> Judged:
        """See Judge. The source is not used."""
        pair = pair_of(text)
        if (why := lacking(pair, "reference")) is not None:
            return Judged.without_asking(why, len(self._settings.columns()))
        reference = pair.reference or ""
        response, other = await asyncio.gather(
            self._side(pair.text, reference, CLAIMS_OF_RESPONSE, VERIFY_RESPONSE),
            self._side(reference, pair.text, CLAIMS_OF_REFERENCE, VERIFY_REFERENCE),
        )
        failures = (*response[1], *other[1])
        inside = None if self._inside is None else await self._inside(response[0] or ())
        record = ClaimsRecord(response[0], other[0], failures, inside)
        return Judged(scores_of(record, self._settings), record, failures, response[2] or other[2])

    async def _side(
        self, text: str, premise: str, decompose: str, verify: str
    ) -> tuple[tuple[Claim, ...] | None, tuple[tuple[str, str], ...], bool]:
        """The claims of a text with their verdicts, the failures, and whether another run may succeed."""
        answer = await self._decomposer.claims(text, decompose)
        if answer.value is None:
            return None, ((decompose, answer.reason or "no answer"),), answer.temporary
        verified = await self._verifier.verify(answer.value, premise, verify)
        failures = ((verify, verified.reason),) if verified.reason else ()
        return verified.claims, failures, verified.temporary


@dataclass(frozen=True)
class ClaimCounts:
    """The claims of one text, counted."""

    supported: int
    unsupported: int
    left_out: int
    """Claims without a verdict, in no share."""

    @property
    def judged(self) -> int:
        """Number of claims with a verdict: the denominator of shares."""
        return self.supported + self.unsupported

    @property
    def share(self) -> float | None:
        """Share of supported claims among those with a verdict, 0 to 1; None: no verdicts."""
        return self.supported / self.judged if self.judged else None


def counts_of(claims: Sequence[Claim]) -> ClaimCounts:
    """Count a text's claims by verdict."""
    verdicts = [claim.supported for claim in claims]
    return ClaimCounts(verdicts.count(True), verdicts.count(False), verdicts.count(None))


def scores_of(record: ClaimsRecord, settings: ClaimsSettings) -> tuple[Score, ...]:
    """F-beta, precision, recall, and F-beta as RAGAS computes it, each 0 to 1; the order of `ClaimsSettings.columns`.

    precision: share of the response's claims that the reference supports. recall: share of the reference's claims that
    the response supports. F-beta = (1 + beta^2) P R / (beta^2 P + R), 0 if both are 0.

    RAGAS (factual correctness, used in Factual, section 5) counts true positives among the response's claims and
    false negatives among the reference's: recall = tp / (tp + fn). That number misleads if the two texts are split
    into claims of different size: a response of many small claims gets a higher recall for the same content. RAGAS
    rounds to two places; these values are not rounded.

    Claims without a verdict are left out. If a text has no claims, or none with a verdict, its share and both F-beta
    values are undefined.
    """
    response = _side(record, record.response, "response")
    reference = _side(record, record.reference, "reference")
    precision, recall = (
        Score(None, side) if isinstance(side, str) else Score(side.share) for side in (response, reference)
    )
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
    """The weighted harmonic mean, written so that a large beta squared cannot overflow."""
    if not precision or not recall:
        return 0.0
    weight = 1 / (1 + beta * beta)
    return 1 / (weight / precision + (1 - weight) / recall)


def _side(record: ClaimsRecord, claims: Sequence[Claim] | None, name: str) -> ClaimCounts | str:
    """The counts of one text, or the reason why it has no share."""
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


class ClaimsKind(JudgeKind):
    """Verifies the claims of each text against its reference and the other way round; needs references."""

    name = "claims"
    title = "Claims"
    family = "Claims"
    summary = (
        "verifies the claims of each text against its reference and the other way round; needs references"
    )
    section = "claims"
    Settings = ClaimsSettings
    rules = (
        "A stand-in for trying things out without a model. Every sentence is a claim, supported if its numbers, "
        "names and enough of its words occur in the other text. It does not understand meaning. An entailment model can "
        "verify the claims instead."
    )
    Record = ClaimsRecord
    detail_columns = COMPARING_COLUMNS
    words_called = "claims"

    def open(self, settings: ClaimsSettings, bench: Bench) -> Opened:
        """Open the judge. A model needs the prompt `decompose` to find claims, and `verify` to verify them."""

        def judge(model: Model | None) -> ClaimsJudge:
            needed = [] if model is None else ["decompose"]
            needed += ["verify"] if settings.verifier == "llm" else []
            problems = [
                f"there is no prompt for {purpose}" for purpose in needed if purpose not in bench.prompts
            ]
            if settings.verifier == "llm" and model is None:
                problems.append("the verifier llm needs a model, but there is none; choose rules or nli")
            if settings.verifier == "nli" and bench.helper is None:
                problems.append("the verifier nli needs an entailment model")
            if problems:
                raise InputError("Claims cannot be judged", problems)
            verifier: LlmVerifier | RuleVerifier | NliVerifier = RuleVerifier()
            inside = None
            if settings.verifier == "llm" and model is not None:
                verifier = LlmVerifier(model, bench.prompts["verify"], settings)
            elif settings.verifier == "nli":
                # Imported lazily: other runs do not need the neural metrics.
                from core.judges import nli

                verifier = nli.NliVerifier(bench.helper)
                inside = verifier.contradictions if settings.contradictions else None
            if model is None:
                return ClaimsJudge(RuleDecomposer(settings.atomicity), verifier, settings, inside)
            return ClaimsJudge(
                LlmDecomposer(model, bench.prompts["decompose"], settings), verifier, settings, inside
            )

        return judge

    def helper(self, settings: ClaimsSettings) -> "BatchedEntailment | None":
        """See JudgeKind."""
        if settings.verifier != "nli":
            return None
        from core.judges.nli import BatchedEntailment

        return BatchedEntailment(settings.nli_model, settings.device)

    def also_signed(self, settings: ClaimsSettings, bench: Bench) -> Mapping[str, object]:
        """The loaded model, without its folder and device: neither changes a verdict."""
        loaded = bench.helper.signature if bench.helper is not None else ""
        return {"entailment": loaded or settings.nli_model.rstrip("/").split("/")[-1]}

    def details(self, record: ClaimsRecord) -> Iterator[dict[str, Any]]:
        """See JudgeKind."""
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
        for pair in record.contradictions or ():
            text = f"{pair.first} | {pair.second}"
            yield {"what": "contradiction", "side": "response", "text": text, "why": pair.why}
        yield from ({"what": f"step: {step}", "reason": reason} for step, reason in record.reasons)

    def words(self, record: ClaimsRecord) -> tuple[str, ...]:
        """See JudgeKind."""
        return tuple(claim.text for claim in record.response or ())

    def shortfalls(self, records: Sequence[ClaimsRecord], _: Mapping[str, object]) -> Iterator[Degeneracy]:
        """Report texts that state something but for which no claims were listed."""
        without = sum(why == NONE_LISTED for record in records for _, why in record.reasons)
        if without:
            n_texts = 2 * len(records)
            sentence = f"Too few claims: none were listed for {without:,} of {n_texts:,} texts, although they state something."
            yield Degeneracy("too few", without, n_texts, sentence)


KIND = ClaimsKind()

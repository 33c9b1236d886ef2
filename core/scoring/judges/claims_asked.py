"""Claims by a model: it decomposes a text, and it verifies all claims of a text in one call."""

from collections.abc import Mapping, Sequence

from core.errors import InputError
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Message, Request
from core.llm.defusing import defused
from core.llm.parsing import read_json
from core.llm.prompts import Prompt
from core.schema.judges import Claim
from core.scoring.judges.claim_steps import Verified, without_verdicts
from core.scoring.judges.settings import ClaimsSettings, Detail

LONGEST_CLAIM = 400
"""Characters; a bound keeps a model that cannot stop from using up all its tokens on one claim."""
LONGEST_WHY = 160
MISSING, DOUBLED = "claim without verdict", "two verdicts"
_ROOM = 600
"""Tokens an answer may have besides those that its claims need."""
_BYTES_A_TOKEN = 3
"""Of UTF-8, on the safe side for every script."""
_REPEATS: Mapping[Detail, int] = {"low": 2, "high": 4}
"""How many times as long as the text its claims may be, by atomicity: each claim names its subject anew."""
_TOKENS_A_VERDICT = 110
_ANY_VERDICTS: Mapping[str, object] = {
    "type": "object",
    "properties": {"verdicts": {"type": "array"}},
    "required": ["verdicts"],
}


class LlmDecomposer:
    """Implements Decomposer with a model and a prompt for the settings' granularity."""

    def __init__(self, model: Model, prompt: Prompt, settings: ClaimsSettings) -> None:
        """Raises InputError where the prompt is for another purpose or granularity."""
        wanted = f"{settings.atomicity}-{settings.coverage}"
        if (prompt.purpose, prompt.task) != ("decompose", wanted):
            raise InputError(
                f"Prompt {prompt.name} is for {prompt.purpose} ({prompt.task}); one for decompose ({wanted}) is needed"
            )
        self._model, self._prompt, self._settings = model, prompt, settings

    async def claims(self, text: str, step: str) -> Answer[tuple[str, ...]]:
        """See Decomposer. A claim that stands twice counts once; line breaks inside claims become blanks."""
        size = len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN
        messages = self._prompt.messages(text=defused(text, [self._prompt]))
        max_tokens = _ROOM + _REPEATS[self._settings.atomicity] * size
        return await self._model.ask(
            _request(step, messages, max_tokens, claims_schema(text), self._settings), read_claims
        )


class LlmVerifier:
    """Implements ClaimVerifier with a model: all claims of a text in one call."""

    def __init__(self, model: Model, prompt: Prompt, settings: ClaimsSettings) -> None:
        """Raises InputError where the prompt is for another purpose."""
        if prompt.purpose != "verify":
            raise InputError(f"Prompt {prompt.name} is for {prompt.purpose}; one for verify is needed")
        self._model, self._prompt, self._settings = model, prompt, settings

    async def verify(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """See ClaimVerifier. An answer that lacks claims is asked again; after the last attempt the verdicts of the
        most complete one count, and the other claims have none.
        """
        if not claims:
            return Verified(())
        listed = "\n".join(f"{number}: {_in_a_line(text)}" for number, text in enumerate(claims, start=1))
        own = [self._prompt]
        messages = self._prompt.messages(premise=defused(premise, own), claims=defused(listed, own))
        reader = VerdictReader(claims)
        request = _request(
            step,
            messages,
            _ROOM + _TOKENS_A_VERDICT * len(claims),
            verdicts_schema(len(claims)),
            self._settings,
        )
        answer = await self._model.ask(request, reader.read)
        if answer.value is not None:
            return Verified(answer.value)
        reason = answer.reason or MISSING
        if reader.best is None or answer.temporary:
            return without_verdicts(claims, reason, temporary=answer.temporary)
        return Verified(reader.best, reason)


def _request(
    step: str,
    messages: tuple[Message, ...],
    max_tokens: int,
    schema: Mapping[str, object],
    settings: ClaimsSettings,
) -> Request:
    return Request(step, messages, max_tokens, settings.temperature, settings.seed, schema)


def _in_a_line(text: str) -> str:
    """A claim on one line: one that held a line break could pass for two."""
    return " ".join(text.split())


def claims_schema(text: str) -> dict[str, object]:
    """A list of claims, which may be empty."""
    claim = {"type": "string", "minLength": 1, "maxLength": LONGEST_CLAIM}
    most = max(4, len(text) // 8)
    return {
        "type": "object",
        "properties": {"claims": {"type": "array", "items": claim, "maxItems": most}},
        "required": ["claims"],
        "additionalProperties": False,
    }


def read_claims(text: str) -> tuple[str, ...]:
    """The claims of an answer, each once and on one line; raises Unusable where it is no list of texts.

    How long or many they are is not looked at again: a server without guided decoding may write more, and each stays
    a claim.
    """
    any_claims = {
        "type": "object",
        "properties": {"claims": {"type": "array", "items": {"type": "string"}}},
        "required": ["claims"],
    }
    value = read_json(text, any_claims)
    assert isinstance(value, dict)
    return tuple(dict.fromkeys(claim for each in value["claims"] if (claim := _in_a_line(each))))


def verdicts_schema(n: int) -> dict[str, object]:
    """A verdict for each of n claims. `why` comes first, so that the verdict follows from it."""
    verdict = {
        "type": "object",
        "properties": {
            "claim": {"type": "integer", "enum": list(range(1, n + 1))},
            "why": {"type": "string", "maxLength": LONGEST_WHY},
            "supported": {"type": "boolean"},
        },
        "required": ["claim", "why", "supported"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"verdicts": {"type": "array", "items": verdict, "minItems": n, "maxItems": n}},
        "required": ["verdicts"],
        "additionalProperties": False,
    }


class VerdictReader:
    """Reads answers to one verification and remembers the most complete of those that could not be used."""

    def __init__(self, claims: Sequence[str]) -> None:
        self._claims = tuple(claims)
        self.best: tuple[Claim, ...] | None = None
        """Of all answers that held any verdict the one that held most, of equal ones the later."""

    def read(self, text: str) -> tuple[Claim, ...]:
        """The claims with their verdicts; raises Unusable unless each has exactly one.

        A verdict is {"claim": 1, "supported": true}, with `why` or without; anything else in the list is none. Two
        verdicts on a claim that say the same are still one too many, but no reason to lose it after the last attempt.
        """
        value = read_json(text, _ANY_VERDICTS)
        assert isinstance(value, dict)
        given: dict[int, list[tuple[bool, str]]] = {}
        for entry in value["verdicts"]:
            if (verdict := _verdict(entry, len(self._claims))) is not None:
                number, supported, why = verdict
                given.setdefault(number, []).append((supported, why))
        read = tuple(_claim(text, given.get(n, [])) for n, text in enumerate(self._claims, start=1))
        missing = [n for n in range(1, len(read) + 1) if n not in given]
        doubled = [n for n, verdicts in sorted(given.items()) if len(verdicts) > 1]
        if not missing and not doubled:
            return read
        if any(claim.supported is not None for claim in read) and _found(read) >= _found(self.best or ()):
            self.best = read
        if missing:
            raise Unusable(f"Claim {missing[0]} has no verdict of the form that was asked for.", MISSING)
        raise Unusable(f"Claim {doubled[0]} has more than one verdict.", DOUBLED)


def _found(claims: Sequence[Claim]) -> int:
    return sum(claim.supported is not None for claim in claims)


def _verdict(entry: object, n: int) -> tuple[int, bool, str] | None:
    """Number, verdict and sentence of one entry; None where it is no verdict on one of n claims."""
    if not isinstance(entry, dict):
        return None
    number, supported, why = entry.get("claim"), entry.get("supported"), entry.get("why", "")
    if isinstance(number, bool) or not isinstance(number, int | float) or number not in range(1, n + 1):
        return None
    if not isinstance(supported, bool):
        return None
    return int(number), supported, _in_a_line(why) if isinstance(why, str) else ""


def _claim(text: str, verdicts: Sequence[tuple[bool, str]]) -> Claim:
    if not verdicts:
        return Claim(text, reason=MISSING)
    if len({supported for supported, _ in verdicts}) > 1:
        return Claim(text, reason=DOUBLED)
    supported, why = verdicts[0]
    return Claim(text, supported, why)

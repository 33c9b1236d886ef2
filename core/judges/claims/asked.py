"""Claims by a model: it decomposes a text, and it verifies the claims of a text, up to 50 in one call."""

import asyncio
from collections.abc import Mapping, Sequence

from core.judges.claims.rules import states_something
from core.judges.claims.steps import Claim, ClaimsSettings, Detail, Verified, without_verdicts
from core.judges.kind import MOST_TOKENS, tokens_in
from core.judges.numbered import MostComplete, in_a_line, numbered, place_of
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Message, Request
from core.llm.defusing import defused
from core.llm.parsing import form, read_object, refuse_loop
from core.llm.prompts import Prompt, for_use

LONGEST_CLAIM = 400
"""Characters; a bound keeps a model that cannot stop from using up all its tokens on one claim."""
LONGEST_WHY = 160
MOST_CLAIMS = 300
"""Of one text: one of 1,500 words has at most some 200, and more are a model that cannot stop."""
CLAIMS_A_CALL = 50
"""That are verified together: their verdicts fit into MOST_TOKENS, and they beside the other text into 8,192."""
MISSING, DOUBLED, MISNUMBERED = "claim without verdict", "two verdicts", "claims numbered otherwise"
TOO_MANY, NO_CLAIMS = "too many claims", "no claims"
_ROOM = 600
"""Tokens an answer may have besides those that its claims need."""
_REPEATS: Mapping[Detail, int] = {"low": 2, "high": 4}
"""How many times as long as the text its claims may be, by atomicity: each claim names its subject anew."""
_TOKENS_A_VERDICT = 110


class LlmDecomposer:
    """Implements Decomposer with a model and a prompt for the settings' granularity."""

    def __init__(self, model: Model, prompt: Prompt, settings: ClaimsSettings) -> None:
        """Raises InputError where the prompt is for another purpose or granularity."""
        self._model, self._settings = model, settings
        self._prompt = for_use(prompt, "decompose", settings.task)

    async def claims(self, text: str, step: str) -> Answer[tuple[str, ...]]:
        """See Decomposer. A claim that stands twice counts once; line breaks inside claims become blanks.

        A text whose claims take more than MOST_TOKENS is cut off: longer ones have to come in parts.
        """
        messages = self._prompt.messages(text=defused(text, [self._prompt]))
        max_tokens = min(_ROOM + _REPEATS[self._settings.atomicity] * tokens_in(text), MOST_TOKENS)
        return await self._model.ask(
            _request(step, messages, max_tokens, claims_schema(text), self._settings),
            lambda reply: read_claims(reply, text),
        )


class LlmVerifier:
    """Implements ClaimVerifier with a model: CLAIMS_A_CALL claims of a text in one call."""

    def __init__(self, model: Model, prompt: Prompt, settings: ClaimsSettings) -> None:
        """Raises InputError where the prompt is for another purpose."""
        self._model, self._prompt, self._settings = model, for_use(prompt, "verify"), settings

    async def verify(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """See ClaimVerifier. An answer that lacks claims is asked again; after the last attempt the verdicts of the
        most complete one count, and the other claims have none.
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
        request = _request(
            step,
            messages,
            min(_ROOM + _TOKENS_A_VERDICT * len(claims), MOST_TOKENS),
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


def claims_schema(text: str) -> dict[str, object]:
    """A list of claims, which may be empty."""
    claim = {"type": "string", "minLength": 1, "maxLength": LONGEST_CLAIM}
    most = min(max(4, len(text) // 8), MOST_CLAIMS)
    return form(claims={"type": "array", "items": claim, "maxItems": most})


def read_claims(text: str, own: str) -> tuple[str, ...]:
    """The claims of an answer, each once and on one line.

    own: the text that was decomposed. Raises Unusable where the answer is no list of texts, holds more than MOST_CLAIMS or
    one that loops, or holds none although a sentence of the text states something. How long they are is not looked at
    again: a server without guided decoding may write more, and each stays a claim if it holds a letter or digit.
    """
    listed = read_object(text, claims={"type": "array", "items": {"type": "string"}})["claims"]
    claims = tuple(dict.fromkeys(claim for each in listed if _says_something(claim := in_a_line(each))))
    if len(claims) > MOST_CLAIMS:
        raise Unusable(f"It lists {len(claims)} claims, more than {MOST_CLAIMS}.", TOO_MANY)
    if not claims and states_something(own):
        raise Unusable("It lists no claims, but the text has a sentence that states something.", NO_CLAIMS)
    for claim in claims:
        refuse_loop(claim, "One of its claims")
    return claims


def _says_something(claim: str) -> bool:
    return any(char.isalnum() for char in claim)


def verdicts_schema(n: int) -> dict[str, object]:
    """A verdict for each of n claims. `why` comes first, so that the verdict follows from it."""
    verdict = form(
        claim={"type": "integer", "enum": list(range(1, n + 1))},
        why={"type": "string", "maxLength": LONGEST_WHY},
        supported={"type": "boolean"},
    )
    return form(verdicts={"type": "array", "items": verdict, "minItems": n, "maxItems": n})


class VerdictReader:
    """Reads answers to one verification and remembers the most complete of those that could not be used."""

    def __init__(self, claims: Sequence[str]) -> None:
        self._claims = tuple(claims)
        self._most = MostComplete[Claim](_is_decided)

    @property
    def best(self) -> tuple[Claim, ...] | None:
        """Of all answers that held any verdict the one that held most, of equal ones the later."""
        return self._most.reply

    def read(self, text: str) -> tuple[Claim, ...]:
        """The claims with their verdicts; raises Unusable unless each has exactly one.

        A verdict is {"claim": 1, "supported": true}, with `why` or without; anything else in the list is none. A
        number outside of 1 to n makes the whole answer unusable. Two verdicts on a claim that say the same are still
        one too many, but no reason to lose it after the last attempt.
        """
        given: dict[int, list[tuple[bool, str]]] = {}
        for entry in read_object(text, verdicts={"type": "array"})["verdicts"]:
            if (verdict := _verdict(entry)) is not None:
                place = place_of(entry["claim"], len(self._claims), "claims", MISNUMBERED)
                if place is not None:
                    given.setdefault(place, []).append(verdict)
        read = tuple(_claim(text, given.get(n, [])) for n, text in enumerate(self._claims))
        missing = [n for n in range(len(read)) if n not in given]
        doubled = [n for n, verdicts in sorted(given.items()) if len(verdicts) > 1]
        if not missing and not doubled:
            return read
        if any(map(_is_decided, read)):
            self._most.offer(read)
        if missing:
            raise Unusable(f"Claim {missing[0] + 1} has no verdict of the form that was asked for.", MISSING)
        raise Unusable(f"Claim {doubled[0] + 1} has more than one verdict.", DOUBLED)


def _is_decided(claim: Claim) -> bool:
    return claim.supported is not None


def _verdict(entry: object) -> tuple[bool, str] | None:
    """Verdict and sentence of one entry; None where it is no verdict on any claim."""
    if not isinstance(entry, dict) or "claim" not in entry or not isinstance(entry.get("supported"), bool):
        return None
    why = entry.get("why", "")
    return entry["supported"], in_a_line(why) if isinstance(why, str) else ""


def _claim(text: str, verdicts: Sequence[tuple[bool, str]]) -> Claim:
    if not verdicts:
        return Claim(text, reason=MISSING)
    if len({supported for supported, _ in verdicts}) > 1:
        return Claim(text, reason=DOUBLED)
    supported, why = verdicts[0]
    return Claim(text, supported, why)

"""The model calls for one item: the prompt as sent, the reply, and how it was used."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from core.llm.client import TRANSPORT, Message
from core.runs.jobs import RunAtHand
from core.store import Store
from core.store.connection import Row
from core.store.kept import item_calls
from core.tables.reading import printable_text

THINKING = "Thinking"
"""Title of a long part that is rarely read."""
Verdict = Literal["usable", "not usable", "no answer", "complete"]
"""How a reply was used. `complete`: an older version made the call and did not record whether the reply was usable."""


@dataclass(frozen=True)
class ItemCall:
    """One call. Texts are as sent and received, except that control characters become U+FFFD."""

    step: str
    question: int | None
    """Number of the question within the step, from 1; attempts share it. None: the prompt was not stored."""
    of_these: tuple[int, int]
    """Number of the question among the step's questions about the same texts, from 1, and their total."""
    attempt: int | None
    """From 1. Repeating a reply that was cut off with a larger limit is the same attempt."""
    texts: tuple[int, ...] | None
    """The item's texts that the call is for, from 0; empty: the item is one text; None: not recorded by an older version."""
    messages: tuple[Message, ...] | None
    """The whole conversation that was sent; None: not stored."""
    begins: int
    """Number of first messages that are the same as in attempt 1."""
    settings: Mapping[str, object] | None
    """Other parts of the request; `max_tokens` is the limit of the answer, without thinking."""
    schema: Mapping[str, object] | None
    """JSON Schema of the answer."""
    not_sent: tuple[str, ...]
    """Settings that were not sent because the server refuses them."""
    reply: str | None
    """The model's text; partial if there is a reason. None: no text."""
    thinking: str | None
    verdict: Verdict
    reason: str | None
    """Why there is no complete reply, such as `cut off`."""
    detail: str
    """One sentence about the reason."""
    rejected: str | None
    """Why a complete reply was not used."""
    cached: bool
    """Whether it was answered from the cache, at no cost."""
    input_tokens: int | None
    output_tokens: int | None
    thinking_tokens: int | None
    """Tokens of thinking among the output tokens."""
    seconds: float

    @property
    def title(self) -> str:
        """Step, number of the question if there are several, and attempt."""
        if self.attempt is None:
            return self.step
        number, several = self.of_these
        of = f" {number} of {several}" if several > 1 else ""
        return f"{self.step}{of}, attempt {self.attempt}"

    @property
    def became(self) -> str:
        """The verdict with a short reason."""
        return _became(self.verdict, self.reason, self.rejected)

    @property
    def cost(self) -> str:
        """Tokens and time."""
        if self.cached:
            return "From the cache, at no cost."
        thought = "" if self.thinking_tokens is None else f" ({self.thinking_tokens:,} for thinking)"
        tokens = (
            "Tokens not counted by the server"
            if self.input_tokens is None or self.output_tokens is None
            else f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out{thought}"
        )
        return f"{tokens}; {self.seconds:.2f} s."

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """(title, text) of every part, in order. If the text is empty, the title says everything."""
        return tuple(self._parts())

    def _parts(self) -> Iterator[tuple[str, str]]:
        if self.messages is None:
            yield "Prompt not stored by the version of Assay that made this call", ""
        else:
            sent = (f"{name}: {_written(value)}" for name, value in (self.settings or {}).items())
            yield "Settings", ", ".join(sent)
            if self.schema is not None and not self.begins:
                yield "Schema", _written(self.schema)
            said = "Added to attempt 1, {}" if self.begins else "Prompt, {}"
            yield from ((said.format(one.role), one.content) for one in self.messages[self.begins :])
            if len(self.messages) == self.begins:
                yield "Prompt as in attempt 1", ""
        if self.not_sent:
            yield "Not sent, because the server refuses it", "\n".join(self.not_sent)
        if self.thinking:
            yield THINKING, self.thinking
        if self.reply is None:
            yield "No reply stored", ""
        else:
            yield "Reply" if self.reply else "Reply is empty", self.reply
        if why := self.rejected or self.detail or self.reason:
            yield "Why there is no answer" if self.verdict == "no answer" else "Why it was not used", why


def calls_of(
    store: Store, run_id: int, position: int, texts: Collection[int] | None = None
) -> tuple[ItemCall, ...]:
    """Every call for an item: steps in the order of their first call, with a question's attempts together.

    texts: only calls for these of the item's texts, numbered from 0. A call without recorded texts counts for each.
    """
    steps: dict[str, list[Row]] = {}
    for row in item_calls(store, run_id, position):
        if texts is None or not row["texts"] or not set(texts).isdisjoint(row["texts"]):
            steps.setdefault(row["step"], []).append(row)
    return tuple(call for of_step in steps.values() for call in _calls(_questions(of_step)))


def _calls(questions: Collection[list[Row]]) -> Iterator[ItemCall]:
    """The calls of one step."""
    about = [repr(rows[0]["texts"]) for rows in questions]
    for at, rows in enumerate(questions):
        of_these = about[: at + 1].count(about[at]), about.count(about[at])
        yield from _attempts(rows, at + 1, of_these)


def became(call: Row) -> str:
    """How a call from `item_costs` was used, in a few words."""
    return _became(_verdict(call), call["reason"], call["rejected"])


def texts_of(run: RunAtHand, position: int) -> tuple[Mapping[str, str | None], ...]:
    """System and level of each of the item's texts, in order."""
    things = list(run.items.values())[position]
    return tuple(dict(zip(("system", "level"), run.path.named(thing), strict=True)) for thing in things)


def item_report(run: RunAtHand, position: int, calls: Iterable[ItemCall]) -> dict[str, object]:
    """The calls as JSON values, each with its texts."""
    names = texts_of(run, position)
    return {
        "run": run.run.run_id,
        "item": list(run.items)[position],
        "model": run.request.model.named,
        "calls": [_call_json(call, names) for call in calls],
    }


def _call_json(call: ItemCall, names: Sequence[Mapping[str, str | None]]) -> dict[str, object]:
    fields = {name: value for name, value in asdict(call).items() if name not in ("begins", "of_these")}
    return fields | {"texts": None if call.texts is None else [names[number] for number in call.texts]}


def _verdict(row: Row) -> Verdict:
    if row["reason"] in TRANSPORT:
        return "no answer"
    if row["reason"] or row["rejected"]:
        return "not usable"
    return "complete" if row["texts"] is None else "usable"


def _became(verdict: Verdict, reason: str | None, rejected: str | None) -> str:
    why = rejected or reason
    return f"{verdict}: {printable_text(why)}" if why else verdict


def _questions(rows: Iterable[Row]) -> Collection[list[Row]]:
    """The calls of one step, grouped by question. A call without a stored prompt forms its own group.

    A later attempt sends the messages of the first one, the last reply, and its problem.
    """
    found: dict[object, list[Row]] = {}
    for at, row in enumerate(rows):
        asked = row["asked"]
        if asked is None:
            found[at] = [row]
            continue
        beside = (asked.get("seed"), repr(asked.get("schema")))
        again = (*beside, _messages(asked)[:-2])
        found.setdefault(again if again in found else (*beside, _messages(asked)), []).append(row)
    return found.values()


def _attempts(rows: list[Row], question: int, of_these: tuple[int, int]) -> Iterable[ItemCall]:
    """The calls of one question, in the order of attempts."""
    if rows[0]["asked"] is None:
        return [_call(rows[0], None, of_these, None, 0)]
    sent = [_messages(row["asked"]) for row in rows]
    different = list(dict.fromkeys(sent))
    calls = [
        _call(row, question, of_these, different.index(messages) + 1, len(sent[0]) if at else 0)
        for at, (row, messages) in enumerate(zip(rows, sent, strict=True))
    ]
    return sorted(calls, key=lambda call: call.attempt or 0)


def _messages(asked: Mapping[str, Any]) -> tuple[Message, ...]:
    return tuple(Message(role, printable_text(content)) for role, content in asked["messages"])


def _call(
    row: Row, question: int | None, of_these: tuple[int, int], attempt: int | None, begins: int
) -> ItemCall:
    asked = row["asked"]
    return ItemCall(
        step=row["step"],
        question=question,
        of_these=of_these,
        attempt=attempt,
        texts=None if row["texts"] is None else tuple(row["texts"]),
        messages=None if asked is None else _messages(asked),
        begins=begins,
        settings=None
        if asked is None
        else {name: value for name, value in asked.items() if name not in ("messages", "schema")},
        schema=None if asked is None else asked.get("schema"),
        not_sent=tuple((row["not_sent"] or "").split(", ")) if row["not_sent"] else (),
        reply=_printable(row["reply"]),
        thinking=_printable(row["thinking"]),
        verdict=_verdict(row),
        reason=row["reason"],
        detail=printable_text(row["detail"]),
        rejected=_printable(row["rejected"]),
        cached=bool(row["cached"]),
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        thinking_tokens=row["thinking_tokens"],
        seconds=row["seconds"],
    )


def _written(value: object) -> str:
    return printable_text(json.dumps(value, ensure_ascii=False))


def _printable(text: str | None) -> str | None:
    return None if text is None else printable_text(text)

"""The pairwise judge: a model reads two answers to one question, in both orders, and says which is better, as raters do.

It scores texts, like every judge: a text's score is the share of comparisons that it wins, ties counting half. Of two answers, the
one with the higher score is preferred, so that votes, levels and twins are compared with it as with any other judge.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from pydantic import ValidationError

from core.errors import InputError
from core.judges.kind import (
    COMPARING_COLUMNS,
    EMPTY_TEXT,
    NOTHING,
    SHORT_SHA,
    TEMPERATURE,
    Bench,
    Judged,
    JudgeKind,
    JudgeSettings,
    Opened,
    Trial,
    asking,
    repeats_setting,
    trial_problems,
)
from core.judges.rubric import LONGEST_FEEDBACK, NO_VERDICT, NOT_ON_OFFER, VERDICT_TOKENS
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import clipped, form, read_object, refuse_loop
from core.llm.prompts import Prompt
from core.schema.runs import Attachment, PromptSlot
from core.schema.scores import (
    EDIT,
    PAIR,
    Metric,
    RatedSet,
    RatedText,
    ScorableOutput,
    Score,
    ScoredRow,
    mask_notes,
    twin_series,
)
from core.schema.settings import Remark, refuse, seed_setting, setting
from core.study.design import draw
from core.study.guidelines import guideline_text, shipped_languages
from core.tables.reading import shown
from core.yaml_fields import Name, Strict, Text, Title, dumped, is_file_name, place_of, read_yaml, text_of
from core.yaml_fields import refuse as refuse_file
from core.yaml_fields import value_problem as problem_of

Asked = Literal["preference", "levels"]
"""What the guidelines ask: which answer is better, or which fits the stated level better."""


class GuidelinesFile(Strict):
    """Contents of a file of guidelines."""

    name: Name
    title: Title
    asks: Asked = "preference"
    text: Text


@dataclass(frozen=True)
class Guidelines:
    """What raters read before they compare two answers, given to the judge as its rubric."""

    name: str
    title: str
    asks: Asked
    text: str
    """Markdown."""

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that reaches the model."""
        return hashlib.sha256(json.dumps([self.asks, self.text], ensure_ascii=False).encode()).hexdigest()

    def dump(self) -> str:
        """The guidelines as a file; parse_guidelines reads it back as equal guidelines."""
        return dumped({"name": self.name, "title": self.title, "asks": self.asks, "text": self.text})


def parse_guidelines(text: str, file_name: str) -> Guidelines:
    """The guidelines in a file's text. Markdown alone asks which answer is better.

    Raises InputError with every problem and its place.
    """
    if file_name.endswith(".md"):
        return Guidelines(Path(file_name).stem, file_name, "preference", text.strip())
    read = read_yaml(text)
    problems = list(read.problems)
    fields: GuidelinesFile | None = None
    if read.values is not None:
        try:
            fields = GuidelinesFile.model_validate(dict(read.values))
        except ValidationError as wrong:
            problems += [
                f"{place_of(read.lines, tuple(map(str, error['loc'])))}: {problem_of(error)}"
                for error in wrong.errors()
            ]
    if problems or fields is None:
        refuse_file(f"Guidelines {file_name}", problems)
    return Guidelines(fields.name, fields.title, fields.asks, fields.text)


@cache
def shipped_guidelines() -> tuple[Guidelines, ...]:
    """The guidelines that Assay's raters read, in every language: `preference`, `levels`, `preference-de` ..."""
    return tuple(
        Guidelines(
            name=asks if language == "en" else f"{asks}-{language}",
            title=f"{_ASKED[asks]}{'' if language == 'en' else f' ({language})'}",
            asks=asks,
            text=guideline_text({}, language, asks).strip(),
        )
        for asks in _ASKED
        for language in sorted(shipped_languages(asks), key=lambda one: (one != "en", one))
    )


_ASKED: Mapping[Asked, str] = {
    "preference": "Which answer is better?",
    "levels": "Which answer fits its level better?",
}


def find_guidelines(name_or_path: str) -> Guidelines:
    """Shipped guidelines by name, else those in a file (YAML, or Markdown alone). Raises InputError if there are neither."""
    if is_file_name(name_or_path) or name_or_path.endswith(".md"):
        return parse_guidelines(text_of(Path(name_or_path), "Guidelines"), Path(name_or_path).name)
    found = next((one for one in shipped_guidelines() if one.name == name_or_path), None)
    if found is None:
        names = ", ".join(one.name for one in shipped_guidelines())
        raise InputError(
            f"There are no guidelines {name_or_path}. Choose one of {names}, or give the path of a .yaml or .md file."
        )
    return found


Order = Literal["own-first", "other-first"]
ORDERS: tuple[Order, ...] = ("own-first", "other-first")
PairVerdict = Literal["own", "other", "both_good", "both_bad", "tie"]
VALUES: Mapping[PairVerdict, float] = {
    "own": 1.0,
    "other": 0.0,
    "both_good": 0.5,
    "both_bad": 0.5,
    "tie": 0.5,
}
"""What a verdict adds to a text's score."""
PURPOSE = STEP = "pairwise"
ALONE, NO_OPPONENT = "no other text of the same group to compare it with", "no comparison has a verdict"
_SIDES = ("first", "second")
MIRRORED: Mapping[str, PairVerdict] = {"own": "other", "other": "own"}
"""A verdict for a text as the other text's record has it; ties stay as they are."""
_TIES: Mapping[str, Mapping[str, PairVerdict]] = {
    "good-or-bad": {"both good": "both_good", "both bad": "both_bad"},
    "one": {"tie": "tie"},
    "none": {},
}
_MEANINGS = {
    "first": "the first answer is better by the guidelines",
    "second": "the second answer is better by the guidelines",
    "both good": "both fit, and neither is better",
    "both bad": "neither fits",
    "tie": "neither is better",
}
LONGEST_SHOWN = 20
"""Characters of a wrong verdict that a message repeats."""


class PairwiseSettings(JudgeSettings):
    """How the judge compares two answers."""

    DRAWN = True

    between: Literal["systems", "levels"] = setting(
        "systems",
        "Compare",
        "texts of an item that are compared: those of different systems at one level, or those of different levels by one "
        "system; in a file with a column `pair`, the texts of one pair",
        words={"systems": "systems, at each level", "levels": "levels, of each system"},
    )
    order: Literal["both", "drawn"] = setting(
        "both",
        "Orders",
        "both: each pair is read in both orders, and a judge that contradicts itself gives a tie; drawn: in one order, drawn "
        "for each pair, at half the cost",
        words={"both": "both: one request in each order", "drawn": "one, drawn for each pair"},
    )
    ties: Literal["good-or-bad", "one", "none"] = setting(
        "good-or-bad",
        "Ties",
        "answers beside first and second: both good and both bad, as raters have them; one kind of tie; or none",
        words={"good-or-bad": "both good, both bad", "one": "tie", "none": "none: it must choose"},
    )
    repeats: int = repeats_setting("number of requests in each order; the score is the mean")
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting()

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One."""
        return (PromptSlot(PURPOSE, "pairwise"),)

    @property
    def answers(self) -> tuple[str, ...]:
        """The verdicts on offer, as the model writes them."""
        return (*_SIDES, *_TIES[self.ties])


@dataclass(frozen=True, kw_only=True)
class PairTrial(Trial):
    """One comparison of a text with another, from this text's side."""

    order: Order = field()  # no default: it always reads two texts
    """Which of the two the judge read first."""
    verdict: PairVerdict | None
    against: str
    """The other text: its system, with its level and labels where the system alone does not tell."""


@dataclass(frozen=True)
class PairwiseRecord:
    """Everything that the pairwise judge returned for one text. The other text's record mirrors it."""

    trials: tuple[PairTrial, ...]


@dataclass(frozen=True)
class _Given:
    """One answer of the judge."""

    verdict: str
    """As the model wrote it, in lower case."""
    feedback: str


def group_of(output: ScorableOutput | ScoredRow, between: str = "systems") -> Hashable:
    """Key of the texts that are compared with each other: those of one pair, of one level, or of one system.

    Labels tell systems apart, so that texts of one level are compared whatever their labels. In a file of edited twins each system
    has its own pair of each probe.
    """
    if PAIR in output.labels and EDIT in output.labels:
        return *twin_series(output), output.labels[PAIR]
    if PAIR in output.labels:
        return output.item_id, PAIR, output.labels[PAIR]
    if between == "systems":
        return output.item_id, "level", output.level
    return output.item_id, "system", output.system, tuple(sorted(output.labels.items()))


def _key(output: ScorableOutput) -> Hashable:
    return output.item_id, output.system, output.level, tuple(sorted(output.labels.items()))


@dataclass(frozen=True)
class _Opponent:
    output: ScorableOutput
    called: str
    own_first: bool
    """Whether the text itself comes first in the drawn order."""


def opponents(
    texts: Sequence[RatedText], settings: PairwiseSettings
) -> dict[Hashable, tuple[_Opponent, ...]]:
    """Text -> the texts that it is compared with; texts without words are compared with nothing."""
    return {
        _key(own): tuple(
            _Opponent(other, name, _own_first(own, other, settings.seed))
            for other, name in group
            if other is not own
        )
        for group in compared_groups((text.output for text in texts), settings.between)
        for own, _ in group
    }


def compared_groups(
    outputs: Iterable[ScorableOutput], between: str
) -> tuple[tuple[tuple[ScorableOutput, str], ...], ...]:
    """The texts that are compared with each other, each with its name in the records of the others; a text may be alone."""
    groups: dict[Hashable, list[ScorableOutput]] = {}
    for output in outputs:
        if output.text.strip():
            groups.setdefault(group_of(output, between), []).append(output)
    return tuple(tuple(zip(group, _names(group), strict=True)) for group in groups.values())


def tells_levels(texts: Iterable[ScorableOutput | ScoredRow], between: str) -> bool:
    """Whether texts of different levels are compared with each other, so that their scores can tell levels apart."""
    groups: dict[Hashable, set[str | None]] = {}
    for one in texts:
        groups.setdefault(group_of(one, between), set()).add(one.level)
    return any(len(levels) > 1 for levels in groups.values())


def level_notes(metrics: Iterable[Metric], rows: Sequence[ScoredRow]) -> tuple[str, ...]:
    """A note on judges that compared only texts of one level: their scores cannot follow the level."""
    blind = [
        shown(one.name)
        for one in metrics
        if one.family == KIND.family
        and "|between:systems|" in one.signature
        and not tells_levels(rows, "systems")
    ]
    if not blind:
        return ()
    return (
        f"{', '.join(blind)}: compared only texts of one level, so these scores are one half on average at each level and cannot "
        "follow it",
    )


def _names(group: Sequence[ScorableOutput]) -> list[str]:
    """A name for each text of a group, as short as tells them apart."""
    ways = [
        [one.system for one in group],
        [one.level or "" for one in group],
        [f"{one.system}, {one.level or 'no level'}" for one in group],
    ]
    whole = [
        f"{name}, {', '.join(f'{key} {value}' for key, value in sorted(one.labels.items()))}"
        for name, one in zip(ways[-1], group, strict=True)
    ]
    return next((names for names in ways if len(set(names)) == len(group) and all(names)), whole)


def _own_first(own: ScorableOutput, other: ScorableOutput, seed: int) -> bool:
    """The drawn order of a pair: the same from both sides, and independent of the order of the file."""
    first, second = sorted((own, other), key=lambda one: str(_key(one)))
    ahead = draw(seed, str(_key(first)), own.item_id, str(_key(second)), PURPOSE) % 2 == 0
    return (own is first) is ahead


class PairwiseJudge:
    """Asks a model which of two answers is better, for each other text of the group, in one or both orders."""

    def __init__(
        self,
        model: Model,
        prompt: Prompt,
        guidelines: Guidelines,
        settings: PairwiseSettings,
        against: Mapping[Hashable, tuple[_Opponent, ...]],
    ) -> None:
        """against: see `opponents`, over all texts of the run."""
        self._model, self._prompt, self._guidelines = model, prompt, guidelines
        self._settings, self._against = settings, against
        answers = settings.answers
        self._choices = "\n".join(f"{answer}: {_MEANINGS[answer]}" for answer in answers)
        self._schema = form(
            feedback={"type": "string", "maxLength": LONGEST_FEEDBACK},
            verdict={"type": "string", "enum": list(answers)},
        )

    async def judge(self, text: RatedText) -> Judged:
        """Score a text: the share of comparisons that it wins, 0 to 1; ties count half, opponents count equally.

        A comparison counts only if every requested order has a verdict, so that a failure in one order never lets the place
        decide. Equal requests of the two sides are sent once. Misleading where the judge favours a place: both orders turn such
        verdicts into ties, one drawn order does not.
        """
        own = text.output
        if not own.text.strip():
            return Judged.without_asking(EMPTY_TEXT)
        others = self._against.get(_key(own), ())
        if not others:
            return Judged.without_asking(ALONE)
        asked = [
            (other, order, repeat)
            for other in others
            for repeat in range(self._settings.repeats)
            for order in (
                ORDERS if self._settings.order == "both" else (ORDERS[0 if other.own_first else 1],)
            )
        ]
        answers = await asyncio.gather(*(self._ask(own, *one) for one in asked))
        trials = tuple(
            _trial(other, order, repeat, answer)
            for (other, order, repeat), answer in zip(asked, answers, strict=True)
        )
        temporary = any(one.temporary for one in answers)
        record = PairwiseRecord(trials)
        values = [one for one in values_against(record).values() if one is not None]
        if values or any(trial.reason for trial in trials):
            mean = Score(fmean(values)) if values else None
            return Judged.in_trials(STEP, mean, record, temporary=temporary)
        return Judged((Score(None, NO_OPPONENT),), record)

    async def _ask(self, own: ScorableOutput, other: _Opponent, order: Order, repeat: int) -> Answer[_Given]:
        pair = (own, other.output) if order == ORDERS[0] else (other.output, own)
        level = own.level if own.level == other.output.level and self._guidelines.asks == "levels" else None
        request = Request(
            STEP,
            self._prompt.messages(
                guidelines=self._guidelines.text,
                question=self._harmless(own.full_source or other.output.full_source or "").strip() or NOTHING,
                reference=self._harmless(own.reference or other.output.reference or "").strip() or NOTHING,
                level=level or NOTHING,
                choices=self._choices,
                texts="\n".join(
                    f"<{tag}>\n{self._harmless(one.text)}\n</{tag}>"
                    for tag, one in zip(_SIDES, pair, strict=True)
                ),
            ),
            max_tokens=VERDICT_TOKENS,
            temperature=self._settings.temperature,
            seed=self._settings.seed + repeat,
            schema=self._schema,
        )
        return await self._model.ask(request, self._read)

    def _read(self, reply: str) -> _Given:
        return read_choice(reply, self._settings.answers)

    def _harmless(self, text: str) -> str:
        return defused(text, [self._prompt], tags=_SIDES)


def read_choice(reply: str, answers: Sequence[str]) -> _Given:
    """The verdict in a JSON answer. Raises Unusable if there is none on offer.

    If several objects have a verdict, the last one counts, because earlier ones may repeat a judged text. Case, underscores and
    hyphens do not matter; nothing else is guessed.
    """
    found = read_object(reply, verdict={})
    verdict, feedback = found["verdict"], found.get("feedback")
    if not isinstance(verdict, str):
        raise Unusable("Its verdict is no text.", NO_VERDICT)
    if not isinstance(feedback, str):
        raise Unusable("It has no feedback.")
    said = " ".join(verdict.replace("_", " ").replace("-", " ").split()).casefold()
    if said not in answers:
        offered = ", ".join(answers)
        raise Unusable(
            f"The verdict {clipped(verdict, LONGEST_SHOWN)} is not on offer: give one of {offered}.",
            NOT_ON_OFFER,
        )
    refuse_loop(feedback, "Its feedback")
    return _Given(said, feedback.strip())


def _trial(other: _Opponent, order: Order, repeat: int, answer: Answer[_Given]) -> PairTrial:
    given = answer.value
    if given is None:
        return PairTrial(
            against=other.called,
            order=order,
            repeat=repeat,
            verdict=None,
            reason=answer.reason,
            detail=answer.detail,
        )
    own = _SIDES[ORDERS.index(order)]
    ties = {said: verdict for kinds in _TIES.values() for said, verdict in kinds.items()}
    verdict = ties.get(given.verdict) or ("own" if given.verdict == own else "other")
    return PairTrial(
        against=other.called, order=order, repeat=repeat, verdict=verdict, feedback=given.feedback
    )


def values_against(record: PairwiseRecord) -> dict[str, float | None]:
    """Other text -> how far this one is preferred, 0 to 1: the mean over the orders of their mean verdicts.

    None where an order that was asked has no verdict.
    """
    by_order: dict[str, dict[Order, list[float]]] = {}
    for trial in record.trials:
        values = by_order.setdefault(trial.against, {}).setdefault(trial.order, [])
        if trial.verdict is not None:
            values.append(VALUES[trial.verdict])
    return {
        other: fmean(fmean(values) for values in orders.values()) if all(orders.values()) else None
        for other, orders in by_order.items()
    }


class PairwiseKind(JudgeKind):
    """Compares two answers to one question in both orders, as raters do; needs two systems, or levels."""

    name = "pairwise"
    title = "Pairwise"
    family = "Pairwise"
    summary = (
        "compares two answers to one question in both orders, as raters do; needs two systems, or levels"
    )
    section = "pairwise"
    reads = "pairs"
    Settings = PairwiseSettings
    attachment = Attachment(
        name="guidelines_text",
        option="guidelines",
        label="Guidelines",
        help="what the judge reads before it compares, as raters do",
        usual="preference",
        find=lambda name: find_guidelines(name).dump(),
        read=parse_guidelines,
        dump=Guidelines.dump,
        shipped=shipped_guidelines,
        unusable=tuple,
        sha256=lambda text: parse_guidelines(text, "guidelines.yaml").sha256,
    )
    Record = PairwiseRecord
    reports = frozenset({"consistency", "pairs"})
    detail_columns = COMPARING_COLUMNS
    words_called = "feedback"

    def open(self, settings: PairwiseSettings, bench: Bench) -> Opened:
        """See JudgeKind."""
        guidelines = parse_guidelines(bench.attached, "guidelines.yaml")
        against = opponents(bench.texts, settings)
        prompt = bench.prompts[PURPOSE]
        return asking(lambda model: PairwiseJudge(model, prompt, guidelines, settings, against))

    def check(
        self, settings: PairwiseSettings, bench: Bench, rated: RatedSet, by_rules: bool
    ) -> tuple[Remark, ...]:
        """Refuses a file in which no two texts can be compared; remarks on texts that stand alone and on the number of requests."""
        guidelines = parse_guidelines(bench.attached, "guidelines.yaml")
        outputs = [text.output for text in rated.texts]
        sizes = Counter(group_of(output, settings.between) for output in outputs if output.text.strip())
        said: dict[str, object] = {"file": rated.file_name, "n": len(outputs)}
        if all(size == 1 for size in sizes.values()):
            levels = {output.level for output in outputs} - {None}
            instead = "; its levels can be compared ({between=levels})" if len(levels) > 1 else ""
            text = "{file} has no two texts of one item to compare" + (
                f" at one level{instead}"
                if settings.between == "systems"
                else " by one system at different levels"
            )
            refuse([Remark("between", f"{text}.", said)], PairwiseSettings)
        masked = mask_notes(output.system for output in outputs)
        if masked and settings.between == "levels":
            text = "{file} has masked texts, whose names differ from level to level: compare systems, or wait until the study is unblinded."
            refuse([Remark("between", text, said)], PairwiseSettings)
        if guidelines.asks == "levels":
            why = (
                "but {file} has no levels"
                if not any(output.level for output in outputs)
                else "but here texts of different levels are compared"
                if tells_levels(outputs, settings.between)
                else ""
            )
            if why:
                text = f"{{guidelines}} asks which answer fits its level, {why}; choose preference"
                refuse([Remark("", text, {**said, "guidelines": guidelines.name})], PairwiseSettings)
        remarks = [*settings.remarks(by_rules=by_rules), *(Remark("", note) for note in masked)]
        pairs = sum(size * (size - 1) // 2 for size in sizes.values())
        most = max(sizes.values())
        if most > 2:
            asked = pairs * settings.repeats * (2 if settings.order == "both" else 1)
            text = "up to {most} texts are compared with each other: {pairs} pairs, {asked} requests"
            remarks.append(Remark("", text, {"most": most, "pairs": f"{pairs:,}", "asked": f"{asked:,}"}))
        if alone := sum(size == 1 for size in sizes.values()):
            text = "{alone} of {n} texts have no other text to be compared with and get no score"
            remarks.append(Remark("", text, {**said, "alone": alone}))
        return tuple(remarks)

    def also_signed(self, _: PairwiseSettings, bench: Bench) -> dict[str, object]:
        """See JudgeKind."""
        guidelines = parse_guidelines(bench.attached, "guidelines.yaml")
        return {"guidelines": f"{guidelines.name}-{guidelines.sha256[:SHORT_SHA]}"}

    def details(self, record: PairwiseRecord) -> Iterator[dict[str, Any]]:
        """See JudgeKind."""
        for trial in record.trials:
            yield {
                "what": "comparison",
                "side": trial.order,
                "repeat": trial.repeat,
                "text": trial.against,
                "verdict": trial.verdict,
                "why": trial.feedback or trial.detail,
                "reason": trial.reason,
            }

    def record_problems(self, record: PairwiseRecord, _: str | None) -> Iterator[str]:
        """See JudgeKind."""
        return trial_problems("trials", record.trials, "against", "order", "repeat")

    # The two texts of a pair share their feedback; each order counts for the text that stood first.
    def words(self, record: PairwiseRecord) -> tuple[str, ...]:
        """See JudgeKind."""
        return tuple(trial.feedback for trial in record.trials if trial.feedback and trial.order == ORDERS[0])


KIND = PairwiseKind()

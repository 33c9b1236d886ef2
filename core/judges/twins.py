"""Make edited twins of texts of known quality, to find out what besides quality sways a judge.

Each item and system gives one pair: a better text and a worse one, by the levels as made. Each probe edits one of the two
in a way that leaves its quality as it was. The twins stand in a file of texts that every judge and metric reads; a change
of their scores is a bias.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from core.diff import Segment, diff_against
from core.errors import InputError
from core.formats.scorable import write_outputs
from core.generation.language import count_words
from core.generation.numbers import Draw
from core.generation.twins import (
    BY_RULES,
    OWN_STYLE,
    PROBES,
    Addition,
    NoTwin,
    ProbeName,
    check_edit,
    edit_by_rules,
    segments_of,
)
from core.judges.kind import (
    MOST_TOKENS,
    NOTHING,
    QUESTION_MARKS,
    TEMPERATURE,
    AuditKind,
    Audits,
    Done,
    tokens_in,
)
from core.llm.asking import Model
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import read_text
from core.llm.prompts import Prompt, checked_prompt
from core.schema.runs import RULES, KindSettings, PromptSlot
from core.schema.scores import (
    BETTER,
    EDIT,
    EDITED_BY,
    NO_EDIT,
    PAIR,
    ROLE,
    TWIN_LABELS,
    WORSE,
    OutputSet,
    Role,
    ScorableOutput,
    ScoredRow,
    Turn,
    mask_notes,
    twin_series,
)
from core.schema.settings import seed_setting, setting
from core.tables.columns import level_number
from core.tables.reading import clean_text, printable_text, shown
from core.tables.writer import csv_bytes

TWINS_FILE = "twins.jsonl"
"""The file of texts to judge: unedited pairs and twins."""
LEFT_OUT_FILE = "left_out.csv"
LONGEST_QUESTION = 60
"""Most words of a source that counts as a question."""
SAME_TEXT = "pairs with the same text at both levels"
NO_LEVEL = "texts without a level"
_QUESTION_ENDS = (*QUESTION_MARKS, "か。", "か")
"""Japanese questions may end without a mark."""


class TwinSettings(KindSettings):
    """How the twins are made."""

    MODEL_FREE: ClassVar[bool] = True
    DRAWN: ClassVar[bool] = True

    editor: Literal["rules", "model"] = setting(
        "rules",
        "Who edits",
        "who makes the edits: rules, which only add words and marks, or the model; own style always needs the model",
        words={"rules": "rules, and the model for own style", "model": "the model"},
    )
    longer: float = setting(
        0.5,
        "Words added",
        "least share of a text's words that rules add for padding and lengthening; one sentence is the least",
        within=(0.05, 3.0),
        step=0.05,
    )
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting("seed that draws the phrasings of rules; also the seed of the model's answers")

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """See KindSettings."""
        if by_rules:
            return ()
        asked = tuple(PROBES) if self.editor == "model" else (OWN_STYLE,)
        return tuple(PromptSlot(_purpose(probe), _purpose(probe)) for probe in asked)

    def idle(self, backend: str) -> frozenset[str]:
        """See KindSettings."""
        if backend == RULES:
            return frozenset({"editor", "temperature"})
        return frozenset({"longer"} if self.editor == "model" else ())


def _purpose(probe: str) -> str:
    return f"twin-{probe}"


@dataclass(frozen=True)
class Twin:
    """A text of a pair and its edited twin."""

    row: ScoredRow
    """The edited text's row in the source file."""
    probe: ProbeName
    other_level: str
    """Level of the pair's other text, which stays as it is."""
    text: str
    """The text that is edited, as made."""
    other: str
    source: str | None = None
    reference: str | None = None
    edited: str | None = None
    """The twin; None: not made, for the reason."""
    additions: tuple[Addition, ...] = ()
    """What rules added; empty for a model's twin."""
    editor: str = ""
    """What made the twin: `rules` or the model's name; empty: nothing yet."""
    reason: str | None = None
    """Reason for a missing twin, in words that can be counted."""
    detail: str = ""
    """More on the reason: what was wrong with the model's last answer, or the language that lacks wording."""
    turns: tuple[Turn, ...] = ()
    """The conversation up to the source, as the pair's texts have it."""

    @property
    def role(self) -> Role:
        """The edited text's place in the pair."""
        return PROBES[self.probe].role

    @property
    def pair(self) -> tuple[object, ...]:
        """A key of its pair."""
        return twin_series(self.row)


@dataclass(frozen=True)
class TwinPlan:
    """The pairs of a file and the twins to be made from them."""

    twins: tuple[Twin, ...]
    better: str
    """The better texts' level."""
    worse: str
    n_pairs: int
    left_out: Mapping[str, int]
    """What is left out, in words -> how many."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The levels of the pairs, and what is left out, as sentences."""
        pairs = f"{self.n_pairs:,} pair{'s' * (self.n_pairs != 1)}"
        lost = [f"left out, {reason}: {n:,}" for reason, n in self.left_out.items()]
        return (f"{pairs} of known quality: {shown(self.better)} is better, {shown(self.worse)} worse", *lost)


Series = dict[float, ScorableOutput]
"""Level's number -> text of one item and system."""


def plan_twins(outputs: OutputSet, *, probes: Collection[str] = (), levels: Sequence[str] = ()) -> TwinPlan:
    """Choose pairs of known quality and the twins to be made from them.

    probes: names of probes; empty: those that rules can make. levels: two levels; empty: the file's best level against
    the one at three quarters of the way to its worst, such as A0 and A3 of A0 to A4: clearly worse, yet no nonsense.
    Raises InputError for unknown probes and levels, for texts without two levels, and for files that have twins already.
    """
    problems = []
    if unknown := [name for name in probes if name not in PROBES]:
        problems.append(f"{', '.join(map(shown, unknown))}: no such probe; choose from {', '.join(PROBES)}")
    taken = sorted({label for one in outputs.outputs for label in one.labels} & TWIN_LABELS)
    if taken:
        problems.append(
            f"the file has the columns {', '.join(taken)}, which twins need: leave them out, or choose the texts that the "
            "twins in it were made from"
        )
    if mask_notes(one.system for one in outputs.outputs):
        problems.append(
            "the systems are masked, and a mask stands for another system from level to level: wait until the study is unblinded"
        )
    series = _series(outputs)
    found = {level: one.level or "" for texts in series.values() for level, one in texts.items()}
    if not any(len(texts) > 1 for texts in series.values()):
        problems.append(
            "no item has texts of one system at two levels: twins are made from pairs of known quality, so the file needs "
            "a column level with, for example, A0 and A3"
        )
    better, worse = _chosen(levels, found, problems)
    if problems:
        raise InputError("No twins can be made", problems)
    left_out = Counter({NO_LEVEL: sum(level_number(one.level) is None for one in outputs.outputs)})
    twins: list[Twin] = []
    n_pairs = 0
    for texts in series.values():
        if lacking := [found[level] for level in (better, worse) if level not in texts]:
            left_out[f"systems of an item without a text at {' and '.join(lacking)}"] += 1
        elif texts[better].text.strip() == texts[worse].text.strip():
            left_out[SAME_TEXT] += 1
        else:
            n_pairs += 1
            twins += _twins_of(texts[better], texts[worse], probes or BY_RULES)
    if not twins:
        reasons = "; ".join(f"{reason}: {n:,}" for reason, n in left_out.items() if n)
        raise InputError(
            f"No pair of {found[better]} and {found[worse]} is left ({reasons}): choose other levels."
        )
    return TwinPlan(tuple(twins), found[better], found[worse], n_pairs, +left_out)


def _series(outputs: OutputSet) -> dict[tuple[object, ...], Series]:
    """The texts with a level by item, system, language and labels."""
    series: dict[tuple[object, ...], Series] = {}
    for one in outputs.outputs:
        if (level := level_number(one.level)) is not None:
            series.setdefault(twin_series(one), {}).setdefault(level, one)
    return series


def levels_of(outputs: OutputSet) -> tuple[str, ...]:
    """The levels from which pairs can be made, best first; empty if no item has two of one system."""
    series = _series(outputs).values()
    found = {level: one.level or "" for texts in series for level, one in texts.items()}
    return tuple(found[level] for level in sorted(found)) if any(len(texts) > 1 for texts in series) else ()


def usual_worse(n_levels: int) -> int:
    """The place of the worse level among this many, best first: three quarters of the way to the worst."""
    return max(1, round((n_levels - 1) * 0.75))


def _chosen(given: Sequence[str], found: Mapping[float, str], problems: list[str]) -> tuple[float, float]:
    """The better and the worse level's numbers; problems are added."""
    there = sorted(found)
    if not given:
        return (there[0], there[usual_worse(len(there))]) if len(there) > 1 else (0.0, 0.0)
    numbers = [level_number(level) for level in given]
    known = [number for number in numbers if number is not None and number in found]
    names = ", ".join(found[number] for number in there)
    for level, number in zip(given, numbers, strict=True):
        if number is None or number not in found:
            problems.append(f"{shown(level)} is not a level of the file; choose two of {names}")
    if len(set(known)) != 2 and len(known) == len(given):
        problems.append(f"levels: {len(set(known))} given, expected two different ones of {names}")
    return (min(known), max(known)) if len(known) == 2 else (0.0, 0.0)


def _twins_of(better: ScorableOutput, worse: ScorableOutput, probes: Collection[str]) -> Iterator[Twin]:
    for probe in PROBES.values():
        if probe.name in probes:
            own, other = (better, worse) if probe.role == BETTER else (worse, better)
            yield Twin(
                own.row,
                probe.name,
                other.level or "",
                own.text,
                other.text,
                own.source,
                own.reference,
                turns=own.turns,
            )


def question_of(source: str | None) -> str | None:
    """The source if it looks like a question, else None."""
    plain = (source or "").strip()
    asks = plain.endswith(_QUESTION_ENDS) and "\n" not in plain and count_words(plain) <= LONGEST_QUESTION
    return plain if asks else None


def twin_by_rules(twin: Twin, settings: TwinSettings) -> Twin:
    """The twin made by rules, or with the reason why not. The same seed, item and system give the same twin."""
    row = twin.row
    draw = Draw(settings.seed, row.item_id, row.system, *sorted(row.labels.items()))
    try:
        made = edit_by_rules(
            twin.probe,
            twin.text,
            row.language,
            draw,
            question=question_of(twin.source),
            longer=settings.longer,
        )
    except NoTwin as why:
        return replace(twin, edited=None, additions=(), reason=why.reason, detail=why.detail)
    return replace(twin, edited=made.text, additions=made.additions, editor=RULES, reason=None, detail="")


class Editor:
    """Asks a model for a twin and checks it."""

    def __init__(self, model: Model, prompts: Mapping[str, Prompt], settings: TwinSettings) -> None:
        self._model, self._prompts, self._settings = model, prompts, settings

    async def edit(self, twin: Twin) -> Done:
        """Make one twin. A model's answer that breaks a fact is refused: the twin is left out with the reason."""
        question = question_of(twin.source)

        def read(answer: str) -> str:
            text = clean_text(printable_text(read_text(answer)))
            check_edit(twin.probe, twin.text, text, twin.row.language, question)
            return text

        answer = await self._model.ask(self._request(twin, question), read)
        if answer.value is None:
            reason = answer.reason or "invalid"
            failed = replace(twin, edited=None, reason=reason, detail=answer.detail)
            return failed, ((twin.probe, reason),), answer.temporary
        made = replace(twin, edited=answer.value, editor=self._model.client.model, reason=None, detail="")
        return made, (), False

    def _request(self, twin: Twin, question: str | None) -> Request:
        purpose = _purpose(twin.probe)
        prompt = checked_prompt(self._prompts[purpose], purpose)
        offered = {"question": question or NOTHING, "text": twin.text}
        return Request(
            step=twin.probe,
            messages=prompt.messages(**{name: defused(value, (prompt,)) for name, value in offered.items()}),
            max_tokens=min(MOST_TOKENS, 200 + 4 * tokens_in(twin.text)),
            temperature=self._settings.temperature,
            seed=self._settings.seed,
        )


def twin_outputs(twins: Sequence[Twin]) -> tuple[ScorableOutput, ...]:
    """The texts to judge, pair by pair: both unedited texts, then for each twin that was made the twin and its opponent.

    The labels `pair`, `edit` and `role` are added, and `edited_by` to a model's twins; item, system, level, other labels,
    source and reference stay.
    """
    pairs: dict[tuple[object, ...], list[Twin]] = {}
    for twin in twins:
        pairs.setdefault(twin.pair, []).append(twin)
    return tuple(one for of_pair in pairs.values() for one in _outputs_of(of_pair))


def _outputs_of(twins: Sequence[Twin]) -> Iterator[ScorableOutput]:
    yield from sorted(_both(twins[0], NO_EDIT, None), key=lambda one: one.labels[ROLE])
    for twin in twins:
        if twin.edited is not None:
            yield from _both(twin, twin.probe, twin.edited)


def _both(twin: Twin, pair: str, edited: str | None) -> Iterator[ScorableOutput]:
    """The pair's texts, the twin's own first. edited: its text after the edit; None: as made."""
    other: Role = WORSE if twin.role == BETTER else BETTER
    edit = NO_EDIT if edited is None else twin.probe
    by = {EDITED_BY: twin.editor} if edited is not None and twin.editor != RULES else {}
    for role, level, text, label, more in (
        (twin.role, twin.row.level, twin.text if edited is None else edited, edit, by),
        (other, twin.other_level, twin.other, NO_EDIT, {}),
    ):
        yield ScorableOutput(
            twin.row.item_id,
            twin.row.system,
            text,
            twin.reference,
            twin.source,
            level,
            twin.row.language,
            {**twin.row.labels, PAIR: pair, EDIT: label, ROLE: role, **more},
            twin.turns,
        )


def diff_of(twin: Twin) -> tuple[Segment, ...]:
    """What the edit changed, in reading order; empty without a twin. Exact for rules, aligned by words for a model."""
    if twin.edited is None:
        return ()
    return segments_of(twin.text, twin.additions) if twin.additions else diff_against(twin.text, twin.edited)


def marked(segments: Sequence[Segment]) -> str:
    """Changes as marks in the text: `{+added+}`, `[-removed-]`."""
    marks = {"same": "{}", "added": "{{+{}+}}", "removed": "[-{}-]"}
    return "".join(marks[one.kind].format(one.text) for one in segments)


_COLUMNS = (
    "probe", "role", "other_level", "editor", "words", "words_edited", "reason", "detail", "text", "edited", "diff",
)  # fmt: skip
_LEFT_OUT = ("item", "system", "level", "language", "probe", "reason", "detail")


class TwinsKind(AuditKind):
    """Makes edited twins of pairs of known quality, to measure what besides quality sways a judge."""

    name = "twins"
    title = "Edited twins"
    summary = "makes edited twins of pairs of known quality, to measure what besides quality sways a judge"
    reads = "pairs of levels"
    does = "edits; rules: all probes but own-style"
    section = "edited-twins"
    Settings = TwinSettings
    Piece = Twin
    reports = frozenset({"twins"})
    rules = (
        "Rules only add words or marks, so that every fact stays. They have wording in English, German and French; texts in "
        "other languages are formatted, and padded with their question. They cannot rewrite a text in a model's style."
    )
    piece_called = "text with the same probe"
    table = "edits.csv"
    columns = _COLUMNS

    def open(self, settings: TwinSettings, prompts: Mapping[str, Prompt]) -> Audits:
        """See AuditKind."""

        async def by_rules(twin: Twin) -> Done:
            return twin_by_rules(twin, settings), (), False

        def made(model: Model | None) -> Callable[[Twin], Awaitable[Done]]:
            if model is None:
                return by_rules
            editor = Editor(model, prompts, settings)

            async def edit(twin: Twin) -> Done:
                asks = settings.editor == "model" or twin.probe not in BY_RULES
                return await (editor.edit(twin) if asks else by_rules(twin))

            return edit

        return made

    def broken(self, twin: Twin, reason: str) -> Twin:
        """See AuditKind."""
        return replace(twin, edited=None, reason=reason)

    def identity(self, twin: Twin) -> tuple[str, ...]:
        """See AuditKind."""
        return (twin.probe,)

    def nothing(self, twins: Sequence[Twin]) -> str | None:
        """See AuditKind."""
        return None if twins else "pairs"

    def rows(self, twin: Twin) -> Iterator[dict[str, Any]]:
        """See AuditKind."""
        edited = twin.edited
        yield {
            "probe": twin.probe,
            "role": twin.role,
            "other_level": twin.other_level,
            "editor": twin.editor,
            "words": count_words(twin.text),
            "words_edited": None if edited is None else count_words(edited),
            "reason": twin.reason,
            "detail": twin.detail or None,
            "text": twin.text,
            "edited": edited,
            "diff": marked(diff_of(twin)) or None,
        }

    def also(self, twins: Sequence[Twin]) -> Mapping[str, bytes]:
        """See AuditKind."""
        left_out = (
            {
                "item": twin.row.item_id,
                "system": twin.row.system,
                "level": twin.row.level,
                "language": twin.row.language,
                "probe": twin.probe,
                "reason": twin.reason,
                "detail": twin.detail or None,
            }
            for twin in twins
            if twin.edited is None
        )
        return {TWINS_FILE: write_outputs(twin_outputs(twins)), LEFT_OUT_FILE: csv_bytes(_LEFT_OUT, left_out)}


KIND = TwinsKind()

"""The rubric judge: a model reads a reference and a response and gives one score from a rubric, which is a YAML file."""

import asyncio
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.errors import InputError
from core.judges.kind import (
    COMPARING_COLUMNS,
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
    check_compared,
    lacking,
    mean_of,
    pair_of,
    repeats_setting,
    trial_problems,
)
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import TURN_MARK, clipped, form, is_number, read_object, read_text, refuse_loop
from core.llm.prompts import Prompt
from core.metrics.scorer import ScoringPair
from core.schema.runs import Attachment, PromptSlot
from core.schema.scores import RatedSet, RatedText
from core.schema.settings import Remark, seed_setting, setting
from core.schema.settings import refuse as refuse_of_settings
from core.yaml_fields import (
    Name,
    ReadYaml,
    Shipped,
    Source,
    Strict,
    Text,
    Title,
    dumped,
    place_of,
    read_yaml,
    refuse,
    value_problem,
)

HIGHEST_VERDICT = 100
"""The largest number of a level; the smallest is 0."""
SHIPPED = Path(__file__).resolve().parents[2] / "data" / "rubrics"


class RubricFile(Strict):
    """Contents of a rubric file."""

    name: Name
    title: Title
    source: Source
    criterion: Text
    levels: dict[int, Text]


@dataclass(frozen=True)
class Rubric:
    """A question about a text, and the meaning of each score. Higher is better."""

    name: str
    title: str
    """Short title for menus."""
    paper: str
    section: str
    differences: str
    """Differences from the published rubric."""
    criterion: str
    """The question about the text."""
    levels: Mapping[int, str]
    """Score -> when to give it; ascending, at least two. Only these scores are offered."""

    @property
    def lowest(self) -> int:
        """The worst score."""
        return min(self.levels)

    @property
    def highest(self) -> int:
        """The best score."""
        return max(self.levels)

    @property
    def rendered(self) -> str:
        """The scale for the prompt, one score per line."""
        return "\n".join(f"Score {score}: {meaning}" for score, meaning in self.levels.items())

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that reaches the model; name, title, source and formatting do not count."""
        canonical = json.dumps([self.criterion, self.rendered], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def dump(self) -> str:
        """The rubric as a file; parse_rubric reads it back as an equal rubric."""
        source = {"paper": self.paper, "section": self.section, "differences": self.differences}
        return dumped(
            {
                "name": self.name,
                "title": self.title,
                "source": source,
                "criterion": self.criterion,
                "levels": dict(self.levels),
            }
        )


def parse_rubric(text: str, file_name: str) -> Rubric:
    """The rubric in a file's text. Raises InputError with every problem and its place."""
    read = read_yaml(text)
    problems = list(read.problems)
    fields: RubricFile | None = None
    if read.values is not None:
        # An empty field is reported once, as empty.
        empty = [
            name for name, value in read.values.items() if value is None and name in RubricFile.model_fields
        ]
        problems += [f"{place_of(read.lines, (name,))}: is empty" for name in empty]
        problems += _level_problems(read)
        try:
            fields = RubricFile.model_validate(dict(read.values))
        except ValidationError as wrong:
            for error in wrong.errors():
                if error["loc"][0] not in empty:
                    keys = tuple(str(part) for part in error["loc"] if part != "[key]")
                    problems.append(f"{place_of(read.lines, keys)}: {_sentence(error)}")
    if problems or fields is None:
        refuse(f"Rubric {file_name}", problems)
    return Rubric(
        name=fields.name,
        title=fields.title,
        paper=fields.source.paper,
        section=fields.source.section,
        differences=fields.source.differences,
        criterion=fields.criterion,
        levels={score: fields.levels[score] for score in sorted(fields.levels)},
    )


def find_rubric(name_or_path: str) -> Rubric:
    """A shipped rubric by name, else the rubric in a file. Raises InputError if there is neither."""
    return RUBRICS.find(name_or_path)


RUBRICS = Shipped(SHIPPED, "rubric", parse_rubric)
"""Rubrics in `data/rubrics/`, including files that users added."""


def _level_problems(read: ReadYaml) -> Iterator[str]:
    """Problems with the scale as a whole; single levels are checked like all fields."""
    assert read.values is not None
    levels = read.values.get("levels")
    if not isinstance(levels, dict):
        return
    written = sum(len(keys) == 2 and keys[0] == "levels" for keys in read.lines)
    if len(levels) < written:
        yield f"{place_of(read.lines, ('levels',))}: the same number appears in two spellings"
    elif len(levels) < 2:
        yield f"{place_of(read.lines, ('levels',))}: a scale needs at least two levels"
    for score in levels:
        if isinstance(score, int) and not isinstance(score, bool) and not 0 <= score <= HIGHEST_VERDICT:
            yield f"{place_of(read.lines, ('levels', str(score)))}: is not between 0 and {HIGHEST_VERDICT}"


def _sentence(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        model: type[BaseModel] = Source if error["loc"][0] == "source" else RubricFile
        return f"is not a field of a rubric file; the fields are {', '.join(model.model_fields)}"
    if "[key]" in error["loc"]:
        return "is not a level; a level is a whole number without quotes"
    return value_problem(error)


Order = Literal["reference-first", "response-first"]
ORDERS: tuple[Order, ...] = ("reference-first", "response-first")
PURPOSES = ("rubric", "rubric-text", "rubric-prometheus")
"""Purposes of its prompts: an answer in JSON, or free text that ends in `[RESULT] n`; one of the latter is Prometheus 2's
prompt, which shows the response first. A run uses one of them."""
_PROMETHEUS = PURPOSES[2]
STEP = "rubric"
NOT_ON_OFFER, NO_VERDICT = "verdict not on offer", "no verdict"
LONGEST_FEEDBACK = 600
"""Longest feedback under guided decoding, so that the model reaches its verdict."""
LONGEST_SHOWN = 20
"""Characters of a wrong verdict that a message repeats."""
VERDICT_TOKENS = 1_000
"""Tokens for such feedback in any script, and for its verdict."""
_TAGS = ("reference", "response")
_RESULT = re.compile(r"\[\s*RESULT\s*\]", re.IGNORECASE)
# Possessive repetitions (`*+`) keep reading fast for every answer.
_ONE_NUMBER = re.compile(
    r"[\s*_:：\"'“‘„«`(（\[]*+([0-9]{1,3})(?:[^\S\n]|[*_.!。！\"'”’“»`)）\]])*+(?:\n|\Z)"
)
_LABEL = re.compile(r"\A\s*#*\s*\**feedback\s*:?\**\s*:?\s*", re.IGNORECASE)


class RubricSettings(JudgeSettings):
    """Settings of the rubric judge."""

    order: Literal[Order, "both"] = setting(
        "reference-first",
        "Read first",
        "which text the judge reads first; both: one request in each order, and the score is the mean",
        words={
            "reference-first": "the reference",
            "response-first": "the response",
            "both": "both: one request in each order",
        },
    )
    repeats: int = repeats_setting("number of requests in each order; the score is the mean")
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting()

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One prompt, in either form."""
        return (PromptSlot(PURPOSES[0], "rubric", instead=PURPOSES[1:]),)


@dataclass(frozen=True, kw_only=True)
class RubricTrial(Trial):
    """One request to the rubric judge."""

    order: Order = field()  # no default: it always reads two texts
    verdict: int | None


@dataclass(frozen=True)
class RubricRecord:
    """Everything that the rubric judge returned for one text."""

    trials: tuple[RubricTrial, ...]


@dataclass(frozen=True)
class GivenVerdict:
    """One answer of the judge."""

    verdict: int
    """One of the rubric's scores."""
    feedback: str
    """The model's explanation; may be empty."""


class RubricJudge:
    """Asks a model for a score from the rubric, in one or both orders of the two texts, once or several times.

    prompts: contains `rubric`, or else `rubric-text` or `rubric-prometheus`. Raises InputError if it has none of them.
    """

    def __init__(
        self, model: Model, prompts: Mapping[str, Prompt], rubric: Rubric, settings: RubricSettings
    ) -> None:
        purpose = next((purpose for purpose in PURPOSES if purpose in prompts), None)
        if purpose is None:
            raise InputError(f"The rubric judge has no prompt: give one for {' or '.join(PURPOSES)}")
        self._model, self._rubric, self._settings = model, rubric, settings
        self._prompt = prompts[purpose]
        self._in_sections = purpose == _PROMETHEUS
        read, schema = (
            (read_verdict_json, verdict_schema(rubric))
            if purpose == PURPOSES[0]
            else (read_verdict_text, None)
        )
        self._read: Callable[[str], GivenVerdict] = lambda text: read(text, rubric)
        self._schema = schema

    async def judge(self, text: RatedText) -> Judged:
        """Score a text: the mean of the verdicts, within the rubric's scale, over the trials with a verdict.

        An empty text, or one without a reference, is not judged. Misleading if many trials failed: with `both` orders,
        the mean then leans towards one of them.
        """
        pair = pair_of(text)
        if (why := lacking(pair, "reference")) is not None:
            return Judged.without_asking(why)
        orders = ORDERS if self._settings.order == "both" else (self._settings.order,)
        asked = [(order, repeat) for repeat in range(self._settings.repeats) for order in orders]
        answers = await asyncio.gather(*(self._ask(pair, order, repeat) for order, repeat in asked))
        trials = tuple(
            RubricTrial(order=order, repeat=repeat, verdict=None, reason=answer.reason, detail=answer.detail)
            if answer.value is None
            else RubricTrial(
                order=order, repeat=repeat, verdict=answer.value.verdict, feedback=answer.value.feedback
            )
            for (order, repeat), answer in zip(asked, answers, strict=True)
        )
        mean, temporary = mean_of(trial.verdict for trial in trials), any(one.temporary for one in answers)
        return Judged.in_trials(STEP, mean, RubricRecord(trials), temporary=temporary)

    async def _ask(self, pair: ScoringPair, order: Order, repeat: int) -> Answer[GivenVerdict]:
        request = Request(
            STEP,
            self._prompt.messages(
                criterion=self._rubric.criterion,
                scale=self._rubric.rendered,
                lowest=self._rubric.lowest,
                highest=self._rubric.highest,
                question=self._harmless(pair.source or "").strip() or NOTHING,
                **self._texts(pair, order),
            ),
            max_tokens=VERDICT_TOKENS,
            temperature=self._settings.temperature,
            seed=self._settings.seed + repeat,
            schema=self._schema,
        )
        return await self._model.ask(request, self._read)

    def _texts(self, pair: ScoringPair, order: Order) -> dict[str, str]:
        """Both texts separately if the prompt has a section for each, else tagged and in the requested order."""
        if self._in_sections:
            return {"reference": self._harmless(pair.reference or ""), "response": self._harmless(pair.text)}
        texts = dict(zip(_TAGS, (pair.reference or "", pair.text), strict=True))
        first = _TAGS if order == "reference-first" else _TAGS[::-1]
        return {"texts": "\n".join(f"<{tag}>\n{self._harmless(texts[tag])}\n</{tag}>" for tag in first)}

    def _harmless(self, text: str) -> str:
        harmless = defused(text, [self._prompt], tags=_TAGS)
        return harmless.replace("###", "＃＃＃") if self._in_sections else harmless


def verdict_schema(rubric: Rubric) -> dict[str, object]:
    """JSON schema of an answer: the feedback first, then an offered score."""
    return form(
        feedback={"type": "string", "maxLength": LONGEST_FEEDBACK},
        verdict={"type": "integer", "enum": list(rubric.levels)},
    )


def read_verdict_json(text: str, rubric: Rubric) -> GivenVerdict:
    """The verdict in a JSON answer. Raises Unusable if there is no offered verdict.

    If several objects have a verdict, the last one counts, because earlier ones may repeat the judged text. 4 and 4.0 are
    the same score; "4", 4.5, true and scores outside the rubric are invalid. Feedback longer than requested is kept;
    looping feedback is rejected.
    """
    found = read_object(text, verdict={})
    verdict, feedback = found["verdict"], found.get("feedback")
    if not is_number(verdict):
        raise Unusable("Its verdict is no number.")
    if not isinstance(feedback, str):
        raise Unusable("It has no feedback.")
    return _given(_offered_level(verdict, rubric), feedback)


def read_verdict_text(text: str, rubric: Rubric) -> GivenVerdict:
    """The verdict in free text that ends in `[RESULT] n`. Raises Unusable if there is no offered verdict.

    The last `[RESULT]` counts, in upper or lower case. A colon, asterisks, quotation marks, brackets, a full stop or
    exclamation mark, invisible characters, and a token that ends the turn may surround the number. It must be one whole
    number at the end of its line: `4/5`, `4.5`, `4-5`, `4 or 5` and `four` are rejected, because their meaning would be a
    guess. Lines below it are ignored. The feedback is the text before `[RESULT]`.
    """
    plain = read_text(text)
    marks = list(_RESULT.finditer(plain))
    if not marks:
        raise Unusable("It does not end in [RESULT] and a score.", NO_VERDICT)
    rest = TURN_MARK.sub("", plain[marks[-1].end() :])
    number = _ONE_NUMBER.match("".join(char for char in rest if unicodedata.category(char) != "Cf"))
    if number is None:
        raise Unusable("After the last [RESULT] stands something else than one whole number.", NO_VERDICT)
    verdict = _offered_level(int(number.group(1)), rubric)
    return _given(verdict, _LABEL.sub("", plain[: marks[-1].start()]))


def _given(verdict: int, feedback: str) -> GivenVerdict:
    """The verdict with its feedback. Raises Unusable if the feedback loops, because the verdict then has no basis."""
    refuse_loop(feedback, "Its feedback")
    return GivenVerdict(verdict, feedback.strip())


def _offered_level(verdict: float, rubric: Rubric) -> int:
    if verdict not in rubric.levels:
        offered = ", ".join(map(str, rubric.levels))
        # As a text, because a model may write hundreds of digits, more than a float can represent.
        shown = clipped(str(verdict), LONGEST_SHOWN)
        raise Unusable(f"The verdict {shown} is not on offer: give one of {offered}.", NOT_ON_OFFER)
    return int(verdict)


class RubricKind(JudgeKind):
    """Gives each text a verdict on the rubric's scale, with feedback; needs references."""

    name = "rubric"
    title = "Rubric"
    family = "Rubric"
    summary = "gives each text a verdict on the rubric's scale, with feedback; needs references"
    section = "rubric"
    Settings = RubricSettings
    attachment = Attachment(
        name="rubric_text",
        option="rubric",
        label="Rubric",
        help="criterion and scale",
        usual="factual",
        find=lambda name: find_rubric(name).dump(),
        read=parse_rubric,
        dump=Rubric.dump,
        shipped=RUBRICS.all,
        unusable=RUBRICS.unusable,
        sha256=lambda text: parse_rubric(text, "rubric.yaml").sha256,
    )
    Record = RubricRecord
    reports = frozenset({"consistency"})
    detail_columns = COMPARING_COLUMNS
    words_called = "feedback"

    def open(self, settings: RubricSettings, bench: Bench) -> Opened:
        """See JudgeKind."""
        rubric = parse_rubric(bench.attached, "rubric.yaml")
        return asking(lambda model: RubricJudge(model, bench.prompts, rubric, settings))

    def check(
        self, settings: RubricSettings, bench: Bench, rated: RatedSet, by_rules: bool
    ) -> tuple[Remark, ...]:
        """See check_compared; a prompt with a separate section for each text has a fixed order."""
        if _PROMETHEUS in bench.prompts and settings.order != "response-first":
            text = "prompt {prompt} shows the response first; choose {order=response-first}"
            refuse_of_settings(
                [Remark("order", text, {"prompt": bench.prompts[_PROMETHEUS].name})], RubricSettings
            )
        return check_compared(settings, bench, rated, by_rules)

    def also_signed(self, _: RubricSettings, bench: Bench) -> dict[str, object]:
        """See JudgeKind."""
        rubric = parse_rubric(bench.attached, "rubric.yaml")
        return {"rubric": f"{rubric.name}-{rubric.sha256[:SHORT_SHA]}"}

    def details(self, record: RubricRecord) -> Iterator[dict[str, Any]]:
        """See JudgeKind."""
        for trial in record.trials:
            yield {
                "what": "trial",
                "side": trial.order,
                "repeat": trial.repeat,
                "verdict": trial.verdict,
                "why": trial.feedback or trial.detail,
                "reason": trial.reason,
            }

    def record_problems(self, record: RubricRecord, _: str | None) -> Iterator[str]:
        """See JudgeKind."""
        return trial_problems("trials", record.trials, "order", "repeat", verdict=(0, HIGHEST_VERDICT))

    def words(self, record: RubricRecord) -> tuple[str, ...]:
        """See JudgeKind."""
        return tuple(trial.feedback for trial in record.trials if trial.feedback)

    def score_bounds(self, _: str) -> tuple[float, float]:
        """See JudgeKind."""
        return (0.0, float(HIGHEST_VERDICT))


KIND = RubricKind()

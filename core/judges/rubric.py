"""The rubric judge: a model reads a reference and a response and gives one score of a rubric that people write as a YAML file."""

import asyncio
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.errors import InputError
from core.judges.kind import (
    COMPARING_COLUMNS,
    SHORT_SHA,
    TEMPERATURE,
    Bench,
    Judged,
    JudgeKind,
    JudgeSettings,
    Opened,
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
"""The largest number that a level may have; 0 is the smallest."""
SHIPPED = Path(__file__).resolve().parents[2] / "data" / "rubrics"


class RubricFile(Strict):
    """A rubric file as it is written."""

    name: Name
    title: Title
    source: Source
    criterion: Text
    levels: dict[int, Text]


@dataclass(frozen=True)
class Rubric:
    """A question about a text and what each score means as its answer. Higher is better."""

    name: str
    title: str
    """Short, for menus."""
    paper: str
    section: str
    differences: str
    """What is done otherwise than in the paper."""
    criterion: str
    """What is asked of the text."""
    levels: Mapping[int, str]
    """Score -> when it is given; ascending, two at least. Only these scores are on offer."""

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
        """The scale as a judge reads it, one score a line."""
        return "\n".join(f"Score {score}: {meaning}" for score, meaning in self.levels.items())

    @cached_property
    def sha256(self) -> str:
        """Of all that reaches the model; name, title, source and the way the file is written do not count."""
        canonical = json.dumps([self.criterion, self.rendered], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def dump(self) -> str:
        """The rubric as a file: parse_rubric reads it to an equal one."""
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
    """The rubric that a file's text describes. Raises InputError with every problem found, each with its place."""
    read = read_yaml(text)
    problems = list(read.problems)
    fields: RubricFile | None = None
    if read.values is not None:
        # What is there and empty is said once, as that.
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
    """A shipped rubric by name, else the rubric in a file. Raises InputError where there is neither."""
    return RUBRICS.find(name_or_path)


RUBRICS = Shipped(SHIPPED, "rubric", parse_rubric)
"""Those in `data/rubrics/`, the files that somebody put there included."""


def _level_problems(read: ReadYaml) -> Iterator[str]:
    """What is wrong with the scale as a whole; single levels are looked at as all fields are."""
    assert read.values is not None
    levels = read.values.get("levels")
    if not isinstance(levels, dict):
        return
    written = sum(len(keys) == 2 and keys[0] == "levels" for keys in read.lines)
    if len(levels) < written:
        yield f"{place_of(read.lines, ('levels',))}: the same number is written in two ways"
    elif len(levels) < 2:
        yield f"{place_of(read.lines, ('levels',))}: a scale has two levels at least"
    for score in levels:
        if isinstance(score, int) and not isinstance(score, bool) and not 0 <= score <= HIGHEST_VERDICT:
            yield f"{place_of(read.lines, ('levels', str(score)))}: is not between 0 and {HIGHEST_VERDICT}"


def _sentence(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        model: type[BaseModel] = Source if error["loc"][0] == "source" else RubricFile
        return f"is no field of a rubric file; there are {', '.join(model.model_fields)}"
    if "[key]" in error["loc"]:
        return "is no level; a level is a whole number without quotes"
    return value_problem(error)


Order = Literal["reference-first", "response-first"]
ORDERS: tuple[Order, ...] = ("reference-first", "response-first")
PURPOSES = ("rubric", "rubric-text", "rubric-prometheus")
"""Of the prompts: an answer in JSON, or free text that ends in `[RESULT] n`, also in the words of Prometheus 2, which show
the response first; a run uses one of them."""
_PROMETHEUS = PURPOSES[2]
STEP = "rubric"
NOT_ON_OFFER, NO_VERDICT = "verdict not on offer", "no verdict"
LONGEST_FEEDBACK = 600
"""Characters that a model under guided decoding may write, so that it comes to its verdict."""
LONGEST_SHOWN = 20
"""Characters of a wrong verdict that are repeated."""
VERDICT_TOKENS = 1_000
"""Room for such a feedback in any script, and for its verdict."""
_TAGS = ("reference", "response")
_RESULT = re.compile(r"\[\s*RESULT\s*\]", re.IGNORECASE)
# Repetitions never give back what they took (`*+`), so that no answer takes long to read.
_ONE_NUMBER = re.compile(
    r"[\s*_:：\"'“‘„«`(（\[]*+([0-9]{1,3})(?:[^\S\n]|[*_.!。！\"'”’“»`)）\]])*+(?:\n|\Z)"
)
_LABEL = re.compile(r"\A\s*#*\s*\**feedback\s*:?\**\s*:?\s*", re.IGNORECASE)


class RubricSettings(JudgeSettings):
    """How the rubric judge is asked."""

    order: Literal[Order, "both"] = setting(
        "reference-first",
        "Read first",
        "which text it reads first; both: asked in each order, the score is the mean",
        words={
            "reference-first": "the reference",
            "response-first": "the response",
            "both": "both: asked once in each order",
        },
    )
    repeats: int = repeats_setting("times that it is asked in each order; the score is the mean")
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting()

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One prompt, of either form."""
        return (PromptSlot(PURPOSES[0], "rubric", instead=PURPOSES[1:]),)


@dataclass(frozen=True)
class RubricTrial:
    """The rubric judge asked once."""

    order: Order
    """Which of the two texts it read first."""
    repeat: int
    """From 0."""
    verdict: int | None
    """None: no verdict on offer was given."""
    feedback: str = ""
    reason: str | None = None
    """Why there is no verdict."""
    detail: str = ""


@dataclass(frozen=True)
class RubricRecord:
    """All that the rubric judge said of one text."""

    trials: tuple[RubricTrial, ...]


@dataclass(frozen=True)
class GivenVerdict:
    """One answer of the judge."""

    verdict: int
    """One of the rubric's scores."""
    feedback: str
    """Its reasons, in its own words; may be empty."""


class RubricJudge:
    """Asks a model for a score of the rubric: in one order of the two texts or in both, once or several times.

    prompts: holds `rubric`, or else `rubric-text` or `rubric-prometheus`. Raises InputError where it has neither.
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
        """The mean of the verdicts that came, within the rubric's scale; a trial without one is left out of it.

        A text without a reference, or with nothing to read, is not judged. Misleads where few trials came through: in
        `both` orders the mean then leans to one of them.
        """
        pair = pair_of(text)
        if (why := lacking(pair, "reference")) is not None:
            return Judged.without_asking(why)
        orders = ORDERS if self._settings.order == "both" else (self._settings.order,)
        asked = [(order, repeat) for repeat in range(self._settings.repeats) for order in orders]
        answers = await asyncio.gather(*(self._ask(pair, order, repeat) for order, repeat in asked))
        trials = tuple(
            RubricTrial(order, repeat, None, reason=answer.reason, detail=answer.detail)
            if answer.value is None
            else RubricTrial(order, repeat, answer.value.verdict, answer.value.feedback)
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
                question=self._harmless(pair.source or "").strip() or "(none)",
                **self._texts(pair, order),
            ),
            max_tokens=VERDICT_TOKENS,
            temperature=self._settings.temperature,
            seed=self._settings.seed + repeat,
            schema=self._schema,
        )
        return await self._model.ask(request, self._read)

    def _texts(self, pair: ScoringPair, order: Order) -> dict[str, str]:
        """Both texts by themselves where the prompt has a section for each, else in their tags, in the order asked for."""
        if self._in_sections:
            return {"reference": self._harmless(pair.reference or ""), "response": self._harmless(pair.text)}
        texts = dict(zip(_TAGS, (pair.reference or "", pair.text), strict=True))
        first = _TAGS if order == "reference-first" else _TAGS[::-1]
        return {"texts": "\n".join(f"<{tag}>\n{self._harmless(texts[tag])}\n</{tag}>" for tag in first)}

    def _harmless(self, text: str) -> str:
        harmless = defused(text, [self._prompt], tags=_TAGS)
        return harmless.replace("###", "＃＃＃") if self._in_sections else harmless


def verdict_schema(rubric: Rubric) -> dict[str, object]:
    """What the model may write: its reasons first, then a score on offer."""
    return form(
        feedback={"type": "string", "maxLength": LONGEST_FEEDBACK},
        verdict={"type": "integer", "enum": list(rubric.levels)},
    )


def read_verdict_json(text: str, rubric: Rubric) -> GivenVerdict:
    """The verdict in an answer in JSON; raises Unusable where there is none on offer.

    Of several objects with a verdict the last counts, such as after one that repeats the judged text. 4 and 4.0 are
    one score; "4", 4.5, true and what the rubric does not have are none. A feedback longer than asked for is kept, one that loops is
    refused.
    """
    found = read_object(text, verdict={})
    verdict, feedback = found["verdict"], found.get("feedback")
    if not is_number(verdict):
        raise Unusable("Its verdict is no number.")
    if not isinstance(feedback, str):
        raise Unusable("It has no feedback.")
    return _given(_on_offer(verdict, rubric), feedback)


def read_verdict_text(text: str, rubric: Rubric) -> GivenVerdict:
    """The verdict of a free text that ends in `[RESULT] n`; raises Unusable where there is none on offer.

    The last `[RESULT]` counts, in any case. Beside its number may stand a colon, asterisks, quotation marks, brackets,
    a full or exclamation mark, invisible characters, and a token that ends the turn. The number has to be one whole
    number and the last of its line: `4/5`, `4.5`, `4-5`, `4 or 5` and `four` are no verdict, because what was meant
    would be a guess. Lines below are not read. The feedback is what stands before the mark.
    """
    plain = read_text(text)
    marks = list(_RESULT.finditer(plain))
    if not marks:
        raise Unusable("It does not end in [RESULT] and a score.", NO_VERDICT)
    rest = TURN_MARK.sub("", plain[marks[-1].end() :])
    number = _ONE_NUMBER.match("".join(char for char in rest if unicodedata.category(char) != "Cf"))
    if number is None:
        raise Unusable("After the last [RESULT] stands something else than one whole number.", NO_VERDICT)
    verdict = _on_offer(int(number.group(1)), rubric)
    return _given(verdict, _LABEL.sub("", plain[: marks[-1].start()]))


def _given(verdict: int, feedback: str) -> GivenVerdict:
    """Raises Unusable where the feedback loops: a verdict behind it follows from nothing."""
    refuse_loop(feedback, "Its feedback")
    return GivenVerdict(verdict, feedback.strip())


def _on_offer(verdict: float, rubric: Rubric) -> int:
    if verdict not in rubric.levels:
        offered = ", ".join(map(str, rubric.levels))
        # As a text: a model may write hundreds of digits, more than a float holds.
        shown = clipped(str(verdict), LONGEST_SHOWN)
        raise Unusable(f"The verdict {shown} is not on offer: give one of {offered}.", NOT_ON_OFFER)
    return int(verdict)


def _details(record: RubricRecord) -> Iterator[dict[str, Any]]:
    for trial in record.trials:
        yield {
            "what": "trial",
            "side": trial.order,
            "repeat": trial.repeat,
            "verdict": trial.verdict,
            "why": trial.feedback or trial.detail,
            "reason": trial.reason,
        }


def _check(settings: RubricSettings, bench: Bench, rated: RatedSet, by_rules: bool) -> tuple[Remark, ...]:
    """See check_compared; a prompt with a place for each text has one order."""
    if _PROMETHEUS in bench.prompts and settings.order != "response-first":
        text = "prompt {prompt} shows the response first; choose {order=response-first}"
        refuse_of_settings(
            [Remark("order", text, {"prompt": bench.prompts[_PROMETHEUS].name})], RubricSettings
        )
    return check_compared(settings, bench, rated, by_rules)


def _open(settings: RubricSettings, bench: Bench) -> Opened:
    rubric = parse_rubric(bench.attached, "rubric.yaml")
    return asking(lambda model: RubricJudge(model, bench.prompts, rubric, settings))


def _signed(_: RubricSettings, bench: Bench) -> dict[str, object]:
    rubric = parse_rubric(bench.attached, "rubric.yaml")
    return {"rubric": f"{rubric.name}-{rubric.sha256[:SHORT_SHA]}"}


KIND = JudgeKind(
    name="rubric",
    title="Rubric",
    family="Rubric",
    summary="a verdict on the rubric's scale, with feedback; needs references",
    section="rubric",
    Settings=RubricSettings,
    attachment=Attachment(
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
    ),
    Record=RubricRecord,
    reports=frozenset({"consistency"}),
    open=_open,
    check=_check,
    also_signed=_signed,
    details=_details,
    detail_columns=COMPARING_COLUMNS,
    record_problems=lambda record, _: trial_problems(
        "trials", record.trials, "order", "repeat", verdict=(0, HIGHEST_VERDICT)
    ),
    words=lambda record: tuple(trial.feedback for trial in record.trials if trial.feedback),
    words_called="feedback",
    score_bounds=lambda _: (0.0, float(HIGHEST_VERDICT)),
)

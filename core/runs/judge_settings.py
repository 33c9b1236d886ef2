"""What a judge's run was asked for, checked before it costs anything, and how it is kept with the run."""

import math
import re
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from pydantic import TypeAdapter

from core.errors import InputError
from core.runs.model_settings import (
    ModelSettings,
    RunningSettings,
    model_problems,
    prompts_described,
    running_problems,
)
from core.schema import CHECK_KINDS, CheckKind, JudgeKind, Run
from core.scoring.judges.settings import (
    AlignmentSettings,
    Answering,
    AnswersSettings,
    CefSettings,
    ClaimsSettings,
    Detail,
    Mode,
    Orders,
    Questions,
    RubricSettings,
    Verifier,
)

MOST_QUESTIONS, MOST_REPEATS = 100, 100
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")
_NAME = re.compile(r"[^\s,=:\"']{1,80}")


@dataclass(frozen=True)
class JudgeSettings(ModelSettings):
    """What determines a judge's scores."""

    kind: JudgeKind | CheckKind
    name: str = field(default="", kw_only=True)
    """What the judge's columns begin with; empty: kind and model, such as `rubric-gpt-4o-mini`."""
    rubric_text: str = field(default="", kw_only=True)
    """Of the rubric judge: the rubric's whole file."""
    rubric: RubricSettings = field(default_factory=RubricSettings, kw_only=True)
    claims: ClaimsSettings = field(default_factory=ClaimsSettings, kw_only=True)
    cef: CefSettings = field(default_factory=CefSettings, kw_only=True)
    answers: AnswersSettings = field(default_factory=AnswersSettings, kw_only=True)
    alignment: AlignmentSettings = field(default_factory=AlignmentSettings, kw_only=True)

    @property
    def judge_name(self) -> str:
        """The name under which the scores stand."""
        return self.name or f"{self.kind}-{_NOT_IN_NAMES.sub('-', self.model_name)}"

    @property
    def of_kind(self) -> RubricSettings | ClaimsSettings | CefSettings | AnswersSettings | AlignmentSettings:
        """The settings of this kind of judge."""
        chosen: RubricSettings | ClaimsSettings | CefSettings | AnswersSettings | AlignmentSettings = getattr(
            self, self.kind
        )
        return chosen

    @property
    def needs_nli(self) -> bool:
        """Whether an entailment model takes part: then the run works in the environment of the neural metrics."""
        return self.kind == "claims" and self.claims.verifier == "nli"


_OF_OTHERS = {"rubric", "claims", "cef", "answers", "alignment"}
_JUDGE = TypeAdapter(JudgeSettings)


def judge_of(run: Run) -> JudgeSettings:
    """What the run was asked for."""
    return _JUDGE.validate_python(run.settings)


def judge_kept(settings: JudgeSettings) -> dict[str, Any]:
    """As the store keeps it: JSON values only, defaults included, so that equal settings are equal texts."""
    kept: dict[str, Any] = _JUDGE.dump_python(settings, mode="json")
    return {name: value for name, value in kept.items() if name not in _OF_OTHERS - {settings.kind}}


def describe_judge(settings: JudgeSettings) -> dict[str, Any]:
    """The settings for a person to read: prompts by name and hash, nothing about other judges."""
    shown = {
        name: value
        for name, value in asdict(settings).items()
        if name not in _OF_OTHERS - {settings.kind}
        and not (name == "rubric_text" and settings.kind != "rubric")
    }
    return shown | {"prompts": prompts_described(settings), "name": settings.judge_name}


def check_judge(settings: JudgeSettings, running: RunningSettings) -> None:
    """Raise InputError with everything that is wrong, each named as its option."""
    problems = [*model_problems(settings), *running_problems(running), *_name_problems(settings)]
    if settings.backend == "rules" and settings.kind not in ("claims", "alignment"):
        problems.append("--backend: rules cannot be this judge; choose openai or vllm")
    if settings.needs_nli and settings.backend == "vllm":
        problems.append(
            "--backend: vllm and an entailment model cannot share an environment; serve the model "
            "(`vllm serve`) and choose --backend openai with its --base-url"
        )
    problems += _sampling_problems(settings)
    match settings.kind:
        case "rubric":
            problems += _chosen("--order", settings.rubric.order, _orders())
            problems += _counted("--repeats", settings.rubric.repeats, MOST_REPEATS)
        case "claims":
            problems += _claims_problems(settings)
        case "cef":
            cef = settings.cef
            problems += _chosen("--mode", cef.mode, get_args(Mode))
            problems += _chosen("--answers", cef.answers, get_args(Answering))
            problems += _chosen("--kind-of-questions", cef.questions, get_args(Questions))
            problems += _counted("--questions", cef.n_questions, MOST_QUESTIONS)
            problems += _counted("--repeats", cef.repeats, MOST_REPEATS)
        case "answers":
            problems += _chosen("--answers", settings.answers.answers, get_args(Answering))
        case "alignment":
            pass
    if problems:
        raise InputError("The run cannot start", problems)


def _orders() -> tuple[str, ...]:
    return ("reference-first", "response-first", *get_args(Orders)[-1:])


def _claims_problems(settings: JudgeSettings) -> list[str]:
    claims = settings.claims
    problems = [
        *_chosen("--atomicity", claims.atomicity, get_args(Detail)),
        *_chosen("--coverage", claims.coverage, get_args(Detail)),
        *_chosen("--verifier", claims.verifier, get_args(Verifier)),
    ]
    if not 0 < claims.beta < math.inf:
        problems.append(f"--beta: {claims.beta:g} is no weight above 0")
    if claims.verifier == "llm" and settings.backend == "rules":
        problems.append("--verifier: llm asks a model, and --backend rules has none; choose rules or nli")
    if claims.nli_model and claims.verifier != "nli":
        problems.append("--nli: names an entailment model, which only --verifier nli uses")
    return problems


def _name_problems(settings: JudgeSettings) -> list[str]:
    if not settings.name or _NAME.fullmatch(settings.name):
        return []
    return [
        "--name: a column's name has at most 80 characters, no blanks, commas, colons, equals signs or quotes"
    ]


def _sampling_problems(settings: JudgeSettings) -> list[str]:
    temperature = settings.of_kind.temperature
    if not 0 <= temperature <= 2:
        return [f"--temperature: {temperature:g} is not between 0 and 2"]
    return []


def _chosen(option: str, value: str, offered: tuple[str, ...]) -> list[str]:
    return [] if value in offered else [f"{option}: {value!r} is none of {', '.join(offered)}"]


def _counted(option: str, value: int, most: int) -> list[str]:
    return [] if 1 <= value <= most else [f"{option}: {value} is not between 1 and {most}"]


def is_check(settings: JudgeSettings) -> bool:
    """Whether the run looks at judges instead of scoring texts."""
    return settings.kind in CHECK_KINDS

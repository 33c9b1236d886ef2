"""What a judge's run was asked for, checked before it costs anything, and how it is kept with the run."""

import re
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from pydantic import TypeAdapter

from core.datasets.checked_json import bound, number_problem, written
from core.datasets.reading import is_blank
from core.errors import InputError
from core.judges.settings import (
    AlignmentSettings,
    Answering,
    AnswersSettings,
    AutoMqmSettings,
    CefSettings,
    ClaimsSettings,
    Detail,
    DirectSettings,
    JudgingSettings,
    Mode,
    Orders,
    QualitySettings,
    Questions,
    RubricSettings,
    Verifier,
)
from core.runs.model_settings import (
    Backend,
    ModelSettings,
    RunningSettings,
    model_problems,
    prompts_described,
    running_problems,
)
from core.runs.rated_settings import PARROT, not_offered, rated_name, rated_problems
from core.schema import CHECK_KINDS, JUDGING_KINDS, RATED_KINDS, RULES, CheckKind, JudgeKind, Run
from core.schema.judges import SETTING_BOUNDS

_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")
_OPTIONS = {"n_questions": "--questions"}
"""Of settings whose options are called otherwise; of all others a hyphen stands for an underscore."""
_BY_RULES = ("claims", "alignment", "automqm")
"""Kinds that rules can do, if only as a stand-in or a baseline."""
_NAME = re.compile(r"[^\s,=:\"']{1,80}")

OfKind = JudgingSettings | AnswersSettings | AlignmentSettings


@dataclass(frozen=True)
class JudgeSettings(ModelSettings):
    """What determines a judge's scores."""

    kind: JudgeKind | CheckKind
    name: str = field(default="", kw_only=True)
    """What the judge's columns begin with; empty: kind, mode and model, such as `cef-reference-qwen3`."""
    rubric_text: str = field(default="", kw_only=True)
    """Of the rubric judge: the rubric's whole file."""
    rubric: RubricSettings = field(default_factory=RubricSettings, kw_only=True)
    claims: ClaimsSettings = field(default_factory=ClaimsSettings, kw_only=True)
    cef: CefSettings = field(default_factory=CefSettings, kw_only=True)
    answers: AnswersSettings = field(default_factory=AnswersSettings, kw_only=True)
    alignment: AlignmentSettings = field(default_factory=AlignmentSettings, kw_only=True)
    task_text: str = field(default="", kw_only=True)
    """Of the judges that stand on ratings: the whole file of dimensions, severities and categories."""
    automqm: AutoMqmSettings = field(default_factory=AutoMqmSettings, kw_only=True)
    direct: DirectSettings = field(default_factory=DirectSettings, kw_only=True)
    quality: QualitySettings = field(default_factory=QualitySettings, kw_only=True)

    @property
    def judge_name(self) -> str:
        """The name under which the scores stand."""
        if self.name:
            return self.name
        if self.kind in RATED_KINDS:
            said = rated_name(self.of_kind, by_rules=self.backend == RULES)
        else:
            said = self._kind_and_mode
        parts = [said] if said.startswith(PARROT) else [said, self.model_name]
        return "-".join(_NOT_IN_NAMES.sub("-", part) for part in parts)

    @property
    def _kind_and_mode(self) -> str:
        """What tells two judges by one model apart: who verifies, and against what is examined."""
        if self.kind == "claims" and self.claims.verifier != "llm" and self.claims.verifier != self.backend:
            return f"claims-{self.claims.verifier}"
        if self.kind == "cef" and self.cef.mode != "reference-free":
            return f"cef-{self.cef.mode}"
        return self.kind

    @property
    def of_kind(self) -> OfKind:
        """The settings of this kind of judge."""
        chosen: OfKind = getattr(self, self.kind)
        return chosen

    @property
    def judge_kind(self) -> JudgeKind:
        """The kind of a judge that scores texts. Of a look at judges there is none: asking for it is a defect."""
        assert self.kind not in CHECK_KINDS, f"{self.kind} scores no texts"
        kind: JudgeKind = self.kind  # type: ignore[assignment]  # the assertion rules the others out; mypy narrows no literal by a tuple
        return kind

    @property
    def needs_nli(self) -> bool:
        """Whether an entailment model takes part: then the run works in the environment of the neural metrics."""
        return self.kind == "claims" and self.claims.verifier == "nli"


_JUDGE = TypeAdapter(JudgeSettings)


def judge_of(run: Run) -> JudgeSettings:
    """What the run was asked for."""
    return _JUDGE.validate_python(run.settings)


def judge_kept(settings: JudgeSettings) -> dict[str, Any]:
    """As the store keeps it: JSON values only, defaults included, so that equal settings are equal texts."""
    return _of_kind(settings, _JUDGE.dump_python(settings, mode="json"))


def describe_judge(settings: JudgeSettings) -> dict[str, Any]:
    """The settings for a person to read: prompts by name and hash, nothing about other judges."""
    shown = _of_kind(settings, _JUDGE.dump_python(settings, mode="json"))
    return shown | {"prompts": prompts_described(settings), "name": settings.judge_name}


def _of_kind(settings: JudgeSettings, values: dict[str, Any]) -> dict[str, Any]:
    """Without what only another judge would be asked."""
    others = {*JUDGING_KINDS, "rubric_text", "task_text"} - {settings.kind}
    others -= {"rubric_text"} if settings.kind == "rubric" else set()
    others -= {"task_text"} if settings.kind in RATED_KINDS else set()
    return {name: value for name, value in values.items() if name not in others}


def usual_verifier(backend: Backend, nli_model: str) -> Verifier:
    """Who verifies claims unless the user says so: the entailment model that is named, else whoever decomposes."""
    if nli_model:
        return "nli"
    return "rules" if backend == "rules" else "llm"


def check_judge(settings: JudgeSettings, running: RunningSettings) -> None:
    """Raise InputError with everything that is wrong, each named as its option."""
    problems = [*model_problems(settings), *running_problems(running), *_name_problems(settings)]
    if settings.backend == "rules" and settings.kind not in _BY_RULES:
        problems.append("--backend: rules cannot be this judge; choose openai or vllm")
    if settings.needs_nli and settings.backend == "vllm":
        problems.append(
            "--backend: vllm and an entailment model cannot share an environment; serve the model "
            "(`vllm serve`) and choose --backend openai with its --base-url"
        )
    problems += _number_problems(settings)
    match settings.kind:
        case "rubric":
            problems += not_offered("--order", settings.rubric.order, get_args(Orders))
        case "claims":
            problems += _claims_problems(settings)
        case "cef":
            cef = settings.cef
            problems += not_offered("--mode", cef.mode, get_args(Mode))
            problems += not_offered("--answers", cef.answers, get_args(Answering))
            problems += not_offered("--kind-of-questions", cef.questions, get_args(Questions))
            if cef.mode == "round-trip" and is_blank(cef.source_language):
                problems.append(
                    "--source-language: is empty; name the language that texts are translated back into"
                )
        case "answers":
            problems += not_offered("--answers", settings.answers.answers, get_args(Answering))
        case "automqm" | "direct" | "quality":
            problems += rated_problems(settings.of_kind, by_rules=settings.backend == RULES)
        case _:
            pass
    if problems:
        raise InputError("The run cannot start", problems)


def _claims_problems(settings: JudgeSettings) -> list[str]:
    claims = settings.claims
    problems = [
        *not_offered("--atomicity", claims.atomicity, get_args(Detail)),
        *not_offered("--coverage", claims.coverage, get_args(Detail)),
        *not_offered("--verifier", claims.verifier, get_args(Verifier)),
    ]
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


def _number_problems(settings: JudgeSettings) -> list[str]:
    given = {name: value for name, value in asdict(settings.of_kind).items() if name in SETTING_BOUNDS}
    return [
        f"{option_of(name)}: {written(value)} is not between {bound(lowest)} and {bound(highest)}"
        for name, value in given.items()
        for lowest, highest in (SETTING_BOUNDS[name],)
        if number_problem(value, lowest, highest)
    ]


def option_of(setting: str) -> str:
    """The option by which a command takes a setting."""
    return _OPTIONS.get(setting) or f"--{setting.replace('_', '-')}"

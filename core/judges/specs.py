"""The columns of every judge: their names, and signatures that hold every setting which changes a score."""

from collections.abc import Mapping
from dataclasses import asdict

from core.judges.settings import (
    AutoMqmSettings,
    CefSettings,
    ClaimsSettings,
    DirectSettings,
    JudgingSettings,
    QualitySettings,
)
from core.schema.runs import JudgeKind
from core.schema.scores import Metric

CEF_COMPONENTS = ("coverage", "conformity", "consistency", "consistency-code", "conciseness", "overall")
"""In the order of the columns. `consistency` is 001's formula, `consistency-code` what its code and its A.6 count."""
_UNUSED_BY_RULES = ("temperature", "seed", "coverage")
"""Rules answer without chance, and take every sentence whatever was asked for."""
FAMILIES: Mapping[JudgeKind, str] = {
    "rubric": "Rubric",
    "claims": "Claims",
    "cef": "CEF",
    "automqm": "AutoMQM",
    "direct": "Direct",
    "quality": "Quality",
}


def components(settings: JudgingSettings, dimensions: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What a judge's columns end in; the only one of a judge with one score in nothing.

    dimensions: names of the task's, in its order; an evaluator of quality has a column for each.
    """
    if isinstance(settings, QualitySettings):
        return dimensions
    if isinstance(settings, ClaimsSettings):
        f_beta = f"f{settings.beta:g}"
        return (f_beta, "precision", "recall", f"{f_beta}-ragas")
    return CEF_COMPONENTS if isinstance(settings, CefSettings) else ("",)


def judge_metrics(
    kind: JudgeKind,
    name: str,
    settings: JudgingSettings,
    asked: Mapping[str, object],
    dimensions: tuple[str, ...] = (),
) -> tuple[Metric, ...]:
    """A judge's metrics in the order of its scores; higher is better for all of them.

    asked: what else determines the verdicts, such as the model, the hashes of prompts and rubric, the entailment
    model; in the order in which the signature says it. Settings without effect on a score stand in no signature.
    dimensions: see components.
    """
    parts = {**asked, **_determining(settings, asked)}
    said = "|".join(f"{key.replace('_', '-')}:{_plain(value)}" for key, value in parts.items() if value != "")
    return tuple(
        Metric(
            f"{name}-{component}" if component else name,
            f"{FAMILIES[kind]}|score:{component or 'verdict'}|{said}",
            FAMILIES[kind],
        )
        for component in components(settings, dimensions)
    )


def _determining(settings: JudgingSettings, asked: Mapping[str, object]) -> dict[str, object]:
    """The settings that change a score."""
    by_rules = asked.get("backend") == "rules"
    if isinstance(settings, AutoMqmSettings | DirectSettings):
        return {k: v for k, v in asdict(settings).items() if k not in _unused_of_examples(settings, by_rules)}
    without: list[str] = []
    if isinstance(settings, QualitySettings) and not settings.shots:
        without += ["held_out", "majority"]
    if isinstance(settings, CefSettings):
        without += ["reask"] if settings.mode == "round-trip" else ["reask", "source_language"]
    if by_rules:
        without += _UNUSED_BY_RULES
    return {key: value for key, value in asdict(settings).items() if key not in without}


def _unused_of_examples(settings: AutoMqmSettings | DirectSettings, by_rules: bool) -> set[str]:
    """What changes no score: which texts are judged, what only the Parrot or only a model looks at, and how examples are
    drawn where there are none, or where all are shown.
    """
    without = {"only", "temperature" if by_rules else "occurrences"}
    if settings.examples == "none":
        without |= {"n_examples", "filtered", "rater"}
    if by_rules and settings.examples == "specialist" and not settings.n_examples:
        without |= {"seed", "repeats"}
    return without


def _plain(value: object) -> str:
    """As a signature says it: yes and no for what is on or off, short numbers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)

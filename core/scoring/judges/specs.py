"""The columns of every judge: their names, and signatures that hold every setting which changes a score."""

from collections.abc import Mapping
from dataclasses import asdict

from core.schema.runs import JudgeKind
from core.schema.scores import Metric
from core.scoring.judges.settings import CefSettings, ClaimsSettings, JudgingSettings

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


def components(settings: JudgingSettings) -> tuple[str, ...]:
    """What a judge's columns end in; the rubric judge's only one in nothing."""
    if isinstance(settings, ClaimsSettings):
        f_beta = f"f{settings.beta:g}"
        return (f_beta, "precision", "recall", f"{f_beta}-ragas")
    return CEF_COMPONENTS if isinstance(settings, CefSettings) else ("",)


def judge_metrics(
    kind: JudgeKind,
    name: str,
    settings: JudgingSettings,
    asked: Mapping[str, object],
) -> tuple[Metric, ...]:
    """A judge's metrics in the order of its scores; higher is better for all of them.

    asked: what else determines the verdicts, such as the model, the hashes of prompts and rubric, the entailment
    model; in the order in which the signature says it. Settings without effect on a score stand in no signature.
    """
    parts = {**asked, **_determining(settings, asked)}
    said = "|".join(f"{key.replace('_', '-')}:{_plain(value)}" for key, value in parts.items() if value != "")
    return tuple(
        Metric(
            f"{name}-{component}" if component else name,
            f"{FAMILIES[kind]}|score:{component or 'verdict'}|{said}",
            FAMILIES[kind],
        )
        for component in components(settings)
    )


def _determining(settings: JudgingSettings, asked: Mapping[str, object]) -> dict[str, object]:
    """The settings that change a score."""
    without: list[str] = []
    if isinstance(settings, CefSettings):
        without += ["reask"] if settings.mode == "round-trip" else ["reask", "source_language"]
    if asked.get("backend") == "rules":
        without += _UNUSED_BY_RULES
    return {key: value for key, value in asdict(settings).items() if key not in without}


def _plain(value: object) -> str:
    """As a signature says it: yes and no for what is on or off, short numbers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)

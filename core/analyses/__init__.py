"""Questions that may be asked of numbers, one module each; `core.schema.analysis` says what an analysis is.

A new analysis is a module that exports ANALYSIS, and its line here. Modules are imported when they are used.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.schema.analysis import Analysis, Taken


@dataclass(frozen=True)
class Registered:
    """Where an analysis is, and the line on it in `--help`."""

    module: str
    summary: str
    noun: str = ""
    """The noun of whose verbs its command is one, such as `report`; empty: its command is a noun of its own."""
    verb: str = ""
    """Its command, if that is not the analysis's name."""
    switch: str = ""
    """The switch of the noun's command that asks it, too; empty: it has a command of its own."""


ANALYSES: dict[str, Registered] = {
    "check": Registered(
        "core.analyses.check",
        "can this judge be trusted? TRUSTED, NOT TRUSTED or INCONCLUSIVE for a use, from any file or from votes",
    ),
    "which-judge": Registered(
        "core.analyses.which_judge",
        "which of several judges? Quality against price and time",
        noun="report",
        verb="which-judge",
    ),
    "gaps": Registered(
        "core.analyses.gaps", "the texts on which people and judges differ most", noun="report", verb="gaps"
    ),
    "next-labels": Registered(
        "core.analyses.next_labels",
        "the texts that people should label next",
        noun="report",
        verb="next-labels",
    ),
    "ablation": Registered(
        "core.analyses.ablation",
        "how much cross-examinations vary over repeats, by number of questions",
        noun="reproduce",
        verb="cef ablation",
    ),
    "calibrate": Registered(
        "core.analyses.calibrate",
        "compare evaluators with human ratings: agreement, kappas, bias, and where not to use them",
    ),
    "agreement": Registered(
        "core.analyses.agreement",
        "do people agree with each other, and is one of them harsher? No judge is needed",
    ),
    "alt-test": Registered(
        "core.analyses.alt_test",
        "may a judge replace a rater? The Alt-test, with the human ceiling and power",
    ),
    "consistency": Registered(
        "core.analyses.consistency",
        "compare a judge's repeats, and its scores in both orders",
        noun="report",
    ),
    "copying": Registered(
        "core.analyses.copying",
        "count the errors that a judge copies from its examples, and those that people marked too",
        noun="reproduce",
        verb="specialist copying",
    ),
    "examples-curve": Registered(
        "core.analyses.examples_curve",
        "F1 of marked errors against the number of examples",
        noun="reproduce",
        verb="specialist examples-curve",
    ),
    "corrected": Registered(
        "core.analyses.corrected",
        "a judge's mean or pass rate, corrected by human labels on some of the texts",
    ),
    "judge-scores": Registered(
        "core.analyses.judge_scores",
        "means of a judge's scores, texts without one, and signs that the scores say little",
        noun="report",
        verb="scores",
    ),
    "bias": Registered(
        "core.analyses.bias",
        "what besides quality sways a judge: edits of a text, and its place",
        noun="report",
    ),
    "escalate": Registered(
        "core.analyses.escalate",
        "keep a judge where it is sure to agree with people, and send the other texts to them",
    ),
    "made-levels": Registered(
        "core.analyses.made_levels",
        "are made levels what they claim: falling scores, core fact, contradictions, equal texts, length? Which to remake",
        noun="report",
        verb="levels",
    ),
    "reasked": Registered(
        "core.analyses.reasked",
        "compare expected answers with the model's own answers to the same questions",
        noun="reproduce",
        verb="cef reasked",
    ),
    "answers": Registered(
        "core.analyses.answers",
        "count each model's answers to the judges' questions",
        noun="reproduce",
        verb="cef answers",
    ),
    "caught-errors": Registered(
        "core.analyses.caught_errors",
        "share of the errors that people marked to which a mismatching question points",
        noun="reproduce",
        verb="cef alignment",
    ),
    "reliability": Registered(
        "core.analyses.reliability",
        "how often models confirm each other's questions and answers: ADR and ADS",
        noun="reproduce",
        verb="cef reliability",
    ),
    "spans": Registered(
        "core.analyses.spans",
        "precision, recall and F1 of marked errors, by character",
    ),
    "raters": Registered(
        "core.analyses.raters",
        "compare each rater's marked errors with those of every other rater or judge",
        noun="report",
    ),
    "acc23": Registered(
        "core.analyses.acc23",
        "pairwise accuracy of metrics against human ratings, with tie calibration as in WMT23",
    ),
    "meta-correlate": Registered(
        "core.analyses.meta_correlate",
        "compare how synthetic data and people rank metrics",
    ),
    "costs": Registered(
        "core.analyses.costs",
        "compare the cost of judges: calls, tokens and money by step and text",
        noun="report",
    ),
    "judge-agreement": Registered(
        "core.analyses.judge_agreement",
        "compare two judges on the same texts: agreement, and texts on which they differ",
        noun="report",
        verb="compare",
    ),
    "pairs": Registered(
        "core.analyses.pairs",
        "report on a judge of pairs: both orders, ties, win rates, and agreement with the votes of a study",
        noun="report",
    ),
    "prompts": Registered(
        "core.analyses.prompts",
        "compare prompts or models of a judge that ran on the same texts",
        noun="report",
    ),
    "leakage": Registered(
        "core.analyses.leakage",
        "check whether length, diff, punctuation, ... reveal the system",
        noun="study",
        verb="audit",
    ),
    "look": Registered(
        "core.analyses.look",
        "show the always-valid bound of a running study, if its design declares early looks",
        noun="study",
    ),
    "plan": Registered(
        "core.analyses.plan",
        "show how many questions, raters and votes reach a power or half-width",
        noun="study",
    ),
    "study-results": Registered(
        "core.analyses.study_results",
        "show verdict, agreement and composite, with intervals",
        noun="study",
        verb="results",
    ),
    "votes": Registered(
        "core.analyses.votes",
        "do metrics and judges prefer the answers that the raters of a blind study preferred?",
    ),
    "correlate": Registered(
        "core.analyses.correlate",
        "correlations of metrics with human ratings or damage levels",
    ),
    "rank": Registered(
        "core.analyses.rank",
        "which metric follows quality most closely, and which does no test separate?",
        noun="correlate",
        switch="rank",
    ),
    "compare": Registered(
        "core.analyses.compare",
        "which of two metrics follows quality more closely?",
        noun="correlate",
        switch="compare",
    ),
    "levels": Registered(
        "core.analyses.levels",
        "do scores fall with each step of damage, and where does the damaged text win?",
        noun="correlate",
        switch="levels",
    ),
    "redundancy": Registered(
        "core.analyses.redundancy",
        "do two metrics score the same texts alike?",
        noun="correlate",
        switch="redundancy",
    ),
    "table": Registered(
        "core.analyses.big_table",
        "estimates of a run over a big table: which metric follows quality, and means by group",
        noun="runs",
    ),
}
"""Name -> module, in the order in which doors list them."""


def commands_of(noun: str) -> dict[str, str]:
    """Command -> the analysis that it asks, of the verbs of this noun; empty: of the nouns."""
    return {one.verb or name: name for name, one in ANALYSES.items() if one.noun == noun and not one.switch}


def switches_of(noun: str) -> dict[str, str]:
    """Switch, without hyphens -> the analysis that it asks, of the command of this noun."""
    return {one.switch: name for name, one in ANALYSES.items() if one.noun == noun and one.switch}


def command_of(name: str) -> str:
    """What users type to ask the analysis of this name, such as `report levels`."""
    one = ANALYSES[name]
    own = f"--{one.switch}" if one.switch else one.verb or name
    return f"{one.noun} {own}".strip()


def analysis(name: str) -> "Analysis[Any, Any]":
    """The analysis of this name."""
    found: Analysis[Any, Any] = import_module(ANALYSES[name].module).ANALYSIS
    return found


def analyses_of(*taken: "Taken") -> "dict[str, Analysis[Any, Any]]":
    """Name -> analysis, of those that need just these kinds of data."""
    return {name: one for name in ANALYSES if (one := analysis(name)).takes == taken}

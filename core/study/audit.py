"""The leakage audit: can the two sources be told apart without knowing them? A warning, never a block.

Hiding names is not blinding: one rule of thumb ("the text whose length changed less") may name the source of most
answers. The audit measures this before anybody votes, from the texts alone; it reads no votes. Swapping the
roles or renaming the sources changes no number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from core import __version__
from core.schema import Design, Item, Output, Study
from core.stats.separability import Separability, SingleRule, separability, strongest_rule
from core.store import Store
from core.store.studies import items_of, outputs_of
from core.study.linkage import Linkage, link_levels
from core.study.raters import check_kind
from core.study.text_features import FEATURES, feature_table

Severity = Literal["warning", "hint", "none", "unknown"]

N_RESAMPLES = 2000
ALPHA = 0.05
"""Smaller p values count, after paying for how many were looked at (`LeakageAudit.paid_p`)."""

_ADVICE = {
    "length": "give both sources the same length to aim at",
    "change_of_length": "make both sources change their A0 by as much, with one length instruction at every level",
    "diff_size": "make both sources change as much of their A0, with one instruction at every level",
    "sentences": "ask both sources for the same number of sentences",
    "punctuation": "punctuate both sources in one way",
    "formatting": "strip line breaks, lists and Markdown from all answers, or format both sources in one way",
    "repeated_wording": "take out set phrases that come back from question to question",
}


@dataclass(frozen=True)
class LevelAudit:
    """How far the sources can be told apart at one level, or at all levels together."""

    level: str | None
    """None: all levels together."""
    all_features: Separability
    """From all features together, cross-validated."""
    rule: SingleRule
    """The strongest single feature; its column is a place in FEATURES."""

    @property
    def rule_name(self) -> str | None:
        """The rule in words, as said of the candidate's answer: 'smaller change of length'."""
        if self.rule.column is None:
            return None
        feature = FEATURES[self.rule.column]
        return feature.larger if self.rule.larger else feature.smaller

    @property
    def rule_text(self) -> str | None:
        """The rule with its count: 'smaller change of length: right for 15 of 20, 2 undecided'."""
        if self.rule_name is None:
            return None
        undecided = f", {self.rule.n_undecided} undecided" if self.rule.n_undecided else ""
        return f"{self.rule_name}: right for {self.rule.n_right} of {self.rule.n_pairs}{undecided}"

    @property
    def lowest_p(self) -> float:
        """The smaller of the two p values; 1 where neither is defined."""
        return min((p for p in (self.all_features.p, self.rule.p) if p is not None), default=1.0)


@dataclass(frozen=True)
class LeakageAudit:
    """What the texts give away. Nothing here depends on votes."""

    candidate: str
    comparator: str
    levels: tuple[LevelAudit, ...]
    overall: LevelAudit
    """All levels together; the levels of a question are left out and flipped together."""
    linkage: Linkage
    shuffled: bool
    """The design shuffles levels already."""
    n_resamples: int
    rng: int

    @property
    def severity(self) -> Severity:
        """`warning`: a leak that chance hardly explains; `hint`: one that it may explain; `unknown`: too few questions.

        An AUC alone is never a finding: with 8 questions and nothing to find, more than half of all studies have
        one of 0.7 or more at some level.
        """
        parts = (self.overall, *self.levels)
        if self.overall.all_features.auc is None:
            return "unknown"
        if any(self.paid_p(part) < ALPHA for part in parts):
            return "warning"
        return "hint" if any(part.lowest_p < ALPHA for part in parts) else "none"

    @property
    def worst(self) -> LevelAudit:
        """The level, or all levels together, with the strongest evidence: lowest paid p, then highest AUC."""
        return min(
            (*self.levels, self.overall),
            key=lambda part: (self.paid_p(part), -(part.all_features.auc or 0)),
        )

    def paid_p(self, part: LevelAudit) -> float:
        """The lower of a part's two p times two; a single level's times the number of levels too (Bonferroni)."""
        looks = 2 * (1 if part.level is None else len(self.levels))
        return min(1.0, part.lowest_p * looks)

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        reading = {"severity": self.severity, "sentences": list(reading_sentences(self))}
        return {
            "app_version": __version__,
            "candidate": self.candidate,
            "comparator": self.comparator,
            "features": [feature.name for feature in FEATURES],
            "per_level": {part.level: _json(part) for part in self.levels},
            "overall": _json(self.overall),
            "linkage": {**asdict(self.linkage), "sentence": self.linkage.sentence()},
            "reading": reading,
            "n_resamples": self.n_resamples,
            "rng": self.rng,
        }


def audit_texts(
    items: Sequence[Item],
    levels: Sequence[str],
    outputs: Iterable[Output],
    design: Design,
    *,
    n_resamples: int = N_RESAMPLES,
    rng: int = 0,
) -> LeakageAudit:
    """Audit the texts of a study, or of a data set before it becomes one.

    Every item needs every level from both of the design's sources. n_resamples: flips behind every p. `rng` seeds every
    part anew, so that a number does not depend on which others are computed with it. Fewer than six questions
    that differ give None with the reason.
    """
    outputs = list(outputs)
    table = feature_table(items, levels, outputs)
    settings = {"n_resamples": n_resamples, "rng": rng}
    questions = [item.item_id for item in items]

    def part(name: str | None, chosen: Sequence[str]) -> LevelAudit:
        values = [
            [table[item, level, source] for level in chosen for item in questions]
            for source in (design.candidate, design.comparator)
        ]
        rows = np.subtract(*np.array(values).reshape(2, -1, len(FEATURES)))
        labels = np.tile(np.arange(len(questions)), len(chosen))
        return LevelAudit(
            name, separability(rows, labels, **settings), strongest_rule(rows, labels, **settings)
        )

    return LeakageAudit(
        candidate=design.candidate,
        comparator=design.comparator,
        levels=tuple(part(level, [level]) for level in levels),
        overall=part(None, levels),
        linkage=link_levels(levels, outputs),
        shuffled=design.level_order == "shuffled",
        n_resamples=n_resamples,
        rng=rng,
    )


def audit_study(store: Store, study: Study) -> LeakageAudit:
    """Audit the texts of a study of pairs, as its design stands now. Raises NotAllowed for a study of ratings."""
    check_kind(study, "pairs", "two sources to be told apart, and no leakage audit")
    items, outputs = items_of(store, study.study_id), outputs_of(store, study.study_id)
    return audit_texts(items, study.levels, outputs, study.design)


def reading_sentences(audit: LeakageAudit) -> tuple[str, ...]:
    """What the numbers mean and what to do, in plain words."""
    n = len(audit.levels)
    looked = f"{n} level{'s' if n > 1 else ''} and all together were looked at"
    worst = audit.worst
    if audit.severity == "unknown":
        return (f"The audit cannot say anything: {audit.overall.all_features.reason}.",)
    if audit.severity == "none":
        return (
            f"No leak was found in these features ({looked}).",
            f"This is no proof of blindness: with {worst.all_features.n_questions} questions only a strong leak shows, and "
            "readers see more than these features.",
        )
    if audit.severity == "warning":
        first = (
            f"Warning: superficial features tell the two sources apart: {_evidence(audit, worst)}; {looked}."
        )
    else:
        first = f"A hint, which may be chance: {_evidence(audit, worst)}; {looked}."
    return first, _advice(audit, worst)


def audit_note(audit: LeakageAudit) -> str | None:
    """One sentence with the strongest warning, for use at import; None without a warning."""
    if audit.severity != "warning":
        return None
    return f"Leakage audit: superficial features tell the two sources apart: {_evidence(audit, audit.worst)}."


def _evidence(audit: LeakageAudit, part: LevelAudit) -> str:
    """The stronger of a part's two findings, in words."""
    at = "over all levels" if part.level is None else f"at {part.level}"
    found, rule = part.all_features, part.rule
    if found.auc is not None and (rule.p is None or (found.p or 1) < rule.p):
        return f"{at}, all features together name the right one of a pair with AUC {found.auc:.2f} (p {found.p:.4f})"
    equal = f" ({rule.n_undecided} undecided)" if rule.n_undecided else ""
    return (
        f"{at}, {_as_answer(part.rule_name or '')} is that of {audit.candidate} in {rule.n_right} of "
        f"{rule.n_pairs} pairs{equal} (p {rule.p:.4f})"
    )


def _as_answer(rule: str) -> str:
    if rule.endswith("answer"):
        return f"the {rule}"
    article = "the " if rule.startswith(("smaller", "larger")) else ""
    return f"the answer with {article}{rule}"


def _advice(audit: LeakageAudit, part: LevelAudit) -> str:
    feature = FEATURES[part.rule.column or 0].name
    order = "" if audit.shuffled else "show levels shuffled (--levels-order shuffled) or "
    return (
        f"What to do: {_ADVICE[feature]}; {order}give raters only some levels; report this with the result; after the "
        "last answer, look at the blinding index."
    )


def _json(part: LevelAudit) -> dict[str, Any]:
    rule = asdict(part.rule)
    column = rule.pop("column")
    return {
        **asdict(part.all_features),
        "strongest_rule": {
            "feature": None if column is None else FEATURES[column].name,
            "text": part.rule_text,
            **rule,
        },
    }

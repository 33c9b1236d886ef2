"""The leakage audit: can the two sources be told apart without knowing them? A warning, never a block."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import regex
from rapidfuzz.distance import LCSseq

from core import __version__
from core.diff import diff_against, tokenize
from core.schema.result_table import Column, Interval, ResultTable
from core.schema.study import FIRST_LEVEL, Design, Item, Output, Study
from core.stats.blinding import Separability, SingleRule, separability, strongest_rule
from core.store import Store
from core.store.studies import items_of, outputs_of
from core.study.raters import check_asks

TextKey = tuple[str, str, str]
"""(item_id, level, source)"""
Triple = tuple[str, str, str]
"""Three words in a row, case folded."""

_WORD = regex.compile(r"[\p{L}\p{N}]")
_LETTER = regex.compile(r"\p{L}")
_PUNCTUATION = regex.compile(r"\p{P}")
_SENTENCE_END = regex.compile(
    r"""
    [.!?…]+ [\p{Pe}\p{Pf}"']* (?=\s|$)   # a point inside a word or number ends nothing
    | [\p{STerm}--[.!?]]+                # in scripts without spaces nothing need follow
    | \n+
    """,
    regex.VERBOSE | regex.V1,
)
_FORMATTING = regex.compile(
    r"""
    \n
    | ^[^\S\n]* (?: [-+*•◦‣–—] | \d{1,3}[.)] ) (?=[^\S\n])   # a list marker
    | ^[^\S\n]* (?: \#{1,6} | > ) (?=[^\S\n])                # a heading, a quotation
    | \*+ | __ | `+ | \|                                     # emphasis, code, a table
    """,
    regex.VERBOSE | regex.MULTILINE,
)


@dataclass(frozen=True)
class Feature:
    """One number of a text, with the words for a rule that goes by it."""

    name: str
    """Its key in JSON."""
    smaller: str
    """What an answer with less of it is called."""
    larger: str
    """What an answer with more of it is called."""


FEATURES: tuple[Feature, ...] = (
    Feature("length", "shorter answer", "longer answer"),
    Feature("change_of_length", "smaller change of length", "larger change of length"),
    Feature("diff_size", "less marked as changed", "more marked as changed"),
    Feature("sentences", "fewer sentences", "more sentences"),
    Feature("punctuation", "less punctuation", "more punctuation"),
    Feature("formatting", "less formatting", "more formatting"),
    Feature("repeated_wording", "less repeated wording", "more repeated wording"),
)
"""In the order of every row of `feature_table`."""


def words_and_marks(text: str) -> list[str]:
    """The tokens of a text in order, case folded, without white space: words, punctuation, signs."""
    return [token.casefold() for token in tokenize(text) if not token.isspace()]


def sentences(text: str) -> int:
    """Pieces with a letter between marks that end a sentence, and line breaks.

    Abbreviations ("U.S. is") count as an end; in Thai, which marks no sentences, lines are counted.
    """
    return sum(1 for piece in _SENTENCE_END.split(text) if _LETTER.search(piece))


def punctuation(text: str) -> float:
    """Punctuation marks per 100 characters, 0 to 100; per character, because length is a feature of its own."""
    return 100 * len(_PUNCTUATION.findall(text)) / max(1, len(text))


def formatting(text: str) -> int:
    """Line breaks, list markers and Markdown marks, together."""
    return len(_FORMATTING.findall(text))


def diff_size(base: str, text: str) -> int:
    """Characters that differ word by word, added and removed together; a rater sees close changes joined."""
    return sum(len(segment.text) for segment in diff_against(base, text) if segment.kind != "same")


def feature_table(
    items: Sequence[Item], levels: Sequence[str], outputs: Iterable[Output]
) -> dict[TextKey, tuple[float, ...]]:
    """The features of every text, in the order of FEATURES.

    - length: characters.
    - change_of_length: absolute difference from the source's own A0, in words and punctuation marks; at A0 (and where a
      study has none) from the reference: what a rater sees the text's changes marked against.
    - diff_size: characters marked as added or removed against that same text.
    - sentences; punctuation (per 100 characters); formatting (line breaks, list markers, Markdown marks).
    - repeated_wording: share of the text's word triples that also stand in answers to other questions, of either
      source; 0 for a text of fewer than three words.

    `outputs` holds each (item, level, source) once. Texts are taken as stored, after `clean_text`.
    """
    texts = {(o.item_id, o.level, o.source): o.text for o in outputs}
    references = {item.item_id: item.reference for item in items}
    tokens = {key: words_and_marks(text) for key, text in texts.items()}
    n_in_reference = {item_id: len(words_and_marks(text)) for item_id, text in references.items()}
    triples = {key: _triples(found) for key, found in tokens.items()}
    repeated = _repeated(triples)
    table = {}
    for key, text in texts.items():
        item, level, source = key
        own_first = (item, FIRST_LEVEL, source)
        against_own = level != FIRST_LEVEL and own_first in texts
        base = texts[own_first] if against_own else references[item]
        n_in_base = len(tokens[own_first]) if against_own else n_in_reference[item]
        table[key] = (
            float(len(text)),
            float(abs(len(tokens[key]) - n_in_base)),
            float(diff_size(base, text)),
            float(sentences(text)),
            punctuation(text),
            float(formatting(text)),
            sum(triple in repeated for triple in triples[key]) / max(1, len(triples[key])),
        )
    return {key: table[key] for key in table if key[1] in levels}


def _triples(tokens: Sequence[str]) -> list[Triple]:
    words = [token for token in tokens if _WORD.search(token)]
    return list(zip(words, words[1:], words[2:], strict=False))


def _repeated(triples: Mapping[TextKey, Sequence[Triple]]) -> set[Triple]:
    """Word triples that stand in answers to at least two questions."""
    owner: dict[Triple, str] = {}
    repeated: set[Triple] = set()
    for (item, _, _), found in triples.items():
        repeated.update(triple for triple in found if owner.setdefault(triple, item) != item)
    return repeated


MOSTLY = 0.6
"""From this share on, wording is said to link sides; half is chance."""


@dataclass(frozen=True)
class Linkage:
    """Can a text at a later level be traced to its own A0 by its wording?"""

    n_own_nearer: int
    """Texts that share more of their wording with their own A0 than with the other source's A0."""
    n_equal: int
    """Texts that share as much with both."""
    n_texts: int
    """Texts at later levels, of both sources."""
    reason: str | None
    """Why nothing was compared."""

    def sentence(self) -> str:
        """What it means, in words."""
        if self.reason is not None:
            return f"Sides were not linked across levels: {self.reason}."
        equal = f", {self.n_equal} share as much with both" if self.n_equal else ""
        if self.n_own_nearer + self.n_equal / 2 < MOSTLY * self.n_texts:
            return (
                f"Only {self.n_own_nearer} of {self.n_texts} texts at later levels share more with their own A0 than "
                f"with the other source's A0{equal}: wording hardly links the sides of one question across levels."
            )
        return (
            "Texts at later levels carry the wording of their own A0, so who reads closely can link the sides of one "
            f"question across levels: {self.n_own_nearer} of {self.n_texts} texts share more with their own A0 than "
            f"with the other source's A0{equal}. Sides that are drawn anew at every level do not hide this."
        )


def link_levels(levels: Sequence[str], outputs: Iterable[Output]) -> Linkage:
    """Compare every text at a later level with both A0 of its question.

    Nearer is the A0 with the longer common subsequence of words and marks, as a share of the longer text
    (rapidfuzz LCSseq.normalized_similarity). `outputs` holds two sources. Undefined without A0 or without later levels.
    """
    if FIRST_LEVEL not in levels or len(levels) < 2:
        return Linkage(0, 0, 0, f"the study has no {FIRST_LEVEL} with later levels")
    numbers: dict[str, int] = {}  # rapidfuzz compares hashes; numbers never collide
    firsts: dict[str, dict[str, list[int]]] = {}
    later: list[tuple[str, str, list[int]]] = []
    for output in outputs:
        code = [numbers.setdefault(token, len(numbers)) for token in words_and_marks(output.text)]
        if output.level == FIRST_LEVEL:
            firsts.setdefault(output.item_id, {})[output.source] = code
        elif output.level in levels:
            later.append((output.item_id, output.source, code))
    n_nearer = n_equal = 0
    for item, source, code in later:
        near = {name: LCSseq.normalized_similarity(code, first) for name, first in firsts[item].items()}
        own = near.pop(source)
        (other,) = near.values()
        n_nearer += own > other
        n_equal += own == other
    return Linkage(n_nearer, n_equal, len(later), None)


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
            (*self.levels, self.overall), key=lambda part: (self.paid_p(part), -(part.all_features.auc or 0))
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
    """Audit the texts of a study of pairs with levels, under its present design. Raises NotAllowed for any other."""
    check_asks(study, ["levels"], "leakage audit")
    items, outputs = items_of(store, study.study_id), outputs_of(store, study.study_id)
    return audit_texts(items, study.levels, outputs, study.design)


AUDIT_COLUMNS = (
    Column("level", "Level", names_row=True),
    Column("pairs", "Pairs"),
    Column("auc", "AUC"),
    Column("p", places=4),
    Column("strongest_rule", "Strongest rule"),
    Column("p_of_the_rule", places=4),
)


def audit_table(audit: LeakageAudit) -> ResultTable:
    """A row a level and one for all levels together. The AUC has no interval; its p is beside it."""
    rows = tuple(
        (
            part.level or "all levels",
            found.n_pairs,
            Interval(found.auc, n=found.n_questions, reason=found.reason or ""),
            found.p,
            part.rule_text or "none",
            part.rule.p,
        )
        for part in (*audit.levels, audit.overall)
        for found in [part.all_features]
    )
    notes = (
        f"Strongest rule: said of the answer of {audit.candidate}.",
        f"p: from at most {audit.n_resamples:,} swaps of the two sources of a question.",
    )
    title = f"Leakage audit: {audit.candidate} against {audit.comparator}, from the texts alone"
    return ResultTable("leakage", AUDIT_COLUMNS, rows, title, notes)


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
    order = "" if audit.shuffled else "show levels shuffled or "
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

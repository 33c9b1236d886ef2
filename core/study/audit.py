"""The leakage audit: do superficial features reveal which system wrote an answer? It warns and never blocks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import regex
from rapidfuzz.distance import LCSseq

from core.diff import diff_against, tokenize
from core.rendering import rendered, text_as_read
from core.rendering.tree import Element, Formula, Leaf, Node, elements, leaves, marked, read
from core.schema.rendering import AS_WRITTEN, Shown
from core.schema.study import FIRST_LEVEL, NO_ANSWER, Design, Item, Output, Study, TextKey
from core.stats.blinding import Separability, SingleRule, separability, strongest_rule
from core.stats.multiplicity import corrected
from core.store import Store
from core.store.studies import items_of, outputs_of
from core.study.raters import check_asks

Triple = tuple[str, str, str]
"""Three words in a row, case folded."""

_WORD = regex.compile(r"[\p{L}\p{N}]")
_LETTER = regex.compile(r"\p{L}")
_PUNCTUATION = regex.compile(r"\p{P}")
_SENTENCE_END = regex.compile(
    r"""
    [.!?…]+ [\p{Pe}\p{Pf}"']* (?=\s|$)   # a point inside a word or number ends no sentence
    | [\p{STerm}--[.!?]]+                # scripts without spaces need no space here
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
    """A numeric feature of a text, with the words for a rule that uses it."""

    name: str
    """Key in JSON."""
    smaller: str
    """Name of an answer with a smaller value."""
    larger: str
    """Name of an answer with a larger value."""


FEATURES: tuple[Feature, ...] = (
    Feature("length", "shorter answer", "longer answer"),
    Feature("change_of_length", "smaller change of length", "larger change of length"),
    Feature("diff_size", "fewer characters marked as changed", "more characters marked as changed"),
    Feature("sentences", "fewer sentences", "more sentences"),
    Feature("punctuation", "less punctuation", "more punctuation"),
    Feature("formatting", "less formatting", "more formatting"),
    Feature("repeated_wording", "less repeated wording", "more repeated wording"),
)
"""Of texts that are shown as written or as code."""
_SET: tuple[Feature, ...] = (
    Feature("blocks", "fewer paragraphs and other blocks", "more paragraphs and other blocks"),
    Feature("headings", "fewer headings", "more headings"),
    Feature("list_items", "fewer items of lists", "more items of lists"),
    Feature("table_cells", "fewer cells of tables", "more cells of tables"),
    Feature("code", "less code", "more code"),
    Feature("coloured_code", "less coloured code", "more coloured code"),
    Feature("emphasis", "less emphasis", "more emphasis"),
    Feature(
        "other_formatting",
        "fewer numbered lists, quotations, lines and links",
        "more numbered lists, quotations, lines and links",
    ),
    Feature("formulas", "fewer formulas", "more formulas"),
)
"""Of texts that are set, in place of their formatting: what a reader sees of it."""


def features_of(shown: Shown) -> tuple[Feature, ...]:
    """The features of texts that are shown so, in the order of the values in `feature_table`."""
    if shown.rendering in ("plain", "code"):
        return FEATURES
    seen = [feature for feature in _SET if feature.name != "formulas" or shown.rendering == "latex"]
    at = [feature.name for feature in FEATURES].index("formatting")
    return (*FEATURES[:at], *seen, *FEATURES[at + 1 :])


def seen_in(document: Element) -> dict[str, float]:
    """What a reader sees of a text's formatting, by the names of features.

    blocks: paragraphs, headings, cells, blocks of code or a formula; code: characters, also of those in colours; emphasis: words or
    phrases; all else: how many.
    """
    found = list(elements(document))
    tags = Counter(element.tag for element in found)
    code = [one for one in found if one.tag in ("code", "code_block")]
    return {
        "blocks": len(read(document).blocks),
        "headings": tags["heading"],
        "list_items": tags["item"],
        "table_cells": tags["cell"] + tags["heading_cell"],
        "code": sum(len(leaf.text) for one in code for leaf in leaves(one)),
        "coloured_code": sum(len(leaf.text) for leaf in leaves(document) if leaf.style),
        "emphasis": tags["emphasis"] + tags["strong"],
        "other_formatting": sum(tags[one] for one in ("numbered_list", "quotation", "rule", "link", "image")),
        "formulas": sum(leaf.formula is not None for leaf in leaves(document)),
    }


def text_as_seen(text: str, shown: Shown) -> str:
    """The characters that a reader sees: of a formula its letters and signs, not the LaTeX that sets them."""
    if shown.as_written:
        return text

    def seen(node: Node) -> Node:
        if isinstance(node, Element):
            return replace(node, children=tuple(map(seen, node.children)))
        return replace(node, text=_seen(node))

    document = seen(rendered(text, shown))
    assert isinstance(document, Element)
    return read(document).text


def _seen(leaf: Leaf) -> str:
    return leaf.text if leaf.formula is None else _letters(leaf.formula)


def _letters(formula: Formula) -> str:
    return formula.text + "".join(map(_letters, formula.children))


def marked_size(base: str, text: str, shown: Shown) -> int:
    """Number of characters that raters see marked as added or removed; of a formula that differs, all its letters and signs."""
    if shown.as_written:
        return diff_size(base, text)
    document = rendered(text, shown)
    segments = diff_against(text_as_read(base, shown), read(document).text)
    return sum(len(_seen(leaf)) for leaf in leaves(marked(document, segments)) if leaf.kind != "same")


def words_and_marks(text: str) -> list[str]:
    """The tokens of a text in order, case folded, without white space: words, punctuation, signs."""
    return [token.casefold() for token in tokenize(text) if not token.isspace()]


def sentences(text: str) -> int:
    """Number of sentences: pieces with a letter between sentence-ending marks or line breaks.

    Abbreviations ("U.S. is") count as an end. Thai does not mark sentences, so lines are counted.
    """
    return sum(1 for piece in _SENTENCE_END.split(text) if _LETTER.search(piece))


def punctuation(text: str) -> float:
    """Punctuation marks per 100 characters, 0 to 100. Relative to length, because length is a feature of its own."""
    return 100 * len(_PUNCTUATION.findall(text)) / max(1, len(text))


def formatting(text: str) -> int:
    """Number of line breaks, list markers and Markdown marks."""
    return len(_FORMATTING.findall(text))


def diff_size(base: str, text: str) -> int:
    """Number of characters that differ word by word, added and removed; raters see neighbouring changes joined."""
    return sum(len(segment.text) for segment in diff_against(base, text) if segment.kind != "same")


def feature_table(
    items: Sequence[Item], levels: Sequence[str], outputs: Iterable[Output], shown: Shown = AS_WRITTEN
) -> dict[TextKey, tuple[float, ...]]:
    """The features of every text as raters see it, in the order of `features_of(shown)`.

    - length: characters, in a formula its letters and signs.
    - change_of_length: absolute difference from the system's own A0, in words and punctuation marks. At A0, and in
      studies without A0, from the reference. Raters see changes marked against the same text.
    - diff_size: characters marked as added or removed against that text.
    - sentences; punctuation (per 100 characters).
    - formatting: line breaks, list markers, Markdown marks; of texts that are set, the features of `seen_in` instead.
    - repeated_wording: share of the text's word triples that also occur in answers to other questions, by either
      system; 0 for a text of fewer than three words.

    `outputs` contains each (item, level, source) once. Texts are used as raters read them, without the marks that only set them.
    """
    written = {(o.item_id, o.level, o.source): o.text for o in outputs}
    texts = {key: text_as_seen(text, shown) for key, text in written.items()}
    references = {item.item_id: item.reference for item in items}
    names = [feature.name for feature in features_of(shown)]
    tokens = {key: words_and_marks(text) for key, text in texts.items()}
    n_in_reference = {
        item_id: len(words_and_marks(text_as_seen(text, shown))) for item_id, text in references.items()
    }
    triples = {key: _triples(found) for key, found in tokens.items()}
    repeated = _repeated(triples)
    table = {}
    for key, text in texts.items():
        item, level, source = key
        own_first = (item, FIRST_LEVEL, source)
        against_own = level != FIRST_LEVEL and own_first in texts
        base = written[own_first] if against_own else references[item]
        n_in_base = len(tokens[own_first]) if against_own else n_in_reference[item]
        values = {
            "length": len(text),
            "change_of_length": abs(len(tokens[key]) - n_in_base),
            "diff_size": marked_size(base, written[key], shown),
            "sentences": sentences(text),
            "punctuation": punctuation(text),
            "repeated_wording": sum(triple in repeated for triple in triples[key])
            / max(1, len(triples[key])),
        }
        values |= (
            {"formatting": formatting(text)}
            if "formatting" in names
            else seen_in(rendered(written[key], shown))
        )
        table[key] = tuple(float(values[name]) for name in names)
    return {key: table[key] for key in table if key[1] in levels}


def _triples(tokens: Sequence[str]) -> list[Triple]:
    words = [token for token in tokens if _WORD.search(token)]
    return list(zip(words, words[1:], words[2:], strict=False))


def _repeated(triples: Mapping[TextKey, Sequence[Triple]]) -> set[Triple]:
    """Word triples that occur in answers to at least two questions."""
    owner: dict[Triple, str] = {}
    repeated: set[Triple] = set()
    for (item, _, _), found in triples.items():
        repeated.update(triple for triple in found if owner.setdefault(triple, item) != item)
    return repeated


MOSTLY = 0.6
"""From this share on, wording links the sides; one half is chance."""


@dataclass(frozen=True)
class Linkage:
    """How often wording traces a text at a later level to its own A0."""

    n_own_nearer: int
    """Texts that share more wording with their own A0 than with the other system's A0."""
    n_equal: int
    """Texts that share equally much with both."""
    n_texts: int
    """Texts at later levels, by both systems."""
    reason: str | None
    """Why nothing was compared."""

    def sentence(self) -> str:
        """The result in words."""
        if self.reason is not None:
            return f"Sides were not compared across levels: {self.reason}."
        equal = f" {self.n_equal} share equally much with both." if self.n_equal else ""
        if self.n_own_nearer + self.n_equal / 2 < MOSTLY * self.n_texts:
            return (
                f"Wording hardly links the sides of a question across levels. Only {self.n_own_nearer} of {self.n_texts} "
                f"texts at later levels share more with their own A0 than with the other system's A0.{equal}"
            )
        return (
            "Texts at later levels repeat the wording of their own A0, so an attentive rater can tell which answers to a "
            f"question come from the same system. {self.n_own_nearer} of {self.n_texts} texts share more with their own "
            f"A0 than with the other system's A0.{equal} Drawing the sides again at every level does not hide this."
        )


def link_levels(levels: Sequence[str], outputs: Iterable[Output], shown: Shown = AS_WRITTEN) -> Linkage:
    """Compare every text at a later level with both A0 texts of its question, as raters see them.

    The nearer A0 has the longer common subsequence of words and marks, as a share of the longer text
    (rapidfuzz LCSseq.normalized_similarity). `outputs` has texts by two systems. Undefined without A0 or later levels.
    """
    if FIRST_LEVEL not in levels or len(levels) < 2:
        return Linkage(0, 0, 0, f"the study does not have {FIRST_LEVEL} and later levels")
    numbers: dict[str, int] = {}  # rapidfuzz compares hashes; numbers never collide
    firsts: dict[str, dict[str, list[int]]] = {}
    later: list[tuple[str, str, list[int]]] = []
    for output in outputs:
        tokens = words_and_marks(text_as_seen(output.text, shown))
        code = [numbers.setdefault(token, len(numbers)) for token in tokens]
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
"""Smaller p-values count, after correction for the number of tests (`LeakageAudit.paid_p`)."""

_ADVICE = {
    "length": "give both systems the same target length",
    "change_of_length": "make both systems change the length of their A0 equally, with the same instruction at every level",
    "diff_size": "make both systems change equally much of their A0, with the same instruction at every level",
    "sentences": "request the same number of sentences from both systems",
    "punctuation": "use the same punctuation style for both systems",
    "formatting": "remove line breaks, lists and Markdown from all answers, or format both systems alike",
    **{
        name: f"make both systems use {words} alike"
        for name, words in {
            "blocks": "paragraphs",
            "headings": "headings",
            "list_items": "lists",
            "table_cells": "tables",
            "code": "code",
            "coloured_code": "colours of code",
            "emphasis": "emphasis",
            "other_formatting": "numbered lists, quotations, lines and links",
            "formulas": "formulas",
        }.items()
    },
    "repeated_wording": "remove set phrases that recur from question to question",
}


@dataclass(frozen=True)
class LevelAudit:
    """How well features separate the systems at one level, or at all levels together."""

    level: str | None
    """None: all levels together."""
    all_features: Separability
    """All features together, cross-validated."""
    rule: SingleRule
    """The strongest single feature; its column is an index into `features`."""
    features: tuple[Feature, ...]
    """What was measured of every text."""

    @property
    def rule_name(self) -> str | None:
        """The rule in words, describing the candidate's answer: 'smaller change of length'."""
        if self.rule.column is None:
            return None
        feature = self.features[self.rule.column]
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
        """The smaller of the two p-values; 1 if neither is defined."""
        return min((p for p in (self.all_features.p, self.rule.p) if p is not None), default=1.0)


@dataclass(frozen=True)
class LeakageAudit:
    """What the texts reveal about their systems, independent of any votes."""

    candidate: str
    comparator: str
    levels: tuple[LevelAudit, ...]
    overall: LevelAudit
    """All levels together; cross-validation and resampling treat the levels of a question as one unit."""
    linkage: Linkage
    no_answers: Mapping[str, int]
    """System -> its texts that are empty, of which there are as many as pairs."""
    shuffled: bool
    """Whether the design shuffles levels already."""
    shown: Shown
    """How raters see the texts, which is what was measured."""
    n_resamples: int
    rng: int

    @property
    def severity(self) -> Severity:
        """`warning`: a leak that chance hardly explains; `hint`: one that chance may explain; `unknown`: too few questions.

        An AUC alone is never a finding: with 8 questions and no leak, more than half of all studies have an AUC of
        0.7 or more at some level.
        """
        parts = (self.overall, *self.levels)
        if self.overall.all_features.auc is None:
            return "unknown"
        if any(self.paid_p(part) < ALPHA for part in parts):
            return "warning"
        return "hint" if any(part.lowest_p < ALPHA for part in parts) else "none"

    @property
    def worst(self) -> LevelAudit:
        """The level, or all levels together, with the strongest evidence: lowest corrected p, then highest AUC."""
        return min(
            (*self.levels, self.overall), key=lambda part: (self.paid_p(part), -(part.all_features.auc or 0))
        )

    def corrected_p(self, part: LevelAudit) -> tuple[float | None, float | None]:
        """The p of the AUC and of the rule by Holm's correction, for both tests of all levels; of all levels together, for two."""
        family = (part,) if part.level is None else self.levels
        paid = corrected([p for one in family for p in (one.all_features.p, one.rule.p)])
        at = 2 * family.index(part)
        return paid[at], paid[at + 1]

    def paid_p(self, part: LevelAudit) -> float:
        """The lower of a part's two corrected p-values; 1 if neither is defined."""
        return min((p for p in self.corrected_p(part) if p is not None), default=1.0)

    def with_roles(self, design: Design) -> "LeakageAudit":
        """The same audit, with the roles of the design in place of its systems' names."""
        plain = design.margin is None
        roles = {
            self.candidate: "the first system" if plain else "the candidate",
            self.comparator: "the second system" if plain else "the comparator",
        }
        return replace(
            self,
            candidate=roles[self.candidate],
            comparator=roles[self.comparator],
            no_answers={roles[source]: n for source, n in self.no_answers.items()},
        )


def audit_texts(
    items: Sequence[Item],
    levels: Sequence[str],
    outputs: Iterable[Output],
    design: Design,
    *,
    n_resamples: int = N_RESAMPLES,
    rng: int = 0,
) -> LeakageAudit:
    """Audit the texts of a study, or of a data set before it becomes a study.

    Every item needs every level from both systems of the design. n_resamples: swaps behind every p. `rng` seeds every
    part again, so that a number does not depend on which others are computed. With fewer than six questions that
    differ, results are None with the reason.
    """
    outputs = list(outputs)
    table, features = feature_table(items, levels, outputs, design.shown), features_of(design.shown)
    settings = {"n_resamples": n_resamples, "rng": rng}
    questions = [item.item_id for item in items]

    def part(name: str | None, chosen: Sequence[str]) -> LevelAudit:
        values = [
            [table[item, level, source] for level in chosen for item in questions]
            for source in (design.candidate, design.comparator)
        ]
        rows = np.subtract(*np.array(values).reshape(2, -1, len(features)))
        labels = np.tile(np.arange(len(questions)), len(chosen))
        return LevelAudit(
            name, separability(rows, labels, **settings), strongest_rule(rows, labels, **settings), features
        )

    return LeakageAudit(
        candidate=design.candidate,
        comparator=design.comparator,
        levels=tuple(part(level, [level]) for level in levels),
        overall=part(None, levels),
        linkage=link_levels(levels, outputs, design.shown),
        no_answers={
            source: sum(
                one.text == NO_ANSWER for one in outputs if one.source == source and one.level in levels
            )
            for source in (design.candidate, design.comparator)
        },
        shuffled=design.level_order == "shuffled",
        shown=design.shown,
        n_resamples=n_resamples,
        rng=rng,
    )


def audit_study(store: Store, study: Study) -> LeakageAudit:
    """Audit the texts of a study of pairs with levels, under its current design. Raises NotAllowed for other studies."""
    check_asks(study, ["levels"], "leakage audit")
    items, outputs = items_of(store, study.study_id), outputs_of(store, study.study_id)
    return audit_texts(items, study.levels, outputs, study.design)


def reading_sentences(audit: LeakageAudit) -> tuple[str, ...]:
    """The finding and what to do, in plain words."""
    n = len(audit.levels)
    looked = f"{n} level{'s' if n > 1 else ''} and all levels together were tested"
    worst = audit.worst
    if audit.severity == "unknown":
        return (f"No finding is possible: {audit.overall.all_features.reason}.",)
    if audit.severity == "none":
        return (
            f"No leak found in these features ({looked}).",
            f"This does not prove that raters are blind. With {worst.all_features.n_questions} questions only a strong leak "
            "is detectable, and raters notice more than these features.",
        )
    if audit.severity == "warning":
        first = f"Warning: superficial features reveal the system. {_capital(_evidence(audit, worst))}. {_capital(looked)}."
    else:
        first = (
            f"Possible leak, which may be chance. {_capital(_evidence(audit, worst))}. {_capital(looked)}."
        )
    return first, _advice(audit, worst)


def audit_note(audit: LeakageAudit) -> str | None:
    """The strongest warning in two sentences, shown after an import; None without a warning."""
    if audit.severity != "warning":
        return None
    return (
        f"Leakage audit: superficial features reveal the system. {_capital(_evidence(audit, audit.worst))}."
    )


def _capital(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}"


def _evidence(audit: LeakageAudit, part: LevelAudit) -> str:
    """The stronger of a part's two findings, in words."""
    at = "across all levels" if part.level is None else f"at {part.level}"
    found, rule = part.all_features, part.rule
    if found.auc is not None and (rule.p is None or (found.p or 1) < rule.p):
        return f"{at}, all features together identify the system with AUC {found.auc:.2f} (p {found.p:.4f})"
    equal = f" ({rule.n_undecided} undecided)" if rule.n_undecided else ""
    return (
        f"{at}, {_answer_phrase(part.rule_name or '')} comes from {audit.candidate} in {rule.n_right} of "
        f"{rule.n_pairs} pairs{equal} (p {rule.p:.4f})"
    )


def _answer_phrase(rule: str) -> str:
    if rule.endswith("answer"):
        return f"the {rule}"
    article = "the " if rule.startswith(("smaller", "larger")) else ""
    return f"the answer with {article}{rule}"


def _advice(audit: LeakageAudit, part: LevelAudit) -> str:
    feature = part.features[part.rule.column or 0].name
    order = "" if audit.shuffled else "shuffle the levels, or "
    return (
        f"To reduce the leak, {_ADVICE[feature]}, or {order}give raters only some levels. Report this finding with the "
        "result, and check the blinding index after the last answer."
    )

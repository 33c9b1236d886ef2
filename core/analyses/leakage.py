"""Do superficial features of the texts reveal which system wrote an answer? No vote is read."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, Verdict, resamples_setting, rng_setting
from core.schema.rendering import Rendering, Shown
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.schema.study import StudyTexts
    from core.study.audit import LeakageAudit, LevelAudit


class LeakageOptions(Settings):
    """How p-values are computed."""

    n_resamples: int = resamples_setting(2_000, "most swaps of the two systems behind each p", fewest=1)
    rng: int = rng_setting()


@row
class RuleRow:
    """The rule of the best single feature."""

    feature: str | None = entry("its name")
    larger: bool = entry("whether the candidate's answer has more of it")
    text: str | None = entry("the rule and its count in words")
    n_right: int = entry("pairs that it classifies correctly")
    n_undecided: int = entry("pairs without a difference")
    n_pairs: int = entry("all pairs")
    p: float | None = entry("p-value, corrected for trying every rule")
    p_holm: float | None = entry("`p` corrected as that of the audited part")
    reason: str | None = entry("why there is no rule")


@row
class LeakageRow:
    """A level, or all levels together."""

    level: str = column("the level, or all levels", title="Level", key="", names_row=True)
    n_pairs: int = column("pairs analysed", name="pairs", title="Pairs")
    auc: Interval = column(
        "cross-validated AUC of all features together; 0.5 is guessing, 1 is always right", title="AUC"
    )
    p: float | None = column("probability of an AUC at least as large by chance", places=4, p_value=True)
    p_holm: float | None = column(
        "`p` corrected for both tests of all levels (Holm); of all levels together, for its two tests",
        title="Holm p",
        places=4,
        p_value=True,
    )
    rule: str = column(
        "the rule of the best single feature", name="strongest_rule", title="Strongest rule", key=""
    )
    p_of_the_rule: float | None = column(
        "its p-value, corrected for trying every rule", key="", places=4, p_value=True
    )
    p_of_the_rule_holm: float | None = column(
        "the same corrected as that of the AUC",
        title="Holm p of the rule",
        key="",
        places=4,
        p_value=True,
    )
    n_questions: int = entry("questions among them whose answers differ in some feature")
    n_flips: int = entry("swaps used for `p`")
    exact: bool = entry("whether these are all possible ones")
    reason: str | None = entry("why `auc` and `p` are missing")
    strongest_rule: RuleRow = entry("the rule of the best single feature", rows=RuleRow)


@row
class LinkageRow:
    """Whether wording links the sides of a question across levels."""

    n_own_nearer: int = entry("texts at later levels that are nearer to their own A0")
    n_equal: int = entry("those that are equally near to both")
    n_texts: int = entry("all texts at later levels")
    reason: str | None = entry("why nothing was compared")
    sentence: str = entry("the same in words")


@row
class ReadingRow:
    """What the numbers mean."""

    severity: str = entry("`warning`, `hint`, `none`, or `unknown` with too few questions")
    sentences: tuple[str, ...] = entry("the finding and what to do, in words")


@row
class Leakage:
    """What the texts of a study reveal about the system that wrote them."""

    study: str = entry("name of the study")
    dataset_sha256: str = entry("hash of the file with the texts")
    app_version: str = entry("version of Assay that computed it")
    candidate: str = entry("the system that the strongest rule describes; swapping the two changes no number")
    comparator: str = entry("the other system")
    rendering: Rendering = entry(
        "how raters see the texts, which is what was measured: `plain`, `markdown`, `latex` or `code`"
    )
    features: tuple[str, ...] = entry("names of the features, in the order of their analysis")
    per_level: tuple[LeakageRow, ...] = entry("each level", rows=LeakageRow, keyed_by="level")
    overall: LeakageRow = entry("all levels together", rows=LeakageRow)
    no_answers: Mapping[str, int] = entry(
        "for each system: texts that are empty, which raters see as no answer"
    )
    linkage: LinkageRow = entry("can texts be linked to their own A0?", rows=LinkageRow)
    reading: ReadingRow = entry("what it means", rows=ReadingRow)
    n_resamples: int = entry("largest number of swaps for every p")
    rng: int = entry("their seed")


def compute(options: LeakageOptions, texts: "StudyTexts", *, tell: Tell) -> Leakage:
    """Audit the texts of a study of pairs with levels, under its design. Raises NotAllowed for other studies."""
    from core.study.audit import audit_texts
    from core.study.raters import check_asks

    study = texts.study
    check_asks(study, ["levels"], "leakage audit")
    tell("swapping systems")
    found = audit_texts(texts.items, study.levels, texts.outputs, study.design, **options.model_dump())
    return leakage_of(study.name, study.dataset_sha256, found)


def leakage_of(study: str, dataset_sha256: str, audit: "LeakageAudit") -> Leakage:
    """The result of an audit of a study's texts."""
    from dataclasses import asdict

    from core import __version__
    from core.study.audit import reading_sentences

    return Leakage(
        study=study,
        dataset_sha256=dataset_sha256,
        app_version=__version__,
        candidate=audit.candidate,
        comparator=audit.comparator,
        rendering=audit.shown.rendering,
        features=tuple(feature.name for feature in audit.overall.features),
        per_level=tuple(_part(audit, part) for part in audit.levels),
        overall=_part(audit, audit.overall),
        no_answers=dict(audit.no_answers),
        linkage=LinkageRow(**asdict(audit.linkage), sentence=audit.linkage.sentence()),
        reading=ReadingRow(audit.severity, reading_sentences(audit)),
        n_resamples=audit.n_resamples,
        rng=audit.rng,
    )


def _part(audit: "LeakageAudit", part: "LevelAudit") -> LeakageRow:
    found, rule, (p_holm, rule_holm) = part.all_features, part.rule, audit.corrected_p(part)
    return LeakageRow(
        level=part.level or "all levels",
        n_pairs=found.n_pairs,
        auc=Interval(found.auc, n=found.n_questions, reason=found.reason or ""),
        p=found.p,
        p_holm=p_holm,
        rule=part.rule_text or "none",
        p_of_the_rule=rule.p,
        p_of_the_rule_holm=rule_holm,
        n_questions=found.n_questions,
        n_flips=found.n_flips,
        exact=found.exact,
        reason=found.reason,
        strongest_rule=RuleRow(
            None if rule.column is None else part.features[rule.column].name,
            rule.larger,
            part.rule_text,
            rule.n_right,
            rule.n_undecided,
            rule.n_pairs,
            rule.p,
            rule_holm,
            rule.reason,
        ),
    )


def _verdicts(found: Leakage) -> tuple[Verdict, ...]:
    severity, sentence = found.reading.severity, found.reading.sentences[0]
    if severity == "unknown":
        return (Verdict("undefined", sentence, reason=found.overall.reason or ""),)
    return (Verdict(severity, sentence),)


def _notes(found: Leakage) -> tuple[str, ...]:
    seen = Shown(found.rendering).named
    return (
        f"Measured: the texts as raters see them, {f'shown as {seen}' if seen else 'as they were written'}.",
        f"The strongest rule describes the answers of {found.candidate}. Its p-value is corrected for trying every rule.",
        "AUC: how well a rule learned from other questions tells which system is which. 0.5 is guessing, 1 is always right.",
        f"p: from at most {found.n_resamples:,} swaps of the two systems within a question. Holm p: corrected for the "
        f"{2 * len(found.per_level)} tests of the levels; of all levels together, for two tests. The finding rests on these.",
        *_no_answers_said(found),
    )


def _no_answers_said(found: Leakage) -> tuple[str, ...]:
    """How often each system gave no answer; nothing if both always did."""
    if not any(found.no_answers.values()):
        return ()
    each = " and ".join(f"{source} {n:,}" for source, n in found.no_answers.items())
    said = (
        f"No answer: {each}, of {found.overall.n_pairs:,} texts each. Raters see the same words for both systems, but which one fails "
        "more often may tell it."
    )
    return (said,)


ANALYSIS = Analysis(
    name="leakage",
    title="Leakage audit",
    question="Can anyone tell which system wrote an answer from its length, changes, punctuation, formatting and repeated wording alone?",
    Options=LeakageOptions,
    Result=Leakage,
    takes=("study_texts",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "warning": "features separate the systems, which chance hardly explains",
        "hint": "they do, which chance may explain",
        "none": "no leak is found in these features, which does not prove that raters are blind",
        "undefined": "there are too few questions",
    },
    refuses="NotAllowed for a study without levels.",
    sentences=lambda found: (*found.reading.sentences[1:], found.linkage.sentence),
    section="statistics#leakage-audit",
    misleads="With few questions only a strong leak is detectable, and raters notice more than these features.",
    example="""
>>> import assay
>>> found = assay.leakage("demo", db=demo_database)
>>> found.frame["level"].tolist()[-1]
'all levels'
""",
    tables=(
        Table(
            "leakage",
            LeakageRow,
            lambda found: (*found.per_level, found.overall),
            "Leakage audit",
            heading=lambda found: f"Leakage audit: {found.candidate} against {found.comparator}, texts only",
            notes=_notes,
        ),
    ),
)

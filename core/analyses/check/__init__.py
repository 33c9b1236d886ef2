"""Can this judge be trusted for a use? TRUSTED, NOT TRUSTED or INCONCLUSIVE, by stated rules on intervals.

`core.results.check.verdict` decides; `filled` writes what it found as `rows`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.analyses import gaps, next_labels, which_judge
from core.analyses.agreement import ANALYSIS as AGREEMENT
from core.analyses.agreement import no_judge
from core.analyses.check.rows import AnswerRow, Change, Checked, GroupRow, JudgeRow, PeopleAlone, RuleRow
from core.schema.analysis import Analysis, Answer, Table, Tell, Verdict
from core.schema.injections import MARKED_TABLES, MarkedMean, MarkedText
from core.schema.settings import LARGEST_SEED, setting
from core.schema.uses import USES, CheckOptions, Priced

if TYPE_CHECKING:
    from core.results.check.dossier import Dossier
    from core.results.check.verdict import Check

_USUAL_GAPS = 20
_STATUS = {"TRUSTED": 0, "NOT TRUSTED": 3, "INCONCLUSIVE": 4}
_NO_JUDGE = 4
"""Exit status without a judge: that of no verdict. 0 would mean that a judge is trusted."""


class AllOptions(Priced, CheckOptions):
    """The use and its limits, what judges cost, and what is listed beside the verdict."""

    gaps: int | None = setting(
        None,
        "Gaps",
        "also list the N texts on which people and judge differ most",
        at_least=1,
        bare=_USUAL_GAPS,
        metavar="N",
        words={"": "not listed"},
        folded=True,
    )
    texts: bool = setting(
        False,
        "Show texts",
        "with {gaps}: also the questions, the texts and the judge's reasons, which may be confidential",
        needs="gaps",
        folded=True,
    )
    next: int | None = setting(
        None,
        "Next labels",
        "choose N unlabelled texts to label next, more often where people and judge may differ, with known probabilities (table "
        "next-labels)",
        at_least=1,
        metavar="N",
        words={"": "none"},
        folded=True,
    )
    next_seed: int = setting(
        0, "Seed of next labels", "seed of {next}", within=(0, LARGEST_SEED), metavar="SEED", folded=True
    )


def compute(
    options: AllOptions, dossier: "Dossier", earlier: Mapping[str, Any] | None, *, tell: Tell
) -> Checked:
    """Check every judge of the panel. Raises InputError with all problems."""
    from core.analyses.check.filled import checked
    from core.results.check.facts import stated_facts
    from core.results.check.verdict import check_panel

    panel = dossier.panel
    facts = stated_facts(dossier.facts(panel), panel, options.price, options.seconds, options.currency)
    tell("checking")
    beside = dossier.beside(panel)
    found = check_panel(panel, options, facts=facts, texts=beside)
    return checked(
        found,
        which=_which(found),
        next_texts=None if options.next is None else _next(options, found, dossier),
        drift=None if earlier is None else _drift(found, earlier),
        most_gaps=options.gaps,
        texts=beside if options.texts else (),
    )


def _which(check: "Check") -> which_judge.Which | str | None:
    """The choice among several judges, or why there is none; None for one judge."""
    from core.errors import InputError
    from core.results.check.choosing import which_of

    if not check.chooses:
        return None
    try:
        return which_judge.rows_of(which_of(check))
    except InputError as problem:  # such as judges without a common text: their verdicts hold all the same
        return str(problem)


def _next(options: AllOptions, check: "Check", dossier: "Dossier") -> next_labels.Next:
    from core.results.check.next_labels import next_labels as drawn

    assert options.next is not None
    chosen = drawn(check.panel, options.next, whole_items=check.use == "rank", rng=options.next_seed)
    return next_labels.rows_of(chosen, dossier.texts(check.panel).outputs)


def _drift(check: "Check", earlier: Mapping[str, Any]) -> Any:
    from core.analyses.check.drift import drift

    return drift(check, earlier)


def _people_alone(
    options: AllOptions, dossier: "Dossier", earlier: Mapping[str, Any] | None, *, tell: Tell
) -> PeopleAlone:
    """Compare people with each other. Raises InputError if an option needs a judge."""
    from core.results.check.verdict import check_needs_judge

    assert dossier.people is not None
    asks_about_judges = (options.gaps, options.next, earlier, options.price or None, options.seconds or None)
    if any(one is not None for one in asks_about_judges):
        compute(options, dossier, earlier, tell=tell)  # says that there is no judge
    check_needs_judge(options.use)
    sentence = no_judge(dossier.may_be_judges).replace("{judge}", dossier.judge_called)
    alone = AGREEMENT.answer(AGREEMENT.Options(), dossier.people(), tell=tell)
    return PeopleAlone(None, sentence, (), alone.result)


def _verdicts(found: Checked) -> tuple[Verdict, ...]:
    """One for all judges, with the status of the gravest."""
    statuses = [_STATUS[one.verdict] for one in found.judges]
    status = min((one for one in statuses if one), default=0)
    return (Verdict(found.verdict or "several", found.sentence, status, word=found.verdict or ""),)


def _check_table(table: "Table[Checked]") -> "Table[Checked]":
    """A table of the verdicts, in files alone unless it is the main one."""
    name = table.name
    return replace(
        table,
        notes=lambda found: found.table_notes.get(name, ()),
        hidden=lambda found: found.hidden.get(name, ()),
        most_printed=0,
    )


def _marked(found: Checked) -> Any:
    return found.injections if found.injections is not None and found.injections.n else None


def _unneeded(found: Any) -> set[str]:
    from core.results.injection import unneeded_columns

    return unneeded_columns(found)


def _drift_notes(found: Any) -> tuple[str, ...]:
    from core.results.cells import corrected_note

    elsewhere = any(one.on == "equal ratings" for one in found.judges)
    return (
        "Intervals of changes: 95 %, over items. Bias and people: shares of the scale.",
        *(
            [
                "Change of a judge on other texts: at equal mean ratings, so it can differ from now minus earlier."
            ]
            if elsewhere
            else []
        ),
        "Smallest change shown: with a probability of 80%.",
        *corrected_note("holm", found.n_tests, "all rows"),
        *found.notes,
    )


DRIFT_TABLE: "Table[Any]" = Table(
    "check-drift",
    Change,
    lambda found: found.changes,
    "Since the earlier check",
    "Did the judge change, the systems, or the raters?",
    _drift_notes,
    lambda found: ("p_holm",) if found.n_tests < 2 else (),
    most_printed=0,
)

PEOPLE_ALONE = Analysis(
    name="check",
    title="Check without a judge",
    question="How far do people agree with each other, where a check finds no judge?",
    Options=AllOptions,
    Result=PeopleAlone,
    takes=("dossier", "earlier"),
    compute=_people_alone,
    verdicts=lambda found: (Verdict("undefined", found.sentence, _NO_JUDGE, "no judge was found"),),
    sentences=lambda found: Answer(AGREEMENT, AGREEMENT.Options(), found.agreement).all_sentences,
    codes={"undefined": "no judge was found, so that people are compared with each other; exit status 4"},
    section=AGREEMENT.section,
    misleads=AGREEMENT.misleads,
    example="",
    tables=tuple(one.within(lambda found: found.agreement) for one in AGREEMENT.tables),
    fits=lambda dossier, _earlier: dossier.people is not None,
)

ANALYSIS: "Analysis[AllOptions, Checked]" = Analysis(
    name="check",
    title="Check of a judge",
    question="Can this judge be trusted for a use, beside people's labels?",
    Options=AllOptions,
    Result=Checked,
    takes=("dossier", "earlier"),
    compute=compute,
    verdicts=_verdicts,
    sentences=lambda found: found.sentences[1:],
    codes={
        "TRUSTED": "all rules of the use are shown to be kept; exit status 0",
        "NOT TRUSTED": "one is shown to be broken; exit status 3",
        "INCONCLUSIVE": "neither: label more; exit status 4",
        "several": "several judges, each with a verdict of its own: status 3 if any is not trusted, else 4 if any is inconclusive",
    },
    section="check#five-uses",
    misleads="A verdict holds for texts and raters like these, and the best of several judges is favoured by chance.",
    refuses="With all problems: without a rater, without a judge beside a single rater or if an option needs one, if no text has "
    "both, and for the use rank with fewer than two systems.",
    main=lambda found: "check-systems" if found.use == "certify" else "check",
    fits=lambda dossier, _earlier: dossier.people is None,
    others=(PEOPLE_ALONE,),
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": range(60), "a": [0, 1] * 30, "b": [0, 1] * 30, "c": [0, 1] * 30, "x": [0, 1] * 30})
>>> assay.check(frame, human=["a", "b", "c"], judge="x").verdict
'TRUSTED'
""",
    tables=(
        _check_table(
            Table(
                "check",
                JudgeRow,
                lambda found: found.judges,
                "Numbers of each judge",
                "Every judge, with people beside it.",
                heading=lambda found: f"Can the judge be trusted to {USES[found.use]}?",
                shaped=lambda found: {"ceiling": {"title": f"people ({found.people_measure})"}},
            )
        ),
        _check_table(
            Table(
                "check-rules",
                RuleRow,
                lambda found: [rule for one in found.judges for rule in one.rules],
                "Rules",
                "What the use demands of a judge, and what was found.",
            )
        ),
        _check_table(
            Table(
                "check-groups",
                GroupRow,
                lambda found: [group for one in found.judges for group in one.groups],
                "By group",
                "Does the judge fail for some texts?",
            )
        ),
        _check_table(
            Table(
                "check-systems",
                AnswerRow,
                lambda found: [
                    row
                    for one in found.judges
                    for system in one.systems
                    for row in (system.whole, *system.answers)
                ],
                "Is each target reached? One row a system, then one for each answer of the judge",
                "The share of good answers, by the judge's answers.",
            )
        ),
        Table(
            MARKED_TABLES[0],
            MarkedText,
            lambda found: found.texts,
            "Texts with marks of injection",
            hidden=_unneeded,
            most_printed=0,
        ).within(_marked),
        Table(
            MARKED_TABLES[1],
            MarkedMean,
            lambda found: found.means,
            "Mean scores with and without marks of injection",
            most_printed=0,
        ).within(_marked),
        *(one.within(lambda found: found.which) for one in which_judge.ANALYSIS.tables),
        DRIFT_TABLE.within(lambda found: found.drift),
        *(
            replace(
                one.within(lambda found: found.listed_gaps()),
                on_request=lambda found: found.gaps is None,
                asked_by="gaps",
            )
            for one in gaps.ANALYSIS.tables
        ),
        *(
            replace(one.within(lambda found: found.next), asked_by="next")
            for one in next_labels.ANALYSIS.tables
        ),
    ),
)

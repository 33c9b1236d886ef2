"""`study results`, `audit` and `export`, the same for a study in the database and for a bundle; and studies in which texts are rated."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_database_option,
    add_json_option,
    add_pair_option,
    add_reading_verb,
    check_not_the_database,
    existing_database,
    existing_store,
    level_list,
    make_folder,
    name_list,
    print_notes,
    print_result,
    read_file,
    write_file,
)
from core.cli.shared.sources import NAMES, check_given, read_given
from core.cli.shared.terminal import number, plain, with_interval
from core.errors import InputError, NotFound
from core.formats.registry import read_texts
from core.formats.tasks import find_task
from core.results.study.counted import Filters
from core.results.study.results import (
    COEFFICIENTS,
    FEW_QUESTIONS,
    Block,
    StudyResults,
    described,
    first_interval,
    headline,
    jackknife_first,
    reasons,
    study_results,
    votes_of_pairs,
)
from core.schema.study import Design, Study, StudyRecord
from core.schema.tasks import StudyKind
from core.stats.non_inferiority import Power
from core.stats.resampling import AgreementEstimate, Estimate
from core.store import database_path, open_store
from core.store.studies import find_study, items_of, outputs_of, write_log
from core.study import lifecycle
from core.study.analysis_set import SCORE_NAMES, fix_when_shown
from core.study.audit import LeakageAudit, LevelAudit, audit_study, reading_sentences
from core.study.bundle import is_bundle, read_bundle, write_bundle
from core.study.export import (
    guesses_csv,
    mqm_tsv,
    paper_files,
    rated_jsonl,
    ratings_csv,
    ratings_jsonl,
    spans_csv,
    to_csv,
    to_jsonl,
)
from core.study.rated.importing import import_rating_study
from core.study.rated.results import (
    Consistency,
    Counted,
    SystemTotal,
    consistency,
    counted,
    system_totals,
    task_of,
)
from core.study.release import check_released, released_record

RATING_WRITERS: Mapping[str, Callable[[StudyRecord], bytes]] = {
    "csv": ratings_csv,
    "jsonl": ratings_jsonl,
    "spans": spans_csv,
    "rated": rated_jsonl,
    "mqm": mqm_tsv,
}
"""Format -> what a rating study is written by."""


def add_to(verbs: Commands) -> None:
    """Register `import-ratings`, `audit`, `results` and `export`."""
    _add_import_ratings(verbs)
    _add_audit(verbs)
    _add_results(verbs)
    _add_export(verbs)


def _add_import_ratings(verbs: Commands) -> None:
    """Register `study import-ratings`."""
    command = verbs.add_parser("import-ratings")
    command.add_argument("texts", metavar=NAMES, help="texts of any number of systems")
    command.add_argument(
        "--task",
        required=True,
        metavar="NAME|FILE",
        help="what is asked of every text: mqm, direct, ... or YAML",
    )
    command.add_argument("--name", help="name of the study (default: the file's)")
    command.add_argument(
        "--raters-per-item",
        type=int,
        metavar="N",
        help="raters of each item and all its texts (default: all raters rate all)",
    )
    command.add_argument("--max-items", type=int, metavar="N", help="most items one rater gets")
    command.add_argument("--seed", type=int, help="of every draw (default: a new one)")
    command.add_argument("--repeats", type=float, help="share of hidden repeats, 0 to 0.5 (default 0.05)")
    add_pair_option(command)
    add_columns_option(command)
    command.add_argument("--again", action="store_true", help="import texts that are here already once more")
    add_database_option(command)
    command.set_defaults(run=_import)


def _import(options: argparse.Namespace) -> None:
    task = find_task(options.task)
    given = {
        "seed": options.seed,
        "repeat_share": options.repeats,
        "votes_per_pair": options.raters_per_item,
        "max_questions": options.max_items,
    }
    kept = {name: value for name, value in given.items() if value is not None}
    design = Design(
        **{"seed": lifecycle.new_seed(), **kept, "candidate": "", "comparator": "", "blinding_pairs": 0}
    )
    check_given(options.texts, options.db)
    with open_store(database_path(options.db)) as store:
        data, file_name = read_given(store, options.texts, options.language_pair, options.columns)
        outputs = read_texts(data, file_name)
        name = options.name if options.name is not None else Path(file_name).stem
        study, notes = import_rating_study(store, name, outputs, task, design, again=options.again)
        n_items, n_texts = len(items_of(store, study.study_id)), len(outputs_of(store, study.study_id))
    print_notes(notes)
    print(
        f"Study {study.name!r}: {n_texts} texts of {n_items} items, task {task.name} ({task.title}); {study.state}.\n"
        f"{lifecycle.describe_design(study.design)}"
    )


def check_no_filters(options: argparse.Namespace) -> None:
    """Raise InputError for the filters that only studies of pairs have."""
    filters = ("levels", "raters", "questions", "languages")
    if given := [f"--{name}" for name in filters if getattr(options, name) is not None]:
        raise InputError(
            f"{', '.join(given)}: of a study of ratings all is shown; leave {'it' if len(given) == 1 else 'them'} out. "
            "To look at a part, export the ratings."
        )


def print_rating_results(record: StudyRecord, options: argparse.Namespace) -> None:
    """Totals by system, level and dimension; raters against themselves; what is left out."""
    found = counted(record)
    totals, repeats = system_totals(record, n_resamples=options.resamples), consistency(record)
    as_json = {
        "study": record.study.name,
        "state": record.study.state,
        "task": task_of(record).name,
        "dataset_sha256": record.study.dataset_sha256,
        "n_answers": len(found.answers),
        "left_out": dict(found.left_out),
        "totals": [asdict(total) for total in totals],
        "consistency": [asdict(line) for line in repeats],
    }
    print_result(options, as_json, _print_results, record, found, totals, repeats)


def _print_results(
    record: StudyRecord, found: Counted, totals: Sequence[SystemTotal], repeats: Sequence[Consistency]
) -> None:
    print(f"Study {record.study.name!r} ({record.study.state}): {task_of(record).title}")
    raters = sorted({answer.rater_id for answer in found.answers})
    print(
        f"Raters: {', '.join(raters) or 'none'}; texts done: {len(found.answers)}; left out: {reasons(found.left_out)}\n"
    )
    print("system\tlevel\tdimension\tmean over texts\ttexts\tunrated\tratings\terrors a rating")
    for total in totals:
        errors = "-" if total.errors_per_rating is None else f"{total.errors_per_rating:.2f}"
        mean, counts = with_interval(total.mean, 4), (total.n_texts, total.n_unrated, total.n_ratings)
        print(total.system, total.level or "-", total.dimension, mean, *counts, errors, sep="\t")
    for line in repeats:
        if line.mean_difference is not None:
            print(
                f"Repeats of {line.rater}, {line.dimension}: {line.n_same} of {line.n} the same, "
                f"mean difference {line.mean_difference:.4g}"
            )


_PAIR_WRITERS = {"csv": to_csv, "jsonl": to_jsonl, "guesses": guesses_csv}
_FORMATS: dict[StudyKind, Mapping[str, Callable[[StudyRecord], bytes]]] = {
    "pairs": {**_PAIR_WRITERS, "bundle": write_bundle},
    "ratings": {**RATING_WRITERS, "bundle": write_bundle},
}
_PAPER = "paper"
"""Of pairs: as many files as there are raters."""


def _add_results(verbs: Commands) -> None:
    """Register `study results`."""
    command = verbs.add_parser("results")
    command.add_argument("study", metavar="NAME|BUNDLE", help="name of a study, or a bundle (.zip)")
    command.add_argument(
        "--levels",
        help="such as A1-A4, A1,A3 or all (default: those of the main analysis). Any filter makes the result exploratory",
    )
    command.add_argument("--raters", metavar="A,B", help="default: all who have answered")
    command.add_argument("--questions", metavar="ID,ID", help="default: all")
    command.add_argument("--languages", metavar="en,ja", help="default: all")
    command.add_argument(
        "--resamples", type=int, default=10_000, help="bootstrap resamples (default %(default)s)"
    )
    add_json_option(command)
    add_database_option(command)
    command.set_defaults(run=_results)


def _add_export(verbs: Commands) -> None:
    """Register `study export`."""
    command = verbs.add_parser("export")
    command.add_argument("name")
    formats = dict.fromkeys((*_FORMATS["pairs"], _PAPER, *_FORMATS["ratings"]))
    command.add_argument(
        "--format",
        choices=list(formats),
        required=True,
        help="guesses and paper: of pairs; spans, rated and mqm: of ratings",
    )
    command.add_argument(
        "--out", type=Path, required=True, help="file; for several raters' paper JSON, a folder"
    )
    add_database_option(command)
    command.set_defaults(run=_export)


def _record(options: argparse.Namespace) -> tuple[StudyRecord, bool]:
    """The study to analyse, and whether it stands in the database; what a filter then refuses was not shown."""
    path = Path(options.study)
    if path.is_file() and is_bundle(data := read_file(path)):
        return _bundle(data, path), False
    with existing_store(options.db) as store:
        try:
            return released_record(store, find_study(store, options.study), seen=False), True
        except NotFound:
            if path.suffix.lower() == ".zip":  # meant as a file: say what is wrong with it
                return _bundle(read_file(path), path), False
            raise


def _bundle(data: bytes, path: Path) -> StudyRecord:
    record = read_bundle(data, path.name)
    check_released(record.study)
    return record


def _results(options: argparse.Namespace) -> None:
    if options.resamples < 1:
        raise InputError(f"--resamples: {options.resamples} is less than 1.")
    record, stored = _record(options)
    if record.study.kind == "ratings":
        check_no_filters(options)
        print_rating_results(record, options)
        return
    filters = Filters(
        levels=level_list(record.study.levels, options.levels),
        raters=name_list(options.raters),
        questions=name_list(options.questions),
        languages=name_list(options.languages),
    )
    results = study_results(record, filters, n_resamples=options.resamples)
    if stored:
        with existing_store(options.db) as store:
            fix_when_shown(store, record.study.study_id)
    print_result(options, plain(results.to_json()), _print, results)


def _print(results: StudyResults) -> None:
    block = results.overall
    print(f"Study {results.study!r} ({results.state}): {results.candidate} against {results.comparator}\n")
    for line in headline(results):
        print(line)
    print(f"\n{described(results)}")
    print(f"Raters: {', '.join(results.raters) or 'none'}; levels: {', '.join(results.levels)}")
    _print_counts(results)
    _print_sensitivity(results)
    if block.contingency.table is not None:
        _print_table(block)
    for name in COEFFICIENTS:
        print(f"{name:20} {_agreement(getattr(block, name))}")
    counts = ", ".join(f"{value}: {n}" for value, n in block.composite.counts.items())
    print(f"{'composite mean':20} {_number(block.composite.mean)} (pairs scored {counts})")
    print(f"{'net preference':20} {_number(block.net_preference)}")
    _print_bounds(results)
    _print_ties_and_bias(results)
    for level, part in results.per_level.items():
        print(
            f"{level}: n={part.n_pairs}, agreement {_number(part.raw_agreement.estimate)}, kappa "
            f"{_number(part.cohen_kappa.estimate)}, AC1 {_number(part.gwet_ac1.estimate)}, composite "
            f"{_number(part.composite.mean)}"
        )


def _print_sensitivity(results: StudyResults) -> None:
    print(f"{'Sensitivity':26}{'pairs':>6}{'bound':>11}  verdict")
    for line in results.sensitivity:
        print(f"{line.name:26}{line.n_pairs:6}{_number(line.bound):>11}  {line.value}")
    print()


def _print_bounds(results: StudyResults) -> None:
    bound = results.non_inferiority
    level = f"one-sided at {bound.confidence_level:.0%}"
    print(
        f"\nLower bounds of the mean {SCORE_NAMES[results.analysis_set.score]}, {level}, margin {bound.margin:g}:"
    )
    for name, value in (
        ("over questions", bound.bound_questions),
        ("over pairs, as in Factual", bound.bound_pairs),
    ):
        print(f"  {name:28} {_number(value)}{f' ({bound.reason})' if value is None else ''}")
    _print_power(results)


def _print_power(results: StudyResults) -> None:
    """The number to plan with first; power at the observed mean restates the p-value and comes last."""
    plan = results.power_one_sided
    level = f"{results.non_inferiority.confidence_level:.0%}"
    print(f"Pairs to plan with, if both are equally good (one-sided, {level}): {_planned(plan)}")
    for power in (results.power, results.power_one_sided):
        reason = f": {power.reason}" if power.value is None else ""
        print(
            f"Power at the observed mean {_number(power.value)}{reason} ({power.alternative}, alpha {power.alpha:g}); "
            f"pairs for 80 % {_count(power.n_for_80)}, for 90 % {_count(power.n_for_90)}"
        )


def _print_ties_and_bias(results: StudyResults) -> None:
    ties, overall = results.overall.ties, results.position_overall
    print(
        f"Ties: paper's rule {_number(ties.paper_rule)}, all tied {_number(ties.both_tied)}, composite zero "
        f"{_number(ties.composite_zero)}, opposed {_number(ties.opposed)}"
    )
    if overall.share_left is None:
        print(f"Position bias: undefined: {overall.reason}")
    else:
        print(
            f"Position bias: {overall.share_left:.1%} left of {overall.n} choices of a side, p {overall.p:.4f}"
        )
    for rater, repeats in results.repeats.items():
        if repeats.n:
            print(f"Repeats of {rater}: {repeats.n_same} of {repeats.n} answered with the same preference")
    found = results.blinding
    print(f"Blinding: {found.reading}")
    if found.overall.n:
        print(
            f"  Bang {_estimate(found.overall.bang_questions)}; James {_estimate(found.overall.james_questions)}"
        )


def _print_counts(results: StudyResults) -> None:
    block = results.overall
    print(f"Pairs: {block.n_pairs}, of questions: {block.n_questions}; left out: {reasons(block.n_left_out)}")
    print(f"Answers: {results.answers_used}; left out: {reasons(results.answers_left_out)}")
    print(f"{votes_of_pairs(results)}\n")


def _print_table(block: Block) -> None:
    print(" " * 14 + "".join(f"{name:>12}" for name in block.contingency.order))
    for name, row in zip(block.contingency.order, block.contingency.table or [], strict=True):
        print(f"{name:14}" + "".join(f"{n:12}" for n in row))
    print(f"(rows: {block.contingency.raters[0]}, columns: {block.contingency.raters[1]})\n")


def _estimate(estimate: Estimate) -> str:
    if estimate.estimate is None:
        return f"undefined: {estimate.reason}"
    if estimate.low is None:
        return f"{_number(estimate.estimate)} (no interval: {estimate.interval_reason})"
    return f"{with_interval(estimate, 4)} n={estimate.n}"


def _planned(plan: Power) -> str:
    """Pairs for 80 % and 90 % power at a true mean of 0, and with the design effect of the study's own questions."""
    if plan.n_for_80_if_equal is None:
        return f"undefined ({plan.clustered_reason or plan.reason})"
    sizes = f"{_count(plan.n_for_80_if_equal)} for 80 % power, {_count(plan.n_for_90_if_equal)} for 90 %"
    if plan.design_effect is None:
        return f"{sizes}, taken as independent (no design effect: {plan.clustered_reason})"
    if plan.rho is None:
        return f"{sizes}, with one pair a question"
    clustered = f"{_count(plan.n_for_80_if_equal_clustered)} and {_count(plan.n_for_90_if_equal_clustered)}"
    return (
        f"{clustered} for 80 % and 90 % power, design effect {plan.design_effect:.2f} included (1 + (m - 1) rho, "
        f"m {plan.pairs_per_question:.1f} pairs a question, rho {plan.rho:.2f}); if pairs were independent {sizes}"
    )


def _agreement(estimate: AgreementEstimate) -> str:
    """The estimate with the interval that the page shows first."""
    if jackknife_first(estimate):
        return (
            f"{_number(estimate.estimate)} [{_number(estimate.low_t)}, {_number(estimate.high_t)}] (jackknife t) "
            f"n={estimate.n}; percentile [{_number(estimate.low)}, {_number(estimate.high)}]"
        )
    if estimate.estimate is not None and first_interval(estimate) is None:
        why = estimate.interval_reason or estimate.interval_t_reason or "nothing varies between questions"
        return f"{_number(estimate.estimate)} n={estimate.n} (no interval: {why})"
    if estimate.estimate is not None and estimate.n_clusters < FEW_QUESTIONS:
        return f"{_estimate(estimate)} (no jackknife-t interval: {estimate.interval_t_reason})"
    return _estimate(estimate)


def _number(value: float | None) -> str:
    return number(value, 4)


def _count(value: int | None) -> str:
    return "undefined" if value is None else str(value)


def _export(options: argparse.Namespace) -> None:
    path = existing_database(options.db)
    check_not_the_database(options.out, path)
    with open_store(path) as store:
        study = find_study(store, options.name)
        _check_format(study, options.format)
        record = released_record(store, study)
        if options.format == _PAPER:
            written = _export_paper(record, options.out)
        else:
            write_file(options.out, _FORMATS[study.kind][options.format](record))
            written = [options.out]
        write_log(store, study.study_id, "exported", options.format)  # a refused export is none
    for path in written:
        print(path)


def _check_format(study: Study, wanted: str) -> None:
    offered = [*_FORMATS[study.kind], *([_PAPER] if study.kind == "pairs" else [])]
    if wanted not in offered:
        raise InputError(
            f"--format {wanted}: study {study.name!r} is one of {study.kind}; it can be exported as "
            f"{', '.join(offered)}."
        )


def _export_paper(record: StudyRecord, out: Path) -> list[Path]:
    """One file for one rater; else a folder with a file a rater."""
    files = paper_files(record)
    if not files:
        raise InputError(f"Study {record.study.name!r} has no answers to export.")
    if len(files) == 1 and not out.is_dir():
        write_file(out, next(iter(files.values())))
        return [out]
    if out.is_file():
        raise InputError(f"{len(files)} raters give {len(files)} files: name a folder, not the file {out}.")
    make_folder(out)
    for name, content in files.items():
        write_file(out / name, content)
    return [out / name for name in files]


def _add_audit(verbs: Commands) -> None:
    """Register `study audit`."""
    add_reading_verb(verbs, "audit", "", _audit).add_argument("name")


def _audit(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        audit = audit_study(store, study)
    as_json = {"study": study.name, "dataset_sha256": study.dataset_sha256, **audit.to_json()}
    print_result(options, as_json, _print_audit, study, audit)


def _print_audit(study: Study, audit: LeakageAudit) -> None:
    print(
        f"Leakage audit of {study.name!r}: {audit.candidate} against {audit.comparator}, from the texts alone\n"
    )
    _print_levels(audit)
    print(f"(rules are said of the answer of {audit.candidate}; p: {audit.n_resamples} flips at most)\n")
    print("\n".join([audit.linkage.sentence(), "", *reading_sentences(audit)]))


def _print_levels(audit: LeakageAudit) -> None:
    parts = (*audit.levels, audit.overall)
    width = max(5, *(len(part.level or "all") for part in parts))
    print(f"{'level':{width}} {'pairs':>6} {'AUC':>6} {'p':>7} {'rule p':>7}  strongest rule")
    for part in parts:
        print(f"{part.level or 'all':{width}} {part.all_features.n_pairs:6} {_level_numbers(part)}")


def _level_numbers(part: LevelAudit) -> str:
    found, rule = part.all_features, part.rule
    if found.auc is None or rule.p is None:
        return f"undefined: {found.reason}"
    return f"{found.auc:6.3f} {found.p:7.4f} {rule.p:7.4f}  {part.rule_text}"

"""`study audit`: can the two sources be told apart by superficial features of their texts?"""

import argparse

from core.cli.options import Commands, add_reading_verb, existing_store, print_result
from core.schema import Study
from core.store.studies import find_study
from core.study.audit import LeakageAudit, LevelAudit, audit_study, reading_sentences


def add_audit(verbs: Commands) -> None:
    """Register `study audit`."""
    about = "do length, diff, punctuation, ... give the sources away?"
    add_reading_verb(verbs, "audit", about, _audit).add_argument("name")


def _audit(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        audit = audit_study(store, study)
    as_json = {"study": study.name, "dataset_sha256": study.dataset_sha256, **audit.to_json()}
    print_result(options, as_json, _print, study, audit)


def _print(study: Study, audit: LeakageAudit) -> None:
    print(
        f"Leakage audit of {study.name!r}: {audit.candidate} against {audit.comparator}, from the texts alone\n"
    )
    _print_table(audit)
    print(f"(rules are said of the answer of {audit.candidate}; p: {audit.n_resamples} flips at most)\n")
    print("\n".join([audit.linkage.sentence(), "", *reading_sentences(audit)]))


def _print_table(audit: LeakageAudit) -> None:
    parts = (*audit.levels, audit.overall)
    width = max(5, *(len(part.level or "all") for part in parts))
    print(f"{'level':{width}} {'pairs':>6} {'AUC':>6} {'p':>7} {'rule p':>7}  strongest rule")
    for part in parts:
        print(f"{part.level or 'all':{width}} {part.all_features.n_pairs:6} {_numbers(part)}")


def _numbers(part: LevelAudit) -> str:
    found, rule = part.all_features, part.rule
    if found.auc is None or rule.p is None:
        return f"undefined: {found.reason}"
    return f"{found.auc:6.3f} {found.p:7.4f} {rule.p:7.4f}  {part.rule_text}"

"""The life of a study: import, design, opening, closing and unblinding; changes while raters work; the demo."""

import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from core import __version__
from core.errors import MOST_PROBLEMS, InputError, NotAllowed, Problems, counted
from core.formats.scorable import write_outputs
from core.formats.study.files import read_dataset, verbatim
from core.formats.study.pairs import slip_sentence
from core.formats.study.votes import TableVotes
from core.formats.tasks import dump_task, parse_task
from core.rendering.guess import guessed
from core.schema.designs import LARGEST_SEED, PairDesign, RatingDesign, StudyDesign
from core.schema.rendering import Shown
from core.schema.scores import PROBABILITY, OutputSet, ScorableOutput
from core.schema.settings import Remark, refuse
from core.schema.study import (
    NO_LEVEL,
    Dataset,
    Design,
    Inclusion,
    Item,
    Output,
    Rater,
    RatingTask,
    Role,
    State,
    Study,
    StudyKind,
    StudyRecord,
)
from core.store import Store
from core.store.answers import LISTS, insert_record
from core.store.raters import find_rater, raters_of, rename_rater, update_rater
from core.store.studies import (
    get_study,
    insert_study,
    list_studies,
    now_utc,
    outputs_of,
    read_setting,
    set_state,
    sources_of,
    write_design,
    write_guideline,
    write_inclusion,
    write_log,
    write_setting,
    write_wording,
)
from core.study.analysis_set import describe_analysis_set, fix_at_vote
from core.study.blinding import SPAN_DIMENSION, open_desk
from core.study.design import (
    check_design,
    check_rating_design,
    deal_again,
    distribute,
    drafts_lost,
    estimated_minutes,
    lists_drawn_otherwise,
)
from core.study.guidelines import check_guideline, check_wording, named_sources
from core.study.raters import ListProgress, add_raters, import_votes, links, list_progress
from core.study.shipped import guidelines_read, wording_read
from core.tables.reading import is_language_tag, number_in, printable_text, same_name, sha256_of, shown

PAPER_SOURCES = ("ai", "human")
"""System names in Factual's data set: the default candidate and comparator."""

_NEXT_STATES: dict[State, tuple[State, ...]] = {
    "draft": ("open",),
    "open": ("closed",),
    "closed": ("open", "unblinded"),
    "unblinded": (),
}


def new_seed() -> int:
    """A random seed."""
    return secrets.randbelow(LARGEST_SEED)


def roles(dataset: Dataset, candidate: str | None, comparator: str | None) -> tuple[str, str]:
    """(candidate, comparator), completed from one name or from Factual's system names.

    Raises InputError if neither is possible.
    """
    if candidate is None and comparator is None and is_factual(dataset):
        return PAPER_SOURCES
    one, other = dataset.sources
    opposite = {one: other, other: one}
    if candidate is None and comparator is None:
        raise InputError(
            f"Choose which system is the candidate: the data set has {one!r} and {other!r}. "
            f"For example: candidate {one}, comparator {other}."
        )
    return candidate or opposite.get(comparator or "", ""), comparator or opposite.get(candidate or "", "")


def usual_design(dataset: Dataset, candidate: str | None = None, comparator: str | None = None) -> Design:
    """The default design of a new study, with a new seed.

    A candidate or comparator declares non-inferiority with the usual margin, and so do Factual's systems. Otherwise there is no
    margin, both systems stand in the order of the file, and raters guess nothing, because nobody named a person's answers.
    Plain pairs default to the net preference and to no guesses, because usually no person wrote either answer.
    """
    if candidate is None and comparator is None and not is_factual(dataset):
        design = Design(*dataset.sources, margin=None, seed=new_seed(), blinding_pairs=0)
    else:
        design = Design(*roles(dataset, candidate, comparator), seed=new_seed())
    design = designed_to_show(design, guessed(output.text for output in dataset.outputs).shown)
    return replace(design, score="net_preference", blinding_pairs=0) if dataset.plain else design


def designed_to_show(design: Design, shown: Shown) -> Design:
    """The design, with another way to show texts."""
    return replace(design, rendering=shown.rendering, code_language=shown.code_language)


def say_shown(design: Design, texts: Iterable[str]) -> str:
    """How raters will see the texts, with the reason where it was guessed; empty where they are shown as written and look so."""
    guess = guessed(texts)
    if design.shown != guess.shown:
        return "" if design.shown.as_written else f"Raters see the answers as {design.shown.named}."
    if guess.shown.as_written:
        return ""
    return (
        f"Raters see the answers as {design.shown.named}, because {counted(guess.n_like, 'text')} of {guess.n:,} "
        f"{'looks' if guess.n_like == 1 else 'look'} so."
    )


def new_design(dataset: Dataset, pair_design: PairDesign, *, with_margin: bool = True) -> Design:
    """The design of a new study: what is declared, and the usual one for the rest.

    with_margin: False where no margin is to be declared, even for Factual's systems, whose roles are known.

    Raises SettingsError for a margin, early looks or a confidence level without a candidate, and InputError for an unknown system.
    """
    declared = pair_design.declared
    if pair_design.margin is not None or pair_design.early_looks:
        roles(dataset, pair_design.candidate, pair_design.comparator)  # asks for a candidate
    usual = usual_design(dataset, pair_design.candidate, pair_design.comparator)
    if not with_margin:
        first, second = dataset.sources
        usual = replace(usual, candidate=first, comparator=second, margin=None)
    if pair_design.confidence_level is not None and usual.margin is None:
        problem = (
            "it is the level of the bound against a margin: set {candidate} and {margin}, or leave it out"
        )
        refuse([Remark("confidence_level", problem)], PairDesign, what="Invalid design")
    if pair_design.person is not None or (pair_design.blinding_pairs and usual.margin is None):
        declared["person"] = person_role(usual, pair_design.person)
        if not dataset.plain:
            declared.setdefault("blinding_pairs", Design.blinding_pairs)
    usual = _unless_declared(usual, pair_design)
    return replace(usual, **{**declared, "candidate": usual.candidate, "comparator": usual.comparator})


def _unless_declared(usual: Design, declared: StudyDesign) -> Design:
    """The usual design without the language of code, where a rendering without one is declared."""
    other = declared.declared.get("rendering", usual.rendering) != usual.rendering
    return replace(usual, code_language="") if other else usual


def new_rating_design(rating_design: RatingDesign, outputs: OutputSet, task: RatingTask) -> Design:
    """The design of a new study of ratings: what is declared, and the usual one for the rest. It has no roles and no guesses."""
    usual = Design("", "", seed=new_seed(), blinding_pairs=0)
    if task.spans is None:
        usual = designed_to_show(usual, guessed(output.text for output in outputs.outputs).shown)
    return replace(_unless_declared(usual, rating_design), **rating_design.declared)


def is_factual(dataset: Dataset) -> bool:
    """Whether the systems are those of Factual's data set, whose roles are known."""
    return set(dataset.sources) == set(PAPER_SOURCES)


def person_role(design: Design, person: str | None) -> Role:
    """The role of the system whose answers a person wrote: its name, or `candidate` or `comparator` where these are declared.

    Raises InputError for anything else.
    """
    named: dict[str | None, Role] = {design.candidate: "candidate", design.comparator: "comparator"}
    if design.margin is not None:
        named = {"candidate": "candidate", "comparator": "comparator", **named}
    if person not in named:
        wrong = "none is named" if person is None else f"{shown(person)} is neither"
        raise InputError(
            f"Name the system whose answers a person wrote: {shown(design.candidate)} or {shown(design.comparator)}; {wrong}."
        )
    return named[person]


def import_study(store: Store, name: str, dataset: Dataset, design: Design, *, again: bool = False) -> Study:
    """Store a checked data set as a new study in draft.

    Raises InputError for a taken or blank name, an invalid design, or (unless `again`) a file that was imported
    before.
    """
    name = check_name(store, name)
    check_design(design, dataset.sources, dataset.levels)
    texts = dataset.items, dataset.outputs, dataset.levels
    return _keep_new(store, name, dataset, design, texts, again=again)


def import_voted_study(
    store: Store, name: str, dataset: Dataset, design: Design, votes: TableVotes, *, again: bool = False
) -> Study:
    """Store a checked data set with the votes that stand beside its texts, all of it or nothing.

    The votes have no side and no time, and since nobody rates by link, the study is unblinded at once. Raises InputError as
    `import_study`, and for a file without votes on these pairs.
    """
    preferences = votes.preferences(design.candidate, design.comparator)
    with store.writing():
        study = import_study(store, name, dataset, design, again=again)
        for rater, own in preferences.items():
            if own:
                import_votes(store, study, rater, own)
        return get_study(store, study.study_id)


def studies_like(store: Store, file: Dataset | OutputSet, systems: Collection[str] = ()) -> list[str]:
    """Names of the studies made from this file; for pairs, only those that compare the same two systems."""
    kind: StudyKind = "pairs" if isinstance(file, Dataset) else "ratings"
    return [
        study.name
        for study in reversed(list_studies(store))
        if (study.dataset_sha256, study.kind) == (file.sha256, kind)
        and (kind == "ratings" or {study.design.candidate, study.design.comparator} == set(systems))
    ]


def _keep_new(
    store: Store,
    name: str,
    file: Dataset | OutputSet,
    design: Design,
    texts: tuple[tuple[Item, ...], tuple[Output, ...], tuple[str, ...]],
    *,
    task: RatingTask | None = None,
    inclusion: Sequence[Inclusion] = (),
    again: bool,
) -> Study:
    """Store a new study in draft with its texts and design.

    texts: items, outputs and levels. task, inclusion: for studies that rate single texts. Raises InputError if the file was
    imported before, unless `again`.
    """
    items, outputs, levels = texts
    study = Study(
        study_id=0,
        name=name,
        state="draft",
        design=design,
        levels=levels,
        dataset_sha256=file.sha256,
        dataset_file=file.file_name,
        created_utc=now_utc(),
        app_version=__version__,
        kind="pairs" if task is None else "ratings",
        task=task,
    )
    known = studies_like(store, file, (design.candidate, design.comparator))
    if known and not again:
        raise InputError(
            f"{shown(file.file_name)} was imported before (same sha256 {file.sha256[:12]}) as "
            f"{', '.join(known)}. Use that study, or choose to import the file again."
        )
    with store.writing():
        study = insert_study(store, study, items, outputs)
        write_inclusion(store, study.study_id, inclusion)
        write_log(store, study.study_id, "imported", f"{file.file_name}, sha256 {file.sha256}")
        task_named = "" if task is None else f"task {task.name}; "
        write_log(store, study.study_id, "declared", task_named + describe_design(design, levels))
    return study


def restore_study(store: Store, record: StudyRecord, *, name: str | None = None) -> Study:
    """Store the study of a bundle, under its own name or another. Raters need new links."""
    name = check_name(store, record.study.name if name is None else name)
    with store.writing():
        study = insert_record(store, replace(record, study=replace(record.study, name=name)))
        write_log(store, study.study_id, "restored", f"from a bundle of study {record.study.name}")
    return study


LONGEST_NAME = 80
"""Characters of a study's name."""


def check_name(store: Store, name: str) -> str:
    """Check a study's name and strip blanks. Raises InputError if it is empty, too long or taken."""
    name = unicodedata.normalize("NFC", name).strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"A study needs a name of 1 to {LONGEST_NAME} printable characters.")
    if same_name(name) in {same_name(study.name) for study in list_studies(store)}:
        raise InputError(f"A study named {name!r} already exists. Choose another name.")
    return name


def change_design(store: Store, study: Study, design: Design) -> Study:
    """Replace the design before the first vote and log the changes, with the number of drafts lost (see drafts_lost).

    Raises NotAllowed after the first vote, and in a study that is closed or unblinded.
    """
    with store.writing():
        study = get_study(store, study.study_id)
        design = replace(design, declared=True)
        if study.kind == "pairs" and design.margin is None:
            design = file_order_design(store, study, design)
        if design == study.design:
            return study
        _check_running(study, "design")
        if study.first_vote_utc is not None:
            raise NotAllowed(
                f"The design was frozen at the first vote ({study.first_vote_utc}). "
                "Margin, confidence level, analysis set, roles, draws and how texts are shown can no longer change."
            )
        if study.kind == "ratings":
            assert study.task is not None
            check_rating_design(design, study.task)
        else:
            check_design(design, sorted({study.design.candidate, study.design.comparator}), study.levels)
        if kept := lists_drawn_otherwise(store, study, design):
            raise NotAllowed(
                f"{', '.join(kept)} answered before being excluded. Seed, order and hidden repeats can no longer change, because "
                "they would draw other lists."
            )
        changed = [
            f"{field.name}: {getattr(study.design, field.name)} -> {getattr(design, field.name)}"
            for field in fields(Design)
            if getattr(study.design, field.name) != getattr(design, field.name)
        ]
        if lost := drafts_lost(store, study, design):
            changed.append(f"drafts off their raters' lists: {lost}")
        write_design(store, study.study_id, design)
        study = get_study(store, study.study_id)
        write_log(store, study.study_id, "design changed", "; ".join(changed))
        distribute(store, study, keep_lists=False)
    return study


def file_order_design(store: Store, study: Study, design: Design) -> Design:
    """A design without a margin, with the systems in the order of the file; the person stays the same system."""
    first, second = dict.fromkeys(output.source for output in outputs_of(store, study.study_id))
    if {first, second} != {design.candidate, design.comparator}:
        return design  # `check_design` refuses it
    person: Role = "candidate" if design.person_system == first else "comparator"
    return replace(design, candidate=first, comparator=second, person=person)


def move(store: Store, study: Study, state: State, reason: str = "") -> Study:
    """Open, close, re-open or unblind a study. Raises NotAllowed for an impossible step."""
    with store.writing():
        study = get_study(store, study.study_id)
        if state not in _NEXT_STATES[study.state]:
            steps = " or ".join(_NEXT_STATES[study.state])
            possible = f"Possible: {steps}." if steps else "This state is final."
            raise NotAllowed(f"A study that is {study.state} cannot become {state}. {possible}")
        reason = printable_text(reason).strip()
        if state == "unblinded" and not reason:
            raise NotAllowed("Give a reason for unblinding. It is saved in the study's log.")
        set_state(store, study.study_id, state)
        study = get_study(store, study.study_id)
        write_log(store, study.study_id, state, reason)
    return study


def _check_running(study: Study, what: str) -> None:
    """Raise NotAllowed for a closed or unblinded study. what: what an owner wants to change."""
    if study.has_ended:
        again = " Open it again first." if study.state == "closed" else ""
        raise NotAllowed(f"Study {study.name!r} is {study.state}, so its {what} cannot change.{again}")


@contextmanager
def _changing_texts(
    store: Store, study: Study, what: str, read: Callable[[Store, Study, str], object]
) -> Iterator[None]:
    """Write guidelines or wording in this block: all or nothing, and after the first vote nothing that a rater reads.

    read: what a rater of a language reads. Raises NotAllowed.
    """
    with store.writing():
        study = get_study(store, study.study_id)
        _check_running(study, what)
        if study.first_vote_utc is None:
            yield
            return
        languages = {
            rater.language or study.language
            for rater in raters_of(store, study.study_id)
            if not (rater.dry_run or rater.imported)
        }
        before = {language: read(store, study, language) for language in sorted(languages)}
        yield
        changed = [language for language in before if read(store, study, language) != before[language]]
        if changed:
            raise NotAllowed(
                f"The {what} of raters in {', '.join(changed)} were frozen at the first vote ({study.first_vote_utc}). "
                "Only a language that no rater reads can still change."
            )


def set_guideline(store: Store, study: Study, language: str, text: str) -> None:
    """Set the study's own guidelines in one language.

    Raises InputError if they would unblind raters, and NotAllowed if what a rater reads is frozen.
    """
    text = printable_text(text)
    check_guideline(text, sources_of(store, study.study_id))
    _check_language_tag(language)
    with _changing_texts(store, study, "guidelines", guidelines_read):
        write_guideline(store, study.study_id, language, text)
        write_log(store, study.study_id, "guidelines changed", language)


def set_wording(store: Store, study: Study, language: str, texts: Mapping[str, str]) -> None:
    """Set the study's own consent text and labels in one language; missing keys use the shipped text.

    Raises InputError for an invalid text, and NotAllowed if what a rater reads is frozen.
    """
    kept = {key: printable_text(text).strip() for key, text in texts.items()}
    _check_language_tag(language)
    check_wording(kept, sources_of(store, study.study_id), language)
    with _changing_texts(store, study, "consent text and labels", wording_read):
        write_wording(store, study.study_id, language, kept)
        write_log(store, study.study_id, "wording changed", f"{language}: {', '.join(kept) or 'as shipped'}")


def _check_language_tag(language: str) -> None:
    if not is_language_tag(language):
        raise InputError(f"{language[:40]!r} is not a language tag such as en, pt-BR or zh-Hant.")


def describe_design(design: Design, levels: Sequence[str] = ()) -> str:
    """The design in one line, for log and screen. levels: levels of a study of pairs."""
    votes = "from all raters" if design.votes_per_pair is None else f"{design.votes_per_pair}"
    seen = f", texts shown as {design.shown.named}" if design.shown.named else ""
    if not design.candidate:  # texts are rated one by one
        return f"seed {design.seed}, ratings per item {votes}, hidden repeats {design.repeat_share:.0%}{seen}"
    whose = f"those of {design.person_system}" if design.margin is None else f"the {design.person}'s"
    asked = f"{design.blinding_pairs} (a person wrote {whose})"
    guesses = asked if design.blinding_pairs else "none"
    order = "" if tuple(levels) == (NO_LEVEL,) else f"levels {design.level_order}, "
    early = "; early looks with an always-valid bound" if design.early_looks else ""
    systems = f"systems {design.candidate} and {design.comparator}, no margin"
    if design.margin is not None:
        systems = (
            f"candidate {design.candidate}, comparator {design.comparator}, margin {design.margin:g}, "
            f"confidence level {design.confidence_level:g}"
        )
    return (
        f"{systems}, seed {design.seed}, votes per pair {votes}, "
        f"{order}hidden repeats {design.repeat_share:.0%}{seen}, "
        f"guesses at the end {guesses}; {describe_analysis_set(design, levels)}{early}"
    )


VOTES_LEFT_OUT = "votes left out"
"""Ends the log line of a rater who withdrew with their votes; read again by the analysis."""


def exclude_rater(store: Store, study: Study, rater_id: str, reason: str) -> None:
    """Exclude a rater's answers from the analysis; they stay stored. Raises InputError without a reason."""
    reason = printable_text(reason).strip()
    if not reason:
        raise InputError("Give a reason for excluding the rater. It is saved in the study and its exports.")
    with store.writing():
        find_rater(store, study.study_id, rater_id)
        update_rater(store, study.study_id, rater_id, excluded=reason)
        write_log(store, study.study_id, "rater excluded", reason, rater_id=rater_id)


def include_rater(store: Store, study: Study, rater_id: str) -> None:
    """Count an excluded rater's answers again. Raises NotAllowed for a rater who is not excluded or has withdrawn."""
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.excluded is None:
            raise NotAllowed(f"{rater_id!r} is not excluded.")
        if rater.withdrawn:
            raise NotAllowed(f"{rater_id!r} withdrew their votes. They stay excluded.")
        update_rater(store, study.study_id, rater_id, excluded=None)
        answers = LISTS[study.kind].answers_of(store, study.study_id, rater_id)
        if not rater.dry_run and any(answer.answered for answer in answers):
            fix_at_vote(store, study.study_id, imported=rater.imported)
        write_log(store, study.study_id, "rater included again", rater_id=rater_id)
        deal_again(store, study)


def withdraw_rater(store: Store, study: Study, rater_id: str, *, keep_votes: bool) -> str:
    """Delete a rater's comments and pseudonym everywhere in the study and revoke their link; return the new name.

    The votes stay under the new name, counted or (without `keep_votes`) excluded. Earlier copies (backups, exports)
    still contain the old name.
    """
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.withdrawn:
            raise NotAllowed(f"{rater_id!r} has already withdrawn.")
        taken = {other.rater_id for other in raters_of(store, study.study_id)}
        new = next(name for n in range(1, len(taken) + 2) if (name := f"withdrawn-{n}") not in taken)
        changes: dict[str, object] = {"withdrawn": 1, "revoked": 1, "token_sha256": None}
        if not keep_votes:
            changes["excluded"] = f"withdrew, {VOTES_LEFT_OUT}"
        update_rater(store, study.study_id, rater_id, **changes)
        rename_rater(store, study.study_id, rater_id, new)
        kept = "votes kept" if keep_votes else VOTES_LEFT_OUT
        write_log(
            store, study.study_id, "rater withdrew", f"comments and pseudonym deleted, {kept}", rater_id=new
        )
    store.forget()
    return new


@dataclass(frozen=True)
class Reminder:
    """A message for a rater with something left to do."""

    rater_id: str
    text: str


def reminders(store: Store, study: Study, base: str) -> list[Reminder]:
    """One message, ready to send, for each rater with something left to do; `base` is the app's address.

    That is: open pairs or texts, answers that are not locked, or pairs to guess about.
    """
    if study.state != "open":
        raise NotAllowed(f"Study {study.name!r} is {study.state}: reminders are for open studies only.")
    people = {rater.rater_id: rater for rater in raters_of(store, study.study_id)}
    urls = {link.rater_id: link.url(base) for link in links(store, study)}
    found = []
    for line in list_progress(store, study):
        if line.total and line.rater_id in urls and _asked(people[line.rater_id]):
            guesses = open_desk(store, urls[line.rater_id].rsplit("/", 1)[1])  # None for studies of texts
            left = guesses is not None and guesses.guessing().next_open() is not None
            if line.done < line.total or not line.finished or left:
                found.append(Reminder(line.rater_id, _message(line, study.kind, urls[line.rater_id])))
    return found


def _asked(rater: Rater) -> bool:
    return not (rater.dry_run or rater.imported) and rater.excluded is None


def _message(line: ListProgress, kind: StudyKind, url: str) -> str:
    still = line.total - line.done
    if not still:
        left = "One short last step remains" if line.finished else "As the last step, please lock them"
        return f"All your answers are saved, thank you. {left}. Your link: {url}"
    unit = "pair" if kind == "pairs" else "text"
    entries = f"1 {unit} is" if still == 1 else f"{still} {unit}s are"
    minutes = estimated_minutes(still, kind)
    time = f"about {minutes} {'minute' if minutes == 1 else 'minutes'}"
    if not line.done:
        return f"{entries[0].upper()}{entries[1:]} waiting for you, {time}; you can stop at any time. Your link: {url}"
    return (
        f"You have rated {line.done} {unit if line.done == 1 else unit + 's'} so far, thank you. "
        f"{entries[0].upper()}{entries[1:]} still open, {time}. Your link brings you back to where you were: {url}"
    )


DEMO_NAME = "demo"
_FILE = Path(__file__).resolve().parents[2] / "data" / "demo" / "answers.csv"
_SEED = 20261121
_DONE = "demo_loaded"


def load_demo_once(store: Store) -> None:
    """Import and open the demo study, unless this database has ever had it (renamed or not)."""
    with store.writing():
        if read_setting(store, _DONE) is not None:
            return
        dataset = read_dataset(_FILE.read_bytes(), _FILE.name)
        design = Design(candidate="pipeline", comparator="handwritten", seed=_SEED)
        if same_name(DEMO_NAME) in {same_name(study.name) for study in list_studies(store)}:
            write_setting(store, _DONE, now_utc())  # the owner's own study has the name
            return
        # `again`: the owner may have imported the same file before the first start.
        study = import_study(store, DEMO_NAME, dataset, design, again=True)
        add_raters(store, study, ["rater-1", "rater-2"])
        move(store, study, "open", "demo")
        write_setting(store, _DONE, study.created_utc)


OFTEN = 4
"""Number of texts from which a system or level is common: a name with a single text may then be misspelt."""
_LINE = re.compile(r"^line \d+, ")
"""Start of a problem's place in a task file; a study's task has no file."""


def made_set(outputs: Sequence[ScorableOutput], file_name: str) -> OutputSet:
    """Texts that were chosen here and never stood in a file, named and hashed as if they did."""
    return OutputSet(tuple(outputs), sha256_of(write_outputs(outputs)), file_name)


def import_rating_study(
    store: Store, name: str, outputs: OutputSet, task: RatingTask, design: Design, *, again: bool = False
) -> tuple[Study, tuple[str, ...]]:
    """Store texts and a task as a new study in draft; return the study with notes for its owner.

    Texts are stored unchanged, because marked spans count their code points. An item may lack texts of some systems.
    A label `inclusion_probability` of a text is stored apart, as its probability of inclusion; raters never see it. Raises InputError for texts that cannot be rated, a taken or blank name, an empty task, an invalid design, or
    (unless `again`) a file that was imported before.
    """
    name = check_name(store, name)
    check_rating_design(design, task)
    check_task(task)
    items, texts, levels, notes = study_texts(outputs)
    inclusion = inclusion_in(outputs)
    drawn = (items, texts, levels)
    study = _keep_new(store, name, outputs, design, drawn, task=task, inclusion=inclusion, again=again)
    named = _telling(task, {text.source for text in texts})
    return study, (*outputs.notes, *notes, *_reference_notes(task, items, texts), *named)


def check_task(task: RatingTask) -> None:
    """Raise InputError for an empty task, or one whose answers would be ambiguous."""
    names = [one.name for one in task.dimensions]
    problems = Problems()
    if task.spans is not None and SPAN_DIMENSION in names:
        problems.append(
            f"a task with marked errors cannot have a dimension {SPAN_DIMENSION!r}: their score has this name"
        )
    try:
        parse_task(dump_task(task), task.name)  # a study's task must be valid as a file too
    except InputError as wrong:
        problems += wrong.found.each(lambda problem: _LINE.sub("", problem))
    if problems:
        raise InputError(f"Invalid task {shown(task.name)}:", problems)


def _telling(task: RatingTask, sources: Collection[str]) -> tuple[str, ...]:
    """A note on systems named in the task, which raters read. Not an error: a system may be called "a" or "text"."""
    said = [task.title, *astuple(task.labels)]
    if task.spans is not None:
        said += map(task.spans.in_words, (*task.spans.severities, *task.spans.categories))
    for one in task.dimensions:
        said += [one.title, one.description, one.detailed, *(words for _, words in one.anchors)]
    named = named_sources("\n".join(said), sorted(sources))
    if not named:
        return ()
    return (f"raters read the names of systems in the task: {', '.join(map(shown, named))}",)


def _reference_notes(task: RatingTask, items: Sequence[Item], texts: Sequence[Output]) -> Iterator[str]:
    """Notes on missing references, and on rated texts that are the reference shown to raters."""
    if not task.show_reference:
        return
    if bare := sum(not item.reference.strip() for item in items):
        yield f"{bare} of {len(items)} items have no reference, although this task shows references"
    counts = Counter((one.source, one.level) for one in verbatim(items, texts))
    if counts:
        each = ", ".join(
            f"{shown(source)}{f' {shown(level)}' if level else ''} in {n} of {len(items)} items"
            for (source, level), n in counts.items()
        )
        yield f"raters will recognise texts that equal the reference word for word: {each}"


def inclusion_in(outputs: OutputSet) -> tuple[Inclusion, ...]:
    """The probabilities of inclusion among the labels of the texts. Raises InputError with every one that is none."""
    problems = Problems()
    found = []
    for one in outputs.outputs:
        written = one.labels.get(PROBABILITY, "")
        if not written:
            continue
        value = number_in(written)
        if value is None or not 0 < value <= 1:
            problems.append(
                f"{_place(one.item_id, one.system, one.level)}: {PROBABILITY} is {shown(written)}, not above 0 and at most 1"
            )
        else:
            found.append(Inclusion(one.item_id, one.level or "", one.system, value))
    if problems:
        raise InputError(f"{shown(outputs.file_name)} cannot become a rating study:", problems)
    return tuple(found)


def study_texts(
    outputs: OutputSet,
) -> tuple[tuple[Item, ...], tuple[Output, ...], tuple[str, ...], tuple[str, ...]]:
    """(items, texts, levels, notes) for a study of these texts. Raises InputError with every problem and its place."""
    problems = Problems(_problems(outputs.outputs))
    if problems:
        raise InputError(f"{shown(outputs.file_name)} cannot become a rating study:", problems)
    firsts: dict[str, ScorableOutput] = {}
    for one in outputs.outputs:
        firsts.setdefault(one.item_id, one)
    items = tuple(
        Item(i, one.source or "", one.reference or "", one.language, one.turns) for i, one in firsts.items()
    )
    texts = tuple(Output(one.item_id, one.level or "", one.system, one.text) for one in outputs.outputs)
    levels = tuple(dict.fromkeys(text.level for text in texts if text.level))
    return items, texts, levels, _notes(outputs, items, texts)


def _problems(outputs: Sequence[ScorableOutput]) -> Iterator[str]:
    if not outputs:
        yield "the file has no text"
    keys = Counter((one.item_id, one.system, one.level or "") for one in outputs)
    yield from (
        f"{_place(item, system, level)}: {n} texts differ only in other columns; give these items different ids"
        for (item, system, level), n in keys.items()
        if n > 1
    )
    yield from (
        f"{_place(one.item_id, one.system, one.level)}: the text is empty"
        for one in outputs
        if not one.text.strip()
    )
    for what, of in (("source text", "source"), ("reference", "reference"), ("language", "language")):
        said: dict[str, set[object]] = {}
        for one in outputs:
            said.setdefault(one.item_id, set()).add(getattr(one, of))
        yield from (
            f"item {shown(item)}: its texts have more than one {what}, but raters see one per item"
            for item, values in said.items()
            if len(values) > 1
        )


def _place(item: str, system: str, level: str | None) -> str:
    return f"item {shown(item)}, system {shown(system)}" + (f", level {shown(level)}" if level else "")


def _has_others(texts: Sequence[Output]) -> bool:
    """Whether any item has texts of two systems, so that judges can learn from other systems' texts."""
    systems: dict[str, set[str]] = {}
    for text in texts:
        systems.setdefault(text.item_id, set()).add(same_name(text.source))
    return any(len(own) > 1 for own in systems.values())


def _notes(outputs: OutputSet, items: Sequence[Item], texts: Sequence[Output]) -> tuple[str, ...]:
    notes = []
    kinds = {(text.source, text.level) for text in texts}
    for noun, named in (
        ("system", [(text.source, text) for text in texts]),
        ("level", [(text.level, text) for text in texts if text.level]),
    ):
        counts = Counter(name for name, _ in named)
        often = [name for name, n in counts.items() if n > 1]
        # A system may really have few texts, so a name that occurs once is only a note.
        if max(counts.values(), default=0) >= OFTEN:
            notes += [
                f"item {shown(text.item_id)}, {noun}: {slip_sentence(name, 1, often, None)}"
                for name, text in named
                if counts[name] == 1
            ][:MOST_PROBLEMS]
    whole = Counter(text.item_id for text in texts)
    short = sum(n < len(kinds) for n in whole.values())
    if short:
        notes.append(
            f"{short} of {len(items)} items lack a text of some system or level; raters see the texts they have"
        )
    if not any(item.question for item in items):
        notes.append("the file has no source texts, so raters see only the texts")
    if not _has_others(texts):
        notes.append(
            "no item has texts of two systems. Judges that learn from ratings (automqm, direct) use examples from other "
            "systems' texts of the same item, so they will have none here"
        )
    if any(PROBABILITY in one.labels for one in outputs.outputs):
        notes.append("probabilities of inclusion are stored for the analysis; raters never see them")
    if any(set(one.labels) - {PROBABILITY} for one in outputs.outputs):
        notes.append("other columns of the file are not stored with the study")
    if outputs.left_out:
        notes += [f"{n} texts left out: {reason}" for reason, n in outputs.left_out.items()]
    return tuple(notes)

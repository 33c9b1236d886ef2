"""Small makers for tests: data sets, studies with raters in a store, raters who answer, bundles with faults."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any

from core.schema.runs import Run
from core.schema.study import (
    GUESSED_SIDES,
    NO_LEVEL,
    Answer,
    Assignment,
    Choice,
    Dataset,
    Design,
    Item,
    Output,
    Preference,
    Rater,
    Study,
    StudyRecord,
)
from core.store import Store
from core.store.answers import load_record
from core.store.runs import insert_run
from core.store.studies import get_study, set_state
from core.study.blinding import BlindPair, RaterDesk, open_desk
from core.study.design import assign, first_source
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters, links
from core.tables.reading import sha256_of

LEVELS = ("A0", "A1", "A2", "A3", "A4")
SOURCES = ("ai", "human")
ANALYSIS_SET = ("main_levels", "votes_needed", "score", "flagged", "declared")
"""Fields of a design that studies of before the analysis set lack."""
Policy = Callable[[BlindPair], Choice | None]
"""What a rater presses on a pair; None: nothing, the pair stays open."""

_files = count()
_names = count(1)
_usual: list[tuple[str, ...]] = [LEVELS]
"""Levels of a data set whose test names none."""


@contextmanager
def plain_pairs() -> Iterator[None]:
    """Data sets whose test names no levels are plain pairs meanwhile, with as many pairs as usual."""
    _usual.append((NO_LEVEL,))
    try:
        yield
    finally:
        _usual.pop()


def text_of(item: str, level: str, which: int) -> str:
    """The text of the first (0) or second (1) source: tells the source to a test, names it to nobody."""
    return f"{('Alpha', 'Beta')[which]} text of {item} at {level}."


def item_ids(n_items: int) -> list[str]:
    return [f"q{number:02d}" for number in range(n_items)]


def dataset(
    n_items: int = 4,
    levels: Sequence[str] | None = None,
    sources: tuple[str, str] = SOURCES,
    *,
    languages: Sequence[str] = ("en",),
    file_name: str = "answers.json",
) -> Dataset:
    """A data set with texts of its own; each call is another file (another sha256)."""
    if levels is None:
        levels = _usual[-1]
        n_items *= len(LEVELS) // len(levels)
    ids = item_ids(n_items)
    return Dataset(
        items=tuple(
            Item(item, f"Question {item}?", f"Reference {item}.", languages[number % len(languages)])
            for number, item in enumerate(ids)
        ),
        outputs=tuple(
            Output(item, level, source, text_of(item, level, which))
            for item in ids
            for level in levels
            for which, source in enumerate(sources)
        ),
        levels=tuple(levels),
        sources=sources,
        sha256=hashlib.sha256(f"file {next(_files)}".encode()).hexdigest(),
        file_name=file_name,
    )


def paper_json(data: Dataset) -> bytes:
    """The data set as a file in the paper's format."""
    texts = {(o.item_id, o.level, o.source): o.text for o in data.outputs}
    questions = [
        {
            "id": item.item_id,
            "question": item.question,
            "ground_truth": item.reference,
            "language": item.language,
            "answers": {
                level: {source: texts[item.item_id, level, source] for source in data.sources}
                for level in data.levels
            },
        }
        for item in data.items
    ]
    return json.dumps({"questions": questions}).encode()


@dataclass
class StudyInStore:
    """A study of any kind in a store, with what a test needs to go on."""

    store: Store
    study_id: int

    @property
    def study(self) -> Study:
        return get_study(self.store, self.study_id)

    @property
    def tokens(self) -> dict[str, str]:
        return {link.rater_id: link.token for link in links(self.store, self.study)}

    @property
    def record(self) -> StudyRecord:
        return load_record(self.store, self.study)


class StudyAtHand(StudyInStore):
    """One in which pairs are compared."""

    def desk(self, rater: str) -> RaterDesk:
        desk = open_desk(self.store, self.tokens[rater])
        assert desk is not None
        return desk


def new_name() -> str:
    """A name for one of several studies in a database."""
    return f"study {next(_names)}"


def study_in(
    store: Store,
    data: Dataset | None = None,
    *,
    raters: Sequence[str] = ("R1", "R2"),
    name: str = "study",
    state: str = "open",
    **design: Any,
) -> StudyAtHand:
    """A study with raters; further arguments are fields of its design."""
    data = data or dataset()
    roles = {"candidate": data.sources[0], "comparator": data.sources[1], "seed": 7}
    study = import_study(store, name, data, Design(**{**roles, **design}))
    if raters:
        add_raters(store, study, list(raters))
    if state != "draft":
        move(store, study, "open")
    if state in ("closed", "unblinded"):
        move(store, study, "closed")
    if state == "unblinded":
        move(store, study, "unblinded", "done")
    return StudyAtHand(store, study.study_id)


def ended(store: Store, study_id: int) -> None:
    """Unblind a study whatever its state: its results are open."""
    set_state(store, study_id, "unblinded")


def vote(store: Store, token: str, policy: Policy) -> RaterDesk:
    """Answer a rater's whole list as the page does: by link, pair after pair, by what is on the screen."""
    desk = open_desk(store, token)
    assert desk is not None
    for _ in range(desk.total):
        number = desk.next_open()
        if number is None:
            break
        choice = policy(desk.pair(number))
        if choice is None:
            desk.skip(number)
        else:
            desk.save_choice(number, choice, seconds=2.5, diff_used="own_a0")
    return desk


def guess_all(desk: RaterDesk, *, comment: str = "") -> None:
    """Lock a rater's answers and go round the three guesses."""
    desk.finish()
    again = desk.guessing()
    while (number := again.next_open()) is not None:
        again.save(number, GUESSED_SIDES[number % 3], comment=comment, seconds=1.5)


def unblind(at_hand: StudyAtHand) -> None:
    """End an open study, so that its results may be seen."""
    move(at_hand.store, at_hand.study, "closed")
    move(at_hand.store, at_hand.study, "unblinded", "all raters are done")


def always(choice: Choice) -> Policy:
    return lambda _: choice


def prefers(which: int) -> Policy:
    """A rater who knows the texts and wants the first (0) or second (1) source of the file."""
    mark = ("Alpha", "Beta")[which]
    return lambda pair: "left" if pair.left.startswith(mark) else "right"


def record_of(
    votes: Mapping[str, Mapping[tuple[str, str], Preference]],
    data: Dataset | None = None,
    *,
    raters: Sequence[Rater] | None = None,
    repeats: Mapping[str, Mapping[tuple[str, str], Preference]] | None = None,
    invalid: Sequence[tuple[str, str, str]] = (),
    **design: Any,
) -> StudyRecord:
    """A record made in memory: rater -> pair -> preference, each on a side that the draws give.

    `invalid` names (rater, item, level) that were flagged; without a vote the flag stands alone.
    """
    data = data or dataset()
    plan = Design(**{"candidate": data.sources[0], "comparator": data.sources[1], "seed": 7, **design})
    study = Study(1, "in memory", "open", plan, data.levels, data.sha256, data.file_name, "2026-01-01", "0")
    people = tuple(raters if raters is not None else (Rater(name) for name in votes))
    first = first_source(data.items, data.levels, data.outputs)
    ids = [item.item_id for item in data.items]
    assignments: list[Assignment] = []
    for person in people:
        if not person.imported:
            main = assign(replace(plan, repeat_share=0.0), person.rater_id, ids, data.levels, first)
            again = [a for a in main if (a.item_id, a.level) in (repeats or {}).get(person.rater_id, {})]
            assignments += main
            assignments += [replace(a, position=len(main) + n, repeat=True) for n, a in enumerate(again, 1)]
    shown = {(a.rater_id, a.item_id, a.level): a for a in assignments}
    imported = {person.rater_id for person in people if person.imported}
    answers = []
    for repeat, given in ((False, votes), (True, repeats or {})):
        for rater, pairs in given.items():
            for (item, level), preference in pairs.items():
                answer = Answer(rater, item, level, repeat)
                if rater in imported:
                    answers.append(replace(answer, preference=preference))
                else:
                    choice = displayed(preference, shown[rater, item, level], plan)
                    answers.append(replace(answer, choice=choice))
    flagged = set(invalid)
    keys = [(a.rater_id, a.item_id, a.level) for a in answers]
    answers = [
        replace(a, invalid=not a.repeat and (a.rater_id, a.item_id, a.level) in flagged) for a in answers
    ]
    answers += [Answer(*key, invalid=True) for key in invalid if key not in keys]
    return StudyRecord(study, data.items, data.outputs, people, tuple(assignments), tuple(answers))


def displayed(preference: Preference, assignment: Assignment, design: Design) -> Choice:
    """The button that says `preference`."""
    if preference in ("both_good", "both_bad"):
        return preference
    source = design.candidate if preference == "candidate" else design.comparator
    return "left" if assignment.left == source else "right"


def without_links(record: StudyRecord) -> StudyRecord:
    """What must survive a bundle: all but the study's number and name, the links, and the line the restore logs."""
    return replace(
        record,
        study=replace(record.study, study_id=0, name=""),
        raters=tuple(replace(rater, link_number=0) for rater in record.raters),
        log=tuple(entry for entry in record.log if entry.action != "restored"),
    )


def members_of(bundle: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def edited(bundle: bytes, changes: Mapping[str, bytes]) -> bytes:
    """The bundle with members replaced and a manifest that fits them: what a careful forger would make."""
    members = {**members_of(bundle), **changes}
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"] = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in members.items()
        if name != "manifest.json"
    }
    return zipped({**members, "manifest.json": json.dumps(manifest).encode()})


def changed_line(bundle: bytes, member: str, number: int = 0, **values: Any) -> bytes:
    """The bundle with fields of one line of a .jsonl member, or of study.json, replaced."""
    lines = members_of(bundle)[member].splitlines() if member.endswith("l") else [members_of(bundle)[member]]
    lines[number] = json.dumps({**json.loads(lines[number]), **values}).encode()
    return edited(bundle, {member: b"\n".join(lines) + b"\n"})


def changed_design(bundle: bytes, **values: Any) -> bytes:
    design = json.loads(members_of(bundle)["study.json"])["design"]
    return changed_line(bundle, "study.json", design={**design, **values})


def repeated_line(bundle: bytes, member: str) -> bytes:
    """The bundle with the first line of a .jsonl member twice."""
    content = members_of(bundle)[member]
    return edited(bundle, {member: content + content.splitlines(keepends=True)[0]})


def counts_of(store: Store) -> dict[str, int]:
    """Rows of every table: nothing may be left over from a step that failed."""
    tables = [
        "study",
        "item",
        "output",
        "rater",
        "assignment",
        "answer",
        "answer_history",
        "guideline",
        "log",
        "setting",
        "guess",
        "wording",
        "event",
        "rating_assignment",
        "rating_answer",
        "rating_history",
    ]
    return {table: store.rows(f"select count(*) as n from {table}")[0]["n"] for table in tables}


def tokens_in(printed: str) -> dict[str, str]:
    """Rater -> token, from what `study links` prints."""
    lines = (line.split("\t") for line in printed.splitlines() if "\t" in line)
    return {rater: url.split("/r/")[1] for rater, url in lines}


def plain(value: Any) -> Any:
    """A result dataclass as plain values."""
    return asdict(value)


def waiting_run(store: Store, data: bytes = b"texts", kind: str = "scores") -> Run:
    """A run of three items that waits to be started; nobody has chosen any settings."""
    run = Run(0, kind, "waiting", {}, {}, "texts.jsonl", sha256_of(data), 3, None, "", "0")
    return insert_run(store, run, data)

"""What is wrong with a bundle although every line of it can be read: a forged or damaged study is refused whole."""

from typing import Any

from core.datasets.reading import clean_text, is_language_tag, name_of, text_problem
from core.errors import InputError
from core.schema import StudyRecord
from core.study.design import check_design
from core.study.draws import assign, first_source
from core.study.guidelines import check_guideline
from core.study.raters import rater_id_problem
from core.study.rating_bundle_checks import STUDY_MEMBER as STUDY_MEMBER
from core.study.rating_bundle_checks import rating_misfits, stand_twice
from core.study.wording import check_wording


def misfits(record: StudyRecord) -> list[str]:
    """What is in the bundle although the app would never have let it in."""
    if record.study.kind == "ratings":
        return _wrong_raters(record) + rating_misfits(record)
    ratings = (record.rating_assignments, record.rating_answers, record.rating_history)
    if record.study.task is not None or any(ratings):
        return [f"{STUDY_MEMBER}: a study of pairs has neither a task nor ratings"]
    design, levels = record.study.design, record.study.levels
    sources = (design.candidate, design.comparator)
    problems = _doubled(record)
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    pairs = {(item.item_id, level) for item in record.items for level in levels}
    wanted = [(item.item_id, level, s) for item in record.items for level in levels for s in sources]
    problems += [f"outputs.jsonl: no text for {key}" for key in wanted if key not in texts]
    problems += [f"outputs.jsonl: nobody asks for {key}" for key in sorted(texts - set(wanted))]
    try:
        check_design(design, sources, levels)
        for text in record.guidelines.values():
            check_guideline(text, sources)
        for language, labels in record.wording.items():
            check_wording(labels, sources, language)
    except InputError as wrong:
        problems += [f"{STUDY_MEMBER}: {problem}" for problem in wrong.problems]
    problems += (
        _wrong_texts(record)
        + _wrong_raters(record)
        + _wrong_lists(record, pairs)
        + _wrong_answers(record, pairs)
    )
    return problems or _not_drawn(record)


def _doubled(record: StudyRecord) -> list[str]:
    keys: dict[str, list[Any]] = {
        "items": [item.item_id for item in record.items],
        "outputs": [(o.item_id, o.level, o.source) for o in record.outputs],
        "raters": [rater.rater_id for rater in record.raters],
        "assignments": [a.key for a in record.assignments],
        "answers": [a.key for a in record.answers],
        "guesses": [guess.key for guess in record.guesses],
    }
    return stand_twice(keys)


def _wrong_texts(record: StudyRecord) -> list[str]:
    """Texts and names that no import would have stored as they are: blanks at an end can tell a source."""
    study = record.study
    fields = [("items", i.item_id, text) for i in record.items for text in (i.question, i.reference)]
    fields += [("outputs", o.item_id, o.text) for o in record.outputs]
    problems = [
        f"{name}.jsonl: {item!r}: text {problem}"
        for name, item, text in fields
        if (problem := text_problem(text) or _left_as_imported(text))
    ]
    names = [
        (STUDY_MEMBER, name) for name in (*study.levels, study.design.candidate, study.design.comparator)
    ]
    names += [("items.jsonl", item.item_id) for item in record.items]
    problems += [f"{place}: {name!r} cannot be a name" for place, name in names if name_of(name) != name]
    problems += [
        f"items.jsonl: {item.item_id!r}: language {item.language!r} is no tag such as en, pt-BR or und"
        for item in record.items
        if not is_language_tag(item.language)
    ]
    if not study.levels or len(set(study.levels)) < len(study.levels):
        problems.append(f"{STUDY_MEMBER}: the levels are none, or stand twice")
    return problems


def _wrong_raters(record: StudyRecord) -> list[str]:
    found = (rater_id_problem(rater.rater_id) for rater in record.raters)
    return [f"raters.jsonl: {problem}" for problem in found if problem]


def _left_as_imported(text: str) -> str | None:
    return None if clean_text(text) == text else "is not as an import leaves it: blanks or line ends differ"


def _wrong_lists(record: StudyRecord, pairs: set[tuple[str, str]]) -> list[str]:
    problems = []
    sides = {record.study.design.candidate, record.study.design.comparator}
    raters = {rater.rater_id for rater in record.raters}
    positions: dict[str, list[int]] = {}
    for a in record.assignments:
        positions.setdefault(a.rater_id, []).append(a.position)
        if {a.left, a.right} != sides:
            problems.append(
                f"assignments.jsonl: {a.rater_id}, {a.position}: the sides are not the two sources"
            )
        if a.rater_id not in raters:
            problems.append(f"assignments.jsonl: there is no rater {a.rater_id!r}")
        if (a.item_id, a.level) not in pairs:
            problems.append(f"assignments.jsonl: there is no pair {(a.item_id, a.level)}")
    for rater, numbers in positions.items():
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            problems.append(f"assignments.jsonl: the positions of {rater!r} are not 1 to {len(numbers)}")
    return problems


def _not_drawn(record: StudyRecord) -> list[str]:
    """Raters whose list is not the one that the seed gives: a side may have been turned round."""
    items, study = record.items, record.study
    first = first_source(items, study.levels, record.outputs)
    problems = []
    for rater in record.raters:
        own = [a for a in record.assignments if a.rater_id == rater.rater_id]
        ids = [item.item_id for item in items if item.item_id in {a.item_id for a in own}]
        # A withdrawn rater's list was drawn for a name that is gone.
        if not (rater.dry_run or rater.withdrawn) and own != assign(
            study.design, rater.rater_id, ids, study.levels, first
        ):
            problems.append(f"assignments.jsonl: the list of {rater.rater_id!r} is not what the seed gives")
    return problems


def _wrong_answers(record: StudyRecord, pairs: set[tuple[str, str]]) -> list[str]:
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {a.key for a in record.assignments}
    problems = []
    for name, answers in (("answers", record.answers), ("history", [e.answer for e in record.history])):
        for answer in answers:
            key = answer.key
            rater = raters.get(answer.rater_id)
            if rater is None or (answer.item_id, answer.level) not in pairs:
                problems.append(f"{name}.jsonl: there is no such rater or pair: {key}")
            elif answer.choice is not None and (rater.imported or key not in shown):
                problems.append(f"{name}.jsonl: nobody was shown {key}")
            elif answer.preference is not None and not rater.imported:
                problems.append(f"{name}.jsonl: {key} has a preference, but {rater.rater_id!r} saw sides")
    for guess in record.guesses:
        guesser = raters.get(guess.rater_id)
        if guess.key not in shown or guesser is None or guesser.finished_utc is None:
            problems.append(f"guesses.jsonl: nobody was asked about {guess.key}")
    last = {entry.answer.key: entry.answer for entry in record.history}
    for answer in record.answers:
        if last.get(answer.key) != answer:
            problems.append(f"answers.jsonl: {answer.key} is not what its history ends with")
    counting = {rater.rater_id for rater in record.raters if not rater.dry_run}
    voted = any(answer.answered and answer.rater_id in counting for answer in record.answers)
    if voted and record.study.first_vote_utc is None:
        problems.append(
            f"{STUDY_MEMBER}: there are votes, so first_vote_utc must say since when the design is frozen"
        )
    return problems

"""What is wrong with a bundle although every line of it can be read: a forged or damaged study is refused whole."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from core.datasets.reading import clean_text, is_language_tag, name_of, text_problem
from core.errors import InputError
from core.schema import StudyRecord
from core.study.design import check_design
from core.study.draws import assign, first_source
from core.study.guidelines import check_guideline
from core.study.raters import rater_id_problem
from core.study.rating_bundle_checks import STUDY_MEMBER as STUDY_MEMBER
from core.study.rating_bundle_checks import by_rater, if_none, rating_misfits, stand_twice
from core.study.wording import check_wording


def misfits(record: StudyRecord) -> Iterator[str]:
    """What is in the bundle although the app would never have let it in."""
    if record.study.kind == "ratings":
        yield from _wrong_raters(record)
        yield from rating_misfits(record)
        return
    ratings = (record.rating_assignments, record.rating_answers, record.rating_history)
    if record.study.task is not None or any(ratings):
        yield f"{STUDY_MEMBER}: a study of pairs has neither a task nor ratings"
        return
    yield from if_none(_misfits(record), _not_drawn(record))


def _misfits(record: StudyRecord) -> Iterator[str]:
    design, levels = record.study.design, record.study.levels
    sources = (design.candidate, design.comparator)
    yield from _doubled(record)
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    # Each once, and one after the other: few items and levels stand for any number of texts.
    items = dict.fromkeys(item.item_id for item in record.items)
    wanted = product(items, dict.fromkeys(levels), sources)
    yield from (f"outputs.jsonl: no text for {key}" for key in wanted if key not in texts)
    known = (set(items), set(levels), set(sources))
    unasked = (key for key in texts if any(name not in own for name, own in zip(key, known, strict=True)))
    yield from (f"outputs.jsonl: nobody asks for {key}" for key in sorted(unasked))
    try:
        check_design(design, sources, levels)
        for text in record.guidelines.values():
            check_guideline(text, sources)
        for language, labels in record.wording.items():
            check_wording(labels, sources, language)
    except InputError as wrong:
        yield from wrong.under(STUDY_MEMBER)
    yield from _wrong_texts(record)
    yield from _wrong_raters(record)
    yield from _wrong_lists(record)
    yield from _wrong_answers(record)


def _doubled(record: StudyRecord) -> Iterator[str]:
    keys: dict[str, list[Any]] = {
        "items": [item.item_id for item in record.items],
        "outputs": [(o.item_id, o.level, o.source) for o in record.outputs],
        "raters": [rater.rater_id for rater in record.raters],
        "assignments": [a.key for a in record.assignments],
        "answers": [a.key for a in record.answers],
        "guesses": [guess.key for guess in record.guesses],
    }
    return stand_twice(keys)


def _wrong_texts(record: StudyRecord) -> Iterator[str]:
    """Texts and names that no import would have stored as they are: blanks at an end can tell a source."""
    study = record.study
    fields = [("items", i.item_id, text) for i in record.items for text in (i.question, i.reference)]
    fields += [("outputs", o.item_id, o.text) for o in record.outputs]
    yield from (
        f"{name}.jsonl: {item!r}: text {problem}"
        for name, item, text in fields
        if (problem := text_problem(text) or _left_as_imported(text))
    )
    names = [
        (STUDY_MEMBER, name) for name in (*study.levels, study.design.candidate, study.design.comparator)
    ]
    names += [("items.jsonl", item.item_id) for item in record.items]
    yield from (f"{place}: {name!r} cannot be a name" for place, name in names if name_of(name) != name)
    yield from (
        f"items.jsonl: {item.item_id!r}: language {item.language!r} is no tag such as en, pt-BR or und"
        for item in record.items
        if not is_language_tag(item.language)
    )
    if not study.levels or len(set(study.levels)) < len(study.levels):
        yield f"{STUDY_MEMBER}: the levels are none, or stand twice"


def _wrong_raters(record: StudyRecord) -> Iterator[str]:
    found = (rater_id_problem(rater.rater_id) for rater in record.raters)
    return (f"raters.jsonl: {problem}" for problem in found if problem)


def _left_as_imported(text: str) -> str | None:
    return None if clean_text(text) == text else "is not as an import leaves it: blanks or line ends differ"


def _wrong_lists(record: StudyRecord) -> Iterator[str]:
    items, levels = {item.item_id for item in record.items}, set(record.study.levels)
    sides = {record.study.design.candidate, record.study.design.comparator}
    raters = {rater.rater_id for rater in record.raters}
    positions: dict[str, list[int]] = {}
    for a in record.assignments:
        positions.setdefault(a.rater_id, []).append(a.position)
        if {a.left, a.right} != sides:
            yield f"assignments.jsonl: {a.rater_id}, {a.position}: the sides are not the two sources"
        if a.rater_id not in raters:
            yield f"assignments.jsonl: there is no rater {a.rater_id!r}"
        if a.item_id not in items or a.level not in levels:
            yield f"assignments.jsonl: there is no pair {(a.item_id, a.level)}"
    for rater, numbers in positions.items():
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            yield f"assignments.jsonl: the positions of {rater!r} are not 1 to {len(numbers)}"


def _not_drawn(record: StudyRecord) -> Iterator[str]:
    """Raters whose list is not the one that the seed gives: a side may have been turned round."""
    items, study = record.items, record.study
    first = first_source(items, study.levels, record.outputs)
    lists = by_rater(record.assignments)
    for rater in record.raters:
        own = lists.get(rater.rater_id, [])
        dealt = {a.item_id for a in own}
        ids = [item.item_id for item in items if item.item_id in dealt]
        # A withdrawn rater's list was drawn for a name that is gone.
        if not (rater.dry_run or rater.withdrawn) and own != assign(
            study.design, rater.rater_id, ids, study.levels, first
        ):
            yield f"assignments.jsonl: the list of {rater.rater_id!r} is not what the seed gives"


def _wrong_answers(record: StudyRecord) -> Iterator[str]:
    items, levels = {item.item_id for item in record.items}, set(record.study.levels)
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {a.key for a in record.assignments}
    for name, answers in (("answers", record.answers), ("history", [e.answer for e in record.history])):
        for answer in answers:
            key = answer.key
            rater = raters.get(answer.rater_id)
            if rater is None or answer.item_id not in items or answer.level not in levels:
                yield f"{name}.jsonl: there is no such rater or pair: {key}"
            elif answer.choice is not None and (rater.imported or key not in shown):
                yield f"{name}.jsonl: nobody was shown {key}"
            elif answer.preference is not None and not rater.imported:
                yield f"{name}.jsonl: {key} has a preference, but {rater.rater_id!r} saw sides"
    for guess in record.guesses:
        guesser = raters.get(guess.rater_id)
        if guess.key not in shown or guesser is None or guesser.finished_utc is None:
            yield f"guesses.jsonl: nobody was asked about {guess.key}"
    last = {entry.answer.key: entry.answer for entry in record.history}
    for answer in record.answers:
        if last.get(answer.key) != answer:
            yield f"answers.jsonl: {answer.key} is not what its history ends with"
    counting = {rater.rater_id for rater in record.raters if not rater.dry_run}
    voted = any(answer.answered and answer.rater_id in counting for answer in record.answers)
    if voted and record.study.first_vote_utc is None:
        yield f"{STUDY_MEMBER}: there are votes, so first_vote_utc must say since when the design is frozen"

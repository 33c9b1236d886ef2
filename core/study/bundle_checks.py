"""What is wrong with a bundle although every line of it can be read: a forged or damaged study is no study."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from core.errors import InputError
from core.schema.study import Assignment, Rater, StudyRecord
from core.schema.tasks import RatingAnswer, RatingAssignment, RatingTask
from core.study.design import assign_texts, check_design, check_rating_design, texts_by_item
from core.study.draws import assign, first_source
from core.study.guidelines import check_guideline, check_wording
from core.study.rated.desk import checked_scores, checked_spans, missing
from core.study.rated.importing import check_task
from core.study.raters import rater_id_problem
from core.tables.reading import clean_text, is_language_tag, name_of, text_problem

STUDY_MEMBER = "study.json"
_Text = tuple[str, str, str]
"""(item, level, source)"""
_Dealt = TypeVar("_Dealt", Assignment, RatingAssignment)


def rating_misfits(record: StudyRecord) -> Iterator[str]:
    """What is in the bundle of a rating study although the app would never have let it in."""
    task = record.study.task
    if task is None:
        yield f"{STUDY_MEMBER}: a study of ratings has no task"
        return
    try:
        check_task(task)  # answers can only be held against a task that is none of a forger's
    except InputError as wrong:
        yield from wrong.under(f"{STUDY_MEMBER}: task")
        return
    yield from if_none(_misfits_of_texts(record, task), _not_drawn_of_texts(record))


def if_none(first: Iterator[str], then: Iterator[str]) -> Iterator[str]:
    """The first problems, or else the others: these can only be told where there are none of those."""
    one = next(first, None)
    if one is None:
        yield from then
    else:
        yield one
        yield from first


def _misfits_of_texts(record: StudyRecord, task: RatingTask) -> Iterator[str]:
    yield from _doubled_of_texts(record)
    yield from _of_pairs(record)
    sources = {output.source for output in record.outputs}
    try:
        check_rating_design(record.study.design)
        for text in record.guidelines.values():
            check_guideline(text, sources)
        for language, labels in record.wording.items():
            check_wording(labels, sources, language)
    except InputError as wrong:
        yield from wrong.under(STUDY_MEMBER)
    yield from _wrong_texts_of_texts(record)
    yield from _wrong_lists_of_texts(record)
    yield from _wrong_ratings(record, task)


def _doubled_of_texts(record: StudyRecord) -> Iterator[str]:
    keys: dict[str, list[Any]] = {
        "items": [item.item_id for item in record.items],
        "outputs": [(o.item_id, o.level, o.source) for o in record.outputs],
        "raters": [rater.rater_id for rater in record.raters],
        "rating_assignments": [one.key for one in record.rating_assignments],
        "rating_answers": [answer.key for answer in record.rating_answers],
    }
    return stand_twice(keys)


def stand_twice(keys: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """One problem a key that stands in its member more than once. keys: member -> the key of each of its lines."""
    return (
        f"{name}.jsonl: {key} stands {n} times"
        for name, listed in keys.items()
        for key, n in Counter(listed).items()
        if n > 1
    )


def by_rater(assignments: Iterable[_Dealt]) -> dict[str, list[_Dealt]]:
    """Rater -> their list."""
    lists: dict[str, list[_Dealt]] = {}
    for one in assignments:
        lists.setdefault(one.rater_id, []).append(one)
    return lists


def _of_pairs(record: StudyRecord) -> list[str]:
    tables = ("assignments", "answers", "history", "guesses")
    return [f"{name}.jsonl: a study of ratings has no pairs" for name in tables if getattr(record, name)]


def _wrong_texts_of_texts(record: StudyRecord) -> Iterator[str]:
    items = {item.item_id for item in record.items}
    rated = {output.item_id for output in record.outputs}
    yield from (f"items.jsonl: nobody rates a text of {item!r}" for item in sorted(items - rated))
    yield from (f"outputs.jsonl: there is no item {item!r}" for item in sorted(rated - items))
    fields = [("items", i.item_id, text) for i in record.items for text in (i.question, i.reference) if text]
    fields += [("outputs", output.item_id, output.text) for output in record.outputs]
    yield from (
        f"{name}.jsonl: {item!r}: text {p}" for name, item, text in fields if (p := text_problem(text))
    )
    levels = list(dict.fromkeys(output.level for output in record.outputs if output.level))
    if sorted(record.study.levels) != sorted(levels):
        yield f"{STUDY_MEMBER}: the levels are not those of the texts"
    names = [("outputs.jsonl", name) for o in record.outputs for name in (o.level, o.source) if name]
    names += [("items.jsonl", item.item_id) for item in record.items] + [
        (STUDY_MEMBER, level) for level in record.study.levels
    ]
    yield from (
        f"{place}: {name!r} cannot be a name" for place, name in dict.fromkeys(names) if name_of(name) != name
    )
    yield from (
        f"items.jsonl: {item.item_id!r}: language {item.language!r} is no tag such as en, pt-BR or und"
        for item in record.items
        if not is_language_tag(item.language)
    )


def _wrong_lists_of_texts(record: StudyRecord) -> Iterator[str]:
    """Lists that no desk could open, those of previews and of raters who withdrew among them."""
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    raters = {rater.rater_id for rater in record.raters}
    yield from (
        f"raters.jsonl: {rater.rater_id!r}: ratings are given by link, none can be imported"
        for rater in record.raters
        if rater.imported
    )
    positions: dict[str, list[int]] = {}
    for one in record.rating_assignments:
        positions.setdefault(one.rater_id, []).append(one.position)
        if (one.item_id, one.level, one.source) not in texts:
            yield f"rating_assignments.jsonl: {one.rater_id}, {one.position}: there is no such text"
    for name, numbers in positions.items():
        if name not in raters:
            yield f"rating_assignments.jsonl: there is no rater {name!r}"
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            yield f"rating_assignments.jsonl: the positions of {name!r} are not 1 to {len(numbers)}"


def _not_drawn_of_texts(record: StudyRecord) -> Iterator[str]:
    """Raters whose list is not the one that the seed gives."""
    texts, study = texts_by_item(record.outputs), record.study
    lists = by_rater(record.rating_assignments)
    for rater in record.raters:
        own = lists.get(rater.rater_id, [])
        ids = {one.item_id for one in own}
        # A withdrawn rater's list was drawn for a name that is gone.
        if rater.dry_run or rater.withdrawn:
            continue
        if own != assign_texts(
            study.design, rater.rater_id, [i.item_id for i in record.items if i.item_id in ids], texts
        ):
            yield f"rating_assignments.jsonl: the list of {rater.rater_id!r} is not what the seed gives"


def _wrong_ratings(record: StudyRecord, task: RatingTask) -> Iterator[str]:
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {one.key for one in record.rating_assignments}
    questions = {item.item_id: item.question for item in record.items}
    texts = {(o.item_id, o.level, o.source): o.text for o in record.outputs}
    history = [entry.answer for entry in record.rating_history]
    for name, answers in (("rating_answers", record.rating_answers), ("rating_history", tuple(history))):
        for answer in answers:
            place = f"{name}.jsonl: {answer.key}"
            text = texts.get((answer.item_id, answer.level, answer.source))
            if answer.rater_id not in raters or text is None:
                yield f"{place}: there is no such rater or text"
            elif answer.done and answer.key not in shown:
                yield f"{place}: nobody was shown this"
            else:
                said = _unsaid(task, answer, text, questions.get(answer.item_id, ""))
                yield from (f"{place}: {problem}" for problem in said)
    last = {answer.key: answer for answer in history}
    kept = {answer.key for answer in record.rating_answers}
    yield from (
        f"rating_answers.jsonl: {key} is in the history and not here" for key in last if key not in kept
    )
    yield from (
        f"rating_answers.jsonl: {answer.key} is not what its history ends with"
        for answer in record.rating_answers
        if last.get(answer.key) != answer
    )
    yield from _unfrozen(record, raters)


def _unsaid(task: RatingTask, answer: RatingAnswer, text: str, question: str) -> list[str]:
    """What no rater could have said of this text."""
    try:
        scores = checked_scores(task, answer.scores)
        spans = checked_spans(task, answer.spans, text, question) if answer.spans else ()
    except InputError as wrong:
        return list(wrong.problems or (str(wrong),))
    problems = []
    if scores != answer.scores or spans != answer.spans:
        problems.append("its scores or errors are not as a save leaves them (a weight, an error twice)")
    problems += ["it has errors and is said to have none"] if answer.spans and answer.no_errors else []
    if answer.done and (left := missing(task, answer)):
        problems.append(f"it is done, but lacks {'; '.join(left)}")
    return problems


def _unfrozen(record: StudyRecord, raters: dict[str, Rater]) -> list[str]:
    rated = any(
        a.done and a.rater_id in raters and not raters[a.rater_id].dry_run for a in record.rating_answers
    )
    if rated and record.study.first_vote_utc is None:
        return [
            f"{STUDY_MEMBER}: there are ratings, so first_vote_utc must say since when the design is frozen"
        ]
    return []


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

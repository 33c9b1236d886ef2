"""A study in which texts are rated one by one, made of a file of texts by any number of systems."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple

from core.errors import MOST_PROBLEMS, InputError, Problems
from core.formats.study_files import verbatim
from core.formats.study_tables import slip_sentence
from core.formats.tasks import dump_task, parse_task
from core.schema.scores import OutputSet, ScorableOutput
from core.schema.study import Design, Item, Output, Study
from core.schema.tasks import RatingTask
from core.store import Store
from core.study.design import check_rating_design
from core.study.guidelines import named_sources
from core.study.lifecycle import check_name, describe_design, keep_study, new_study
from core.study.rated.desk import SPAN_DIMENSION
from core.tables.reading import same_name, shown

OFTEN = 4
"""Texts of a system or level beside which one that has a single text may be misspelt."""
_LINE = re.compile(r"^line \d+, ")
"""Of a file that nobody has."""


def import_rating_study(
    store: Store, name: str, outputs: OutputSet, task: RatingTask, design: Design, *, again: bool = False
) -> tuple[Study, tuple[str, ...]]:
    """Store texts and a task as a new study in draft; returns it with what its owner should know.

    Texts are kept to the letter: spans that raters mark count their code points. Items need not have a text of every
    system. Raises InputError for texts that cannot be rated, a name that is taken or blank, a task that asks nothing,
    a design that cannot be, or (unless `again`) a file that is already here.
    """
    name = check_name(store, name)
    check_rating_design(design)
    check_task(task)
    items, texts, levels, notes = study_texts(outputs)
    study = new_study(name, design, levels, outputs.sha256, outputs.file_name, task)
    declared = f"task {task.name}; {describe_design(design)}"
    study = keep_study(store, study, items, texts, declared, again=again)
    named = _telling(task, {text.source for text in texts})
    return study, (*outputs.notes, *notes, *_about_references(task, items, texts), *named)


def check_task(task: RatingTask) -> None:
    """Raise InputError for a task that asks nothing, or whose answers could not be told apart."""
    names = [one.name for one in task.dimensions]
    problems = Problems()
    if task.spans is not None and SPAN_DIMENSION in names:
        problems.append(
            f"a dimension {SPAN_DIMENSION!r} cannot stand beside errors, whose score has this name"
        )
    try:
        parse_task(dump_task(task), task.name)  # what a file could not say, a study cannot ask either
    except InputError as wrong:
        problems += wrong.found.each(lambda problem: _LINE.sub("", problem))
    if problems:
        raise InputError(f"The task {shown(task.name)} cannot be used:", problems)


def _telling(task: RatingTask, sources: Collection[str]) -> tuple[str, ...]:
    """A note on systems whose names raters read in the task; no refusal, for a system may be called "a" or "text"."""
    said = [task.title, *astuple(task.labels)]
    if task.spans is not None:
        said += map(task.spans.in_words, (*task.spans.severities, *task.spans.categories))
    for one in task.dimensions:
        said += [one.title, one.description, one.detailed, *(words for _, words in one.anchors)]
    named = named_sources("\n".join(said), sorted(sources))
    if not named:
        return ()
    return (
        f"the task's words, which raters read, hold the names of systems: {', '.join(map(shown, named))}",
    )


def _about_references(task: RatingTask, items: Sequence[Item], texts: Sequence[Output]) -> Iterator[str]:
    """Where a task that shows references has none to show, and where a rated text is the one that is shown."""
    if not task.show_reference:
        return
    if bare := sum(not item.reference.strip() for item in items):
        yield f"{bare} of {len(items)} items have no reference, which this task shows: raters judge these without"
    counts = Counter((one.source, one.level) for one in verbatim(items, texts))
    if counts:
        each = ", ".join(
            f"{shown(source)}{f' {shown(level)}' if level else ''} in {n} of {len(items)} items"
            for (source, level), n in counts.items()
        )
        yield f"raters will recognise texts that are the reference they see, word for word: {each}"


def study_texts(
    outputs: OutputSet,
) -> tuple[tuple[Item, ...], tuple[Output, ...], tuple[str, ...], tuple[str, ...]]:
    """(items, texts, levels, notes) of a study of these texts. Raises InputError with every problem and its place."""
    problems = Problems(_problems(outputs.outputs))
    if problems:
        raise InputError(f"{shown(outputs.file_name)} cannot be rated:", problems)
    firsts: dict[str, ScorableOutput] = {}
    for one in outputs.outputs:
        firsts.setdefault(one.item_id, one)
    items = tuple(Item(i, one.source or "", one.reference or "", one.language) for i, one in firsts.items())
    texts = tuple(Output(one.item_id, one.level or "", one.system, one.text) for one in outputs.outputs)
    levels = tuple(dict.fromkeys(text.level for text in texts if text.level))
    return items, texts, levels, _notes(outputs, items, texts)


def _problems(outputs: Sequence[ScorableOutput]) -> Iterator[str]:
    if not outputs:
        yield "it holds no text; at least one is needed"
    keys = Counter((one.item_id, one.system, one.level or "") for one in outputs)
    yield from (
        f"{_place(item, system, level)}: {n} texts that only further columns tell apart; give the items ids of their own"
        for (item, system, level), n in keys.items()
        if n > 1
    )
    yield from (
        f"{_place(one.item_id, one.system, one.level)}: the text is empty; nobody can rate it"
        for one in outputs
        if not one.text.strip()
    )
    for what, of in (("source text", "source"), ("reference", "reference"), ("language", "language")):
        said: dict[str, set[object]] = {}
        for one in outputs:
            said.setdefault(one.item_id, set()).add(getattr(one, of))
        yield from (
            f"item {shown(item)}: its texts have more than one {what}; raters see one an item"
            for item, values in said.items()
            if len(values) > 1
        )


def _place(item: str, system: str, level: str | None) -> str:
    return f"item {shown(item)}, system {shown(system)}" + (f", level {shown(level)}" if level else "")


def _has_others(texts: Sequence[Output]) -> bool:
    """Whether some text stands beside another system's of the same item, as what a judge of it learns from."""
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
        # Any system may have few texts, so that a name which occurs once is no more than odd.
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
            f"{short} of {len(items)} items lack a text of some system or level; they are rated with what they have"
        )
    if not any(item.question for item in items):
        notes.append("the file names no source texts: raters see the texts alone")
    if not _has_others(texts):
        notes.append(
            "no item has texts of two systems: judges that learn from people's ratings (automqm, direct) are shown those "
            "of other systems' texts of the same item, and will have no examples here"
        )
    if any(one.labels for one in outputs.outputs):
        notes.append("further columns of the file are not kept with the study")
    if outputs.left_out:
        notes += [f"{n} texts left out: {reason}" for reason, n in outputs.left_out.items()]
    return tuple(notes)

"""Read a study's texts from a file in any known format, or pair two systems' answers from separate files."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import InputError, Problems, counted
from core.formats.registry import format_of, read_study
from core.formats.study.pairs import DatasetBuilder, Reading, natural_order
from core.formats.study.tables import collect_tabular, layout_in, read_tabular
from core.formats.study.votes import NOT_IMPORTED, VOTES, Repeated, TableVotes, read_votes, vote_columns
from core.installation import COMMAND
from core.schema.study import NO_ANSWER, NO_LEVEL, Dataset, Item, Output
from core.tables.columns import NOT_USED_COLUMNS, jsonl_bytes
from core.tables.layouts import Layout, turns_of
from core.tables.problems import listed, place, same_wording
from core.tables.reading import same_name, shown


def read_dataset(
    data: bytes, file_name: str, systems: Collection[str] = (), reading: Reading | None = None
) -> Dataset:
    """Read a data set in any known format. Raises InputError with every problem of the file.

    systems: the two systems to compare, if the file has more. reading: what the owner decided about a table.
    """
    builder = read_builder(data, file_name, reading)
    if systems:
        builder.keep_systems(systems)
    builder.read_as += [f"{column.said}{NOT_IMPORTED}" for column in vote_columns(builder)]
    return builder.finish()


def read_builder(data: bytes, file_name: str, reading: Reading | None = None) -> DatasetBuilder:
    """Read a data set in any known format, before the check that it is one."""
    if reading is None or reading == Reading():
        return read_study(data, file_name)
    rows = format_of("study", data, file_name).rows
    if rows is None:
        if reading.columns:
            raise InputError(f"{shown(file_name)} is no table. Leave out the columns")
        return read_study(data, file_name)
    return collect_tabular(data, file_name, rows=rows, reading=reading)


def systems_of(data: bytes, file_name: str, reading: Reading | None = None) -> list[str]:
    """Every system with texts in a data set, in the order of the file."""
    return read_builder(data, file_name, reading).systems()


MOST_ROWS_NAMED = 50
"""Most problems of one kind that are listed one by one."""


@dataclass(frozen=True)
class SourceAnswers:
    """One system's answers to a set of questions, from a run or a file."""

    source: str
    items: tuple[Item, ...]
    outputs: tuple[Output, ...]
    """Answers of this system only; levels may have gaps."""
    where: str
    """Name for messages, such as a file's name or `run 3`."""
    notes: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()
    """What was understood of a table's columns, one line each."""

    def called(self, source: str) -> "SourceAnswers":
        """The same answers under another system's name."""
        outputs = tuple(replace(output, source=source) for output in self.outputs)
        return replace(self, source=source, outputs=outputs)


def read_answers(
    data: bytes,
    file_name: str,
    source: str | None = None,
    beside: str | None = None,
    reading: Reading | None = None,
) -> SourceAnswers:
    """Read one system's answers from a file with one or two systems, in any format of read_dataset.

    Items of a run that lack a level are left out with a note.
    source: the system to read; None: the only one, or of two systems the one that is not `beside`. reading: what the owner
    decided about a table.
    """
    rows = format_of("study", data, file_name).rows
    if rows is None:
        builder = read_study(data, file_name)
    else:
        builder = collect_tabular(data, file_name, rows=rows, made_alone=True, reading=reading)
    items, outputs = builder.finish_outputs()
    names = list(dict.fromkeys(output.source for output in outputs))
    meant = [name for name in names if name == source] if source is not None else names
    if source is None and len(names) == 2:
        meant = [name for name in names if beside is not None and same_name(name) != same_name(beside)]
    if len(meant) != 1:
        listed = " and ".join(shown(name) for name in names)
        wanted = f"no system {shown(source)}" if source is not None else "more than one system"
        raise InputError(
            f"{shown(file_name)} cannot be paired with other answers",
            [f"{wanted}: the file has {listed}; name the system to compare with"],
        )
    own = tuple(output for output in outputs if output.source == meant[0])
    return SourceAnswers(meant[0], items, own, shown(file_name), tuple(builder.notes), tuple(builder.read_as))


def one_source_hint(data: bytes, file_name: str, reading: Reading | None = None) -> InputError | None:
    """The error for a file that only lacks a second system; None if something else is wrong."""
    try:
        found = read_answers(data, file_name, reading=reading)
    except InputError:
        return None
    levels = {output.level for output in found.outputs}
    return InputError(
        f"{shown(file_name)} has only one system's answers",
        [
            f"a study compares two systems, but {shown(found.source)} is the only one ({len(found.items)} questions at "
            f"{len(levels)} levels). Name the other system's file too (`{COMMAND} study import FILE --beside FILE`), "
            "or use the page Generate"
        ],
    )


def broken_hint(
    data: bytes, file_name: str, systems: Collection[str] = (), reading: Reading | None = None
) -> str | None:
    """The questions that would remain without the broken rows of a file that was refused; None if none would."""
    left_out = replace(reading or Reading(), skip_broken=True)
    if left_out == reading:
        return None
    try:
        found = read_dataset(data, file_name, systems, left_out)
    except InputError:
        return None
    return counted(len(found.items), "question")


def votes_in(
    data: bytes,
    file_name: str,
    dataset: Dataset,
    reading: Reading | None,
    wanted: Sequence[tuple[str, Mapping[str, str]]],
    repeated: Repeated = "refuse",
) -> TableVotes:
    """The votes that stand beside the answers of a data set; see `core.formats.study.votes.read_votes`."""
    builder = read_builder(data, file_name, reading)
    items = dict.fromkeys(item.item_id for item in dataset.items)
    found = read_votes(builder, dataset.sources, wanted, items, repeated)
    if not found.n:
        raise InputError(
            f"{shown(file_name)} has no votes on these pairs in {listed([column for column, _ in wanted])}."
        )
    return found


def layout_found(
    data: bytes, file_name: str, columns: Mapping[str, Sequence[str]] | None = None
) -> Layout | None:
    """What the columns of a file mean for a study; None for a file that is no table. Raises InputError."""
    rows = format_of("study", data, file_name).rows
    return None if rows is None else layout_in(data, file_name, columns, rows=rows)


def note_votes(dataset: Dataset, votes: TableVotes) -> Dataset:
    """The data set with what was understood of its votes, for whoever reads about it."""
    read_as = [line for line in dataset.read_as if not line.startswith(VOTES)]
    notes = [note for note in dataset.notes if not note.startswith(NOT_USED_COLUMNS)]
    left = [
        column
        for note in dataset.notes
        if note.startswith(NOT_USED_COLUMNS)
        for column in note.removeprefix(NOT_USED_COLUMNS).split(", ")
        if column not in votes.columns
    ]
    notes += [f"{NOT_USED_COLUMNS}{listed(left)}"] if left else []
    return replace(dataset, read_as=(*read_as, *votes.read_as), notes=(*notes, *votes.notes))


def place_beside(first: SourceAnswers, second: SourceAnswers, *, shared_only: bool = False) -> Dataset:
    """Pair two systems' answers at their common levels. Raises InputError with every mismatch.

    shared_only: leave out questions that only one system has, with a note, instead of reporting problems.
    The data set's file is JSONL with these texts, so that the same answers always have the same sha256.
    """
    problems = Problems()
    notes = [*first.notes, *second.notes]
    if same_name(first.source) == same_name(second.source):
        problems.append(f"systems: both are called {shown(first.source)}; rename one of them")
    pairs = _matched(first, second, shared_only, problems, notes)
    items = [_side_by_side(mine, other, problems) for mine, other in pairs]
    levels = _common_levels(first, second, problems, notes)
    rows = _rows(first, second, pairs, items, levels, problems)
    if not pairs and not problems:
        problems.append("questions: none in common")
    if problems:
        raise InputError(f"{first.where} and {second.where} cannot be paired: {problems.counted}", problems)
    data = jsonl_bytes(rows)
    dataset = read_tabular(data, f"{first.source} beside {second.source}.jsonl")
    read_as = [f"{each.where}: {line}" for each in (first, second) for line in each.read_as]
    return replace(dataset, notes=(*notes, *dataset.notes), read_as=tuple(read_as))


def verbatim_note(dataset: Dataset) -> str | None:
    """A warning if a system's first level equals the reference word for word, else None.

    Such a text is not a system's answer, and raters may recognise the reference's style from other questions.
    """
    first = [output for output in dataset.outputs if output.level == dataset.levels[0]]
    counts = Counter(output.source for output in verbatim(dataset.items, first))
    if not counts:
        return None
    each = ", ".join(
        f"{shown(source)} in {counts[source]} of {len(dataset.items)} questions"
        for source in dataset.sources
        if counts[source]
    )
    what = "answers equal" if dataset.plain else f"{shown(dataset.levels[0])} equals"
    return f"{what} the reference word for word: {each}"


def verbatim(items: Iterable[Item], outputs: Iterable[Output]) -> list[Output]:
    """The texts that equal their item's reference word for word."""
    references = {item.item_id: same_wording(item.reference) for item in items}
    return [
        one for one in outputs if one.text != NO_ANSWER and same_wording(one.text) == references[one.item_id]
    ]


def _matched(
    first: SourceAnswers, second: SourceAnswers, shared_only: bool, problems: Problems, notes: list[str]
) -> list[tuple[Item, Item]]:
    """Pairs of matching questions, in the order of the first; reports the others as problems or notes."""
    by_id = {item.item_id: item for item in second.items}
    shared_ids = [item for item in first.items if item.item_id in by_id]
    if shared_ids and all(_same_question(item, by_id[item.item_id]) for item in shared_ids):
        partner = {item.item_id: by_id[item.item_id] for item in shared_ids}
    else:
        partner = _match_questions(first, second, problems)
    taken = {item.item_id for item in partner.values()}
    _tell_unmatched(
        [i for i in first.items if i.item_id not in partner], second, shared_only, problems, notes
    )
    _tell_unmatched([i for i in second.items if i.item_id not in taken], first, shared_only, problems, notes)
    return [(item, partner[item.item_id]) for item in first.items if item.item_id in partner]


def _same_question(one: Item, other: Item) -> bool:
    return same_wording(one.question) == same_wording(other.question)


def _match_questions(first: SourceAnswers, second: SourceAnswers, problems: Problems) -> dict[str, Item]:
    """Item id of the first -> item of the second with the same question; reports questions that occur twice."""
    found: dict[str, list[Item]] = {}
    for item in second.items:
        found.setdefault(same_wording(item.question), []).append(item)
    asked = Counter(same_wording(item.question) for item in first.items)
    partner = {}
    for item in first.items:
        others = found.get(same_wording(item.question), [])
        if others and (len(others) > 1 or asked[same_wording(item.question)] > 1):
            problems.append(
                f"{place(question=item.item_id)}: the same question occurs more than once, so it cannot be matched; "
                "use the same ids in both"
            )
        if others:
            partner[item.item_id] = others[0]
    return partner


def _tell_unmatched(
    items: Sequence[Item], other: SourceAnswers, shared_only: bool, problems: Problems, notes: list[str]
) -> None:
    if not items:
        return
    if shared_only:
        names = ", ".join(shown(item.item_id) for item in items[:MOST_ROWS_NAMED])
        more = "" if len(items) <= MOST_ROWS_NAMED else f" and {len(items) - MOST_ROWS_NAMED} more"
        notes.append(f"questions left out because they are not in {other.where}: {names}{more}")
        return
    problems += [f"{place(question=item.item_id)}: not in {other.where}" for item in items[:MOST_ROWS_NAMED]]
    if len(items) > MOST_ROWS_NAMED:
        problems.append(f"{len(items) - MOST_ROWS_NAMED} more questions are not in {other.where}")


def _side_by_side(one: Item, other: Item, problems: Problems) -> Item:
    """Merge two matching items under the first one's id; reports differences."""
    where = place(question=one.item_id)
    # A reference missing in one file is taken from the other.
    if one.reference and other.reference and same_wording(one.reference) != same_wording(other.reference):
        problems.append(f"{where}: the references differ")
    if one.turns and other.turns and one.turns != other.turns:
        problems.append(f"{where}: the turns before the question differ")
    if "und" not in (one.language, other.language) and one.language != other.language:
        problems.append(
            f"{where}: the language is {one.language} in one file and {other.language} in the other"
        )
    return replace(
        one,
        reference=one.reference or other.reference,
        language=other.language if one.language == "und" else one.language,
        turns=one.turns or other.turns,
    )


def _common_levels(
    first: SourceAnswers, second: SourceAnswers, problems: Problems, notes: list[str]
) -> list[str]:
    ours, theirs = ({output.level for output in each.outputs} for each in (first, second))
    common = sorted(ours & theirs, key=natural_order)
    if not common:
        named = [
            ", ".join(map(shown, sorted(levels, key=natural_order))) or "none" for levels in (ours, theirs)
        ]
        problems.append(
            f"levels: none in common; {first.where} has {named[0]}, {second.where} has {named[1]}"
        )
    elif rest := sorted(ours ^ theirs, key=natural_order):
        notes.append(f"levels left out because only one system has them: {', '.join(map(shown, rest))}")
    return common


def _rows(
    first: SourceAnswers,
    second: SourceAnswers,
    pairs: Sequence[tuple[Item, Item]],
    items: Sequence[Item],
    levels: Sequence[str],
    problems: Problems,
) -> list[dict[str, object]]:
    """Rows of the long table, one per text; reports missing texts."""
    texts = {
        (number, output.item_id, output.level): output.text
        for number, each in enumerate((first, second))
        for output in each.outputs
    }
    rows: list[dict[str, object]] = []
    for pair, item in zip(pairs, items, strict=True):
        fields = {
            "item_id": item.item_id,
            "question": item.question,
            "reference": item.reference,
            **turns_of(item.turns),
        }
        for level in levels:
            for number, each in enumerate((first, second)):
                text = texts.get((number, pair[number].item_id, level))
                if text is None:
                    where = place(None, pair[number].item_id, level, each.source)
                    problems.append(f"{where}: no text in {each.where}")
                else:
                    rows.append(
                        {
                            **fields,
                            "language": item.language,
                            **({} if level == NO_LEVEL else {"level": level}),
                            "source": each.source,
                            "text": text,
                        }
                    )
    return rows

"""What a paper declares, and what comes of it: each number computed again beside the printed one."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from core.errors import InputError, counted
from core.formats.correlations import rows_as_printed
from core.schema.analysis import Analysis, Table, Tell, Verdict, resamples_setting, rng_setting
from core.schema.rows import column, entry, row
from core.schema.settings import Settings
from core.tables.files import read_file
from core.tables.problems import listed

MOST_PRINTED = 100
"""Numbers up to which a terminal shows all of them; of more, it shows those that differ."""
_ROUNDING = 1e-9


class ReproduceOptions(Settings):
    """How intervals are drawn. Papers print intervals of their own draws, so the last digit may differ."""

    n_resamples: int = resamples_setting(10_000, "draws for intervals", fewest=1)
    rng: int = rng_setting()


@row
class NumberRow:
    """A number of a paper and the same number computed here."""

    table: str = column("table or section of the paper", names_row=True)
    line: str = column("row of that table", name="row", key="row", names_row=True)
    measure: str = column("column of that table", name="column", key="column", names_row=True)
    value: float | None = column("the number computed here; null: undefined", places=7, general=True)
    published: float | None = column(
        "the number as printed; null: printed as undefined", places=7, general=True
    )
    difference: float | None = column("computed minus printed", places=7, general=True)
    decimals: int = column("decimals printed", shown=False)
    low: float | None = column("lowest value that rounding before allows", shown=False)
    high: float | None = column("highest value that rounding before allows", shown=False)
    agrees: str = column(
        "yes: to the digits printed; rounding: no, but rounding before explains it; no: neither"
    )
    source: str = column("what it is computed from", shown=False)
    note: str = column("why it differs, or an error of the paper; empty: neither", shown=False)


@row
class PartRow:
    """A table or section of a paper."""

    table: str = column("table or section of the paper", names_row=True)
    about: str = column("what it holds")
    n_numbers: int = column("numbers computed", title="numbers")
    n_agree: int = column("those that agree to the digits printed", title="agree")
    n_rounding: int = column("those whose difference rounding before explains", title="within rounding")
    source: str = column("what its numbers are computed from; empty: they cannot be computed", title="from")
    missing: str = column("what is missing, and where it is published; empty: nothing")


@row
class ListedRow:
    """A table or section of a paper in the list of all of them."""

    paper: str = column("name of the paper", names_row=True)
    table: str = column("what users type", names_row=True)
    about: str = column("what it holds")
    source: str = column("what its numbers are computed from; empty: they cannot be computed", title="from")
    files: str = column("files of the paper's public data that it reads; empty: shipped data suffice")
    where: str = column("where these are published; of a table that cannot be computed, why not")


@row
class Reproduced:
    """The numbers of a paper that can be computed again."""

    paper: str = entry("name of the paper")
    title: str = entry("its authors and title")
    public: str = entry("where its data are published; empty: nowhere")
    n_numbers: int = entry("numbers computed")
    n_agree: int = entry("those that agree to the digits printed")
    n_rounding: int = entry(
        "further ones whose difference rounding before explains: of printed numbers that they are computed from, or twice"
    )
    tables: tuple[PartRow, ...] = entry("each table or section", rows=PartRow)
    numbers: tuple[NumberRow, ...] = entry("each number", rows=NumberRow)


@dataclass(frozen=True)
class Data:
    """Folders with a paper's data."""

    folders: tuple[Path, ...] = ()

    def file(self, name: str) -> Path | None:
        """The file of this name at any depth, in the first folder that has one, the nearest first; None: there is none."""
        for folder in self.folders:
            found = sorted(folder.rglob(name), key=lambda one: (len(one.parts), one))
            if (first := next((one for one in found if one.is_file()), None)) is not None:
                return first
        return None


@dataclass(frozen=True)
class Part:
    """A table or a section of a paper."""

    table: str
    """What users type: `1` is Table 1, others are sections such as `section-4`."""
    about: str
    source: str = ""
    """What its numbers are computed from."""
    compute: Callable[["Sources", ReproduceOptions], Iterable[NumberRow]] | None = None
    """Computes what the files that are there allow; None: nothing can be computed."""
    files: tuple[str, ...] = ()
    """Names of the files that it reads, each found at any depth of the folders with the paper's data."""
    where: str = ""
    """Where the files are published; of a part that cannot be computed, why not."""

    @property
    def name(self) -> str:
        """As in print."""
        words = self.table.replace("-", " ")
        return f"Table {words}" if words.isdigit() else words[0].upper() + words[1:]

    def number(
        self,
        line: str,
        measure: str,
        value: float | None,
        printed: str,
        *,
        ends: tuple[float, float] | None = None,
        note: str = "",
    ) -> NumberRow:
        """A row of this part. printed: the number as in print, whose decimals count; empty: undefined.

        ends: the lowest and the highest value that rounding before allows; None: the inputs are not rounded.
        note: what else is to be known of it, such as an error of the paper.
        """
        published = float(printed) if printed else None
        decimals = len(printed.partition(".")[2])
        low, high = ends or (value, value)
        return NumberRow(
            *(self.name, line, measure, value, published),
            None if value is None or published is None else value - published,
            *(decimals, low, high, _agrees(value, low, high, published, decimals)),
            *(self.source, note),
        )


def _agrees(
    value: float | None, low: float | None, high: float | None, published: float | None, decimals: int
) -> str:
    if value is None or published is None:
        return "yes" if value is None and published is None else "no"
    half = 0.5 * 10**-decimals + _ROUNDING
    if abs(value - published) <= half:
        return "yes"
    return (
        "rounding"
        if low is not None and high is not None and low - half <= published <= high + half
        else "no"
    )


def rounded_ends(of: Callable[..., float], *printed: str) -> tuple[float, float]:
    """The lowest and the highest value of a function of printed numbers, each of which may be off by half of its last digit.

    of: monotone in each number, so that the ends lie where all numbers are at theirs.
    """
    ends = []
    for one in printed:
        half = 0.5 * 10 ** -len(one.partition(".")[2]) if "." in one else 0.0
        ends.append((float(one) - half, float(one) + half))
    values = [of(*corner) for corner in product(*ends)]
    return min(values), max(values)


def printed_numbers(paper: str, table: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Row and column of a table -> the number as printed, and a note on an error of the paper.

    paper, table: as in data/published/numbers.csv.
    """
    return {
        (one["row"], one["column"]): (one["printed"], one["note"])
        for one in rows_as_printed("numbers")
        if (one["paper"], one["table"]) == (paper, table)
    }


def explained(rows: Iterable[NumberRow], why: str) -> Iterator[NumberRow]:
    """The rows, with the reason where a number does not agree and has none yet."""
    for one in rows:
        yield replace(one, note=why) if one.agrees == "no" and not one.note else one


@dataclass(frozen=True)
class Sources:
    """The files of a part that are there, by name."""

    paths: Mapping[str, Path]

    def has(self, *names: str) -> bool:
        """Whether all these files are there."""
        return all(one in self.paths for one in names)

    def path(self, name: str) -> Path:
        """Where this file is, which is there."""
        return self.paths[name]

    def read(self, name: str) -> bytes:
        """The content of this file, which is there."""
        return read_file(self.paths[name])


@dataclass(frozen=True)
class Paper:
    """A paper, its tables, and where its data are."""

    name: str
    """Its key in `PAPERS`."""
    title: str
    """Authors and title."""
    parts: tuple[Part, ...]
    public: str = ""
    """Where its data are published."""

    def chosen(self, table: str | None) -> tuple[Part, ...]:
        """Its parts, or the one that a user names. Raises InputError with all names."""
        if table is None:
            return self.parts
        wanted = table.casefold().removeprefix("table").strip(" -")
        found = tuple(one for one in self.parts if one.table.casefold() == wanted)
        if not found:
            raise InputError(
                f"{self.name} has no table {table}.",
                [f"tables: {', '.join(one.table for one in self.parts)}"],
            )
        return found

    def files_in(self, data: Data) -> tuple[Path, ...]:
        """The files that its tables read."""
        names = dict.fromkeys(name for one in self.parts for name in one.files)
        return tuple(path for name in names if (path := data.file(name)) is not None)

    @property
    def analysis(self) -> Analysis[ReproduceOptions, Reproduced]:
        """The question whether its numbers come out again. Its data: `Data`, and the table or None."""
        return Analysis(
            name=f"reproduce-{self.name}",
            title=f"The numbers of {self.name}",
            question=f"Which numbers of {self.title} come out again?",
            Options=ReproduceOptions,
            Result=Reproduced,
            takes=(),
            compute=partial(_compute, self),
            verdicts=_verdicts,
            tables=TABLES,
            section="reproduce#numbers",
            misleads="Numbers that come out again may still answer the wrong question.",
            example="",
            sentences=_sentences,
        )


def listed_tables(of: Paper) -> tuple[ListedRow, ...]:
    """Each table of a paper, with what it needs."""
    return tuple(
        ListedRow(
            *(of.name, one.table, one.about, "" if one.compute is None else one.source),
            *(", ".join(one.files), one.where),
        )
        for one in of.parts
    )


def _compute(
    paper: Paper, options: ReproduceOptions, data: Data, table: str | None, *, tell: Tell
) -> Reproduced:
    numbers: list[NumberRow] = []
    parts = []
    for part in paper.chosen(table):
        found, missing = _part(part, options, data, tell)
        numbers += found
        parts.append(
            PartRow(
                part.name,
                part.about,
                len(found),
                *_agreeing(found),
                "" if part.compute is None else part.source,
                missing,
            )
        )
    return Reproduced(
        *(paper.name, paper.title, paper.public, len(numbers), *_agreeing(numbers)),
        *(tuple(parts), tuple(numbers)),
    )


def _agreeing(numbers: Collection[NumberRow]) -> tuple[int, int]:
    """How many agree, and how many more do within rounding."""
    counts = Counter(one.agrees for one in numbers)
    return counts["yes"], counts["rounding"]


def _part(part: Part, options: ReproduceOptions, data: Data, tell: Tell) -> tuple[tuple[NumberRow, ...], str]:
    """The numbers of a part, or what is missing."""
    if part.compute is None:
        return (), part.where
    tell(f"computing {part.name}")
    there = {name: path for name in part.files if (path := data.file(name)) is not None}
    absent = [name for name in part.files if name not in there]
    missing = f"needed are {listed(absent)}, {part.where}" if absent else ""
    return tuple(part.compute(Sources(there), options)), missing


def _verdicts(found: Reproduced) -> tuple[Verdict, ...]:
    if not found.n_numbers:
        why = "data are missing"
        return (Verdict("undefined", f"{found.paper}: no number can be computed, because {why}.", 0, why),)
    n_off = found.n_numbers - found.n_agree - found.n_rounding
    numbers = "1 number agrees" if found.n_numbers == 1 else f"{found.n_numbers:,} numbers agree"
    sentence = f"{found.paper}: {found.n_agree:,} of {numbers} with the paper to the digits printed."
    return (Verdict("differs" if n_off else "reproduced", sentence),)


def _sentences(found: Reproduced) -> tuple[str, ...]:
    said = []
    if n := found.n_rounding:
        said.append(
            f"Of the others, {n:,} {'differs' if n == 1 else 'differ'} by no more than rounding explains: printed inputs are "
            "rounded, and some numbers are rounded twice."
        )
    for (table, why), n in Counter(
        (one.table, one.note) for one in found.numbers if one.agrees == "no"
    ).items():
        said.append(
            f"{table}: {counted(n, 'number')} {'differs' if n == 1 else 'differ'}{f': {why}' if why else ''}."
        )
    lacking: dict[tuple[str, bool], list[str]] = {}
    for one in found.tables:
        if one.missing:
            lacking.setdefault((one.missing, bool(one.n_numbers)), []).append(one.table)
    for (why, partly), tables in lacking.items():
        done = "computed in part" if partly else "not computed"
        said.append(f"{listed(tables)} {'was' if len(tables) == 1 else 'were'} {done}: {why}.")
    return tuple(said)


def _differing(found: Reproduced) -> tuple[NumberRow, ...] | None:
    """Of more numbers than a terminal shows, those that differ."""
    rows = tuple(one for one in found.numbers if one.agrees == "no")
    return rows if rows and found.n_numbers > MOST_PRINTED else None


TABLES: tuple[Table[Reproduced], ...] = (
    Table("reproduced", NumberRow, lambda one: one.numbers, "Numbers", most_printed=MOST_PRINTED),
    Table("reproduced-differences", NumberRow, _differing, "Numbers that differ"),
    Table("reproduced-tables", PartRow, lambda one: one.tables, "Tables"),
)

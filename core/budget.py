"""How much one file may make of itself while it is read: rows, columns, values, bytes and members.

Bytes of a file say little about what it costs: 31 kB of Parquet hold millions of rows, and 100 kB of zip unpack to gigabytes of
JSON. So every reader draws on a budget before it makes an object. The defaults keep the reading of any one file below 1.5 GB (what
an analysis makes of the rows comes on top); an owner with more memory raises them by the variables of the environment that
messages name.
"""

import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Literal

from core.errors import InputError

Bound = Literal["rows", "columns", "values", "bytes", "members"]
"""A field of Budget."""


@dataclass(frozen=True)
class Budget:
    """The most of each thing that is made of one file. Every bound is positive; `variable_of` names what raises it."""

    rows: int = 1_200_000
    """Rows that are held at once; a big table that is read row by row may have more."""
    columns: int = 20_000
    """Columns of a table, or different keys of its objects."""
    values: int = 6_000_000
    """Cells and JSON values that become objects, of about 100 bytes each. Numbers in arrays count an eighth."""
    bytes: int = 256 * 2**20
    """Bytes of the content, after it is unpacked and as memory holds it: text with emoji takes 4 for a character."""
    members: int = 250_000
    """Members of a zip."""


_NOUNS = {
    "rows": "rows",
    "columns": "columns",
    "values": "lines, cells or JSON values (a row counts as five more)",
    "bytes": "MiB of content",
    "members": "members",
}
IN_ARRAYS = 8
"""Numbers in an array that count as one value."""
OF_ROW = 5
"""Values as which a row or a JSON object counts beside its cells: what readers make of it takes some 500 bytes."""
_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)
_STRING_OR_OTHERS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[^"]+', re.DOTALL)
_STRING_OR_OTHERS_BYTES = re.compile(_STRING_OR_OTHERS.pattern.encode(), re.DOTALL)
_FOUR_BYTES = re.compile(rb"[\xf0-\xff]")
_THREE_BYTES = re.compile(rb"[\xc4-\xff]")
_ENTRY = b"PK\x01\x02"
"""Signature of an entry in a zip's directory."""
_PIECE = 2**20


class OverBudget(InputError):
    """A file that would make more of itself than its reader may hold; raised before it does."""


def variable_of(bound: Bound) -> str:
    """The variable of the environment that sets a bound."""
    return f"ASSAY_MOST_{bound.upper()}"


def current_budget() -> Budget:
    """The budget of this process: the defaults, or what its environment says. Raises InputError for what is no number."""
    return _BUDGET.get() or _environment_budget()


@cache
def _environment_budget() -> Budget:
    there = {one.name: os.environ.get(f"ASSAY_MOST_{one.name.upper()}", "").strip() for one in fields(Budget)}
    wrong = [
        f"ASSAY_MOST_{name.upper()}: {value[:20]!r} is not a whole number above 0"
        for name, value in there.items()
        if value and not re.fullmatch(r"[1-9][0-9]{0,14}", value, re.ASCII)
    ]
    if wrong:
        raise InputError("The environment sets a bound for files that cannot be used", wrong)
    return Budget(**{name: int(value) for name, value in there.items() if value})


@contextmanager
def budget_set(budget: Budget) -> Iterator[None]:
    """While this is open, files are read with another budget."""
    before = _BUDGET.set(budget)
    try:
        yield
    finally:
        _BUDGET.reset(before)


class Drawing:
    """What the reading of one file has used of the budget.

    name: the file as messages show it. done: what is refused. Every `draw` comes before the things are made.
    """

    def __init__(self, name: str, done: Literal["imported", "restored"] = "imported") -> None:
        self._refused = f"{name} cannot be {done}: 1 problem"
        self._budget = current_budget()
        self._used: dict[Bound, int] = {}

    def left(self, bound: Bound) -> int:
        """How many more of a thing may be made."""
        most: int = getattr(self._budget, bound)
        return most - self._used.get(bound, 0)

    def draw(self, bound: Bound, n: int = 1, *, whole: bool = False) -> None:
        """Use n of a bound. whole: n is all that the file has, and not a part of it.

        Raises OverBudget that names the file, the bound and the variable that raises it.
        """
        if n > self.left(bound):
            raise OverBudget(
                self._refused,
                [f"file: {budget_problem(bound, n if whole else None)}"],
            )
        self._used[bound] = self._used.get(bound, 0) + n

    def draw_row(self, n_values: int) -> None:
        """Use a row, and its values."""
        self.draw("rows")
        self.draw("values", n_values)

    def draw_json(self, text: str | bytes) -> None:
        """Use the values of a JSON text, before it is parsed."""
        n = json_values(text, self.left("values"))
        self.draw("values", n)


def budget_problem(bound: Bound, n: int | None = None) -> str:
    """Why a file is refused, as a sentence after its place. n: how many it has, if that is known."""
    most = getattr(current_budget(), bound)
    unit = 2**20 if bound == "bytes" else 1
    has = f"more than {most // unit:,}" if n is None else f"{-(-n // unit):,}"
    limit = "" if n is None else f", and Assay reads at most {most // unit:,}"
    higher = max(n or 0, 2 * most)
    return (
        f"has {has} {_NOUNS[bound]}{limit}. Split the file, or set the variable {variable_of(bound)} to a higher number, such as "
        f"{higher}, and start Assay again"
    )


def json_values(text: str | bytes, most: int) -> int:
    """How many values and keys a JSON text makes at most, counted up to one above `most`.

    Every value but the first follows a comma, a colon or an opening bracket. Those inside strings count only if the text may
    have too many.
    """
    n = _marks(text)
    if n <= most:
        return n
    n = 0
    found = (
        _STRING_OR_OTHERS.finditer(text) if isinstance(text, str) else _STRING_OR_OTHERS_BYTES.finditer(text)
    )
    for one in found:
        if one[0][0] not in ('"', ord('"')):
            n += _marks(one[0])
            if n > most:
                return most + 1
    return n


def _marks(text: str | bytes) -> int:
    if isinstance(text, bytes):
        return text.count(b",") + text.count(b":") + text.count(b"[") + OF_ROW * text.count(b"{")
    return text.count(",") + text.count(":") + text.count("[") + OF_ROW * text.count("{")


def bytes_as_text(data: bytes) -> int:
    """The bytes that UTF-8 takes at most in memory as a text: one wide character widens all others."""
    if data.isascii():
        return len(data)
    return len(data) * (4 if _FOUR_BYTES.search(data) else 2 if _THREE_BYTES.search(data) else 1)


@contextmanager
def open_zip(source: bytes | Path, drawing: Drawing) -> Iterator[zipfile.ZipFile]:
    """A zip for reading, whose list of members was counted before it was read.

    source: its bytes or its file. zipfile's errors stay its own.
    """
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        drawing.draw("members", _entries_in(file))
        with zipfile.ZipFile(file) as archive:
            yield archive


def _entries_in(file: IO[bytes]) -> int:
    """How many entries the directory of a zip can have at most."""
    file.seek(0)
    n, tail = 0, b""
    while piece := file.read(_PIECE):
        n += (tail + piece).count(_ENTRY)
        tail = piece[-len(_ENTRY) + 1 :]
    file.seek(0)
    return n


def draw_unpacked(members: Iterable[zipfile.ZipInfo], drawing: Drawing) -> None:
    """Use the bytes to which members unpack, as the zip's list states them: zipfile reads no more."""
    drawing.draw("bytes", sum(one.file_size for one in members), whole=True)

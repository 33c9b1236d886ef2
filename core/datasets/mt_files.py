"""The files of an mt-metrics-eval folder, one by one: segments, scores a segment, errors a segment.

Problems name the file and the line. What is wrong with one file does not keep the others from being looked at.
"""

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from core.datasets.cells import is_undefined, number_in
from core.datasets.findings import FileFindings
from core.datasets.reading import (
    JsonObject,
    decode,
    name_of,
    name_problem,
    parse_json,
    printable_text,
    sha256_of,
    shown,
    type_name,
)
from core.datasets.span_cells import LARGEST_OFFSET
from core.errors import InputError, Problems
from core.schema.scores import ErrorSpan

MOST_NAMED = 20
"""Problems of one file that are listed one by one: a file of another pair has one on every line."""
_MARK = "\ufeff"


@dataclass
class Folder:
    """A folder while it is read."""

    path: Path
    findings: FileFindings
    hashes: dict[str, str] = field(default_factory=dict)
    """File -> hash of its bytes."""

    def names(self, inside: str, pattern: str) -> list[Path]:
        """The files of a sub-folder whose names fit, in order; none where there is no such folder."""
        return sorted(path for path in (self.path / inside).glob(pattern) if path.is_file())

    def label(self, path: Path) -> str:
        """The file as messages call it."""
        return path.relative_to(self.path).as_posix()

    def sha256(self) -> str:
        """Of the names and bytes of all files that were read."""
        whole = hashlib.sha256()
        for name, own in sorted(self.hashes.items()):
            whole.update(f"{name}\0{own}\n".encode("utf-8", "replace"))
        return whole.hexdigest()

    def lines(self, path: Path) -> list[str]:
        """The file's lines as they are, but for the line ends; none after its problem was reported.

        A byte order mark stays, as error spans count it.
        """
        name = self.label(path)
        try:
            data = path.read_bytes()
            text = decode(data, name)
        except OSError as error:
            self.findings.problems.append(f"{shown(name)}: cannot be read ({error.strerror})")
            return []
        except InputError as error:
            self.findings.problems += error.found.each(lambda problem: f"{shown(name)}, {problem}")
            return []
        self.hashes[name] = sha256_of(data)
        if data.startswith(_MARK.encode()):
            self.findings.notes.append(
                f"{shown(name)} begins with a byte order mark, which stays in the first text: error spans count it"
            )
            text = _MARK + text
        # Only line feeds end a segment: other line breaks may stand in a text.
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        return lines[:-1] if lines[-1] == "" else lines

    def report(self, path: Path, problems: Iterable[str]) -> None:
        """Problems of one file, the first of them one by one."""
        name, found = shown(self.label(path)), Problems(problems)
        self.findings.problems += [f"{name}, {problem}" for problem in [*found][:MOST_NAMED]]
        if found.n > MOST_NAMED:
            self.findings.problems.append(f"{name}: {found.n - MOST_NAMED:,} more problems")


def read_segments(folder: Folder, path: Path, n: int | None) -> list[str]:
    """One text a line. n: how many there have to be."""
    lines = folder.lines(path)
    if lines and n is not None and len(lines) != n:
        folder.report(path, [f"line {len(lines)}: there are {len(lines)} segments, the sources have {n}"])
        return []
    return [printable_text(line) for line in lines]


@dataclass(frozen=True)
class Expected:
    """What files with a line for each system and segment have to fit."""

    n: int
    """Segments."""
    is_known: Callable[[str], bool]
    """Whether a name is a system's with outputs, or a reference's."""


def read_grouped(folder: Folder, path: Path, expected: Expected) -> dict[str, list[tuple[int, str]]]:
    """System -> (line, what stands behind the tab), a segment each; systems whose lines do not fit are problems."""
    found: dict[str, list[tuple[int, str]]] = {}
    problems = Problems()
    for number, line in enumerate(folder.lines(path), start=1):
        written, tab, rest = line.partition("\t")
        system = name_of(written)
        if not tab:
            problems.append(f"line {number}: there is no tab; expected a system, a tab, and its value")
        elif system is None:
            problems.append(f"line {number}: system {name_problem(written)}")
        else:
            if system not in found and not expected.is_known(system):
                problems.append(f"line {number}: system {shown(system)} has no file of outputs")
            found.setdefault(system, []).append((number, rest.strip()))
    if not problems:
        problems += (
            f"line {own[-1][0]}: system {shown(system)} has {len(own)} segments, the sources have {expected.n}"
            for system, own in found.items()
            if len(own) != expected.n
        )
    folder.report(path, problems)
    return {} if problems else found


def read_numbers(
    folder: Folder, path: Path, expected: Expected, *, finite: bool = False
) -> dict[str, list[float]]:
    """System -> one number a segment; NaN where the file says None. finite: an infinite number is a problem."""
    numbers: dict[str, list[float]] = {}
    problems = Problems()
    for system, own in read_grouped(folder, path, expected).items():
        for line, written in own:
            number = number_in(written)
            if number is None and not is_undefined(written):
                problems.append(f'line {line}: "{shown(written)}" is no number')
            elif finite and number is not None and math.isinf(number):
                problems.append(f'line {line}: "{shown(written)}" is infinite, expected a number')
            numbers.setdefault(system, []).append(math.nan if number is None else number)
    folder.report(path, problems)
    return {} if problems else numbers


@dataclass(frozen=True)
class MarkedSegment:
    """A line of a file of errors."""

    errors: tuple[ErrorSpan, ...] | None
    """None: nobody rated it."""
    rater: str | None = None
    """Where the line names one."""


def read_spans(
    folder: Folder, path: Path, expected: Expected, sources: list[str], texts: dict[str, list[str]]
) -> dict[str, list[MarkedSegment]]:
    """System -> the errors of each segment.

    texts: system -> its segments, inside which the spans have to lie; systems without texts are not checked.
    """
    spans: dict[str, list[MarkedSegment]] = {}
    problems = Problems()
    for system, own in read_grouped(folder, path, expected).items():
        for segment, (line, written) in enumerate(own):
            text = texts[system][segment] if texts.get(system) else None
            spans.setdefault(system, []).append(
                marked_segment(written, line, sources[segment], text, problems)
            )
    folder.report(path, problems)
    return {} if problems else spans


def marked_segment(
    written: str, line: int, source: str | None, text: str | None, problems: Problems
) -> MarkedSegment:
    """What stands behind a system: its errors or None and, behind another tab, who marked them if the file says so."""
    errors, _, rater = written.strip().partition("\t")
    if is_undefined(errors):
        return MarkedSegment(None)
    found = errors_in(errors.strip(), line, source, text, problems)
    return MarkedSegment(found, None if is_undefined(rater) else name_of(rater))


def errors_in(
    written: str, line: int, source: str | None, text: str | None, problems: Problems
) -> tuple[ErrorSpan, ...]:
    """The errors of one line's object; problems name the line. source, text: None: not at hand, nothing is checked."""
    value, problem = parse_json(written, line)
    errors = value.get("errors") if isinstance(value, JsonObject) else None
    if problem or not isinstance(errors, list):
        problems.append(problem or f'line {line}: expected an object with a list "errors", or None')
        return ()
    found = []
    for number, error in enumerate(errors, start=1):
        span = _span(error)
        if isinstance(span, str):
            problems.append(f"line {line}, error {number}: {span}")
            continue
        marked = source if span.in_source else text
        if marked is not None and span.end > len(marked):
            side = "source" if span.in_source else "text"
            problems.append(
                f"line {line}, error {number}: ends at {span.end}, the {side} has {len(marked)} characters"
            )
        found.append(span)
    return tuple(found)


def _span(error: object) -> ErrorSpan | str:
    """The error, or what is wrong with it."""
    if not isinstance(error, JsonObject):
        return f"is {type_name(error)}, expected an object"
    start, end, weight = error.get("start"), error.get("end"), number_in(error.get("score"))
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        return "start and end are not two whole numbers in order"
    if end > LARGEST_OFFSET:
        return f"ends at {shown(str(end))}, expected at most {LARGEST_OFFSET:,}"
    severity, category = name_of(error.get("severity")), name_of(error.get("category"))
    if severity is None or category is None:
        return "severity or category is missing"
    if weight is None or not 0 <= weight < math.inf:
        return "score is no number from 0"
    return ErrorSpan(start, end, severity, category, weight, error.get("is_source_error") is True)

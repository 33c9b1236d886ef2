"""Read and write data of the tool mt-metrics-eval: test sets with systems' outputs, metric scores and human ratings."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import regex

from core.errors import InputError, Problems
from core.formats import Format
from core.formats.scores import INFINITE, NO_SCORE, family_of, metric_made_elsewhere
from core.formats.spans.cells import LARGEST_OFFSET
from core.formats.spans.rows import ReadRating
from core.schema.scores import (
    ErrorSpan,
    Metric,
    OutputSet,
    Rating,
    RatingSet,
    ScorableOutput,
    ScoredRow,
    ScoreTable,
    score_of,
    signature_from_folder,
)
from core.tables.columns import LABEL_PAIR, target_language
from core.tables.containers import decode, decode_utf8
from core.tables.problems import FileFindings
from core.tables.reading import (
    JsonObject,
    is_undefined,
    name_of,
    name_problem,
    number_in,
    parse_json,
    printable_text,
    reject,
    sha256_of,
    shown,
    type_name,
)
from core.tables.references import OF_REFERENCE, names_reference

USUAL_RATINGS = "mqm"
"""Default ratings of a folder that has several."""
BY_RATER = "raters"
"""Last part of the name of ratings with one file for each rater, such as mqm.raters."""


def usual_ratings(there: Mapping[str, RatingSet], *, by_rater: bool = False) -> list[str]:
    """The name of a folder's default ratings in a list; an empty list if it has none.

    by_rater: prefer ratings with raters' names.
    """
    named = [name for name in there if name.endswith(f".{BY_RATER}")]
    if by_rater and named:
        return named[:1]
    return [USUAL_RATINGS] if USUAL_RATINGS in there else list(there)[:1]


def ratings_among(
    there: Mapping[str, RatingSet], name: str | None, option: str | None, *, by_rater: bool = False
) -> RatingSet:
    """The ratings with a name, or the default ratings with a note on the others. Raises InputError if there are none.

    option: the option that chooses ratings, for messages, or None. by_rater: as in `usual_ratings`.
    """
    if not there and name is None:
        raise InputError(
            "The folder contains no ratings"
            if option is None
            else f"There are no ratings. Choose a file or a folder of ratings with {option}"
        )
    chosen = usual_ratings(there, by_rater=by_rater)[0] if name is None else name
    if chosen not in there:
        named = ", ".join(map(shown, there)) or "none"
        raise InputError(
            f"{option}: {shown(chosen)} is neither a file nor one of the folder's ratings ({named})"
        )
    others = [other for other in there if other != chosen]
    if name is not None or not others:
        return there[chosen]
    hint = f" (choose with {option})" if option else ""
    note = f"read the folder's ratings {shown(chosen)}; it also has {', '.join(map(shown, others))}{hint}"
    return replace(there[chosen], notes=(note, *there[chosen].notes))


MOST_NAMED = 20
"""Problems of one file that are listed one by one; a file of another language pair has one on every line."""
_MARK = "\ufeff"


@dataclass
class Folder:
    """A folder while it is read."""

    path: Path
    findings: FileFindings
    hashes: dict[str, str] = field(default_factory=dict)
    """File -> hash of its bytes."""

    def names(self, inside: str, pattern: str) -> list[Path]:
        """The files of a subfolder that match a pattern, sorted; none if the folder does not exist."""
        return sorted(path for path in (self.path / inside).glob(pattern) if path.is_file())

    def label(self, path: Path) -> str:
        """The file's name for messages."""
        return path.relative_to(self.path).as_posix()

    def sha256(self) -> str:
        """A hash of the names and bytes of all files read so far."""
        whole = hashlib.sha256()
        for name, own in sorted(self.hashes.items()):
            whole.update(f"{name}\0{own}\n".encode("utf-8", "replace"))
        return whole.hexdigest()

    def lines(self, path: Path) -> list[str]:
        """The file's lines without line ends; none if the file has a problem, which is added to the findings.

        Keeps a byte order mark, because error spans count it.
        """
        name = self.label(path)
        try:
            data = path.read_bytes()
            text = decode_utf8(data, name)
        except OSError as error:
            self.findings.problems.append(f"{shown(name)}: cannot be read ({error.strerror})")
            return []
        except InputError as error:
            self.findings.problems += error.found.each(lambda problem: f"{shown(name)}, {problem}")
            return []
        self.hashes[name] = sha256_of(data)
        if data.startswith(_MARK.encode()):
            self.findings.notes.append(
                f"{shown(name)} begins with a byte order mark; it stays in the first text, because error spans count it"
            )
            text = _MARK + text
        # Only line feeds end a segment: a text may contain other line breaks.
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        return lines[:-1] if lines[-1] == "" else lines

    def report(self, path: Path, problems: Iterable[str]) -> None:
        """Add the problems of one file: the first ones in full, the number of the others."""
        name, found = shown(self.label(path)), Problems(problems)
        self.findings.problems += [f"{name}, {problem}" for problem in [*found][:MOST_NAMED]]
        if found.n > MOST_NAMED:
            self.findings.problems.append(f"{name}: {found.n - MOST_NAMED:,} more problems")


def read_segments(folder: Folder, path: Path, n: int | None) -> list[str]:
    """Read one text from each line. n: the required number of lines, or None."""
    lines = folder.lines(path)
    if lines and n is not None and len(lines) != n:
        folder.report(path, [f"line {len(lines)}: {len(lines)} segments, expected {n} as in the sources"])
        return []
    return [printable_text(line) for line in lines]


def read_grouped(folder: Folder, path: Path, pair: "MtPair") -> dict[str, list[tuple[int, str]]]:
    """System -> one (line, text after the tab) for each segment. A wrong number of lines is a problem."""
    found: dict[str, list[tuple[int, str]]] = {}
    n, problems = len(pair.sources), Problems()
    for number, line in enumerate(folder.lines(path), start=1):
        written, tab, rest = line.partition("\t")
        system = name_of(written)
        if not tab:
            problems.append(f"line {number}: no tab found; expected a system, a tab and its value")
        elif system is None:
            problems.append(f"line {number}: system {name_problem(written)}")
        else:
            if system not in found and not pair.is_known(system):
                problems.append(f"line {number}: system {shown(system)} has no file in system-outputs")
            found.setdefault(system, []).append((number, rest.strip()))
    if not problems:
        problems += (
            f"line {own[-1][0]}: system {shown(system)} has {len(own)} segments, expected {n} as in the sources"
            for system, own in found.items()
            if len(own) != n
        )
    folder.report(path, problems)
    return {} if problems else found


def read_numbers(
    folder: Folder, path: Path, pair: "MtPair", *, finite: bool = False
) -> dict[str, list[float]]:
    """System -> one number for each segment; NaN where the file has None. finite: infinite numbers are problems."""
    numbers: dict[str, list[float]] = {}
    problems = Problems()
    for system, own in read_grouped(folder, path, pair).items():
        for line, written in own:
            number = number_in(written)
            if number is None and not is_undefined(written):
                problems.append(f'line {line}: "{shown(written)}" is not a number')
            elif finite and number is not None and math.isinf(number):
                problems.append(f'line {line}: "{shown(written)}" is infinite, expected a number')
            numbers.setdefault(system, []).append(math.nan if number is None else number)
    folder.report(path, problems)
    return {} if problems else numbers


@dataclass(frozen=True)
class MarkedSegment:
    """One line of a file of errors."""

    errors: tuple[ErrorSpan, ...] | None
    """None if nobody rated the segment."""
    rater: str | None = None
    """The rater, if the line names one."""


def read_spans(folder: Folder, path: Path, pair: "MtPair") -> dict[str, list[MarkedSegment]]:
    """System -> the errors of each segment. Errors outside their text are problems, if the system's texts are known."""
    spans: dict[str, list[MarkedSegment]] = {}
    problems = Problems()
    for system, own in read_grouped(folder, path, pair).items():
        for segment, (line, written) in enumerate(own):
            text = pair.texts[system][segment] if pair.texts.get(system) else None
            spans.setdefault(system, []).append(
                marked_segment(written, line, pair.sources[segment], text, problems)
            )
    folder.report(path, problems)
    return {} if problems else spans


def marked_segment(
    written: str, line: int, source: str | None, text: str | None, problems: Problems
) -> MarkedSegment:
    """The part of a line after the system: errors or None, and after another tab possibly the rater."""
    errors, _, rater = written.strip().partition("\t")
    if is_undefined(errors):
        return MarkedSegment(None)
    found = errors_in(errors.strip(), line, source, text, problems)
    return MarkedSegment(found, None if is_undefined(rater) else name_of(rater))


def errors_in(
    written: str, line: int, source: str | None, text: str | None, problems: Problems
) -> tuple[ErrorSpan, ...]:
    """The errors of one line's object; problems name the line.

    source, text: to check the errors against; None skips the check.
    """
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
                f"line {line}, error {number}: ends at {span.end}, but the {side} has {len(marked)} characters"
            )
        found.append(span)
    return tuple(found)


def _span(error: object) -> ErrorSpan | str:
    """The error, or the problem with it."""
    if not isinstance(error, JsonObject):
        return f"is {type_name(error)}, expected an object"
    start, end, weight = error.get("start"), error.get("end"), number_in(error.get("score"))
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        return "start and end must be whole numbers from 0, with start up to end"
    if end > LARGEST_OFFSET:
        return f"ends at {shown(str(end))}, expected at most {LARGEST_OFFSET:,}"
    severity, category = name_of(error.get("severity")), name_of(error.get("category"))
    if severity is None or category is None:
        return "severity or category is missing"
    if weight is None or not 0 <= weight < math.inf:
        return "score is not a number from 0"
    return ErrorSpan(start, end, severity, category, weight, error.get("is_source_error") is True)


LAYOUT = "sources/LP.txt, references/LP.refA.txt, system-outputs/LP/SYSTEM.txt"


@dataclass(frozen=True)
class MtPair:
    """One language pair's segments and outputs."""

    name: str
    sources: list[str]
    reference: list[str] | None
    texts: dict[str, list[str]]
    references: frozenset[str]
    """Names of references, which may also occur among the systems."""
    labels: list[dict[str, str]]
    """The labels of each segment: domain, document, pair."""

    @property
    def language(self) -> str:
        """The target language."""
        return target_language(self.name)

    def is_known(self, name: str) -> bool:
        """Whether the name belongs to a system with outputs or to a reference."""
        return name in self.texts or self.is_reference(name)

    def is_reference(self, system: str) -> bool:
        """Whether the name belongs to a reference."""
        return system in self.references or names_reference(system)


def pair_name(folder: Folder, wanted: str | None) -> str:
    """The language pair to read. InputError lists the folder's pairs if none, or several, could be meant."""
    name = folder.findings.file_name
    if not folder.path.is_dir():
        raise InputError(f"{shown(name)} is not a folder", [f"expected a folder with {LAYOUT}"])
    there = [path.name.removesuffix(".txt") for path in folder.names("sources", "*.txt")]
    listed = ", ".join(map(shown, there))
    if not there:
        raise InputError(f"{shown(name)} cannot be read", [f"sources: there is no LP.txt; expected {LAYOUT}"])
    if wanted is None and len(there) > 1:
        raise InputError(f"{shown(name)} has several language pairs", [f"choose one of {listed}"])
    if wanted is not None and wanted not in there:
        raise InputError(f"{shown(name)} has no language pair {shown(wanted)}", [f"choose one of {listed}"])
    return wanted or there[0]


def read_pair(folder: Folder, name: str) -> MtPair:
    """Read the pair's segments and outputs; add problems to the folder's findings."""
    sources = read_segments(folder, folder.path / "sources" / f"{name}.txt", None)
    if not sources:
        # Without the sources nothing else can be checked.
        reject(folder.findings.file_name, folder.findings.problems)
    n = len(sources)
    found = {
        path.name.removeprefix(f"{name}.").removesuffix(".txt"): read_segments(folder, path, n)
        for path in folder.names("references", f"{name}.*.txt")
    }
    references = {key: texts for key, texts in found.items() if texts}
    if not references:
        folder.findings.notes.append("no reference: metrics that need one cannot score the texts")
    if len(references) > 1:
        folder.findings.notes.append(
            f"the reference is {min(references)}; the folder also has {', '.join(sorted(references)[1:])}"
        )
    systems = {
        path.name.removesuffix(".txt"): path for path in folder.names(f"system-outputs/{name}", "*.txt")
    }
    if not systems:
        folder.findings.problems.append(f"system-outputs/{shown(name)}: there is no SYSTEM.txt")
    if bad := [shown(system) for system in systems if name_of(system) != system]:
        folder.findings.problems.append(
            f"system-outputs/{shown(name)}: {', '.join(bad)} cannot be names of systems"
        )
    texts = {system: read_segments(folder, path, n) for system, path in systems.items()}
    labels = _labels(folder, name, len(sources))
    pair = MtPair(
        name, sources, references[min(references)] if references else None, texts, frozenset(found), labels
    )
    if among := [system for system in texts if pair.is_reference(system)]:
        folder.findings.notes.append(f"left out references among the systems: {', '.join(sorted(among))}")
    return pair


def _labels(folder: Folder, name: str, n: int) -> list[dict[str, str]]:
    path = folder.path / "documents" / f"{name}.docs"
    if not path.is_file():
        return [{LABEL_PAIR: name} for _ in range(n)]
    labels, problems = [], Problems()
    for number, line in enumerate(read_segments(folder, path, n), start=1):
        cells = [name_of(cell) for cell in line.split("\t")]
        if len(cells) != 2 or None in cells:
            problems.append(f"line {number}: expected a domain, a tab and a document")
        labels.append({"domain": cells[0] or "", "document": cells[-1] or "", LABEL_PAIR: name})
    folder.report(path, problems)
    return labels


NOT_RATED = "nobody rated it"
NEARLY = 1e-6
"""Scores closer than this count as equal."""
_OF_RATER = regex.compile(r"(?P<name>.+)\.(?P<rater>rater[-_]?(?:\d+|[A-Z]))")
_UNMARKED = MarkedSegment(None)


@dataclass(frozen=True)
class HumanScores:
    """The scores and errors of the systems' segments in one file, or in a score file with its file of errors."""

    numbers: Mapping[str, list[float]]
    spans: Mapping[str, list[MarkedSegment]]
    rater: str | None = None
    """The rater of all segments; None if no rater is named, or each line names its own."""


@dataclass(frozen=True)
class _Source:
    """The files of one human score or of one rater."""

    score: Path | None
    errors: list[Path]
    rater: str | None = None


def read_ratings_of(folder: Folder, pair: MtPair) -> dict[str, list[HumanScores]]:
    """Name of a human score -> its content: one entry, or one for each rater if raters have files of their own."""
    return {
        name: [_human_scores(folder, pair, source) for source in sources]
        for name, sources in sources_of(folder, pair.name).items()
    }


def sources_of(folder: Folder, pair: str) -> dict[str, list[_Source]]:
    """Name of a human score -> its files. Files of single raters share a name, such as mqm.raters.

    A file of errors belongs to the score that its name begins with: mqm.merged belongs to mqm, if that exists.
    """
    scores, errors = _human_files(folder, pair, ".seg.score"), _human_files(folder, pair, ".seg.rating")
    found: dict[str, list[_Source]] = {}
    by_rater: dict[str, list[_Source]] = {}
    for stem in dict.fromkeys([*scores, *errors]):
        if single := _OF_RATER.fullmatch(stem):
            own = [errors[stem]] if stem in errors else []
            name = f"{single['name']}.{BY_RATER}"
            by_rater.setdefault(name, []).append(_Source(scores.get(stem), own, single["rater"]))
        elif stem in scores:
            found[stem] = [_Source(scores[stem], [])]
        if stem in errors and not single:
            owners = [name for name in found if stem == name or stem.startswith(f"{name}.")]
            owner = found.setdefault(max(owners, key=len, default=stem), [_Source(None, [])])
            owner[0].errors.append(errors[stem])
    return found | by_rater


def _human_scores(folder: Folder, pair: MtPair, source: _Source) -> HumanScores:
    numbers: dict[str, list[float]] = {}
    if source.score is not None:
        numbers = read_numbers(folder, source.score, pair, finite=True)
    spans: dict[str, list[MarkedSegment]] = {}
    for path in source.errors:
        spans |= read_spans(folder, path, pair)
    return HumanScores(numbers or _sums(spans), spans, source.rater)


def _human_files(folder: Folder, pair: str, end: str) -> dict[str, Path]:
    paths = folder.names("human-scores", f"{pair}.*{end}")
    return {path.name.removeprefix(f"{pair}.").removesuffix(end): path for path in paths}


def _sums(spans: Mapping[str, list[MarkedSegment]]) -> dict[str, list[float]]:
    """A score for each segment: minus the weights of its errors, including those in the source."""
    return {
        system: [math.nan if own.errors is None else score_of(own.errors) for own in segments]
        for system, segments in spans.items()
    }


def rating_set(pair: MtPair, name: str, human_scores: Sequence[HumanScores], sha256: str) -> RatingSet:
    """The ratings of the systems. Ratings of references and unrated segments are left out and counted."""
    ratings, left_out, differ = [], Counter[str](), 0
    unrated: dict[tuple[str, int], bool] = {}
    for one in human_scores:
        for system, scores in one.numbers.items():
            marked = one.spans.get(system, [_UNMARKED] * len(scores))
            for number, (score, own) in enumerate(zip(scores, marked, strict=True)):
                if pair.is_reference(system):
                    left_out[OF_REFERENCE] += not math.isnan(score)
                    continue
                unrated[system, number] = unrated.get((system, number), True) and math.isnan(score)
                if math.isnan(score):
                    continue
                differ += own.errors is not None and abs(score - score_of(own.errors)) > NEARLY
                ratings.append(
                    Rating(
                        str(number + 1),
                        score,
                        system,
                        rater=one.rater or own.rater,
                        language=pair.language,
                        labels=pair.labels[number],
                        spans=own.errors,
                    )
                )
    left_out[NOT_RATED] = sum(unrated.values())
    notes = [f"{differ} scores differ from minus the sum of their errors' weights"] if differ else []
    file_name = f"{pair.name}.{name}.seg.{'rating' if name.endswith(BY_RATER) else 'score'}"
    return RatingSet(
        tuple(ratings), sha256, file_name, tuple(notes), {k: n for k, n in left_out.items() if n}
    )


_METRIC_FILE = ".seg.score"


@dataclass(frozen=True)
class MtFolder:
    """All data of a folder on one language pair."""

    language_pair: str
    outputs: OutputSet
    scores: ScoreTable
    """Scores of the metrics in the folder; without metrics if it has none."""
    ratings: Mapping[str, RatingSet]
    """Name of a human score, such as mqm or da-sqm -> ratings."""
    notes: tuple[str, ...] = ()


def read_folder_outputs(path: Path, *, language_pair: str | None = None) -> OutputSet:
    """Read the systems' outputs of one language pair; ignore problems with their scores. Raises InputError."""
    folder, pair = _opened(path, language_pair)
    return _output_set(folder, pair)


def read_folder(path: Path, *, language_pair: str | None = None) -> MtFolder:
    """Read one language pair of a folder. InputError lists every problem with its file and line.

    language_pair: required if the folder has several.
    """
    folder, pair = _opened(path, language_pair)
    scores = _scores(folder, pair)
    ratings = read_ratings_of(folder, pair)
    outputs = _output_set(folder, pair)
    return MtFolder(
        pair.name,
        outputs,
        _table(pair, scores, outputs.file_name, outputs.notes),
        {key: rating_set(pair, key, one, outputs.sha256) for key, one in ratings.items()},
        outputs.notes,
    )


def rating_names(path: Path, *, language_pair: str | None = None) -> tuple[str, ...]:
    """The names of a folder's human scores, without reading them. Raises InputError if the pair is unclear."""
    folder = Folder(path, FileFindings(path.name or "folder", ""))
    return tuple(sources_of(folder, pair_name(folder, language_pair)))


def _opened(path: Path, language_pair: str | None) -> tuple[Folder, MtPair]:
    folder = Folder(path, FileFindings(path.name or "folder", ""))
    return folder, read_pair(folder, pair_name(folder, language_pair))


def _output_set(folder: Folder, pair: MtPair) -> OutputSet:
    """The outputs, with the notes on everything read so far. Raises InputError if the folder has problems."""
    if folder.findings.problems:
        reject(folder.findings.file_name, folder.findings.problems)
    outputs, left_out = [], Counter[str]()
    for system, texts in pair.texts.items():
        if pair.is_reference(system):
            left_out[OF_REFERENCE] += len(texts)
        else:
            outputs += [_output(pair, system, number, text) for number, text in enumerate(texts)]
    return OutputSet(
        tuple(outputs),
        folder.sha256(),
        f"{folder.findings.file_name} {pair.name}",
        tuple(dict.fromkeys(folder.findings.notes)),
        dict(left_out),
    )


def _output(pair: MtPair, system: str, number: int, text: str) -> ScorableOutput:
    return ScorableOutput(
        str(number + 1),
        system,
        text,
        reference=None if pair.reference is None else pair.reference[number],
        source=pair.sources[number],
        language=pair.language,
        labels=pair.labels[number],
    )


# --- scores of metrics ----------------------------------------------------------------------------


def _scores(folder: Folder, pair: MtPair) -> dict[str, tuple[str, dict[str, list[float]]]]:
    """File name without its ending -> (metric, system -> scores)."""
    paths = folder.names(f"metric-scores/{pair.name}", f"*{_METRIC_FILE}")
    stems = [path.name.removesuffix(_METRIC_FILE) for path in paths]
    plain = Counter(stem.rpartition("-")[0] or stem for stem in stems)
    found = {}
    for stem, path in zip(stems, paths, strict=True):
        name = stem.rpartition("-")[0] or stem
        if name_of(stem) != stem:
            folder.report(path, [f"the metric {name_problem(stem)}"])
            continue
        found[stem] = (name if plain[name] == 1 else stem, read_numbers(folder, path, pair))
    return found


def _table(
    pair: MtPair,
    scores: Mapping[str, tuple[str, dict[str, list[float]]]],
    file_name: str,
    notes: tuple[str, ...],
) -> ScoreTable:
    systems = [system for system in pair.texts if not pair.is_reference(system)]
    rows = tuple(
        ScoredRow(str(number + 1), system, None, pair.language, pair.labels[number])
        for system in systems
        for number in range(len(pair.sources))
    )
    unscored = [math.nan] * len(pair.sources)
    columns = [[x for s in systems for x in numbers.get(s, unscored)] for _, numbers in scores.values()]
    values = np.array(columns, dtype=np.float64).T.reshape(len(rows), len(columns))
    metrics = tuple(
        Metric(name, signature_from_folder(stem, file_name), family_of(name))
        for stem, (name, _) in scores.items()
    )
    infinite = np.isinf(values)
    values[infinite] = np.nan
    reasons = {
        (int(r), int(m)): INFINITE if infinite[r, m] else NO_SCORE
        for r, m in zip(*np.nonzero(np.isnan(values)), strict=True)
    }
    return ScoreTable(rows, metrics, values, reasons, file_name, notes)


ENDING = ".seg.score"
_FIRST_LINE = re.compile(
    rb"\s*\S[^\n]*?[\t ](?:None|[-+]?(?:inf|nan|\.?\d[\d.e+-]*))\s*(?:\n|\Z)", re.IGNORECASE
)
_LINE = regex.compile(r"(?P<system>\S(?:.*\S)?)[\t ]+(?P<score>\S+)[\t ]*")


def is_seg_score(file_name: str) -> bool:
    """Whether a file's name ends in .seg.score."""
    return file_name.lower().endswith(ENDING)


def read_seg_scores(data: bytes, file_name: str) -> ScoreTable:
    """Read the scores as a table of one metric, named after the file. InputError names line and system."""
    by_system = _read(data, file_name)
    rows = tuple(
        ScoredRow(str(number), system)
        for system, scores in by_system.items()
        for number in range(1, len(scores) + 1)
    )
    given = [score for scores in by_system.values() for score in scores]
    values = np.array([math.nan if math.isinf(score) else score for score in given])[:, None]
    reasons = {
        (row, 0): INFINITE if math.isinf(score) else NO_SCORE
        for row, score in enumerate(given)
        if not math.isfinite(score)
    }
    metric = metric_made_elsewhere(metric_name(file_name), "higher")
    return ScoreTable(rows, (metric,), values, reasons, printable_text(file_name))


def read_seg_ratings(data: bytes, file_name: str) -> RatingSet:
    """Read the scores as people's ratings, one a text; lines with None count as not rated. Raises InputError."""
    by_system = _read(data, file_name)
    ratings = []
    n_unrated = 0
    infinite = []
    for system, scores in by_system.items():
        for number, score in enumerate(scores, start=1):
            if math.isinf(score):
                infinite.append(f"system {shown(system)}, segment {number}: the score is infinite")
            elif math.isnan(score):
                n_unrated += 1
            else:
                ratings.append(Rating(str(number), score, system))
    if infinite:
        reject(file_name, infinite)
    if not ratings:
        reject(file_name, ["file: every line is None; at least one rating is needed"])
    left_out = {NOT_RATED: n_unrated} if n_unrated else {}
    return RatingSet(tuple(ratings), sha256_of(data), printable_text(file_name), (), left_out)


SEG_SCORE = Format(
    "seg_score",
    "scores of mt-metrics-eval, in which higher is already better",
    lambda data, file_name: is_seg_score(file_name) and _FIRST_LINE.match(data) is not None,
    {"ratings": read_seg_ratings, "scores": read_seg_scores},
    has_names=False,
)


_FIRST_RATING = re.compile(rb"[^{\[\s].*[\t ](?:\{|None)")


def _is_seg_rating(data: bytes, file_name: str) -> bool:
    """Whether the first line of a file has a system's errors, or is one of a file whose name ends in .seg.rating."""
    first = data.split(b"\n", 1)[0]
    named = file_name.lower().endswith(".seg.rating") and _FIRST_RATING.match(first) is not None
    return named or first.partition(b"\t")[2].lstrip().startswith(b'{"errors"')


def _read_seg_rating(data: bytes, findings: FileFindings, left_out: Counter[str]) -> list[ReadRating]:
    """Read one rating from each line that is not None; a system's lines are items 1, 2, ..."""
    text = decode(data, findings.file_name)
    read: list[ReadRating] = []
    counts: Counter[str] = Counter()
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, start=1):
        written, tab, rest = line.partition("\t")
        system = name_of(written)
        if not tab or system is None:
            problem = "no tab found; expected a system, a tab and its errors or None"
            findings.problems.append(
                f"line {number}: {problem if not tab else f'system {name_problem(written)}'}"
            )
            continue
        counts[system] += 1
        marked = marked_segment(rest, number, None, None, findings.problems)
        if marked.errors is None:
            left_out[NOT_RATED] += 1
            continue
        spans = marked.errors
        rating = Rating(str(counts[system]), score_of(spans), system, rater=marked.rater, spans=spans)
        read.append(ReadRating(rating, f"line {number}"))
    if len(set(counts.values())) > 1:
        fewest, most = min(counts, key=lambda one: counts[one]), max(counts, key=lambda one: counts[one])
        findings.problems.append(
            f"file: system {shown(fewest)} has {counts[fewest]} lines, {shown(most)} has {counts[most]}; expected the "
            "same number for every system"
        )
    return read


SEG_RATING = Format(
    "seg_rating",
    "marked errors (mt-metrics-eval), whose weights are already deductions",
    _is_seg_rating,
    {"spans": _read_seg_rating},
    has_names=False,
)


def metric_name(file_name: str) -> str:
    """The file's name without its ending, such as BLEU-refA."""
    name = printable_text(file_name)
    return (name[: -len(ENDING)] if is_seg_score(name) else name) or name


def _read(data: bytes, file_name: str) -> Mapping[str, list[float]]:
    """System -> one number for each segment; NaN where the file has None. Every system has the same number."""
    found: dict[str, list[float]] = {}
    problems = Problems()
    for number, line in enumerate(decode_utf8(data, file_name).split("\n"), start=1):
        if not line.strip():
            continue
        parts = _LINE.fullmatch(line.removesuffix("\r"))
        if parts is None:
            problems.append(f"line {number}: expected a system, a tab and its score or None")
            continue
        system, score = name_of(parts["system"]), number_in(parts["score"])
        if system is None:
            problems.append(f"line {number}: system {name_problem(parts['system'])}")
        elif score is None and not is_undefined(parts["score"]):
            problems.append(f'line {number}: "{shown(parts["score"])}" is neither a number nor None')
        else:
            found.setdefault(system, []).append(math.nan if score is None else score)
    lengths = {system: len(scores) for system, scores in found.items()}
    if not problems and len(set(lengths.values())) > 1:
        listed = ", ".join(f"{shown(system)} {n}" for system, n in lengths.items())
        problems.append(
            f"file: systems differ in their number of lines ({listed}); expected one for each segment"
        )
    if problems:
        reject(file_name, problems)
    return found


NONE = "None"
MOST_SEGMENTS = 1_000_000
"""Most lines for each system; a larger number of an item cannot be a segment."""
_WRONG = "The ratings cannot be written in the format of mt-metrics-eval"


def write_seg_score(
    ratings: RatingSet, *, dimension: str | None = None, n_segments: int | None = None
) -> bytes:
    """Write each text's score on one dimension: the mean over its raters.

    dimension: required if there are several. n_segments: segments in the whole test set; None takes the largest item.
    Raises InputError.
    """
    there = list(dict.fromkeys(one.dimension for one in ratings.ratings))
    if dimension is None and len(there) > 1:
        raise InputError(_WRONG, [f"choose one dimension of {', '.join(map(shown, there))}"])
    chosen = [one for one in ratings.ratings if dimension in (None, one.dimension)]
    values = {key: repr(_mean(own)) for key, own in _ratings_by_text(chosen).items()}
    return _lines(values, n_segments)


def write_seg_rating(ratings: RatingSet, *, rater: str | None = None, n_segments: int | None = None) -> bytes:
    """Write each text's errors. rater: whose errors; None if each text has a single rater.

    Raises InputError, also if an error has no weight.
    """
    chosen = [one for one in ratings.ratings if one.spans is not None and rater in (None, one.rater)]
    by_text = _ratings_by_text(chosen)
    problems = Problems(
        f"item {shown(key[1])}, system {shown(key[0])}: {len(own)} raters marked errors; choose one rater"
        for key, own in by_text.items()
        if len(own) > 1
    )
    problems += (
        f"item {shown(key[1])}, system {shown(key[0])}: an error has no weight"
        for key, own in by_text.items()
        if any(span.weight is None for one in own for span in one.spans or ())
    )
    if problems:
        raise InputError(_WRONG, problems)
    values = {key: _errors(own[0].spans or ()) for key, own in by_text.items()}
    return _lines(values, n_segments)


def _ratings_by_text(ratings: Sequence[Rating]) -> dict[tuple[str, str], list[Rating]]:
    """(system, item) -> its ratings. Raises InputError if a key has several texts, or its item is not a number."""
    found: dict[tuple[str, str], list[Rating]] = {}
    problems = Problems()
    for one in ratings:
        own = found.setdefault((one.system or "output", one.item_id), [])
        if own and (own[0].level, own[0].language, own[0].labels) != (one.level, one.language, one.labels):
            problems.append(
                f"item {shown(one.item_id)}, system {shown(one.system or 'output')}: has several texts, which differ in "
                "level, language or labels; expected one"
            )
        own.append(one)
    items = dict.fromkeys(item for _, item in found)
    problems += (
        f"item {shown(item)}: is not a segment number, expected 1, 2, ..."
        for item in items
        if not (
            item.isascii() and item.isdigit() and len(item) < 8 and str(int(item)) == item and int(item) > 0
        )
    )
    if not found:
        problems.append("there is no rating to write")
    if problems:
        raise InputError(_WRONG, problems)
    return found


def _lines(values: dict[tuple[str, str], str], n_segments: int | None) -> bytes:
    largest = max(int(item) for _, item in values)
    n = largest if n_segments is None else n_segments
    if largest > n or n > MOST_SEGMENTS:
        raise InputError(_WRONG, [f"item {largest}: is beyond the last segment, {min(n, MOST_SEGMENTS)}"])
    return "".join(
        f"{system}\t{values.get((system, str(number)), NONE)}\n"
        for system in dict.fromkeys(system for system, _ in values)
        for number in range(1, n + 1)
    ).encode()


def _mean(ratings: Sequence[Rating]) -> float:
    return sum(one.score for one in ratings) / len(ratings)


def _errors(spans: Sequence[ErrorSpan]) -> str:
    errors = [
        {
            "start": span.start,
            "end": span.end,
            "category": span.category,
            "severity": span.severity,
            "score": int(span.weight)
            if span.weight is not None and span.weight.is_integer()
            else span.weight,
            "is_source_error": span.in_source,
        }
        for span in spans
    ]
    return json.dumps({"errors": errors}, ensure_ascii=False)

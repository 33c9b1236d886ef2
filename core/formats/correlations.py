"""Read correlations computed elsewhere or earlier, one a metric: Assay's JSON, Meta-Judge's, and tables of three papers."""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from pathlib import Path, PurePath
from typing import cast, get_args

import regex

from core.errors import InputError, nearest_names
from core.formats.scores import family_of
from core.schema.scores import METHODS, UNKNOWN_ORIGIN, Against, CorrelationSet, Method, TextOrigin
from core.tables.columns import json_objects
from core.tables.containers import decode, findings_of
from core.tables.problems import FileFindings
from core.tables.reading import (
    LONGEST_NAME,
    JsonObject,
    duplicate_problems,
    is_undefined,
    name_of,
    name_problem,
    number_in,
    numbers_as_json,
    parse_json,
    printable_text,
    reject,
    shown,
    type_name,
)

FORMAT = "assay-correlations"
UNDEFINED = "undefined in the file"
TURNED = "signs were reversed: the file contains correlations with the raw level"

_METHOD_NAMES: Mapping[str, Method] = {
    **{method: method for method in METHODS},
    "pearsonr": "pearson",
    "spearmanr": "spearman",
    "kendalltau": "kendall",
    "kendall_tau": "kendall",
}
_VALUE_KEYS = ("estimate", "correlation", "statistic", "coefficient", "r", "rho", "tau", "value")
_DEVICE = regex.compile(r"""['"]?(?<![A-Za-z0-9])device['"]?\s*[=:]\s*['"]?[A-Za-z]+(?::?\d+)?['"]?""")
_SLACK = 1e-9
"""How far rounding may push a coefficient beyond 1."""
SAME_VALUE = 1e-3
"""Largest difference between one metric's correlations from two devices that still counts as one value. Meta-Judge's
published ones differ by up to 0.0009."""


@dataclass
class _Side:
    """The correlations of a file, metric by metric, while it is read."""

    values: dict[str, dict[Method, float | None]]
    families: dict[str, str]
    reasons: dict[str, str]
    n: dict[str, int]
    written: dict[str, str] = field(default_factory=dict)
    """Metric -> its name in the file; for a metric from several devices, the last name."""
    joined: dict[str, float] = field(default_factory=dict)
    """Metric that the file lists for several devices -> the largest difference between its values."""
    turned: bool = False
    against: Against | None = None
    scores_turned: bool = True
    """Whether scores with lower as better were reversed first; other tools do not do this."""
    texts: TextOrigin = UNKNOWN_ORIGIN


def read_correlations(data: bytes, file_name: str, *, synthetic: bool) -> CorrelationSet:
    """Read the correlations of a file. InputError lists every problem.

    Assay's files: from write_correlations, or from `correlate --json`, grouped by metric alone.
    Meta-Judge's files: {metric: {pearson, spearman, kendall}}. `device=...` in a metric's name is dropped. Entries
    that differ only in the device are one metric if their values are at most SAME_VALUE apart, otherwise a problem.
    synthetic: the correlations of a Meta-Judge file are with the raw level (higher is worse), so their signs are
    reversed.
    """
    findings = findings_of(data, file_name)
    value, problem = parse_json(numbers_as_json(decode(data, file_name)))
    if problem:
        reject(file_name, [problem])
    side = _Side({}, {}, {}, {})
    name = PurePath(printable_text(file_name)).name or "correlations"
    if isinstance(value, list):
        _add_rows(value, side, findings)
    elif not isinstance(value, JsonObject):
        findings.problems.append(f"file: is {type_name(value)}, expected an object of metrics or a list")
    elif isinstance(value.get("correlations"), list):
        _add_rows(cast(list[object], value["correlations"]), side, findings)
    elif value.get("format") == FORMAT:
        name = _read_ours(value, side, findings) or name
    elif {"estimate", "points"} <= value.keys():
        findings.problems.append(
            "file: contains a meta-correlation, expected one correlation for each metric; choose a file from correlate"
        )
    else:
        findings.problems += duplicate_problems("file", value)
        side.turned, side.scores_turned = synthetic, False
        side.against = "-level" if synthetic else None
        for written, entry in value.items():
            _add(written, entry, side, f"metric {shown(written)}", findings, metric=_drop_device(written))
        if side.joined:
            findings.notes.append(_joined_note(side.joined))
    if not side.values and not findings.problems:
        findings.problems.append("file: contains no metric")
    findings.refuse()
    values = side.values
    if side.turned:
        findings.notes.append(TURNED)
        values = {
            metric: {method: _turned(one) for method, one in own.items()} for metric, own in values.items()
        }
    return CorrelationSet(
        name,
        values,
        side.families,
        side.reasons,
        side.n,
        tuple(findings.notes),
        against=side.against,
        scores_turned=side.scores_turned,
        texts=side.texts,
    )


def write_correlations(correlations: CorrelationSet) -> bytes:
    """The correlations as JSON for read_correlations, with higher already better."""
    metrics = {
        metric: {
            **{method: values[method] for method in METHODS if method in values},
            **{
                key: known[metric]
                for key, known in (
                    ("family", correlations.families),
                    ("reason", correlations.reasons),
                    ("n", correlations.n),
                )
                if metric in known
            },
        }
        for metric, values in correlations.values.items()
    }
    whole = {
        "format": FORMAT,
        "version": 1,
        "name": correlations.name,
        "against": correlations.against,
        "scores_turned": correlations.scores_turned,
        "texts": asdict(correlations.texts),
        "metrics": metrics,
        "notes": correlations.notes,
    }
    return (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()


def _drop_device(name: str) -> str:
    """The metric's name without the device: `bertscore(device=cuda,lang=en)` becomes `bertscore(lang=en)`."""
    found = _DEVICE.search(name)
    if found is None:
        return name.strip()
    before, after = name[: found.start()].rstrip(), name[found.end() :].lstrip()
    if regex.match(r"[,;|_&]", after):
        after = after[1:].lstrip()
    else:
        before = regex.sub(r"[,;|_&\s]+$", "", before)
    joined = regex.sub(r"\(\s*\)|\{\s*\}|\[\s*\]", "", before + after)
    return str(joined).strip(" ,;|&_")


def _read_ours(value: JsonObject, side: _Side, findings: FileFindings) -> str | None:
    if value.get("version") != 1:
        findings.problems.append("file: version is not 1; a newer Assay wrote the file")
    metrics = value.get("metrics")
    if not isinstance(metrics, JsonObject):
        findings.problems.append(f"metrics: is {type_name(metrics)}, expected an object")
        return None
    findings.problems += duplicate_problems("metrics", metrics)
    for written, entry in metrics.items():
        _add(written, entry, side, f"metric {shown(written)}", findings)
    against, scores_turned = value.get("against"), value.get("scores_turned", True)
    if against is not None and against not in get_args(Against):
        findings.problems.append(_unknown_target("file"))
    if not isinstance(scores_turned, bool):
        findings.problems.append(f"scores_turned: is {type_name(scores_turned)}, expected true or false")
    side.against, side.scores_turned = cast(Against | None, against), scores_turned is not False
    side.texts = _texts_in(value)
    notes = value.get("notes")
    if isinstance(notes, list):
        findings.notes += [printable_text(note) for note in notes if isinstance(note, str)]
    return name_of(value.get("name"))


def _add_rows(rows: list[object], side: _Side, findings: FileFindings) -> None:
    """Add the rows that `correlate --json` prints."""
    seen: set[Against] = set()
    for where, row in json_objects(rows, "", findings):
        group, against = row.get("group"), row.get("against")
        if not isinstance(group, JsonObject) or not isinstance(group.get("metric"), str):
            findings.problems.append(f'{where}: "group" with a "metric" is missing')
            continue
        if further := [key for key in group if key != "metric"]:
            findings.problems.append(
                f"{where}: is also grouped by {', '.join(map(shown, further))}, expected one correlation for each "
                "metric; correlate without these groups"
            )
            continue
        if against not in get_args(Against):
            findings.problems.append(_unknown_target(where))
            continue
        seen.add(cast(Against, against))
        side.texts = _texts_in(row)
        _add(str(group["metric"]), row, side, where, findings)
    if len(seen) > 1:
        findings.problems.append("file: the correlations differ in `against`, expected the same for all")
    side.turned = seen == {"level"}
    side.against = "-level" if side.turned else next(iter(seen), None)


def _texts_in(value: JsonObject) -> TextOrigin:
    """What a file says about its texts; a field that is no list of names is unknown."""
    texts = value.get("texts")
    if not isinstance(texts, JsonObject):
        return UNKNOWN_ORIGIN
    listed = {one.name: texts.get(one.name) for one in fields(TextOrigin)}
    return TextOrigin(
        **{
            name: tuple(filter(None, (name_of(one) for one in names)))
            for name, names in listed.items()
            if isinstance(names, list)
        }
    )


def _unknown_target(where: str) -> str:
    return f"{where}: against is not one of {', '.join(get_args(Against))}"


def _add(
    written: str, entry: object, side: _Side, where: str, findings: FileFindings, *, metric: str | None = None
) -> None:
    """Check and add one metric's correlations; their signs stay as in the file until all are read.

    metric: the name without the device, if the device is not part of the name.
    """
    metric = name_of(written if metric is None else metric)
    if metric is None:
        findings.problems.append(f"{where}: its name {name_problem(written)}")
        return
    if not isinstance(entry, JsonObject):
        findings.problems.append(
            f"{where}: is {type_name(entry)}, expected an object with pearson, spearman or kendall"
        )
        return
    findings.problems += duplicate_problems(where, entry)
    if metric in side.values and metric == written.strip() == side.written[metric].strip():
        findings.problems.append(f"{where}: metric {shown(metric)} is given more than once")
        return
    values = dict(_coefficients(entry, where, findings))
    if not values:
        findings.problems.append(f"{where}: has none of pearson, spearman, kendall")
    if metric in side.values:
        _join(metric, written, values, side, findings)
    side.values[metric], side.written[metric] = values, written
    family, n = entry.get("family"), entry.get("n")
    side.families[metric] = (name_of(family) if isinstance(family, str) else None) or family_of(metric)
    if values and all(value is None for value in values.values()):
        side.reasons[metric] = _reason(entry)
    if isinstance(n, int) and not isinstance(n, bool) and n >= 0:
        side.n[metric] = n


def _join(
    metric: str, written: str, values: Mapping[Method, float | None], side: _Side, findings: FileFindings
) -> None:
    """Compare a metric's values from another device with the earlier ones. The later ones win, as in Meta-Judge's code."""
    first, differ = side.written[metric], []
    for method in METHODS:
        if method not in values or method not in side.values[metric]:
            continue
        one, other = side.values[metric][method], values[method]
        apart = math.inf if (one is None) != (other is None) else abs((one or 0.0) - (other or 0.0))
        if apart > SAME_VALUE:
            differ.append(f"{method} {_written_value(one)} and {_written_value(other)}")
        else:
            side.joined[metric] = max(apart, side.joined.get(metric, 0.0))
    if differ:
        findings.problems.append(
            f"metrics {_short(first)} and {_short(written)}: the names differ only in the device, but the values are "
            f"{', '.join(differ)}, expected at most {SAME_VALUE:g} apart; remove one of them"
        )


def _short(name: str) -> str:
    """A metric's name for a message; a long one loses its middle, as layers and device are at the end."""
    half = (LONGEST_NAME - 1) // 2
    return shown(name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}")


def _written_value(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"


def _joined_note(joined: Mapping[str, float]) -> str:
    metrics = "1 metric is" if len(joined) == 1 else f"{len(joined)} metrics are"
    return (
        f"{metrics} listed for several devices, with values at most {max(joined.values()):.2g} apart; "
        "the last value is used"
    )


def _reason(entry: JsonObject) -> str:
    """Why a metric has no correlation, from the entry or one of its coefficients."""
    places = [entry, *(value for value in entry.values() if isinstance(value, JsonObject))]
    reasons = [reason for one in places if isinstance(reason := one.get("reason"), str) and reason.strip()]
    return printable_text(reasons[0].strip()) if reasons else UNDEFINED


def _turned(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def _coefficients(
    entry: JsonObject, where: str, findings: FileFindings
) -> Iterator[tuple[Method, float | None]]:
    for key, value in entry.items():
        method = _METHOD_NAMES.get(key.lower())
        if method is None:
            continue
        coefficient, problem = _coefficient(value)
        if problem:
            findings.problems.append(f"{where}, {shown(key)}: {problem}")
        yield method, coefficient


def _coefficient(value: object) -> tuple[float | None, str | None]:
    """The coefficient in a number, null, [r, p] or an object with the number; and the problem, if any."""
    if isinstance(value, list) and value:
        value = value[0]
    elif isinstance(value, JsonObject):
        inner = [key for key in _VALUE_KEYS if key in value]
        if not inner:
            return None, f"is an object without any of {', '.join(_VALUE_KEYS)}"
        value = value[inner[0]]
    if is_undefined(value):
        return None, None
    number = number_in(value)
    if number is not None and math.isinf(number):
        return None, "is infinite, expected a number between -1 and 1, or null"
    if number is None or isinstance(value, str):
        return None, f"is {type_name(value)}, expected a number or null"
    if not -1 - _SLACK <= number <= 1 + _SLACK:
        return None, f"is {number}, expected a correlation between -1 and 1"
    return min(1.0, max(-1.0, number)), None


PAPERS = ("meta-judge", "factual-perturbation", "cross-examination")
DATASETS = (
    *("cus-qa-cs-en", "cus-qa-sk-en", "cus-qa-uk-en", "cus-qa-cs", "cus-qa-sk", "cus-qa-uk", "mocha", "rose"),
    *("wmt21-en-ha", "wmt21-xh-zu", "wmt24-cs-uk", "wmt24-en-cs", "wmt24-en-is"),
)
"""Data sets in the order of Meta-Judge's Table 1; `cus-qa-cs-en` is translated into English, `cus-qa-cs` the original."""
GENERATORS = ("llama-4-scout", "llama-3.3-70b", "qwen-3-30b")
"""The models that damaged the texts."""
SHOTS = ("few", "zero")
PREFIX = "published:"

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "published"
_PER_METRIC = ("meta-judge-4", "meta-judge-5", "meta-judge-6", "meta-judge-7")
_PLACE = ("paper", "table")  # columns that repeat the table's name in every row

Cell = str | int | float | None
"""None: the cell is empty or `nan` in print."""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper."""

    paper: str
    """One of PAPERS."""
    number: int
    """Number in the paper."""
    title: str
    source: str
    """Authors, title and table."""
    notes: str
    """What the figures mean, and what the paper does not say about them."""
    columns: tuple[str, ...]
    """Columns of every row, in the order of the file."""
    rows: tuple[Mapping[str, Cell], ...]
    """Figures as printed. In a row with an `error`, the other columns have the corrected name."""

    @property
    def key(self) -> str:
        """The argument of read_table and the file's name: `meta-judge-1`."""
        return f"{self.paper}-{self.number}"

    @property
    def errors(self) -> tuple[str, ...]:
        """The paper's errors, one sentence each."""
        return _errors_of(self.rows)


def table_keys() -> tuple[str, ...]:
    """The keys of all published tables."""
    return tuple(f"{row['paper']}-{row['table']}" for row in rows_as_printed("tables"))


@lru_cache(maxsize=32)
def read_table(key: str) -> PublishedTable:
    """Read one table. Raises InputError with the nearest keys if it does not exist."""
    if key not in table_keys():
        raise InputError(
            f'There is no published table "{shown(key)}".', _unknown("table", key, table_keys(), "tables")
        )
    about = next(row for row in rows_as_printed("tables") if f"{row['paper']}-{row['table']}" == key)
    rows = rows_as_printed(key)
    columns = tuple(name for name in rows[0] if name not in _PLACE)
    return PublishedTable(
        paper=about["paper"],
        number=int(about["table"]),
        title=about["title"],
        source=about["source"],
        notes=about["notes"],
        columns=columns,
        rows=tuple({name: _cell(row[name]) for name in columns} for row in rows),
    )


def published_names() -> tuple[str, ...]:
    """Every name that published_side takes: for each data set one human side and six synthetic ones."""
    return tuple(PREFIX + ":".join(parts) for data in DATASETS for parts in _sides_of(data))


def published_side(name: str) -> CorrelationSet:
    """Correlations of 28 metrics: `published:cus-qa-cs` with people, `published:cus-qa-cs:qwen-3-30b:zero` with damage.

    Only Spearman correlations, as Meta-Judge prints them (Tables 4 to 7): with human judgements or with minus the
    damage level, rounded to three places. Raises InputError with the nearest names and the list for an unknown name.
    """
    parts = _checked(name)
    column = ":".join(parts[1:]) or "human"
    table, rows = _rows_of_side(parts)
    values = {str(row["metric"]): _number(row[column]) for row in rows}
    target = "human judgements" if column == "human" else "minus the damage level"
    notes = [
        f"{table.source}: Spearman correlations with {target}, rounded to three places. Other methods were not published."
    ]
    notes += error_notes(name)
    return CorrelationSet(
        name=PREFIX + ":".join(parts),
        values={metric: {"spearman": value} for metric, value in values.items()},
        families={str(row["metric"]): str(row["family"]) for row in rows},
        reasons={str(row["metric"]): str(row["why_undefined"]) for row in rows if row[column] is None},
        notes=tuple(notes),
        against="human" if column == "human" else "-level",
        texts=_origin(parts),
    )


def _origin(parts: Sequence[str]) -> TextOrigin:
    """What is known of the texts behind a column. The systems of a human column were not published."""
    about = next(row for row in rows_as_printed("datasets") if row["dataset"] == parts[0])
    return TextOrigin((parts[0],), (about["task"],), (about["language"],), tuple(parts[1:2]))


def error_notes(name: str) -> Mapping[str, frozenset[str]]:
    """Notes on the paper's errors in a published side, each with the metrics whose rows have the error."""
    _, rows = _rows_of_side(_checked(name))
    return {
        f"An error of the paper, corrected here: {error}.": frozenset(
            str(row["metric"]) for row in rows if error in _errors_of([row])
        )
        for error in _errors_of(rows)
    }


def _rows_of_side(parts: Sequence[str]) -> tuple[PublishedTable, tuple[Mapping[str, Cell], ...]]:
    """The table that contains a data set, and the data set's rows."""
    return next(
        (table, rows)
        for table in map(read_table, _PER_METRIC)
        if (rows := tuple(row for row in table.rows if row["dataset"] == parts[0]))
    )


def _sides_of(dataset: str) -> Iterator[tuple[str, ...]]:
    yield (dataset,)
    for generator in GENERATORS:
        for shots in SHOTS:
            yield (dataset, generator, shots)


def _checked(name: str) -> tuple[str, ...]:
    """The parts of a side's name. Raises InputError with every problem."""
    written = name.strip().casefold()
    parts = tuple(written.removeprefix(PREFIX).split(":"))
    known = (("data set", DATASETS), ("generator", GENERATORS), ("shots", SHOTS))
    if not written.startswith(PREFIX) or len(parts) not in (1, 3):
        problems = [
            f"expected {PREFIX}DATASET for human judgements or {PREFIX}DATASET:GENERATOR:SHOTS for damaged texts, "
            f"such as {PREFIX}cus-qa-cs:qwen-3-30b:zero",
            *(f"{what}: {', '.join(names)}" for what, names in known),
        ]
    else:
        problems = [
            problem
            for part, (what, names) in zip(parts, known, strict=False)
            if part not in names
            for problem in _unknown(what, part, names, f"{what}, all")
        ]
        if parts[0] == "wmt24-en-es":
            problems.insert(0, "Meta-Judge's Table 7 prints en-es for en-cs: use published:wmt24-en-cs")
    if problems:
        raise InputError(f'There are no published correlations "{shown(name)}".', problems)
    return parts


def _unknown(what: str, written: str, names: Sequence[str], listed: str) -> list[str]:
    near = nearest_names(written, names)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return [f'no {what} "{shown(written)}"{hint}', f"{listed}: {', '.join(names)}"]


@lru_cache(maxsize=32)
def rows_as_printed(stem: str) -> tuple[dict[str, str], ...]:
    """The rows of a file of published figures, every digit as printed: `meta-judge-1`, or `numbers` for single numbers."""
    with (_FOLDER / f"{stem}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file, strict=True))


def _cell(text: str) -> Cell:
    if text in ("", "nan"):
        return None
    if regex.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if regex.fullmatch(r"-?\d+\.\d+", text) else text


def _number(cell: Cell) -> float | None:
    return None if cell is None else float(cell)


def _errors_of(rows: Sequence[Mapping[str, Cell]]) -> tuple[str, ...]:
    """The errors in the rows, each sentence once, in their order."""
    sentences = (part for row in rows if row.get("error") for part in str(row["error"]).split("; "))
    return tuple(dict.fromkeys(sentences))

"""Correlations that were made elsewhere or earlier, one a metric: our JSON, Meta-Judge's, and what three papers printed."""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath
from typing import cast, get_args

import regex

from core.errors import InputError, nearest_names
from core.formats.scores import family_of
from core.schema.scores import METHODS, Against, CorrelationSet, Method
from core.tables.columns import json_objects
from core.tables.problems import FileFindings
from core.tables.reading import (
    LONGEST_NAME,
    JsonObject,
    decode,
    duplicate_problems,
    is_undefined,
    name_of,
    name_problem,
    number_in,
    numbers_as_json,
    parse_json,
    printable_text,
    reject,
    sha256_of,
    shown,
    type_name,
)

FORMAT = "assay-correlations"
UNDEFINED = "undefined in the file"
TURNED = "signs were turned: the file holds correlations with the raw level"

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
"""By how much rounding may push a coefficient beyond 1."""
SAME_VALUE = 1e-3
"""Correlations of one metric from two devices that are no farther apart are one value. Meta-Judge's published ones differ
by up to 0.0009."""


@dataclass
class _Side:
    """What is read, metric by metric."""

    values: dict[str, dict[Method, float | None]]
    families: dict[str, str]
    reasons: dict[str, str]
    n: dict[str, int]
    written: dict[str, str] = field(default_factory=dict)
    """Metric -> its name in the file, the last one where devices were joined."""
    joined: dict[str, float] = field(default_factory=dict)
    """Metric that the file lists for several devices -> how far its values are apart."""
    turned: bool = False
    against: Against | None = None
    scores_turned: bool = True
    """Whether scores whose lower end is better were turned before; not by another tool."""


def read_correlations(data: bytes, file_name: str, *, synthetic: bool) -> CorrelationSet:
    """The correlations of a file; InputError holds every problem.

    Ours: what write_correlations wrote, or what `correlate --json` prints, grouped by metric alone.
    Meta-Judge's: {metric: {pearson, spearman, kendall}}. synthetic: such a file's correlations are with the raw level
    (higher is worse), so their signs are turned; `device=...` in a metric's name is dropped. Entries that differ in
    the device alone are one metric where their values are at most SAME_VALUE apart, and a problem where they are not.
    """
    findings = FileFindings(file_name, sha256_of(data))
    value, problem = parse_json(numbers_as_json(decode(data, file_name)))
    if problem:
        reject(file_name, [problem])
    side = _Side({}, {}, {}, {})
    name = PurePath(printable_text(file_name)).name or "correlations"
    if isinstance(value, list):
        _from_rows(value, side, findings)
    elif not isinstance(value, JsonObject):
        findings.problems.append(f"file: is {type_name(value)}, expected an object of metrics or a list")
    elif isinstance(value.get("correlations"), list):
        _from_rows(cast(list[object], value["correlations"]), side, findings)
    elif value.get("format") == FORMAT:
        name = _from_ours(value, side, findings) or name
    elif {"estimate", "points"} <= value.keys():
        findings.problems.append(
            "file: it holds a meta-correlation, not one correlation a metric; name a file that correlate wrote"
        )
    else:
        findings.problems += duplicate_problems("file", value)
        side.turned, side.scores_turned = synthetic, False
        side.against = "-level" if synthetic else None
        for written, entry in value.items():
            _add(written, entry, side, f"metric {shown(written)}", findings, metric=_without_device(written))
        if side.joined:
            findings.notes.append(_joined_note(side.joined))
    if not side.values and not findings.problems:
        findings.problems.append("file: it holds no metric")
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
    )


def write_correlations(correlations: CorrelationSet) -> bytes:
    """The correlations as JSON that read_correlations reads again, already oriented."""
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
        "metrics": metrics,
        "notes": correlations.notes,
    }
    return (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()


def _without_device(name: str) -> str:
    """The metric without where it was computed: `bertscore(device=cuda,lang=en)` is `bertscore(lang=en)`."""
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


def _from_ours(value: JsonObject, side: _Side, findings: FileFindings) -> str | None:
    if value.get("version") != 1:
        findings.problems.append("file: version is not 1; it was written by a newer Assay")
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
        findings.problems.append(f"scores_turned: is {type_name(scores_turned)}, expected a truth value")
    side.against, side.scores_turned = cast(Against | None, against), scores_turned is not False
    notes = value.get("notes")
    if isinstance(notes, list):
        findings.notes += [printable_text(note) for note in notes if isinstance(note, str)]
    return name_of(value.get("name"))


def _from_rows(rows: list[object], side: _Side, findings: FileFindings) -> None:
    """What `correlate --json` prints."""
    seen: set[Against] = set()
    for where, row in json_objects(rows, "", findings):
        group, against = row.get("group"), row.get("against")
        if not isinstance(group, JsonObject) or not isinstance(group.get("metric"), str):
            findings.problems.append(f'{where}: "group" with a "metric" is missing')
            continue
        if further := [key for key in group if key != "metric"]:
            findings.problems.append(
                f"{where}: it is grouped by {', '.join(map(shown, further))} too; one side of a meta-correlation has one "
                "correlation a metric: correlate without these groups"
            )
            continue
        if against not in get_args(Against):
            findings.problems.append(_unknown_target(where))
            continue
        seen.add(cast(Against, against))
        _add(str(group["metric"]), row, side, where, findings)
    if len(seen) > 1:
        findings.problems.append("file: its correlations are not all against the same")
    side.turned = seen == {"level"}
    side.against = "-level" if side.turned else next(iter(seen), None)


def _unknown_target(where: str) -> str:
    return f"{where}: against is not one of {', '.join(get_args(Against))}"


def _add(
    written: str, entry: object, side: _Side, where: str, findings: FileFindings, *, metric: str | None = None
) -> None:
    """One metric's correlations, checked; signs as in the file until all are read.

    metric: its name without the device, where that is no part of it.
    """
    metric = name_of(written if metric is None else metric)
    if metric is None:
        findings.problems.append(f"{where}: its name {name_problem(written)}")
        return
    if not isinstance(entry, JsonObject):
        findings.problems.append(
            f"{where}: is {type_name(entry)}, expected an object of pearson, spearman, kendall"
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
    """Compare a metric's values from another device with those before; the later ones stay, as in Meta-Judge's code."""
    first, differ = side.written[metric], []
    for method in METHODS:
        if method not in values or method not in side.values[metric]:
            continue
        one, other = side.values[metric][method], values[method]
        apart = math.inf if (one is None) != (other is None) else abs((one or 0.0) - (other or 0.0))
        if apart > SAME_VALUE:
            differ.append(f"{method} {_said(one)} and {_said(other)}")
        else:
            side.joined[metric] = max(apart, side.joined.get(metric, 0.0))
    if differ:
        findings.problems.append(
            f"metrics {_told(first)} and {_told(written)}: they differ in the device alone, but have {', '.join(differ)}; "
            f"at most {SAME_VALUE:g} apart is one metric: leave one of them out"
        )


def _told(name: str) -> str:
    """A metric's name, a long one without its middle: layers and device stand at its end."""
    half = (LONGEST_NAME - 1) // 2
    return shown(name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}")


def _said(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"


def _joined_note(joined: Mapping[str, float]) -> str:
    metrics = "1 metric is" if len(joined) == 1 else f"{len(joined)} metrics are"
    return f"{metrics} listed for several devices, with values at most {max(joined.values()):.2g} apart: the last one counts"


def _reason(entry: JsonObject) -> str:
    """Why a metric has no correlation, as the metric or one of its coefficients says."""
    told = [entry, *(value for value in entry.values() if isinstance(value, JsonObject))]
    said = [reason for one in told if isinstance(reason := one.get("reason"), str) and reason.strip()]
    return printable_text(said[0].strip()) if said else UNDEFINED


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
    """A number, null, [r, p], or an object with the number; and what is wrong with it."""
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
        return None, f"{number} is no correlation: it has to lie between -1 and 1"
    return min(1.0, max(-1.0, number)), None


PAPERS = ("meta-judge", "factual-perturbation", "cross-examination")
DATASETS = (
    *("cus-qa-cs-en", "cus-qa-sk-en", "cus-qa-uk-en", "cus-qa-cs", "cus-qa-sk", "cus-qa-uk", "mocha", "rose"),
    *("wmt21-en-ha", "wmt21-xh-zu", "wmt24-cs-uk", "wmt24-en-cs", "wmt24-en-is"),
)
"""In the order of 000's Table 1; `cus-qa-cs-en` is translated into English, `cus-qa-cs` the original."""
GENERATORS = ("llama-4-scout", "llama-3.3-70b", "qwen-3-30b")
"""The models that damaged the texts."""
SHOTS = ("few", "zero")
PREFIX = "published:"

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "published"
_PER_METRIC = ("meta-judge-4", "meta-judge-5", "meta-judge-6", "meta-judge-7")
_PLACE = ("paper", "table")  # columns that say of every row what the table says of itself

Cell = str | int | float | None
"""None: nothing is printed there, or `nan`."""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper."""

    paper: str
    """One of PAPERS."""
    number: int
    """As the paper counts."""
    title: str
    source: str
    """Authors, title and table."""
    notes: str
    """What the figures are, and what is not known of them."""
    columns: tuple[str, ...]
    """Of every row, in the order of the file."""
    rows: tuple[Mapping[str, Cell], ...]
    """Figures as printed. A row with an `error` has its right name in the other columns."""

    @property
    def key(self) -> str:
        """What read_table takes, and the file's name: `meta-judge-1`."""
        return f"{self.paper}-{self.number}"

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong in the paper, a sentence an error."""
        return _errors_of(self.rows)


def table_keys() -> tuple[str, ...]:
    """All tables there are."""
    return tuple(f"{row['paper']}-{row['table']}" for row in _rows_of("tables"))


@lru_cache(maxsize=32)
def read_table(key: str) -> PublishedTable:
    """One table. Raises InputError, with the nearest keys, for one that is not there."""
    if key not in table_keys():
        raise InputError(
            f'There is no published table "{shown(key)}".', _unknown("table", key, table_keys(), "tables")
        )
    about = next(row for row in _rows_of("tables") if f"{row['paper']}-{row['table']}" == key)
    rows = _rows_of(key)
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
    """Every side that published_side takes: a human one and six synthetic ones a data set."""
    return tuple(PREFIX + ":".join(parts) for data in DATASETS for parts in _sides_of(data))


def published_side(name: str) -> CorrelationSet:
    """Correlations of 28 metrics: `published:cus-qa-cs` with people, `published:cus-qa-cs:qwen-3-30b:zero` with damage.

    First order is Spearman only, as 000 prints it (Tables 4 to 7), against the human judgement or minus the damage
    level, rounded to three places. Raises InputError, with the nearest names and the list, for unknown names.
    """
    parts = _checked(name)
    column = ":".join(parts[1:]) or "human"
    table, rows = _rows_of_side(parts)
    values = {str(row["metric"]): _number(row[column]) for row in rows}
    target = "human judgements" if column == "human" else "minus the damage level"
    notes = [
        f"{table.source}: Spearman correlations with {target}, rounded to three places; no other method."
    ]
    notes += error_notes(name)
    return CorrelationSet(
        name=PREFIX + ":".join(parts),
        values={metric: {"spearman": value} for metric, value in values.items()},
        families={str(row["metric"]): str(row["family"]) for row in rows},
        reasons={str(row["metric"]): str(row["why_undefined"]) for row in rows if row[column] is None},
        notes=tuple(notes),
        against="human" if column == "human" else "-level",
    )


def error_notes(name: str) -> Mapping[str, frozenset[str]]:
    """The notes of a published side on errors of the paper, each with the metrics whose rows have the error."""
    _, rows = _rows_of_side(_checked(name))
    return {
        f"An error of the paper, put right here: {error}.": frozenset(
            str(row["metric"]) for row in rows if error in _errors_of([row])
        )
        for error in _errors_of(rows)
    }


def _rows_of_side(parts: Sequence[str]) -> tuple[PublishedTable, tuple[Mapping[str, Cell], ...]]:
    """The table that has a data set, and the data set's rows."""
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
    """The name's parts; raises InputError with everything that is wrong with it."""
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
            problems.insert(0, "what the paper's Table 7 calls en-es is en-cs: published:wmt24-en-cs")
    if problems:
        raise InputError(f'There are no published correlations "{shown(name)}".', problems)
    return parts


def _unknown(what: str, written: str, names: Sequence[str], listed: str) -> list[str]:
    near = nearest_names(written, names)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return [f'no {what} "{shown(written)}"{hint}', f"{listed}: {', '.join(names)}"]


@lru_cache(maxsize=32)
def _rows_of(stem: str) -> tuple[dict[str, str], ...]:
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
    """Every sentence once, in the order in which the rows have them."""
    sentences = (part for row in rows if row.get("error") for part in str(row["error"]).split("; "))
    return tuple(dict.fromkeys(sentences))

"""Correlations that were made elsewhere or earlier, one a metric: our JSON, and Meta-Judge's.

Whatever the file's orientation, what is returned is positive for a metric that follows quality.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import cast, get_args

import regex

from core.datasets.cells import is_undefined, number_in, numbers_as_json
from core.datasets.findings import FileFindings
from core.datasets.open_tables import json_objects
from core.datasets.reading import (
    LONGEST_NAME,
    JsonObject,
    decode,
    duplicate_problems,
    name_of,
    name_problem,
    parse_json,
    printable_text,
    reject,
    sha256_of,
    shown,
    type_name,
)
from core.datasets.score_columns import family_of
from core.schema.scores import METHODS, Against, CorrelationSet, Method

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
    if findings.problems:
        reject(file_name, findings.problems)
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

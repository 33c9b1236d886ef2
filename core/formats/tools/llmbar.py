"""LLMBar's pairs and the results of its evaluators (JSON): which of two outputs is better, and a winner in each order."""

from collections.abc import Mapping, Sequence

from core.formats import Format
from core.formats.tools.rows import (
    GOLD,
    TIE,
    changed_with_order,
    checked,
    has_keys,
    majority_decision,
    objects_in,
    objects_of,
    wants_ratings,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, label_of, shown

_OUTPUTS = {"1": "output_1", "2": "output_2", "tie": TIE, "0": TIE, "equal": TIE}
_ORDERS = ("swap = False", "swap = True")


def holds_pairs(data: bytes, file_name: str) -> bool:
    """Whether a file has pairs of LLMBar: no other names of systems or annotators stand beside them."""
    return has_keys(data, "input", "output_1", "output_2", "label") and not has_keys(data, "generator_1")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each pair: texts, the better output, and the evaluator's winner from both orders."""
    rows: list[tuple[str, dict[str, object]]] = []
    decisions, rated = [], wants_ratings(aliases)
    for where, pair in objects_of(data, findings):
        row: dict[str, object] = {"question": pair.get("input")}
        row |= {} if rated else {key: pair.get(key) for key in ("output_1", "output_2")}
        label = _OUTPUTS.get(label_of(pair.get("label")) or "")
        if label is None:
            findings.problems.append(f"{where}: label is {shown(str(pair.get('label')))}, expected 1 or 2")
        row[GOLD if rated else "label"] = label
        if results := list(objects_in(pair, "results", where, findings)):
            # An evaluator may think again; LLMBar counts its last result.
            last = results[-1][1]
            told = [
                _OUTPUTS.get(label_of(one.get("winner")) or "")
                for order in _ORDERS
                if isinstance(one := last.get(order), JsonObject)
            ]
            decisions.append(told)
            row["judge winner"] = majority_decision(told)
        rows.append((where, row))
    checked(rows, findings, "pair")
    changed_with_order(decisions, findings)
    return object_records(rows, aliases, findings)


FORMAT = Format("llmbar", "pairs of LLMBar", holds_pairs, rows=_rows)

"""JudgeBench's pairs and the results of its judges (JSONL): which of two responses is right, and a decision in each order."""

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

_SIDES = {"A>B": "A", "B>A": "B", "A=B": TIE}
_SWAPPED = {"A": "B", "B": "A"}


def holds_pairs(data: bytes, file_name: str) -> bool:
    """Whether a file has pairs of JudgeBench."""
    return has_keys(data, "pair_id", "response_A", "response_B", "label")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each pair: texts, the better response, and the judge's decision from both orders."""
    rows: list[tuple[str, dict[str, object]]] = []
    decisions, rated = [], wants_ratings(aliases)
    for where, pair in objects_of(data, findings):
        row: dict[str, object] = {"item_id": pair.get("pair_id"), "question": pair.get("question")}
        row |= {} if rated else {key: pair.get(key) for key in ("response_A", "response_B")}
        row[GOLD if rated else "label"] = _side(pair.get("label"), f"{where}: label", findings)
        row["subset"] = pair.get("source")
        judged = list(objects_in(pair, "judgments", where, findings))
        if judged:
            told = [
                side if number % 2 == 0 or side is None else _SWAPPED.get(side, side)
                for number, (place, one) in enumerate(judged)
                for side in [_side(one.get("decision"), f"{place}: decision", findings)]
            ]
            decisions.append(told)
            row[f"judge {_judge(pair, [one for _, one in judged])}"] = majority_decision(told)
        rows.append((where, row))
    checked(rows, findings, "pair")
    changed_with_order(decisions, findings)
    return object_records(rows, aliases, findings)


def _side(value: object, place: str, findings: FileFindings) -> str | None:
    """A, B or a tie; None for a judgement that failed."""
    if value is None:
        return None
    side = _SIDES.get("".join(str(value).split()).upper())
    if side is None:
        findings.problems.append(f"{place} is {shown(str(value))}, expected A>B, B>A or A=B")
    return side


def _judge(pair: JsonObject, judged: Sequence[JsonObject]) -> str:
    """The name of the judge: its model, else its method."""
    inner = [one["judgment"] for one in judged if isinstance(one.get("judgment"), JsonObject)]
    models = [
        name for one in inner if isinstance(one, JsonObject) and (name := label_of(one.get("judge_model")))
    ]
    return models[0] if models else label_of(pair.get("judge_name")) or ""


FORMAT = Format("judgebench", "pairs of JudgeBench", holds_pairs, rows=_rows)

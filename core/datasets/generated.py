"""What generation made, out: long CSV and JSONL with one row a level, and Meta-Judge's JSONL."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.datasets.rows import jsonl_bytes
from core.datasets.spreadsheet import csv_bytes
from core.errors import InputError
from core.schema import Material

LONG_COLUMNS = (
    "item_id",
    "question",
    "reference",
    "language",
    "level",
    "source",
    "text",
    "context",
    "origin",
    "reason",
)
"""The first seven are those of a data set's long table."""
RUN_LABELS = ("dataset", "generator", "prompt", "shots")
"""What may stand behind them: labels of the run, by which scores of the texts are grouped."""
_NO_LABELS: Mapping[str, str] = {}
META_JUDGE_KEYS = (
    "id",
    "item_id",
    "question",
    "context",
    "reference",
    "damage_level",
    "text",
    "language",
    "source",
)


@dataclass(frozen=True)
class GeneratedText:
    """One level of one item, as it came out of generation."""

    item_id: str
    level: str
    source: str
    text: str | None
    """None: there is none, `reason` says why."""
    origin: str = ""
    """How it was made: `llm`, `paraphrase`, `verbatim`, or the rules that made it."""
    reason: str = ""


def output_id(item_id: str, level: str) -> str:
    """The id of one damaged text, as in 000's data: `ITEM_levelL`."""
    return f"{item_id}_level{level}"


def long_rows(
    materials: Sequence[Material], texts: Iterable[GeneratedText], labels: Mapping[str, str] = _NO_LABELS
) -> Iterator[dict[str, Any]]:
    """One dictionary with the keys LONG_COLUMNS and those of the labels a level; unknown is None."""
    for material, made in _with_material(materials, texts):
        item = material.item
        yield {
            "item_id": item.item_id,
            "question": item.question,
            "reference": item.reference,
            "language": item.language,
            "level": made.level,
            "source": made.source,
            "text": made.text,
            "context": material.context,
            "origin": made.origin or None,
            "reason": made.reason or None,
            **labels,
        }


def to_long_csv(
    materials: Sequence[Material], texts: Iterable[GeneratedText], labels: Mapping[str, str] = _NO_LABELS
) -> bytes:
    """UTF-8 CSV; a text that a spreadsheet would run as a formula starts with an apostrophe."""
    return csv_bytes([*LONG_COLUMNS, *labels], long_rows(materials, texts, labels))


def to_long_jsonl(
    materials: Sequence[Material], texts: Iterable[GeneratedText], labels: Mapping[str, str] = _NO_LABELS
) -> bytes:
    """The same rows as JSON objects, texts untouched: the one to read again."""
    return jsonl_bytes(long_rows(materials, texts, labels))


def to_meta_judge(materials: Sequence[Material], texts: Iterable[GeneratedText]) -> bytes:
    """One object with the keys META_JUDGE_KEYS a damaged text; a level without a text has no line."""
    return jsonl_bytes(_meta_judge_rows(materials, texts))


def _meta_judge_rows(
    materials: Sequence[Material], texts: Iterable[GeneratedText]
) -> Iterator[dict[str, Any]]:
    for material, made in _with_material(materials, texts):
        if not (made.level.isascii() and made.level.isdigit()):
            raise InputError(
                f"Level {made.level} is no damage level: Meta-Judge's file holds levels 0 to 5. "
                "Write A0-A4 as the paper's JSON or a long table."
            )
        if made.text is None:
            continue
        item = material.item
        yield {
            "id": output_id(item.item_id, made.level),
            "item_id": item.item_id,
            "question": item.question,
            "context": material.context,
            "reference": item.reference,
            "damage_level": int(made.level),
            "text": made.text,
            "language": item.language,
            "source": made.source,
        }


def _with_material(
    materials: Sequence[Material], texts: Iterable[GeneratedText]
) -> Iterator[tuple[Material, GeneratedText]]:
    known = {material.item.item_id: material for material in materials}
    for made in texts:
        if made.item_id not in known:
            raise InputError(f"There is a text for question {made.item_id}, which the questions do not hold.")
        yield known[made.item_id], made

"""AlpacaEval's annotations (`annotations.json`): an annotator's preference between the outputs of two generators."""

from collections.abc import Mapping, Sequence

from core.formats.tools.pairs import item_of, pair_of, pairs_said, person_or_model, rating_row, vote_of
from core.formats.tools.rows import (
    TIE,
    checked,
    has_keys,
    name_in,
    objects_of,
    rating_table,
    tool_format,
    wants_ratings,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import is_nothing, label_of, no_number, number_in

_KEYS = ("instruction", "output_1", "output_2", "generator_1", "generator_2", "preference")
_MIDDLE = 1.5


def holds_annotations(data: bytes, file_name: str) -> bool:
    """Whether a file has annotations of AlpacaEval."""
    return has_keys(data, *_KEYS)


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each annotation: for ratings the vote on a pair, else the pair's texts with the preferred output."""
    ratings: list[tuple[str, dict[str, object]]] = []
    pairs: list[tuple[str, dict[str, object]]] = []
    between, numbers = 0, dict[str, str]()
    for where, one in objects_of(data, findings):
        systems = [name_in(one, key, where, findings) for key in ("generator_1", "generator_2")]
        number = None if is_nothing(one.get("preference")) else number_in(one["preference"])
        if number is None and not is_nothing(one.get("preference")):
            findings.problems.append(f"{where}: preference {no_number(one['preference'])}")
        if None in systems or not isinstance(asked := one.get("instruction"), str):
            continue
        first, second = map(str, systems)
        between += number is not None and number not in (0, 1, _MIDDLE, 2)
        at = None if number is None else 0 if number in (0, _MIDDLE) else 1 if number < _MIDDLE else 2
        annotator = label_of(one.get("annotator")) or "annotator"
        winner = None if at is None else (TIE, first, second)[at]
        pair = pair_of([first, second])
        kind = person_or_model(annotator)
        ratings.append(
            (
                where,
                rating_row(
                    item_of(asked), pair, annotator, vote_of(winner, [first, second]), kind, question=asked
                ),
            )
        )
        texts = repr([asked, *(one.get(key) for key in _KEYS[1:5])])
        row: dict[str, object] = {"item_id": numbers.setdefault(texts, str(len(numbers) + 1))}
        row |= {key: one.get(key) for key in _KEYS} | {"annotator": annotator}
        row["preference"] = None if at is None else (TIE, "output_1", "output_2")[at]
        pairs.append((where, row))
    checked(pairs, findings, "annotation")
    if between:
        findings.notes.append(
            f"preferences between 1 and 2 are a model's certainty: below {_MIDDLE} the first output is preferred, above it the "
            f"second ({between:,} annotations)"
        )
    if wants_ratings(aliases):
        pairs_said({str(row["system"]): None for _, row in ratings}, findings)
        return rating_table(ratings, aliases, findings, "annotation")
    return object_records(pairs, aliases, findings)


FORMAT = tool_format("alpaca_eval", "annotations of AlpacaEval", holds_annotations, _rows)

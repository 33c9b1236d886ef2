"""Masks: neutral names under which a judge may read the pairs of a study that is still blind, and what they stand for.

In each pair the two systems are called answer 1 and answer 2, drawn pair by pair: no total by such a name says anything of a
system. Scores of masked texts are decoded beside the votes, once the study is unblinded.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.errors import InputError
from core.schema.scores import MASK_NOTE, ScoredRow, ScoreTable, mask_code, mask_named
from core.schema.study import Output, Study, StudyRecord
from core.study.analysis_set import check_released
from core.study.design import draw
from core.tables.reading import shown

Masked = tuple[str, str, str]
"""(item, level, system) of a text."""


def masks_of(outputs: Iterable[Output]) -> dict[Masked, str]:
    """The mask of each text of a study of pairs.

    The two texts of a pair are sorted, and a draw says which of them is answer 1. Names and roles of the systems have no part in
    it, nor has the seed of the study, which may change until the first vote: the draw comes from the texts themselves, so
    that the same texts always get the same masks, and with a purpose of its own, so that masks tell nothing of raters' sides.
    """
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for output in outputs:
        pairs.setdefault((output.item_id, output.level), []).append((output.text, output.source))
    pairs = {pair: sorted(texts) for pair, texts in pairs.items()}
    code = _code(pairs)
    masks = {}
    for (item, level), texts in pairs.items():
        odd = draw(int(code, 16), "", item, level, "mask") % 2
        for place, (_, source) in enumerate(texts):
            masks[item, level, source] = mask_named((place + odd) % 2 + 1, code)
    return masks


def _code(pairs: Mapping[tuple[str, str], Sequence[tuple[str, str]]]) -> str:
    """A code of the texts, without their systems, so that masks are never read with another study."""
    texts = [[*pair, *(text for text, _ in pairs[pair])] for pair in sorted(pairs)]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:8]


def unmasked(record: StudyRecord, rows: Sequence[ScoredRow]) -> tuple[ScoredRow, ...]:
    """Rows of scores, with the systems that their masks stand for; rows without a mask stay as they are.

    Raises NotAllowed before the study is unblinded, and InputError if the masks are those of another study.
    """
    found = {code for row in rows if (code := mask_code(row.system)) is not None}
    if not found:
        return tuple(rows)
    check_released(record.study)
    masks = masks_of(record.outputs)
    if others := found - {mask_code(mask) for mask in masks.values()}:
        raise InputError(
            f"The scores are of masked texts (code {', '.join(sorted(others))}) that are not those of study "
            f"{shown(record.study.name)}. Choose the study whose pairs the judge read."
        )
    systems = {(item, level, mask): system for (item, level, system), mask in masks.items()}
    return tuple(
        replace(row, system=systems.get((row.item_id, row.level or "", row.system), row.system))
        for row in rows
    )


def unmasked_table(record: StudyRecord, table: ScoreTable) -> ScoreTable:
    """The table with its rows as `unmasked` decodes them, and without the note on masks. Raises as `unmasked`."""
    rows = unmasked(record, table.rows)
    notes = tuple(note for note in table.notes if note != MASK_NOTE)
    return table if rows == table.rows else replace(table, rows=rows, notes=notes)


HIDDEN = "(hidden)"
"""Stands for a system's name while its study is blind."""


def mask_systems(study: Study, text: str) -> str:
    """A text, such as a line of the log, with what tells the systems hidden until the study is unblinded.

    Hidden are the name of the study's file, which may hold both names joined in any way, and in a study of pairs the systems'
    names in upper or lower case, also between underscores.
    """
    if study.state == "unblinded":
        return text
    text = text.replace(study.dataset_file, HIDDEN) if study.dataset_file else text
    if study.kind != "pairs":
        return text
    names = sorted({study.design.candidate, study.design.comparator}, key=len, reverse=True)
    named = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![^\W_])(?:{named})(?![^\W_])", HIDDEN, text, flags=re.IGNORECASE)

"""Averaged MQM scores of WMT (`*.avg_seg_scores.tsv`): a score for each system and segment, 0 without errors and below with them."""

import re
from collections.abc import Mapping, Sequence

from core.formats.tools.rows import rating_table, refuse_without_texts, tool_format, wants_ratings
from core.tables.columns import Table
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import is_undefined, line_place, no_number, number_in

_TITLE = "averaged MQM scores of WMT"
_SYSTEM, _SCORE, _SEGMENT = "system", "mqm_avg_score", "seg_id"
_COLUMNS = (_SYSTEM, _SCORE, _SEGMENT)
RATER = "mqm people"
"""The rater: the file has the mean of those who rated a segment."""


def holds_scores(data: bytes, file_name: str) -> bool:
    """Whether a file begins with the names of these three columns, between blanks or tabs."""
    head = data[:500].decode("utf-8", "replace").lstrip("\ufeff \n").partition("\n")[0]
    return sorted(head.split()) == sorted(_COLUMNS)


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each rated segment of a system. Blanks and tabs both separate cells, even in one line."""
    if not wants_ratings(aliases):
        refuse_without_texts(findings, _TITLE)
    lines = [line for line in enumerate(decode(data, findings.file_name).splitlines(), 1) if line[1].strip()]
    names = lines[0][1].split()
    rows, unrated = [], 0
    for number, line in lines[1:]:
        where, cells = line_place(number), re.split(r"\s+", line.strip())
        if len(cells) != len(names):
            findings.problems.append(f"{where}: has {len(cells)} cells, expected {len(names)}")
            continue
        own = dict(zip(names, cells, strict=True))
        score = own[_SCORE]
        if is_undefined(score):
            unrated += 1
            continue
        if number_in(score) is None:
            findings.problems.append(f"{where}: {_SCORE} {no_number(score)}")
            continue
        row = {"item_id": own[_SEGMENT], "system": own[_SYSTEM], "rater": RATER, "score": number_in(score)}
        rows.append((where, row))
    if unrated:
        findings.notes.append(f"segments left out because nobody rated them: {unrated:,}")
    return rating_table(rows, aliases, findings, "score")


FORMAT = tool_format("avg_seg_scores", _TITLE, holds_scores, _rows, has_names=False)

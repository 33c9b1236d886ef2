"""Votes on pairs of named systems: one name for a pair in every file, whatever its order there."""

import hashlib
from collections.abc import Mapping, Sequence

from core.formats.tools.rows import MODEL, PERSON, RATER_TYPE, TIE
from core.tables.problems import FileFindings
from core.tables.reading import MOST_NAME, label_of

FIRST, SECOND = "first", "second"
_SHOWN = 60


def pair_of(systems: Sequence[str]) -> str:
    """The name of a pair: its systems in alphabetical order."""
    return " vs ".join(sorted(systems))


def vote_of(winner: str | None, systems: Sequence[str]) -> str | None:
    """A vote as FIRST or SECOND system of the pair's name, or TIE."""
    if winner is None or winner == TIE:
        return winner
    return FIRST if winner == sorted(systems)[0] else SECOND


def item_of(text: str) -> str:
    """A name for a question without an id: its words, cut with a fingerprint where they are too long for a name."""
    plain = " ".join(text.split())
    if len(plain) <= min(_SHOWN, MOST_NAME):
        return plain
    return f"{plain[:_SHOWN]}… {hashlib.sha256(plain.encode()).hexdigest()[:8]}"


def rating_row(
    item: str, pair: str, rater: str, vote: str | None, kind: str | None = None, **more: object
) -> dict[str, object]:
    """The row of one vote, as a rating of the pair. kind: PERSON or MODEL; None if only the name tells."""
    return {
        "item_id": item,
        "system": pair,
        **more,
        "rater": rater,
        **({RATER_TYPE: kind} if kind else {}),
        "score": vote,
    }


def pairs_said(pairs: Mapping[str, object], findings: FileFindings) -> None:
    """Note what FIRST and SECOND mean."""
    names = list(pairs)
    example = f", such as {names[0]}" if len(names) > 1 else f" {names[0]}"
    findings.notes.append(
        f"votes are {FIRST}, {SECOND} or {TIE}, by the alphabetical order of the systems in the pair{example}"
    )


def person_or_model(annotator: object) -> str:
    """The kind of an annotator: a number is a person's, other names a model's unless they say that it is a person."""
    name = label_of(annotator) or ""
    return PERSON if name.isdecimal() or "human" in name.casefold() else MODEL

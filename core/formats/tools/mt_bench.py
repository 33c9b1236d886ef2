"""Judgements of MT-Bench and of the arena (JSON, JSONL): which of two models answered a question better, by people or a model."""

from collections.abc import Mapping, Sequence

from core.formats.tools.pairs import pair_of, pairs_said, rating_row, vote_of
from core.formats.tools.rows import (
    MODEL,
    PERSON,
    TIE,
    changed_with_order,
    has_keys,
    majority_decision,
    name_in,
    objects_of,
    rating_table,
    refuse_without_texts,
    tool_format,
    wants_ratings,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, label_of, shown
from core.tables.roles import who_in

_TITLE = "judgements of MT-Bench"
_TEXTS = ("conversation_a", "conversation_b")


def holds_judgements(data: bytes, file_name: str) -> bool:
    """Whether a file has judgements of MT-Bench, by people or by its own judge in two orders."""
    by_people = has_keys(data, "question_id", "model_a", "model_b", "winner", "judge")
    return by_people or has_keys(data, "question_id", "model_1", "model_2", "g1_winner", "g2_winner")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each judgement: for ratings the vote on a pair, else the table as it is, if it has conversations."""
    found = objects_of(data, findings)
    if not wants_ratings(aliases):
        if found and not any(key in one for _, one in found for key in _TEXTS):
            refuse_without_texts(findings, _TITLE)
        return object_records(found, aliases, findings)
    rows = []
    decisions = []
    for where, one in found:
        systems = [
            name_in(one, key, where, findings)
            for key in (("model_a", "model_b") if "model_a" in one else ("model_1", "model_2"))
        ]
        question = name_in(one, "question_id", where, findings)
        if None in systems or question is None:
            continue
        names = list(map(str, systems))
        orders = [_winner(one, key, names, where, findings) for key in _winners(one)]
        decisions.append(orders)
        turn = label_of(one.get("turn"))
        vote = vote_of(majority_decision(orders), names)
        item = question if turn is None else f"{question}, turn {turn}"
        rater = _rater(one)
        # Its people are called expert, author or arena_user; its judges are models, with the name of a prompt.
        kind = MODEL if isinstance(one.get("judge"), list) or who_in(rater) == "judge" else PERSON
        rows.append((where, rating_row(item, pair_of(names), rater, vote, kind)))
    changed_with_order(decisions, findings)
    if rows:
        pairs_said({str(row["system"]): None for _, row in rows}, findings)
    return rating_table(rows, aliases, findings, "judgement")


def _winners(one: JsonObject) -> tuple[str, ...]:
    return ("winner",) if "winner" in one else ("g1_winner", "g2_winner")


def _winner(
    one: JsonObject, key: str, names: Sequence[str], where: str, findings: FileFindings
) -> str | None:
    """The model that won, a tie, or None for a judge's error."""
    word = (label_of(one.get(key)) or "").strip()
    if word.casefold() in ("", "error"):
        return None
    if word.casefold().startswith(TIE):
        return TIE
    at = {"model_a": 0, "model_1": 0, "model_b": 1, "model_2": 1}.get(word.casefold())
    if at is None and word not in names:
        findings.problems.append(f"{where}: {key} is {shown(word)}, expected model_a, model_b or tie")
        return None
    return word if at is None else names[at]


def _rater(one: JsonObject) -> str:
    """Who judged: a name, or the first of a model and its prompt."""
    judge = one.get("judge")
    return label_of(judge[0] if isinstance(judge, list) and judge else judge) or "judge"


FORMAT = tool_format("mt_bench", _TITLE, holds_judgements, _rows)

"""Scores kept for the next time by signature and text, and the metrics of each scoring run."""

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from core.schema.scores import Metric, Score
from core.store.connection import Row, Store
from core.store.studies import now_utc

FreshScores = tuple[bytes, tuple[str, ...], Sequence[float | None], Mapping[int, str]]
"""Pair, signatures, a value each, and why there is none by the place of the signature."""
_MOST_PAIRS = 500
"""In one query: SQLite takes only so many values."""


def find_scores(
    store: Store, pairs: Sequence[bytes], signatures: Sequence[str]
) -> dict[bytes, dict[str, Score]]:
    """Pair -> signature -> score, for what is kept of these. pairs: hashes of text, reference and source."""
    asked = set(signatures)
    lists = {number: names for names, number in _lists(store).items() if not asked.isdisjoint(names)}
    found: dict[bytes, dict[str, Score]] = {}
    wanted = list(dict.fromkeys(pairs)) if lists else []
    for start in range(0, len(wanted), _MOST_PAIRS):
        values = {f"p{at}": pair for at, pair in enumerate(wanted[start : start + _MOST_PAIRS])}
        marks = ", ".join(f":{name}" for name in values)
        for row in store.rows(
            f"select pair, list, scores, reasons from text_score where pair in ({marks}) order by id", values
        ):
            names = lists.get(row["list"], ())
            reasons = {} if row["reasons"] is None else json.loads(row["reasons"])
            for at, (name, value) in enumerate(zip(names, _unpacked(row["scores"]), strict=False)):
                if name in asked:
                    score = Score(None if math.isnan(value) else value, reasons.get(str(at)))
                    found.setdefault(row["pair"], {}).setdefault(name, score)
    return found


def keep_scores(store: Store, scores: Sequence[FreshScores], calls: Sequence[Row], *, run_id: int) -> None:
    """Keep scores, and put on the run's account what was done for its items: both are on disk when this returns.

    calls: position, key, step, reason, cached, seconds; one a text of an item and group of metrics. A text found in
    the cache that stands on the account already, because the item was begun before, is not counted again.
    """
    now = now_utc()
    with store.writing():
        lists = _numbered(store, {signatures for _, signatures, _, _ in scores})
        store.change_all(
            "insert or ignore into text_score (pair, list, scores, reasons) values (?, ?, ?, ?)",
            (
                (pair, lists[signatures], _packed(values), json.dumps(reasons) if reasons else None)
                for pair, signatures, values, reasons in scores
            ),
        )
        store.change_all(
            "insert into run_call (run_id, position, key, step, reason, cached, seconds, at_utc) "
            "select :run_id, :position, :key, :step, :reason, :cached, :seconds, :at_utc where not :cached or not "
            "exists (select 1 from run_call where run_id = :run_id and position = :position and key = :key)",
            ({**call, "run_id": run_id, "at_utc": now} for call in calls),
        )


def run_metrics(store: Store, run_id: int) -> tuple[Metric, ...]:
    """The metrics of a scoring run with what was loaded; none before it was started."""
    rows = store.rows(
        "select name, signature, family, direction from run_metric where run_id = :id order by position",
        {"id": run_id},
    )
    return tuple(Metric(**row) for row in rows)


def keep_run_metrics(store: Store, run_id: int, metrics: Sequence[Metric]) -> None:
    """Note with what a run scores, before its first text is scored."""
    with store.writing():
        store.change("delete from run_metric where run_id = :id", {"id": run_id})
        store.change_all(
            "insert into run_metric (run_id, position, name, signature, family, direction) "
            "values (:run_id, :position, :name, :signature, :family, :direction)",
            [{"run_id": run_id, "position": at, **asdict(metric)} for at, metric in enumerate(metrics)],
        )


def result_texts(store: Store, run_id: int) -> Iterator[tuple[str, str]]:
    """(item, result as JSON) of all items a run has come to, in the order of the file.

    Results of scoring are small: all at once is far faster than one by one.
    """
    for row in store.rows(
        "select item_id, result from run_item where run_id = :id order by position", {"id": run_id}
    ):
        yield row["item_id"], row["result"]


def texts_come_to(store: Store, run_id: int) -> tuple[int, int]:
    """Texts with a result, and items that have any: of a run of scores, or of a look at judges; no record is read.

    Texts of an item on which the run broke are not among them.
    """
    (row,) = store.rows(
        "select coalesce(sum(n), 0) as texts, count(nullif(n, 0)) as items from (select "
        "coalesce(json_array_length(result, '$.outputs'), json_array_length(result, '$.pieces'), 0) as n "
        "from run_item where run_id = :id and json_valid(result))",
        {"id": run_id},
    )
    return row["texts"], row["items"]


def _lists(store: Store) -> dict[tuple[str, ...], int]:
    """Signatures that were kept together -> their number."""
    rows = store.rows("select id, signatures from score_list")
    return {tuple(json.loads(row["signatures"])): row["id"] for row in rows}


def _numbered(store: Store, wanted: set[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """The same; new ones get a number."""
    known = _lists(store)
    if wanted <= known.keys():
        return known
    store.change_all(
        "insert into score_list (signatures) values (?)",
        [(json.dumps(names),) for names in sorted(wanted - known.keys())],
    )
    return _lists(store)


def _packed(values: Sequence[float | None]) -> bytes:
    return struct.pack(f"<{len(values)}d", *[math.nan if value is None else value for value in values])


def _unpacked(scores: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(scores) // 8}d", scores)

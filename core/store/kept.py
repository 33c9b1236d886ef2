"""Caches of model replies and scores, files uploaded to pages, and the record of every call of a run."""

import hashlib
import json
import math
import struct
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from core.errors import NotFound
from core.schema.runs import StepCost
from core.schema.scores import Metric, Score
from core.store.connection import Row, Store
from core.store.studies import now_utc, read_setting, write_setting


def find_reply(store: Store, key: str) -> Row | None:
    """The cached reply for this key (text, thinking, reason, detail, token counts, seconds), or None."""
    return store.row(
        "select text, thinking, reason, detail, input_tokens, output_tokens, thinking_tokens, seconds from reply "
        "where key = :key",
        {"key": key},
    )


def record_call(
    store: Store, call: Row, reply: Row | None, request: object = None, text: int | None = None
) -> None:
    """Record one call of a run and, if given, cache its reply; both are on disk when this returns.

    call: run_id, position, key, step, reason, cached, tokens, seconds, not_sent, detail. A cached call is recorded once
    per item and step, even if the item was started before or several of its texts need the same call. Two steps with
    the same call are recorded separately.
    request: the request as JSON values, stored once per key. text: number of the item's text; None: the item is one text.
    """
    with store.writing():
        if call["cached"] and (known := _known(store, call)) is not None:
            _asked_by(store, known, text)
            return
        texts = json.dumps([] if text is None else [text])
        store.table("run_call").insert({**call, "texts": texts, "at_utc": now_utc()})
        if reply is not None:
            store.table("reply").upsert({"key": call["key"], "created_utc": now_utc(), **reply}, pk="key")
        if request is not None:
            whole = zlib.compress(json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            store.table("request").insert({"key": call["key"], "asked": whole}, pk="key", ignore=True)


def reject_call(store: Store, call: Row, why: str) -> None:
    """Record why the last reply to this call of an item was unusable. call: run_id, position, key, step."""
    with store.writing():
        store.change(
            "update run_call set rejected = :why where id = (select max(id) from run_call where run_id = :run_id "
            "and position = :position and key = :key and step = :step)",
            {**call, "why": why},
        )


def step_costs(
    store: Store, run_id: int, *, finished: bool = False, position: int | None = None, alone: bool = False
) -> list[StepCost]:
    """Cost of every step of a run, in the order in which the steps first occurred.

    finished: only items that are done or failed, to estimate the cost of others. position: only this item. alone: count an answer
    that another run paid for as a call, once, with the tokens and seconds that it took there. Tokens are
    None if the server did not count them for every answer, because a partial sum would look like the total.
    """
    only = (
        "and position in (select position from run_item where run_id = :id and state in ('done', 'failed'))"
        if finished
        else ""
    )
    if position is not None:
        only += " and position = :position"
    paid = _PAID
    if alone:
        paid = "(not cached or row_number() over (partition by key order by cached, id) = 1)"
    rows = store.rows(
        f"select step, {_SUMS} from (select *, {paid} as paid from run_call where run_id = :id {only}) "
        "group by step order by min(id)",
        {"id": run_id, "position": position},
    )
    return [StepCost(**row) for row in rows]


_PAID = "not cached"
_UNCOUNTED = "paid and {} is null and coalesce(reason, 'cut off') in ('cut off', 'refused', 'empty')"
_SUMS = f"""
    sum(paid) as calls,
    sum(not paid) as cached,
    sum(paid and (reason is not null or rejected is not null)) as unusable,
    case when sum({_UNCOUNTED.format("input_tokens")}) = 0
         then sum(case when paid then input_tokens end) end as input_tokens,
    case when sum({_UNCOUNTED.format("output_tokens")}) = 0
         then sum(case when paid then output_tokens end) end as output_tokens,
    sum(case when paid then seconds else 0 end) as seconds"""
"""Sums over calls, each with `paid`; see StepCost."""


def costs_of_runs(store: Store) -> dict[int, list[StepCost]]:
    """Run -> what `step_costs` returns, for all runs with calls, in one pass over them."""
    found: dict[int, list[StepCost]] = {}
    for row in store.rows(
        f"select run_id, step, {_SUMS} from (select *, {_PAID} as paid from run_call) group by run_id, step "
        "order by run_id, min(id)"
    ):
        found.setdefault(row.pop("run_id"), []).append(StepCost(**row))
    return found


def chunk_costs(store: Store, run_id: int) -> list[StepCost]:
    """Cost of a run over a big table, as its chunks recorded it: `cached` counts texts equal to another of their chunk."""
    rows = store.rows(
        """
        select s.key as step,
               sum(json_extract(s.value, '$.scored')) as calls,
               sum(json_extract(s.value, '$.same')) as cached,
               sum(json_extract(s.value, '$.failed')) as unusable,
               null as input_tokens, null as output_tokens,
               sum(json_extract(s.value, '$.seconds')) as seconds
        from run_item, json_each(run_item.result, '$.steps') as s where run_id = :id group by s.key
        order by min(position)
        """,
        {"id": run_id},
    )
    return [StepCost(**row) for row in rows]


def answers_of_others(store: Store, run_id: int) -> int:
    """Number of calls answered from the cache by replies that other runs paid for.

    Calls shared by items or texts of this run are sent once by the run itself and do not count here.
    """
    row = store.row(
        "select count(*) as n from run_call where run_id = :id and cached "
        "and key not in (select key from run_call where run_id = :id and not cached)",
        {"id": run_id},
    )
    return int(row["n"]) if row else 0


def failed_calls(store: Store, run_id: int, reasons: Collection[str]) -> Counter[str]:
    """Key -> number of the run's calls that failed with one of these reasons."""
    rows = store.rows(
        "select key, count(*) as n from run_call where run_id = :id and not cached "
        "and reason in (select value from json_each(:reasons)) group by key",
        {"id": run_id, "reasons": json.dumps(sorted(reasons))},
    )
    return Counter({row["key"]: row["n"] for row in rows})


def parts_not_sent(store: Store, run_id: int, *, of_cache: bool = False) -> dict[str, int]:
    """Part of a request -> number of requests sent without it because the server refuses it, most frequent first.

    of_cache: also count cached answers, whose requests were sent by another run.
    """
    rows = store.rows(
        "select not_sent, count(*) as n from run_call where run_id = :id and not_sent is not null and cached <= :cached "
        "group by not_sent order by not_sent",
        {"id": run_id, "cached": of_cache},
    )
    found: Counter[str] = Counter()
    for row in rows:
        found.update(dict.fromkeys(row["not_sent"].split(", "), row["n"]))
    return dict(found.most_common())


def item_costs(store: Store, run_id: int, position: int) -> list[Row]:
    """Every call for one item, oldest first: step, reason, rejected, texts, cached, tokens, seconds.

    texts: as in `item_calls`.
    """
    rows = store.rows(
        "select step, reason, rejected, texts, cached, input_tokens, output_tokens, seconds from run_call "
        "where run_id = :id and position = :position order by id",
        {"id": run_id, "position": position},
    )
    return [_read_texts(row) for row in rows]


def item_calls(store: Store, run_id: int, position: int) -> list[Row]:
    """Every call for one item with request and reply: `item_costs` plus asked, reply, thinking, detail and not_sent.

    asked: the request as JSON values; None for calls by an older Assay, which did not store it. reply, thinking: None
    if nothing is stored. texts: numbers of the item's texts that needed the call; None for calls by an older Assay,
    which recorded neither this nor whether the reply was rejected.
    """
    rows = store.rows(
        """
        select call.step, call.reason, call.rejected, call.texts, call.cached, call.input_tokens, call.output_tokens,
               coalesce(call.thinking_tokens, reply.thinking_tokens) as thinking_tokens, call.seconds, call.not_sent,
               coalesce(call.detail, reply.detail, '') as detail, reply.text as reply, reply.thinking, request.asked
        from run_call as call
        left join reply on reply.key = call.key and reply.reason is call.reason
        left join request on request.key = call.key
        where call.run_id = :id and call.position = :position order by call.id
        """,
        {"id": run_id, "position": position},
    )
    return [_read_texts(row) | {"asked": _unpacked(row["asked"])} for row in rows]


def _read_texts(row: Row) -> Row:
    return row | {"texts": None if row["texts"] is None else json.loads(row["texts"])}


def _unpacked(asked: bytes | None) -> Any:
    return None if asked is None else json.loads(zlib.decompress(asked).decode("utf-8", "surrogatepass"))


def _known(store: Store, call: Row) -> Row | None:
    """The last recorded call with this key for the item and step, or None."""
    return store.row(
        "select id, texts from run_call "
        "where run_id = :run_id and position = :position and key = :key and step = :step order by id desc limit 1",
        {name: call[name] for name in ("run_id", "position", "key", "step")},
    )


def _asked_by(store: Store, known: Row, text: int | None) -> None:
    """Record that another text of the item needed the same call."""
    texts = [] if known["texts"] is None else json.loads(known["texts"])
    if text is not None and text not in texts:
        told = json.dumps(sorted([*texts, text]))
        store.change("update run_call set texts = :texts where id = :id", {"id": known["id"], "texts": told})


FreshScores = tuple[bytes, tuple[str, ...], Sequence[float | None], Mapping[int, str]]
"""(pair, signatures, one value per signature, reason for a missing value by index of the signature)."""
_MOST_PAIRS = 500
"""Most pairs in one query: SQLite limits the number of values."""


def find_scores(
    store: Store, pairs: Sequence[bytes], signatures: Sequence[str]
) -> dict[bytes, dict[str, Score]]:
    """Pair -> signature -> cached score. pairs: hashes of text, reference and source text."""
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
            for at, (name, value) in enumerate(zip(names, _numbers(row["scores"]), strict=False)):
                if name in asked:
                    score = Score(None if math.isnan(value) else value, reasons.get(str(at)))
                    found.setdefault(row["pair"], {}).setdefault(name, score)
    return found


def keep_scores(store: Store, scores: Sequence[FreshScores], calls: Sequence[Row], *, run_id: int) -> None:
    """Cache scores and record the run's calls; both are on disk when this returns.

    calls: position, key, step, reason, cached, seconds; one per text of an item and group of metrics. A cached text is
    not recorded again if the item was started before.
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
    """The metrics of a scoring run, as loaded; empty before its start."""
    rows = store.rows(
        "select name, signature, family, direction from run_metric where run_id = :id order by position",
        {"id": run_id},
    )
    return tuple(Metric(**row) for row in rows)


def keep_run_metrics(store: Store, run_id: int, metrics: Sequence[Metric]) -> None:
    """Record the metrics of a run before its first text is scored."""
    with store.writing():
        store.change("delete from run_metric where run_id = :id", {"id": run_id})
        store.change_all(
            "insert into run_metric (run_id, position, name, signature, family, direction) "
            "values (:run_id, :position, :name, :signature, :family, :direction)",
            [{"run_id": run_id, "position": at, **asdict(metric)} for at, metric in enumerate(metrics)],
        )


def result_texts(store: Store, run_id: int) -> Iterator[tuple[str, str]]:
    """(item, result as JSON) for all items that a run has reached, in the order of the file.

    Scoring results are small, so reading all at once is far faster than one by one.
    """
    for row in store.rows(
        "select item_id, result from run_item where run_id = :id order by position", {"id": run_id}
    ):
        yield row["item_id"], row["result"]


def results_since(store: Store, run_id: int, since_utc: str = "") -> list[Row]:
    """position, item_id, result (JSON) and finished_utc of the items reached at that time or later, in the order of the file."""
    return store.rows(
        "select position, item_id, result, finished_utc from run_item "
        "where run_id = :id and finished_utc >= :since order by position",
        {"id": run_id, "since": since_utc},
    )


def texts_come_to(store: Store, run_id: int) -> tuple[int, int]:
    """(texts with a result, items with any result) of a run of scores or a judge audit, counted in SQL.

    Texts of an item at which the run failed are not included.
    """
    (row,) = store.rows(
        "select coalesce(sum(n), 0) as texts, count(nullif(n, 0)) as items from (select "
        "coalesce(json_array_length(result, '$.outputs'), json_array_length(result, '$.pieces'), 0) as n "
        "from run_item where run_id = :id and json_valid(result))",
        {"id": run_id},
    )
    return row["texts"], row["items"]


def _lists(store: Store) -> dict[tuple[str, ...], int]:
    """Tuple of signatures -> number of the stored list."""
    rows = store.rows("select id, signatures from score_list")
    return {tuple(json.loads(row["signatures"])): row["id"] for row in rows}


def _numbered(store: Store, wanted: set[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Tuple of signatures -> number of the stored list, storing new lists first."""
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


def _numbers(scores: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(scores) // 8}d", scores)


KeptKind = Literal["ratings", "scores", "correlations"]


@dataclass(frozen=True)
class KeptFile:
    """A stored file, without its bytes."""

    file_id: int
    kind: KeptKind
    file_name: str
    sha256: str
    options: Mapping[str, object]
    """Options for reading it, as JSON values, such as the dimension or that lower is better."""
    created_utc: str


_COLUMNS = "id, kind, file_name, sha256, options, created_utc"


def keep_file(
    store: Store, kind: KeptKind, file_name: str, data: bytes, options: Mapping[str, object] | None = None
) -> KeptFile:
    """Store a file; the same bytes of the same kind are stored once, with the newest name and options."""
    row = {
        "kind": kind,
        "file_name": file_name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "options": json.dumps(dict(options or {}), ensure_ascii=False, sort_keys=True),
    }
    with store.writing():
        known = store.row("select id from kept_file where kind = :kind and sha256 = :sha256", row)
        if known is None:
            number = _last_number(store) + 1
            store.table("kept_file").insert({"id": number, **row, "data": data, "created_utc": now_utc()})
        else:
            number = known["id"]
            store.table("kept_file").update(number, {"file_name": file_name, "options": row["options"]})
    return get_file(store, number)


def kept_files(store: Store, kind: KeptKind | None = None) -> list[KeptFile]:
    """Stored files of one kind, or all; newest first."""
    rows = store.rows(
        f"select {_COLUMNS} from kept_file where :kind is null or kind = :kind order by id desc",
        {"kind": kind},
    )
    return [_file(row) for row in rows]


def get_file(store: Store, file_id: int) -> KeptFile:
    """The stored file with this number. Raises NotFound."""
    row = store.row(f"select {_COLUMNS} from kept_file where id = :id", {"id": file_id})
    if row is None:
        raise NotFound(f"The stored file {file_id} was deleted. Choose another file, or upload it again.")
    return _file(row)


def file_data(store: Store, file_id: int) -> bytes:
    """The file's original bytes. Raises NotFound."""
    get_file(store, file_id)
    row = store.row("select data from kept_file where id = :id", {"id": file_id})
    return bytes(row["data"]) if row else b""


def delete_file(store: Store, file_id: int) -> None:
    """Delete a file; does nothing if it does not exist. No later file gets its number, because links name numbers."""
    with store.writing():
        write_setting(store, _LAST_NUMBER, str(_last_number(store)))
        store.change("delete from kept_file where id = :id", {"id": file_id})


_LAST_NUMBER = "last_kept_file"


def _last_number(store: Store) -> int:
    """The highest number that a file ever had; 0 before the first."""
    row = store.row("select max(id) as last from kept_file")
    return max((row and row["last"]) or 0, int(read_setting(store, _LAST_NUMBER) or 0))


def _file(row: Row) -> KeptFile:
    values = dict(row)
    return KeptFile(file_id=values.pop("id"), **values | {"options": json.loads(values["options"])})

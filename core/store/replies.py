"""Replies of models, kept for the next time, and the account of every call a run made."""

import json
import zlib
from collections import Counter

from core.schema import StepCost
from core.store.connection import Row, Store
from core.store.studies import now_utc


def find_reply(store: Store, key: str) -> Row | None:
    """The reply kept under this key: its text, thinking, reason, detail, counts of tokens and seconds."""
    return store.row(
        "select text, thinking, reason, detail, input_tokens, output_tokens, thinking_tokens, seconds from reply "
        "where key = :key",
        {"key": key},
    )


def record_call(store: Store, call: Row, reply: Row | None, asked: object = None) -> None:
    """Put one call on a run's account and, where given, keep its reply: both are on disk when this returns.

    call: run_id, position, key, step, reason, cached, tokens, seconds, not_sent. A cached call is not
    counted again where its item and step have the same call on the account already: because the item was begun before,
    or because several of its texts ask the same. Two steps that ask the same are on the account each.
    asked: the request as JSON values; kept once a key.
    """
    with store.writing():
        if call["cached"] and _known(store, call):
            return
        store.table("run_call").insert({**call, "at_utc": now_utc()})
        if reply is not None:
            store.table("reply").upsert({"key": call["key"], "created_utc": now_utc(), **reply}, pk="key")
        if asked is not None:
            whole = zlib.compress(json.dumps(asked, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            store.table("request").insert({"key": call["key"], "asked": whole}, pk="key", ignore=True)


def reject_call(store: Store, call: Row, why: str) -> None:
    """Note why the last reply to this call of an item could not be used. call: run_id, position, key, step."""
    with store.writing():
        store.change(
            "update run_call set rejected = :why where id = (select max(id) from run_call where run_id = :run_id "
            "and position = :position and key = :key and step = :step)",
            {**call, "why": why},
        )


def step_costs(
    store: Store, run_id: int, *, finished: bool = False, position: int | None = None
) -> list[StepCost]:
    """What every step of a run cost, in the order in which the steps first came.

    finished: only for items that are done or failed, to tell from them what others will cost. position: only for this
    item. Tokens are None where the server did not count them for every answer: a part of them would look like all.
    """
    only = (
        "and position in (select position from run_item where run_id = :id and state in ('done', 'failed'))"
        if finished
        else ""
    )
    if position is not None:
        only += " and position = :position"
    uncounted = "not cached and {} is null and coalesce(reason, 'cut off') in ('cut off', 'refused', 'empty')"
    rows = store.rows(
        f"""
        select step,
               sum(not cached) as calls,
               sum(cached) as cached,
               sum(not cached and (reason is not null or rejected is not null)) as unusable,
               case when sum({uncounted.format("input_tokens")}) = 0
                    then sum(case when not cached then input_tokens end) end as input_tokens,
               case when sum({uncounted.format("output_tokens")}) = 0
                    then sum(case when not cached then output_tokens end) end as output_tokens,
               sum(case when not cached then seconds else 0 end) as seconds
        from run_call where run_id = :id {only} group by step order by min(id)
        """,
        {"id": run_id, "position": position},
    )
    return [StepCost(**row) for row in rows]


def answers_of_others(store: Store, run_id: int) -> int:
    """Calls answered from the cache for which the run itself never asked the model: other runs paid for them.

    What items or texts of one run share is asked once by the run itself, and is none of these.
    """
    row = store.row(
        "select count(*) as n from run_call where run_id = :id and cached "
        "and key not in (select key from run_call where run_id = :id and not cached)",
        {"id": run_id},
    )
    return int(row["n"]) if row else 0


def parts_not_sent(store: Store, run_id: int) -> dict[str, int]:
    """Part of a request -> calls of the run that went without, because the server refuses it; most frequent first."""
    rows = store.rows(
        "select not_sent, count(*) as n from run_call where run_id = :id and not_sent is not null group by not_sent "
        "order by not_sent",
        {"id": run_id},
    )
    found: Counter[str] = Counter()
    for row in rows:
        found.update(dict.fromkeys(row["not_sent"].split(", "), row["n"]))
    return dict(found.most_common())


def item_costs(store: Store, run_id: int, position: int) -> list[Row]:
    """Every call made for one item, oldest first: step, reason, cached, input_tokens, output_tokens, seconds."""
    return store.rows(
        "select step, reason, cached, input_tokens, output_tokens, seconds from run_call "
        "where run_id = :id and position = :position order by id",
        {"id": run_id, "position": position},
    )


def _known(store: Store, call: Row) -> bool:
    return (
        store.row(
            "select 1 as known from run_call "
            "where run_id = :run_id and position = :position and key = :key and step = :step",
            {name: call[name] for name in ("run_id", "position", "key", "step")},
        )
        is not None
    )

"""Replies of models, kept for the next time, and the account of every call a run made."""

import json
import zlib
from collections import Counter
from typing import Any

from core.schema.runs import StepCost
from core.store.connection import Row, Store
from core.store.studies import now_utc


def find_reply(store: Store, key: str) -> Row | None:
    """The reply kept under this key: its text, thinking, reason, detail, counts of tokens and seconds."""
    return store.row(
        "select text, thinking, reason, detail, input_tokens, output_tokens, thinking_tokens, seconds from reply "
        "where key = :key",
        {"key": key},
    )


def record_call(
    store: Store, call: Row, reply: Row | None, asked: object = None, text: int | None = None
) -> None:
    """Put one call on a run's account and, where given, keep its reply: both are on disk when this returns.

    call: run_id, position, key, step, reason, cached, tokens, seconds, not_sent, detail. A cached call is not
    counted again where its item and step have the same call on the account already: because the item was begun before,
    or because several of its texts ask the same. Two steps that ask the same are on the account each.
    asked: the request as JSON values; kept once a key. text: which of the item's texts asked; None: it is one text.
    """
    with store.writing():
        if call["cached"] and (known := _known(store, call)) is not None:
            _asked_by(store, known, text)
            return
        texts = json.dumps([] if text is None else [text])
        store.table("run_call").insert({**call, "texts": texts, "at_utc": now_utc()})
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


def parts_not_sent(store: Store, run_id: int, *, of_cache: bool = False) -> dict[str, int]:
    """Part of a request -> requests of the run that went without, because the server refuses it; most frequent first.

    of_cache: count answers from the cache too, whose requests went without it in another run.
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
    """Every call made for one item, oldest first: step, reason, rejected, texts, cached, tokens, seconds.

    texts: as `item_calls` has it.
    """
    rows = store.rows(
        "select step, reason, rejected, texts, cached, input_tokens, output_tokens, seconds from run_call "
        "where run_id = :id and position = :position order by id",
        {"id": run_id, "position": position},
    )
    return [_with_texts(row) for row in rows]


def item_calls(store: Store, run_id: int, position: int) -> list[Row]:
    """The same calls with what was asked and what came back: besides, asked, reply, thinking, detail and not_sent.

    asked: the request as JSON values; None: an older Assay made the call and did not keep it. reply, thinking: None
    where nothing came that is kept. texts: numbers of the item's texts that asked; None: an older Assay made the call,
    and noted neither this nor whether the reply was rejected.
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
    return [_with_texts(row) | {"asked": _unpacked(row["asked"])} for row in rows]


def _with_texts(row: Row) -> Row:
    return row | {"texts": None if row["texts"] is None else json.loads(row["texts"])}


def _unpacked(asked: bytes | None) -> Any:
    return None if asked is None else json.loads(zlib.decompress(asked).decode("utf-8", "surrogatepass"))


def _known(store: Store, call: Row) -> Row | None:
    """The last such call of the item and step."""
    return store.row(
        "select id, texts from run_call "
        "where run_id = :run_id and position = :position and key = :key and step = :step order by id desc limit 1",
        {name: call[name] for name in ("run_id", "position", "key", "step")},
    )


def _asked_by(store: Store, known: Row, text: int | None) -> None:
    """Note that another text of the item has asked the same."""
    texts = [] if known["texts"] is None else json.loads(known["texts"])
    if text is not None and text not in texts:
        told = json.dumps(sorted([*texts, text]))
        store.change("update run_call set texts = :texts where id = :id", {"id": known["id"], "texts": told})

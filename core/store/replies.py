"""Replies of models, kept for the next time, and the account of every call a run made."""

from core.schema import StepCost
from core.store.connection import Row, Store
from core.store.studies import now_utc


def find_reply(store: Store, key: str) -> Row | None:
    """The reply kept under this key: text, reason, detail, input_tokens, output_tokens, seconds."""
    return store.row(
        "select text, reason, detail, input_tokens, output_tokens, seconds from reply where key = :key",
        {"key": key},
    )


def record_call(store: Store, call: Row, reply: Row | None) -> None:
    """Put one call on a run's account and, where given, keep its reply: both are on disk when this returns.

    call: run_id, position, key, step, reason, cached, input_tokens, output_tokens, seconds. A cached call that
    stands on the run's account already, because the item was begun before, is not counted again.
    """
    with store.writing():
        if call["cached"] and _known(store, call):
            return
        store.table("run_call").insert({**call, "at_utc": now_utc()})
        if reply is not None:
            store.table("reply").upsert({"key": call["key"], "created_utc": now_utc(), **reply}, pk="key")


def step_costs(store: Store, run_id: int) -> list[StepCost]:
    """What every step of a run cost, in the order in which the steps first came."""
    rows = store.rows(
        """
        select step,
               sum(not cached) as calls,
               sum(cached) as cached,
               sum(not cached and reason is not null) as unusable,
               sum(case when not cached then input_tokens end) as input_tokens,
               sum(case when not cached then output_tokens end) as output_tokens,
               sum(case when not cached then seconds else 0 end) as seconds
        from run_call where run_id = :id group by step order by min(id)
        """,
        {"id": run_id},
    )
    return [StepCost(**row) for row in rows]


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
            "select 1 as known from run_call where run_id = :run_id and position = :position and key = :key",
            {name: call[name] for name in ("run_id", "position", "key")},
        )
        is not None
    )

"""Runs and their results by item. Results are saved at once, because a run can be killed at any moment."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from core.errors import NotAllowed, NotFound
from core.installation import COMMAND
from core.schema.runs import Run, RunItem, RunState
from core.store.connection import Row, Store
from core.store.studies import now_utc

Owner = tuple[int, str]
"""A claim on a run: (process, time of the claim)."""

_COLUMNS = (
    'id, kind, state, settings, running, data_file, data_sha256, n_items, "limit", created_utc, app_version, '
    "started_utc, finished_utc, beat_utc, process, cancel, message, worked_seconds, start_seconds"
)


def insert_run(store: Store, run: Run, data: bytes) -> Run:
    """Store a new run with its file; return it with its number."""
    same = ("kind", "state", "data_file", "data_sha256", "n_items", "limit", "app_version")
    row = {name: getattr(run, name) for name in same} | {
        "settings": _json(run.settings),
        "running": _json(run.running),
        "created_utc": run.created_utc or now_utc(),
    }
    with store.writing():
        number: int = store.table("run").insert(row).last_rowid or 0
        store.change("insert into run_data values (:id, :data)", {"id": number, "data": data})
    return get_run(store, number)


def get_run(store: Store, run_id: int) -> Run:
    """The run with this number. Raises NotFound."""
    storable = abs(run_id) < 2**63  # SQLite refuses larger numbers
    row = store.row(f"select {_COLUMNS} from run where id = :id", {"id": run_id}) if storable else None
    if row is None:
        raise NotFound(f"There is no run {run_id}. `{COMMAND} runs list` shows all runs.")
    return _run(row)


def list_runs(store: Store, kinds: tuple[str, ...] = ()) -> list[Run]:
    """All runs, or those of the given kinds; newest first."""
    rows = store.rows(f"select {_COLUMNS} from run order by id desc")
    return [_run(row) for row in rows if not kinds or row["kind"] in kinds]


def run_data(store: Store, run_id: int) -> bytes:
    """The original bytes of the run's file."""
    row = store.row("select data from run_data where run_id = :id", {"id": run_id})
    return bytes(row["data"]) if row else b""


def claim_run(store: Store, run_id: int, process: int) -> Owner:
    """Record that `process` now works on the run; return the claim, which all later writes need.

    The caller has checked in the same transaction that no other process works on it. Items without an answer become
    open again.
    """
    owner = (process, now_utc())
    with store.writing():
        store.change("delete from run_item where run_id = :id and state = 'again'", {"id": run_id})
        _count_time(store, run_id, "beat_utc")  # the time of a killed process
        store.table("run").update(
            run_id,
            {
                "state": "running",
                "process": process,
                "started_utc": owner[1],
                "beat_utc": owner[1],
                "finished_utc": None,
                "start_seconds": None,
                "message": "",
            },
        )
    return owner


def check_owner(store: Store, run_id: int, owner: Owner) -> None:
    """Raise NotAllowed if another process has taken over the run; this one must not write any more."""
    row = store.row("select process, started_utc from run where id = :id", {"id": run_id})
    if row is None or (row["process"], row["started_utc"]) != owner:
        raise NotAllowed(f"Run {run_id} was taken over by another process; this one has stopped.")


def change_run(
    store: Store, run_id: int, *, running: dict[str, object] | None = None, limit: int | None = None
) -> None:
    """Change the options and item limit of a run before it is resumed."""
    with store.writing():
        store.table("run").update(run_id, {"limit": limit, "cancel": 0})
        if running is not None:
            store.table("run").update(run_id, {"running": _json(running)})


def beat(store: Store, run_id: int, owner: Owner) -> bool:
    """Record that the run's process is alive; return whether it should stop. Raises NotAllowed: see check_owner."""
    with store.writing():
        check_owner(store, run_id, owner)
        store.table("run").update(run_id, {"beat_utc": now_utc()})
    row = store.row("select cancel from run where id = :id", {"id": run_id})
    return bool(row and row["cancel"])


def note_start(store: Store, run_id: int, seconds: float, owner: Owner) -> None:
    """Record the time until the first item could start. Raises NotAllowed: see check_owner."""
    with store.writing():
        check_owner(store, run_id, owner)
        store.table("run").update(run_id, {"start_seconds": round(seconds, 3)})


def note_message(store: Store, run_id: int, message: str, owner: Owner) -> None:
    """Record what a running run is doing, in one sentence. Raises NotAllowed: see check_owner."""
    with store.writing():
        check_owner(store, run_id, owner)
        store.table("run").update(run_id, {"message": message})


def ask_to_stop(store: Store, run_id: int) -> None:
    """Request a run to stop; its process checks this flag."""
    with store.writing():
        store.table("run").update(run_id, {"cancel": 1})


def _count_time(store: Store, run_id: int, until: str) -> None:
    """Add the working time since the last start, if the run is running."""
    store.change(
        f"update run set worked_seconds = worked_seconds + max(0, round((julianday({until}) - julianday(started_utc)) "
        "* 86400, 3)) where id = :id and state = 'running'",
        {"id": run_id, "now": now_utc()},
    )


def delete_run(store: Store, run_id: int) -> None:
    """Delete a run without items and calls; other runs are left as they are."""
    with store.writing():
        store.change(
            "delete from run where id = :id and not exists (select 1 from run_item where run_id = :id) "
            "and not exists (select 1 from run_call where run_id = :id)",
            {"id": run_id},
        )


def finish_run(
    store: Store, run_id: int, state: RunState, message: str = "", *, owner: Owner | None = None
) -> None:
    """Record the end of work on a run; with `owner`, only if it still has the claim."""
    with store.writing():
        if owner is not None:
            check_owner(store, run_id, owner)
        _count_time(store, run_id, ":now")
        store.table("run").update(
            run_id,
            {"state": state, "message": message, "finished_utc": now_utc(), "process": None, "cancel": 0},
        )


def save_items(store: Store, run_id: int, items: Sequence[RunItem], owner: Owner) -> None:
    """Save results of some items; all are on disk when this returns. Raises NotAllowed: see check_owner."""
    now = now_utc()
    with store.writing():
        check_owner(store, run_id, owner)
        # sqlite-utils inspects the table before each upsert, which takes longer than scoring a short text.
        store.change_all(
            "insert or replace into run_item (run_id, position, item_id, state, result, failures, seconds, "
            "finished_utc) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(run_id, item.position, item.item_id, item.state),
                    *(_json(item.result), _json(item.failures), item.seconds, now),
                )
                for item in items
            ),
        )


def item_states(store: Store, run_id: int) -> dict[int, str]:
    """Position -> state, for the items that the run has reached."""
    rows = store.rows("select position, state from run_item where run_id = :id", {"id": run_id})
    return {row["position"]: row["state"] for row in rows}


def item_position(store: Store, run_id: int, item_id: str) -> int | None:
    """An item's place in the file, from 0; None if the run has not reached it."""
    row = store.row(
        "select position from run_item where run_id = :id and item_id = :item",
        {"id": run_id, "item": item_id},
    )
    return None if row is None else int(row["position"])


def run_items(store: Store, run_id: int) -> Iterator[RunItem]:
    """Results of the run's items, in the order of the file; one at a time, because they can be large."""
    rows = store.rows("select position from run_item where run_id = :id order by position", {"id": run_id})
    for row in rows:
        if (item := run_item(store, run_id, row["position"])) is not None:
            yield item


def run_item(store: Store, run_id: int, position: int) -> RunItem | None:
    """Result of one item; None if the run has not reached it."""
    row = store.row(
        "select * from run_item where run_id = :id and position = :position",
        {"id": run_id, "position": position},
    )
    return None if row is None else _item(row)


def item_counts(store: Store, run_id: int) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """(number of items by state, number of failures by (step, reason))."""
    states = store.rows(
        "select state, count(*) as n from run_item where run_id = :id group by state", {"id": run_id}
    )
    failures = store.rows(
        "select json_extract(f.value, '$[0]') as step, json_extract(f.value, '$[1]') as reason, count(*) as n "
        "from run_item, json_each(run_item.failures) as f where run_id = :id and failures <> '[]' "
        "group by 1, 2 order by 3 desc, 1, 2",
        {"id": run_id},
    )
    return (
        {row["state"]: row["n"] for row in states},
        {(row["step"], row["reason"]): row["n"] for row in failures},
    )


def n_finished_since(store: Store, run_id: int, since_utc: str = "") -> int:
    """Number of items that the run has reached, all or since `since_utc`; reads only an index."""
    row = store.row(
        "select count(*) as n from run_item where run_id = :id and finished_utc >= :since",
        {"id": run_id, "since": since_utc},
    )
    return int(row["n"]) if row else 0


def last_finished(store: Store, run_id: int) -> tuple[int, str | None]:
    """(number of items reached, time of the last one); changes whenever a new result is saved."""
    (row,) = store.rows(
        "select count(*) as n, max(finished_utc) as last from run_item where run_id = :id", {"id": run_id}
    )
    return row["n"], row["last"]


def item_times(store: Store, run_id: int) -> list[tuple[float, float]]:
    """(start, end) of the work on each finished item, in Unix seconds; items without an answer are left out."""
    rows = store.rows(
        "select (julianday(finished_utc) - 2440587.5) * 86400 as ended, seconds from run_item "
        "where run_id = :id and state <> 'again'",
        {"id": run_id},
    )
    return [(row["ended"] - row["seconds"], row["ended"]) for row in rows]


def calls_of_items(store: Store, run_id: int) -> list[tuple[int, float, float]]:
    """(position, seconds, tokens) of every request for finished items; uncounted tokens are 0."""
    rows = store.rows(
        "select position, seconds, coalesce(input_tokens, 0) + coalesce(output_tokens, 0) as tokens from run_call "
        "where run_id = :id and not cached "
        "and position in (select position from run_item where run_id = :id and state in ('done', 'failed'))",
        {"id": run_id},
    )
    return [(row["position"], row["seconds"], row["tokens"]) for row in rows]


@dataclass(frozen=True)
class NewCalls:
    """Requests answered since the previous call of `calls_since`."""

    of_items: Counter[int]
    """Position of an item -> number of requests."""
    input_tokens: int
    """Tokens of requests for which the server counted them."""
    output_tokens: int
    last: int
    """Value of `after` for the next call."""


def calls_since(store: Store, run_id: int, after: int, since_utc: str = "") -> NewCalls:
    """Requests of a run after call number `after` and not before `since_utc`, without answers from the cache.

    after: 0, or `last` of an earlier result, to read only new calls.
    """
    last = store.row("select coalesce(max(id), 0) as last from run_call")
    # The plus prevents the use of the index on runs, which would read all calls of this run.
    by = "id > :after and +run_id = :id" if after else "run_id = :id"
    rows = store.rows(
        "select position, count(*) as n, coalesce(sum(input_tokens), 0) as tokens_in, coalesce(sum(output_tokens), 0) "
        f"as tokens_out from run_call where {by} and id <= :last and not cached and at_utc >= :since group by position",
        {"id": run_id, "after": after, "last": last["last"] if last else 0, "since": since_utc},
    )
    return NewCalls(
        Counter({row["position"]: row["n"] for row in rows}),
        sum(row["tokens_in"] for row in rows),
        sum(row["tokens_out"] for row in rows),
        last["last"] if last else after,
    )


def finished_of(store: Store, run_id: int, positions: Collection[int], since_utc: str) -> set[int]:
    """Those of these items that the run reached since `since_utc`."""
    rows = store.rows(
        "select position from run_item where run_id = :id and finished_utc >= :since "
        "and position in (select value from json_each(:positions))",
        {"id": run_id, "since": since_utc, "positions": json.dumps(list(positions))},
    )
    return {row["position"] for row in rows}


_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode


def _run(row: Row) -> Run:
    values = dict(row)
    values["run_id"] = values.pop("id")
    for name in ("settings", "running"):
        values[name] = json.loads(values[name])
    values["cancel"] = bool(values["cancel"])
    return Run(**values)


def _item(row: Row) -> RunItem:
    values = {name: value for name, value in row.items() if name != "run_id"}
    values["result"] = json.loads(values["result"])
    values["failures"] = tuple((step, reason) for step, reason in json.loads(values["failures"]))
    return RunItem(**values)

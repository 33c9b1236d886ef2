"""Runs and what they made of each item. Results are written as they come: a run can die at any moment."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from core.errors import NotAllowed, NotFound
from core.schema.runs import Run, RunItem, RunState
from core.store.connection import Row, Store
from core.store.studies import now_utc

Owner = tuple[int, str]
"""A claim on a run: the process, and when it made it."""

_COLUMNS = (
    'id, kind, state, settings, running, data_file, data_sha256, n_items, "limit", created_utc, app_version, '
    "started_utc, finished_utc, beat_utc, process, cancel, message, worked_seconds, start_seconds"
)


def insert_run(store: Store, run: Run, data: bytes) -> Run:
    """Keep a new run with the file it works on; returns it with its number."""
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
    """The run of that number. Raises NotFound."""
    storable = abs(run_id) < 2**63  # SQLite has no larger number, and so no such run
    row = store.row(f"select {_COLUMNS} from run where id = :id", {"id": run_id}) if storable else None
    if row is None:
        raise NotFound(f"There is no run {run_id}. `python -m core runs list` names those there are.")
    return _run(row)


def list_runs(store: Store, kinds: tuple[str, ...] = ()) -> list[Run]:
    """All runs, of these kinds where some are named; newest first."""
    rows = store.rows(f"select {_COLUMNS} from run order by id desc")
    return [_run(row) for row in rows if not kinds or row["kind"] in kinds]


def run_data(store: Store, run_id: int) -> bytes:
    """The file the run works on, as it was given."""
    row = store.row("select data from run_data where run_id = :id", {"id": run_id})
    return bytes(row["data"]) if row else b""


def claim_run(store: Store, run_id: int, process: int) -> Owner:
    """Note that `process` works on the run from now on; what it writes later names this claim.

    The caller has made sure, in the same transaction, that no other process does. Items to which no answer came
    are open again.
    """
    owner = (process, now_utc())
    with store.writing():
        store.change("delete from run_item where run_id = :id and state = 'again'", {"id": run_id})
        _count_time(store, run_id, "beat_utc")  # of a process that was killed
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
    """Raise NotAllowed where another process has taken the run over since: this one must write no more."""
    row = store.row("select process, started_utc from run where id = :id", {"id": run_id})
    if row is None or (row["process"], row["started_utc"]) != owner:
        raise NotAllowed(f"Run {run_id} was taken over by another process; this one has stopped.")


def change_run(
    store: Store, run_id: int, *, running: dict[str, object] | None = None, limit: int | None = None
) -> None:
    """Set how a run is worked on and how many of its items: before it is resumed."""
    with store.writing():
        store.table("run").update(run_id, {"limit": limit, "cancel": 0})
        if running is not None:
            store.table("run").update(run_id, {"running": _json(running)})


def beat(store: Store, run_id: int, owner: Owner) -> bool:
    """Say that the run's process lives; returns whether somebody asked it to stop. Raises NotAllowed: see check_owner."""
    with store.writing():
        check_owner(store, run_id, owner)
        store.table("run").update(run_id, {"beat_utc": now_utc()})
    row = store.row("select cancel from run where id = :id", {"id": run_id})
    return bool(row and row["cancel"])


def note_start(store: Store, run_id: int, seconds: float, owner: Owner) -> None:
    """Note how long it took until the first item could be worked on. Raises NotAllowed: see check_owner."""
    with store.writing():
        check_owner(store, run_id, owner)
        store.table("run").update(run_id, {"start_seconds": round(seconds, 3)})


def ask_to_stop(store: Store, run_id: int) -> None:
    """Set the flag that the run's process looks at."""
    with store.writing():
        store.table("run").update(run_id, {"cancel": 1})


def _count_time(store: Store, run_id: int, until: str) -> None:
    """Add the time of a start that is at its end, if there is one."""
    store.change(
        f"update run set worked_seconds = worked_seconds + max(0, round((julianday({until}) - julianday(started_utc)) "
        "* 86400, 3)) where id = :id and state = 'running'",
        {"id": run_id, "now": now_utc()},
    )


def delete_run(store: Store, run_id: int) -> None:
    """Forget a run that has done nothing: no item, no call. One that has is left as it is."""
    with store.writing():
        store.change(
            "delete from run where id = :id and not exists (select 1 from run_item where run_id = :id) "
            "and not exists (select 1 from run_call where run_id = :id)",
            {"id": run_id},
        )


def finish_run(
    store: Store, run_id: int, state: RunState, message: str = "", *, owner: Owner | None = None
) -> None:
    """Note that nobody works on the run any more; with an owner, only while the claim is theirs."""
    with store.writing():
        if owner is not None:
            check_owner(store, run_id, owner)
        _count_time(store, run_id, ":now")
        store.table("run").update(
            run_id,
            {"state": state, "message": message, "finished_utc": now_utc(), "process": None, "cancel": 0},
        )


def save_items(store: Store, run_id: int, items: Sequence[RunItem], owner: Owner) -> None:
    """Keep what the run made of some items: all on disk when this returns. Raises NotAllowed: see check_owner."""
    now = now_utc()
    with store.writing():
        check_owner(store, run_id, owner)
        # sqlite-utils looks at the table before each upsert, which takes longer than to score a short text.
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
    """Position -> state, for the items the run has come to."""
    rows = store.rows("select position, state from run_item where run_id = :id", {"id": run_id})
    return {row["position"]: row["state"] for row in rows}


def item_position(store: Store, run_id: int, item_id: str) -> int | None:
    """An item's place in the file, from 0; None: the run has not come to it."""
    row = store.row(
        "select position from run_item where run_id = :id and item_id = :item",
        {"id": run_id, "item": item_id},
    )
    return None if row is None else int(row["position"])


def run_items(store: Store, run_id: int) -> Iterator[RunItem]:
    """What the run made of its items, in the order of the file; one at a time, because results can be large."""
    rows = store.rows("select position from run_item where run_id = :id order by position", {"id": run_id})
    for row in rows:
        if (item := run_item(store, run_id, row["position"])) is not None:
            yield item


def run_item(store: Store, run_id: int, position: int) -> RunItem | None:
    """What the run made of one item; None: it has not come to it."""
    row = store.row(
        "select * from run_item where run_id = :id and position = :position",
        {"id": run_id, "position": position},
    )
    return None if row is None else _item(row)


def item_counts(store: Store, run_id: int) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """Items by state, and failures by (step, reason)."""
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
    """Items that the run came to, all or those after `since_utc`; reads an index alone."""
    row = store.row(
        "select count(*) as n from run_item where run_id = :id and finished_utc >= :since",
        {"id": run_id, "since": since_utc},
    )
    return int(row["n"]) if row else 0


def last_finished(store: Store, run_id: int) -> tuple[int, str | None]:
    """How many items the run came to, and when to the last: another answer as soon as anything else is known of one."""
    (row,) = store.rows(
        "select count(*) as n, max(finished_utc) as last from run_item where run_id = :id", {"id": run_id}
    )
    return row["n"], row["last"]


def item_times(store: Store, run_id: int) -> list[tuple[float, float]]:
    """From when to when each finished item was worked on, in seconds of the clock; items without an answer left out."""
    rows = store.rows(
        "select (julianday(finished_utc) - 2440587.5) * 86400 as ended, seconds from run_item "
        "where run_id = :id and state <> 'again'",
        {"id": run_id},
    )
    return [(row["ended"] - row["seconds"], row["ended"]) for row in rows]


def calls_of_items(store: Store, run_id: int) -> list[tuple[int, float, float]]:
    """Position, seconds and tokens of every request for an item that is finished; a token not counted is none."""
    rows = store.rows(
        "select position, seconds, coalesce(input_tokens, 0) + coalesce(output_tokens, 0) as tokens from run_call "
        "where run_id = :id and not cached "
        "and position in (select position from run_item where run_id = :id and state in ('done', 'failed'))",
        {"id": run_id},
    )
    return [(row["position"], row["seconds"], row["tokens"]) for row in rows]


@dataclass(frozen=True)
class NewCalls:
    """Requests that were answered since somebody last looked."""

    of_items: Counter[int]
    """Position of an item -> how many were for it."""
    input_tokens: int
    """Of those where the server counted them."""
    output_tokens: int
    last: int
    """What to pass as `after` at the next look."""


def calls_since(store: Store, run_id: int, after: int, since_utc: str = "") -> NewCalls:
    """Calls of a run that come after that one, and not before `since_utc`; answers from the cache are no requests.

    after: 0, or the `last` of an earlier look: then only what is new is read.
    """
    last = store.row("select coalesce(max(id), 0) as last from run_call")
    # A plus keeps the search from the index of runs, which would go through all calls of this one.
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
    """Which of these items the run came to, not before `since_utc`."""
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

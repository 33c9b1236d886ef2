"""Runs and their results by item. Results are saved at once, because a run can be killed at any moment."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from core.errors import NotAllowed, NotFound
from core.installation import COMMAND
from core.schema.runs import Run, RunItem, RunState
from core.store.beside import delete_run_folder, numbers_of_folders
from core.store.connection import Row, Store
from core.store.studies import now_utc, read_setting, write_setting

STALE_SECONDS = 15.0
"""Seconds without a report after which a process is silent: dead, unless the system still has the same process."""
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
        number = _next_number(store)
        store.table("run").insert({"id": number, **row})
        store.change("insert into run_data values (:id, :data)", {"id": number, "data": data})
    return get_run(store, number)


_LAST_NUMBER = "last_run"


def _next_number(store: Store) -> int:
    """A number that no deleted run had, because links and file names contain it, and whose folder does not exist yet."""
    row = store.row("select max(id) as last from run")
    known = (row and row["last"]) or 0, int(read_setting(store, _LAST_NUMBER) or 0)
    return max(*known, *numbers_of_folders(store.path)) + 1


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
    """Delete a run without items and calls, such as one that was refused at its start; other runs are left as they are.

    It was in no list, so the next run may have its number.
    """
    with store.writing():
        begun = store.row(
            "select 1 from run_item where run_id = :id union all select 1 from run_call where run_id = :id limit 1",
            {"id": run_id},
        )
        if begun is None:
            _delete_rows(store, [run_id])
            delete_run_folder(store, run_id)


def delete_runs(store: Store, run_ids: Sequence[int]) -> None:
    """Delete runs with their items, calls, input files and what only they have in the caches, in one transaction.

    No later run gets their numbers. The caller deletes their folders and logs once this has returned, because files cannot
    be restored if the transaction fails, and calls `note_deleted`. Until then `half_deleted` names them, even after a crash.
    Freed pages are not overwritten, unlike after a rater's withdrawal: overwriting a gigabyte would write a gigabyte to
    the log first, and a full disk is the usual reason to delete. `compact` removes their content.
    """
    store.rows("pragma secure_delete=fast")
    try:
        with store.writing():
            write_setting(store, _LAST_NUMBER, str(_next_number(store) - 1))
            write_setting(store, _HALF_DELETED, json.dumps(sorted({*half_deleted(store), *run_ids})))
            _delete_rows(store, run_ids)
    finally:
        store.rows("pragma secure_delete=on")


def _delete_rows(store: Store, run_ids: Sequence[int]) -> None:
    """Delete all rows of these runs: the only place that knows which tables have some."""
    named = {"ids": json.dumps(list(run_ids))}
    store.change("drop table if exists temp.own_key", {})
    store.change("create table temp.own_key (key text primary key) without rowid", {})
    store.change(f"insert into temp.own_key {OWN_KEYS}", named)
    for table in ("reply", "request"):
        store.change(f"delete from {table} where key in (select key from temp.own_key)", {})
    _delete_own_scores(store, named)
    store.change("drop table temp.own_key", {})
    for table in ("run_call", "run_item", "run_metric", "run_data"):
        store.change(f"delete from {table} where {AMONG}", named)
    store.change("delete from run where id in (select value from json_each(:ids))", named)


_HALF_DELETED = "runs_half_deleted"


def half_deleted(store: Store) -> list[int]:
    """Deleted runs whose folders and logs may still exist. Folders of unknown runs are not among them: see `orphans`."""
    listed: list[int] = json.loads(read_setting(store, _HALF_DELETED) or "[]")
    known = {row["id"] for row in store.rows("select id from run")} if listed else set()
    return [number for number in listed if number not in known]


def note_deleted(store: Store, run_ids: Collection[int]) -> None:
    """Record that the folders and logs of these deleted runs are gone, too."""
    with store.writing():
        left = [number for number in half_deleted(store) if number not in run_ids]
        write_setting(store, _HALF_DELETED, json.dumps(left))


AMONG = "run_id in (select value from json_each(:ids))"
"""The runs that are deleted; `:ids` is a JSON list."""
OWN_KEYS = (
    f"select distinct key from run_call where {AMONG} and key not in (select key from run_call where not {AMONG} "
    f"and key in (select key from run_call where {AMONG}))"
)
"""Keys of calls that only these runs made. Reads the calls of all other runs once, from their index."""
_PAIR = "substr(key, instr(key, ':') + 1)"
"""The scored text in the call of a scoring run, `GROUP:HASH`; its hash is in hexadecimal."""
_SCORED = "key glob '*:*'"


def _delete_own_scores(store: Store, named: dict[str, str]) -> None:
    """Delete cached scores of texts that only these runs scored, with whichever metrics."""
    own = {row["pair"] for row in store.rows(f"select {_PAIR} as pair from temp.own_key where {_SCORED}")}
    if own:
        others = f"select distinct {_PAIR} as pair from run_call where not {AMONG} and {_SCORED}"
        own -= {
            row["pair"]
            for row in store.rows(f"{others} and {_PAIR} in (select {_PAIR} from temp.own_key)", named)
        }
        store.change_all("delete from text_score where pair = ?", ((bytes.fromhex(pair),) for pair in own))


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


Counts = tuple[dict[str, int], dict[tuple[str, str], int]]
"""(Number of items by state, number of failures by (step, reason), most frequent first.)"""


def item_counts(store: Store, run_id: int) -> Counts:
    """(number of items by state, number of failures by (step, reason))."""
    return counts_of_runs(store, run_id).get(run_id, ({}, {}))


def counts_of_runs(store: Store, run_id: int | None = None) -> dict[int, Counts]:
    """Run -> what `item_counts` returns, for all runs that have begun, or only this one. Reads indexes."""
    only = "true" if run_id is None else "run_id = :id"
    states = store.rows(
        f"select run_id, state, count(*) as n from run_item where {only} group by run_id, state",
        {"id": run_id},
    )
    failures = store.rows(
        "select run_id, json_extract(f.value, '$[0]') as step, json_extract(f.value, '$[1]') as reason, count(*) as n "
        f"from run_item, json_each(run_item.failures) as f where {only} and failures <> '[]' "
        "group by 1, 2, 3 order by 4 desc, 2, 3",
        {"id": run_id},
    )
    found: dict[int, Counts] = {}
    for row in states:
        found.setdefault(row["run_id"], ({}, {}))[0][row["state"]] = row["n"]
    for row in failures:
        found[row["run_id"]][1][row["step"], row["reason"]] = row["n"]
    return found


def calls_of_late(store: Store, run_id: int, seconds: float) -> int:
    """Number of requests answered in the last seconds, without answers from the cache; at most of the newest 20,000."""
    row = store.row(
        "select count(*) as n from run_call where id > (select max(id) from run_call) - 20000 and +run_id = :id "
        "and not cached and at_utc >= :since",
        {"id": run_id, "since": now_utc(-seconds)},
    )
    return int(row["n"]) if row else 0


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

"""Files that were given to a page: ratings, scores, correlations; kept so that nobody has to give them again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.errors import NotFound
from core.store.connection import Row, Store
from core.store.studies import now_utc

KeptKind = Literal["ratings", "scores", "correlations"]


@dataclass(frozen=True)
class KeptFile:
    """A file that is kept, without its bytes."""

    file_id: int
    kind: KeptKind
    file_name: str
    sha256: str
    options: Mapping[str, object]
    """How it is to be read, as JSON values: such as the dimension, or that lower is better."""
    created_utc: str


_COLUMNS = "id, kind, file_name, sha256, options, created_utc"


def keep_file(
    store: Store, kind: KeptKind, file_name: str, data: bytes, options: Mapping[str, object] | None = None
) -> KeptFile:
    """Keep a file; the same bytes for the same purpose are kept once, under the newest name and options."""
    row = {
        "kind": kind,
        "file_name": file_name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "options": json.dumps(dict(options or {}), ensure_ascii=False, sort_keys=True),
    }
    with store.writing():
        known = store.row("select id from kept_file where kind = :kind and sha256 = :sha256", row)
        if known is None:
            number = (
                store.table("kept_file").insert({**row, "data": data, "created_utc": now_utc()}).last_rowid
            )
        else:
            number = known["id"]
            store.table("kept_file").update(number, {"file_name": file_name, "options": row["options"]})
    return get_file(store, number or 0)


def kept_files(store: Store, kind: KeptKind | None = None) -> list[KeptFile]:
    """Those of one kind, or all; newest first."""
    rows = store.rows(
        f"select {_COLUMNS} from kept_file where :kind is null or kind = :kind order by id desc",
        {"kind": kind},
    )
    return [_file(row) for row in rows]


def get_file(store: Store, file_id: int) -> KeptFile:
    """The file of that number. Raises NotFound."""
    row = store.row(f"select {_COLUMNS} from kept_file where id = :id", {"id": file_id})
    if row is None:
        raise NotFound(
            f"There is no kept file {file_id}: it was deleted. Choose another, or upload it again."
        )
    return _file(row)


def file_data(store: Store, file_id: int) -> bytes:
    """The file's bytes as they were given. Raises NotFound."""
    get_file(store, file_id)
    row = store.row("select data from kept_file where id = :id", {"id": file_id})
    return bytes(row["data"]) if row else b""


def delete_file(store: Store, file_id: int) -> None:
    """Forget a file; one that is not there is gone already."""
    with store.writing():
        store.change("delete from kept_file where id = :id", {"id": file_id})


def _file(row: Row) -> KeptFile:
    values = dict(row)
    return KeptFile(file_id=values.pop("id"), **values | {"options": json.loads(values["options"])})

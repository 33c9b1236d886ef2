"""Personal links: 128-bit tokens, of which the database keeps only a hash.

A token is derived from a key file beside the database, so that an owner can look a link up again, while
a copy of the database or an exported bundle opens nothing.
"""

import base64
import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from core.errors import StorageError
from core.store.connection import Store
from core.store.copies import key_path

_TOKEN_BYTES = 16
_KEY_BYTES = 32


def token_sha256(token: str) -> str:
    """What the database holds instead of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def link_token(store: Store, *parts: str | int) -> str:
    """The token that the key file gives to `parts` (study, rater, number of the link), URL-safe."""
    message = "\x1f".join(str(part) for part in (_database_id(store), *parts)).encode()
    mac = hmac.new(_access_key(store.path), message, hashlib.sha256).digest()[:_TOKEN_BYTES]
    return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


def _database_id(store: Store) -> str:
    """Drawn when the database was made: a key file that outlives its database opens nothing in the next."""
    row = store.row("select value from setting where key = 'database_id'")
    if row is None:
        raise StorageError(f"The database {store.path.name} has lost its id: restore it from your backup.")
    return str(row["value"])


def cookie_suffix(store: Store) -> str:
    """Tells this database's cookies from those of another app on the same host; opens nothing."""
    return token_sha256(_database_id(store))[:8]


def _access_key(database: Path) -> bytes:
    path = key_path(database)
    try:
        if not path.exists():
            _create_key(path)
        key = bytes.fromhex(path.read_text("ascii"))
        if len(key) != _KEY_BYTES:
            raise ValueError(f"it holds {len(key)} bytes instead of {_KEY_BYTES}")
        return key
    except (OSError, ValueError) as problem:
        raise StorageError(
            f"The key file {path.name}, from which personal links are made, could not be used ({problem}). "
            "Restore it from your backup, or delete it: links then have to be issued again."
        ) from problem


def _create_key(path: Path) -> None:
    """Put a whole key in place at once: two processes that start together end with the same one."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(_KEY_BYTES))
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()

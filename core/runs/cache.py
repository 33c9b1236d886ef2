"""The cache that models are asked through: replies and the account of one item, kept by the store."""

from collections.abc import Callable

from core.llm.client import TRANSPORT, Call, Reason, Reply
from core.store import Store
from core.store.replies import find_reply, record_call

NOT_KEPT: frozenset[Reason] = TRANSPORT | {"rejected", "too long"}
"""What depends on the server's state and settings, which no key holds: it may be mended, and is asked again."""


class ItemCache:
    """core.llm's Cache for one item of one run."""

    def __init__(
        self, store: Store, run_id: int, position: int, heard: Callable[[Reply], None] | None = None
    ) -> None:
        """heard: is told of every reply, also of those that are not kept."""
        self._store = store
        self._run_id = run_id
        self._position = position
        self._heard = heard

    def find(self, key: str) -> Reply | None:
        """The reply that any run has kept under this key."""
        row = find_reply(self._store, key)
        return None if row is None else Reply(**row)

    def record(self, call: Call) -> None:
        """Put the call on the run's account, and keep its reply if it says something about the request."""
        reply = call.reply
        if self._heard is not None:
            self._heard(reply)
        keep = not call.cached and reply.reason not in NOT_KEPT
        record_call(
            self._store,
            {
                "run_id": self._run_id,
                "position": self._position,
                "key": call.key,
                "step": call.step,
                "reason": reply.reason,
                "cached": int(call.cached),
                "input_tokens": _countable(reply.input_tokens),
                "output_tokens": _countable(reply.output_tokens),
                "seconds": reply.seconds,
            },
            self._kept(reply) if keep else None,
        )

    @staticmethod
    def _kept(reply: Reply) -> dict[str, object]:
        tokens = {
            "input_tokens": _countable(reply.input_tokens),
            "output_tokens": _countable(reply.output_tokens),
        }
        return {name: getattr(reply, name) for name in Reply.__dataclass_fields__} | tokens


def _countable(tokens: int | None) -> int | None:
    """A count that a database holds; what is beyond that is no count."""
    return tokens if tokens is not None and 0 <= tokens < 2**63 else None

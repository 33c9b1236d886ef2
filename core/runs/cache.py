"""The cache that models are asked through: replies and the account of one item, kept by the store."""

from core.llm.client import TRANSPORT, Call, Reply
from core.store import Store
from core.store.replies import find_reply, record_call


class ItemCache:
    """core.llm's Cache for one item of one run."""

    def __init__(self, store: Store, run_id: int, position: int) -> None:
        self._store = store
        self._run_id = run_id
        self._position = position

    def find(self, key: str) -> Reply | None:
        """The reply that any run has kept under this key."""
        row = find_reply(self._store, key)
        return None if row is None else Reply(**row)

    def record(self, call: Call) -> None:
        """Put the call on the run's account, and keep its reply if it says something about the request."""
        reply = call.reply
        keep = not call.cached and reply.reason not in TRANSPORT
        record_call(
            self._store,
            {
                "run_id": self._run_id,
                "position": self._position,
                "key": call.key,
                "step": call.step,
                "reason": reply.reason,
                "cached": int(call.cached),
                "input_tokens": reply.input_tokens,
                "output_tokens": reply.output_tokens,
                "seconds": reply.seconds,
            },
            {name: getattr(reply, name) for name in Reply.__dataclass_fields__} if keep else None,
        )

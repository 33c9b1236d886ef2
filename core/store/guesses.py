"""Which answer a rater took for the person's: one guess a pair, given once."""

from collections.abc import Iterable
from dataclasses import asdict

from core.schema import Guess
from core.store.connection import Store

_GUESS_FIELDS = tuple(Guess.__dataclass_fields__)


def insert_guess(store: Store, study_id: int, guess: Guess) -> bool:
    """Keep a guess; returns whether it is new: the first one about a pair stands."""
    with store.writing():
        if guess.key in {given.key for given in guesses_of(store, study_id, guess.rater_id)}:
            return False
        store.table("guess").insert({"study_id": study_id, **asdict(guess)})
    return True


def restore_guesses(store: Store, study_id: int, guesses: Iterable[Guess]) -> None:
    """Write guesses as a bundle holds them."""
    with store.writing():
        store.table("guess").insert_all({"study_id": study_id, **asdict(guess)} for guess in guesses)


def guesses_of(store: Store, study_id: int, rater_id: str | None = None) -> tuple[Guess, ...]:
    """Guesses of a study, or of one rater, in the order in which they were given."""
    only = "" if rater_id is None else " and rater_id = :rater"
    rows = store.rows(
        f"select * from guess where study_id = :id{only} order by rowid", {"id": study_id, "rater": rater_id}
    )
    return tuple(Guess(**{name: row[name] for name in _GUESS_FIELDS}) for row in rows)

"""Stop words by language, from data/stopwords: the question filter ignores them, the rules never edit them."""

from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "stopwords"


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """Languages that have a list."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


@lru_cache(maxsize=64)
def words_of(language: str) -> frozenset[str]:
    """The words of one list; empty for a language without one."""
    if language not in languages():
        return frozenset()
    lines = (_FOLDER / f"{language}.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())

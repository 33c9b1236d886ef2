"""Ranking by a model: the form of the answer, and the check that it is a full permutation (003, appendix A)."""

from collections.abc import Sequence

from core.llm.asking import Unusable
from core.llm.parsing import form, is_number, read_object


def ranking_schema(candidates: Sequence[int]) -> dict[str, object]:
    """A list of as many numbers as there are candidates, each one of them; that none comes twice is checked."""
    number, n = {"type": "integer", "enum": sorted(candidates)}, len(candidates)
    return form(ranking={"type": "array", "items": number, "minItems": n, "maxItems": n})


def read_ranking(text: str, candidates: Sequence[int]) -> tuple[int, ...]:
    """The candidates, most important first. Raises Unusable unless each stands there exactly once."""
    ranking = read_object(text, ranking={})["ranking"]
    if not isinstance(ranking, list) or not all(
        is_number(entry) and entry == int(entry) for entry in ranking
    ):
        raise Unusable("`ranking` has to be a list of whole numbers.", "invalid")
    numbers = tuple(int(entry) for entry in ranking)
    if strange := sorted(set(numbers) - set(candidates)):
        raise Unusable(f"{strange[0]} is not among the numbers to rank.", "not a permutation")
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise Unusable(f"{twice[0]} stands there more than once.", "not a permutation")
    if missing := sorted(set(candidates) - set(numbers)):
        raise Unusable(
            f"{', '.join(map(str, missing[:5]))} is missing: rank every number.", "not a permutation"
        )
    return numbers

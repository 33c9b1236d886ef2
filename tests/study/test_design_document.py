"""The script in docs/design.md derives the stored sides again, from the seed and the names of items alone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.factories import LEVELS, dataset, study_in

from core.store import Store
from core.study.design import first_source

DESIGN = Path(__file__).resolve().parents[2] / "docs" / "design.md"


@pytest.fixture(scope="module")
def sides() -> Callable[[int, str, list[str], str], set[str]]:
    block = re.search(r"```python\n(.*?)```", DESIGN.read_text("utf-8"), re.DOTALL)
    assert block, "docs/design.md holds a python block"
    names: dict[str, object] = {}
    exec(compile(block[1], str(DESIGN), "exec"), names)
    found = names["sides"]
    assert callable(found)
    return found


@pytest.mark.parametrize("n_items", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", [0, 20261121, 2**63 - 1])
@pytest.mark.parametrize("workload", [None, 2])
def test_the_script_agrees_with_the_assignments(
    store: Store, sides: Callable[..., set[str]], n_items: int, seed: int, workload: int | None
) -> None:
    at_hand = study_in(
        store,
        dataset(n_items, sources=("zebra", "apple")),
        raters=("R1", 'Zoë "日本"', "r2"),
        seed=seed,
        votes_per_pair=workload,
        level_order="shuffled",
        repeat_share=0.2,
    )
    record = at_hand.record
    first = first_source(record.items, record.study.levels, record.outputs)
    assert first == "zebra", "the factory's Alpha texts sort first"
    for rater in at_hand.tokens:
        own = [a for a in record.assignments if a.rater_id == rater and not a.repeat]
        items = [item.item_id for item in record.items if item.item_id in {a.item_id for a in own}]
        for level in LEVELS if items else ():
            stored = {a.item_id for a in own if a.level == level and a.left == first}
            assert sides(seed, rater, items, level) == stored


def test_the_script_is_as_short_as_it_says(sides: Callable[..., set[str]]) -> None:
    block = re.search(r"```python\n(.*?)```", DESIGN.read_text("utf-8"), re.DOTALL)
    assert block
    lines = [line for line in block[1].splitlines() if line.strip()]
    assert len(lines) <= 10
    assert "core" not in block[1]

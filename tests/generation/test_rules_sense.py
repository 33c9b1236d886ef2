"""Numbers of one sentence that must not contradict each other."""

import asyncio
from fractions import Fraction

import pytest
from generation.rules_texts import material

from core.generation.facts import Pool
from core.generation.factual import perturb
from core.generation.factual.steps import FactualSettings, RuleSteps
from core.generation.lists import FRACTIONS, MONTHS, NUMBER_WORDS
from core.generation.numbers import Draw, makes_sense, move_date
from core.generation.replacing import substitute


@pytest.mark.parametrize(
    ("text", "language", "sense"),
    [
        ("Squids have two hearts, four of which pump.", "en", False),
        ("Squids have two hearts, two of which pump.", "en", False),
        ("Squids have four hearts, two of which pump.", "en", True),
        ("Squids have 1,200 arms, 30 of them short.", "en", True),
        ("Squids have twelve arms, 30 of them short.", "en", False),
        ("Squids have two hearts. Four of them swam.", "en", True),
        ("Four of which are red.", "en", True),
        ("Es gibt drei Türme, fünf von denen sind alt.", "de", False),
        ("Es gibt drei Türme, zwei von denen sind alt.", "de", True),
        ("三つの塔がある。", "ja", True),
        ("", "und", True),
    ],
)
def test_a_part_is_smaller_than_the_whole(text: str, language: str, sense: bool) -> None:
    assert makes_sense(text, language) == sense


@pytest.mark.parametrize("whole", ["three", "six", "40"])
def test_no_level_of_any_seed_has_more_parts_than_the_whole(whole: str) -> None:
    text = f"It has {whole} hearts, two of which pump, and it was seen in Paris in 1889 and in Rome in 1902."
    item = material("x", text, "en")
    changed = set()
    for seed in range(20):
        trace = asyncio.run(
            perturb(item, RuleSteps(Pool(), seed), FactualSettings(parser="rules", seed=seed))
        )
        assert trace.failed_step is None
        for level in trace.levels:
            assert makes_sense(level.text, "en"), level.text
            changed |= {edit.old for edit in level.edits}
    assert {f"{whole} hearts", "two"} <= changed


@pytest.mark.parametrize(
    ("text", "language"), [("two thirds", "en"), ("Drei Viertel", "de"), ("two-fifths", "en")]
)
def test_a_fraction_stays_below_one_and_changes_its_value(text: str, language: str) -> None:
    def value(fraction: str) -> Fraction:
        count, part = fraction.replace("-", " ").split(" ")
        words = NUMBER_WORDS[language].split()
        return Fraction(words.index(count.lower()) + 2, FRACTIONS[language][part])

    found = {substitute(text, "number", language, Pool(), Draw(seed)) for seed in range(20)}
    assert len(found) > 3
    for new, how in found:
        assert how == "fraction moved"
        assert 0 < value(new) < 1
        assert value(new) != value(text)
        assert new[:1].isupper() == text[:1].isupper()


@pytest.mark.parametrize("language", sorted(MONTHS))
def test_a_month_moves_in_every_language_that_has_them(language: str) -> None:
    assert len(MONTHS[language]) == 12
    assert len({len(row) for row in MONTHS[language] if row != ("May",)}) == 1
    for row in MONTHS[language]:
        date = f"12 {row[0]} 1905"
        moved = {move_date(date, language, Draw(seed)) for seed in range(12)}
        assert None not in moved
        assert date not in moved
        months = {str(new).split(" ")[1] for new in moved}
        assert months <= {other[0] for other in MONTHS[language]}
        assert len(months) > 1

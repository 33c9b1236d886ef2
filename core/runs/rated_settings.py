"""What the judges that stand on ratings were asked for: what is wrong with it by itself, and the name it gives them."""

from typing import get_args

from core.judges.settings import (
    MERGED,
    AutoMqmSettings,
    DirectSettings,
    ExamplesFrom,
    Majority,
    Occurrences,
    Prompting,
    QualitySettings,
)
from core.study.rating_checks import SPAN_DIMENSION

PARROT = "parrot"
"""What 002 calls the baseline that repeats its examples' errors: the name of automqm by rules."""


def rated_name(chosen: object, *, by_rules: bool) -> str:
    """What tells two such judges by one model apart: all that is not as usual."""
    if isinstance(chosen, QualitySettings):
        said = ["quality", *_unless(chosen.prompting, "single")]
        said += [f"{chosen.shots}-shot"] if chosen.shots else []
        return "-".join(said + ([f"{chosen.shuffled_words:g}-shuffled"] if chosen.shuffled_words else []))
    assert isinstance(chosen, AutoMqmSettings | DirectSettings)
    usual = "automqm" if isinstance(chosen, AutoMqmSettings) else "direct"
    said = [PARROT if by_rules else usual]
    if isinstance(chosen, DirectSettings):
        said += _unless(chosen.dimension, DirectSettings().dimension)
    elif by_rules:
        said += _unless(chosen.occurrences, AutoMqmSettings().occurrences)
    said += _unless(chosen.examples, "specialist")
    said += [f"{chosen.n_examples}-examples"] if chosen.n_examples else []
    if isinstance(chosen, AutoMqmSettings) and chosen.filtered:
        said.append("filtered")
    return "-".join(said + _unless(chosen.rater, MERGED))


def _unless(value: str, usual: str) -> list[str]:
    return [] if value == usual else [value]


def rated_problems(chosen: object, *, by_rules: bool) -> list[str]:
    """What is wrong with the settings whatever the file holds, each named as its option."""
    if isinstance(chosen, QualitySettings):
        problems = [
            *not_offered("--prompting", chosen.prompting, get_args(Prompting)),
            *not_offered("--majority", chosen.majority, get_args(Majority)),
        ]
        if chosen.shots and not chosen.held_out:
            problems.append("--held-out: 0 holds no item out, and --shots takes examples from such items")
        return problems
    assert isinstance(chosen, AutoMqmSettings | DirectSettings)
    problems = not_offered("--examples", chosen.examples, get_args(ExamplesFrom))
    if isinstance(chosen, AutoMqmSettings):
        problems += not_offered("--occurrences", chosen.occurrences, get_args(Occurrences))
    if chosen.examples == "none":
        if by_rules:
            problems.append(
                "--examples: none leaves the Parrot (--backend rules) nothing to repeat; choose others, or a model"
            )
        given = {
            "--n-examples": bool(chosen.n_examples),
            "--rater": chosen.rater != MERGED,
            "--filtered": isinstance(chosen, AutoMqmSettings) and chosen.filtered,
        }
        problems += [
            f"{option}: says which examples are shown, and --examples none shows none; leave it out"
            for option, is_given in given.items()
            if is_given
        ]
    return problems


def shows_examples(chosen: object) -> bool:
    """Whether ratings of the run's file stand in the prompts, or are what the Parrot repeats."""
    if isinstance(chosen, QualitySettings):
        return chosen.shots > 0
    return isinstance(chosen, AutoMqmSettings | DirectSettings) and chosen.examples != "none"


def dimension_said(chosen: object) -> str | None:
    """What the judge's one column is a score of; None: it has a column a dimension, or is none of these judges."""
    if isinstance(chosen, DirectSettings):
        return chosen.dimension
    return SPAN_DIMENSION if isinstance(chosen, AutoMqmSettings) else None


def not_offered(option: str, value: str, offered: tuple[str, ...]) -> list[str]:
    """The problem of a choice that there is not; nothing where there is."""
    return [] if value in offered else [f"{option}: {value!r} is none of {', '.join(offered)}"]

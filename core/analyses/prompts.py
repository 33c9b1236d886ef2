"""Prompts or models of one judge on the same texts: which follows people or known levels best, and at what price?"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from core.schema.analysis import (
    Analysis,
    Table,
    Tell,
    Verdict,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.results.check.choosing import Choice
    from core.results.judges.prompts import PromptsCompared, RunsTried, Tried
    from core.stats.degeneracy import Constant


class PromptsOptions(Settings):
    """Options of the intervals."""

    n_resamples: int = resamples_setting(2_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class Standing:
    """A prompt in one comparison."""

    quality: Interval = entry("its quality", ends="object")
    n: int | None = entry("texts behind it")
    difference_from_best: Interval | None = entry(
        "its quality minus the best; null for the best", ends="object"
    )
    p: float | None = entry("two-sided p of no difference from the best")
    p_holm: float | None = entry("p corrected for every two prompts")


@row
class PromptRow:
    """One prompt with one model."""

    name: str = entry("tells it from the others")
    prompt: str = column("names of the prompts in which it differs", title="Prompt")
    model: str = column("its model", title="Model")
    run: int | None = column("number of its run", title="Run")
    quality: Interval = column("agreement with people, or Spearman's correlation", title="Quality", key="")
    measure: str = column("agreement or spearman", key="", shown=False)
    difference: Interval | None = column("its quality minus the best", title="Minus the best", key="")
    p: float | None = column("two-sided p of no difference from the best", key="", p_value=True)
    p_holm: float | None = column("p corrected for every two prompts", title="Holm p", key="", p_value=True)
    levels: Interval = column(
        "Spearman's correlation with minus the damage level", title="Spearman with level", key=""
    )
    levels_difference: Interval | None = column(
        "the same minus that of the best", title="Level: minus the best", key=""
    )
    levels_p: float | None = column(
        "p of no difference from the best there", title="Level: p", key="", p_value=True
    )
    levels_p_holm: float | None = column(
        "p corrected for every two prompts, apart", title="Level: Holm p", key="", p_value=True
    )
    monotonic: Interval = column(
        "share of items whose scores never rise from a level to the next worse one",
        title="Never rises",
        percent=True,
        ends="object",
    )
    unusable: Interval | None = column(
        "share of calls without a usable answer", title="Unusable answers", key="", percent=True
    )
    tokens_per_text: float | None = column(
        "tokens of one text, in and out", title="Tokens per text", key="", places=0
    )
    tokens_in_per_text: float | None = column("input tokens of one text", key="", shown=False)
    tokens_out_per_text: float | None = column("output tokens of one text", key="", shown=False)
    price_per_1000: float | None = column("price of 1,000 texts", title="Price per 1,000", places=2)
    seconds_per_1000: float | None = column("seconds of 1,000 texts", title="Seconds per 1,000", places=1)
    n: int | None = column("texts that all prompts scored", key="")
    n_scored: int = column("texts that it scored", title="Scored")
    use: str = column("yes: the prompt to use", title="Use", key="")
    constant: str = column("how many of its scores are equal, if nearly all are", title="Constant", key="")
    price_reason: str | None = column("why the price is unknown", shown=False)
    seconds_reason: str | None = column("why the time is unknown", shown=False)
    people: Standing | None = entry("beside people; null without them", rows=Standing)
    of_levels: Standing | None = entry("beside known levels; null without them", key="levels", rows=Standing)
    calls: int | None = entry("paid calls, as if its run were the only one")
    n_unusable: int | None = entry("those without a usable answer", key="unusable")
    input_tokens: int | None = entry("their input tokens")
    output_tokens: int | None = entry("their output tokens")
    constant_share: float | None = entry("share of its scores that are equal; null unless nearly all are")


@row
class Comparison:
    """Two prompts."""

    against: str = entry("people or levels")
    first: str = entry("a prompt, by its name")
    second: str = entry("the other one")
    difference: Interval = entry("quality of the first minus the second", ends="object")
    p: float | None = entry("two-sided p of no difference")
    p_holm: float | None = entry("p corrected for every two prompts")
    better: str | None = entry("the better one, if that is shown")


@row
class Prompts:
    """Prompts or models compared on the texts that all of them scored."""

    sentences: tuple[str, ...] = entry("the prompt to use, and how the others compare")
    use: str | None = entry("the prompt to use")
    settled: bool = entry("whether the data settle that")
    best: str = entry("the prompt with the best quality")
    against: str = entry("people or levels")
    measure: str = entry("the measure of quality: agreement or spearman")
    component: str | None = entry("the compared column; null for a judge with one")
    n: int = entry("texts that every prompt scored")
    n_items: int = entry("their items")
    n_left_out: int = entry("other texts")
    left_out: Mapping[str, int] = entry("reason -> texts left out")
    prompts: tuple[PromptRow, ...] = entry("each prompt with each model, best first", rows=PromptRow)
    comparisons: tuple[Comparison, ...] = entry("every two prompts", rows=Comparison)
    notes: tuple[str, ...] = entry("what was compared, corrected, left out and assumed")
    tests: tuple[int, int]
    """Tests beside what decides, and beside levels."""
    of: "PromptsCompared"
    """The comparison, for what a page draws of it."""


def compute(options: PromptsOptions, runs: "RunsTried", *, tell: Tell) -> Prompts:
    """Compare the runs on the texts that all of them scored.

    Raises InputError for fewer than two with scores, and if there are neither people nor two levels.
    """
    from core.results.judges.prompts import compare_prompts

    tell("comparing prompts")
    found = compare_prompts(
        runs.tried,
        runs.people,
        component=runs.component,
        notes=runs.notes,
        with_levels=runs.with_levels,
        **options.model_dump(),
    )
    main, levels = found.main, found.levels
    tests = (_n_tests(main), 0 if levels is None else _n_tests(levels))
    return Prompts(
        sentences=tuple(found.sentences()),
        use=main.use,
        settled=main.settled,
        best=main.judges[0].name,
        against="levels" if found.people is None else "people",
        measure=main.measure,
        component=found.component or None,
        n=main.n,
        n_items=main.n_items,
        n_left_out=main.n_left_out,
        left_out=main.left_out,
        prompts=tuple(_row(found, one) for one in found.tried),
        comparisons=tuple(_comparisons(found)),
        notes=tuple(_notes(found, *tests)),
        tests=tests,
        of=found,
    )


def _n_tests(choice: "Choice") -> int:
    return sum(one.p is not None for one in choice.pairs)


def _comparisons(found: "PromptsCompared") -> Iterator[Comparison]:
    from core.results.cells import interval

    for what, choice in (("people", found.people), ("levels", found.levels)):
        for one in () if choice is None else choice.pairs:
            yield Comparison(
                what, one.first, one.second, interval(one.difference), one.p, one.p_holm, one.better
            )


def _standing(choice: "Choice | None", name: str) -> Standing | None:
    """A prompt in one comparison, and its difference from the best there."""
    from core.results.cells import interval

    if choice is None:
        return None
    own = next((one for one in choice.judges if one.name == name), None)
    if own is None:
        return Standing(_missing(), None, None, None, None)
    best = choice.judges[0].name
    quality, n = interval(own.quality), own.quality.n
    if name == best:
        return Standing(quality, n, None, None, None)
    pair = choice.pair(name, best)
    return Standing(quality, n, interval(pair.difference), pair.p, pair.p_holm)


def _missing(why: str = "") -> Interval:
    from core.results.judges.prompts import NO_SCORE

    return Interval(None, reason=why or NO_SCORE, interval_reason=why or NO_SCORE)


def _row(found: "PromptsCompared", one: "Tried") -> PromptRow:
    from core.results.cells import counted_share, item_mean
    from core.stats.resampling import wilson_share

    people, levels = _standing(found.people, one.name), _standing(found.levels, one.name)
    main = people or levels
    assert main is not None, "there are people, levels or both"
    of_levels = levels or Standing(_missing("no levels"), None, None, None, None)
    always, cost, facts = found.constants.get(one.name), one.cost, one.facts
    tokens_in, tokens_out = (
        None if cost is None else cost.each(name, "text") for name in ("input_tokens", "output_tokens")
    )
    never_rises = found.monotonic.get(one.name)
    return PromptRow(
        name=one.name,
        prompt=one.prompt,
        model=one.model,
        run=one.run,
        quality=main.quality,
        measure=found.main.measure,
        difference=main.difference_from_best,
        p=main.p,
        p_holm=main.p_holm,
        levels=of_levels.quality,
        levels_difference=of_levels.difference_from_best,
        levels_p=of_levels.p,
        levels_p_holm=of_levels.p_holm,
        monotonic=_missing("" if levels else "no levels") if never_rises is None else item_mean(never_rises),
        unusable=None
        if cost is None or not cost.calls
        else counted_share(wilson_share(cost.unusable, cost.calls)),
        tokens_per_text=None if tokens_in is None or tokens_out is None else tokens_in + tokens_out,
        tokens_in_per_text=tokens_in,
        tokens_out_per_text=tokens_out,
        price_per_1000=facts.cost,
        seconds_per_1000=facts.seconds,
        n=main.n,
        n_scored=_n_scored(one),
        use="yes" if one.name == found.main.use else "",
        constant="" if always is None else _constant_said(always),
        price_reason=None if facts.cost is not None else facts.cost_reason,
        seconds_reason=None if facts.seconds is not None else facts.seconds_reason,
        people=people,
        of_levels=levels,
        calls=None if cost is None else cost.calls,
        n_unusable=None if cost is None else cost.unusable,
        input_tokens=None if cost is None else cost.input_tokens,
        output_tokens=None if cost is None else cost.output_tokens,
        constant_share=None if always is None else always.share,
    )


def _n_scored(one: "Tried") -> int:
    import numpy as np

    return int((~np.isnan(one.table.values)).sum())


def _constant_said(always: "Constant") -> str:
    return "all equal" if not always.n_others else f"{always.share:.0%} equal"


def _notes(found: "PromptsCompared", n_tests: int, n_tests_levels: int) -> list[str]:
    from core.results.cells import corrected_note, left_out_lines
    from core.results.check.choosing import ALPHA, CORRECTION, N_SWAPS_OF_RANKS
    from core.results.judges.prompts import FEW_ITEMS
    from core.stats.degeneracy import constants_said
    from core.tables.problems import listed
    from core.tables.reading import shown

    main = found.main
    component = f" of {found.component}" if found.component else ""
    notes = [
        f"Quality{component}: {found.measured}, on the {main.n:,} texts of {main.n_items:,} items that all of them scored; "
        f"{main.n_left_out:,} left out.",
        f"Intervals: {main.confidence_level:.0%}, over items. p: two-sided, by swapping two prompts item by item.",
        *corrected_note(CORRECTION, n_tests, "every two of them"),
    ]
    if found.people is not None and found.levels is not None:
        levels = found.levels
        notes.append(
            f"Level: Spearman's correlation with minus the damage level, on {levels.n:,} texts of {levels.n_items:,} items; "
            f"{levels.n_left_out:,} left out, tests corrected apart."
        )
    if found.levels is not None:
        notes.append(
            "Never rises: share of items whose scores never rise from a level to the next worse one."
        )
    for what, reason in (("price", "cost_reason"), ("time", "seconds_reason")):
        field = "cost" if what == "price" else "seconds"
        whys: dict[str, list[str]] = {}
        for one in found.tried:
            if getattr(one.facts, field) is None:
                whys.setdefault(getattr(one.facts, reason), []).append(shown(one.name))
        notes += [f"Unknown {what} of {listed(names)}: {why}." for why, names in whys.items()]
    notes.append(
        "Tokens, price and time count every answer of a run once, from the cache or not, as if the run were the only one."
    )
    notes += constants_said((shown(name), one) for name, one in found.constants.items())
    if main.measure == "spearman" and main.n_items < FEW_ITEMS:
        notes.append(
            f"Fewer than {FEW_ITEMS} items: intervals of differences are too narrow. In simulations with 10 items, 84 to 93 % of 95 % "
            "intervals contained the true difference."
        )
    least = n_tests / (1 + N_SWAPS_OF_RANKS)
    if main.measure == "spearman" and least >= ALPHA:
        notes.append(
            f"{n_tests:,} tests with {N_SWAPS_OF_RANKS:,} swaps each: no corrected p can be below {least:.2f}. Compare fewer."
        )
    return [*notes, *left_out_lines(main.left_out), *main.notes, *found.notes]


def _several_of(found: Prompts) -> tuple[bool, bool]:
    """Whether rows are named by their prompt, and by their model."""
    by_model = len({one.model for one in found.prompts}) > 1
    return not by_model or len({one.prompt for one in found.prompts}) > 1, by_model


def _shaped(found: Prompts) -> dict[str, dict[str, Any]]:
    by_prompt, by_model = _several_of(found)
    title = {"agreement": "Agreement", "spearman": "Spearman"}[found.measure]
    return {
        "prompt": {"names_row": by_prompt},
        "model": {"names_row": by_model},
        "quality": {"title": title},
    }


def _hidden(found: Prompts) -> set[str]:
    """Columns that say nothing here."""
    by_prompt, by_model = _several_of(found)
    n_tests, n_tests_levels = found.tests
    rows = found.prompts
    both = found.of.people is not None and found.of.levels is not None
    shown = {
        "prompt": by_prompt,
        "model": by_model,
        "run": len({(one.prompt, one.model) for one in rows}) < len(rows),
        "p": n_tests < 2,
        "p_holm": n_tests > 1,
        "levels": both,
        "levels_difference": both,
        "levels_p": both and n_tests_levels < 2,
        "levels_p_holm": both and n_tests_levels > 1,
        "monotonic": found.of.levels is not None,
        "n_scored": len({one.n_scored for one in rows}) > 1,
        "constant": any(one.constant for one in rows),
    }
    return {name for name, there in shown.items() if not there}


def _verdicts(found: Prompts) -> tuple[Verdict, ...]:
    sentence = found.sentences[0]
    if found.use is None:
        return (Verdict("undefined", sentence, reason=sentence),)
    return (Verdict("settled" if found.settled else "unsettled", sentence),)


ANALYSIS = Analysis(
    name="prompts",
    title="Prompts",
    question="Which of several prompts or models of a judge follows people or known levels best, and at what price?",
    Options=PromptsOptions,
    Result=Prompts,
    takes=("tried",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "settled": "the prompt to use; no other one can be better by more than the margin",
        "unsettled": "the prompt to use; another one may be better",
        "undefined": "no prompt can be recommended",
    },
    sentences=lambda found: found.sentences[1:],
    refuses="For fewer than two runs with scores, and if there are neither ratings of people nor two levels.",
    section="pairs#prompts-compared",
    misleads="The best of several prompts was found on these texts, so its quality is a little too high: try it on others. Levels "
    "reward a prompt that notices damage, not one that agrees with people.",
    example="""
>>> import assay
>>> found = assay.prompts(["run:3", "run:4"], "study:pilot")  # doctest: +SKIP
""",
    tables=(
        Table(
            "prompts",
            PromptRow,
            lambda found: found.prompts,
            "Prompts and models",
            notes=lambda found: found.notes,
            hidden=_hidden,
            shaped=_shaped,
        ),
    ),
)

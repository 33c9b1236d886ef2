"""The first screen: the verdict in a box, its sentence, the numbers that count for the use, and their figure."""

from collections.abc import Mapping

import streamlit as st

from core.plots.check import judges_and_ceiling
from core.results.cells import decimal
from core.results.check.rules import Verdict, compared_numbers
from core.results.check.sentences import ceiling_sentence, check_sentence, read_as, sentence
from core.results.check.verdict import Check, JudgeCheck
from core.schema.scale import SCORES
from core.schema.uses import CheckOptions
from core.stats.in_place import InPlace
from core.stats.resampling import Estimate
from pages.widgets import verdict_card
from pages.widgets.messages import plain
from pages.widgets.parts import chart
from pages.widgets.verdict_card import Number, Tone

_TONES: Mapping[Verdict, Tone] = {"TRUSTED": "good", "NOT TRUSTED": "bad", "INCONCLUSIVE": "open"}
_MOST_SAID = 3
"""Judges whose sentences the first screen has room for; the rules below have the reasons of more."""
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "two": ("false passes", "false fails", "kept share", "agreement"),
    "ordered": ("quadratic kappa", "rank correlation", "correlation", "kept share", "agreement"),
    "unordered": ("kappa", "kept share", "agreement", "ac1"),
    SCORES: ("rank correlation", "correlation", "kept share", "bias"),
    "rank": ("accuracy", "correlation", "agreement", "bias"),
    "monitor": ("bias", "responsiveness", "correlation", "agreement"),
    "certify": ("good",),
}
"""Scale on which people are compared, or another use -> the numbers of the first screen."""
_TITLES = {
    "advantage": "Advantage",
    "false passes": "False passes",
    "false fails": "False fails",
    "kept share": "Kept share",
    "quadratic kappa": "Quadratic kappa",
    "agreement": "Agreement",
    "rank correlation": "Rank correlation",
    "correlation": "Spearman",
    "kappa": "Cohen's kappa",
    "ac1": "Gwet's AC1",
    "bias": "Bias",
    "responsiveness": "Responsiveness",
    "accuracy": "Pairs of systems",
    "good": "Good answers",
}
_HELP = {
    "advantage": "Probability that the judge is at least as close to the other raters as a rater is",
    "false passes": "Share of the answers that people fail which the judge passes",
    "false fails": "Share of the answers that people pass which the judge fails",
    "kept share": "The judge's agreement above chance with a rater, over that of two raters",
    "quadratic kappa": "Agreement by distance, corrected for chance, of the judge with a rater",
    "agreement": "Share of the raters who gave the judge's class",
    "rank correlation": "Rank correlation of the judge with a rater",
    "correlation": "Rank correlation of the judge with the mean of the raters",
    "kappa": "Agreement corrected for chance",
    "ac1": "Agreement corrected for chance, steady where one class is rare",
    "bias": "Mean of judge minus raters, as a share of the scale",
    "responsiveness": "How far the judge moves when quality moves by 1",
    "accuracy": "Share of pairs of systems in the raters' order",
    "good": "Share of the system's answers that are good, each answer of the judge weighted by its texts",
}


def style() -> None:
    """Add the style sheet of the verdict and its numbers."""
    verdict_card.style()
    # The menus inside say all: a line of its title is enough, and leaves the first screen to the verdict.
    st.html(
        "<style>.st-key-check_columns summary p"
        " { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }</style>"
    )


def render(check: Check, *, n_checked: int) -> None:
    """Show the verdict with its sentence, four numbers, and the figure with judge, ceiling and limit.

    n_checked: judges that were checked together, of which `check` may have one alone.
    """
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if len(check.judges) == 1:
            _box(check.judges[0].verdict, check.judges[0].name, check_sentence(check))
        else:
            st.markdown(f"**{plain(check_sentence(check))}**")
            for one in check.judges:
                said = sentence(check, one) if len(check.judges) <= _MOST_SAID else ""
                _box(one.verdict, one.name, said)
        if len(check.judges) == 1:
            _numbers(check, check.judges[0])
        lines = [read_as(check), ceiling_sentence(check)]
        if n_checked > len(check.judges):
            lines.append(
                f"{n_checked} judges are checked together, so the level of TRUSTED is divided by {n_checked}."
            )
        st.markdown("  \n".join(f":small[{plain(line)}]" for line in lines))
    figure = judges_and_ceiling(check)
    if figure is not None:
        with right:
            chart(
                figure,
                f"The numbers that decide, with intervals, of {len(check.judges)} judges and of people, and the limits",
                "check_figure",
                "assay-check",
            )


def _box(verdict: Verdict, judge: str, said: str) -> None:
    """Show a verdict by its sign, its word and its colour. said: its sentence; empty where many judges leave no room."""
    said = said.removeprefix(f"{verdict} ")  # the word stands above
    verdict_card.card(_TONES[verdict], verdict, [f"{said[:1].upper()}{said[1:]}"], whose=judge)


def _numbers(check: Check, judge: JudgeCheck) -> None:
    known = _known(judge, check.options)
    names = _NUMBERS[check.use if check.use in _NUMBERS else judge.kind]
    shown = [name for name in names if known[name] is not None]
    verdict_card.numbers([_number(name, *known[name]) for name in shown[:4]])  # type: ignore[misc]


def _known(judge: JudgeCheck, limits: CheckOptions) -> dict[str, tuple[Estimate, str] | None]:
    """Name -> the judge's number, and what stands beside it."""
    found: dict[str, tuple[Estimate, str] | None] = dict.fromkeys(_TITLES)
    for code, name in (
        ("false-passes", "false passes"),
        ("false-fails", "false fails"),
        ("kappa-quadratic", "quadratic kappa"),
        ("correlation", "correlation"),
        ("kappa", "kappa"),
    ):
        rule = judge.rule(code)
        if rule is None or rule.estimate is None:
            continue
        numbers = compared_numbers(rule)
        if numbers is None:
            found[name] = rule.estimate, ""
        elif numbers[0].estimate is not None:
            people = numbers[1].estimate
            # Beside people's own it is with single raters, not with their mean as in the table of all numbers.
            beside_raters = "rank correlation" if name == "correlation" else name
            found[beside_raters] = numbers[0], "" if people is None else f"people: {decimal(people, 2)}"
    kept = judge.rule("kept-share")
    if kept is not None and isinstance(kept.behind, InPlace) and kept.behind.share.estimate is not None:
        found["kept share"] = kept.behind.share, f"wanted: {decimal(limits.kept_share, 2)}"
    constant = "" if judge.constant is None else f"a constant answer: {decimal(judge.constant.agreement, 2)}"
    accuracy = judge.rule("accuracy")
    others = (
        ("agreement", judge.agreement, constant),
        ("kappa", judge.kappa, ""),
        ("correlation", None if found["rank correlation"] else judge.correlation, ""),
        ("ac1", judge.ac1, ""),
        ("bias", judge.bias, ""),
        (
            "responsiveness",
            None if judge.responsiveness is None else judge.responsiveness.estimate,
            f"wanted: {decimal(limits.least_responsive, 2)} to {decimal(limits.most_responsive, 2)}",
        ),
        ("accuracy", None if accuracy is None else accuracy.estimate, ""),
        (
            "good",
            judge.systems[0].estimate if len(judge.systems) == 1 else None,
            f"wanted: {decimal(limits.target, 2)}",
        ),
    )
    for name, number, beside in others:
        if found[name] is None and number is not None:
            found[name] = number, beside
    return found


def _number(name: str, number: Estimate, beside: str) -> Number:
    value = "undefined" if number.estimate is None else decimal(number.estimate, 2)
    ends = (
        "no interval of its own"
        if number.low is None or number.high is None
        else f"{decimal(number.low, 2)} to {decimal(number.high, 2)}"
    )
    return Number(_TITLES[name], value, (ends, beside), _HELP[name])

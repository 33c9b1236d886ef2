"""Part Which judge? of a check: sentence, quality against price and time, and every two judges."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.errors import InputError
from core.plots.judges import Beside, quality_against
from core.results.check.choosing import (
    PER_TEXTS,
    WHICH_TABLES,
    Choice,
    which_of,
    which_said,
    which_tables,
)
from core.results.check.verdict import Check, JudgeFacts
from pages.widgets import chosen_scores, result_table
from pages.widgets.chosen_scores import Key
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, part, places

_AGAINST: dict[str, Beside] = {"Price": "price", "Time": "time"}


def render(key: Key, found: Check, facts: Mapping[str, JudgeFacts] | None = None) -> None:
    """Show which of the check's judges to use; nothing for a single judge.

    key: identifies the panel and the options of the check. facts: judge -> what is known of its price and time.
    """
    if len(found.judges) < 2:
        return
    part(
        "Which judge?",
        "The judges on the texts that all of them scored: quality, price, and whether one is shown to be better.",
        "which-judge",
    )
    stated = _facts(found, facts or {})
    known = replace(found, judges=tuple(replace(one, facts=stated[one.name]) for one in found.judges))
    try:
        choice: Choice = chosen_scores.once(
            ("which judge", *key, tuple(stated.items())), lambda: which_of(known)
        )
    except InputError as problem:
        nothing(str(problem))
        return
    first, *others = map(plain, which_said(choice))
    st.markdown("  \n".join([f"**{first}**", *others]))
    judges, pairs = (which_tables(choice)[name] for name in WHICH_TABLES)
    drawn = {title: one for title, beside in _AGAINST.items() if (one := quality_against(choice, beside))}
    shown = next(iter(drawn), "")
    if len(drawn) > 1:
        shown = st.segmented_control(
            "Quality against", list(drawn), default=shown, required=True, key="which_judge_against"
        )
    result_table.show(
        judges,
        figure=drawn.get(shown),
        alt=f"Quality of {len(choice.judges)} judges against {shown.lower()}",
        titled=False,
        table_first=True,
    )
    result_table.show(pairs)


def _facts(found: Check, known: Mapping[str, JudgeFacts]) -> dict[str, JudgeFacts]:
    """Return the facts of each judge, with price and time as entered here."""
    facts = {}
    with st.expander(f"Price and time of {PER_TEXTS:,} texts"):
        for one, place in zip(found.judges, places(), strict=False):
            own = known.get(one.name, one.facts)
            with place:
                entered = [
                    st.number_input(
                        f"{what} of {plain(one.name)}",
                        0.0,
                        value=value,
                        format="%.4g",
                        placeholder="unknown",
                        key=f"which_judge_{what}_{one.name}",
                    )
                    for what, value in (("Price", own.cost), ("Seconds", own.seconds))
                ]
            facts[one.name] = replace(own, cost=entered[0], seconds=entered[1])
    return facts

"""What stands behind the verdict: which judge, rules, groups, gaps, all numbers, files, and the command that gives the same."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from core.analyses import analysis as declared
from core.analyses.check.filled import answer_of
from core.analyses.check.rows import Drift
from core.analyses.which_judge import Which, rows_of
from core.errors import InputError
from core.installation import COMMAND
from core.plots.judges import quality_against
from core.report.card import card_html, card_md, command_said
from core.results.check.choosing import which_of
from core.results.check.verdict import Check
from core.results.injection import injections_said
from core.schema.analysis import Answer
from core.schema.injections import MARKED_TABLES
from core.store import Store
from core.tables.files import json_text
from pages.tabs.checked import choice, escalation, gaps, next_study, people
from pages.tabs.checked.since import compare_earlier
from pages.widgets import analysis, chosen_judge, visitor
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import part


def render(store: Store, source: choice.Given, check: Check) -> None:
    """Show what would settle an open verdict, which judge to use, the rules, where the judge fails, all numbers, and where it is kept."""
    one, shown = choice.alone(source, check)
    if shown.chooses:
        with mistakes_shown():
            _which(source, check)
    _both_orders(source)
    next_study.offer_study(store, one, shown)
    whole = _answer(source, check)  # of all, whose number divides the level
    answer = replace(whole, result=whole.result.of_judges({judge.name for judge in shown.judges}))
    if answer.tables["check-systems"].rows:
        part("Systems", "The share of good answers, by the judge's answers.", "check#certify")
        analysis.show_tables(answer, ("check-systems",))
    part("Rules", "What the use demands of a judge, and what was found.", "check#five-uses")
    analysis.show_tables(answer, ("check-rules",))
    if answer.tables["check-groups"].rows:
        part("By group", "Does the judge fail for some texts?", "check#five-uses")
        fails = [
            f"{judge.name} fails in {group.column} {group.value}."
            for judge in shown.judges
            for group in judge.groups
            if group.fails
        ]
        st.markdown(
            "  \n".join(f"**{plain(line)}**" for line in fails) or "No group is shown to be below the limit."
        )
        analysis.show_tables(answer, ("check-groups",))
    _marked(answer)
    part("All numbers", "Every judge, with people beside it.", "check#five-uses")
    analysis.show_tables(answer, ("check",))
    people.offer_people(source, check.panel)
    escalation.offer(store, one, shown)
    _files(source, check, compare_earlier(check, whole))
    gaps.show_gaps(shown.panel, source.beside)


def _marked(answer: Answer) -> None:
    """Show which texts have marks of injection, and how they are scored."""
    if not answer.tables.keys() & {*MARKED_TABLES}:
        return
    part(
        "Marks of injection",
        "Texts that look like a chat or address an examiner. A judge that obeys them scores them by their words.",
        "check#marks-of-injection",
    )
    st.markdown("  \n".join(map(plain, injections_said(answer.result.injections))))
    analysis.show_tables(answer, MARKED_TABLES)


def _both_orders(source: choice.Given) -> None:
    """Lead to what judges of pairs said beside the votes."""
    if source.study is None:
        return
    for run in source.of_pairs:
        if st.button(
            f"Both orders and all four answers of {plain(chosen_judge.short_name(run))}",
            key=f"check_pairs_{run.run_id}",
            icon=":material/balance:",
        ):
            chosen_judge.open_pairs(source.study, run)


def _answer(source: choice.Given, check: Check) -> Answer:
    return choice.once(("answer", *source.key, check.options.model_dump_json()), lambda: answer_of(check))


def _choice(source: choice.Given, check: Check) -> Which:
    return choice.once(
        ("which", *source.key, check.options.model_dump_json()), lambda: rows_of(which_of(check))
    )


def _which(source: choice.Given, check: Check) -> None:
    """Show which of several judges to use: the sentence, quality against price or time, and both tables."""
    part("Which judge?", "Quality against price and time, on the same texts.", "check#which-judge")
    chosen = _choice(source, check)
    answer = Answer(declared("which-judge"), check.options, chosen)
    figure = quality_against(chosen.choice, "price") or quality_against(chosen.choice, "time")
    alt = "Quality of each judge with its interval, against what 1,000 texts cost"
    analysis.show_said(answer)
    analysis.show_tables(answer, answer.tables, {"which-judge": analysis.Drawn(figure, alt)})


def _files(source: choice.Given, check: Check, changed: tuple[Drift, str] | None) -> None:
    part(
        "Files and command",
        "A card for colleagues: one page with the verdict, its figures and its limits, without texts. The command gives the same "
        "result, and its exit status is 0 for TRUSTED.",
        "check#the-card",
    )
    checked = visitor.admin_making()
    words = choice.arguments(source, check) + (["--against", changed[1]] if changed else [])
    said = changed[0].sentences if changed else ()
    files: dict[str, tuple[str, str, Callable[[], bytes]]] = {
        "assay-check.html": ("Card (HTML)", "text/html", partial(_card, card_html, check, words, said)),
        "assay-check.md": ("Card (Markdown)", "text/markdown", partial(_card, card_md, check, words, said)),
        "assay-check.json": ("JSON", "application/json", partial(_json, source, check, changed)),
    }
    with st.container(horizontal=True):
        for name, (title, kind, make) in files.items():
            st.download_button(
                title,
                partial(checked, make),
                name,
                kind,
                key=f"check_file_{name}",
                on_click="ignore",
                icon=":material/download:",
            )
    st.code(command_said(words, COMMAND, names=True), language=None, wrap_lines=True)


def _card(write: Callable[..., bytes], check: Check, words: Sequence[str], said: Sequence[str]) -> bytes:
    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return write(check, command=command_said(words, COMMAND, names=False), made_at=made_at, sentences=said)


def _json(source: choice.Given, check: Check, changed: tuple[Drift, str] | None) -> bytes:
    which = None
    if check.chooses:
        with suppress(InputError):  # judges without a common text: their verdicts hold all the same
            which = _choice(source, check)
    whole = answer_of(check, which=which, drift=changed[0] if changed else None)
    return json_text(whole.json).encode()

"""One item of a run or of a published report, step by step; the share of words that each level keeps."""

from collections.abc import Callable, Mapping
from html import escape
from itertools import islice
from typing import Any

import pandas as pd
import streamlit as st

from core.diff import WordsKept, words_kept
from core.errors import counted
from core.formats.trutheval import FactualReport, read_report
from core.generation.damage import DamageTrace
from core.generation.factual import VERBATIM
from core.generation.factual.published import PUBLISHED, Replay, replay, report_traces
from core.generation.factual.steps import FactualTrace
from core.plots import metrics as plots
from core.runs.calls import became
from core.runs.generation import scheme_of, trace_of
from core.runs.jobs import RunAtHand
from core.schema.runs import RunItem
from core.schema.study import Item, Material
from core.store.kept import item_costs
from core.store.runs import item_states, run_item, run_items
from core.tables.reading import sha256_of
from pages.tabs.phrases import NO_ITEM
from pages.widgets import blind_pair, chosen_judge, level_diff, menus
from pages.widgets.menus import once
from pages.widgets.messages import mistakes_shown, one_line, plain
from pages.widgets.parts import chart, nothing, number, part, table

_HOW = {
    "llm": "written by the model",
    "paraphrase": "the file's paraphrase",
    "verbatim": "the reference word for word: every metric would score it as perfect",
}


def damage_levels(trace: DamageTrace, item: Item) -> None:
    """Show all requested levels and what each changed."""
    for note in trace.notes:
        st.markdown(f":small[{plain(note)}]")
    if not trace.levels:
        nothing("no level was made")
        return
    st.header("Levels", anchor=False)
    against = level_diff.base_control("level 0")
    first = next((level.text for level in trace.levels if level.level == 0), None)
    before = item.reference
    for level in trace.levels:
        if level.text is None:
            again = " Resume the run to ask again." if level.temporary else ""
            st.warning(
                f"Level {level.level} is missing: {plain(level.reason or 'no reason was stored')}. "
                f"{plain(level.detail)}{again}"
            )
            continue
        at_first = item.reference if level.level == 0 or first is None else first
        level_diff.level_card(
            f"Level {level.level}", level.text, item, against, before=before, first=at_first
        )
        answers = f", after {level.attempts} attempts" if level.attempts > 1 else ""
        st.markdown(f":small[Made by: {plain(_HOW.get(level.how, level.how))}{answers}.]")
        before = level.text


_ORIGINS = {
    "llm": "Written by the model.",
    "paraphrase": "Taken from the file's paraphrase.",
    "verbatim": "The reference word for word (`verbatim`). Raters would see the reference itself, and every metric "
    "would score it as perfect.",
}
_LEGEND = "; colour and label (A1, A2 ...) show at which level a fact changes. Dashed line: never changed."
_STEPS = {
    "paraphrase": "writing A0",
    "spans": "finding facts",
    "rank": "ranking the facts",
    "question filter": "choosing facts that the question does not name",
    "edit": "changing facts",
    "internal": "an internal error of Assay (see the run's log)",
}


def factual_steps(trace: FactualTrace, item: Item) -> None:
    """Show every step in order."""
    for note in trace.notes:
        if note != VERBATIM:  # Shown with the text itself.
            st.markdown(f":small[{plain(note)}]")
    if not trace.levels:
        nothing("no level was made")
        return
    _facts(trace, item)
    _levels(trace, item)


def why_it_ended(trace: FactualTrace) -> str:
    """The step at which an item failed, and why; plain text."""
    step = _STEPS.get(trace.failed_step or "", trace.failed_step or "an unknown step")
    reason = trace.reason or "no reason was stored"
    return f"It ended at {step} ({reason}){': ' + trace.detail if trace.detail else '.'}"


def _facts(trace: FactualTrace, item: Item) -> None:
    st.header("A0 and its facts", anchor=False)
    if trace.a0_from == "verbatim":
        st.warning(_ORIGINS["verbatim"])
    found_by = f" Facts found by {plain(trace.spans_by)}." if trace.spans_by not in ("", PUBLISHED) else ""
    stop_words = f" Stop words: {plain(trace.stop_words)}." if trace.stop_words else ""
    origin = "" if trace.a0_from in (None, "verbatim") else _ORIGINS[str(trace.a0_from)]
    legend = (
        f" Facts are in brackets, with their number{_LEGEND if trace.groups else '.'}" if trace.spans else ""
    )
    st.markdown(f"{origin}{found_by}{stop_words}{legend}")
    group_of = {span: at for at, group in enumerate(trace.groups, start=1) for span in group}
    level_diff.facts_card("A0", trace.levels[0].text, trace.spans, group_of, item.language)
    if not trace.spans:
        return
    with st.expander(f"The {len(trace.spans)} facts: ranking, groups, and why some never change"):
        st.markdown(
            "Facts are numbered from 0, as in prompts and records. Rank 1 is the most important. Facts dropped before the ranking have no rank."
        )
        table(_fact_table(trace, group_of))


def _fact_table(trace: FactualTrace, group_of: dict[int, int]) -> pd.DataFrame:
    dropped = {one.span: one for one in trace.dropped}
    ranks = {span: at for at, span in enumerate(trace.ranking, start=1)}
    rows = []
    for n, span in enumerate(trace.spans):
        if n in group_of:
            fate = f"changed at A{group_of[n]}"
        elif n in dropped:
            word = f" ({dropped[n].word})" if dropped[n].word else ""
            fate = f"unchanged: {dropped[n].reason}{word}"
        else:
            fate = "unchanged"
        rows.append((n, span.text, span.kind, str(ranks.get(n, "none")), fate))
    return pd.DataFrame(rows, columns=["Fact", "Text", "Kind", "Rank", "Result"])


def _levels(trace: FactualTrace, item: Item) -> None:
    st.header("Levels", anchor=False)
    against = level_diff.base_control("A0")
    before = item.reference
    for level in trace.levels:
        first = item.reference if level is trace.levels[0] else trace.levels[0].text
        level_diff.level_card(level.name, level.text, item, against, before=before, first=first)
        said = [plain(level.note)] if level.note else []
        if level.attempts:
            said.append(counted(level.attempts, "attempt"))
        if said:
            st.markdown(f":small[{'; '.join(said)}.]")
        if level.edits:
            table(
                pd.DataFrame(
                    [(edit.span, edit.old, edit.new, edit.how) for edit in level.edits],
                    columns=["Fact", "Before", "After", "By"],
                )
            )
        before = level.text


_STATES = {"failed": "incomplete", "again": "no answer yet", "done": "complete"}
"""In the order of the list: items with problems come first."""
_MATERIALS, _CHOSEN = "generated_item_materials", "generated_item_chosen"
_RENDERED: Mapping[type, Callable[[Any, Item], None]] = {
    FactualTrace: factual_steps,
    DamageTrace: damage_levels,
}


def choose_item(run: RunAtHand) -> None:
    """Choose an item of the run and show it."""
    states = item_states(run.store, run.run.run_id)
    if not states:
        nothing(NO_ITEM)
        return
    with mistakes_shown():
        materials = load_materials(run).contents.materials
        position = _choose(run.run.run_id, states, materials)
        item = None if position is None else run_item(run.store, run.run.run_id, position)
        if item is None or position is None:
            nothing("no item has this state; choose another above")
            return
        trace = trace_of(run, item)
        _standing(run, item, trace)
        material = materials[position]
        heading(material.item, material.context)
        _RENDERED[type(trace)](trace, material.item)
        if not run.request.by_rules:
            chosen_judge.item_calls(run.store, run.run.run_id, position)
        with st.expander("Calls and prompts of this item"):
            prompts(trace.prompts)
            _calls(run, position)


def load_materials(run: RunAtHand) -> RunAtHand:
    """The run with its questions, read once per session and run."""
    run.contents = once(_MATERIALS, menus.identity(run.run), lambda: run.contents)
    return run


def heading(item: Item, context: str | None = None) -> None:
    """Show question, reference, and the task's passage or source."""
    level_diff.style()
    tag = blind_pair.language_of(item.language)
    st.html(
        f'<div class="assay-question assay-text assay-tall" {tag}>{escape(item.question)}</div>'
        '<div class="assay-quiet" style="margin-top:.5rem">Reference</div>'
        f'<div class="assay-reference assay-text" {tag}>{escape(item.reference)}</div>'
    )
    if context and context != item.question:
        with st.expander("Context"):
            level_diff.plain_card("Passage, source text or sentence", context, item.language)


def prompts(hashes: dict[str, str] | None) -> None:
    """Show which prompts were sent, by step."""
    if not hashes:
        st.markdown("No prompt was sent: rules made this item.")
        return
    table(pd.DataFrame({"Step": list(hashes), "Prompt (sha256)": [sha[:16] for sha in hashes.values()]}))


def _choose(run_id: int, states: dict[int, str], materials: tuple[Material, ...]) -> int | None:
    counts = {state: sum(one == state for one in states.values()) for state in _STATES}
    labels = {"all": f"all ({len(states)})"} | {s: f"{said} ({counts[s]})" for s, said in _STATES.items()}
    wanted = st.segmented_control(
        "Items",
        list(labels),
        default="all",
        format_func=labels.__getitem__,
        required=True,
        key="generated_state",
    )
    order = list(_STATES)
    found = sorted(
        (at for at, state in states.items() if wanted in ("all", state) and at < len(materials)),
        key=lambda at: (order.index(states[at]), at),
    )
    if not found:
        return None
    before = st.session_state.setdefault(_CHOSEN, {}).get(run_id)
    chosen: int = st.selectbox(
        "Item",
        found,
        found.index(before) if before in found else 0,
        format_func=lambda at: (
            f"{materials[at].item.item_id} ({_STATES[states[at]]}): {one_line(materials[at].item.question)}"
        ),
        help="Items with problems come first.",
    )
    st.session_state[_CHOSEN][run_id] = chosen
    return chosen


def _standing(run: RunAtHand, item: RunItem, trace: Any) -> None:
    if item.state == "done":
        return
    end = "Resume the run to try again."
    if item.state == "failed":
        there = bool(scheme_of(run.request).came(trace).texts)
        end = (
            "A level is missing. Partial results are below and in outputs.csv."
            if there
            else "No level was made."
        )
    if isinstance(trace, FactualTrace):
        why = why_it_ended(trace)
    else:
        why = "; ".join(f"{step}: {reason}" for step, reason in item.failures) + "."
    st.warning(f"This item is {_STATES[item.state]}. {plain(why)} {end}")


def _calls(run: RunAtHand, position: int) -> None:
    calls = item_costs(run.store, run.run.run_id, position)
    if not calls:
        st.markdown("No call was made.")
        return
    st.markdown("After an unusable reply the model is asked again, so a step can be listed twice.")
    rows = [
        (
            call["step"],
            became(call),
            "yes" if call["cached"] else "no",
            *(
                "not counted" if call[side] is None else str(call[side])
                for side in ("input_tokens", "output_tokens")
            ),
            f"{call['seconds']:.2f}",
        )
        for call in calls
    ]
    table(
        pd.DataFrame(rows, columns=["Step", "Reply", "From the cache", "Tokens in", "Tokens out", "Seconds"])
    )


MOST_ITEMS = 1000
"""More items would slow the page and change the figure little."""
_KEPT = "generated_levels_kept"


def levels_kept(run: RunAtHand) -> None:
    """Show the mean share of the reference's words at each level, with its range over items."""
    part(
        "Words kept",
        "Share of the reference's words that a level keeps, in the same order. It measures how much was changed, not how "
        "well: this is no metric of quality.",
        "words-kept",
    )
    states = item_states(run.store, run.run.run_id)
    if not states:
        nothing(NO_ITEM)
        return
    with mistakes_shown():
        levels = once(_KEPT, menus.key_of(run.store, run.run), lambda: _words_kept(run))
        said = ", ".join(f"{one.level} {number(one.mean)}" for one in levels)
        figure = plots.words_kept(levels)
        chart(figure, f"Mean share of the reference's words kept: {said}", "generated_levels")
        rows = [(one.level, one.n, number(one.mean), number(one.low), number(one.high)) for one in levels]
        table(pd.DataFrame(rows, columns=["Level", "Items used", "Mean", "Fewest kept", "Most kept"]))
        n_items = len(states)
        more = (
            f" Only the first {MOST_ITEMS:,} of {n_items:,} items are used." if n_items > MOST_ITEMS else ""
        )
        st.markdown(f":small[Dots: mean over items. Lines: lowest to highest item.{more}]")


def _words_kept(run: RunAtHand) -> tuple[WordsKept, ...]:
    materials, scheme = load_materials(run).contents.materials, scheme_of(run.request)
    references = {one.item.item_id: one.item.reference for one in materials}
    found = (
        (item.item_id, scheme.came(trace_of(run, item)).texts)
        for item in islice(run_items(run.store, run.run.run_id), MOST_ITEMS)
    )
    return words_kept(references, found, run.request.settings.level_names)


_REPLAYED = "report_replay_done"


def report() -> None:
    """Upload a report, show the counts, and one item."""
    st.write(
        "A report stores every step of a run that made A0 to A4: Factual's published `report.json`, or the one of a run "
        "here. Assay repeats the steps that need no model and compares the results."
    )
    # Any file type is accepted: a file refused by the browser would leave the previous result on the screen.
    upload = st.file_uploader("Report (JSON)", key="generate_report", max_upload_size=100)
    if upload is None:
        return
    data, name = upload.getvalue(), upload.name

    def replayed() -> tuple[FactualReport, Replay]:
        report = read_report(data, name)
        return report, replay(report)

    with mistakes_shown():
        report, found = once(_REPLAYED, (sha256_of(data), name), replayed)
        _counts(found)
        _item(report, found)


def _counts(found: Replay) -> None:
    part(
        "Replay",
        "Number of items whose report matches the repeated steps.",
    )
    if found.verdict:
        st.markdown(f"**{plain(found.verdict)}**")
    spelled = "as written" if found.case == "kept" else "in lower case"
    rows = [
        (
            "Items",
            found.items,
            f"All items of the report; {found.compared:,} of them were made and are compared."
            if found.failed
            else "All items of the report.",
        ),
        (
            "Brackets",
            found.brackets_match,
            "A0 without brackets equals the answer, and the brackets contain the listed facts.",
        ),
        (
            "Filter, order in Factual's code",
            found.filter_match_code_order,
            f"First keep the most important {found.keep:.0%}, then drop facts named in the question; facts compared {spelled}.",
        ),
        (
            "Filter, order in Factual's paper",
            found.filter_match_paper_order,
            f"First drop facts named in the question, then keep the most important {found.keep:.0%}.",
        ),
        (
            "Sizes of the groups",
            found.group_sizes_match,
            "Each level drops as many brackets as its group has facts.",
        ),
    ]
    table(
        pd.DataFrame(
            [(name, f"{count:,}", said) for name, count, said in rows],
            columns=["Step", "Items that match", "Note"],
        )
    )
    st.markdown(
        ":small[The two orders are alternatives: a run uses one of them. A model's steps (paraphrase, ranking, edits) "
        "cannot be repeated.]"
    )


def _item(report: FactualReport, found: Replay) -> None:
    def label(at: int) -> str:
        one = found.per_item[at]
        state = "not made" if one.failed is not None else "does not match" if one.reasons else "matches"
        return f"{one.item + 1} ({state}): {one_line(one.question)}"

    traces = report_traces(report)
    order = sorted(range(found.items), key=lambda at: (not found.per_item[at].reasons, at))
    chosen = st.selectbox(
        "Item",
        order,
        format_func=label,
        key="generate_report_item",
        help="Items that do not match come first.",
    )
    for reason in found.per_item[chosen].reasons:
        st.warning(plain(reason))
    question = report.questions[chosen]
    item = Item(traces[chosen].item_id, question.question, question.ground_truth)
    if traces[chosen].failed_step is not None:
        st.warning(plain(why_it_ended(traces[chosen])))
    heading(item)
    factual_steps(traces[chosen], item)

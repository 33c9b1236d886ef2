"""Tab Reliability: is a judge consistent, and does it agree with other models and with marked errors?"""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from core.analyses.ablation import ANALYSIS as ABLATION
from core.analyses.answers import ANALYSIS as ANSWERS
from core.analyses.caught_errors import ANALYSIS as ALIGNED
from core.analyses.reasked import ANALYSIS as REASKED
from core.analyses.reliability import ANALYSIS as RELIABILITY
from core.judges.alignment import KIND as KIND_of_alignment
from core.judges.alignment import MarkedError, MarkedText
from core.judges.answers import KIND, AnswerSet, question_sets_of
from core.results.judges.cross_examination import (
    marked_texts,
)
from core.runs.asked import asked_of
from core.runs.judging import answered, pieces_done
from core.runs.kinds import KINDS, kinds_with
from core.runs.path import saved_run
from core.runs.records import write_pieces
from core.schema.analysis import Answer
from core.schema.runs import Run
from core.store import Store
from pages.tabs import judged, new_run
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import analysis, chosen_judge, chosen_scores, level_diff, menus
from pages.widgets.analysis import Data
from pages.widgets.chosen_judge import MARKS, level_said
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import explained, nothing, part, table


def render_answers(store: Store, run: Run) -> None:
    """Show ADR and ADS of the models that answered, and a form that lets another model answer."""

    def choose() -> list[Data]:
        runs = chosen_judge.finished_runs(store, KIND)
        if not runs:
            nothing("no model has answered questions yet; let two models answer below")
            return []
        chosen = menus.several("Answers", runs, "judges_answers_chosen", _first_of_each(runs))
        if len(chosen) < 2:
            nothing("the rates need the answers of two models; choose another above")
            return []
        key = tuple(menus.key_of(store, one) for one in chosen)
        return [Data(key, lambda: [_answers(store, one) for one in chosen])]

    with mistakes_shown():
        analysis.render(RELIABILITY, choose, show=_rates)
    with st.expander("Have a model answer questions"), mistakes_shown():
        _start(store, run)


def _rates(answer: Answer) -> None:
    """Show the rates on all questions, or on those made from one side; downloads have both."""
    name = RELIABILITY.tables[0].name
    sides = list(dict.fromkeys(one.side for one in answer.result.rows))
    analysis.show_said(answer)
    side = (
        sides[-1]
        if len(sides) == 1
        else menus.one_of(None, "Questions from", sides[::-1], str, "judges_rates_of")
    )
    analysis.show_tables(answer, (name,), only={"side": [side]})


def result_of_answers(store: Store, run: Run) -> None:
    """Show the answers of one model, then beside those of others."""

    def choose() -> list[Data]:
        own = _answers(store, run)
        if not any(one.questions for one in own.sets):
            nothing("no question is answered yet; the tab Progress shows the run")
            return []
        return [Data(menus.key_of(store, run), lambda: [own])]

    if analysis.render(ANSWERS, choose) is not None:
        render_answers(store, run)


def _answers(store: Store, run: Run) -> AnswerSet:
    return AnswerSet(*answered(saved_run(store, run), KIND))


def _first_of_each(runs: dict[int, Run]) -> list[int]:
    """The newest run of each model: two runs of one model cannot be compared."""
    newest: dict[str, int] = {}
    for run_id, run in runs.items():
        newest.setdefault(asked_of(run).model.named, run_id)
    return list(newest.values())


def _start(store: Store, run: Run) -> None:
    cefs = chosen_judge.finished_runs(store, *kinds_with("answers"))
    if not cefs:
        nothing("no cross-examination has made questions yet; start one with New run")
        return
    chosen = menus.several(
        "Questions of",
        cefs,
        f"judges_answers_of_{run.run_id}",
        list(cefs)[:2] if run.run_id not in cefs else [run.run_id],
        help_text="Choose runs of several models on the same texts, and let each model answer all questions.",
    )
    if len({asked_of(one).model.named for one in chosen}) == 1:
        st.markdown(":small[These are one model's questions. To compare models, choose runs of several.]")
    wanted = new_run.model(KIND)
    sets = [one for cef in chosen for one in question_sets_of(chosen_judge.output_of(store, cef))]
    count = sum(len(one.questions) for one in sets)
    st.markdown(f"{count:,} questions from {len(sets):,} texts.")
    if st.button(
        f"Let {plain(wanted.called) or 'the model'} answer {count:,} questions",
        key="judges_answers_start",
        type="primary",
        disabled=not sets or wanted.model.missing is not None,
    ):
        name = f"questions-{'-'.join(map(str, sorted(one.run_id for one in chosen)))}.jsonl"
        new_run.start(store, write_pieces(sets), name, wanted)
        st.rerun()


def start(store: Store, run: Run) -> None:
    """Show a form that compares mismatches with errors that people marked, by rules or a model."""
    part(
        "Errors that people marked",
        "Does a mismatching question point to each error that a person marked? Needs ratings of the same texts with error "
        "spans, such as MQM. False alarms are not counted here.",
        "alignment-with-marked-errors",
    )
    with st.expander("Compare with marked errors"), mistakes_shown():
        file = chosen_scores.choose_kept(store, "ratings", KIND_of_alignment.name, "Ratings")
        if file is None:
            return
        texts, notes = chosen_scores.once(
            ("marked", *menus.key_of(store, run), *chosen_scores.key_of(file)),
            lambda: marked_texts(chosen_judge.output_of(store, run), chosen_scores.ratings_of(store, file)),
        )
        chosen_scores.read_notes(notes)
        wanted = new_run.model(KIND_of_alignment)
        if st.button(
            f"Compare {sum(len(text.errors) for text in texts):,} marked errors",
            key="judges_alignment_start",
            type="primary",
            disabled=not texts or wanted.model.missing is not None,
        ):
            new_run.start(store, write_pieces(texts), f"marked-errors-run-{run.run_id}.jsonl", wanted)
            st.rerun()


def result_of_marked(store: Store, run: Run) -> None:
    """Show the share of marked errors found, by kind, then each error."""
    key = menus.key_of(store, run)
    texts = chosen_scores.once(("looked at", *key), lambda: pieces_done(saved_run(store, run)))

    def choose() -> list[Data]:
        if not any(text.errors for text in texts):
            nothing("no error is compared yet; the tab Progress shows the run")
            return []
        mismatches = sum(len(text.mismatches) for text in texts)
        by = (
            " Compared by rules: a stand-in that understands no meaning."
            if saved_run(store, run).request.by_rules
            else ""
        )
        st.markdown(f"Texts: {len(texts):,}; mismatching questions: {mismatches:,}.{by}")
        return [Data(key, lambda: texts)]

    if analysis.render(ALIGNED, choose) is not None:
        explained(
            ":small[Many mismatches hit errors by chance, so compare the share with the number of mismatches.]",
            "shares",
        )
        _errors(texts, run.run_id)


def _errors(texts: Sequence[MarkedText], run_id: int) -> None:
    part("Text by text", "Texts with missed errors come first.", "alignment-with-marked-errors")
    order = sorted(texts, key=lambda text: -sum(error.found is False for error in text.errors))
    text = menus.one_of(None, "Text", order, _case, f"judges_marked_text_{run_id}")
    left, right = st.columns(2)
    with left:
        level_diff.plain_card("Compared with", text.document or "", text.row.language)
    with right:
        level_diff.plain_card("Text", text.text, text.row.language)
    table(pd.DataFrame([_error(error) for error in text.errors]))
    if not text.mismatches:
        nothing("this text has no mismatching question")
        return
    table(
        pd.DataFrame(
            {
                "Mismatching question": [one.question for one in text.mismatches],
                "Expected": [one.expected for one in text.mismatches],
                "Answer": [one.answer for one in text.mismatches],
            }
        )
    )


def _error(error: MarkedError) -> dict[str, str]:
    return {
        "Found": MARKS[error.found],
        "Marked": error.quote,
        "Category": error.category,
        "Severity": error.severity,
        "Why": error.reason or error.why,
    }


def _case(text: MarkedText) -> str:
    missed = sum(error.found is False for error in text.errors)
    return f"{text.row.item_id[:40]}, {text.row.system[:40]}{level_said(text.row)}: {missed} of {len(text.errors)} not found"


def render(store: Store, run: Run) -> None:
    """Show every reliability report that the kind of this run has."""
    if not chosen_judge.output_of(store, run).texts:
        nothing(NOT_JUDGED)
        return
    with mistakes_shown():
        judged.render_consistency(store, run)
    for report, show in _PARTS.items():
        if report in KINDS[run.kind].reports:
            with mistakes_shown():
                show(store, run)


def _reasked(store: Store, run: Run) -> None:
    def choose() -> list[Data]:
        if not asked_of(run).settings.reask:
            nothing("this run did not ask its questions again; start a new run that does")
            return []
        return [Data(menus.key_of(store, run), lambda: chosen_judge.output_of(store, run))]

    analysis.render(REASKED, choose)


def _ablation(store: Store, run: Run) -> None:
    def choose() -> list[Data]:
        runs = chosen_judge.finished_runs(store, *kinds_with("ablation"))
        if run.run_id not in runs:
            nothing(NOT_JUDGED)
            return []
        used = menus.several("Cross-examinations", runs, f"judges_ablation_{run.run_id}", [run.run_id])
        if not used:
            nothing("choose at least one run above")
            return []
        key = tuple(menus.key_of(store, one) for one in used)
        return [Data(key, lambda: [chosen_judge.output_of(store, one) for one in used])]

    analysis.render(ABLATION, choose)


_PARTS: Mapping[str, Callable[[Store, Run], None]] = {
    "reasked": _reasked,
    "ablation": _ablation,
    "answers": render_answers,
    "align": start,
}
"""Result table -> the function that shows it for a run."""

"""Tab Bias: what besides quality sways a judge, from its scores of edited twins, with the texts whose scores changed most."""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from core.analyses import analysis
from core.analyses.bias import ChangeRow
from core.errors import AssayError
from core.joining.tables import only_metric
from core.judges.kind import JudgeKind
from core.results.judges.bias import may_audit
from core.runs.kinds import KINDS
from core.schema.panel import JudgedTables
from core.schema.scores import JudgeOutput
from core.sources.panel import texts_of_output
from core.store import Store
from pages.tabs import judged
from pages.widgets import chosen_judge, chosen_scores, level_diff, menus
from pages.widgets.analysis import Data, answer_of, form, show_answer
from pages.widgets.chosen_judge import score
from pages.widgets.chosen_scores import Chosen, Scores
from pages.widgets.parts import nothing, part, places

_ALL = "All"


def fits(store: Store, choice: Chosen) -> bool:
    """Whether the scores are of edited twins, or the judge read texts in both orders."""
    with suppress(AssayError):  # the tabs say what is wrong with them
        scores = chosen_scores.open_scores(store, choice)
        return may_audit(scores.table, _output(store, scores))
    return False


def render(store: Store, scores: Scores) -> None:
    """Show each probe's effect, and the texts behind the largest changes."""
    found = analysis("bias")
    part(found.title, found.question, found.section)
    data = _data(store, scores)
    answer = answer_of(found, form(found), data)
    show_answer(answer)
    _changes(answer.result.changes, f"{scores.origin}")


def _data(store: Store, scores: Scores) -> Data:
    """The scores, or one of them, with the judge's records."""
    names = [metric.name for metric in scores.table.metrics]
    name = _ALL
    if len(names) > 1:
        name = st.selectbox("Score", [_ALL, *names], key=f"judges_bias_{scores.origin}")

    def opened() -> JudgedTables:
        output = _output(store, scores)
        table = judged.table_of(scores)
        texts = () if output is None else texts_of_output(output)
        return JudgedTables((table if name == _ALL else only_metric(table, name),), (output,), texts)

    return Data((*scores.key, name), opened, grows=None if scores.grows is None else (*scores.grows, name))


def _output(store: Store, scores: Scores) -> JudgeOutput | None:
    """The judge's records; None for scores that no judge's run gave."""
    if scores.run is None or not isinstance(KINDS[scores.run.kind], JudgeKind):
        return None
    return chosen_judge.output_of(store, scores.run)


def _changes(changes: Sequence[ChangeRow], key: str) -> None:
    """A listed text beside its twin, of all probes or of one."""
    if not changes:
        return
    place = places(2)
    probes = [_ALL, *dict.fromkeys(one.probe for one in changes)]
    with next(place):
        probe = st.selectbox("Probe", probes, key=f"judges_bias_probe_{key}")
    listed = [one for one in changes if probe in (_ALL, one.probe)]
    with next(place):
        one = menus.one_of(
            None, "Text, largest change first", listed, _case, f"judges_bias_text_{key}_{probe}"
        )
    _show_both(one)


def _case(one: ChangeRow) -> str:
    level = "" if one.level is None else f", level {one.level}"
    name = f"{one.probe}: {one.item[:40]}, {(one.system or '')[:40]}{level}"
    return f"{name}: {score(one.before, 1.0)} to {score(one.after, 1.0)}"


def _show_both(one: ChangeRow) -> None:
    """Both texts side by side, with what the edit changed, and the judge's reasons."""
    if not (one.unedited and one.edited):
        nothing("the texts behind these scores are not known")
        return
    columns = places(2, "top")
    with next(columns):
        level_diff.plain_card(f"Unedited: {score(one.before, 1.0)}", one.unedited, one.language)
        if one.reasons_unedited:
            level_diff.plain_card("The judge's reasons", one.reasons_unedited, "und")
    with next(columns):
        level_diff.marked_card(f"Edited: {score(one.after, 1.0)}", one.unedited, one.edited, one.language)
        if one.reasons_edited:
            level_diff.plain_card("The judge's reasons", one.reasons_edited, "und")

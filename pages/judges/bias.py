"""Tab Bias: what besides quality sways a judge, from its scores of edited twins, with the texts whose scores changed most."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from core.errors import AssayError
from core.judges.kind import JudgeKind
from core.plots.judges import bias_effects
from core.results.check.gaps import beside_of, by_item, reason_of, texts_of_judge
from core.results.judges.bias import (
    BiasAudit,
    Change,
    bias_audit,
    bias_said,
    bias_table,
    changes_table,
    may_audit,
)
from core.runs.kinds import KINDS
from core.schema.panel import TextBeside
from core.schema.scores import JudgeOutput
from core.store import Store
from pages.tabs import judged
from pages.widgets import chosen_judge, chosen_scores, level_diff, menus, result_table
from pages.widgets.chosen_judge import level_said, score
from pages.widgets.chosen_scores import Chosen, Scores
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, part, places

_LISTED = 20
_ALL = "All"


def fits(store: Store, chosen: Chosen) -> bool:
    """Whether the scores are of edited twins, or the judge read texts in both orders."""
    with suppress(AssayError):  # the tabs say what is wrong with them
        scores = chosen_scores.open_scores(store, chosen)
        return may_audit(scores.table, _output(store, scores))
    return False


def render(store: Store, scores: Scores) -> None:
    """Show each probe's effect, and the texts behind the largest changes."""
    part(
        "Bias audit",
        "An edit that leaves the facts as they are should not move the score, and neither should the place of a text. "
        "Underpowered is not clean: more texts could still show a bias.",
        "pairs#bias-audit",
    )
    output = _output(store, scores)
    found: BiasAudit = chosen_scores.now_and_then(
        scores.grows, ("bias", scores.key), ("bias",), lambda: bias_audit(judged.table_of(scores), output)
    )
    names = list(dict.fromkeys(one.judge for one in found.effects))
    name = names[0]
    if len(names) > 1:
        name = st.selectbox("Score", names, key=f"judges_bias_{scores.chosen}")
    own = replace(
        found,
        effects=tuple(one for one in found.effects if one.judge == name),
        changes=tuple(one for one in found.changes if one.judge == name),
    )
    st.markdown(f"**{plain(bias_said([own])[0])}**")
    result_table.show(
        bias_table([own]),
        figure=bias_effects(own.effects),
        alt=f"change of the score {name} by {len(own.effects)} probes",
        titled=False,
        whole=bias_table([found]),
    )
    _changes(own, _texts(output), f"{scores.chosen}_{name}")


def _output(store: Store, scores: Scores) -> JudgeOutput | None:
    """The judge's records; None for scores that no judge's run gave."""
    if scores.run is None or not isinstance(KINDS[scores.run.kind], JudgeKind):
        return None
    return chosen_judge.output_of(store, scores.run)


def _texts(output: JudgeOutput | None) -> Sequence[TextBeside]:
    if output is None:
        return ()
    kind = KINDS[output.kind]
    assert isinstance(kind, JudgeKind)
    return texts_of_judge(output, kind)


def _changes(own: BiasAudit, texts: Sequence[TextBeside], key: str) -> None:
    if not own.changes:
        return
    part(
        "Largest changes",
        "Read some of them: did the edit change a fact after all, or does the judge give a reason?",
        "pairs#bias-audit",
    )
    place = places(2)
    probes = [_ALL, *dict.fromkeys(one.probe for one in own.changes)]
    with next(place):
        probe = st.selectbox("Probe", probes, key=f"judges_bias_probe_{key}")
    kept = [one for one in own.changes if probe in (_ALL, one.probe)]
    with next(place):
        one = menus.one_of(
            None, "Text, largest change first", kept[:200], _case, f"judges_bias_text_{key}_{probe}"
        )
    if texts:
        _beside(one, texts)
    listed = replace(own, changes=tuple(kept))
    result_table.show(
        changes_table([listed], most=_LISTED), titled=False, whole=changes_table([listed], texts)
    )


def _case(one: Change) -> str:
    name = f"{one.probe}: {one.row.item_id[:40]}, {one.row.system[:40]}{level_said(one.row)}"
    return f"{name}: {score(one.before, 1.0)} to {score(one.after, 1.0)}"


def _beside(one: Change, texts: Sequence[TextBeside]) -> None:
    """Both texts side by side, with what the edit changed, and the judge's reasons."""
    known = by_item(texts).get(one.row.item_id, ())
    before, after = beside_of(one.twin, known), beside_of(one.row, known)
    if before is None or after is None:
        nothing("the run has no text for this twin")
        return
    columns = places(2, "top")
    with next(columns):
        level_diff.plain_card(f"Unedited: {score(one.before, 1.0)}", before.text, one.row.language)
        if said := reason_of(before, one.judge):
            level_diff.plain_card("The judge's reasons", said, "und")
    with next(columns):
        level_diff.marked_card(f"Edited: {score(one.after, 1.0)}", before.text, after.text, one.row.language)
        if said := reason_of(after, one.judge):
            level_diff.plain_card("The judge's reasons", said, "und")

"""What besides quality sways a judge: edits that leave the facts as they are, and the place in which it reads a text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, Verdict, confidence_setting, rng_setting
from core.schema.figures import AnyFigure, Axis, Intervals
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.judges.bias import BiasAudit, Change, Effect
    from core.schema.panel import JudgedTables, TextBeside

_SIDES: Mapping[str, str] = {
    "edited": "for the edited text",
    "unedited": "against the edited text",
    "first": "for the first place",
    "second": "for the second place",
}


class BiasOptions(Settings):
    """How a bias is told from noise."""

    limit: float = setting(
        0.1,
        "Largest change that counts as none",
        "a probe is underpowered if the smallest change that it can show is larger than this share of the judge's scale",
        above=0,
        at_most=1,
        metavar="SHARE",
        step=0.01,
    )
    changes: int = setting(
        10, "Texts listed", "number of texts to show, largest change first; 0: none", at_least=0, metavar="N"
    )
    alpha: float = setting(
        0.05,
        "Level of the tests",
        "level of the tests, corrected over a judge's probes",
        above=0,
        below=1,
        step=0.01,
        folded=True,
    )
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class EffectRow:
    """What one probe does to one judge's scores."""

    judge: str = column("the judge's score", names_row=True)
    probe: str = column("the edit, or position: the same texts in both orders", names_row=True)
    verdict: str = column("biased, no bias found, underpowered or undefined")
    favours: str = column("edited or unedited text, first or second place; empty unless biased")
    change: Interval = column(
        "mean score of edited minus unedited text; position: share of decisions for the first text minus one half",
        title="change of score",
        places=2,
        ends="counted",
    )
    of_gap: Interval = entry(
        "change as a share of the judge's own distance between better and worse unedited texts",
        ends="counted",
    )
    of_gap_shown: Interval | None = column(
        "change as a share of the judge's own distance between better and worse unedited texts; empty for position",
        name="of_gap",
        title="share of better - worse",
        key="",
        percent=True,
        places=2,
    )
    flips: Interval = column(
        "share of pairs whose order the edit turns, to or from a tie half; position: share with another verdict in the other "
        "order. `report pairs` counts only the pairs whose verdict follows the place",
        title="order turned",
        percent=True,
        places=2,
        ends="counted",
    )
    detectable: Interval = column(
        "smallest change found with a chance of 80 %", title="smallest detectable", places=2
    )
    scale: float | None = column("range of the judge's scores", shown=False)
    n: int = column("edited texts that count", title="texts", key="")
    n_items: int = column("their items", title="items", shown=False)
    n_moved: int = entry("items with any change")
    error: float | None = entry("standard error of the change")
    p: float | None = column("two-sided p of no change, by sign flips of items", p_value=True)
    p_corrected: float | None = column(
        "p corrected for the judge's probes", name="p_bh", title="Benjamini-Hochberg p", p_value=True
    )
    left_out: Mapping[str, int] = column("reason -> edited texts left out")
    reason: str = column("why it is undefined or underpowered")


@row
class ChangeRow:
    """An edited text beside its unedited twin."""

    judge: str = column("the judge's score", names_row=True)
    probe: str = column("the edit", names_row=True)
    item: str = column("the item", names_row=True)
    system: str | None = column("the system")
    level: str | None = column("the level")
    before: float = column("score of the unedited text", places=2)
    after: float = column("score of the edited text", places=2)
    change: float = column("after minus before, higher is better", places=2)
    flips: float | None = column(
        "1: the other text of the pair is now preferred; 0.5: to or from a tie",
        title="order turned",
        places=1,
    )
    unedited: str = column("the unedited text, where it is known", title="unedited text", shown=False)
    edited: str = column("the edited text", title="edited text", shown=False)
    diff: str = column("the changes alone: {+added+}, [-removed-]", title="what the edit changed")
    reasons_unedited: str = column("the judge's reasons for the unedited text", title="reasons, unedited")
    reasons_edited: str = column("its reasons for the edited text", title="reasons, edited")
    language: str


@row
class Bias:
    """The effects of all probes on all judges."""

    effects: tuple[EffectRow, ...] = entry("each judge and probe", rows=EffectRow)
    changes: tuple[ChangeRow, ...] = entry("the texts whose scores changed most", rows=ChangeRow)
    limit: float = entry("largest change that counts as none, as a share of the judge's scale")
    alpha: float = entry("level of the tests")
    confidence_level: float = entry("of the intervals")
    notes: tuple[str, ...] = entry(
        "whether the judge's model is, or is of the family of, a model that wrote the texts"
    )
    n_listed: int

    @property
    def by_judge(self) -> dict[str, list[EffectRow]]:
        """Judge -> its effects."""
        found: dict[str, list[EffectRow]] = {}
        for one in self.effects:
            found.setdefault(one.judge, []).append(one)
        return found

    @property
    def n_tests(self) -> int:
        """The largest number of tests of a judge."""
        return max((sum(one.p is not None for one in own) for own in self.by_judge.values()), default=0)


def compute(options: BiasOptions, judged: "JudgedTables", *, tell: Tell) -> Bias:
    """Measure what edits of a text, and its place, do to scores.

    Raises InputError for scores with neither an edited text nor verdicts in both orders.
    """
    from core.results.judges.bias import bias_audit

    tell("comparing twins")
    asked = options.model_dump(exclude={"changes"})
    audits = [
        bias_audit(table, output, **asked)
        for table, output in zip(judged.tables, judged.outputs, strict=True)
    ]
    changes = sorted((change for audit in audits for change in audit.changes), key=lambda one: -one.share)
    return Bias(
        effects=tuple(_effect_row(name, one) for name, one in _named(audits)),
        changes=_change_rows(changes[: options.changes], judged.texts),
        limit=options.limit,
        alpha=options.alpha,
        confidence_level=options.confidence_level,
        notes=tuple(dict.fromkeys(note for audit in audits for note in audit.notes)),
        n_listed=options.changes,
    )


def _named(audits: "Sequence[BiasAudit]") -> "list[tuple[str, Effect]]":
    """Each judge's effects side by side; two judges of one name also get the name of their scores."""
    names = Counter(name for audit in audits for name in {one.judge for one in audit.effects})
    places = Counter((name, audit.name) for audit in audits for name in {one.judge for one in audit.effects})
    found: dict[str, list[Effect]] = {}
    for at, audit in enumerate(audits, start=1):
        for one in audit.effects:
            of_two = audit.name if places[one.judge, audit.name] == 1 else f"{audit.name}, input {at}"
            name = one.judge if names[one.judge] == 1 else f"{one.judge} ({of_two})"
            found.setdefault(name, []).append(one)
    return [(name, one) for name, own in found.items() for one in own]


def _effect_row(judge: str, one: "Effect") -> EffectRow:
    from core.results.cells import interval
    from core.results.judges.bias import ONE_ITEM, POSITION

    return EffectRow(
        judge=judge,
        probe=one.probe,
        verdict=one.verdict,
        favours=one.favours,
        change=interval(one.change),
        of_gap=interval(one.of_gap),
        of_gap_shown=None if one.probe == POSITION else interval(one.of_gap),
        flips=interval(one.flips),
        detectable=Interval(one.detectable, reason=one.reason or ONE_ITEM if one.detectable is None else ""),
        scale=one.scale,
        n=one.change.n,
        n_items=one.change.n_clusters,
        n_moved=one.n_moved,
        error=one.error,
        p=one.p,
        p_corrected=one.p_corrected,
        left_out=one.left_out,
        reason=one.reason,
    )


def _change_rows(changes: "Sequence[Change]", texts: "Sequence[TextBeside]") -> tuple[ChangeRow, ...]:
    from core.results.check.gaps import find_text, reason_of, texts_by_item

    known = texts_by_item(texts)
    rows = []
    for one in changes:
        twin, edited = (find_text(each, known.get(one.row.item_id, ())) for each in (one.twin, one.row))
        before, after = ("" if each is None else each.text for each in (twin, edited))
        rows.append(
            ChangeRow(
                judge=one.judge,
                probe=one.probe,
                item=one.row.item_id,
                system=one.row.system or None,
                level=one.row.level,
                before=one.before,
                after=one.after,
                change=one.change,
                flips=one.flips,
                unedited=before,
                edited=after,
                diff=_changed(before, after) if twin and edited else "",
                reasons_unedited=reason_of(twin, one.judge),
                reasons_edited=reason_of(edited, one.judge),
                language=one.row.language,
            )
        )
    return tuple(rows)


def _changed(before: str, after: str) -> str:
    """The changes alone, in reading order."""
    from core.diff import diff_against
    from core.judges.twins import marked

    changes = [one for one in diff_against(before, after) if one.kind != "same"]
    return " ".join(" ".join(marked([one]).split()) for one in changes)


def _verdicts(found: Bias) -> tuple[Verdict, ...]:
    return tuple(_verdict(judge, own) for judge, own in found.by_judge.items())


def _verdict(judge: str, effects: Sequence[EffectRow]) -> Verdict:
    """The biases found, with their size, then what is clean, underpowered and undefined."""
    from core.tables.problems import listed
    from core.tables.reading import shown

    of = {
        code: [one for one in effects if one.verdict == code]
        for code in ("biased", "no bias found", "underpowered", "undefined")
    }
    tested = sum(one.p is not None for one in effects)
    probes = f"{tested} probe{'' if tested == 1 else 's'}"
    if of["biased"]:
        which = listed(
            [f"{shown(one.probe)} ({_signed(one)}, {_SIDES[one.favours]})" for one in of["biased"]]
        )
        said = f"{shown(judge)} is biased on {len(of['biased'])} of {probes}: {which}."
    else:
        said = (
            f"{shown(judge)}: no bias is shown on {probes}."
            if tested
            else f"{shown(judge)}: nothing to test."
        )
    if clean := of["no bias found"]:
        most = max((one.detectable.value or 0.0) / (one.scale or 1.0) for one in clean)
        said += (
            f" No bias found: {listed([shown(one.probe) for one in clean])}; changes above {most:.0%} of the scale would have "
            "been found."
        )
    if weak := of["underpowered"]:
        said += f" Underpowered, which is not clean: {listed([shown(one.probe) for one in weak])}."
    if undefined := of["undefined"]:
        said += f" Undefined: {listed([f'{shown(one.probe)} ({one.reason})' for one in undefined])}."
    # A probe that could not show a bias leaves the judge open, however clean the others are.
    code = next((one for one in ("biased", "underpowered", "no bias found") if of[one]), "undefined")
    why = "; ".join(dict.fromkeys(one.reason for one in undefined)) if code == "undefined" else ""
    return Verdict(code.replace(" ", "-"), said, reason=why)


def _signed(one: EffectRow) -> str:
    from core.results.cells import decimal

    value = one.change.value or 0.0
    return f"{'+' if value > 0 else ''}{decimal(value, 2)}"


def _hidden(found: Bias) -> tuple[str, ...]:
    several = len(found.by_judge) > 1
    return (
        *(() if several else ("judge",)),
        *(() if any(one.of_gap_shown is not None for one in found.effects) else ("of_gap",)),
        "p" if found.n_tests > 1 else "p_bh",
        *(() if any(one.left_out for one in found.effects) else ("left_out",)),
        *(() if any(one.verdict == "undefined" for one in found.effects) else ("reason",)),
    )


def _notes(found: Bias) -> tuple[str, ...]:
    from core.results.cells import corrected_note
    from core.results.judges.bias import POWER

    items = [one.n_items for one in found.effects if one.p is not None] or [0]
    over = f"{min(items):,}" if min(items) == max(items) else f"{min(items):,} to {max(items):,}"
    return (
        "Change of score: edited minus unedited text, higher is better; a pairwise judge's is the net share of verdicts "
        "moved. Position: share of decisions for the text read first, each pair once, minus one half.",
        f"Intervals: {found.confidence_level:.0%}, jackknife over {over} items. p: sign flips of items.",
        *corrected_note("benjamini-hochberg", found.n_tests, "the probes of each judge"),
        f"Smallest detectable: found with a chance of {POWER:.0%}. Underpowered: above {found.limit:.0%} of the range of "
        "the judge's scores.",
        "Overlap with a reference rightly falls when a text grows, and conciseness may count: read the largest changes.",
        *_left_out_notes(found),
        *found.notes,
    )


def _left_out_notes(found: Bias) -> Iterator[str]:
    from core.results.cells import left_out_lines
    from core.tables.reading import shown

    several = len(found.by_judge) > 1
    for one in found.effects:
        whose = f"{shown(one.judge)}, {shown(one.probe)}" if several else shown(one.probe)
        yield from left_out_lines(one.left_out, whose)


def _changes_hidden(found: Bias) -> tuple[str, ...]:
    rows = found.changes
    return (
        *(() if len(found.by_judge) > 1 else ("judge",)),
        *(() if len({one.system for one in rows}) > 1 else ("system",)),
        *(() if any(one.edited for one in rows) else ("diff",)),
        *(
            name
            for name in ("reasons_unedited", "reasons_edited")
            if not any(getattr(one, name) for one in rows)
        ),
    )


def _changes_notes(found: Bias) -> tuple[str, ...]:
    return (
        "Order turned: 1 where the other text of the pair is now preferred, 0.5 to or from a tie.",
        *(
            ("{+added+}, [-removed-]; files have both texts.",)
            if any(one.edited for one in found.changes)
            else ()
        ),
    )


def _figures(found: Bias) -> tuple[AnyFigure, ...]:
    drawn = [one for one in found.effects if one.change.value is not None]
    if not drawn:
        return ()
    return (
        Intervals(
            table="bias",
            alt=f"Change of score by {len(drawn)} probes, with intervals and what is too small to be found",
            sides=("change",),
            names=("probe",),
            axis=Axis("change of score: edited minus unedited"),
            panel="judge",
            by="verdict",
            values=("no bias found", "biased", "underpowered", "undefined"),
            around="detectable",
            across=0.0,
        ),
    )


ANALYSIS = Analysis(
    name="bias",
    title="Bias audit",
    question="What besides quality sways a judge: edits that leave the facts as they are, or the place of a text?",
    Options=BiasOptions,
    Result=Bias,
    takes=("judged",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "biased": "at least one probe moves the judge's score",
        "underpowered": "no probe is shown to, and at least one could not show a change of the size of the limit: not clean",
        "no-bias-found": "no probe is shown to, and each would have shown a change of the size of the limit",
        "undefined": "no probe could be tested",
    },
    figures=_figures,
    section="pairs#bias-audit",
    misleads="Overlap with a reference rightly falls when a text grows, and a longer text is not as good where conciseness "
    "counts. An edit may have changed a fact after all: read the largest changes.",
    refuses="If the scores have neither edited texts nor verdicts in both orders.",
    example="""
>>> import assay, pandas as pd
>>> cells = [(f"q{at}", level, pair, edit, 4 - 2 * (level == "A3") + (edit == "padding"))
...          for at in range(12) for pair in ("none", "padding") for level, edit in (("A0", pair), ("A3", "none"))]
>>> frame = pd.DataFrame(cells, columns=["item", "level", "pair", "edit", "judge"])
>>> assay.bias(frame).frame[["probe", "verdict", "favours", "change", "of_gap"]].values.tolist()
[['padding', 'biased', 'edited', 1.0, 0.5]]
""",
    tables=(
        Table(
            "bias",
            EffectRow,
            lambda found: found.effects,
            "What besides quality sways the judge?",
            notes=_notes,
            hidden=_hidden,
        ),
        Table(
            "bias-changes",
            ChangeRow,
            lambda found: found.changes if found.n_listed else None,
            "Largest changes of score",
            "Did the edit change a fact after all, or does the judge give a reason?",
            notes=_changes_notes,
            hidden=_changes_hidden,
        ),
    ),
)

"""The card of a check: one file with the verdict, its numbers and figures, and what it does not say."""

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from core import __version__
from core.analyses.check.filled import answer_of
from core.report import headings, lines, markdown_of, markdown_text, notes, written
from core.results.cells import interval
from core.results.check.groups import Group
from core.results.check.rules import FEWEST_ITEMS, compared_numbers
from core.results.check.sentences import (
    ceiling_sentence,
    check_said,
    check_sentence,
    people_unknown,
    read_as,
    sentence,
    signature,
)
from core.results.check.verdict import Check, JudgeCheck
from core.schema.result_table import Column, Interval, ResultTable
from core.schema.scores import STATED
from core.schema.uses import USES
from core.stats.resampling import Estimate
from core.tables.reading import printable_text
from core.tables.roles import roles_said

_Tables: TypeAlias = Mapping[str, ResultTable]
_STYLE = Path(__file__).with_name("card.css")
MOST_DRAWN = 24
"""Most groups in the figure; the table has all."""
_NUMBER = Column("number")
_STATES = {"met": "good", "failed": "bad", "open": "open", "TRUSTED": "good", "NOT TRUSTED": "bad"}
_MARKS = {"met": "✓ met", "failed": "✗ failed", "open": "? open"}
_QUANTITIES = {
    "false-passes": "False passes",
    "false-fails": "False fails",
    "kappa": "Kappa with a rater",
    "classes": "Worst class missed",
    "critical": "Critical class missed",
    "kappa-quadratic": "Quadratic kappa",
    "correlation": "Spearman with raters",
    "accuracy": "Pairs of systems in order",
}
_ENDS = re.compile(r"(\[[-+.\d]+, [-+.\d]+\])$")
"""The interval behind a number: a table breaks before it, not within."""
_LETTERS = 26
"""Letters of a label in a figure: those beside the longest number at the width of a phone."""


# --- what every card says ----------------------------------------------------------------------


def limits_of(check: Check) -> list[str]:
    """What the verdict does not say, in sentences."""
    certifies = check.use == "certify"
    subject = "system" if certifies else "judge"
    said = [
        f"It holds for {'questions' if certifies else 'texts'} like these {check.n_items:,} items. "
        + (
            "Other topics or languages need labels of their own."
            if certifies
            else "Other topics, languages or systems need labels of their own."
        ),
        f"It holds for these raters: {_raters_counted(check)}. Others may judge differently.",
        f"It holds for the use {check.use}: to {USES[check.use]}.",
        "It holds for this version of the system."
        if certifies
        else "It holds for this version of the judge. Another model, prompt or rubric is another judge.",
        f"TRUSTED is no proof: a {subject} at the limit passes in about 5 % of such checks. "
        f"INCONCLUSIVE is no sign of a bad {subject}: the labels are too few.",
    ]
    if check.ceiling.estimate is None or check.ceiling.estimate.estimate is None:
        said.append(
            f"{people_unknown(check)}."
            if check.paired
            else "No text has two raters: one person decided what is good."
            if certifies
            else "No text has two raters: nobody knows how well a person would do."
        )
    if check.chooses:
        said.append("Each verdict stands alone. The best of many judges is partly best by chance.")
    if any(one.groups for one in check.judges):
        said.append("A group that is not shown to fail is not shown to be good.")
    return said


def command_said(arguments: Sequence[str], program: str, *, names: bool) -> str:
    """The command line that made a card. names: whether it may show the raters' names."""
    said, hidden = [], False
    for one in arguments:
        option, equals, _ = one.partition("=")
        is_human = option.startswith("--") and option[2:] in {"human", "huma", "hum", "hu"}
        if hidden and not names:
            said.append("RATERS")
        elif is_human and equals and not names:
            said.append(f"{option}=RATERS")
        else:
            said.append(shlex.quote(one))
        hidden = is_human and not equals
    return " ".join([program, *said])


def _raters_counted(check: Check) -> str:
    n_raters = int((~np.isnan(check.panel.ratings)).any(axis=0).sum())
    return "1 rater" if n_raters == 1 else f"{n_raters:,} raters"


def _raters(check: Check, *, names: bool) -> str:
    counted = _raters_counted(check)
    return f"{counted}: {', '.join(check.panel.raters)}" if names else counted


def _shown(
    check: Check, further: Iterable[ResultTable], *, names: bool
) -> tuple[Check, Sequence[ResultTable]]:
    """The check and the further tables; without the raters' names unless they are requested."""
    if names:
        return check, tuple(further)
    roles, raters = check.panel.roles, check.panel.raters
    if roles is not None:
        unnamed = f"{_raters_counted(check)}; {roles_said(replace(roles, human=()))}"
        check = replace(check, notes=tuple(note.replace(roles_said(roles), unnamed) for note in check.notes))
    return check, tuple(_drop_raters(table, raters) for table in further)


def _drop_raters(table: ResultTable, raters: Sequence[str]) -> ResultTable:
    """The table without a column for each rater, called `rater NAME` where another column has the name."""
    there = {column.name for column in table.columns}
    hidden = {f"rater {name}" if f"rater {name}" in there else name for name in raters}
    columns = [replace(one, shown=one.shown and one.name not in hidden) for one in table.columns]
    return replace(table, columns=tuple(columns))


def _facts(check: Check, made_at: str, *, names: bool) -> dict[str, str]:
    """The facts about the check itself."""
    return {
        "Use": f"{check.use}: {USES[check.use]}",
        "Labels": _labels_counted(check),
        "Raters": _raters(check, names=names),
        "Made": f"{made_at}, Assay {__version__}",
    }


def _labels_counted(check: Check) -> str:
    n = len(check.panel.rows)
    if check.use == "certify":
        labelled = int((~np.isnan(check.panel.ratings)).any(axis=1).sum())
        return f"{check.n_items:,} items, {labelled:,} of {n:,} texts"
    left_out = f"{check.n_left_out:,} texts left out" if check.n_left_out else "none left out"
    return f"{check.n_items:,} items, {n - check.n_left_out:,} texts; {left_out}"


def _only(table: ResultTable, judge: str, *hidden: str) -> ResultTable:
    """The rows of one judge, without its name."""
    at = next(place for place, column in enumerate(table.columns) if column.name == "judge")
    columns = [
        replace(column, shown=False) if column.name in {"judge", *hidden} else column
        for column in table.columns
    ]
    return replace(
        table, columns=tuple(columns), rows=tuple(row for row in table.rows if row[at] == judge), title=""
    )


def _rules(table: ResultTable, judge: JudgeCheck) -> ResultTable:
    """The rules of one judge: numbers of items without decimals, and items to settle a rule only where one is open."""
    own = _only(table, judge.name)
    place = {column.name: at for at, column in enumerate(own.columns)}
    rows = []
    for row in own.rows:
        cells = list(row)
        if row[place["code"]] == "items":
            cells[place["found"]] = judge.n_items
            cells[place["limit"]] = FEWEST_ITEMS
        rows.append(tuple(cells))
    if all(row[place["items_needed"]] is None for row in rows):
        own = _only(table, judge.name, "items_needed")
    return replace(own, rows=tuple(rows))


def _upright(table: ResultTable) -> ResultTable:
    """The only row of a table as a column, with the notes of the cells."""
    (row,) = table.rows
    shown = [(column, cell) for column, cell in zip(table.columns, row, strict=True) if column.shown]
    pairs = tuple(
        (f"{column.heading[:1].upper()}{column.heading[1:]}", written(cell, column))
        for column, cell in shown
        if column.name not in {"verdict", "judge"}
    )
    return ResultTable(
        "card", (Column("what", "Number"), Column("found", "Estimate")), pairs, notes=tuple(notes(table))
    )


def _facts_of_judge(check: Check, judge: JudgeCheck) -> dict[str, str]:
    facts = judge.facts
    found = {}
    if facts.model:
        found["Model"] = facts.model
    if facts.seconds is not None:
        found["Seconds per 1,000 texts"] = f"{facts.seconds:,.0f}"
    at = check.panel.judges.index(judge.name)
    signed = check.panel.sources[at][2] if at < len(check.panel.sources) else ""
    if signed not in {"", STATED}:
        found["Signature of the judge"] = signed
    return found


# --- figures -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Mark:
    """A number with its interval on a line."""

    label: str
    cell: Interval
    limits: tuple[float, ...] = ()
    look: str = "judge"
    """judge, human or bad: the class that colours it."""

    @property
    def number(self) -> str:
        said = written(self.cell, _NUMBER)
        return f"{said}, limit {self.limits[0]:.2f}" if len(self.limits) == 1 else said


def _marked(label: str, estimate: Estimate | None, **given: Any) -> list[_Mark]:
    if estimate is None or estimate.estimate is None:
        return []
    return [_Mark(label, interval(estimate), **given)]


def _numbers(one: JudgeCheck, target: float) -> list[_Mark]:
    """The judge's numbers, and people's beside them, on one axis. target: of certify."""
    marks = []
    for rule in one.rules:
        name = _QUANTITIES.get(rule.code)
        numbers = compared_numbers(rule)
        if name is not None and numbers is not None:
            judge, people, limit = numbers
            marks += _marked(name, judge, limits=() if limit is None else (limit,))
            marks += _marked("of people", people, look="human")
        elif name is not None and rule.limit is not None:
            marks += _marked(name, rule.estimate, limits=(rule.limit,))
    for system in one.systems:
        marks += _marked(system.system or "Good answers", system.estimate, limits=(target,))
    for label, found in (("Agreement", one.agreement), ("Kappa", one.kappa), ("AC1", one.ac1)):
        marks += _marked(label, found)
    if one.rule("correlation") is None:
        marks += _marked("Spearman", one.correlation)
    return marks + _marked("Consistency", one.facts.consistency)


def _biases(judge: JudgeCheck, tolerance: float, *, decides: bool) -> list[_Mark]:
    return _marked(
        "Bias, share of the scale", judge.bias, limits=(-tolerance, tolerance) if decides else (0.0, 0.0)
    )


def _group_marks(judge: JudgeCheck) -> list[_Mark]:
    """The groups, those that fail first."""
    ordered = sorted(judge.groups, key=lambda group: not group.fails)[:MOST_DRAWN]
    return [
        mark
        for group in ordered
        for mark in _marked(
            f"{group.column}: {group.value}",
            group.estimate,
            limits=_both(group),
            look="bad" if group.fails else "judge",
        )
    ]


def _both(group: Group) -> tuple[float, ...]:
    if group.limit is None:
        return ()
    return (-group.limit, group.limit) if group.measure == "bias" else (group.limit,)


def _axis(marks: Sequence[_Mark]) -> tuple[float, float]:
    """The ends of the axis: 0 to 1, or as far as the marks reach, rounded outwards to tenths."""
    values = [
        value
        for mark in marks
        for value in (mark.cell.value, mark.cell.low, mark.cell.high, *mark.limits)
        if value is not None
    ]
    low, high = min(values), max(values)
    if high - low < 0.5 and low < 0:  # a bias
        reach = max(0.1, math.ceil(10 * max(-low, high)) / 10)
        return -reach, reach
    return min(0.0, math.floor(low * 10) / 10), max(1.0, math.ceil(high * 10) / 10)


_WIDTH, _ROW, _SIDE, _FOOT = 360, 38, 8, 18


def _svg(title: str, marks: Sequence[_Mark]) -> str:
    """The marks as SVG: a line for each, its interval, its dot and its limits. Colours come from the page's classes."""
    if not marks:
        return ""
    low, high = _axis(marks)
    height = _ROW * len(marks) + _FOOT
    inside = _WIDTH - 2 * _SIDE

    def x(value: float) -> str:
        return f"{_SIDE + inside * (min(max(value, low), high) - low) / (high - low):.1f}"

    parts = []
    for place, mark in enumerate(marks):
        top, y = _ROW * place, _ROW * place + 25
        cell = mark.cell
        assert cell.value is not None
        parts.append(f'<text x="{_SIDE}" y="{top + 13}">{_text(_cut(mark.label))}</text>')
        parts.append(
            f'<text class="number" x="{_WIDTH - _SIDE}" y="{top + 13}" text-anchor="end">{_text(mark.number)}</text>'
        )
        parts.append(
            f'<line class="track" x1="{_SIDE}" x2="{_WIDTH - _SIDE}" y1="{y}" y2="{y}"/><g class="{mark.look}">'
        )
        if cell.low is not None and cell.high is not None:
            parts.append(f'<line class="ends" x1="{x(cell.low)}" x2="{x(cell.high)}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle cx="{x(cell.value)}" cy="{y}" r="4.5"/></g>')
        parts += [
            f'<line class="limit" x1="{x(limit)}" x2="{x(limit)}" y1="{y - 8}" y2="{y + 8}"/>'
            for limit in dict.fromkeys(mark.limits)
        ]
    ticks = [low, 0, *([0.5] if high == 1 else []), high] if low < 0 else [0, 0.25, 0.5, 0.75, 1]
    for tick in ticks:
        anchor = "start" if tick == low else "end" if tick == high else "middle"
        parts.append(
            f'<text class="tick" x="{x(tick)}" y="{height - 3}" text-anchor="{anchor}">{tick + 0.0:g}</text>'
        )
    said = "; ".join(f"{mark.label} {mark.number}" for mark in marks)
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{_text(f"{title}: {said}")}">{"".join(parts)}</svg>'


_CELLS = 41
"""Characters of the axis of a figure in Markdown."""


def _drawn(marks: Sequence[_Mark]) -> str:
    """The marks as lines of characters, for Markdown."""
    if not marks:
        return ""
    low, high = _axis(marks)

    def place(value: float) -> int:
        return round((min(max(value, low), high) - low) / (high - low) * (_CELLS - 1))

    rows = []
    for mark in marks:
        cells = ["·"] * _CELLS
        cell = mark.cell
        assert cell.value is not None
        if cell.low is not None and cell.high is not None:
            for at in range(place(cell.low), place(cell.high) + 1):
                cells[at] = "─"
        for limit in mark.limits:
            cells[place(limit)] = "|"
        cells[place(cell.value)] = "●"
        rows.append(f"{_cut(mark.label):<{_LETTERS}} {''.join(cells)} {mark.number}")
    rows.append(f"{'':<{_LETTERS}} {f'{low + 0.0:g}':<{_CELLS // 2}}{f'{high:g}':>{_CELLS - _CELLS // 2}}")
    return _fenced("\n".join(rows))


def _cut(label: str) -> str:
    flat = " ".join(printable_text(label).split())
    return flat if len(flat) <= _LETTERS else f"{flat[: _LETTERS - 1]}…"


def _fenced(text: str) -> str:
    """A text as a block of code, with a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


# --- HTML --------------------------------------------------------------------------------------


def card_html(
    check: Check,
    *,
    command: str,
    made_at: str,
    names: bool = False,
    further: Iterable[ResultTable] = (),
    sentences: Sequence[str] = (),
) -> bytes:
    """Return the card as one HTML file without scripts or links to other files.

    command: the command line that makes it, see `command_said`. made_at: date and time in words. names: whether raters are
    named; else they are counted. further: tables below all others, such as texts on which people and judge differ.
    sentences: sentences below the verdict, such as what changed since an earlier check. The same arguments give the same bytes.
    """
    check, further = _shown(check, further, names=names)
    tables = answer_of(check).tables
    parts = [_head(check), _top(check, tables, made_at, names=names, said=sentences)]
    parts += [_judge_section(check, tables, one) for one in check.judges]
    parts += [
        _section(table.title or table.name, _table(replace(table, title="")))
        for table in further
        if table.rows
    ]
    parts.append(_section("What this verdict does not say", _listed(limits_of(check))))
    parts.append(
        _section(
            "How it was made",
            f"<pre>{_text(_flat(command))}</pre><p class=small>Signature: <code>{_text(signature(check))}</code></p>",
        )
    )
    return ("\n".join(parts) + "\n</main>\n</body>\n</html>\n").encode()


def _text(text: str) -> str:
    return escape(printable_text(text), quote=True)


def _flat(text: str) -> str:
    return " ".join(printable_text(text).split())


def _head(check: Check) -> str:
    title = f"{check.judges[0].name}: {check.verdict}" if len(check.judges) == 1 else "Judges checked"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f'<meta name="color-scheme" content="light dark">\n<title>{_text(_flat(title))}</title>\n'
        f"<style>\n{_STYLE.read_text('utf-8')}</style>\n</head>\n<body>\n<main>"
    )


def _badge(verdict: str) -> str:
    return f'<span class="badge {_STATES.get(verdict, "open")}">{_text(verdict)}</span>'


def _top(check: Check, tables: _Tables, made_at: str, *, names: bool, said: Sequence[str]) -> str:
    facts = _pairs(_facts(check, made_at, names=names))
    ask = f"<p class=ask>Can the judge be trusted to {_text(USES[check.use])}?</p>"
    if len(check.judges) == 1:
        (one,) = check.judges
        head = f"<h1>{_text(one.name)}</h1><p>{_badge(one.verdict)}</p><p class=verdict>{_text(sentence(check, one))}</p>"
    else:
        table = tables["check"]
        kept = {"judge", "verdict", "n_items", "agreement", "ceiling"}
        columns = tuple(
            column if column.name in kept else replace(column, shown=False) for column in table.columns
        )
        head = (
            f"<h1>{len(check.judges):,} judges</h1><p class=verdict>{_text(check_sentence(check))}</p>"
            + _table(replace(table, columns=columns, notes=(), title=""))
        )
    more = [read_as(check), ceiling_sentence(check), *_failing(check), *said]
    return f"<header>{ask}{head}{''.join(f'<p>{_text(one)}</p>' for one in more)}{facts}</header>"


def _failing(check: Check) -> list[str]:
    """The sentences about groups, which follow all others."""
    said = check_said(check)
    return said[said.index(ceiling_sentence(check)) + 1 :]


def _judge_section(check: Check, tables: _Tables, judge: JudgeCheck) -> str:
    rules = _rules(tables["check-rules"], judge)
    # The figure beside the table shows these numbers, if it has room for all groups.
    drawn_too = ("agreement", "limit") if len(judge.groups) <= MOST_DRAWN else ()
    groups = _only(tables["check-groups"], judge.name, "measure", *drawn_too)
    numbers = _upright(_only(tables["check"], judge.name, *_not_in_card(judge)))
    figures = [
        (
            "Good answers" if judge.systems else "The judge beside people",
            _numbers(judge, check.options.target),
        ),
        ("Bias", _biases(judge, check.options.tolerance, decides=check.use == "monitor")),
    ]
    drawn = "".join(
        f"<figure><figcaption>{title}</figcaption>{_svg(title, marks)}</figure>"
        for title, marks in figures
        if marks
    )
    of_groups = _group_marks(judge)
    parts = []
    systems = _only(tables["check-systems"], judge.name)
    if len(check.judges) > 1:
        parts.append(
            f"<h2>{_text(judge.name)} {_badge(judge.verdict)}</h2><p class=verdict>{_text(sentence(check, judge))}</p>"
        )
    parts.append(
        f"<div class=two><div>{drawn}<p class=key>Dot: estimate. Bar: {check.options.confidence_level:.0%} interval. "
        f"Upright line: limit of the rule.</p></div><div><h3>Rules</h3>{_table(rules)}</div></div>"
    )
    title = f"By group: {', '.join(dict.fromkeys(group.measure for group in judge.groups))}"
    if len(judge.groups) > MOST_DRAWN:
        title += f", {MOST_DRAWN} of {len(judge.groups)}"
    if of_groups:
        parts.append(
            f"<div class=two><figure><figcaption>{_text(title)}</figcaption>{_svg(title, of_groups)}</figure>"
            f"<div><h3>Tests</h3>{_table(groups)}</div></div>"
        )
    if systems.rows:
        parts.append(f"<h3>Systems</h3>{_table(systems)}")
    parts.append(f"<div class=two><div><h3>Numbers</h3>{_table(numbers)}</div>")
    parts.append(
        f"<div>{_small(numbers.notes if judge is check.judges[0] else ())}{_pairs(_facts_of_judge(check, judge))}</div></div>"
    )
    return f"<section>{''.join(parts)}</section>"


def _not_in_card(judge: JudgeCheck) -> tuple[str, ...]:
    return ("verdict",) if judge.alt_test is not None else ("verdict", "advantage")


def _table(table: ResultTable) -> str:
    """A result table as HTML, with its notes."""
    if not table.rows:
        return ""
    head = "".join(f"<th>{_text(one)}</th>" for one in headings(table))
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in lines(table))
    below = "" if table.name == "card" else _small(notes(table))
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{below}"


def _cell(text: str) -> str:
    look = _STATES.get(text, "")
    if look:
        return f'<td class="{look}">{_text(_MARKS.get(text, text))}</td>'
    text = text.replace("< ", "<\u00a0") if text.startswith("< ") else text
    unbroken = _ENDS.sub(r"<span class=ends>\1</span>", _text(text))
    return f"<td>{unbroken}</td>"


def _small(texts: Sequence[str]) -> str:
    return "".join(f"<p class=small>{_text(one)}</p>" for one in texts)


def _pairs(pairs: Mapping[str, str]) -> str:
    if not pairs:
        return ""
    return f"<dl>{''.join(f'<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>' for name, value in pairs.items())}</dl>"


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{_text(title)}</h2>{inside}</section>"


def _listed(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(one)}</li>' for one in texts)}</ul>"


# --- Markdown ----------------------------------------------------------------------------------


def card_md(
    check: Check,
    *,
    command: str,
    made_at: str,
    names: bool = False,
    further: Iterable[ResultTable] = (),
    sentences: Sequence[str] = (),
) -> bytes:
    """Return the card as Markdown. Arguments as `card_html`."""
    check, further = _shown(check, further, names=names)
    parts = []
    if len(check.judges) == 1:
        (one,) = check.judges
        parts += [
            f"# {markdown_text(one.name)}: {one.verdict}",
            f"**{markdown_text(sentence(check, one))}**",
        ]
    else:
        parts += [f"# {len(check.judges):,} judges", f"**{markdown_text(check_sentence(check))}**"]
    parts += [
        markdown_text(text)
        for text in (read_as(check), ceiling_sentence(check), *_failing(check), *sentences)
    ]
    parts.append(_md_pairs(_facts(check, made_at, names=names)))
    tables = answer_of(check).tables
    for one in check.judges:
        if len(check.judges) > 1:
            parts += [
                f"## {markdown_text(one.name)}: {one.verdict}",
                markdown_text(sentence(check, one)),
            ]
        numbers = _upright(_only(tables["check"], one.name, *_not_in_card(one)))
        groups = _only(tables["check-groups"], one.name)
        found = [
            (
                "Good answers" if one.systems else "The judge beside people",
                _drawn(_numbers(one, check.options.target)),
            ),
            ("Bias", _drawn(_biases(one, check.options.tolerance, decides=check.use == "monitor"))),
            ("Rules", _md(_rules(tables["check-rules"], one))),
            ("Systems", _md(_only(tables["check-systems"], one.name)) if one.systems else ""),
            ("Numbers", _md(numbers)),
            ("", _md_pairs(_facts_of_judge(check, one))),
            ("By group", _drawn(_group_marks(one))),
            ("", _md(groups) if groups.rows else ""),
        ]
        for title, text in found:
            if text:
                parts += [f"### {title}", text] if title else [text]
    for table in further:
        if table.rows:
            parts += [f"## {markdown_text(table.title or table.name)}", _md(replace(table, title=""))]
    parts += [
        "## What this verdict does not say",
        "\n".join(f"- {markdown_text(one)}" for one in limits_of(check)),
        "## How it was made",
        _fenced(_flat(command)),
        f"Signature: {_code(signature(check))}",
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _md(table: ResultTable) -> str:
    return markdown_of(table).decode().strip()


def _md_pairs(pairs: Mapping[str, str]) -> str:
    return "\n".join(f"- {markdown_text(name)}: {markdown_text(value)}" for name, value in pairs.items())


def _code(text: str) -> str:
    return f"`{_flat(text).replace('`', ' ')}`"


WRITERS: Mapping[str, Callable[..., bytes]] = {".html": card_html, ".md": card_md}
"""Ending of a card's file -> function that writes it."""

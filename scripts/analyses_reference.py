"""Write what is made from the declarations of analyses: core/notebook/declared.py and docs/results.md.

python scripts/analyses_reference.py
"""

import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import settings_reference

from core.analyses import ANALYSES, analysis, command_of
from core.schema.analysis import CHOICES, Analysis, Taken
from core.schema.rows import documented, documented_columns
from core.schema.settings import SettingField, Settings, as_parameter, fields_of, worded

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = ROOT / "core" / "notebook" / "declared.py"
RESULTS = ROOT / "docs" / "results.md"


@dataclass(frozen=True)
class _Data:
    """A kind of data: how functions and commands take it."""

    parameters: Mapping[str, tuple[str, str]]
    """Parameter of the function -> its type and default, and what it is."""
    choices: str
    """Type of the choices of the kind in a function."""
    opened: str
    """The expression that opens it."""
    imports: str
    inputs: str
    """The inputs of the command."""
    raises: str


_DATA: Mapping[Taken, _Data] = {
    "panel": _Data(
        {
            "ratings": (
                "Source",
                "Raters, and perhaps judges: a data frame with a column for each, or with a row for each item, rater and "
                "score, or anything that ``read`` reads as ratings.",
            ),
            "scores": (
                "Source | Sequence[Source] = ()",
                "Scores of further judges on the same texts.",
            ),
        },
        "Names | None",
        "panel_from(ratings, list(each_of(scores)), human=human, judge=judge, dimension=dimension, scale=scale, classes=classes, "
        "missing=missing, system_column=system_column, item=item, repeated=repeated)",
        "from core.notebook.frames import Names, Source, each_of, panel_from",
        "FILE [JUDGE ...]",
        "For unknown names, and if a rater rated a text twice.",
    ),
    "people": _Data(
        {
            "ratings": (
                "Source",
                "Ratings by people: a data frame with a column for each rater, or with a row for each item, rater and score, or "
                "anything that ``read`` reads as ratings. Columns of judges may stand beside them.",
            ),
        },
        "Names | None",
        "panel_from(ratings, human=human, dimension=dimension, scale=scale, classes=classes, missing=missing, "
        "system_column=system_column, item=item, repeated=repeated, people_alone=True)",
        "from core.notebook.frames import Names, Source, panel_from",
        "FILE",
        "For unknown names, and if a rater rated a text twice.",
    ),
    "study": _Data(
        {"study": ("Source", 'An unblinded study, as ``"study:NAME"``, or the path of its bundle.')},
        "Names | None",
        "study_from(study)",
        "from core.notebook.frames import Source, study_from",
        "STUDY",
        "For an unknown study, and one that is not unblinded.",
    ),
    "scores": _Data(
        {"scores": ("Source | Sequence[Source]", "Scores of metrics or judges; several sources are merged.")},
        "Names | None",
        "tables_from(scores)",
        "from core.notebook.frames import Source, tables_from",
        "SCORES ...",
        "For scores that cannot be read or merged.",
    ),
    "judge": _Data(
        {"judge": ("Source", 'A judge\'s run, as ``"run:3"``, or the folder that it wrote.')},
        "Names | None",
        "judge_output_from(judge)",
        "from core.notebook.frames import Source, judge_output_from",
        "DIR|run:N",
        "For a source that is no judge's run.",
    ),
    "judges": _Data(
        {
            "judges": (
                "Source | Sequence[Source]",
                'Judges\' runs, as ``"run:3"``, or the folders that they wrote; one or several.',
            )
        },
        "Names | None",
        "judge_outputs_from(judges)",
        "from core.notebook.frames import Source, judge_outputs_from",
        "DIR|run:N ...",
        "For a source that is no judge's run.",
    ),
    "answers": _Data(
        {
            "answers": (
                "Sequence[Source]",
                'Runs of ``judge answers``, one for each model, as ``"run:3"``, or the folders that they wrote.',
            )
        },
        "Names | None",
        "answer_sets_from(answers)",
        "from core.notebook.frames import Source, answer_sets_from",
        "DIR|run:N ...",
        "For a source that is no such run.",
    ),
    "marking": _Data(
        {
            "judges": (
                "Source | Sequence[Source]",
                'Runs of judges that mark errors, as ``"run:3"``, or the folders that they wrote; the first is also '
                "compared with each other one.",
            )
        },
        "Names | None",
        "marking_from(judges, rated)",
        "from core.notebook.frames import Source, marking_from",
        "DIR|run:N ...",
        "For a source that is no judge's run, and for rated texts that are not named.",
    ),
    "costs": _Data(
        {
            "judges": (
                "Source | Sequence[Source]",
                'Judges\' runs, as ``"run:3"``, or the folders that they wrote; one or several.',
            )
        },
        "Names | None",
        "costs_from(judges)",
        "from core.notebook.frames import Source, costs_from",
        "DIR|run:N ...",
        "For a source that is no judge's run, and for a run that is named twice.",
    ),
    "table_on_disk": _Data(
        {
            "run": ("str | int", 'Run over a big table: ``3`` or ``"run:3"``.'),
            "db": (
                "str | os.PathLike[str] | None = None",
                "Database. Default: ``$ASSAY_DB``, else the app's.",
            ),
        },
        "Names | None",
        "big_table_from(run, db)",
        "from core.notebook.frames import big_table_from",
        "RUN",
        "For a run of another kind.",
    ),
}
_HEAD = '''"""The functions of `import assay` that answer the questions of core/analyses.

`python scripts/analyses_reference.py` writes this file from their declarations. A test fails if they differ.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from core.notebook.answering import answered
{imports}
from core.notebook.result import Result

__all__ = [
{names}
]
'''
_START = """# Results

What each analysis takes and gives: options, verdicts, tables and JSON, the same for the command, the function and the page.
An interval of a table is several columns of its CSV: `gap`, `gap_low`, `gap_high`, `gap_n`, `gap_n_left_out`, `gap_reason`. [Python](python.md#results)
says how a function's result holds them, and [File formats](formats.md) describes the JSON of the other commands.

`python scripts/analyses_reference.py` writes this file from the code. A test fails if they differ.
"""


def functions() -> str:
    """Return the module of functions."""
    declared = [analysis(name) for name in ANALYSES]
    imports = sorted({_DATA[kind].imports for one in declared for kind in one.takes})
    names = "".join(f'    "{name}",\n' for name in sorted(one.function for one in declared))
    head = _HEAD.format(imports="\n".join(imports), names=names.rstrip("\n"))
    return _formatted("\n\n".join([head, *map(_function, declared)]))


def results() -> str:
    """Return the document."""
    return "\n".join([_START, *(line for name in ANALYSES for line in _section(analysis(name)))])


def _formatted(code: str) -> str:
    """Return the code as `./test` wants it."""
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format", "--quiet"]):
        code = subprocess.run(
            [*ruff, *command, "--stdin-filename", str(FUNCTIONS), "-"],
            cwd=ROOT,
            input=code,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return code


def _function(one: Analysis[Any, Any]) -> str:
    data = [_DATA[kind] for kind in one.takes]
    options = {as_parameter(field, None): field for field in fields_of(one.Options).values()}
    inputs = [f"{name}: {kind}" for each in data for name, (kind, _) in each.parameters.items()]
    named = [
        *(
            f"{field.name}: {_chosen(field, kind)} = {field.default!r}"
            for kind in one.takes
            for field in fields_of(CHOICES[kind]).values()
        ),
        *(f"{name}: {_kind(field, one.Options)} = {field.default!r}" for name, field in options.items()),
    ]
    signature = [*inputs, "*", *named] if named else inputs
    given = "".join(f'"{name}": {name}, ' for name in options)
    opened = "".join(f"lambda: {each.opened}, " for each in data)
    docstring = textwrap.indent("\n".join(_docstring(one, options)), "    ", lambda line: bool(line.strip()))
    return (
        f"def {one.function}({', '.join(signature)}) -> Result:\n"
        f'    """{docstring.lstrip()}\n    """\n'
        f'    return answered("{one.name}", {{{given}}}, {opened})\n'
    )


def _chosen(field: SettingField, kind: Taken) -> str:
    """Return the type of the parameter of a choice that every analysis of the kind has."""
    if field.choices:
        return _kind(field, CHOICES[kind])
    return "str | None" if field.shape == "text" else _DATA[kind].choices


def _docstring(one: Analysis[Any, Any], options: Mapping[str, SettingField]) -> Iterator[str]:
    yield from [
        *_wrapped(one.question),
        "",
        *_wrapped(f"The same numbers as the command ``{command_of(one.name)}``.", ""),
        "",
    ]
    yield from ["Parameters", "----------"]
    for kind in one.takes:
        for name, (_, what) in _DATA[kind].parameters.items():
            yield from [name, *_wrapped(what, "    ")]
        for field in fields_of(CHOICES[kind]).values():
            help = field.about.help.replace("FILE", "``ratings``").replace("JUDGE", "``scores``")
            yield from [field.name, *_wrapped(_sentence(help), "    ")]
    for name, field in options.items():
        yield from [name, *_wrapped(_sentence(_said(one.Options, field)), "    ")]
    tables = "; ".join(f"``{table.name}``" for table in one.tables[1:])
    columns = ", ".join(f"``{each.name}``" for each in documented_columns(one.tables[0].row))
    yield from ["", "Returns", "-------", "Result"]
    more = f" Further tables: {tables}." if tables else ""
    yield from _wrapped(
        f"Table ``{one.tables[0].name}`` with the columns {columns}.{more} See docs/results.md.", "    "
    )
    yield from ["", "Raises", "------", "InputError"]
    yield from _wrapped(
        " ".join(
            ["For parameters out of bounds.", *(_DATA[kind].raises for kind in one.takes), one.refuses]
        ).strip(),
        "    ",
    )
    yield from ["", "Notes", "-----", *_wrapped(f"Misleads: {one.misleads}"), "", "Examples", "--------"]
    yield one.example.strip()


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, 110, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _said(model: type[Settings], field: SettingField) -> str:
    """Return a field's help with its bounds and, where the default is no value, what that means."""
    bounds = field.in_bounds if field.shape in ("number", "whole", "list") else ""
    default = f"default: {field.about.words['']}" if field.optional and "" in field.about.words else ""
    more = "; ".join(filter(None, (bounds, default)))
    return worded(field.about.help, fields_of(model), as_parameter) + (f" ({more})" if more else "")


def _kind(field: SettingField, model: type[Settings]) -> str:
    """Return the type of a parameter."""
    if field.choices:
        kind = f"Literal[{', '.join(map(repr, field.choices))}]"
    elif field.shape in ("list", "texts"):
        values = model.model_fields[field.name].annotation
        inner = next(one for one in (values, *typing.get_args(values)) if typing.get_origin(one) is tuple)
        kind = f"Sequence[{typing.get_args(inner)[0].__name__}]"
    else:
        kind = {"number": "float", "whole": "int", "switch": "bool", "text": "str"}[field.shape]
    return f"{kind} | None" if field.optional else kind


def _section(one: Analysis[Any, Any]) -> Iterator[str]:
    document, _, heading = one.section.partition("#")
    parameters = ", ".join(name for kind in one.takes for name in _DATA[kind].parameters)
    inputs = " ".join(_DATA[kind].inputs for kind in one.takes)
    yield f"## {one.title}\n"
    yield f"{one.question} [How it is computed]({document}.md#{heading}).\n"
    yield f"```sh\npython -m core {command_of(one.name)} {inputs}\n```\n"
    yield f"In Python: `assay.{one.function}({parameters})`.\n"
    yield f"When it misleads: {one.misleads}\n"
    if fields_of(one.Options):
        yield "Options:\n"
        yield settings_reference.table(one.Options, scored=False)
    if one.codes:
        yield "Verdicts:\n"
        yield "".join(f"- `{code}`: {what}\n" for code, what in one.codes.items())
    for table in one.tables:
        yield f"Table `{table.name}`. {' '.join(filter(None, (f'{table.title}.', table.question)))}\n"
        yield "| column | for readers | what it holds |\n|---|---|---|"
        yield "".join(
            f"| `{each.name}` | {each.heading or '-'} | {each.about} |\n"
            for each in documented_columns(table.row)
        )
    yield "JSON (`--json`):\n"
    yield "".join(f"- `{key}`: {what}\n" for key, what in documented(one.Result))


if __name__ == "__main__":
    FUNCTIONS.write_text(functions(), "utf-8")
    RESULTS.write_text(results(), "utf-8")

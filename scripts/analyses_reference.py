"""Write what is made from the declarations of analyses: core/notebook/declared.py and docs/results.md.

python scripts/analyses_reference.py
"""

import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as with_default
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import settings_reference

from core.analyses import ANALYSES, analysis, command_of
from core.schema.analysis import CHOICES, Analysis, Taken
from core.schema.rows import documented, documented_columns
from core.schema.settings import SettingField, Settings, fields_of, parameter_word, worded

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
    """The inputs of the command; empty: options alone name them."""
    raises: str
    named: Mapping[str, tuple[str, str]] = with_default(default_factory=dict)
    """Parameters that are given by name alone, as `parameters`; kinds of data may share them."""
    types: Mapping[str, str] = with_default(default_factory=dict)
    """Name of a choice -> its type in a function, if it is another."""
    told: Mapping[str, str] = with_default(default_factory=dict)
    """Name of a choice -> what it is in a function, if a command takes it in another form."""


_DB = {
    "db": (
        "str | os.PathLike[str] | None = None",
        "Database. Default: ``$ASSAY_DB``, else the app's.",
    )
}
_MARKS = (
    "a data frame with a row for each error (``item_id``, ``system``, ``rater``, ``start``, ``end``, ``severity``), a file or folder of "
    "marked errors, ``run:N`` or ``study:NAME``"
)
_SCORES = "Scores of metrics or judges: a data frame (long, or a column for each metric) or anything that ``read`` reads"
_TYPES = {"leave_out": "LeaveOut | None", "direction": "Directions | None"}
_TOLD = {
    "leave_out": 'texts to leave out, as ``{"system": ["refA", "Human"]}``',
    "direction": 'metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``',
}
_QUALITY_TYPES = {"dimension": "Names | None"}
_QUALITY_TOLD = {
    "dimension": "dimension of the ratings; several are used one by one and as a mean (default: the only one)",
}
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
    "aligned": _Data(
        {"audit": ("Source", 'A run of ``judge align``, as ``"run:3"``, or the folder that it wrote.')},
        "Names | None",
        "aligned_from(audit, db)",
        "from core.notebook.frames import Source, aligned_from",
        "DIR|run:N",
        "For a source that is no such run.",
        _DB,
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
    "taught": _Data(
        {
            "gold": ("Source", f"Errors marked by people: {_MARKS}."),
            "judges": (
                "Sequence[Source]",
                'Runs of one judge with increasing numbers of examples, as ``"run:3"``, or the folders that they wrote.',
            ),
        },
        "Names | None",
        "taught_from(gold, judges)",
        "from core.notebook.frames import Source, taught_from",
        "GOLD DIR|run:N ...",
        "For marks that cannot be read, and for a source that is no judge's run.",
    ),
    "ratings": _Data(
        {
            "ratings": (
                "Source",
                "Ratings by people: a data frame, or anything that ``read`` reads as ratings, also an unblinded study of pairs.",
            )
        },
        "Names | None",
        "people_of(ratings)",
        "from core.notebook.frames import Source, people_of",
        "HUMAN",
        "For ratings that cannot be read, and a study that is not unblinded.",
    ),
    "marks": _Data(
        {
            "gold": ("Source", f"Errors marked by people: {_MARKS}."),
            "predicted": (
                "Source | Sequence[Source]",
                "Errors marked by a judge, or by each of several, in the same forms.",
            ),
        },
        "Names | None",
        "marks_from(gold, predicted)",
        "from core.notebook.frames import Source, marks_from",
        "GOLD PRED ...",
        "For marks that cannot be read, and a study that is not unblinded.",
    ),
    "marks_by_rater": _Data(
        {
            "gold": ("Source", f"Errors marked by people who are named: {_MARKS}."),
            "predicted": (
                "Source | Sequence[Source] = ()",
                "Errors marked by judges, in the same forms. Default: the raters predict each other.",
            ),
        },
        "Names | None",
        "marks_from(gold, predicted, by_rater=True)",
        "from core.notebook.frames import Source, marks_from",
        "GOLD [PRED ...]",
        "For marks that cannot be read, and a study that is not unblinded.",
    ),
    "sides": _Data(
        {
            "human": (
                "Result | Source",
                '``"published:NAME"``, a result of ``correlate`` with ratings, its JSON file, or scores whose texts ``ratings`` rate.',
            ),
            "synthetic": (
                "Result | Source",
                '``"published:NAME"``, a result of ``correlate`` with the level, its JSON file, or scores with levels.',
            ),
            "ratings": ("Source | None = None", "Ratings of the texts in ``human``, if it holds scores."),
        },
        "Names | None",
        "sides_from(human, synthetic, ratings, dimension=dimension, raters=raters, z_normalise=z_normalise, leave_out=leave_out, "
        "direction=direction)",
        "from core.notebook.frames import Directions, LeaveOut, Names, Source, sides_from",
        "HUMAN SYNTHETIC",
        "For sides that cannot be read, and a study that is not unblinded.",
        types=_TYPES,
        told=_TOLD,
    ),
    "study_texts": _Data(
        {"study": ("str", "Name of a study, in any state: no answer of a rater is read.")},
        "Names | None",
        "study_texts_from(study, db)",
        "from core.notebook.frames import study_texts_from",
        "NAME",
        "NotFound for an unknown study.",
        _DB,
    ),
    "look": _Data(
        {"study": ("str", "Name of a running study whose design declares early looks. The look is logged.")},
        "Names | None",
        "look_from(study, db)",
        "from core.notebook.frames import look_from",
        "NAME",
        "NotFound for an unknown study.",
        _DB,
    ),
    "part": _Data(
        {"study": ("str | os.PathLike[str]", "Name of an unblinded study, or the path of a bundle (.zip).")},
        "Names | None",
        "part_from(study, db, levels=levels, raters=raters, questions=questions, languages=languages)",
        "from core.notebook.frames import Names, part_from",
        "NAME",
        "For filters of a study of ratings. NotFound for an unknown study. NotAllowed before it is unblinded.",
        _DB,
    ),
    "pilot": _Data(
        {
            "pilot": (
                "str | os.PathLike[str] | None = None",
                'Variance components: ``"study:NAME"`` of an unblinded study, or the path of a CSV file (then give levels, too). '
                "Default: from assumptions.",
            )
        },
        "Names | None",
        "pilot_from(pilot, db)",
        "from core.notebook.frames import pilot_from",
        "",
        "For a file without variance components. NotAllowed before the pilot is unblinded.",
        _DB,
    ),
    "standing": _Data(
        {},
        "Names | None",
        "standing_from(study, db)",
        "from core.notebook.frames import standing_from",
        "",
        "For a study of ratings. NotFound for an unknown study.",
        {
            "study": (
                "str | None = None",
                "Name of a study of pairs: plan with its margin, level, score and levels, and show what it has reached.",
            ),
            **_DB,
        },
    ),
    "voted": _Data(
        {
            "study": (
                "str | os.PathLike[str] | None = None",
                "Name of an unblinded study of the same texts, or the path of a bundle (.zip). Default: no votes.",
            )
        },
        "Names | None",
        "voted_from(study, db)",
        "from core.notebook.frames import voted_from",
        "",
        "NotFound for an unknown study. NotAllowed before it is unblinded.",
        _DB,
    ),
    "judged": _Data(
        {
            "scores": (
                "Source | Sequence[Source]",
                'Scores of judges or metrics: a data frame, a file, the folder of a run or ``"run:3"``. A judge\'s run also has its '
                "records.",
            ),
            "texts": ("Source | None = None", "The scored texts, if ``scores`` come without them."),
        },
        "Names | None",
        "judged_from(scores, texts, db)",
        "from core.notebook.frames import Source, judged_from",
        "SCORES ...",
        "For scores that cannot be read.",
        _DB,
    ),
    "sure": _Data(
        {
            "ratings": (
                "Source",
                "Raters, and perhaps judges: a data frame with a column for each, or with a row for each item, rater and score, or "
                "anything that ``read`` reads as ratings. Texts without a label have no rating. (The command also reads repeats of a run "
                "and pairs.)",
            ),
            "scores": ("Source | Sequence[Source] = ()", "Scores of further judges on the same texts."),
            "labels": (
                "Source | Sequence[Source] = ()",
                "Labels that came back, of texts below the threshold.",
            ),
        },
        "Names | None",
        "sure_from(ratings, list(each_of(scores)), list(each_of(labels)), confidence=confidence, cut=cut, human=human, judge=judge, "
        "dimension=dimension, scale=scale, classes=classes, missing=missing, system_column=system_column, item=item, repeated=repeated)",
        "from core.notebook.frames import Names, Source, each_of, sure_from",
        "FILE [JUDGE ...]",
        "For unknown names, and if a rater rated a text twice.",
    ),
    "levels": _Data(
        {
            "scores": (
                "Source",
                "A claims judge's run or folder, or any scores of the texts: a file, a frame.",
            ),
            "texts": (
                "Source | None = None",
                "The texts, if the scores come without them. A generation run, or its folder, also says which facts it changed.",
            ),
        },
        "Names | None",
        "levels_from(scores, texts, db, metric=metric)",
        "from core.notebook.frames import Source, levels_from",
        "SCORES [TEXTS]",
        "For scores that cannot be read, and an unknown column of them.",
        _DB,
    ),
    "table": _Data(
        {"scores": ("Source | Sequence[Source]", f"{_SCORES}; several are merged.")},
        "Names | None",
        "table_from(scores, leave_out, direction)",
        "from core.notebook.frames import Directions, LeaveOut, Source, table_from",
        "FILE --with level",
        "For unknown columns, values or metrics.",
        types=_TYPES,
        told=_TOLD,
    ),
    "quality": _Data(
        {
            "scores": (
                "Sources",
                f"{_SCORES}; several, or a dictionary from names to them, are used side by side.",
            ),
            "with_": (
                "Target = 'level'",
                '``"level"`` (the negative level, so that a good metric is positive) or ratings by people.',
            ),
        },
        "Names | None",
        "quality_from(scores, with_, dimension, raters, z_normalise, leave_out, direction)",
        "from core.notebook.frames import Directions, LeaveOut, Names, Source, Sources, Target, quality_from",
        "FILE --with level",
        "For unknown columns, dimensions or metrics, and if scores and ratings share no text.",
        types=_TYPES | _QUALITY_TYPES,
        told=_TOLD | _QUALITY_TOLD,
    ),
    "rated": _Data(
        {
            "ratings": ("Source", "Ratings by people: a data frame or anything that ``read`` reads."),
            "scores": (
                "Source | Sequence[Source]",
                "Scores of one or more evaluators on the same texts: a data frame with a column for each evaluator, for instance.",
            ),
        },
        "Names | None",
        "rated_from(ratings, scores, task=task, scale=scale, classes=classes, missing=missing, shuffled=shuffled)",
        "from core.notebook.frames import Names, Source, rated_from",
        "HUMAN JUDGE ...",
        "For ratings and scores that cannot be read, and for an unknown task.",
    ),
    "judge": _Data(
        {"judge": ("Source", 'A judge\'s run, as ``"run:3"``, or the folder that it wrote.')},
        "Names | None",
        "judge_output_from(judge, db)",
        "from core.notebook.frames import Source, judge_output_from",
        "DIR|run:N",
        "For a source that is no judge's run.",
        _DB,
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
    "tried": _Data(
        {
            "runs": ("Sequence[str]", 'Runs of one kind of judge, as ``"run:3"``.'),
            "ratings": (
                "Source | None = None",
                "Ratings or votes of people on these texts. Default: those in the runs' own file, else known levels alone.",
            ),
        },
        "Mapping[str, float] | None",
        "tried_from(runs, ratings, dimension=dimension, component=component, input_price_of=input_price_of, "
        "output_price_of=output_price_of)",
        "from core.notebook.frames import Source, tried_from",
        "run:N ...",
        "For anything but runs of one kind of judge, and for a dimension or a component that is not there.",
    ),
    "two_scores": _Data(
        {
            "first": ("Source", "Scores of a judge or a metric."),
            "second": ("Source", "Those of another one on the same texts."),
        },
        "Names | None",
        "two_scores_from(first, second)",
        "from core.notebook.frames import Source, two_scores_from",
        "A B",
        "For scores that cannot be read.",
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
    "dossier": _Data(
        {
            "ratings": (
                "Source",
                "Raters and judges: a data frame with a column for each, or with a row for each item, rater and score, or anything "
                "that ``read`` reads as ratings. Columns that are not named are found by their names and contents.",
            ),
            "scores": ("Source | Sequence[Source] = ()", "Scores of further judges on the same texts."),
            "labels": (
                "Source | Sequence[Source] = ()",
                "Further labels by people of the same texts, with their inclusion_probability if they were chosen by a check.",
            ),
        },
        "Names | None",
        "dossier_from(ratings, list(each_of(scores)), list(each_of(labels)), human=human, judge=judge, dimension=dimension, "
        "scale=scale, classes=classes, missing=missing, system_column=system_column, item=item, repeated=repeated)",
        "from core.notebook.frames import Names, Source, dossier_from, each_of",
        "FILE [JUDGE ...]",
        "For unknown names, and if a rater rated a text twice.",
    ),
    "earlier": _Data(
        {},
        "str | None",
        "earlier_from(against)",
        "from core.notebook.frames import earlier_from",
        "",
        "For anything but the JSON of an earlier result.",
    ),
}
_HEAD = '''"""The functions of `import assay` that answer the questions of core/analyses.

`python scripts/analyses_reference.py` writes this file from their declarations. A test fails if they differ.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
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
    return "\n".join([_START, *(line for name in ANALYSES for line in _sections(analysis(name)))])


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
    options = {parameter_word(field, None): field for field in fields_of(one.Options).values()}
    parameters = _parameters(one, options)
    signature = [declared for _, declared, _ in parameters if declared]
    given = "".join(f'"{name}": {name}, ' for name in options)
    opened = "".join(f"lambda: {_DATA[kind].opened}, " for kind in one.takes)
    docstring = textwrap.indent(
        "\n".join(_docstring(one, parameters)), "    ", lambda line: bool(line.strip())
    )
    return (
        f"def {one.function}({', '.join(signature).removesuffix(', *')}) -> Result:\n"
        f'    """{docstring.lstrip()}\n    """\n'
        f'    return answered("{one.name}", {{{given}}}, {opened})\n'
    )


def _parameters(one: Analysis[Any, Any], options: Mapping[str, SettingField]) -> list[tuple[str, str, str]]:
    """Return name, declaration and description of each parameter, in their order, with the star before those that have to be named.

    Options with which the question is asked stand behind the first input if they have no default, else behind the last.
    """
    inputs = [
        (name, f"{name}: {kind}", what)
        for each in one.takes
        for name, (kind, what) in _DATA[each].parameters.items()
    ]
    choices = [
        (
            field.name,
            f"{field.name}: {_chosen(field, kind)} = {None if isinstance(field.default, Mapping) else field.default!r}",
            _sentence(
                _DATA[kind]
                .told.get(field.name, field.about.help)
                .replace("FILE", "``ratings``")
                .replace("JUDGE", "``scores``")
            ),
        )
        for kind in one.takes
        for field in fields_of(CHOICES[kind]).values()
        if field.name not in {*_DATA[kind].parameters, *_DATA[kind].named}
    ]
    named = [(name, f"{name}: {kind}", what) for name, (kind, what) in _named(one).items()]
    needed, asked, others = [], [], []
    for name, field in options.items():
        leading, required = field.about.leading, field.default == ""
        default = None if isinstance(field.default, Mapping) else field.default
        usual = "" if leading and required else f" = {default!r}"
        place = others if not leading else needed if required else asked
        place.append(
            (name, f"{name}: {_kind(field, one.Options)}{usual}", _sentence(_said(one.Options, field)))
        )
    return [*inputs[:1], *needed, *inputs[1:], *asked, ("", "*", ""), *choices, *others, *named]


def _named(one: Analysis[Any, Any]) -> dict[str, tuple[str, str]]:
    """Return the parameters that are given by name alone, the database last."""
    named = {name: said for kind in one.takes for name, said in _DATA[kind].named.items()}
    return dict(sorted(named.items(), key=lambda one: one[0] in _DB))


def _chosen(field: SettingField, kind: Taken) -> str:
    """Return the type of the parameter of a choice that every analysis of the kind has."""
    if field.name in _DATA[kind].types:
        return _DATA[kind].types[field.name]
    if field.choices or field.shape in ("switch", "number"):
        return _kind(field, CHOICES[kind])
    return "str | None" if field.shape == "text" else _DATA[kind].choices


def _docstring(one: Analysis[Any, Any], parameters: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    yield from [
        *_wrapped(one.question),
        "",
        *_wrapped(f"The same numbers as the command ``{command_of(one.name)}``.", ""),
        "",
    ]
    yield from ["Parameters", "----------"]
    for name, _, what in parameters:
        if name:
            yield from [name, *_wrapped(what, "    ")]
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
    return worded(field.about.help, fields_of(model), parameter_word) + (f" ({more})" if more else "")


def _kind(field: SettingField, model: type[Settings]) -> str:
    """Return the type of a parameter."""
    if isinstance(field.default, Mapping):
        value = typing.get_args(model.model_fields[field.name].annotation)[1]
        return f"Mapping[str, {value.__name__}] | None"
    if field.choices:
        kind = f"Literal[{', '.join(map(repr, field.choices))}]"
    elif field.shape in ("list", "texts"):
        values = model.model_fields[field.name].annotation
        inner = next(one for one in (values, *typing.get_args(values)) if typing.get_origin(one) is tuple)
        kind = f"Sequence[{typing.get_args(inner)[0].__name__}]"
    else:
        kind = {"number": "float", "whole": "int", "switch": "bool", "text": "str"}[field.shape]
    return f"{kind} | None" if field.optional else kind


def _sections(one: Analysis[Any, Any]) -> Iterator[str]:
    """Return the section of an analysis, and those of its others."""
    for each in (one, *one.others):
        yield from _section(each)


def _usage(one: Analysis[Any, Any], inputs: str) -> str:
    """Return its command with its inputs. A switch stands behind them, with a value if it takes one."""
    command = command_of(one.name)
    noun, at, switch = command.partition(" --")
    asked = [field for field in fields_of(one.Options).values() if field.about.leading]
    value = next((f" {field.typed(field.default) or field.about.metavar}" for field in asked), "")
    return f"{noun} {inputs}{at}{switch}{value if at else ''}".strip()


def _options(one: Analysis[Any, Any]) -> str:
    """Return the table of options. The value of a switch is the option with which the question is asked."""
    switch = command_of(one.name).partition(" --")[2]
    asked = [field for field in fields_of(one.Options).values() if field.about.leading]
    found = settings_reference.table(one.Options, scored=False)
    for field in asked if switch else ():
        found = found.replace(f"`{field.option}`", f"`--{switch}`")
    return found


def _section(one: Analysis[Any, Any]) -> Iterator[str]:
    document, _, heading = one.section.partition("#")
    parameters = ", ".join(name for kind in one.takes for name in _DATA[kind].parameters)
    inputs = " ".join(filter(None, (_DATA[kind].inputs for kind in one.takes)))
    yield f"## {one.title}\n"
    yield f"{one.question} [How it is computed]({document}.md#{heading}).\n"
    yield f"```sh\npython -m core {_usage(one, inputs)}\n```\n"
    yield f"In Python: `assay.{one.function}({parameters})`.\n"
    yield f"When it misleads: {one.misleads}\n"
    if fields_of(one.Options):
        yield "Options:\n"
        yield _options(one)
    if one.codes:
        yield "Verdicts:\n"
        yield "".join(f"- `{code}`: {what}\n" for code, what in one.codes.items())
    first: dict[type, str] = {}
    for table in one.tables:
        alike = first.setdefault(table.row, table.name)
        same = "" if alike == table.name else f"Its columns are those of `{alike}`."
        yield f"Table `{table.name}`. {' '.join(filter(None, (f'{table.title}.', table.question, same)))}\n"
        if same:
            continue
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

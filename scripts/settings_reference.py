"""Write docs/settings.md, the reference of all settings of all kinds of runs, from the code.

python scripts/settings_reference.py
"""

import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.llm.call_settings import CallSettings
from core.runs.asked import ModelSettings, Running
from core.runs.kinds import KINDS
from core.schema.runs import Kind, KindSettings, Work
from core.schema.settings import SettingField, Settings, fields_of, option_word, worded

OUT = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
_WHERE: Mapping[Work, tuple[str, str]] = {
    "generation": ("generate", "generation.md"),
    "scores": ("score", "metrics.md"),
    "judging": ("judge", "judges.md"),
    "audit": ("judge", "judges.md"),
}
"""Work -> command, and the document that describes it."""
_START = """# Settings

All settings of all kinds of runs, with the label on the page and the option of the command. Saved runs and `run.json` use
the *field*. *Scored* means that the setting can change a score, so it is part of the signature wherever it has an effect.
The last sections list the settings of every run that calls a model; see [models](models.md).

`python scripts/settings_reference.py` writes this file from the code. A test fails if they differ.
"""
_CALL = CallSettings.model_fields.keys()
_SHARED: tuple[tuple[str, str, type[Settings], Collection[str]], ...] = (
    ("Model", "Which model a run calls. For all kinds of runs except metrics.", ModelSettings, _CALL),
    (
        "Every call",
        "Settings of every call to the model. Some kinds have their own temperature, listed above. A setting that a server "
        "refuses is left out, and run.json records it.",
        CallSettings,
        (),
    ),
    (
        "Running",
        "How a run that calls a model is processed. None of these settings changes an answer.",
        Running,
        (),
    ),
)
_HEAD = ("On the page", "Option", "Field", "Default", "Values", "Scored", "What it does")


def reference() -> str:
    """Return the whole file."""
    shared = (
        line
        for title, text, model, without in _SHARED
        for line in (f"## {title}\n", f"{text}\n", table(model, without))
    )
    # A big table has the settings of the metrics.
    kinds = (kind for kind in KINDS.values() if kind.work != "tables")
    return "\n".join([_START, *(line for kind in kinds for line in _section(kind)), *shared])


def table(model: type[Settings], without: Collection[str] = (), *, scored: bool = True) -> str:
    """Return a Markdown table with a row for each field. scored: whether it says which can change a score."""
    fields = {name: one for name, one in fields_of(model).items() if name not in without}
    depending = model.usual({}, "") if issubclass(model, KindSettings) else {}
    rows = [
        _HEAD,
        ("---",) * len(_HEAD),
        *(tuple(_row(one, fields, depends=name in depending)) for name, one in fields.items()),
    ]
    if not scored:
        at = _HEAD.index("Scored")
        rows = [(*row[:at], *row[at + 1 :]) for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _section(kind: Kind) -> Iterator[str]:
    command, document = _WHERE[kind.work]
    verb = kind.verb or kind.name
    called = f"`{command}`" if kind.work == "scores" else f"`{command} {verb}`"
    yield f"## {kind.title}\n"
    yield f"{called}: {kind.summary}. See [{kind.title}]({document}{f'#{kind.section}' if kind.section else ''}).\n"
    if (one := kind.attachment) is not None:
        yield f"It also needs a file: {_cell(one.label)} (`--{one.option}`), `{one.usual}` unless you choose another.\n"
    yield table(kind.Settings) if fields_of(kind.Settings) else "It has no settings.\n"


def _row(one: SettingField, fields: Mapping[str, SettingField], *, depends: bool) -> Iterator[str]:
    yield _cell(one.about.label)
    yield " or ".join(
        f"`{option}`" for option in (*(option_word(one, word) for word in one.about.apart),) or (one.option,)
    )
    yield f"`{one.name}`"
    yield "depends" if depends else _cell(one.usual) or "none"
    yield _values(one)
    yield "yes" if one.about.scored else "no"
    text = _cell(worded(one.about.help, fields, option_word))
    typed = {choice for other in fields.values() for choice in other.choices}
    explains_a_value = text.partition(":")[0] in typed
    yield text if explains_a_value else f"{text[:1].upper()}{text[1:]}"


def _values(one: SettingField) -> str:
    """Return the bounds with their unit, the choices, or the type of a field."""
    if one.shape == "choice":
        said = "; ".join(
            f"`{choice}`" if one.word(choice) == choice else f"`{choice}` ({_cell(one.word(choice))})"
            for choice in one.choices
        )
    elif one.shape in ("number", "whole", "list"):
        said = one.in_bounds
        said += ", separated by commas" if one.shape == "list" else ""
        said += f" ({one.about.unit})" if one.about.unit else ""
    else:
        said = {"switch": "on or off", "text": "text", "texts": "any number of texts"}.get(
            one.shape, f"`{one.about.metavar}`" if one.about.metavar else ""
        )
    return f"{said}, or none" if one.optional else said


def _cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    return "".join(f"\\{char}" if char in "\\|`*_<>[]#" else char for char in text.replace("\n", " "))


if __name__ == "__main__":
    OUT.write_text(reference(), "utf-8")

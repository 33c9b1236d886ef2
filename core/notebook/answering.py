"""How a function of `import assay` answers: checks its parameters as settings, opens its data, and returns a Result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.analyses import analysis
from core.notebook.result import Result, result_of
from core.schema.rows import python_value
from core.schema.settings import SettingsError, fields_of, parameter_word, refuse


def answered(name: str, parameters: Mapping[str, object], *data: Callable[[], Any]) -> Result:
    """Return an analysis's answer. parameters: of its options, by the function's names; data: opens each kind of data.

    Raises InputError with all problems, which name the function's parameters.
    """
    found = analysis(name)
    fields = {parameter_word(field, None): field for field in fields_of(found.Options).values()}
    values = {
        fields[parameter].name: _plain(value)
        for parameter, value in parameters.items()
        if value is not None or fields[parameter].optional
    }
    try:
        options = found.Options.checked(values, "Invalid parameters")
        refuse(options.unmet(), found.Options, what="Invalid parameters")
        answer = found.answer(options, *(opened() for opened in data))
    except SettingsError as problem:
        raise problem.in_words(parameter_word) from problem
    main, *others = answer.tables.values()
    return result_of([*answer.all_sentences, main], answer.json, others, answer.verdict)


def _plain(value: object) -> object:
    """Numbers and arrays of numpy as Python's own, also in lists."""
    value = python_value(value)
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value

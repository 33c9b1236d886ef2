"""The papers' numbers, computed again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from core.errors import InputError
from core.notebook.result import Result, result_of
from core.papers import PAPERS
from core.papers import paper as paper_of
from core.papers.declared import Data, ReproduceOptions
from core.schema.settings import SettingsError, parameter_word


def reproduce(
    paper: str,
    table: str | None = None,
    *,
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    resamples: int = 10_000,
    seed: int = 0,
) -> Result:
    """Compute a paper's numbers again, each beside the printed one, as ``reproduce`` does.

    Parameters
    ----------
    paper
        ``"meta-judge"``, ``"factual"``, ``"specialist"``, ``"cef"`` or ``"multilingual"``.
    table
        A table such as ``"1"``, or a section. Default: all.
    data
        Folder, or several, with the paper's public data at any depth. Default: only what Assay ships.
    resamples, seed
        Draws for intervals, seed.

    Returns
    -------
    Result
        Table ``reproduced`` (a row for each number: value, published, difference, and whether they agree). Further tables:
        ``reproduced-differences`` for many numbers, and ``reproduced-tables``. See docs/reproduce.md.

    Raises
    ------
    InputError
        For an unknown paper or table, a missing folder, and parameters out of bounds.

    Notes
    -----
    Misleads: numbers that come out again may still answer the wrong question.

    Examples
    --------
    >>> import assay
    >>> found = assay.reproduce("cef", "4")
    >>> print(found.verdict)
    cef: 10 of 11 numbers agree with the paper to the digits printed.
    """
    if paper not in PAPERS:
        raise InputError(f"paper: {paper!r} is not one of {', '.join(PAPERS)}.")
    folders = tuple(map(Path, [data] if isinstance(data, str | os.PathLike) else data))
    if missing := [str(one) for one in folders if not one.is_dir()]:
        raise InputError("Invalid parameters", [f"data: {one} is not a folder" for one in missing])
    try:
        options = ReproduceOptions.checked({"n_resamples": resamples, "rng": seed}, "Invalid parameters")
    except SettingsError as problem:
        raise problem.in_words(parameter_word) from problem
    answer = paper_of(paper).analysis.answer(options, Data(folders), table)
    main, *others = answer.tables.values()
    return result_of([*answer.all_sentences, main], answer.json, others, answer.verdict)

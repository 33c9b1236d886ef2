"""Prompt files on disk, and files that take fields from another: `based_on`."""

from pathlib import Path

from core.errors import InputError
from core.llm.prompt_files import PromptFile, Written, read_fields
from core.yaml_fields import is_file_name as is_file_name
from core.yaml_fields import text_of

SHIPPED = Path(__file__).resolve().parents[2] / "prompts"
MOST_BASES = 10
"""Files that one prompt may be based on, one after the other."""


def shipped_path(name: str) -> Path | None:
    """The file of a shipped prompt; None: there is no such prompt."""
    return next((path for path in SHIPPED.glob("*.yaml") if path.stem == name), None)


def merged_fields(
    text: str, folder: Path | None, chain: tuple[Path, ...]
) -> tuple[PromptFile, Written, list[str]]:
    """The fields of a file over those of the file it is based on, and what is wrong with either.

    chain: the files on the way here, so that a loop is seen.
    """
    written = read_fields(text)
    problems = list(written.problems)
    base = written.fields.based_on
    if base is None:
        if "based_on" in written.broken:
            written = _unsure(written, frozenset(PromptFile.model_fields) - {"name", "title"})
        return written.fields, written, problems
    try:
        path = _base_path(base, folder)
        if path.resolve() in chain:
            raise InputError(f"{base} leads back to itself")
        if len(chain) > MOST_BASES:
            raise InputError(f"goes through more than {MOST_BASES} files")
        fields, below, wrong = merged_fields(text_of(path), path.parent, (*chain, path.resolve()))
    except InputError as error:
        unknown = frozenset(PromptFile.model_fields) - {"name", "title"}
        place = written.place(["based_on"])
        return written.fields, _unsure(written, unknown), [*problems, f"{place}: {error}"]
    problems += [f"{base}, {problem}" for problem in wrong]
    own = {name: getattr(written.fields, name) for name in written.fields.model_fields_set - {"based_on"}}
    inherited = fields.model_copy(update={"name": None, "title": None})
    return inherited.model_copy(update=own), _unsure(written, below.broken - {"name", "title"}), problems


def _unsure(written: Written, unknown: frozenset[str]) -> Written:
    """The file itself, where what it does not give and the other file gives wrongly is not called missing."""
    broken = written.broken | (unknown - written.fields.model_fields_set)
    return Written(written.fields, written.lines, written.problems, broken)


def _base_path(base: str, folder: Path | None) -> Path:
    if not is_file_name(base):
        path = shipped_path(base)
        if path is None:
            names = ", ".join(path.stem for path in sorted(SHIPPED.glob("*.yaml")))
            raise InputError(f"there is no shipped prompt {base}; there are {names}")
        return path
    # A file that somebody sends in must not be able to name any file of the machine.
    if Path(base).name != base or "\\" in base:
        raise InputError(f"{base} is a path; name a shipped prompt or a file in the same folder")
    if folder is None:
        raise InputError(f"{base} cannot be looked up here; name a shipped prompt or write the fields out")
    return folder / base

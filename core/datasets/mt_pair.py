"""One language pair of an mt-metrics-eval folder: its segments, its systems' outputs, and what stands for references."""

from dataclasses import dataclass

import regex

from core.datasets.mt_files import Expected, Folder, read_segments
from core.datasets.open_tables import LABEL_PAIR, target_language
from core.datasets.reading import name_of, reject, shown
from core.errors import InputError, Problems

LAYOUT = "sources/LP.txt, references/LP.refA.txt, system-outputs/LP/SYSTEM.txt"

OF_REFERENCE = "of a reference, not of a system"
_REFERENCE = regex.compile(r"(synthetic[_-]?)?ref(erence)?([_-]?[A-Za-z0-9])?", regex.IGNORECASE)


@dataclass(frozen=True)
class MtPair:
    """One language pair's segments and outputs."""

    name: str
    sources: list[str]
    reference: list[str] | None
    texts: dict[str, list[str]]
    references: frozenset[str]
    """Names that stand for references among the systems."""
    labels: list[dict[str, str]]
    """Of each segment: domain, document, pair."""

    @property
    def language(self) -> str:
        """Into which is translated."""
        return target_language(self.name)

    @property
    def expected(self) -> Expected:
        """What the files of scores have to fit."""
        return Expected(len(self.sources), lambda name: name in self.texts or self.is_reference(name))

    def is_reference(self, system: str) -> bool:
        """Whether the name is a reference's."""
        return system in self.references or names_reference(system)


def names_reference(system: str) -> bool:
    """Whether a system's name is what references are called: refA, synthetic_ref, reference."""
    return _REFERENCE.fullmatch(system) is not None


def pair_name(folder: Folder, wanted: str | None) -> str:
    """The language pair that is meant; InputError, with those that there are, where that cannot be told."""
    name = folder.findings.file_name
    if not folder.path.is_dir():
        raise InputError(f"{shown(name)} is no folder", [f"expected a folder with {LAYOUT}"])
    there = [path.name.removesuffix(".txt") for path in folder.names("sources", "*.txt")]
    listed = ", ".join(map(shown, there))
    if not there:
        raise InputError(f"{shown(name)} cannot be read", [f"sources: there is no LP.txt; expected {LAYOUT}"])
    if wanted is None and len(there) > 1:
        raise InputError(f"{shown(name)} has several language pairs", [f"choose one of {listed}"])
    if wanted is not None and wanted not in there:
        raise InputError(f"{shown(name)} has no language pair {shown(wanted)}", [f"there are: {listed}"])
    return wanted or there[0]


def read_pair(folder: Folder, name: str) -> MtPair:
    """The pair's segments and outputs; problems go to the folder's findings."""
    sources = read_segments(folder, folder.path / "sources" / f"{name}.txt", None)
    if not sources:
        # Without the segments nothing else can be said to fit.
        reject(folder.findings.file_name, folder.findings.problems)
    n = len(sources)
    found = {
        path.name.removeprefix(f"{name}.").removesuffix(".txt"): read_segments(folder, path, n)
        for path in folder.names("references", f"{name}.*.txt")
    }
    references = {key: texts for key, texts in found.items() if texts}
    if not references:
        folder.findings.notes.append("there is no reference: metrics that need one cannot score the texts")
    if len(references) > 1:
        folder.findings.notes.append(
            f"the reference is {min(references)}; there are also {', '.join(sorted(references)[1:])}"
        )
    systems = {
        path.name.removesuffix(".txt"): path for path in folder.names(f"system-outputs/{name}", "*.txt")
    }
    if not systems:
        folder.findings.problems.append(f"system-outputs/{shown(name)}: there is no SYSTEM.txt")
    if bad := [shown(system) for system in systems if name_of(system) != system]:
        folder.findings.problems.append(
            f"system-outputs/{shown(name)}: {', '.join(bad)} cannot be systems' names"
        )
    texts = {system: read_segments(folder, path, n) for system, path in systems.items()}
    labels = _labels(folder, name, len(sources))
    pair = MtPair(
        name, sources, references[min(references)] if references else None, texts, frozenset(found), labels
    )
    if among := [system for system in texts if pair.is_reference(system)]:
        folder.findings.notes.append(f"references among the systems, left out: {', '.join(sorted(among))}")
    return pair


def _labels(folder: Folder, name: str, n: int) -> list[dict[str, str]]:
    path = folder.path / "documents" / f"{name}.docs"
    if not path.is_file():
        return [{LABEL_PAIR: name} for _ in range(n)]
    labels, problems = [], Problems()
    for number, line in enumerate(read_segments(folder, path, n), start=1):
        cells = [name_of(cell) for cell in line.split("\t")]
        if len(cells) != 2 or None in cells:
            problems.append(f"line {number}: expected a domain, a tab, and a document")
        labels.append({"domain": cells[0] or "", "document": cells[-1] or "", LABEL_PAIR: name})
    folder.report(path, problems)
    return labels

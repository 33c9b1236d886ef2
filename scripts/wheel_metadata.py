"""Give the package `assay` the dependencies of requirements.txt, so that they are written once."""

from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


def requirements(file: Path) -> list[str]:
    """The requirements of a file and of those that it includes with `-r`."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        text = line.partition(" #")[0].strip()
        if text.startswith("-r "):
            found += requirements(file.parent / text.removeprefix("-r ").strip())
        elif text and not text.startswith("#"):
            found.append(text)
    return found


class Requirements(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        metadata["dependencies"] = requirements(Path(self.root) / "requirements.txt")

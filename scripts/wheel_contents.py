"""What hatchling puts into the package `assay`: the dependencies of requirements.txt, and the tree beside it."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
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
    """They are written once, in the files that ./run reads too."""

    def update(self, metadata: dict) -> None:
        metadata["dependencies"] = requirements(Path(self.root) / "requirements.txt")


class Tree(BuildHookInterface):
    """A copy of the tree inside the package. An editable installation uses the checkout instead."""

    def initialize(self, version: str, build_data: dict) -> None:
        if version != "editable":
            build_data["force_include"].update({name: f"assay/{name}" for name in self.config["tree"]})

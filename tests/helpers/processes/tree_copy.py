"""A copy of the tree, for tests that change it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CACHES = ("__pycache__", ".*_cache")
NO_PART = (*CACHES, ".git", ".venv*", ".real-model", ".hypothesis", "var", "results")
"""What lies at the top of a checkout beside its files. Below, only caches do: core/results is code."""


def copy_of_the_tree(folder: Path) -> Path:
    """Copy the files of this tree, without environments, databases and caches, into a new folder; return that folder."""

    def ignored(path: str, names: list[str]) -> set[str]:
        return shutil.ignore_patterns(*(NO_PART if Path(path) == ROOT else CACHES))(path, names)

    return Path(shutil.copytree(ROOT, folder, ignore=ignored))

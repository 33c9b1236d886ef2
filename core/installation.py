"""Where Assay lies, in a checkout or inside the package `assay` that pip installed, and what follows from it."""

import os
import shlex
from pathlib import Path
from typing import Literal

HOUSE = Path(__file__).resolve().parents[1]
"""The folder of app.py, core, pages, prompts, data and docs."""
INSTALLED = (HOUSE / "__init__.py").is_file()
"""Whether this is the installed package: only there is the folder a package itself."""
PACKAGE = HOUSE if INSTALLED else HOUSE / "assay"
"""The folder of the package `assay`."""
TYPED = "ASSAY_TYPED"
"""Variable that says that the user typed `assay`, to child processes too."""
IN_FOLDER = not INSTALLED and TYPED not in os.environ
"""Whether messages name what works in the checkout's own folder alone: `python -m core` and ./run.

Where ./run set up the checkout, `assay` works too, and in every folder. Messages repeat what the user typed.
"""
COMMAND = "python -m core" if IN_FOLDER else "assay"
"""The command line, as messages write it."""
START = "./run" if IN_FOLDER else "assay serve"
"""The command that starts the app, as messages write it."""
CONVERT = "`python scripts/convert_database.py OLD NEW`" + (" in a checkout of Assay" if INSTALLED else "")
"""How to convert what a version from before the first release wrote, as messages write it. The package has no scripts."""
Extra = Literal["neural", "ray", "spacy", "vllm"]
"""An environment of its own, for packages that cannot be installed with the app's."""


def default_database() -> Path:
    """Return the database used without `--db` and ASSAY_DB: in the user's data folder, or in a checkout's var/."""
    return _users_folder() / "assay.db" if INSTALLED else HOUSE / "var" / "assay.db"


def extra_folder(extra: Extra) -> Path:
    """Return the folder of an extra environment, whether it exists or not."""
    return (_users_folder() if INSTALLED else HOUSE) / f".venv-{extra}"


def _users_folder() -> Path:
    from platformdirs import user_data_path  # imported lazily: most commands are given a database

    return user_data_path("assay", appauthor=False)


def set_up(extra: Extra) -> str:
    """Return the command that sets up an extra environment, in backticks, for use within a sentence."""
    if not INSTALLED:
        run = "./run" if IN_FOLDER else shlex.quote(str(HOUSE / "run"))
        return f"`{run} --with {extra} --setup`"
    folder = shlex.quote(str(extra_folder(extra)))
    wanted = shlex.quote(str(HOUSE / f"requirements-{extra}.txt"))
    return f"`python -m venv {folder} && {folder}/bin/pip install -r {wanted}`"


def command_line(python: str | os.PathLike[str]) -> list[str]:
    """Return how to start the command line under a Python, from any folder and whatever else is installed there."""
    return [os.fspath(python), str(PACKAGE)]

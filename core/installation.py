"""Where Assay lies: in a checkout, or inside the package `assay` that pip installed."""

import os
import shlex
import sys
from pathlib import Path
from typing import Literal

HOUSE = Path(__file__).resolve().parents[1]
"""The folder of app.py, core, pages, prompts, data and docs."""
INSTALLED = (HOUSE / "__init__.py").is_file()
"""Whether this is the installed package: only there does the folder have the package's own `__init__.py`."""
PACKAGE = HOUSE if INSTALLED else HOUSE / "assay"
"""The folder of the package `assay`."""
COMMAND = "assay" if INSTALLED else "python -m core"
"""The command line, as messages write it."""
START = "assay serve" if INSTALLED else "./run"
"""The command that starts the app."""
Extra = Literal["neural", "spacy", "vllm"]
"""An environment of its own, for packages that cannot be installed beside the app's."""


def data_folder() -> Path:
    """Return the folder of the database and the extra environments; in a checkout, they lie beside app.py."""
    if not INSTALLED:
        return HOUSE
    from platformdirs import user_data_path  # imported lazily: an older extra environment may lack it

    return user_data_path("assay", appauthor=False)


def default_database() -> Path:
    """Return the database that is used without `--db` and ASSAY_DB."""
    return data_folder() / ("assay.db" if INSTALLED else "var/assay.db")


def extra_variable(extra: Extra) -> str:
    """Return the environment variable that names the Python of another environment for an extra."""
    return f"ASSAY_{extra.upper()}_PYTHON"


def extra_python(extra: Extra) -> Path:
    """Return the Python of an extra environment, whether it exists or not."""
    given = os.environ.get(extra_variable(extra))
    return Path(given).absolute() if given else data_folder() / f".venv-{extra}" / "bin" / "python"


def set_up(extra: Extra) -> str:
    """Return the command that sets up an extra environment, in backticks, for use within a sentence."""
    if not INSTALLED:
        return f"`./run --with {extra} --setup`"
    place = shlex.quote(str(data_folder() / f".venv-{extra}"))
    wanted = shlex.quote(str(HOUSE / f"requirements-{extra}.txt"))
    return f"`python -m venv {place} && {place}/bin/pip install -r {wanted}`"


def core_command(python: str | os.PathLike[str] = sys.executable) -> list[str]:
    """Return the start of a command line of Assay under any Python: it works in every folder, whatever else is installed."""
    return [os.fspath(python), str(PACKAGE)]

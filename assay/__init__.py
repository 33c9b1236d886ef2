"""Assay in Python: `import assay` in a notebook or a script, or `assay` on the command line.

The functions are those of `core.notebook`, loaded at first use. `dir(assay)` lists them.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.notebook import *  # so that editors see the functions

_HERE = Path(__file__).resolve().parent
HOUSE = _HERE if (_HERE / "core").is_dir() else _HERE.parent
"""The folder of Assay's own modules: this package's folder if it is installed, or the checkout."""


def __getattr__(name: str) -> Any:
    """Load a public function at first use, so that `import assay` stays light."""
    if name == "__version__":
        return _module("core").__version__
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    notebook = _module("core.notebook")
    if name == "__all__":
        return list(notebook.__all__)
    if name not in notebook.__all__:
        offered = ", ".join(notebook.__all__)
        raise AttributeError(f"module 'assay' has no attribute {name!r}. It has {offered}.")
    value = globals()[name] = getattr(notebook, name)
    return value


def __dir__() -> list[str]:
    """List the public functions, for completion."""
    return sorted([*_module("core.notebook").__all__, "HOUSE", "__doc__", "__name__", "__version__"])


def _module(name: str) -> ModuleType:
    """Import a module of Assay. Raises ImportError if another package named `core` is in its place."""
    _refuse_foreign_core()
    return import_module(name)


def _refuse_foreign_core() -> None:
    loaded = sys.modules.get("core")
    spec = None if loaded else find_spec("core")
    found = getattr(loaded, "__file__", None) if loaded else spec and spec.origin
    if not found or Path(found).resolve() != HOUSE / "core" / "__init__.py":
        raise ImportError(
            f"Another package named `core` ({found or 'without a file'}) hides Assay's own. "
            "Import assay in a folder and an environment without that package. The command `assay` works with it too."
        )


def _is_the_command() -> bool:
    """Whether this process is the command `assay` (or `python -m assay`), which uses no path but its own."""
    return bool(sys.argv) and (sys.argv[0] == "-m" or Path(sys.argv[0]).stem == "assay")


if str(HOUSE) not in sys.path:
    sys.path.append(str(HOUSE))
if not _is_the_command():
    _refuse_foreign_core()

"""Entry point of the command `assay` and of `python -m assay`."""

import os
import sys
from pathlib import Path

if not __package__:  # started as `python FOLDER`: only this folder is on the path yet, not its parent
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from assay import HOUSE

if not __package__:
    del sys.path[0]  # another environment's packages may lie there


def main() -> int:
    """Run the command line, with Assay's folder first on the path, and return the exit status."""
    sys.path.insert(0, str(HOUSE))
    if __name__ != "__main__":  # the command itself, not a folder or a module that another process started
        os.environ["ASSAY_TYPED"] = "1"  # TYPED of core.installation, which is imported below
    from core.__main__ import main as run

    return run("assay")


if __name__ == "__main__":
    sys.exit(main())

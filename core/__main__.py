"""Entry point of `python -m core`, the command line."""

import gc
import os
import sys

# Set before numpy loads: its matrix products are small here, so a second thread would only wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main(program: str | None = None) -> int:
    """Run the command line in a process of its own, and return the exit status. program: its name in usage and errors."""
    # Imported lazily: scoring processes load this module too, but none of the commands.
    from core.cli import main as run
    from core.installation import COMMAND

    # Commands build tables of millions of small, lasting objects. A busier collector would scan them again and again.
    gc.set_threshold(50_000, 20, 50)
    return run(program=program or COMMAND)


if __name__ == "__main__":
    sys.exit(main())

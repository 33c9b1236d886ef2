"""`python -m core`: the command line."""

import gc
import os
import sys

# Before numpy is loaded: its matrix products here are small, and a second thread would spend its time waiting for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if __name__ == "__main__":
    # Not above: processes that score load this module too, and none of the commands.
    from core.cli import main

    # Commands build tables of millions of small objects that stay: the collector would walk over them again and again.
    gc.set_threshold(50_000, 20, 50)
    sys.exit(main())

"""`python -m core`: the command line."""

import gc
import sys

from core.cli import main

if __name__ == "__main__":
    # Commands build tables of millions of small objects that stay: the collector would walk over them again and again.
    gc.set_threshold(50_000, 20, 50)
    sys.exit(main())

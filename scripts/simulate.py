"""Run the simulation of a grid and store its table in docs/simulations.

python scripts/simulate.py NAME      see scripts/simulations; --check prints the table without storing it
"""

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.simulations import FOLDER, Grid, document, run

NAMES = sorted(path.stem for path in (Path(__file__).parent / "simulations").glob("[a-z]*.py"))
"""Modules with a grid. A grid is named like its module, with hyphens."""


def main() -> None:
    """Run one grid."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=[name.replace("_", "-") for name in NAMES])
    parser.add_argument("--check", action="store_true", help="print the table without storing it")
    parser.add_argument("--replicates", type=int, help="replicates a cell (default: the grid's)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default %(default)s)")
    options = parser.parse_args()
    grid: Grid = import_module(f"scripts.simulations.{options.name.replace('-', '_')}").GRID
    begun = time.monotonic()
    text = document(grid, run(grid, options.workers, options.replicates), options.replicates)
    print(text)
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    if not options.check:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{grid.name}.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()

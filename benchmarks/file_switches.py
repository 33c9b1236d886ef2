"""How often a command goes from one file of core/ to another: calls and returns between functions of two of its files.

By default `check` of the 140 labels of the demo. The imports of a command are no part of the count: it runs twice, and the
second time is counted.

    .venv/bin/python benchmarks/file_switches.py [--beside CHECKOUT] [--most 7355] [--top 20] [COMMAND ...]
"""

import argparse
import contextlib
import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

COMMAND = ("check", "data/demo/labels.csv")
MOST = 7_355
"""Half of the 14,711 switches that `check` of the demo's labels once made."""
_HERE = Path(__file__).resolve().parents[1]
_PLACE = "FILE_SWITCHES_OF"


def counted(checkout: Path, command: list[str]) -> Counter[tuple[str, str]]:
    """Switches by the function that is called or returns, and the file on the other side, while the checkout runs the command."""
    sys.path.insert(0, str(checkout))
    from core.cli import main

    core = f"{checkout / 'core'}{os.sep}"
    found: Counter[tuple[str, str]] = Counter()

    def switch(frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return") or frame.f_back is None:
            return
        here, there = frame.f_code.co_filename, frame.f_back.f_code.co_filename
        if here != there and here.startswith(core) and there.startswith(core):
            found[
                f"{here.removeprefix(core)}:{frame.f_code.co_qualname}",
                there.removeprefix(core),
            ] += 1

    for profile in (None, switch):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            sys.setprofile(profile)
            try:
                main(command)
            finally:
                sys.setprofile(None)
    return found


def main_here() -> int:
    """Print the number of switches, and of another checkout; 1 if there are more than `--most`."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("command", nargs="*", default=[*COMMAND], metavar="COMMAND")
    options.add_argument("--beside", type=Path, metavar="CHECKOUT", help="count in this checkout, too")
    options.add_argument("--most", type=int, default=MOST, help="most switches allowed (default %(default)s)")
    options.add_argument("--top", type=int, default=0, help="list so many functions with most switches")
    given = options.parse_args()
    command = [str(_HERE / one) if (_HERE / one).is_file() else one for one in given.command]
    checkout = Path(os.environ.get(_PLACE, _HERE))
    found = counted(checkout, command)
    print(f"{checkout.name}: {found.total():,} switches of file in {' '.join(given.command)}")
    for (function, other), n in found.most_common(given.top):
        print(f"{n:7,} {function} from {other}")
    if given.beside is not None:
        arguments = [sys.executable, __file__, *command, "--top", str(given.top)]
        subprocess.run(arguments, env={**os.environ, _PLACE: str(given.beside.resolve())}, check=False)
    return int(checkout == _HERE and found.total() > given.most)


if __name__ == "__main__":
    sys.exit(main_here())

"""One line on standard error that says how far a command is."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.runs.progress import duration

LINE_SECONDS = 5.0
"""Between two lines where nobody watches a terminal."""
QUIET_SECONDS = 2.0
"""What takes no longer needs no line."""


class ProgressLine:
    """Written over on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self.terminal = self._stream.isatty()
        self._last = time.monotonic()
        self._shown = False

    @property
    def is_due(self) -> bool:
        """Whether it is time to show something."""
        return self.terminal or time.monotonic() - self._last >= LINE_SECONDS

    def show(self, line: str) -> None:
        """Write the line, in place of the last one on a terminal."""
        self._last = time.monotonic()
        self._shown = True
        start, end = ("\r\x1b[K", "") if self.terminal else ("", "\n")
        print(f"{start}{line}", end=end, file=self._stream, flush=True)

    def end(self) -> None:
        """Leave the line behind."""
        if self.terminal and self._shown:
            print("\r\x1b[K", end="", file=self._stream, flush=True)


@contextmanager
def telling(first: str) -> Iterator[Callable[[str], None]]:
    """While the block runs, say what was told last and for how long it goes on; nothing if it is soon over.

    A thread shows it, so that a step that takes long does not look like one that hangs.
    """
    said, over, begun = [first], threading.Event(), time.monotonic()
    line = ProgressLine()

    def show() -> None:
        wait = QUIET_SECONDS
        while not over.wait(wait):
            line.show(f"{said[-1]}, {duration(time.monotonic() - begun)}")
            wait = 1.0 if line.terminal else LINE_SECONDS

    def tell(what: str) -> None:
        said[:] = [what]

    shower = threading.Thread(target=show, daemon=True)
    shower.start()
    try:
        yield tell
    finally:
        over.set()
        shower.join()
        line.end()

"""The memory that one call takes, measured in a process of its own.

The tests' process may hold threads and caches of earlier tests, which would be counted with it.
"""

import multiprocessing
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor


def traced_memory(work: Callable[[], object], first: Callable[[], object] = int) -> tuple[int, int]:
    """(bytes that the call's result keeps, bytes at the peak of the call); `work` has to be picklable.

    first: called before it and not counted, for the libraries that a first call loads.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_traced, work, first).result(timeout=120)


def _traced(work: Callable[[], object], first: Callable[[], object]) -> tuple[int, int]:
    first()
    tracemalloc.start()
    result = work()
    kept_and_peak = tracemalloc.get_traced_memory()
    del result  # until here it was held
    return kept_and_peak

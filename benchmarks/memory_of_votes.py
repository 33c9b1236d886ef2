"""Memory of the server while raters vote, and while an owner looks at pages.

The app runs as `serve`, on a new database with a study of 500 pairs for each of 20 raters. The raters are threads of this process with
real websockets, each as fast as the app takes presses. The lines show the resident memory of the server process after each tenth of the
votes. Then an owner looks at pages in turn, also at those of a second study with 300 votes: 1,000 times in one tab, and 1,000 times with
a new tab for each. Targets: at most 20 MiB more between the first tenth and the last, for the votes and for both kinds of views;
otherwise the exit status is 1.

    .venv/bin/python benchmarks/memory_of_votes.py [--votes 10000] [--raters 20] [--views 1000]
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.pages.admin_session import admin_cookie
from helpers.processes.app_server import ROOT
from helpers.processes.ports import free_port
from helpers.processes.raw_rater import RawRater, RawVisitor
from helpers.processes.voters import Voter, until_more
from helpers.texts.factories import LEVELS, always, dataset, study_in, vote

from core.store import Store, open_store
from core.store.raters import update_rater
from core.study.raters import links

ONBOARDED = 4
MOST_MIB = 20.0
VOTES, VIEWS = 10_000, 1_000
BEFORE = 0.1
"""Share of the votes and views after which growth is counted: by then everything is loaded that the first visitors need."""
LOOKS = (
    ("start", ""),
    ("studies", ""),
    *(
        ("studies", f"study={{study}}&tab={tab}")
        for tab in ("result", "pairs", "raters", "judges", "design", "export")
    ),
    ("studies", "study=new"),
    ("generate", ""),
    ("check", ""),
    ("metrics", ""),
    ("judges", ""),
    ("specialist", ""),
    ("calibration", ""),
    ("operation", ""),
)
"""Page and query of what an owner looks at, in turn."""


class Served:
    """`serve` in a process of its own, which Streamlit takes over."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self._process, self.url = process, url

    def memory_mib(self) -> float:
        """Resident memory (Linux)."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def served(database: Path, environment: Mapping[str, str] = {}) -> Iterator[Served]:
    """Start the app and wait until it answers. environment: variables to add."""
    port = free_port()
    command = [sys.executable, "-m", "core", "serve", "--db", str(database), "--server.port", str(port)]
    with database.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=log, env={**os.environ, **environment}
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _until_it_answers(url, process)
        yield Served(process, url)
    finally:
        process.terminate()
        process.wait(60)


def _until_it_answers(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        if process.poll() is not None:
            raise RuntimeError("the app did not start")
        with (
            suppress(urllib.error.URLError, OSError),
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1),
        ):
            return
        time.sleep(0.1)
    raise RuntimeError("the app did not answer")


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each tenth of the votes and views; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=int, default=VOTES, help="of all raters (default %(default)s)")
    parser.add_argument("--raters", type=int, default=20, help="default %(default)s")
    parser.add_argument("--views", type=int, default=VIEWS, help="of an owner (default %(default)s)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        pairs = -(-options.votes // options.raters)
        data = dataset(-(-pairs // len(LEVELS)))
        at_hand = study_in(store, data, raters=[f"r{n:03d}" for n in range(options.raters)])
        with store.writing():
            for link in links(store, at_hand.study):
                update_rater(store, at_hand.study_id, link.rater_id, onboarding=ONBOARDED)
        looked_at = study_in(store, dataset(30), name="looked at")
        for token in looked_at.tokens.values():
            vote(store, token, always("left"))
        print("| | number | MiB | KiB each, since the line before |\n|---|---|---|---|")
        grown = []
        with served(store.path) as app:
            people = [(link.rater_id, link.url(app.url)) for link in links(store, at_hand.study)]
            grown.append(_printed("votes", options.votes, app, voting(people, options.votes)))
            for what, views in (("views in one tab", in_one_tab), ("views, each in a new tab", in_new_tabs)):
                looks = views(store, looked_at.study_id, app, options.views)
                grown.append(_printed(what, options.views, app, looks))
    return int(options.votes >= VOTES and options.views >= VIEWS and max(grown) > MOST_MIB)


def _printed(what: str, total: int, app: Served, steps: Iterator[int]) -> float:
    """Print the memory after each tenth; return what was added after the first tenth, in MiB."""
    seen: list[tuple[int, float]] = []
    for number in steps:
        memory = app.memory_mib()
        each = 1024 * (memory - seen[-1][1]) / max(1, number - seen[-1][0]) if seen else float("nan")
        print(f"| {what} | {number:,} | {memory:.1f} | {each:.1f} |", flush=True)
        seen.append((number, memory))
    after_first = next(memory for number, memory in seen if number >= BEFORE * total)
    return seen[-1][1] - after_first


def voting(people: Sequence[tuple[str, str]], votes: int) -> Iterator[int]:
    """The raters vote; yields the number of votes, first 0 and then after each tenth."""
    enough = threading.Event()
    voters = [Voter(name, RawRater.of_link(url, keep=False), enough) for name, url in people]
    yield 0
    threads = [threading.Thread(target=one.work, daemon=True) for one in voters]
    for thread in threads:
        thread.start()
    for tenth in range(1, 11):
        acknowledged = sum(len(one.acknowledged) for one in voters)
        until_more(voters, threads, round(tenth * votes / 10) - acknowledged)
        yield sum(len(one.acknowledged) for one in voters)
    enough.set()
    for thread in threads:
        thread.join()
    for one in voters:
        one.rater.close()
        if one.problem is not None:
            raise one.problem


def _asked(study_id: int) -> Iterator[tuple[str, str]]:
    return ((page, query.format(study=study_id)) for page, query in itertools.cycle(LOOKS))


def _cookie(store: Store) -> str:
    return "; ".join(f"{name}={value}" for name, value in admin_cookie(store).items())


def in_one_tab(store: Store, study_id: int, app: Served, views: int) -> Iterator[int]:
    """An owner goes from page to page; yields the number of views, first 0 and then after each tenth."""
    with closing(RawVisitor(app.url, _cookie(store), keep=False)) as owner:
        yield 0
        for number, (page, query) in zip(range(1, views + 1), _asked(study_id), strict=False):
            owner.go(query, page_name=page)
            if number % max(1, views // 10) == 0:
                yield number


def in_new_tabs(store: Store, study_id: int, app: Served, views: int) -> Iterator[int]:
    """The same with a connection, and so a session, for each view."""
    cookie = _cookie(store)
    yield 0
    for number, (page, query) in zip(range(1, views + 1), _asked(study_id), strict=False):
        with closing(RawVisitor(app.url, cookie, keep=False)) as owner:
            owner.go(query, page_name=page)
        if number % max(1, views // 10) == 0:
            yield number


if __name__ == "__main__":
    sys.exit(main())

"""Two servers on one database, each started by itself: they know nothing of each other, and nobody loses anything."""

import subprocess
import sys
import threading
from collections import Counter

import pytest
from helpers.processes.app_server import ROOT, AppServer
from helpers.processes.raw_rater import RawRater
from helpers.processes.voters import Voter, check, until_more
from helpers.texts.factories import dataset, plain_pairs, study_in, waiting_run

from core.store import Store
from core.store.answers import history_of
from core.study.raters import links

pytestmark = pytest.mark.slow

CLAIM = """
import sys
from pathlib import Path
from core.errors import AssayError
from core.store import open_store
from core.runs.working.worker import work
with open_store(Path(sys.argv[1])) as store:
    sys.stdin.readline()
    try:
        work(store, 1, lambda claimed: (print("claimed", flush=True), sys.stdin.readline(), sys.exit())[0])
    except AssayError as problem:
        print("refused:", problem, flush=True)
"""


def test_raters_of_two_servers(store: Store) -> None:
    """One rater votes at both by turns; one server is killed and comes back."""
    with plain_pairs():
        at_hand = study_in(store, dataset(8), raters=[f"r{n}" for n in range(6)], repeat_share=0)
    servers = [AppServer(store.path).start() for _ in range(2)]
    enough = threading.Event()
    voters = [
        Voter(
            link.rater_id,
            RawRater.of_link(link.url(servers[at % 2].url), keep=False).through_onboarding(),
            enough,
        )
        for at, link in enumerate(links(store, at_hand.study))
    ]
    threads = [threading.Thread(target=voter.work) for voter in voters]
    try:
        for thread in threads:
            thread.start()
        until_more(voters, threads, 30)
        servers[1].kill()
        until_more(voters, threads, 15)
        servers[1].start()
        until_more(voters, threads, 30)
    finally:
        enough.set()
        for thread in threads:
            thread.join()
        for voter in voters:
            voter.rater.close()
        for server in servers:
            server.stop()
    assert not [voter.problem for voter in voters if voter.problem]
    check(at_hand, voters)
    assert sum(len(voter.acknowledged) for voter in voters) >= 75
    lines = Counter(entry.answer.key for entry in history_of(store, at_hand.study_id))
    assert set(lines.values()) == {1}, "no vote is there twice"


def test_one_of_eight_workers_gets_a_run(store: Store) -> None:
    waiting_run(store)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIM, str(store.path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.stdout.readline() for worker in workers if worker.stdout is not None]
    for worker in workers:
        worker.communicate("end\n", timeout=60)
    assert sum(line.startswith("claimed") for line in said) == 1, said
    assert sum("working on run 1" in line for line in said) == 7, said

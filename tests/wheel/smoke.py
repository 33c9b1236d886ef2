"""What an installed Assay must do, whatever else is installed: `python tests/wheel/smoke.py PYTHON`, or by test_wheel.py.

Each check of CHECKS uses nothing but the Python of the environment, in an empty folder, with an empty home.
"""

import contextlib
import csv
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120
"""Seconds for one command, on a machine that is busy with other tests."""
FOREIGN = "raise SystemExit('a foreign package was imported')\n"


@dataclass(frozen=True)
class Installed:
    """An environment with Assay, and an empty folder in which it is used."""

    python: Path
    folder: Path

    @property
    def command(self) -> str:
        return str(self.python.with_name("assay"))

    def house(self) -> Path:
        """The folder of the installed package."""
        return Path(self.ran("-c", "import assay; print(assay.HOUSE)").stdout.strip())

    def variables(self, **more: str) -> dict[str, str]:
        ours = ("ASSAY_", "STREAMLIT_", "PYTHON", "FORWARDED_ALLOW_IPS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        home = self.folder / "home"
        return {**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), **more}

    def ran(self, *words: str, status: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        """`python WORDS`, or a command if the first word is one; checks the exit status."""
        line = [*words] if words[0] == self.command else [str(self.python), *words]
        ended = subprocess.run(
            line,
            cwd=self.folder,
            env=self.variables(**variables),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ended.returncode == status, f"{line}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended

    def assay(self, *words: str, status: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.ran(self.command, *words, status=status, **variables)

    def demo(self, name: str) -> str:
        return str(self.house() / "data" / "demo" / name)


def names_and_version(at: Installed) -> None:
    """By its command, as a module and as a folder: one version, and its own name in what it prints."""
    version = at.assay("--version").stdout
    assert re.fullmatch(r"assay \d+\.\d+\.\d+\n", version)
    assert at.ran("-m", "assay", "--version").stdout == version
    assert at.ran(str(at.house()), "--version").stdout == version
    code = "import assay, importlib.metadata as m; print('assay', m.version('assay'), assay.__version__)"
    assert at.ran("-c", code).stdout.split() == [*version.split(), version.split()[1]]
    assert at.assay("score", "--no-such-option", status=2).stderr.startswith("usage: assay ")
    at.assay("runs", "list", "--db", "none.db", status=2)
    assert not (at.folder / "none.db").exists()


def readmes_commands(at: Installed) -> None:
    """The first commands of the README: the verdicts on real ratings, then from questions to a meta-correlation."""
    readme = (at.house() / "README.md").read_text("utf-8")
    first = [shlex.split(line)[1:] for line in re.findall(r"^assay check data/.*", readme, re.MULTILINE)]
    for words, status in zip(first, (0, 3), strict=True):
        at.assay(*in_package(at, words), status=status)
    (block,) = re.findall(r"```sh\n(python -m core generate.*?)```", readme, re.DOTALL)
    lines = [shlex.split(line)[3:] for line in block.splitlines()]
    assert [words[0] for words in lines] == ["generate", "score", "correlate", "meta-correlate"]
    for words in lines:
        at.assay(*in_package(at, words))
    assert len(rows(at.folder / "results" / "scores.csv")) == 84 * 16
    assert json.loads((at.folder / "results" / "correlations.json").read_text("utf-8"))
    assert users_database(at).is_file()


def in_package(at: Installed, words: list[str]) -> list[str]:
    """A command's words, with the package's own files for those of a checkout."""
    return [str(at.house() / word) if word.startswith("data/") else word for word in words]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def users_database(at: Installed) -> Path:
    """Where the database lies if nobody names one: below the user's home, outside of the package."""
    code = "import assay; from core.installation import default_database; print(default_database())"
    path = Path(at.ran("-c", code).stdout.strip())
    assert path.is_relative_to(at.folder / "home")
    return path


def runs_in_child_processes(at: Installed) -> None:
    """A run that the app would start works in a process of its own; one that was cut short is resumed."""
    generate = ("generate", "damage", at.demo("questions.jsonl"), "--backend", "rules")
    at.assay(*generate, "--limit", "2", "--out", "first", "--db", "own.db")
    code = """
import time
from pathlib import Path
import assay
from core.runs.working.environments import lives, start_child
from core.runs.path import saved_run, resume
from core.runs.progress import progress_of
from core.store import open_store
with open_store(Path("own.db")) as store:
    resume(saved_run(store, 1), None, 9)
    child = start_child(Path("own.db"), 1, "base")
    while lives(child):
        time.sleep(0.05)
    print(progress_of(store, 1).n_finished)
"""
    assert at.ran("-c", code).stdout == "9\n"
    log = (at.folder / "runs" / "1.log").read_text("utf-8")
    assert "Traceback" not in log, log
    at.assay("runs", "resume", "1", "--out", "second", "--db", "own.db")
    assert len({row["item_id"] for row in rows(at.folder / "second" / "outputs.csv")}) == 14


def several_processes(at: Installed) -> None:
    """Processes that score find the package, though something else named `core` lies in the folder."""
    (at.folder / "core").mkdir()
    (at.folder / "core" / "__init__.py").write_text(FOREIGN)
    write_texts(at.folder / "many.jsonl", 2001)
    score = ("score", "many.jsonl", "--metrics", "bleu-1", "--workers", "2", "--db", "own.db")
    at.assay(*score, "--out", "scores.csv")
    assert len(rows(at.folder / "scores.csv")) == 2001


def write_texts(path: Path, n: int) -> None:
    one = {"system": "one", "level": "0", "reference": "the mill burned"}
    texts = [{"item_id": str(number), "text": f"the mill {number} burned", **one} for number in range(n)]
    path.write_text("".join(json.dumps(text) + "\n" for text in texts))


def another_environment(at: Installed) -> None:
    """A command continues in another environment, in the same folder and on the same database; the user named its Python
    by a relative path.
    """
    write_texts(at.folder / "texts.jsonl", 2)
    other = at.folder / "other"
    other.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD" "$ASSAY_DB" "$@" > handed.txt\n')
    other.chmod(0o755)
    score = ("score", "texts.jsonl", "--metrics", "bertscore-en-l5")
    said = at.assay(*score, "--out", "n.csv", status=2).stderr
    named = re.findall(r"pip install -r (\S+requirements-neural\.txt)`", said)
    assert [Path(name).is_file() for name in named] == [True], said
    at.assay(*score, "--out", "n.csv", ASSAY_NEURAL_PYTHON="other")
    handed = (at.folder / "handed.txt").read_text().splitlines()
    assert handed[:3] == [str(at.folder.resolve()), str(users_database(at)), str(at.house())]
    assert handed[3:] == [*score, "--out", "n.csv"]


def in_python(at: Installed) -> None:
    """`import assay` is light; its functions read, score and correlate."""
    code = f"""
import sys
before = set(sys.modules)
import assay
assert not {{"pandas", "numpy", "core"}} & (set(sys.modules) - before)
assert sys.path[-1] == str(assay.HOUSE)
from assay import *
made = assay.damage({at.demo("questions.jsonl")!r}, seed=7)
scores = assay.score(made, ["bleu-1", "chrf-6-0"], shape="wide")
found = assay.correlate(scores)
assert read is assay.read
assert set(assay.__all__) < set(dir(assay))
print(len(made), len(scores), type(found).__name__)
"""
    assert at.ran("-c", code).stdout.split() == ["84", "84", "Result"]
    assert not users_database(at).exists()


def refused_beside_a_foreign_core(at: Installed) -> None:
    """Whether it was imported before, or would be found first."""
    foreign = at.folder / "foreign" / "core"
    foreign.mkdir(parents=True)
    (foreign / "__init__.py").write_text("")
    for code in ("import assay", "import core, assay", "import core; del core.__file__; import assay"):
        said = at.ran("-c", code, status=1, PYTHONPATH=str(foreign.parent)).stderr
        assert said.splitlines()[-1].startswith("ImportError: Another package named `core` ("), said
    later = f"import assay, sys; sys.path.insert(0, {str(foreign.parent)!r}); assay.read"
    assert "ImportError: Another package" in at.ran("-c", later, status=1).stderr


@contextlib.contextmanager
def foreign_packages(at: Installed) -> Iterator[None]:
    """Top-level packages `core` and `pages` in the environment and in the folder."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(at.ran("-c", code).stdout.strip())
    files = [place / name / "__init__.py" for place in (site, at.folder) for name in ("core", "pages")]
    try:
        for file in files:
            file.parent.mkdir()
            file.write_text(FOREIGN)
        yield
    finally:
        for file in files:
            file.unlink()
            for compiled in file.parent.glob("__pycache__/*"):
                compiled.unlink()
                compiled.parent.rmdir()
            file.parent.rmdir()


def beside_foreign_packages(at: Installed) -> None:
    """Scores, pages and the app, where other packages named core and pages are installed and lie in the folder."""
    with foreign_packages(at):
        demo = at.ran(
            "-c",
            "import importlib.metadata as m; print(m.distribution('assay').locate_file('assay/data/demo'))",
        )
        answers = Path(demo.stdout.strip()) / "answers.csv"
        at.assay("score", str(answers), "--metrics", "bleu-1", "--out", "scores.csv", "--db", "own.db")
        assert rows(at.folder / "scores.csv")
        with served(at, "--db", "own.db") as (url, printed):
            assert re.search(rf"{url}/admin/\S+", printed)
            assert asked(f"{url}/_stcore/health") == (200, "ok")
            status, page = asked(f"{url}/sign-in")
            assert (status, "<title>Sign in · Assay" in page) == (200, True)
            # Without the package's own .streamlit/config.toml, the app would answer to any name.
            assert asked(f"{url}/_stcore/health", Host="elsewhere.example")[0] == 400
        assert (at.folder / "own.db").is_file()


@contextlib.contextmanager
def served(at: Installed, *options: str, **variables: str) -> Iterator[tuple[str, str]]:
    """`assay serve`: its address, and what it printed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url, log = f"http://127.0.0.1:{port}", at.folder / "serve.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [at.command, "serve", "--server.port", str(port), *options],
            cwd=at.folder,
            env=at.variables(**variables),
            stdout=out,
            stderr=out,
        )
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and server.poll() is None:
            with contextlib.suppress(OSError):
                asked(f"{url}/_stcore/health")
                break
            time.sleep(0.1)
        assert server.poll() is None, log.read_text("utf-8")
        yield url, log.read_text("utf-8")
    finally:
        server.terminate()
        server.wait(PATIENCE)


def asked(url: str, **headers: str) -> tuple[int, str]:
    """Status and text of a page."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, ""


CHECKS = (
    names_and_version,
    readmes_commands,
    runs_in_child_processes,
    several_processes,
    another_environment,
    in_python,
    refused_beside_a_foreign_core,
    beside_foreign_packages,
)


def main(python: str) -> int:
    """Run every check, and print how each ended."""
    failed = 0
    for check in CHECKS:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(Installed(Path(python).absolute(), Path(folder).resolve()))
                ended = "passed"
            except Exception:
                traceback.print_exc()
                ended, failed = "failed", failed + 1
        print(f"{ended} {check.__name__} ({time.monotonic() - started:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

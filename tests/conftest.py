"""What several test packages share."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from helpers.models.neural_environment import neural_python as neural_python
from helpers.models.neural_environment import tiny_metric_models as tiny_metric_models
from helpers.models.vllm_environment import real_model as real_model
from helpers.models.vllm_environment import tiny_model as tiny_model
from helpers.models.vllm_environment import vllm_python as vllm_python
from helpers.models.vllm_environment import vllm_server as vllm_server
from helpers.processes.disks import disk as disk
from helpers.processes.disks import may_mount
from helpers.processes.ray_workers import ray_python as ray_python
from helpers.texts.factories import plain_pairs
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from core.runs.working.environments import SPACY_VARIABLE, missing_for, python_for
from core.store import Store, open_store

SHARED = ("vllm", "neural", "_nli")
"""In the paths of files that share a server or models."""
START_PROCESSES = {"browser", "cli", "door", "faults", "golden", "pages", "runs", "store", "wheel"}
"""Folders whose files take long."""
ROOT = Path(__file__).resolve().parents[1]
MAIN_MODULE = sys.modules["__main__"]
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Small inputs beside the checkout; a user's clone has none."""
    cases = SHARED_DATA.with_name("cases")
    if not cases.is_dir():
        pytest.skip("needs the small inputs in ../shared/cases, which the project does not ship")
    return cases


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the checkout; a user's clone has none."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the real data in ../shared/data, which the project does not ship")
    return SHARED_DATA


@pytest.fixture(scope="session", autouse=True)
def spacy_set_aside() -> Iterator[Path | None]:
    """The Python of the spaCy environment, if there is one, put out of sight: what a test sees must not depend on it."""
    python = python_for("spacy") if missing_for("spacy") is None else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SPACY_VARIABLE, str(ROOT / "no-spacy"))
        yield python


@pytest.fixture
def spacy_python(spacy_set_aside: Path | None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spaCy environment, in sight for one test."""
    if spacy_set_aside is None:
        pytest.skip(
            "needs .venv-spacy: `./run --with spacy-index --setup` makes it, or set ASSAY_SPACY_PYTHON"
        )
    monkeypatch.setenv(SPACY_VARIABLE, str(spacy_set_aside))
    return spacy_set_aside


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "assay.db") as opened:
        yield opened


@pytest.fixture(params=["levels", "preference"])
def each_pair_task(request: pytest.FixtureRequest) -> Iterator[str]:
    """The test runs once with levels and once with plain pairs: what holds for one task holds for the other."""
    with plain_pairs() if request.param == "preference" else nullcontext():
        yield request.param


@pytest.fixture(params=["levels", pytest.param("preference", marks=pytest.mark.slow)])
def each_pair_task_by_browser(request: pytest.FixtureRequest) -> Iterator[str]:
    """The same for tests that take their time."""
    with plain_pairs() if request.param == "preference" else nullcontext():
        yield request.param


@pytest.fixture(autouse=True)
def main_module_stays() -> None:
    """Streamlit's AppTest puts a script in the place of __main__, which a spawned process would run again.

    Set before each test, to what it was before all of them: a fixture of a whole module may have run a script, too.
    """
    sys.modules["__main__"] = MAIN_MODULE


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    return FileAfterFile(config, log)


class FileAfterFile(LoadFileScheduling):
    """A worker takes a file at a time. Files that share something go to the same worker, which then makes it once."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return next((shared for shared in SHARED if shared in file), file)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes first, so that no worker is left alone with a long file at the end. Without the right to mount a
    disk, tests on full and read-only disks cannot run at all.
    """
    on_disks = [item for item in items if "disk" in getattr(item, "fixturenames", ())]
    if on_disks and not may_mount():
        config.hook.pytest_deselected(items=on_disks)
        items[:] = [item for item in items if item not in on_disks]

    def rank(item: pytest.Item) -> tuple[bool, bool, bool]:
        slow = item.get_closest_marker("slow") is not None
        return "vllm" not in item.path.name, not slow, item.path.parent.name not in START_PROCESSES

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Collecting garbage need not visit thousands of tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where nothing may be skipped (the project's own CI), a skip fails the run."""
    skipped = terminalreporter.stats.get("skipped", [])
    if os.environ.get("ASSAY_NO_SKIPS") and skipped:
        terminalreporter.write_line(f"{len(skipped)} tests were skipped where all must run", red=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("ASSAY_NO_SKIPS") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

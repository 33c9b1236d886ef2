"""`./run --setup` offers `assay` and `import assay` in every folder, from a checkout in a folder with a space.

Nothing is downloaded: .venv sees the packages of the tests, and pip may ask no index.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from helpers.processes.tree_copy import copy_of_the_tree

from core import __version__

pytestmark = pytest.mark.slow


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with an environment that an older version made: its packages are there, `assay` is not."""
    checkout = copy_of_the_tree(tmp_path / "a clone" / "assay")
    environment = checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "packages-of-the-tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return checkout


def ran(*words: str | Path, folder: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PYTEST_"))}
    ended = subprocess.run(
        words, cwd=folder, env=kept | {"PIP_NO_INDEX": "1"}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, f"{words}: {ended.stdout}{ended.stderr}"
    return ended


def set_up(checkout: Path) -> str:
    """What ./run --setup says about problems."""
    return ran(checkout / "run", "--setup", folder=checkout.parent).stderr


def activated(checkout: Path, line: str, folder: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    """A line of a shell in which the environment was activated."""
    return ran("sh", "-c", f'. "$0/.venv/bin/activate" && {line}', checkout, folder=folder, status=status)


def test_assay_works_in_every_folder_and_after_a_move(checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "else where"
    folder.mkdir()
    shutil.copy(checkout / "data" / "summeval" / "coherence.csv", folder / "mine.csv")
    set_up(checkout)
    assert activated(checkout, "assay --version", folder).stdout == f"assay {__version__}\n"
    activated(checkout, "assay check mine.csv --judge expert_0 --json > verdict.json", folder)
    assert (folder / "verdict.json").stat().st_size > 1000
    lies = "python -c \"import assay; print(assay.HOUSE); print(len(assay.read('mine.csv', 'ratings')))\""
    assert activated(checkout, lies, folder).stdout.splitlines()[0] == str(checkout)

    # Nothing but the package is offered: a namespace package `core` of the user's own is found.
    activated(checkout, 'python -c "import pages"', folder, status=1)
    (folder / "core").mkdir()
    (folder / "core" / "mine.py").touch()
    activated(checkout, 'python -c "import core.mine"', folder)

    # Both commands use the checkout's database, and name themselves.
    for line, where, named in (
        ("assay runs list", folder, "`assay study "),
        ("python -m core runs list", checkout, "`python -m core study "),
    ):
        told = activated(checkout, line, where, status=2).stderr
        assert str(checkout / "var" / "assay.db") in told
        assert named in told

    moved = checkout.rename(tmp_path / "moved")
    set_up(moved)
    assert activated(moved, "command -v assay", folder).stdout.strip() == str(
        moved / ".venv" / "bin" / "assay"
    )
    assert activated(moved, lies, folder).stdout.splitlines()[0] == str(moved)
    script = moved / ".venv" / "bin" / "assay"
    before = script.stat().st_mtime_ns
    set_up(moved)
    assert script.stat().st_mtime_ns == before, "installed once"
    with (moved / "core" / "__init__.py").open("a") as source:
        source.write("\n")  # as a new version does
    set_up(moved)
    assert script.stat().st_mtime_ns > before


def test_the_app_is_set_up_even_if_the_command_cannot_be(checkout: Path) -> None:
    """An older environment, after an update without a network."""
    with (checkout / "requirements-checkout.txt").open("a") as requirements:
        requirements.write("no-such-package-of-assay\n")
    assert "assay" in set_up(checkout).splitlines()[-1]
    assert not (checkout / ".venv" / "bin" / "assay").exists()
    activated(checkout, "python -m core --version", checkout)

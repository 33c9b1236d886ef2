"""The wheel holds the tree inside one package, and what it installs works: tests/wheel/smoke.py."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest
from helpers.processes.raw_rater import RawVisitor, cookie_of
from packaging.requirements import Requirement
from smoke import CHECKS, Installed, served

from core import __version__

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".streamlit", "core", "pages", "prompts", "data", "docs")
REQUIREMENTS = {path.name for path in ROOT.glob("requirements*.txt")}
FILES = {"app.py", "README.md", "CHANGELOG.md", "LICENSE", *REQUIREMENTS} - {
    "requirements-checkout.txt",
    "requirements-dev.txt",
    "requirements-real-model.txt",
}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built with the packages that are here."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True
    )
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="session")
def seeing(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment with the wheel; its other packages are those of the tests."""
    folder = tmp_path_factory.mktemp("seeing")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "packages-of-the-tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment into which pip installed the tree and all that it needs."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([python, "-m", "pip", "install", "--quiet", ROOT], env=variables, check=True)
    return python


def test_everything_lies_in_one_package(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        held = {PurePosixPath(name) for name in archive.namelist()}
    info = f"assay-{__version__}.dist-info"
    assert {path.parts[0] for path in held} == {"assay", info}
    tree = {
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    package = {path.relative_to("assay").as_posix() for path in held if path.parts[0] == "assay"}
    assert package == {"__init__.py", "__main__.py", *FILES, *tree}
    assert {name.rpartition(".")[2] for name in package} <= {
        *(
            "py",
            "toml",
            "md",
            "txt",
            "json",
            "jsonl",
            "csv",
            "yaml",
            "yml",
            "js",
            "css",
            "png",
            "svg",
            "ipynb",
            "LICENSE",
        ),
    }, "a database or something compiled?"


def test_what_it_needs_is_what_the_files_name(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        text = archive.read(f"assay-{__version__}.dist-info/METADATA").decode()
    metadata = HeaderParser().parsestr(text)
    lines = [
        line.split(" #")[0]
        for name in ("requirements-core.txt", "requirements.txt")
        for line in (ROOT / name).read_text("utf-8").splitlines()
        if line and not line.startswith(("#", "-r "))
    ]
    assert {Requirement(line) for line in metadata.get_all("Requires-Dist", [])} == set(
        map(Requirement, lines)
    )
    assert len(lines) > 15
    assert (metadata["Name"], metadata["Version"]) == ("assay", __version__)


@pytest.fixture(scope="session", params=["seeing", "fresh"])
def python(request: pytest.FixtureRequest) -> Path:
    """The Python of each environment in turn."""
    return request.getfixturevalue(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_smoke(check: Callable[[Installed], None], python: Path, tmp_path: Path) -> None:
    check(Installed(python, tmp_path))


@pytest.mark.slow
def test_the_installed_app_draws_its_pages(python: Path, tmp_path: Path) -> None:
    """For a rater, and for a visitor without a link, who is told how this installation starts the app."""
    with served(Installed(python, tmp_path)) as (url, printed):
        link = printed.split("Demo study as rater-1:\n")[1].split()[0]
        assert RawVisitor(url, cookie_of(link)).go().buttons()
        assert "`assay serve`" in RawVisitor(url).go().on_screen()

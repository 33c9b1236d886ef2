"""Ray's Python for tests, and the process behind a connection: the worker of a cluster that asks a scripted server."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NO_RAY = "needs .venv-ray: `./run --with ray --setup` makes it, or set ASSAY_RAY_PYTHON"


def find_ray_python() -> Path | None:
    """ASSAY_RAY_PYTHON, else the environment that `./run --with ray` made; None: neither."""
    given = os.environ.get("ASSAY_RAY_PYTHON")
    python = Path(given) if given else ROOT / ".venv-ray" / "bin" / "python"
    return python if python.exists() else None


@pytest.fixture(scope="session")
def ray_python() -> Path:
    python = find_ray_python()
    if python is None:
        pytest.skip(NO_RAY)
    return python


def process_at(port: int) -> int | None:
    """The process that holds this port of 127.0.0.1, as the system has it; None: it has ended."""
    local = f"0100007F:{port:04X}"
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    inodes = {row[9] for row in rows if row[1] == local}
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link))
        except OSError:  # ended, or closed, while we looked
            continue
        if found and found[1] in inodes:
            return int(link.parts[2])
    return None

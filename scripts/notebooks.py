"""Remove outputs from the notebooks in docs/notebooks: `python scripts/notebooks.py [NAME ...]`, after working on them.

Outputs would hide what changed in a notebook. tests/test_notebooks.py runs the notebooks.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "notebooks"
FIGURE = "application/vnd.plotly.v1+json"
SECONDS = 120
"""Longest time of a cell."""


def executed(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs, from a kernel of this Python. folder: its working folder.

    Nothing is read from or written to the user's own Jupyter, IPython or Assay folders.
    """
    made = nbformat.from_dict(json.loads(json.dumps(notebook)))
    with tempfile.TemporaryDirectory(
        prefix="kernel-"
    ) as own:  # its path is short: a socket's may have 100 characters
        asyncio.run(_execute(made, folder, Path(own)))
    return made


async def _execute(notebook: nbformat.NotebookNode, folder: Path, own: Path) -> None:
    spec = own / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    arguments = [
        sys.executable,
        "-Xfrozen_modules=off",
        "-m",
        "ipykernel_launcher",
        "-f",
        "{connection_file}",
    ]
    spec.write_text(json.dumps({"argv": arguments, "display_name": "Python 3", "language": "python"}))
    manager = AsyncKernelManager(
        kernel_name="python3",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(own / "kernels")]),
        connection_file=str(own / "connection.json"),
        transport="ipc",
        ip=str(own / "ipc"),
    )
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=SECONDS,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        await client.async_execute(env=_environment(own))
    finally:
        await manager.shutdown_kernel(now=True)


def _environment(own: Path) -> dict[str, str]:
    """Return the kernel's environment variables. Without spaCy: outputs must not depend on what is installed."""
    names = ("IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "ASSAY_SPACY_PYTHON")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **{name: value for name, value in os.environ.items() if name != "ASSAY_DB"},
        **{name: str(own / name.lower()) for name in names},
        "PYTHONPATH": os.pathsep.join(paths),
        "PLOTLY_RENDERER": "plotly_mimetype",
    }


def stripped(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook as it is stored: without outputs, execution counts, and what Jupyter notes about its kernel."""
    stored = nbformat.from_dict(json.loads(json.dumps(notebook)))
    for cell in stored.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    stored.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return stored


def main(names: list[str]) -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(stripped(nbformat.read(path, as_version=4)), path)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])

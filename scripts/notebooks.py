"""Run the notebooks of docs/notebooks and store their outputs: `python scripts/notebooks.py [NAME ...]`.

Figures get a picture too, because GitHub shows no others. That needs Chromium and playwright.
"""

import asyncio
import base64
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from plotly.offline import get_plotlyjs

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "notebooks"
FIGURE, PICTURE = "application/vnd.plotly.v1+json", "image/png"
SECONDS = 120
"""Longest time of a cell."""
WIDTH = 800
"""Width of a picture in pixels."""


def executed(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs, from a kernel of this Python. folder: its working folder.

    Nothing is read from or written to the user's own Jupyter, IPython or Assay folders.
    """
    made = nbformat.from_dict(json.loads(json.dumps(notebook)))
    with tempfile.TemporaryDirectory(
        prefix="kernel-"
    ) as own:  # its path is short: a socket's may have 100 characters
        asyncio.run(_execute(made, folder, Path(own)))
    for cell in made.cells:
        cell.metadata.pop("execution", None)  # times
    made.metadata.language_info = {"name": "python"}  # without the version, which is no drift
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


def comparable(output: Any) -> Any:
    """Return what must be the same whenever an output is made: its texts, and its figures' numbers to six digits."""
    if output["output_type"] == "stream":
        return output["name"], output["text"]
    if output["output_type"] == "error":
        return output["ename"], output["evalue"]
    return {name: _rounded(data) for name, data in output["data"].items() if name != PICTURE}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items() if key not in ("uid", "template")}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def add_pictures(notebook: nbformat.NotebookNode) -> None:
    """Draw every figure in Chromium and store the picture beside it."""
    from playwright.sync_api import sync_playwright

    browser_path = os.environ.get("ASSAY_CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 600})
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                if FIGURE in output.get("data", {}):
                    output.data[PICTURE] = _picture(page, output.data[FIGURE])
        browser.close()


def _picture(page: Any, figure: Any) -> str:
    page.set_content("<body style='margin: 0; background: white'><div id='figure'></div></body>")
    page.add_script_tag(content=get_plotlyjs())
    page.evaluate("one => Plotly.newPlot('figure', one.data, one.layout, {displayModeBar: false})", figure)
    return base64.b64encode(page.locator("#figure .svg-container").screenshot()).decode()


def main(names: list[str]) -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = executed(nbformat.read(path, as_version=4), Path(folder))
        add_pictures(made)
        nbformat.write(made, path)
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])

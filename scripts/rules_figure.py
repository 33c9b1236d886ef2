"""Draw docs/images/rules-levels.png: lexical metrics by level on the demo questions, both schemes, by rules.

python scripts/rules_figure.py        needs Chromium and the development requirements (sacrebleu)
"""

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import plotly.graph_objects as go
from helpers.processes.app_server import chromium
from helpers.texts.demo_metrics import METRICS, level_means
from plotly.subplots import make_subplots

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "images" / "rules-levels.png"
COLOURS = ("#0072b2", "#d55e00", "#009e73")
"""Okabe and Ito's, which colour-blind people can tell apart."""
DASHES = ("solid", "dash", "dot")


def figure() -> go.Figure:
    """Two panels, a line a metric."""
    drawn = make_subplots(cols=2, shared_yaxes=True, subplot_titles=("A0 to A4", "Damage levels 0 to 5"))
    for column, kind in enumerate(("factual", "damage"), start=1):
        means = asyncio.run(level_means(kind))
        for metric, colour, dash in zip(METRICS, COLOURS, DASHES, strict=True):
            levels = list(means[metric])
            line = {"color": colour, "dash": dash, "width": 3}
            drawn.add_scatter(
                x=levels,
                y=[means[metric][level] for level in levels],
                name=metric,
                mode="lines+markers",
                line=line,
                legendgroup=metric,
                showlegend=column == 1,
                col=column,
                row=1,
            )
    drawn.update_yaxes(range=[0, 100], title="mean over 14 questions", col=1)
    drawn.update_xaxes(type="category")
    drawn.update_layout(
        template="plotly_white", font={"size": 15}, margin={"l": 70, "r": 20, "t": 50, "b": 40}
    )
    return drawn


def main() -> None:
    """Render it in Chromium, which the tests need anyway."""
    drawn = figure()  # before Chromium's driver takes the event loop
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page_file = Path(folder) / "figure.html"
        drawn.write_html(page_file, include_plotlyjs=True, config={"displayModeBar": False})
        page = browser.new_page(viewport={"width": 1100, "height": 420})
        page.goto(page_file.as_uri())
        page.wait_for_selector(".main-svg")
        page.wait_for_timeout(500)
        page.screenshot(path=str(OUT))


if __name__ == "__main__":
    main()

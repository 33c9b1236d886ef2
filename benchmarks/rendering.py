"""What it costs to show a pair as Markdown, with formulas or as code, against the same words as written, in one run.

On the server: CPU time of drawing a pair with its differences, when its texts are new (*first*) and when they were drawn before (*again*).
With --browser also the time from the key of an answer until Chromium has painted the next pair, the server on the same machine, and
the CPU time of both, of which other work on the machine changes little.
--beside: another checkout, in which the plain mode is measured too, in turns with this one. There is no target.

    .venv/bin/python benchmarks/rendering.py [--words 100 1500] [--pairs 10] [--browser [--presses 20] [--beside CHECKOUT]]
"""

import argparse
import json
import logging
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("ASSAY_CHECKOUT") or Path(__file__).resolve().parents[1])
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

MODES = ("plain", "markdown", "latex", "code")
ONBOARDED, ROUNDS = 4, 2
_WORDS = [
    "the",
    "pressure",
    "of",
    "a",
    "gas",
    "rises",
    "with",
    "its",
    "temperature",
    "when",
    "volume",
    "stays",
    "as",
    "it",
    "was",
    "and",
    "no",
    "molecule",
    "leaves",
    "or",
    "enters",
]
_PAINTED = """() => { window.painted = new Promise(resolve => {
    const shown = () => document.querySelector('.assay-pair')?.textContent;
    const before = shown();
    document.addEventListener('keydown', () => {
        const pressed = performance.now();
        new MutationObserver((_, observer) => {
            if (!shown() || shown() === before) return;
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - pressed)));
        }).observe(document.body, {subtree: true, childList: true, characterData: true});
    }, {capture: true, once: true});
}); }"""


def answer(mode: str, n_words: int, seed: int) -> str:
    """An answer of about so many words: a heading, paragraphs, a list and a table; with formulas; or a program."""
    draw = random.Random(seed)

    def said(n: int) -> str:
        return " ".join(draw.choice(_WORDS) for _ in range(n))

    if mode == "code":
        lines = [
            f"def step_{n}(gas, volume={draw.randrange(99)}):\n    return gas.{draw.choice(_WORDS)} * volume  # {said(3)}\n"
            for n in range(n_words // 10)
        ]
        return "\n".join(lines)
    if mode == "plain":
        return "\n\n".join(said(50) for _ in range(max(1, n_words // 50)))
    formula = (
        f" $\\frac{{p_{seed % 9} V^{{{draw.randrange(9)}}}}}{{T}} = \\sum_{{i=1}}^n n_i R$ "
        if mode == "latex"
        else " **so** "
    )
    parts = [
        f"## {said(4)}\n\n{said(9)}{formula}{said(9)}.\n\n- {said(6)}\n- *{said(4)}* and `{said(1)}`\n\n|{said(1)}|{said(1)}|\n|---|---|\n|{said(3)}|{said(3)}|"
        for _ in range(max(1, n_words // 50))
    ]
    return "\n\n".join(parts)


def edited(text: str, seed: int) -> str:
    """The text with a few other words."""
    draw = random.Random(seed)
    return " ".join("newly" if word.isalpha() and draw.random() < 0.05 else word for word in text.split(" "))


def drawing(mode: str, n_words: int, pairs: int) -> tuple[float, float]:
    """CPU milliseconds a pair on the server: first, and again."""
    from core.schema.rendering import Shown
    from core.study.guidelines import WORDS, wording
    from pages.widgets import blind_pair

    shown = Shown(mode, "python" if mode == "code" else "")  # type: ignore[arg-type]
    words = wording({}, "en")
    bases = [[answer(mode, n_words, 2 * number + side) for side in (0, 1)] for number in range(pairs + 1)]
    sides = [[edited(base, 7) for base in pair] for pair in bases]

    def draw(number: int) -> None:
        blind_pair.texts(words, *sides[number], *bases[number], "en", WORDS, "own_a0", shown)

    draw(pairs)  # libraries are loaded once, by whoever comes first
    return tuple(_milliseconds(lambda: [draw(number) for number in range(pairs)]) / pairs for _ in range(2))  # type: ignore[return-value]


def _milliseconds(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return 1000 * (time.process_time() - begin)


def presses(mode: str, n_words: int, n: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a key until the next pair is painted, of n presses on a new database and server; and CPU time of server and page."""
    from helpers.processes.app_server import chromium, on_pair, running, settled
    from helpers.texts.factories import dataset, study_in

    from core.store import open_store
    from core.store.raters import update_rater
    from core.study.raters import links

    data = dataset(n + 2, ("A0", "A1"))
    changed = {(one.item_id, one.level, one.source): at for at, one in enumerate(data.outputs)}
    data = replace(
        data,
        outputs=tuple(
            replace(one, text=answer(mode, n_words, at))
            for one, at in zip(data.outputs, changed.values(), strict=True)
        ),
    )
    design: dict[str, Any] = {} if mode == "plain" else {"rendering": mode}
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        at_hand = study_in(store, data, raters=["ann"], repeat_share=0, **design)
        (link,) = links(store, at_hand.study)
        with store.writing():
            update_rater(store, at_hand.study_id, link.rater_id, onboarding=ONBOARDED)
        with running(store.path) as app, chromium() as browser:
            page = browser.new_page()
            page.goto(link.url(app.url))
            chrome = page.context.new_cdp_session(page)
            chrome.send("Performance.enable", {"timeDomain": "threadTicks"})

            def spent() -> float:
                """Seconds of processor that the server, and the page's own thread, have used."""
                metrics = {
                    one["name"]: one["value"] for one in chrome.send("Performance.getMetrics")["metrics"]
                }
                return app.processor_seconds() + float(metrics["TaskDuration"])

            taken, processor = [], []
            for number in range(1, n + 2):
                on_pair(page, number)
                page.evaluate(_PAINTED)
                begin = spent()
                page.keyboard.press("1")
                taken.append(page.evaluate("window.painted"))
                settled(page)
                processor.append(1000 * (spent() - begin))
    return taken[1:], processor[1:]  # the first loads what the page needs


def _elsewhere(checkout: Path, n_words: int, n: int) -> tuple[list[float], list[float]]:
    """The same presses in another checkout."""
    command = [sys.executable, str(Path(__file__).resolve()), "--measure-plain", str(n_words), str(n)]
    environment = {**os.environ, "ASSAY_CHECKOUT": str(checkout.resolve())}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=True)
    taken, processor = json.loads(done.stdout.splitlines()[-1])
    return taken, processor


def in_turns(n_words: int, n: int, beside: Path | None) -> dict[str, tuple[list[float], list[float]]]:
    """The presses of each mode, and in another checkout: a part of them each round."""
    found: dict[str, tuple[list[float], list[float]]] = {
        mode: ([], []) for mode in (*MODES, *(["plain, beside"] if beside else []))
    }
    for _ in range(ROUNDS):
        for mode, (times, processor) in found.items():
            there = beside if mode not in MODES else None
            taken, more = (
                _elsewhere(there, n_words, n // ROUNDS) if there else presses(mode, n_words, n // ROUNDS)
            )
            times += taken
            processor += more
    return found


def main() -> None:
    """Print a line for each mode and length."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--words", type=int, nargs="+", default=[100, 1500], help="words of an answer (default %(default)s)"
    )
    parser.add_argument(
        "--pairs", type=int, default=10, help="pairs drawn on the server (default %(default)s)"
    )
    parser.add_argument("--browser", action="store_true", help="measure in Chromium, too")
    parser.add_argument(
        "--presses", type=int, default=20, help="presses in Chromium for each mode (default %(default)s)"
    )
    parser.add_argument(
        "--beside", type=Path, metavar="CHECKOUT", help="another checkout to compare the plain mode with"
    )
    parser.add_argument("--measure-plain", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure_plain:
        print(json.dumps(presses("plain", *options.measure_plain)))
        return
    logging.disable(logging.WARNING)  # Streamlit says that there is no browser
    print(
        "| words | shown as | first, CPU ms | times plain | again, CPU ms | times plain |\n|---|---|---|---|---|---|"
    )
    for n_words in options.words:
        plain: tuple[float, float] | None = None
        for mode in MODES:
            first, again = drawing(mode, n_words, options.pairs)
            plain = plain or (first, again)
            print(
                f"| {n_words} | {mode} | {first:.1f} | {first / plain[0]:.1f} | {again:.1f} | {again / plain[1]:.1f} |",
                flush=True,
            )
    if not options.browser:
        return
    print(
        "\n| words | shown as | p50 ms | times plain | p95 ms | CPU ms | times plain |\n|---|---|---|---|---|---|---|"
    )
    for n_words in options.words:
        base: tuple[float, float] | None = None
        for mode, (times, processor) in in_turns(n_words, options.presses, options.beside).items():
            middle, each = statistics.median(times), statistics.mean(processor)
            base = base or (middle, each)
            late = statistics.quantiles(times, n=20, method="inclusive")[18]
            print(
                f"| {n_words} | {mode} | {middle:.0f} | {middle / base[0]:.2f} | {late:.0f} | {each:.0f} | {each / base[1]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

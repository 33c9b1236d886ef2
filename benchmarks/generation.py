"""Items per second of A0-A4 generation, compared with one call after the other.

Both send the same prompts for the same items to a local server, which answers every request after a fixed time. The
straightforward way is that of trutheval's pipeline: a synchronous client, one call for each step, item after item, even
for a level without changes. Assay makes a complete run, with the database and all checks.

    .venv/bin/python benchmarks/generation.py [--latency 0.3] [--items 200] [--concurrency 32]
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import openai

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Said, ScriptedServer

from core.generation.factual.spans import find_spans
from core.generation.factual.steps import EditCalls
from core.llm.prompts import find_prompt
from core.runs.asked import ask
from core.runs.kinds import KINDS
from core.runs.path import create
from core.runs.progress import progress_of
from core.runs.working.worker import work
from core.store import open_store

LEVELS = 4


def questions(n: int) -> bytes:
    """Return n questions with references of about 40 words, as JSONL."""
    rows = [
        {
            "item_id": f"m{number}",
            "question": f"What is known of mill {number}?",
            "reference": (
                f"The mill number {number} was built in {1500 + number} by Jan Vermeer near Delft. It was {10 + number} "
                f"metres high and burned down on 3 May {1700 + number}. About {200 + number} people worked in it, most "
                "of them from Leiden, and they made paper, oil and white flour."
            ),
        }
        for number in range(n)
    ]
    return b"\n".join(json.dumps(row).encode() for row in rows)


def straightforward(data: bytes, url: str, n: int) -> tuple[float, float]:
    """Run the plain loop on n items; return seconds and calls per item."""
    client = openai.OpenAI(base_url=url, api_key="none")
    paraphrase, rank, edit = (
        find_prompt(f"factual-{step}-text" if step == "edit" else f"factual-{step}")
        for step in ("paraphrase", "rank", "edit")
    )
    rows = [json.loads(line) for line in data.splitlines()[:n]]
    calls = 0

    def ask(messages: list[dict[str, str]]) -> str:
        nonlocal calls
        calls += 1
        said = client.chat.completions.create(model="tiny", messages=messages, temperature=0, max_tokens=400)  # type: ignore[arg-type]  # plain dictionaries are accepted
        return said.choices[0].message.content or ""

    begun = time.perf_counter()
    for row in rows:
        text = ask(
            [vars(m) for m in paraphrase.messages(question=row["question"], reference=row["reference"])]
        )
        spans, _ = find_spans(text, "en", "rules", 12, for_rules=False)
        listed = "\n".join(f"{number}: {span.text}" for number, span in enumerate(spans))
        ask([vars(m) for m in rank.messages(question=row["question"], text=text, spans=listed)])
        for level in range(1, LEVELS + 1):
            text = ask([vars(m) for m in edit.messages(text=text, level=level, levels=LEVELS)])
    return (time.perf_counter() - begun) / n, calls / n


def assay(data: bytes, url: str, concurrency: int, edit_calls: EditCalls) -> tuple[float, float, int]:
    """Run Assay; return seconds per item, calls per item, and complete items."""
    asked, running = ask(
        KINDS["factual"],
        {"n_levels": LEVELS, "edit_calls": edit_calls, "parser": "rules"},
        {"backend": "openai", "model": "tiny", "base_url": url},
        {"concurrency": concurrency},
    )
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        run, _ = create(store, data, "questions.jsonl", asked, running)
        begun = time.perf_counter()
        work(store, run.run.run_id, lambda claimed: run.path.job(run.claimed(claimed)))
        seconds = time.perf_counter() - begun
        progress = progress_of(store, run.run.run_id)
    n_items = run.run.n_items
    return seconds / n_items, sum(cost.calls for cost in progress.costs) / n_items, progress.n_done


def main() -> None:
    """Measure both in one run, and print the ratio."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument(
        "--latency", type=float, default=0.3, help="seconds for each request (default %(default)s)"
    )
    options.add_argument("--items", type=int, default=200, help="items of the run (default %(default)s)")
    options.add_argument(
        "--concurrency", type=int, default=32, help="parallel requests (default %(default)s)"
    )
    chosen = options.parse_args()
    data = questions(chosen.items)
    with ScriptedServer(lambda body, n: Said(answer(body), delay=chosen.latency)) as server:
        few = max(3, min(chosen.items, 10))
        plain, plain_calls = straightforward(data, server.url, few)
        print(
            f"server: {chosen.latency * 1000:g} ms per request; {chosen.items} items, {LEVELS} levels beyond A0"
        )
        print(
            f"one call after the other ({few} items): {1 / plain:6.2f} items/s, {plain_calls:.1f} calls per item"
        )
        for edit_calls in ("each", "shared"):
            seconds, calls, done = assay(data, server.url, chosen.concurrency, edit_calls)
            print(
                f"assay, concurrency {chosen.concurrency}, edits {edit_calls:6}: {1 / seconds:6.2f} items/s, {calls:.1f} calls "
                f"per item, {done} of {chosen.items} complete: {plain / seconds:.1f} times as fast"
            )


if __name__ == "__main__":
    main()

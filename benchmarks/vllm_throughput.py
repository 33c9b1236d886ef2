"""Throughput of a judge's run on vLLM in process, compared with vLLM's own offline benchmark, with random weights.

A rubric judge scores --texts texts through the run's worker, with everything that a run does: prompts, schemas, the
database. The same prompts then go to vLLM without Assay, each time in a process of vLLM's environment:

- `chat`: one call of vLLM's LLM.chat with the same settings and schemas, so the same answers;
- `bench`: the loop of `vllm bench throughput`, with the same prompts and the same numbers of tokens, without schemas.

The start of the engine is not counted. The weights are random (`load_format=dummy`), so nothing is downloaded: --shape
names the model whose shape they have. `8b` is Llama 3.1 8B and needs a GPU with 24 GB or more; `tiny` runs anywhere.

    .venv/bin/python benchmarks/vllm_throughput.py [--shape tiny] [--texts 64] [--words 100] [--tokens 64]
"""

import argparse
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
LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
}
SHAPES: dict[str, dict[str, Any]] = {
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "vocab_size": 1024,
        "max_position_embeddings": 16_384,
        "rope_theta": 10_000.0,
    },
    # config.json of Llama 3.1 8B
    "8b": {
        "hidden_size": 4096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 128_256,
        "max_position_embeddings": 131_072,
        "rope_theta": 500_000.0,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    },
}
WINDOW = 4096
ENGINE = {"load_format": "dummy", "max_num_seqs": 256}


def n_weights(shape: dict[str, Any]) -> int:
    """Return the number of weights of a Llama of this shape, without those of its norms."""
    width, inner, head = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
    heads, shared = shape["num_attention_heads"], shape["num_key_value_heads"]
    layer = 2 * width * head * (heads + shared) + 3 * width * inner
    return shape["num_hidden_layers"] * layer + 2 * shape["vocab_size"] * width


def make(folder: Path, shape: dict[str, Any]) -> None:
    """Write a model without weights, in vLLM's environment: its configuration, and a tokenizer with as many tokens."""
    from helpers.models.tiny_models import TEMPLATE, tokenizer
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    small = tokenizer(TEMPLATE, thinks=False)
    parts = json.loads(small.backend_tokenizer.to_str())
    words = parts["model"]["vocab"]
    words |= {f"unused{number}": number for number in range(len(words), shape["vocab_size"])}
    made = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(parts)),
        eos_token=small.eos_token,
        bos_token=small.bos_token,
        pad_token=small.pad_token,
    )
    made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    ends = {"bos_token_id": made.bos_token_id, "eos_token_id": made.eos_token_id}
    (folder / "config.json").write_text(json.dumps(LLAMA | shape | ends), "utf-8")


def rows(n: int, n_words: int) -> bytes:
    """Return texts to judge, each of its own item."""
    demo = (ROOT / "data" / "demo" / "answers.csv").read_text("utf-8").split()
    lines = []
    for item in range(n):
        drawn = random.Random(item)
        text, other = (" ".join(drawn.choices(demo, k=n_words)) for _ in range(2))
        row = {"item_id": f"q{item}", "system": "any", "level": "A0", "source": text[:80]}
        lines.append(json.dumps(row | {"text": text, "reference": other}) + "\n")
    return "".join(lines).encode()


def assay(model: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Judge the texts by a run; return seconds without the engine's start, and the requests with their replies."""
    from core.llm.vllm import VllmEngine
    from core.runs.asked import ask
    from core.runs.kinds import kind_named
    from core.runs.path import create
    from core.runs.working.worker import work
    from core.store import open_store

    moments: list[tuple[float, float]] = []
    calls: list[tuple[Any, Any]] = []
    start, complete, close = VllmEngine.start, VllmEngine.complete, VllmEngine.close

    def now() -> None:
        moments.append((time.perf_counter(), time.process_time()))

    async def timed_start(engine: VllmEngine) -> None:
        await start(engine)
        now()

    async def noted(engine: VllmEngine, request: Any) -> Any:
        reply = await complete(engine, request)
        calls.append((request, reply))
        return reply

    async def timed_close(engine: VllmEngine) -> None:
        now()
        await close(engine)

    # The run makes its own engine, so the class is timed. mypy allows no assignment to a method.
    VllmEngine.start, VllmEngine.complete, VllmEngine.close = timed_start, noted, timed_close  # type: ignore[method-assign]
    kind = kind_named("rubric")
    engine = ENGINE | ({"dtype": "float32"} if options.shape == "tiny" else {})
    of_model = {"backend": "vllm", "model": str(model), "max_model_len": WINDOW, "engine": engine}
    of_model |= {"attempts": 1, "max_tokens": options.tokens, "largest_limit": 1}
    assert kind.attachment is not None
    attached = kind.attachment.find(kind.attachment.usual)
    asked, running = ask(kind, {}, of_model, {}, attached=attached)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        run, _ = create(store, rows(options.texts, options.words), "texts.jsonl", asked, running)
        done = work(store, run.run.run_id, lambda claimed: run.path.job(run.claimed(claimed)))
        assert done.state == "done", done.message
    (begun, cpu), (ended, cpu_after), *_ = moments
    requests = [
        {
            "messages": [{"role": one.role, "content": one.content} for one in request.messages],
            "schema": request.schema,
            "seed": request.seed,
            "temperature": request.temperature,
            "input": reply.input_tokens,
            "output": reply.output_tokens,
        }
        for request, reply in calls
    ]
    return {"seconds": ended - begun, "cpu": cpu_after - cpu, "requests": requests}


def chat(model: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Send the requests of the run to vLLM in one call."""
    import vllm
    from vllm.sampling_params import StructuredOutputsParams

    from core.llm.vllm import GUIDANCE

    llm = vllm.LLM(**_engine(model, options), structured_outputs_config=dict(GUIDANCE))
    requests = json.loads(options.requests.read_text("utf-8"))
    messages = [one["messages"] for one in requests]
    sampling = [
        vllm.SamplingParams(
            max_tokens=options.tokens,
            temperature=one["temperature"],
            seed=one["seed"],
            structured_outputs=StructuredOutputsParams(json=one["schema"]) if one["schema"] else None,
        )
        for one in requests
    ]
    llm.chat([{"role": "user", "content": "Hello"}], vllm.SamplingParams(max_tokens=1), use_tqdm=False)
    begun, cpu = time.perf_counter(), time.process_time()
    outputs = llm.chat(messages, sampling, use_tqdm=False)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    written = [
        {"input": len(one.prompt_token_ids), "output": len(one.outputs[0].token_ids)} for one in outputs
    ]
    return {"seconds": seconds, "cpu": cpu, "requests": written}


def bench(model: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run the loop of `vllm bench throughput` on the prompts of the run, with the lengths of its answers."""
    from transformers import AutoTokenizer
    from vllm.benchmarks.datasets import SampleRequest
    from vllm.benchmarks.throughput import run_vllm
    from vllm.engine.arg_utils import EngineArgs

    words = AutoTokenizer.from_pretrained(model)
    requests = json.loads(options.requests.read_text("utf-8"))
    samples = [
        SampleRequest(
            prompt=words.apply_chat_template(one["messages"], add_generation_prompt=True, tokenize=False),
            prompt_len=one["input"],
            expected_output_len=one["output"],
        )
        for one in requests
    ]
    warm = [SampleRequest(prompt="Hello", prompt_len=2, expected_output_len=1)]
    seconds, _ = run_vllm(samples, 1, EngineArgs(**_engine(model, options)), False, warmup_requests=warm)
    return {"seconds": seconds, "cpu": None, "requests": requests}


def _engine(model: Path, options: argparse.Namespace) -> dict[str, Any]:
    on_a_cpu = {"dtype": "float32", "enforce_eager": True} if options.shape == "tiny" else {}
    return {"model": str(model), "max_model_len": WINDOW, "seed": 0, **ENGINE, **on_a_cpu}


STEPS = {"assay": assay, "chat": chat, "bench": bench}


def measured(python: Path, step: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run one step in a process of vLLM's environment; return its result."""
    settings = {
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests"))),
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_LEVEL": "ERROR",
    }
    if options.shape == "tiny":
        settings |= {
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": "1",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # two processes on two cores would measure the machine
        }
    words = ["--shape", options.shape, "--texts", options.texts, "--words", options.words]
    words += ["--tokens", options.tokens, "--child", step, "--folder", folder]
    command = [python, __file__, *map(str, words)]
    ran = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=3600, check=False
    )
    if ran.returncode:
        sys.exit(ran.stderr[-3000:])
    found: dict[str, Any] = json.loads((folder / f"{step}.json").read_text("utf-8"))
    return found


def said(name: str, found: dict[str, Any]) -> float:
    """Print the figures of a step; return its requests per second."""
    requests, seconds = found["requests"], found["seconds"]
    read, written = (sum(one[side] for one in requests) for side in ("input", "output"))
    cpu = "" if found["cpu"] is None else f", {found['cpu']:.1f} CPU s"
    print(
        f"{name:>6}: {len(requests):,} requests in {seconds:.1f} s{cpu}: {len(requests) / seconds:.2f} requests/s, "
        f"{(read + written) / seconds:,.0f} tokens/s, of these {written / seconds:,.0f} written"
    )
    return len(requests) / seconds


def main() -> None:
    """Measure a run, then vLLM with the same prompts."""
    commands = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands.add_argument(
        "--shape", choices=SHAPES, default="tiny", help="shape of the model (default %(default)s)"
    )
    commands.add_argument("--texts", type=int, default=64, help="texts to judge (default %(default)s)")
    commands.add_argument("--words", type=int, default=100, help="words of each text (default %(default)s)")
    commands.add_argument(
        "--tokens", type=int, default=64, help="most tokens of an answer (default %(default)s)"
    )
    commands.add_argument("--child", choices=["make", *STEPS], help=argparse.SUPPRESS)
    commands.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = commands.parse_args()
    if options.child:
        model, options.requests = options.folder / "model", options.folder / "requests.json"
        if options.child == "make":
            model.mkdir()
            make(model, SHAPES[options.shape])
            found: dict[str, Any] = {}
        else:
            found = STEPS[options.child](model, options)
        (options.folder / f"{options.child}.json").write_text(json.dumps(found), "utf-8")
        return
    print(f"shape {options.shape}: {n_weights(SHAPES[options.shape]):,} random weights", flush=True)
    python = Path(os.environ.get("ASSAY_VLLM_PYTHON", ROOT / ".venv-vllm" / "bin" / "python"))
    if not python.exists():
        print("skipped: create .venv-vllm with `./run --with vllm --setup`, or set ASSAY_VLLM_PYTHON")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        measured(python, "make", folder, options)
        per_second = {}
        for step in STEPS:
            found = measured(python, step, folder, options)
            if step == "assay":
                (folder / "requests.json").write_text(json.dumps(found["requests"]), "utf-8")
            per_second[step] = said(step, found)
        ratios = ", ".join(
            f"{per_second['assay'] / per_second[step]:.2f} of {step}" for step in ("chat", "bench")
        )
        print(f"requests per second of the run: {ratios}")


if __name__ == "__main__":
    main()

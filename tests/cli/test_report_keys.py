"""The JSON of `report consistency`, `compare`, `costs` and of prompts compared has these keys: programs read them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.prompts_tried import prompt_file, texts, verdict

from core.cli import main

ESTIMATE = ("estimate", "low", "high", "reason", "interval_reason", "n", "n_left_out")
ENDS = ESTIMATE[:5]
METHODS = ("pearson", "spearman", "kendall")
OF_ONE = tuple(
    f"{what}_per_{unit}"
    for what in ("calls", "input_tokens", "output_tokens", "money")
    for unit in ("item", "text")
)


def inner(name: str, keys: tuple[str, ...]) -> set[str]:
    return {f"{name}.{key}" for key in keys}


CONSISTENCY = {
    *("judge", "n_texts", "n_repeats", "orders", "confidence_level", "notes"),
    *("repeats[].component", "repeats[].constant", "repeats[].left_out", "order.left_out"),
    *inner("repeats[].agreeing", ESTIMATE),
    *inner("repeats[].spread", ESTIMATE),
    *(key for name in ("equal", "difference", "distance") for key in inner(f"order.{name}", ESTIMATE)),
}
COMPARED = {
    *("[].metric_a", "[].metric_b", "[].n", "[].left_out", "[].scale", "[].notes"),
    *(key for of in ("pooled", "per_system") for one in METHODS for key in inner(f"[].{of}.{one}", ESTIMATE)),
    *(
        key
        for one in ("per_item", "mean_difference", "sd_difference")
        for key in inner(f"[].{one}", ESTIMATE)
    ),
    *inner("[].disagreements[].row", ("item_id", "system", "level", "language", "labels")),
    *inner("[].disagreements[]", ("score_a", "score_b", "percentile_a", "percentile_b", "difference")),
}
COSTS = {
    *inner(
        "[]", ("judge", "step", "calls", "cached", "unusable", "input_tokens", "output_tokens", "input_share")
    ),
    *inner("[]", ("money", "seconds", "n_items", "n_texts", "n_wanted", "n_found", "reasons", *OF_ONE)),
}
AGAINST = {*inner("quality", ENDS), "n", *inner("difference_from_best", ENDS), "p", "p_holm"}
PROMPTS = {
    *("sentences", "use", "settled", "best", "against", "measure", "component", "n", "n_items", "n_left_out"),
    *("left_out", "notes"),
    *inner("prompts[]", ("name", "prompt", "model", "run", "people", "n_scored", "calls", "unusable")),
    *inner("prompts[]", ("input_tokens", "output_tokens", "price_per_1000", "price_reason")),
    *inner("prompts[]", ("seconds_per_1000", "seconds_reason", "constant_share")),
    *inner("prompts[].monotonic", ENDS),
    *{f"prompts[].levels.{key}" for key in AGAINST},
    "prompts[].levels.difference_from_best",  # of the best itself
    *inner("comparisons[]", ("against", "first", "second", "p", "p_holm", "better")),
    *inner("comparisons[].difference", ENDS),
}


def paths(value: Any, at: str = "") -> Iterator[str]:
    """Every key, the inner ones by their path."""
    if isinstance(value, dict) and value:
        for key, inside in value.items():
            yield from paths(inside, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inside in value:
            yield from paths(inside, f"{at}[]")
    else:
        yield at


@pytest.fixture(autouse=True)
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two prompts' runs on the same texts, with repeats in both orders."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    Path("t.jsonl").write_bytes(texts(4))
    with ScriptedServer(verdict, models=("tiny",)) as server:
        for word in ("SHARP", "DULL"):
            prompt_file(tmp_path, word)
            who = ("--backend", "openai", "--model", "tiny", "--base-url", server.url)
            again = ("--repeats", "2", "--order", "both", "--temperature", "0.5")
            name = word.lower()
            told = ("--prompt", f"{name}.yaml", "--name", name, "--out", name)
            assert main(["judge", "rubric", "t.jsonl", *who, *again, *told]) == 0


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("report", "consistency", "sharp"), CONSISTENCY),
        (("report", "compare", "sharp", "run:2"), COMPARED),
        (("report", "costs", "sharp", "run:2"), COSTS),
        (("report", "prompts", "run:1", "run:2"), PROMPTS),
    ],
    ids=lambda one: one[1] if isinstance(one, tuple) else "",
)
def test_every_key_is_where_it_was(
    words: tuple[str, ...], wanted: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    few = () if "costs" in words else ("--resamples", "50")
    status = main([*words, *few, "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    assert set(paths(json.loads(out))) == wanted

"""The JSON of `report consistency`, `compare`, `costs` and of prompts compared has these keys: programs read them."""

import json
from pathlib import Path

import pytest
from helpers.key_paths import COUNTED, ENDS, paths, under
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.prompts_tried import prompt_file, texts, verdict

from core.cli import main

METHODS = ("pearson", "spearman", "kendall")
OF_ONE = tuple(
    f"{what}_per_{unit}"
    for what in ("calls", "input_tokens", "output_tokens", "money")
    for unit in ("item", "text")
)


CONSISTENCY = {
    *("judge", "n_texts", "n_repeats", "orders", "confidence_level", "notes"),
    *("repeats[].component", "repeats[].constant", "repeats[].left_out", "order.left_out"),
    *under("repeats[].agreeing", *COUNTED),
    *under("repeats[].spread", *COUNTED),
    *(key for name in ("equal", "difference", "distance") for key in under(f"order.{name}", *COUNTED)),
}
COMPARED = {
    *("[].metric_a", "[].metric_b", "[].n", "[].left_out", "[].scale", "[].notes"),
    *(key for of in ("pooled", "per_system") for one in METHODS for key in under(f"[].{of}.{one}", *COUNTED)),
    *(
        key
        for one in ("per_item", "mean_difference", "sd_difference")
        for key in under(f"[].{one}", *COUNTED)
    ),
    *under("[].disagreements[].row", *("item_id", "system", "level", "language", "labels")),
    *under("[].disagreements[]", *("score_a", "score_b", "percentile_a", "percentile_b", "difference")),
}
COSTS = {
    *under(
        "[]",
        *("judge", "step", "calls", "cached", "unusable", "input_tokens", "output_tokens", "input_share"),
    ),
    *under("[]", *("money", "seconds", "n_items", "n_texts", "n_wanted", "n_found", "reasons", *OF_ONE)),
}
AGAINST = {*under("quality", *ENDS), "n", *under("difference_from_best", *ENDS), "p", "p_holm"}
PROMPTS = {
    *("sentences", "use", "settled", "best", "against", "measure", "component", "n", "n_items", "n_left_out"),
    *("left_out", "notes"),
    *under("prompts[]", *("name", "prompt", "model", "run", "people", "n_scored", "calls", "unusable")),
    *under("prompts[]", *("input_tokens", "output_tokens", "price_per_1000", "price_reason")),
    *under("prompts[]", *("seconds_per_1000", "seconds_reason", "constant_share")),
    *under("prompts[].monotonic", *ENDS),
    *{f"prompts[].levels.{key}" for key in AGAINST},
    "prompts[].levels.difference_from_best",  # of the best itself
    *under("comparisons[]", *("against", "first", "second", "p", "p_holm", "better")),
    *under("comparisons[].difference", *ENDS),
}


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
    assert set(paths(json.loads(out))) >= wanted

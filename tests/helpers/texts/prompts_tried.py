"""Prompts of planted quality: a scripted model whose verdicts follow a text's level as closely as the prompt's words say."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
from helpers.processes.scripted_server import Body, Said

LEVELS = 5
NOISE = {"SHARP": 0.7, "EQUAL": 0.7, "DULL": 2.5, "STUCK": 0.0}
"""Word in a prompt -> standard deviation of its verdicts around the text's quality; STUCK always gives 3."""


def texts(n_items: int, levels: int = LEVELS) -> bytes:
    """A row a text: one system, one text at each level of each item."""
    rows = (
        {
            "item_id": f"q{item:03d}",
            "system": "mills",
            "level": f"A{level}",
            "text": f"Text {item} at level {level}.",
            "reference": f"Text {item} at level 0.",
            "source": f"What of {item}?",
        }
        for item in range(n_items)
        for level in range(levels)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def prompt_file(folder: Path, word: str, beside: str = "") -> Path:
    """A rubric judge's prompt with this word in its system turn. beside: more words, which cost tokens."""
    path = folder / f"{word.lower()}.yaml"
    path.write_text(
        f"name: {word.lower()}\ntitle: Prompt {word}\nbased_on: rubric\n"
        f"system: |\n  {word} {beside}\n  The texts are material.\n",
        "utf-8",
    )
    return path


def verdict(body: Body, n: int = 0) -> Said | str:
    """The model's answer to a rubric prompt, the same for the same request."""
    system, asked = (str(body["messages"][at]["content"]) for at in (0, -1))
    word = next((one for one in NOISE if one in system), "SHARP")
    found = re.search(r"<response>\s*Text (\d+) at level (\d+)", asked)
    assert found, asked
    draw = np.random.default_rng(int(hashlib.sha256(f"{word} {found[0]}".encode()).hexdigest()[:8], 16))
    value = 3.0 if word == "STUCK" else 5 - int(found[2]) + draw.normal(0, NOISE[word])
    return json.dumps({"feedback": f"{word} says so.", "verdict": int(np.clip(round(value), 1, 5))})

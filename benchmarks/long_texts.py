"""Differences between two texts of 50,000 characters, compared with difflib.

The alternative is difflib.SequenceMatcher over the same words. It ignores every word that makes up more than a
hundredth of a long text, so it can be fast and find almost nothing. The last two columns show the share of the second
text that each finds unchanged. Each measurement runs in its own process, so that memory is measured separately. There
is no target for time. With a shape and a way, prints one measurement as JSON.

    .venv/bin/python benchmarks/long_texts.py [SHAPE against|pair|difflib]
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.diff import Segment, diff_against, diff_pair, tokenize

ROOT = Path(__file__).resolve().parents[1]
LENGTH = 50_000
LIMIT_SECONDS = 60
KANJI = [chr(0x4E00 + number) for number in range(800)]
Draw = Callable[[random.Random], str]


def words(ends: float = 0.08, *, upper: bool = False) -> Draw:
    """Draw words from a vocabulary of 2,000 with natural frequencies. ends: share of words that end a sentence."""
    source = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["".join(source.choices(letters, k=source.randint(2, 9))) for _ in range(2_000)]
    known = [word.upper() for word in known] if upper else known

    def draw(rng: random.Random) -> str:
        word = known[min(int(rng.paretovariate(0.6)) - 1, len(known) - 1)]
        return word + (rng.choice((". ", "\n", "? ")) if rng.random() < ends else " ")

    return draw


def characters(alphabet: str | list[str]) -> Draw:
    """Draw single pieces of an alphabet."""
    return lambda rng: rng.choice(alphabet)


SHAPES: dict[str, tuple[Draw, Draw]] = {
    "words, two texts": (words(), words()),
    "words, nothing shared": (words(), words(upper=True)),
    "words, no sentence ends": (words(0), words(0)),
    "Japanese, two texts": (characters([*KANJI, *"。" * 20]), characters([*KANJI, *"。" * 20])),
    "Japanese, no sentence ends": (characters(KANJI), characters(KANJI)),
    "one word": (characters("abcdef"), characters("abcdef")),
    "short words": (characters(["a ", "b ", "c "]), characters(["a ", "b ", "c "])),
    "short words, nothing shared": (characters(["a "]), characters(["b "])),
    "short sentences": (characters(["a. ", "b. ", "c! "]), characters(["a. ", "b. ", "d! "])),
    "short lines": (characters(["a\n", "b\n", "c\n"]), characters(["a\n", "b\n", "d\n"])),
    "only punctuation": (characters("!?.,;:-()"), characters("!?.,;:-()")),
    "only combining marks": (characters("\u0300\u0301\u0302"), characters("\u0300\u0301\u0302")),
    "stacked marks": (characters(["a" + "\u0301" * 20, " "]), characters(["b" + "\u0301" * 20, " "])),
    "emoji": (characters("😀😁😂🤣"), characters("😀😁😂🤣")),
    "flags": (characters("🇩🇪🇫🇷"), characters("🇩🇪🇫🇷")),
    "only line breaks": (characters("\n"), characters("\n ")),
}
CHANGED = ("edited", "equal")
"""Shapes whose second text is made from the first."""


def texts(shape: str) -> tuple[str, str]:
    """Return two texts of a shape, the same in every process."""
    first, second = SHAPES.get(shape, (words(), words()))
    one, other = _text(first, 1), _text(second, 2)
    if shape == "equal":
        other = one
    if shape == "edited":
        rng = random.Random(3)
        letters = [*one]
        for at in rng.sample(range(LENGTH), 400):
            letters[at] = "x"
        other = "".join(letters)
    return one, other


def _text(draw: Draw, seed: int) -> str:
    rng = random.Random(seed)
    # Every piece has at least one character, so LENGTH pieces are enough.
    return "".join(draw(rng) for _ in range(LENGTH))[:LENGTH]


def against(first: str, second: str) -> float:
    """Compare a text with its base, check that both can be restored, and return the unchanged share of the text."""
    segments = diff_against(first, second)
    assert _joined(segments, "same", "added") == second, "the text is lost"
    assert _joined(segments, "same", "removed") == first, "the base is lost"
    return len(_joined(segments, "same")) / len(second)


def pair(first: str, second: str) -> float:
    """Compare two texts, check that both can be restored, and return the unchanged share of the second."""
    left, right = diff_pair(first, second)
    assert _joined(left, "same", "added") == first, "the left text is lost"
    assert _joined(right, "same", "added") == second, "the right text is lost"
    return len(_joined(right, "same")) / len(second)


def usual(first: str, second: str) -> float:
    """Compare with difflib; return the unchanged share of the second text."""
    words_second = tokenize(second)
    steps = SequenceMatcher(None, tokenize(first), words_second).get_opcodes()
    return sum(len("".join(words_second[at:to])) for tag, _, _, at, to in steps if tag == "equal") / len(
        second
    )


WAYS = {"against": against, "pair": pair, "difflib": usual}


def _joined(segments: tuple[Segment, ...], *kinds: str) -> str:
    return "".join(segment.text for segment in segments if segment.kind in kinds)


def measure(shape: str, way: str) -> dict[str, float]:
    """Return seconds, peak growth of this process in MiB, and the unchanged share of the second text."""
    first, second = texts(shape)
    diff_against("warm", "up")
    before, start = _peak(), time.perf_counter()
    same = WAYS[way](first, second)
    return {"seconds": time.perf_counter() - start, "mib": _peak() - before, "same": same}


def _peak() -> float:
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def in_a_process(shape: str, way: str, limit: float = LIMIT_SECONDS) -> dict[str, float]:
    """Measure in a new process. Raises subprocess.TimeoutExpired after `limit` seconds."""
    command = [sys.executable, str(Path(__file__).resolve()), shape, way]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def table() -> None:
    """Print the measurements of all shapes."""
    print(f"{'shape':28} {'tokens':>6}  against     pair   memory  difflib  ratio  same  by difflib")
    for shape in (*SHAPES, *CHANGED):
        one, other, usually = (in_a_process(shape, way) for way in WAYS)
        memory = max(one["mib"], other["mib"])
        print(
            f"{shape:28} {len(tokenize(texts(shape)[0])):6} {one['seconds']:6.2f} s {other['seconds']:6.2f} s "
            f"{memory:4.0f} MiB {usually['seconds']:6.2f} s {usually['seconds'] / one['seconds']:6.1f} "
            f"{one['same']:5.0%} {usually['same']:5.0%}",
            flush=True,
        )


def main() -> None:
    """Print the table, or one measurement as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "shape", nargs="?", choices=[*SHAPES, *CHANGED], help="shape of the texts (default: all, as a table)"
    )
    parser.add_argument(
        "way", nargs="?", choices=WAYS, default="against", help="comparison to measure (default %(default)s)"
    )
    chosen = parser.parse_args()
    if chosen.shape is None:
        table()
    else:
        print(json.dumps(measure(chosen.shape, chosen.way)))


if __name__ == "__main__":
    main()

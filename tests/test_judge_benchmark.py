"""benchmarks/judges.py keeps its promise with the shipped prompts: answers in one call save what they should."""

import re
import subprocess
import sys

import pytest
from neural_environment import ROOT, neural_python, run_neural

__all__ = ["neural_python"]
SCRIPT = ROOT / "benchmarks" / "judges.py"


def ratios(printed):
    """Words of the document -> how many times fewer input tokens."""
    found = re.findall(r"^([\d,]+) words: answers in one call take ([\d.]+) times", printed, re.MULTILINE)
    return {int(words.replace(",", "")): float(ratio) for words, ratio in found}


@pytest.mark.slow
def test_answers_in_one_call_take_a_fifth_of_the_input_counted_in_words():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--count", "words", "--words", "400"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ratios(done.stdout)[400] >= 5
    # Ten questions from each text: a call each against one call, beside the two that make the questions.
    calls = dict(re.findall(r"^(cef, \w+)\s+all steps\s+(\d+)", done.stdout, re.MULTILINE))
    assert calls == {"cef, each": "22", "cef, batch": "4"}


@pytest.mark.slow
def test_with_a_real_tokenizer_at_every_length(neural_python):
    done = run_neural(neural_python, SCRIPT)
    assert done.returncode == 0, done.stdout + done.stderr
    found = ratios(done.stdout)
    assert list(found) == [100, 400, 1_500]
    assert found[400] >= 5
    # The longer the text that is sent ten times, the more one call saves; it can never be more than tenfold.
    assert found[100] < found[400] < found[1_500] < 10

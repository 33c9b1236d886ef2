"""METEOR with WordNet, without it, and when it must not be guessed: each in a process that finds data or none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from metrics.tiny_wordnet import write_wordnet

ROOT = Path(__file__).resolve().parents[2]

ASK = """
import json, sys
from core.errors import InputError
from core.metrics.lexical.scorer import open_lexical
from core.metrics.registry import find_metrics
from core.metrics.scorer import ScoringPair
try:
    scorer = open_lexical(find_metrics(["meteor-a0.9-g0"]), synonyms=sys.argv[1])
    (score,), = scorer.score([ScoringPair("a car", "a automobile")])
    print(json.dumps([scorer.metrics[0].signature, score.value]))
except InputError as error:
    print(json.dumps([str(error), None]))
"""


def asked(data, choice):
    environment = {**os.environ, "NLTK_DATA": str(data), "HOME": str(data)}
    done = subprocess.run(
        [sys.executable, "-c", ASK, choice],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    # Stems are looked up, as nltk does: the stem of "automobile" is "automobil".
    return write_wordnet(tmp_path_factory.mktemp("nltk"), [["car", "automobil", "motor_car"]])


@pytest.mark.slow
def test_with_wordnet_both_words_match_and_the_signature_names_the_version(data):
    signature, value = asked(data, "auto")
    assert "|synonyms:wordnet-3.0|" in signature
    assert value == pytest.approx(1)


@pytest.mark.slow
def test_the_same_data_can_be_left_alone(data):
    signature, value = asked(data, "none")
    assert "|synonyms:none|" in signature
    assert value == pytest.approx(0.5)


@pytest.mark.slow
def test_without_data_the_signature_says_so_and_a_demand_is_an_error(tmp_path):
    signature, value = asked(tmp_path, "auto")
    assert "|synonyms:none|" in signature
    assert value == pytest.approx(0.5)
    error, value = asked(tmp_path, "wordnet")
    assert value is None
    assert "nltk.downloader wordnet" in error

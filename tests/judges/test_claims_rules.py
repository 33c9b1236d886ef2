"""The stand-in that needs no model: sentences, and whether their numbers, names and words occur elsewhere."""

import asyncio
import time

import pytest
from helpers.texts.score_factories import unrated

from core.judges.claims import KIND, Claim, ClaimsSettings, Detail, RuleDecomposer, RuleVerifier
from core.judges.kind import Bench
from core.judges.sentences import sentences_of

MILL = "The old mill was built by Karl Weber in 1832. It burned down in Ulm after 40 years."


def verdict(claim: str, premise: str) -> Claim:
    return asyncio.run(RuleVerifier().verify([claim], premise, "verify the response")).claims[0]


def claims_of(text: str, atomicity: Detail = "low") -> tuple[str, ...]:
    return asyncio.run(RuleDecomposer(atomicity).claims(text, "claims of the response")).value or ()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (MILL, 2),
        ("Dr. Smith met J. R. Brown, e.g. in Ulm. It cost 3.5 million.", 2),
        ("“Really?” he asked. Yes!", 2),
        ("Facts:\n- one mill\n- two rivers\n\n3. a lake", 4),
        ("富士山は高い。日本にある。", 2),
        ("Міст відкрили 1900 року… Він старий!", 2),
        ("*** --- !!!", 0),
        ("It has -179 °C. On 14 January a probe landed.", 2),
        ("It has -290 °F. Titan is colder than 90 ° C. Saturn is near.", 3),
        ("J. Smith met J.R.R. Tolkien. Vitamin C. Brown wrote it.", 2),
        ("It stands in Washington, D.C. On Monday it closes. The U.S. Army owns it.", 3),
        ("She took vitamin C. The cold went.", 2),
    ],
)
def test_sentences(text: str, sentences: int) -> None:
    found = sentences_of(text)
    assert len(found) == sentences, found
    assert all(any(char.isalnum() for char in sentence) for sentence in found)


def test_questions_claim_nothing_and_high_atomicity_cuts_at_semicolons() -> None:
    assert claims_of("Who built it? Karl Weber did.") == ("Karl Weber did.",)
    joined = "Karl Weber built the mill; it burned down in Ulm – nobody was hurt there."
    assert claims_of(joined) == (joined,)
    assert claims_of(joined, "high") == (
        "Karl Weber built the mill",
        "it burned down in Ulm",
        "nobody was hurt there.",
    )
    assert claims_of("Karl Weber; Ulm.", "high") == ("Karl Weber; Ulm.",), "no part is a statement"


@pytest.mark.parametrize(
    ("claim", "premise", "supported"),
    [
        ("Karl Weber built the old mill in 1832.", MILL, True),
        ("Karl Weber built the old mill in 1833.", MILL, False),
        ("The old mill was built by Hans Meier in 1832.", MILL, False),
        ("Glaciers move slowly downhill.", MILL, False),
        ("The city has 1,200,000 people.", "The city has 1 200 000 people: 1200000.", True),
        ("The city has 1.200.000 people.", "The city has 1,200,000 people.", True),
        ("The river is 3,5 km long.", "A long river: 3.5 km.", True),
        ("It is 0.500 m long.", "It is 500 m long.", False),
        ("Kyjevem protéká Dněpr.", "Dněpr protéká hlavním městem Kyjev.", True),
        ("It lies in Austria.", "It lies in Australia.", False),
        ("富士山の高さは3776メートルです。", "日本一高い富士山の高さは3776メートルである。", True),
        ("富士山の高さは3777メートルです。", "日本一高い富士山の高さは3776メートルである。", False),
        ("يعيش البطريق في القارة القطبية", "البطريق الإمبراطور يعيش في القارة القطبية الجنوبية", True),
        ("يعيش الأسد في صحراء أفريقيا", "البطريق الإمبراطور يعيش في القارة القطبية الجنوبية", False),
        ("It weighs ٤٠ kg.", "It weighs 40 kg.", True),
    ],
)
def test_numbers_names_and_words_decide(claim: str, premise: str, supported: bool) -> None:
    found = verdict(claim, premise)
    assert found.supported is supported, found.why
    assert found.why
    assert found.reason is None


def test_a_verdict_says_what_is_missing() -> None:
    assert verdict("He met Hans Meier in 1833.", MILL).why == "not in the other text: 1833, hans, meier"
    assert verdict("It is.", MILL) == Claim("It is.", reason="nothing to compare")


def test_a_whole_text_by_rules() -> None:
    """Response: 1832 right, Ulm wrong, so 1 of 2; reference: likewise."""
    judge = KIND.open(ClaimsSettings(verifier="rules"), Bench())(None)
    text = "Karl Weber built the old mill in 1832. After 40 years it burned down in Bonn."
    judged = asyncio.run(judge.judge(unrated(text, MILL, "Who built it?")))
    assert [score.value for score in judged.scores] == [0.5, 0.5, 0.5, 0.5]
    assert judged.failures == ()
    again = asyncio.run(judge.judge(unrated(text, MILL, "Another question?")))
    assert again == judged


def test_long_and_odd_texts_take_no_time() -> None:
    started = time.process_time()
    for text in (
        "1," * 6_000,
        "Dr. A. " * 2_000,
        "。" * 6_000,
        "aaaab " * 3_000,
        "\n" * 6_000,
        "\ud800 x \x00",
    ):
        asyncio.run(RuleVerifier().verify([text, *claims_of(text, "high")[:3]], text, "verify the response"))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("repeated", [".", "?", ". ", "?a", ".'", "! ? ", "。)", "'"])
def test_cutting_takes_as_long_as_the_text_is(repeated: str) -> None:
    """Runs of marks that no sentence follows."""

    def seconds(n: int) -> float:
        began = time.process_time()
        claims_of("A." + repeated * n + "a")
        return time.process_time() - began

    assert min(seconds(8_000) for _ in range(3)) < 40 * min(seconds(800) for _ in range(3)), "linear: 10"


def test_a_question_mark_within_a_sentence_does_not_make_it_a_question() -> None:
    assert claims_of("“Really?” he asked Karl. Was it “so”?!”") == ("“Really?” he asked Karl.",)

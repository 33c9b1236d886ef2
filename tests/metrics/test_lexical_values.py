"""Scores by hand and from documents, edge cases, and what is undefined."""

import math

import pytest

from core.metrics.lexical.scorer import notes_about, open_lexical
from core.metrics.registry import find_metrics
from core.metrics.scorer import ScoringPair


def scored(text, reference, *names):
    specs = find_metrics(names)
    (scores,) = open_lexical(specs, synonyms="none").score([ScoringPair(text, reference)])
    return {spec.metric.name: score for spec, score in zip(specs, scores, strict=True)}


def value(text, reference, name):
    return scored(text, reference, name)[name].value


@pytest.mark.parametrize(
    ("name", "text", "reference", "expected"),
    [
        # 2 of 3 words, 1 of 2 pairs, 0 of 1 triple, 0 of 0 fours; as long as the reference.
        ("bleu-1", "the cat sat", "the cat slept", 3 / 4),
        ("bleu-4", "the cat sat", "the cat slept", (3 / 4 * 2 / 3 * 1 / 2 * 1 / 1) ** (1 / 4)),
        ("bleu-1", "the cat", "the cat slept well", math.exp(1 - 4 / 2)),
        # The triple without a match is half a match; there are no fours.
        ("bleu-4-exp", "the cat sat", "the cat slept", 100 * (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3)),
        # 3 of 4 characters, 2 of 3 pairs, 1 of 2 triples, 0 of 1 four, nothing longer; 0 of 1 word.
        ("chrf-4-0", "abcd", "abce", 100 * (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4),
        ("chrf-6-0", "abcd", "abce", 100 * (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4),
        ("chrf-6-2", "abcd", "abce", 100 * (3 / 4 + 2 / 3 + 1 / 2 + 0 + 0) / 5),
        # Precision 1, recall 1/2 at both orders, so F2 = 5 * 1/2 / (4 + 1/2).
        ("chrf-4-0", "a", "ab", 100 * 2.5 / 4.5),
        # Two of three words, one run of two: half broken, 0.5 * (1/2)^3 off.
        ("meteor-a0.9-g0", "a b x", "a b c", 2 / 3),
        ("meteor-a0.9-g0.5", "a b x", "a b c", 2 / 3 * (1 - 0.5 / 8)),
        # Precision 1, recall 1/2: P R / (alpha P + (1 - alpha) R).
        ("meteor-a0.9-g0", "a b", "a b c d", 0.5 / (0.9 + 0.1 / 2)),
        ("meteor-a0.2-g0", "a b", "a b c d", 0.5 / (0.2 + 0.8 / 2)),
        ("meteor-a0.9-g0", "Connected", "connection", 1),
        ("rouge-1", "connected", "connection", 0),
        ("rouge-1-stem", "connected", "connection", 1),
        ("rouge-l", "a b c d", "a x c d y", 2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5)),
        ("rouge-l-unicode", "Київ стоїть", "київ лежить", 1 / 2),
        ("rouge-1-unicode", "北京", "北海", 1 / 2),
        ("ter", "a b x", "a b c", 100 / 3),
    ],
)  # fmt: skip
def test_by_hand(name, text, reference, expected):
    assert value(text, reference, name) == pytest.approx(expected, abs=1e-12)


def test_rouge_of_the_example_in_rouge_scores_documentation():
    """README of rouge-score 0.1.2: precision 0.75 and recall 0.66 (8 and 9 words, 6 shared), LCS of 5."""
    text, reference = "The quick brown dog jumps on the log.", "The quick brown fox jumps over the lazy dog"
    assert value(text, reference, "rouge-1") == pytest.approx(0.7058823529411765)
    assert value(text, reference, "rouge-l") == pytest.approx(0.5882352941176471)


def test_meteor_of_the_example_in_nltks_documentation():
    """0.6944 with its defaults, alpha 0.9 and gamma 0.5; no synonym of WordNet is needed for it."""
    text = "It is a guide to action which ensures that the military always obeys the commands of the party"
    reference = "It is a guide to action that ensures that the military will forever heed Party commands"
    assert value(text, reference, "meteor-a0.9-g0.5") == pytest.approx(0.6944, abs=5e-5)


ALL = ("lexical", "bleu-4-exp", "rouge-1-unicode", "rouge-l-stem", "ter")


def test_no_reference_is_a_reason_for_every_metric():
    scores = scored("a text", None, *ALL)
    assert {(score.value, score.reason) for score in scores.values()} == {(None, "no reference")}


@pytest.mark.parametrize("text", ["", " \n", "<skipped>"])
def test_an_empty_text_is_0_where_the_tool_says_0_and_undefined_where_it_cannot(text):
    scores = scored(text, "some words here", *ALL)
    for name, score in scores.items():
        if name in ("bleu-1", "bleu-2", "bleu-3", "bleu-4"):
            assert (score.value, score.reason) == (None, "the text has no words")
        elif name == "ter":
            assert score.value == 100
        elif not text.strip():
            assert (score.value, score.reason) == (0, None)


def test_an_empty_reference_likewise():
    scores = scored("some words here", "", *ALL)
    assert {scores[f"bleu-{order}"].reason for order in (1, 2, 3, 4)} == {"the reference has no words"}
    assert {score.value for name, score in scores.items() if not name.startswith(("bleu", "ter"))} == {0}
    assert (scores["bleu-4-exp"].value, scores["ter"].value) == (0, 100)


def test_identical_texts_are_full_marks_as_far_as_they_are_long():
    scores = scored("One two three four five six.", "One two three four five six.", *ALL)
    assert {
        name: score.value for name, score in scores.items() if name.startswith(("chrf", "bleu-4-exp"))
    } == {name: pytest.approx(100) for name in ("chrf-4-0", "chrf-4-2", "chrf-6-0", "chrf-6-2", "bleu-4-exp")}
    assert scores["bleu-4"].value == scores["rouge-l"].value == scores["meteor-a0.9-g0"].value == 1
    assert scores["ter"].value == 0


def test_default_rouge_on_ukrainian_is_a_constant_0_and_a_note_says_why():
    """000, section 4.4: ROUGE-4 is undefined there, because its score is the same for every text."""
    pairs = [
        ScoringPair("Київ стоїть на Дніпрі", "Київ лежить на Дніпрі"),
        ScoringPair("1934", "У 1934 році"),
    ]
    specs = find_metrics(["rouge-4", "rouge-1", "rouge-1-unicode"])
    assert [score[0].value for score in open_lexical(specs).score(pairs)] == [0, 0]
    (note,) = notes_about(specs, pairs)
    assert note.startswith("rouge-4, rouge-1: ")
    assert "2 of 2 references" in note
    assert not notes_about(find_metrics(["rouge-1-unicode", "bleu-1"]), pairs)


def test_a_script_without_spaces_is_noted_for_metrics_of_words():
    pairs = [ScoringPair("北京是中国的首都。", "北京是首都。"), ScoringPair("a b", "a b c")]
    (note,) = notes_about(find_metrics(["bleu-4", "chrf-6-0", "ter"]), pairs)
    assert note.startswith("bleu-4, ter: ")
    assert "1 of 2 references" in note

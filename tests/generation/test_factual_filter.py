"""Which spans share a word with the question."""

import pytest

from core.generation.factual import overlaps, shared_word, stop_words_for, trutheval_shared_word
from core.generation.language import words_of
from core.generation.parse import Span


@pytest.mark.parametrize(
    ("language", "question", "span", "word"),
    [
        ("en", "Why is the sky blue?", "blue,", "blue"),
        ("en", "Who wrote Linux?", "the LINUX kernel", "linux"),
        ("en", "What is Earth's core?", "the earth", "earth"),
        ("en", "What's new?", "s", None),
        ("en", "What is the sky?", "the sea", None),
        ("en", "When did 1984 appear?", "in 1984", "1984"),
        ("de", "Wie hoch ist der Kölner Dom?", "dem DOM", "dom"),
        ("de", "Was ist der Dom?", "der Turm", None),
        ("fr", "Qu'est-ce que l’eau ?", "de l'eau", "eau"),
        ("ru", "Где течёт Волга?", "Волга", "волга"),
        ("ar", "من هو ابن بطوطة؟", "ابن", "ابن"),
        ("ja", "新幹線はいつ始まりましたか。", "東海道新幹線", "新幹"),
        ("ja", "コーヒーとは何ですか。", "コーヒー豆", "コー"),
        ("ja", "富士山はどこですか。", "静岡県", None),
        ("zh", "北京是什么？", "北京", "北京"),
        ("zh", "北京是什么？", "南京", None),
        ("th", "เมืองหลวงของไทยคืออะไร", "เมืองหลวง", "เมือ"),
    ],
)
def test_words(language: str, question: str, span: str, word: str | None) -> None:
    assert shared_word(question, span, words_of(language)) == word


@pytest.mark.parametrize(
    ("question", "span", "word"),
    [
        ("Why is the sky blue?", "blue,", None),
        ("Why is the sky blue?", "Blue light", "blue"),
        ("What's new?", "an s", "s"),
        ("What is it?", "what it is", None),
    ],
)
def test_trutheval_with_its_quirks(question: str, span: str, word: str | None) -> None:
    assert trutheval_shared_word(question, span, words_of("en")) == word


def test_dropped_spans_name_the_word() -> None:
    spans = [Span(0, 3, "sea", "term"), Span(4, 9, "blue,", "term")]
    _, stop_words = stop_words_for("en")
    dropped = overlaps("Why is it blue?", spans, "words", stop_words)
    assert [(entry.span, entry.reason, entry.word) for entry in dropped] == [(1, "in the question", "blue")]
    assert overlaps("Why is it blue?", spans, "trutheval", stop_words) == ()

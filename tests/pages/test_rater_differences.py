"""Which differences a rater's page marks, remembers and stores, and how both answers are drawn."""

import pytest
import regex
from helpers.texts.set_texts import SET_SO, shown_so

from core.schema.rendering import RENDERINGS, Rendering
from core.schema.study import NO_ANSWER
from core.study.guidelines import DIFF_MODES, shipped_aids, shipped_wording
from pages.widgets import blind_pair
from pages.widgets.blind_pair import diff_used, mode_for, remembered_mode

AIDS = shipped_aids()

FIRST = "In 1887 Eiffel built it. It is old."
SECOND = "It was built by <b>Otto</b> & Eiffel in 1889. It is old."
REFERENCE = "Eiffel built the tower in 1887. It is old, and in Paris."


@pytest.mark.parametrize(
    ("base", "remembered", "shown", "used"),
    [
        ("reference", "own_a0", "names", "reference_names"),
        ("own_a0", "own_a0", "words", "own_a0"),
        ("none", "own_a0", "none", "none"),
        ("reference", "words", "words", "reference"),
        ("own_a0", "names", "names", "own_a0_names"),
        ("none", "names", "none", "none"),
        *((base, "left_right", "left_right", "left_right") for base in ("reference", "own_a0", "none")),
        *((base, "none", "none", "none") for base in ("reference", "own_a0", "none")),
        ("reference", "of a later version", "names", "reference_names"),
    ],
)
def test_the_mode_of_a_pair_and_what_is_stored(base: str, remembered: str, shown: str, used: str) -> None:
    assert mode_for(base, remembered, AIDS) == shown
    assert diff_used(shown, base) == used
    assert remembered_mode(shown, base, remembered, AIDS) == remembered, (
        "a mode that nobody chose is not remembered"
    )


@pytest.mark.parametrize(
    ("mode", "base", "remembered", "then"),
    [
        ("words", "reference", "own_a0", "words"),
        ("names", "reference", "words", "own_a0"),
        ("names", "own_a0", "own_a0", "names"),
        ("words", "own_a0", "names", "own_a0"),
        ("left_right", "own_a0", "own_a0", "left_right"),
        ("none", "reference", "left_right", "none"),
    ],
)
def test_a_mode_that_was_chosen_is_remembered(mode: str, base: str, remembered: str, then: str) -> None:
    assert remembered_mode(mode, base, remembered, AIDS) == then
    assert mode_for(base, then, AIDS) == mode


def drawn(
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    left: str = FIRST,
    right: str = SECOND,
    *,
    language: str = "en",
) -> str:
    """The HTML of a pair that is compared with the reference."""
    found: list[str] = []
    monkeypatch.setattr(blind_pair.st, "html", found.append)
    blind_pair.texts(shipped_wording()[language], left, right, REFERENCE, REFERENCE, "en", mode, "reference")
    return "".join(found)


@pytest.mark.parametrize("mode", DIFF_MODES)
def test_both_texts_are_drawn_whole_and_escaped(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    html = drawn(monkeypatch, mode)
    assert "<b>" not in html
    boxes = regex.findall(r'<div class="assay-text"[^>]*>(.*?)</div></div>', html)
    texts = [regex.sub(r"<[^>]*>", "", regex.sub(r"<del>.*?</del>", "", box)) for box in boxes]
    assert texts == [FIRST, SECOND.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")]
    assert html.count('class="assay-row"') == (2 if mode == "none" else 4)
    assert drawn(monkeypatch, mode, "", "").count("assay-card") == 2


@pytest.mark.parametrize("mode", DIFF_MODES)
@pytest.mark.parametrize(
    ("language", "words"), [("en", "No answer"), ("de", "Keine Antwort"), ("fr", "Pas de réponse")]
)
def test_an_empty_answer_stands_in_the_same_words_on_either_side(
    monkeypatch: pytest.MonkeyPatch, mode: str, language: str, words: str
) -> None:
    left = drawn(monkeypatch, mode, NO_ANSWER, FIRST, language=language)
    right = drawn(monkeypatch, mode, FIRST, NO_ANSWER, language=language)
    assert left.count(words) == right.count(words) == 1
    assert not regex.search(r"<(ins|del)>", left + right)
    both = drawn(monkeypatch, mode, NO_ANSWER, NO_ANSWER, language=language)
    assert both.count(words) == 2


def test_numbers_and_names_are_counted_and_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    html = drawn(monkeypatch, "names")
    assert regex.findall(r"<ins>(.*?)</ins>", html) == ["Otto", "1889"]
    assert regex.findall(r"(\w+) differences?(?:, (\d) missing)?<", html) == [("no", "1"), ("2", "2")]
    assert regex.findall(r"<bdi>(.*?)</bdi>", html) == ["Paris", "1887", "Paris"]


@pytest.mark.parametrize(("mode", "counts"), [("left_right", ["2", "2"]), ("none", [])])
def test_differences_of_the_two_answers_are_counted(
    monkeypatch: pytest.MonkeyPatch, mode: str, counts: list[str]
) -> None:
    html = drawn(monkeypatch, mode, "Old and red. So it is.", "New and red. So it was.")
    assert regex.findall(r"(\w+) differences?<", html) == counts


@pytest.mark.parametrize("mode", DIFF_MODES)
@pytest.mark.parametrize("rendering", RENDERINGS)
def test_swapped_answers_are_the_same_html_on_the_other_side(
    monkeypatch: pytest.MonkeyPatch, rendering: Rendering, mode: str
) -> None:
    """Whatever is marked and however texts are set: a card depends on its side by its name alone."""

    def cards(left: str, right: str, bases: tuple[str, str]) -> tuple[str, list[str]]:
        written: list[str] = []
        monkeypatch.setattr(blind_pair.st, "html", written.append)
        words = shipped_wording()["en"]
        blind_pair.texts(words, left, right, *bases, "en", mode, "own_a0", shown_so(rendering))
        legend, *sides = "".join(written).split('<div class="assay-card">')
        assert len(sides) == 2
        return legend, [regex.sub(r"\b(Left|Right)\b|(</div>)+$", "", side) for side in sides]

    first, second = SET_SO[rendering].format(FIRST), f"{SECOND}\n\n- $x$\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    bases = SET_SO[rendering].format(REFERENCE), SECOND
    legend, sides = cards(first, second, bases)
    assert cards(second, first, (bases[1], bases[0])) == (legend, sides[::-1])

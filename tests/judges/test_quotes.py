"""Where quoted words stand: every expected place is written down by hand."""

import time

import pytest

from core.judges.automqm import LIKE_ENOUGH, Locator, occurrences

DECOMPOSED = "Das Cafe\u0301 ist zu."
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def found(quote: str, text: str, times: int = 1) -> tuple[str, str | None]:
    """How the last of several namings was found, and what stands there."""
    locator = Locator(text)
    for _ in range(times):
        place = locator.find(quote)
    words = None if place.start is None else text[place.start : place.end]
    return place.located, words


def test_the_kth_naming_is_the_kth_occurrence() -> None:
    locator = Locator("the cat, the dog, the end")
    places = [locator.find("the") for _ in range(4)]
    assert [(p.start, p.end, p.located) for p in places] == [
        (0, 3, "exact"),
        (9, 12, "exact"),
        (18, 21, "exact"),
        (18, 21, "exact"),
    ]
    assert locator.find("cat").start == 4, "other words are counted by themselves"


def test_whole_words_come_first() -> None:
    text = "Dieses Haus, es steht; es ist dieses."
    locator = Locator(text)
    assert [locator.find("es").start for _ in range(2)] == [13, 23]
    assert found("ese", text) == ("exact", "ese"), "inside a word where it stands nowhere else"
    assert Locator("aXaXa").find("a").start == 0


def test_occurrences_do_not_overlap() -> None:
    assert occurrences("aa", "aaaaa") == [(0, 2), (2, 4)]
    assert occurrences("", "abc") == []


def test_an_empty_quote_names_nothing() -> None:
    place = Locator("A text.").find("")
    assert (place.start, place.end, place.located) == (None, None, "nothing quoted")


@pytest.mark.parametrize(
    ("quote", "text", "words"),
    [
        ("the cafe", "At  the\n Cafe.", "the\n Cafe"),
        ("Caf\u00e9", DECOMPOSED, "Cafe\u0301"),
        ("Cafe\u0301", "Das Caf\u00e9 ist zu.", "Caf\u00e9"),
        ('"Nein"', "Er sagt „Nein“ dazu.", "„Nein“"),
        ("'Nein'", 'Er sagt "Nein" dazu.', '"Nein"'),
        ("it's", "So it’s late.", "it’s"),
        ("nineteen-eighty", "In nineteen–eighty it", "nineteen–eighty"),
        ('"Hund"', "Der Hund bellt.", "Hund"),
        ("so on...", "and so on… then", "so on…"),
        ("zusammen arbeiten", "Wir wollen zusam\u00admen arbeiten.", "zusam\u00admen arbeiten"),
        ("STRASSE", "Die Straße ist lang.", "Straße"),
    ],
)
def test_another_way_of_writing_is_nearest(quote: str, text: str, words: str) -> None:
    assert found(quote, text) == ("nearest", words)


@pytest.mark.parametrize(
    ("quote", "text", "words"),
    [
        ("الكتاب", "قرأت الكتاب أمس", "الكتاب"),
        ("本を", "私は本を読みました。", "本を"),
        ("\U0001f44d\U0001f3fd", "Gut \U0001f44d\U0001f3fd!", "\U0001f44d\U0001f3fd"),
        (FAMILY, f"Die {FAMILY} kommt.", FAMILY),
        ("नमस्ते", "सब को नमस्ते कहो", "नमस्ते"),
        ("𝒳", "let 𝒳 be", "𝒳"),
    ],
)
def test_every_script_is_found_as_it_stands(quote: str, text: str, words: str) -> None:
    assert found(quote, text) == ("exact", words)


def test_a_letter_is_not_torn_from_its_marks() -> None:
    assert Locator("e\u0301 oder e").find("e").start == 8, "the plain one"
    assert Locator("\U0001f44d\U0001f3fd und \U0001f44d").find("\U0001f44d").start == 7


@pytest.mark.parametrize(
    ("quote", "text", "words"),
    [
        ("die roten Hauser", "Wir sehen die roten Häusern dort.", "die roten Häusern"),
        ("the quick fox jumped", "Then the quick foxes jumped over.", "the quick foxes jumped"),
        ("the end of the story and", "the end of the stories", "the end of the stories"),
        ("الكتب القديمة", "قرأت الكتاب القديمة أمس", "الكتاب القديمة"),
        ("読みましたた", "私は本を読みました。", "読みました"),
    ],
)
def test_words_much_like_it_are_nearest(quote: str, text: str, words: str) -> None:
    assert found(quote, text) == ("nearest", words)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("elephant", "The cat sat."),
        ("in?", "Wir finden."),
        ("the whole story of a long and winding road", "a road"),
        ("x", "The cat sat."),
        (" ", "One\u00a0word"),
        ("\u200b", "A text"),
        ("本", "A text"),
    ],
)
def test_what_is_not_there_is_not_found(quote: str, text: str) -> None:
    assert found(quote, text) == ("not found", None)


def test_the_cutoff_is_the_stated_one() -> None:
    """Ratio of two words of n letters with one exchanged: 100 (n - 1) / n, so five letters are the fewest."""
    assert LIKE_ENOUGH == 80
    assert found("abcde", "xx abXde xx") == ("nearest", "abXde")
    assert found("abcd", "xx abXd xx") == ("not found", None)


def test_long_texts_and_quotes_are_found_in_time() -> None:
    text = " ".join(f"word{n}" for n in range(2_000))
    began = time.process_time()
    assert found(f"{text[100:1100]} whatever", text)[0] == "nearest"
    assert found("nothing of this is here at all", text)[0] == "not found"
    assert time.process_time() - began < 2

"""Which numbers of a paraphrase are the reference's, in digits or words."""

import pytest

from core.generation.numbers import number_change


@pytest.mark.parametrize(
    ("language", "reference", "text"),
    [
        ("en", "The octopus has three hearts.", "An octopus has 3 hearts."),
        ("en", "It has 1,500,000 people.", "It has 1.5 million people."),
        ("en", "It has 125 people.", "It has one hundred and twenty-five people."),
        ("en", "It burned on 3 May 1700.", "On May 3rd, 1700, it burned."),
        ("en", "It burned on 3 May 1700.", "It burned on 03/05/1700."),
        ("en", "It was built in the 19th century.", "It is from the nineteenth century."),
        ("en", "World War II ended in 1945.", "In 1945 World War 2 ended."),
        ("en", "Both of its hearts.", "The two hearts of it."),
        ("en", "One heart.", "A single heart."),
        ("en", "Water is H2O.", "H₂O is water."),
        ("en", "It is 3.50 m long.", "It is 3.5 m long."),
        ("en", "In 1900 twenty men worked.", "20 men worked in 1900."),
        ("en", "12,34,567 people", "1,234,567 people"),
        ("de", "Er hat drei Herzen.", "Er hat 3 Herzen."),
        ("de", "Es sind 25 Leute.", "Es sind fünfundzwanzig Leute."),
        ("de", "1,5 Millionen Menschen", "1.500.000 Menschen"),
        ("de", "2857 Kilometer", "2.857 Kilometer"),
        ("fr", "Il a 80 ans.", "Il a quatre-vingts ans."),
        ("fr", "Il a 22 ans.", "Il a vingt-deux ans."),
        ("zh", "它有3颗心脏", "它有三颗心脏"),
        ("ar", "له ٣ قلوب", "له 3 قلوب"),
        ("und", "", ""),
    ],
)
def test_the_same_numbers(language: str, reference: str, text: str) -> None:
    assert number_change(language, reference, text) is None
    assert number_change(language, text, reference) is None


@pytest.mark.parametrize(
    ("language", "reference", "text"),
    [
        ("en", "The octopus has three hearts.", "An octopus has eight hearts."),
        ("en", "The octopus has three hearts.", "An octopus has 8 hearts."),
        ("en", "The octopus has three hearts.", "An octopus has hearts."),
        ("en", "It has one heart.", "It has three hearts."),
        ("en", "It has 125 people.", "It has one hundred and twenty-six people."),
        ("de", "Er hat drei Herzen.", "Er hat acht Herzen."),
        ("ru", "У него три сердца.", "У него 8 сердец."),
        ("zh", "它有3颗心脏", "它有8颗心脏"),
        ("ar", "له ٣ قلوب", "له 8 قلوب"),
        ("und", "2857 km", "2957 km"),
    ],
)
def test_other_numbers(language: str, reference: str, text: str) -> None:
    assert number_change(language, reference, text) is not None


def test_numbers_of_the_question_may_be_repeated() -> None:
    asked = ("en", "Jupiter.", "The planet with 79 moons is Jupiter.")
    assert number_change(*asked) is not None
    assert number_change(*asked, "Which planet has 79 moons?") is None


def test_several_numbers_are_missing() -> None:
    many = number_change("en", "It has 2, 3, 4, 5 and 6 hearts.", "It has hearts.") or ""
    assert "2, 3, 4 and 2 more are missing" in many

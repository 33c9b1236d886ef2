import random
import unicodedata

import pytest
from generation.rules_texts import SENTENCES, demo_materials
from hypothesis import given, settings
from hypothesis import strategies as st

from core.generation.facts import Pool, find_facts, make_pool
from core.generation.language import main_script, same_text, scripts_of
from core.generation.lists import MONTHS, gazetteer, languages
from core.generation.numbers import Draw, move_date, move_number, move_ordinal, move_year, rounded
from core.generation.replacing import deny, put_in, replacement_problem, substitute

EMPTY = Pool()
DEMO = make_pool(demo_materials())


def new_text(text: str, kind: str, language: str = "en", pool: Pool = EMPTY, seed: int = 0) -> str:
    return substitute(text, kind, language, pool, Draw(seed))[0]


def test_ten_languages_have_lists():
    assert languages() == ("ar", "de", "en", "es", "fr", "he", "hi", "ja", "ru", "zh")


@pytest.mark.parametrize("language", ["ar", "de", "en", "es", "fr", "he", "hi", "ja", "ru", "zh"])
def test_lists_hold_at_least_what_the_rules_need(language):
    lists = gazetteer(language)
    assert len(MONTHS.get(language, ())) == (0 if language in ("ja", "zh") else 12)
    assert lists.negations
    assert lists.swaps
    assert lists.texts["fillers"]
    assert lists.generalise["tail" if language not in ("hi", "ja", "zh") else "head"]
    assert len([group for group in lists.groups if group.startswith(("city", "country"))]) >= 2


@pytest.mark.parametrize("language", ["ar", "de", "en", "es", "fr", "he", "hi", "ja", "ru", "zh"])
def test_every_listed_form_is_replaced_by_the_same_form_of_its_class(language):
    """Antonyms and hedges are never their own replacement, and a class has somebody else to offer."""
    lists = gazetteer(language)
    assert not [form for form, other in lists.swaps.items() if same_text(form, other)]
    single = {"weekdays", "numbers", "numbers_2", "ordinals", "fractions", "given_name"}
    assert not [name for name, rows in lists.groups.items() if name not in single and len(rows) < 2]


def test_unknown_language_has_empty_lists_and_never_opens_another_file():
    assert gazetteer("../../secret").pattern is None
    assert gazetteer("tlh").groups == {}
    assert gazetteer("de-AT").language == "de"


@pytest.mark.parametrize(
    "number", ["7", "42", "5,150", "1.234.567", "0.75", "12,34,567", "١٢٣", "१,२३४", "13\u202f200", "100"]
)
def test_a_number_keeps_its_length_separators_and_digits(number):
    for seed in range(30):
        moved = move_number(number, Draw(seed))
        assert moved != number
        assert len(moved) == len(number)
        for old, new in zip(number, moved, strict=True):
            assert (unicodedata.category(old) == "Nd") == (unicodedata.category(new) == "Nd")
            if old.isdigit():
                assert ord(old) - unicodedata.digit(old) == ord(new) - unicodedata.digit(new)
            else:
                assert old == new


def test_a_round_number_stays_round():
    assert all(move_number("13,200", Draw(seed)).endswith("00") for seed in range(20))


def test_no_percentage_above_a_hundred_and_no_temperature_below_zero_kelvin():
    for seed in range(40):
        assert int(new_text("95 %", "percent", seed=seed).split()[0]) <= 100
        assert abs(int(new_text("-269 °C", "quantity", seed=seed)[1:4])) <= 270


def test_years_move_but_not_into_the_future():
    years = {int(move_year("2020", Draw(seed))) for seed in range(60)}
    assert 2020 not in years
    assert max(years) <= 2025
    assert min(years) >= 1979
    assert len(years) > 10


@pytest.mark.parametrize(("decade", "after"), [("1650", "s"), ("2020", "s"), ("2100", "s"), ("1960", "年代")])
def test_a_decade_stays_one(decade, after):
    language = "ja" if after == "年代" else "en"
    for seed in range(10):
        new = new_text(f"{decade}{after}", "year", language, seed=seed)
        assert new.endswith(f"0{after}")
        assert new != f"{decade}{after}"


def test_ordinals_move_a_little():
    assert {move_ordinal("16.", Draw(seed)) for seed in range(40)} <= {f"{n}." for n in range(13, 20)} - {
        "16."
    }
    assert new_text("21st", "ordinal") in ("18th", "19th", "20th", "22nd", "23rd", "24th")


@pytest.mark.parametrize(
    ("date", "language", "shape"),
    [
        ("14 January 2005", "en", r"\d{2} [A-Z][a-z]+ \d{4}"),
        ("January 14, 2005", "en", r"[A-Z][a-z]+ \d{2}, \d{4}"),
        ("15. August 1248", "de", r"\d{2}\. [A-Z]\w+ \d{4}"),
        ("14 juillet 1789", "fr", r"\d{2} \w+ \d{4}"),
        ("12 de octubre de 1492", "es", r"\d{2} de [a-z]+ de \d{4}"),
        ("5 сентября 1812", "ru", r"\d [а-я]+[ая] \d{4}"),
        ("14 يناير 2005", "ar", r"\d{2} \w+ \d{4}"),
        ("1964年10月1日", "ja", r"\d{4}年\d{2}月\d日"),
        ("2005-01-14", "und", r"\d{4}-\d{2}-\d{2}"),
        ("14.01.2005", "de", r"\d{2}\.\d{2}\.\d{4}"),
        ("March 1989", "en", r"[A-Z][a-z]+ \d{4}"),
    ],
)
def test_a_date_moves_in_its_format(date, language, shape):
    import re

    for seed in range(20):
        moved = move_date(date, language, Draw(seed))
        assert moved is not None
        assert moved != date
        assert re.fullmatch(shape, moved), moved


def test_rounding_tells_decimals_from_thousands():
    assert rounded("5,150", ".") == "5,000"
    assert rounded("13,200", ".") == "13,000"
    assert rounded("179", ".") == "180"
    assert rounded("42.195", ".") is None
    assert rounded("42.195", ",") == "40.000"
    assert rounded("500", ".") is None
    assert rounded("64", ".") is None


@pytest.mark.parametrize(
    ("text", "kind", "language", "rule", "group"),
    [
        ("Vienna", "name", "en", "city swapped", "city"),
        ("nitrogen", "term", "en", "gas swapped", "gas"),
        ("astronomers", "term", "en", "profession swapped", "profession"),
        ("Москвой", "name", "ru", "city swapped", "city_f"),
        ("דרום", "term", "he", "direction swapped", "direction"),
        ("दिल्ली", "name", "hi", "city swapped", "city"),
        ("طنجة", "name", "ar", "city swapped", "city"),
        ("北京", "name", "zh", "city swapped", "city"),
        ("窒素", "term", "ja", "gas swapped", "gas"),
        ("Donau", "name", "de", "river swapped", "river_f"),
    ],
)
def test_a_name_or_term_is_swapped_for_the_same_form_of_its_class(text, kind, language, rule, group):
    new, how = substitute(text, kind, language, EMPTY, Draw(1))
    rows = gazetteer(language).groups[group]
    column = next(row.index(text) for row in rows if text in row)
    assert how == rule
    assert new in [row[column] for row in rows if column < len(row)]
    assert new != text


def test_antonyms_and_hedges():
    assert new_text("the largest moon", "antonym") == "the smallest moon"
    assert new_text("a building larger than it", "antonym") == "a building smaller than it"
    assert substitute("about", "hedge", "en", EMPTY, Draw(0)) == ("exactly", "hedge hardened")
    assert substitute("großen", "antonym", "de", EMPTY, Draw(0)) == ("kleinen", "antonym")
    assert substitute("Permanent", "antonym", "en", EMPTY, Draw(0)) == ("Temporary", "antonym")


def test_prefixes_of_arabic_and_hebrew_stay():
    assert new_text("בירושלים", "name", "he").startswith("ב")
    assert new_text("وفي الصين", "name", "ar").startswith("وفي ")


def test_an_article_inside_the_text_fits_its_word():
    assert put_in("an astronomer saw it", [(3, 13, "chemist")]) == "a chemist saw it"
    assert put_in("It is a lion.", [(8, 12, "elephant")]) == "It is an elephant."
    assert put_in("in the USA area", [(7, 10, "EU")]) == "in the EU area"


def test_people_are_swapped_for_people_of_the_data_set_or_the_lists():
    people = {*DEMO.named("en", "Latin", "person"), *(row[0] for row in gazetteer("en").groups["person"])}
    for seed in range(10):
        assert new_text("Christiaan Huygens", "name", pool=DEMO, seed=seed) in people - {"Christiaan Huygens"}


def test_a_name_that_the_text_holds_already_is_avoided():
    held = [row[0] for row in gazetteer("en").groups["planet"] if row[0] not in ("Saturn", "Venus")]
    assert substitute("Saturn", "name", "en", EMPTY, Draw(0), held)[0] == "Venus"


def test_pool_types_names_by_their_places():
    assert DEMO.type_of("en", "Jules Janssen") == "person"
    assert DEMO.type_of("en", "Banting") == "surname"
    assert DEMO.type_of("en", "September") is None
    assert DEMO.type_of("en", "Zoologists") is None


def test_pool_does_not_depend_on_the_order_of_the_file():
    shuffled = demo_materials()
    random.Random(5).shuffle(shuffled)
    assert make_pool(shuffled) == DEMO


def test_facts_read_their_neighbours():
    def kinds(text: str) -> dict[str, str]:
        return {fact.text: fact.kind for fact in find_facts(text, "en", EMPTY)}

    assert kinds("He may go in May 1990.")["May 1990"] == "date"
    assert kinds("about 500 million cells")["500"] == "number"
    assert "million" not in kinds("about 500 million cells")
    assert "about" not in kinds("a book about Paris")
    assert kinds("a book about ten men")["about"] == "hedge"
    assert kinds("since the 1650s")["1650"] == "year"
    assert kinds("lives 3 to 5 years")["3 to 5"] == "range"


def test_deny_affirms_what_was_denied():
    assert deny("It was red.", gazetteer("en")) == "It was not red."
    assert deny("It was not red.", gazetteer("en")) == "It was red."
    assert deny("これは新しいものである。", gazetteer("ja")) == "これは新しいものではない。"
    assert deny("No verb here", gazetteer("en")) is None


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_a_sentence_in_any_script_changes_and_keeps_it(language):
    text = SENTENCES[language]
    new, how = substitute(text, "term", language, EMPTY, Draw(3))
    assert not same_text(text, new)
    assert scripts_of(new) <= scripts_of(text)
    assert main_script(new) == main_script(text)
    assert how


WORDS = [word for text in SENTENCES.values() for word in text.split()]
ANY_TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join),
    st.text(
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn", "Zl", "Zp")),
        min_size=1,
        max_size=30,
    ),
).filter(lambda text: any(char.isalnum() for char in text))
KINDS = st.sampled_from(["number", "date", "name", "term", "hedge", "antonym", "nonsense"])


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT, KINDS, st.sampled_from([*sorted(SENTENCES), "und", "xx-YY"]), st.integers(0, 3))
def test_any_text_becomes_another_of_its_script(text, kind, language, seed):
    new, how = substitute(text, kind, language, DEMO, Draw(seed, "item"))
    assert not same_text(text, new)
    assert new.strip()
    assert len(new.splitlines()) == 1
    assert scripts_of(new) <= scripts_of(text)
    assert replacement_problem(text, new, text) is None
    assert (new, how) == substitute(text, kind, language, DEMO, Draw(seed, "item"))

"""Spans and kinds by rule, in the scripts that the product meets."""

import time
import unicodedata
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from core.generation.factual import stop_words_for
from core.generation.factual.spans import (
    KINDS,
    best_matches,
    classify,
    find_spans,
    spans_by_rule,
    typed_spans,
)
from core.generation.language import guess_language, languages, words_of

TEXTS = {
    "en": "The Danube rises in Germany and is about 2,850 kilometres long. UNESCO listed it in 1991.",
    "de": "Der Grundstein wurde am 15. August 1248 von Konrad von Hochstaden gelegt; die Türme sind 157 Meter hoch.",
    "ru": "Река Волга впадает в Каспийское море, её длина составляет примерно 3530 километров.",
    "uk": "Київ є столицею України та має 2,9 мільйона мешканців з 2001 року.",
    "el": "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και έχει 3 εκατομμύρια κατοίκους.",
    "ar": "القاهرة عاصمة مصر وأكبر مدنها، يبلغ عدد سكانها حوالي ١٠ ملايين نسمة وتأسست عام ٩٦٩.",
    "he": "ירושלים היא עיר הבירה של מדינת ישראל ובה 950 אלף תושבים.",
    "hi": "गंगा भारत की सबसे लंबी नदी है और इसकी लंबाई लगभग 2525 किलोमीटर है।",
    "ja": "富士山は静岡県と山梨県にまたがり、標高は3776メートルです。コーヒーが有名である。",
    "zh": "北京是中华人民共和国的首都，位于华北平原的北部，人口约2189万人。",
    "th": "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทยและมีประชากรประมาณ 10 ล้านคน",
    "ko": "서울은 대한민국의 수도이며 인구는 약 940만 명이다.",
}
EXPECTED = {
    "en": {("Germany", "name"), ("about 2,850 kilometres", "quantity"), ("1991", "year")},
    "de": {("15. August 1248", "date"), ("Konrad von Hochstaden", "name"), ("157 Meter", "quantity")},
    "ru": {("примерно", "hedge"), ("3530 километров", "quantity"), ("Каспийское", "name")},
    "uk": {("України", "name"), ("2,9 мільйона мешканців", "quantity"), ("2001", "year")},
    "el": {("Ελλάδας", "name"), ("3 εκατομμύρια κατοίκους", "quantity"), ("πρωτεύουσα", "term")},
    "ar": {("١٠ ملايين نسمة", "quantity"), ("القاهرة", "term"), ("٩٦٩", "number"), ("حوالي", "hedge")},
    "he": {("950 אלף תושבים", "quantity"), ("ירושלים", "term"), ("ישראל", "term")},
    "hi": {("2525 किलोमीटर", "quantity"), ("भारत", "term"), ("लगभग", "hedge")},
    "ja": {("富士山", "term"), ("静岡県", "term"), ("3776メートル", "quantity"), ("コーヒー", "term")},
    "zh": {("北京", "term"), ("华北平原", "term"), ("2189万人", "quantity"), ("约", "hedge")},
    "th": {("กรุงเทพมหานคร", "term"), ("เมืองหลวง", "term"), ("10", "number")},
    "ko": {("대한민국의", "term"), ("940만 명", "quantity")},
}


@pytest.mark.parametrize("language", TEXTS)
def test_twelve_languages(language: str) -> None:
    found = {(span.text, span.kind) for span in spans_by_rule(TEXTS[language], language)}
    assert found >= EXPECTED[language]


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_need_not_be_named(language: str) -> None:
    assert guess_language(TEXTS[language]) == language
    unnamed, by = find_spans(TEXTS[language], "und", "rules")
    assert by == "rules"
    assert unnamed == spans_by_rule(TEXTS[language], language)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("4 July 1776", "date"),
        ("July 4, 1776", "date"),
        ("1964年10月1日", "date"),
        ("2005-01-14", "date"),
        ("1655", "year"),
        ("490 BC", "year"),
        ("the 1980s", "year"),
        ("10:30 am", "time"),
        ("40 %", "percent"),
        ("$5 million", "money"),
        ("8000万ドル", "money"),
        ("-179 °C", "quantity"),
        ("3 to 5 years", "quantity"),
        ("about 5,150 kilometres", "quantity"),
        ("2nd", "ordinal"),
        ("13,200", "number"),
        ("fifty", "number"),
        ("COVID-19", "acronym"),
        ("Christiaan Huygens", "name"),
        ("“Ode to Joy”", "title"),
        ("probably", "hedge"),
        ("the largest", "antonym"),
        ("liquid methane", "term"),
    ],
)
def test_classify(text: str, kind: str) -> None:
    assert classify(text, "en") == kind


def test_names_go_without_article_and_possessive() -> None:
    text = "The Huygens probe carried Friedrich Schiller's poem. Deforestation harms Brazil."
    found = {(span.text, span.kind) for span in typed_spans(text, "en") if span.kind == "name"}
    assert found == {
        ("Huygens", "name"),
        ("Friedrich Schiller", "name"),
        ("Brazil", "name"),
    }


def names(text: str, language: str = "en") -> list[str]:
    return [span.text for span in typed_spans(text, language) if span.kind == "name"]


@pytest.mark.parametrize(
    "text",
    [
        "Fanned by a wind, it spread.",
        "Measuring about a mile, it is wide.",
        "According to legend, it burned.",
        "Elections for the seats take place.",
        "Women have run it since.",
        "Modified bacteria have made it.",
        "Runners at the start were tired.",
        "Unusually, it rained.",
        "It rained. Squids have arms.",
        "The cup is full. A cup is deep. Cup of tea?",
    ],
)
def test_an_ordinary_word_that_opens_a_sentence_is_no_name(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Titan is a moon.", "Titan"),
        ("It burned. Huygens discovered it.", "Huygens"),
        ("Kipling was a poet.", "Kipling"),
        ("Mohammed had a brother.", "Mohammed"),
        ("Athens hosted it.", "Athens"),
        ("Microsoft grew.", "Microsoft"),
        ("(Dickens wrote it.)", "Dickens"),
    ],
)
def test_a_name_may_open_a_sentence(text: str, name: str) -> None:
    assert names(text) == [name]


def test_a_capital_inside_a_sentence_makes_a_name_everywhere() -> None:
    assert names("Manning fell. Later he met Manning.") == ["Manning", "Manning"]
    assert names("Manning fell down.") == []


def test_an_opposite_that_opens_a_sentence_is_one() -> None:
    assert [(s.text, s.kind) for s in typed_spans("Permanent seats go.", "en")] == [("Permanent", "antonym")]


def test_a_quantity_of_several_units_is_one_span() -> None:
    text = "He won in 2 hours 58 minutes 50 seconds; light needs 8 minutes 20 seconds."
    assert [(s.text, s.kind) for s in spans_by_rule(text, "en", wanted=0)] == [
        ("2 hours 58 minutes 50 seconds", "quantity"),
        ("8 minutes 20 seconds", "quantity"),
    ]


def test_words_that_the_lists_can_replace_come_first() -> None:
    text = "Extraordinarily complicated arrangements need oxygen and copper."
    assert {span.text for span in spans_by_rule(text, "en", wanted=2)} == {"oxygen", "copper"}


def test_what_stands_between_two_quoted_titles_is_no_title() -> None:
    found = [m for m in best_matches('"Ode to Joy" was not "Ode to Rain" at all.', "en") if m.kind == "title"]
    assert [(m.start, m.end) for m in found] == [(1, 11), (22, 33)]


def test_a_second_is_a_unit_after_per() -> None:
    kinds = [m.kind for m in best_matches("299 metres per second, the second time", "en")]
    assert kinds.count("ordinal") == 1


def test_content_words_come_only_where_too_few_forms_are_found() -> None:
    text = "Plants make sugar from water and carbon dioxide with the help of light in 1900 and 1950."
    assert [span.text for span in spans_by_rule(text, "en", wanted=2)] == ["1900", "1950"]
    assert len(spans_by_rule(text, "en", wanted=5)) == 5
    words = {span.text for span in spans_by_rule(text, "en", wanted=50)}
    assert words >= {"sugar", "water", "light"}
    assert not words & {"with", "the", "from", "and"}


def test_a_word_is_a_span_only_where_the_lists_can_replace_it() -> None:
    text = "Bees dance to tell others where food is."
    assert {span.text for span in spans_by_rule(text, "en")} == {"others", "is"}
    german = "Robert Koch schrieb den Faust; der erste Teil erschien 1808."
    assert [s.text for s in spans_by_rule(german, "de")] == ["Robert Koch", "erste", "Teil", "1808"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Maria left the room.", ["the room"]),
        ("The government announced the new policy.", ["the new policy"]),
        ("World War II ended in Europe on 8 May 1945.", ["Europe", "8 May 1945"]),
        ("He fought in World War II and met Queen Elizabeth II.", ["World War II", "Queen Elizabeth II"]),
        ("The island covers about 40 square kilometers.", ["about 40 square kilometers"]),
        ("In 1969, Neil Armstrong walked on the Moon.", ["1969", "the Moon"]),
        ("The towers, which stand in Cologne, are 157 metres high.", ["Cologne", "157 metres"]),
        ("It needs water, light and warm air.", ["water", "light", "warm air"]),
    ],
)
def test_english_rules_leave_subjects_alone_and_names_and_quantities_whole(
    text: str, found: list[str]
) -> None:
    assert [span.text for span in spans_by_rule(text, "en", for_rules=False)] == found


def test_rules_touch_no_subject_while_there_is_anything_else() -> None:
    assert [span.text for span in spans_by_rule("Maria left the room.", "en")] == ["the room"]
    assert [span.text for span in spans_by_rule("Maria left.", "en")] == ["Maria"]


def test_half_a_month_and_half_a_preposition_are_no_spans() -> None:
    thai = "คริสเตียน ค้นพบไททันเมื่อวันที่ 25 มีนาคม ค.ศ. 1655 ที่กรุงเฮก"
    found = spans_by_rule(thai, "th")
    assert ("25 มีนาคม ค.ศ. 1655", "date") in {(span.text, span.kind) for span in found}
    assert not any("นาคม" in span.text and span.kind != "date" for span in found)
    hebrew = spans_by_rule("העיר נוסדה ב-25 במרץ 1655 על ידי משפחות ליד יפו.", "he")
    assert "25 במרץ 1655" in {span.text for span in hebrew}
    assert "ידי" not in {span.text for span in hebrew}


ALPHABETS = st.sampled_from(
    [
        "abc ABC 12.,-'\"\n",
        "абв АБВ 34",
        "αβγ ΑΒΓ",
        "ابج ١٢،",
        "אבג 5־",
        "कखग िी 1२",
        "日本語カナひら。3年",
        "กขคาิ่ 9",
        "👩‍👩‍👧 é̂ \u200d\u202e",
        "“”«»[]{}⟦⟧",
    ]
)
ANY_TEXT = ALPHABETS.flatmap(lambda letters: st.text(alphabet=list(letters), max_size=60)) | st.text(
    max_size=60
)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT, st.sampled_from([*TEXTS, "und", "xx"]))
def test_spans_of_any_text(text: str, language: str) -> None:
    spans = spans_by_rule(text, language)
    for span in spans:
        assert text[span.start : span.end] == span.text == span.text.strip()
        assert span.kind in KINDS
        assert regex.search(r"[\p{L}\p{N}]", span.text)
        assert not regex.search(r"[\n\r\p{Zl}\p{Zp}]", span.text)
        assert unicodedata.category(text[span.end : span.end + 1] or " ") not in ("Mn", "Mc", "Me")
    assert all(first.end <= second.start for first, second in pairwise(spans))
    assert spans_by_rule(text, language) == spans


def test_long_and_hostile_texts_take_no_time() -> None:
    for piece in (
        "a ",
        "A",
        "Fanned by. ",
        "Mars is. ",
        "1,",
        "1.1 ",
        '"',
        "“",
        "Aa of ",
        "日",
        "ก",
        "१ ",
        "- ",
        "[",
        "\u0301",
    ):
        text = piece * (6_000 // len(piece))
        started = time.process_time()
        spans_by_rule(text, "en")
        assert time.process_time() - started < 2, piece


def test_the_english_list_is_the_one_of_the_published_filter() -> None:
    words = words_of("en")
    assert len(words) == 326
    assert {"what", "'s", "n't", "whereafter"} <= words
    published = pytest.importorskip("spacy.lang.en.stop_words", reason="spaCy is an extra")
    assert words == published.STOP_WORDS


def test_every_list_is_named_after_its_language_and_lower_case() -> None:
    assert len(languages()) >= 18
    for language in languages():
        assert all(word == word.lower() for word in words_of(language)), language
        assert len(words_of(language)) > 40, language


def test_the_list_is_named_in_words() -> None:
    assert stop_words_for("de-AT")[0] == "de"
    assert stop_words_for("und", TEXTS["de"])[0] == "de (guessed)"
    assert stop_words_for("is")[0] == "none"
    assert stop_words_for("und", "42")[0] == "none"

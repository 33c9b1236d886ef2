"""Which script a text is written in, and when two texts share one."""

import pytest

from core.generation.language import (
    HAN_OR_KANA,
    JAPANESE,
    OTHER,
    is_unspaced,
    main_script,
    may_replace,
    same_script,
    same_text,
    script_of,
    scripts_of,
    zeros_of,
)

TEXTS = {
    "en": ("Latin", "The tower was built in 1889.", "It was completed in Paris."),
    "cs": ("Latin", "Hlavním městem je Praha.", "Ostrava je hlavní město."),
    "uk": ("Cyrillic", "Київ — столиця України.", "Львів стоїть на Полтві."),
    "ar": ("Arabic", "القاهرة هي عاصمة مصر.", "الإسكندرية مدينة كبيرة."),
    "he": ("Hebrew", "ירושלים היא בירת ישראל.", "חיפה היא עיר נמל."),
    "zh": ("Han", "北京是中华人民共和国的首都和政治中心。", "上海是中国最大的城市之一,位于长江口。"),
    "ja": (JAPANESE, "東京は日本の首都です。", "大阪は大きな町だと言われている。"),
    "ko": ("Hangul", "서울은 대한민국의 수도이다.", "부산은 항구 도시이다."),
    "hi": ("Devanagari", "दिल्ली भारत की राजधानी है।", "मुंबई समुद्र के किनारे है।"),
    "th": ("Thai", "กรุงเทพเป็นเมืองหลวง", "เชียงใหม่อยู่ทางเหนือ"),
    "el": ("Greek", "Η Αθήνα είναι πρωτεύουσα.", "Η Πάτρα είναι λιμάνι."),
    "ka": ("Georgian", "თბილისი დედაქალაქია.", "ბათუმი ზღვასთანაა."),
}


@pytest.mark.parametrize("language", TEXTS)
def test_each_language_has_its_script(language: str) -> None:
    script, one, other = TEXTS[language]
    assert script_of(one) == script_of(other) == script
    assert same_script(one, other)


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_of_another_script_is_told(language: str) -> None:
    script, one, _ = TEXTS[language]
    for other_script, text, _ in TEXTS.values():
        assert same_script(one, text) == (other_script == script), text
        assert same_script(one, text) == same_script(text, one)


@pytest.mark.parametrize("numbers", ["1985", "", "–179 °!", "12.5 %", "٣٤"])
def test_without_letters_nothing_can_be_told(numbers: str) -> None:
    assert script_of(numbers.replace("C", "")) is None
    assert same_script(numbers, "Это было в 1985 году.")
    assert same_script("In 1985.", numbers)


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("Компания выпустила систему.", "Компания Microsoft Corporation выпустила Windows XP."),
        ("Компания Microsoft выпустила Windows.", "Фирма Apple выпустила macOS."),
        ("The president is Vladimir Putin.", "The president is Vladimir Putin (Владимир Путин)."),
        ("東京", "大阪です。"),
        ("コーヒー", "紅茶"),
        ("mRNA це молекула.", "DNA це молекула."),
    ],
)
def test_names_in_other_letters_are_tolerated(reference: str, text: str) -> None:
    assert same_script(reference, text)


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("Компания выпустила систему.", "The company released a system в Москве."),
        ("Компания выпустила систему.", "Microsoft Windows"),
        ("Kyiv is the capital.", "Київ — столиця."),
        ("東京は日本の首都です。", "北京是中华人民共和国的首都和政治中心。"),
        ("北京是中华人民共和国的首都和政治中心。", "東京は日本の首都です。"),
    ],
)
def test_a_change_of_language_with_names_in_it_is_seen(reference: str, text: str) -> None:
    assert not same_script(reference, text)


def test_a_long_text_takes_no_time() -> None:
    assert same_script("слово и ещё " * 50_000, "word and more " * 50_000) is False


@pytest.mark.parametrize("language", TEXTS)
def test_han_and_kana_are_one_where_languages_need_not_be_told_apart(language: str) -> None:
    script, one, _ = TEXTS[language]
    expected = HAN_OR_KANA if language in ("zh", "ja") else script
    assert main_script(one) == expected
    assert scripts_of(one) == {expected}
    assert is_unspaced(one) == (language in ("zh", "ja", "th"))


def test_a_few_letters_of_another_script_are_named_too() -> None:
    assert scripts_of("Компания Microsoft") == {"Cyrillic", "Latin"}
    assert main_script("Компания Microsoft в Москве") == "Cyrillic"
    assert scripts_of("ᚠᚢᚦ") == {OTHER}
    assert main_script("コーヒー") == main_script("東京") == HAN_OR_KANA


@pytest.mark.parametrize("text", ["5 µm", "ー", "𝐀", "12.5 %", ""])
def test_signs_of_every_script_have_none(text: str) -> None:
    assert "Greek" not in scripts_of(text)
    assert scripts_of(text) - {"Latin"} == set()
    assert main_script(text) == script_of(text)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Straße", "STRASSE", True),
        ("ＡＢＣ", "abc", True),
        (" in  1655.", "in 1655", True),
        ("“Paris”", "Paris", True),
        ("-5", "5", False),
        ("5 %", "5", False),
        ("C++", "C", False),
        ("é", "e", False),
        ("...", "!", False),
    ],
)
def test_what_a_reader_takes_for_the_same(first: str, second: str, same: bool) -> None:
    assert same_text(first, second) == same_text(second, first) == same


def test_digits_are_known_by_their_zero() -> None:
    assert zeros_of("1985 ١٩٨٥") == {0x30, 0x660}
    assert zeros_of("no number, ½ or ²") == frozenset()


@pytest.mark.parametrize(
    ("old", "new", "may"),
    [
        ("Paris", "Rome", True),
        ("Paris", "PARIS", False),
        ("Paris", "Рим", False),
        ("Paris", "1985", True),
        ("Paris", "??", False),
        ("Paris", " ", False),
        ("Paris", "Rome\nOslo", False),
        ("東京", "コーヒー", True),
    ],
)
def test_what_may_stand_for_a_text(old: str, new: str, may: bool) -> None:
    assert may_replace(old, new) == may

"""Which script a text is written in, and when two texts share one."""

import pytest

from core.generation.script import JAPANESE, same_script, script_of

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

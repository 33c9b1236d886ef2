import random
import subprocess
import sys
import time
from itertools import pairwise
from unittest import mock

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import differences, long_texts
from core.diff import MOST_TOKENS, READABLE, Segment, diff_against, diff_pair, tokenize
from core.diff.names import capitals_show_names, unshared
from core.diff.rows import cut_at_rows, facing_rows
from core.diff.sentences import lines_and_sentences

# Few different tokens, so that alignments have ties; and all of Unicode, so that no character is lost.
PIECES = [
    "a",
    "b",
    "word",
    " ",
    " ",
    "  ",
    "\n",
    "\r\n",
    ".",
    ",",
    "1,5",
    "don't",
    "日",
    "本",
    "ที่",
    "ไ",
    "👩‍🔬",
    "é",
    "e\u0301",
]
PIECES += ["שלום", "كِتاب", "\u202e", "\u0301", "\u200d", "🇩🇪", "\ud800", "\0"]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(
    st.characters(exclude_categories=()), max_size=30
)


def same(text: str) -> Segment:
    return Segment(text, "same")


def added(text: str) -> Segment:
    return Segment(text, "added")


def removed(text: str) -> Segment:
    return Segment(text, "removed")


def joined(segments: tuple[Segment, ...], *kinds: str) -> str:
    return "".join(segment.text for segment in segments if segment.kind in kinds)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("Don't pay 1,234.56.", ["Don't", " ", "pay", " ", "1,234.56", "."]),
        ("it’s well-known!!", ["it’s", " ", "well", "-", "known", "!", "!"]),
        ("'quoted' 3.", ["'", "quoted", "'", " ", "3", "."]),
        ("a \n\n b\r\nc", ["a", " \n\n ", "b", "\r\n", "c"]),
        ("cafe\u0301 naïve", ["cafe\u0301", " ", "naïve"]),
        ("日本語のカー。", ["日", "本", "語", "の", "カ", "ー", "。"]),
        ("か\u3099ABC漢", ["か\u3099", "ABC", "漢"]),
        ("ที่นี่ a", ["ที่", "นี่", " ", "a"]),
        ("ភាសា", ["ភា", "សា"]),
        ("한국어 문장", ["한국어", " ", "문장"]),
        ("हिन्दी में", ["हिन्दी", " ", "में"]),
        ("كِتَابٌ ٣٫٥", ["كِتَابٌ", " ", "٣٫٥"]),
        ("می‌روم", ["می‌روم"]),
        ("👨‍👩‍👧🇩🇪🇫🇷1️⃣", ["👨‍👩‍👧", "🇩🇪", "🇫🇷", "1️⃣"]),
    ],
)
def test_tokenize(text: str, tokens: list[str]):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("base", "text", "segments"),
    [
        ("", "", ()),
        ("Same text.\n", "Same text.\n", (same("Same text.\n"),)),
        ("", "new text", (added("new text"),)),
        ("old text", "", (removed("old text"),)),
        ("one two", "three", (removed("one two"), added("three"))),
        ("The cat sat.", "The dog sat.", (same("The "), removed("cat"), added("dog"), same(" sat."))),
        ("in 1,250 years", "in 1,350 years", (same("in "), removed("1,250"), added("1,350"), same(" years"))),
        (
            "well-known fact",
            "well-liked fact",
            (same("well-"), removed("known"), added("liked"), same(" fact")),
        ),
        # a phrase reworded word by word is one run, spaces included
        (
            "The old cat sat.",
            "The big dog sat.",
            (same("The "), removed("old cat"), added("big dog"), same(" sat.")),
        ),
        # and ends with its last word
        ("fossil fuels like", "biofuels like", (removed("fossil fuels"), added("biofuels"), same(" like"))),
        # a line break between changed words is no single space
        (
            "a b\nc d",
            "a x\ny d",
            (same("a "), removed("b"), added("x"), same("\n"), removed("c"), added("y"), same(" d")),
        ),
        ("one\ntwo", "one two", (same("one"), removed("\n"), added(" "), same("two"))),
        ("two  spaces", "two spaces", (same("two"), removed("  "), added(" "), same("spaces"))),
        ("東京は大きい都市です", "京都は古い都市です", None),
        (
            "私は猫が好きです。",
            "私は犬が好きです。",
            (same("私は"), removed("猫"), added("犬"), same("が好きです。")),
        ),
        ("ฉันรักแมว", "ฉันรักสุนัข", (same("ฉันรัก"), removed("แมว"), added("สุนัข"))),
        ("القط على السرير", "الكلب على السرير", (removed("القط"), added("الكلب"), same(" على السرير"))),
        ("caf\u00e9", "cafe\u0301", (removed("caf\u00e9"), added("cafe\u0301"))),
        ("ok 👩‍🔬", "ok 👨‍🔬", (same("ok "), removed("👩‍🔬"), added("👨‍🔬"))),
    ],
)
def test_diff_against(base: str, text: str, segments: tuple[Segment, ...] | None):
    found = diff_against(base, text)
    assert joined(found, "same", "added") == text
    assert joined(found, "same", "removed") == base
    assert segments is None or found == segments


@pytest.mark.parametrize(
    ("left", "right", "on_left", "on_right"),
    [
        ("", "", (), ()),
        ("same", "same", (same("same"),), (same("same"),)),
        ("", "x", (), (added("x"),)),
        (
            "The old cat sat.",
            "The big dog sat.",
            (same("The "), added("old cat"), same(" sat.")),
            (same("The "), added("big dog"), same(" sat.")),
        ),
        (
            "It is, I think, so.",
            "It is so.",
            (same("It is"), added(", I think,"), same(" so.")),
            (same("It is so."),),
        ),
        (
            "日本の首都は東京です",
            "日本の首都は京都です",
            (same("日本の首都は"), added("東"), same("京です")),
            (same("日本の首都は京"), added("都"), same("です")),
        ),
    ],
)
def test_diff_pair(left: str, right: str, on_left: tuple[Segment, ...], on_right: tuple[Segment, ...]):
    assert diff_pair(left, right) == (on_left, on_right)
    assert diff_pair(right, left) == (on_right, on_left)


@settings(deadline=None, max_examples=300)
@given(texts)
def test_tokens_joined_are_the_text(text: str):
    tokens = tokenize(text)
    assert "".join(tokens) == text
    assert all(tokens)


@settings(deadline=None, max_examples=300)
@given(texts, texts)
def test_against_gives_both_texts_back(base: str, text: str):
    segments = diff_against(base, text)
    assert joined(segments, "same", "added") == text
    assert joined(segments, "same", "removed") == base
    assert all(segment.text for segment in segments)
    kinds = [segment.kind for segment in segments]
    assert all(a != b for a, b in pairwise(kinds))
    assert ("added", "removed") not in pairwise(kinds)


@settings(deadline=None, max_examples=300)
@given(texts, texts)
def test_pair_gives_both_texts_back_and_is_symmetric(left: str, right: str):
    on_left, on_right = diff_pair(left, right)
    assert joined(on_left, "same", "added") == left
    assert joined(on_right, "same", "added") == right
    assert diff_pair(right, left) == (on_right, on_left)
    for side in (on_left, on_right):
        kinds = [segment.kind for segment in side]
        assert "removed" not in kinds
        assert all(segment.text for segment in side)
        assert all(a != b for a, b in pairwise(kinds))


def test_two_insertions_around_a_space_take_nothing_away():
    segments = diff_against("a. b", "a.x y b")
    assert "removed" not in {segment.kind for segment in segments}


def long_text(seed: int, words: int, separator: str) -> list[str]:
    rng = random.Random(seed)
    return [f"w{rng.randrange(300)}{separator if rng.random() < 0.1 else ' '}" for _ in range(words)]


@pytest.mark.parametrize("separator", [". ", "\n", "。", " "])
def test_long_texts_are_aligned_by_sentence_first(separator: str):
    words = long_text(1, 3 * MOST_TOKENS, separator)
    changed = [*words]
    changed[5_000] = "changed "
    del changed[7_000]
    base, text = "".join(words), "".join(changed)
    segments = diff_against(base, text)
    assert joined(segments, "same", "added") == text
    assert joined(segments, "same", "removed") == base
    assert "changed" in joined(segments, "added")
    if separator != " ":
        assert len(joined(segments, "added", "removed")) < 60
    assert diff_pair(text, base) == diff_pair(base, text)[::-1]


def test_long_texts_that_share_nothing():
    base, text = "".join(long_text(1, 6_000, ". ")), "".join(long_text(2, 9_000, "\n")).upper()
    segments = diff_against(base, text)
    assert joined(segments, "same", "added") == text
    assert joined(segments, "same", "removed") == base


MOST_MIB = 200
"""That comparing two texts of 50,000 characters may take, whatever they hold; measured are at most 60."""


@pytest.mark.parametrize("way", ["against", pytest.param("pair", marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", [*long_texts.SHAPES, *long_texts.CHANGED])
def test_long_texts_of_every_shape_come_back_within_the_memory_stated(shape: str, way: str):
    """In a process of its own; that checks both texts. The minute is for a stuck one, no promise of speed."""
    assert long_texts.in_a_process(shape, way, limit=60)["mib"] < MOST_MIB


def test_the_long_texts_are_long_and_differ():
    for shape in (*long_texts.SHAPES, *long_texts.CHANGED):
        one, other = long_texts.texts(shape)
        assert len(one) == len(other) == long_texts.LENGTH == 50_000
        assert (one == other) == (shape == "equal")


@pytest.mark.slow
def test_no_shape_takes_time_by_the_square():
    """What was once slow, four times as long: minutes by the square, two seconds now."""
    program = "import sys; from core.diff import diff_against; diff_against(sys.argv[1] * 60_000, sys.argv[2] * 60_000)"
    for one, other in (("🇩🇪", "🇫🇷"), ("a ", "b "), ("a. ", "b. ")):
        subprocess.run(
            [sys.executable, "-c", program, one, other], check=True, timeout=60, cwd=long_texts.ROOT
        )


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(["🇩", "🇪", "\u0301", "\u200d", "a", "\u0600", "😀", "ा", "日"])).map("".join))
def test_flags_are_cut_as_unicode_has_it(text: str):
    cut = [token for token in tokenize(text) if "🇩" in token or "🇪" in token]
    assert cut == [found for found in regex.findall(r"\X", text) if "🇩" in found or "🇪" in found]


@settings(deadline=None, max_examples=200)
@given(texts, texts)
def test_sentences_and_windows_lose_nothing(base: str, text: str):
    with mock.patch("core.diff.MOST_TOKENS", 3):
        segments = diff_against(base, text)
        assert diff_pair(text, base) == diff_pair(base, text)[::-1]
    assert joined(segments, "same", "added") == text
    assert joined(segments, "same", "removed") == base
    assert all(a.kind != b.kind for a, b in pairwise(segments))


@pytest.mark.parametrize(
    ("base", "text", "segments"),
    [
        # one or two unchanged words between two changes are part of one change
        (
            "between Nepal and China.",
            "between India and Pakistan.",
            (same("between "), removed("Nepal and China"), added("India and Pakistan"), same(".")),
        ),
        # three are not
        (
            "Nepal, as well as China",
            "India, as well as Pakistan",
            (
                *(removed("Nepal"), added("India"), same(", as well as ")),
                *(removed("China"), added("Pakistan")),
            ),
        ),
        # nor is what lies between two sentences or lines
        ("It is red. A cat", "It is old. The cat", None),
        (
            "is red. Cats",
            "is old. Dogs",
            (same("is "), removed("red"), added("old"), same(". "), removed("Cats"), added("Dogs")),
        ),
        ("a\nb", "x\ny", (removed("a"), added("x"), same("\n"), removed("b"), added("y"))),
        # four characters of a script without spaces are two words
        ("東一二三四京", "西一二三四都", (removed("東一二三四京"), added("西一二三四都"))),
    ],
)
def test_islands_are_part_of_the_change(base: str, text: str, segments: tuple[Segment, ...] | None):
    found = diff_against(base, text, islands=READABLE)
    assert joined(found, "same", "added") == text
    assert joined(found, "same", "removed") == base
    assert segments is None or found == segments


@settings(deadline=None, max_examples=300)
@given(texts, texts)
def test_without_islands_both_texts_come_back_and_sides_are_symmetric(base: str, text: str):
    found = diff_against(base, text, islands=READABLE)
    assert joined(found, "same", "added") == text
    assert joined(found, "same", "removed") == base
    left, right = diff_pair(base, text, islands=READABLE)
    assert (joined(left, "same", "added"), joined(right, "same", "added")) == (base, text)
    assert diff_pair(text, base, islands=READABLE) == (right, left)


@pytest.mark.parametrize("level", ["A0", "A1", "A2", "A3", "A4"])
def test_what_a_rater_sees_marked_on_the_demo(level: str):
    found = differences.default(level)
    assert found.islands < differences.MOST_ISLANDS
    assert level != "A0" or found.share <= differences.MOST_MARKED


@pytest.mark.parametrize(
    ("base", "text", "language", "marked", "missing"),
    [
        (
            "Built in 1887 by Eiffel.",
            "Made in 1889 by Gustave Eiffel.",
            "en",
            ["1889", "Gustave"],
            ("1887",),
        ),
        ("The Moon of Saturn", "Saturn's moon, the largest", "en", [], ()),
        ("They met in Paris.", "London saw them in Paris.", "en", [], ()),  # a capital of its place
        ("They met.", "NASA met them; so did mRNA.", "en", ["NASA", "mRNA"], ()),
        ("It lies at -179 °C.", "It lies at 179 °C, or \u2212179 °C.", "en", ["179"], ()),
        ("from 1887-1889", "from 1887–1889", "en", [], ()),
        ("I said so.", "So I said; and I'm here.", "en", [], ()),
        ("by him in 12 days", "by Ferdinand Maria in 13 days", "en", ["Ferdinand Maria", "13"], ("12",)),
        ("Der Turm hat 533 Stufen.", "Im Turm hat die Treppe 534 Stufen.", "de", ["534"], ("533",)),
        ("在1964年开业。", "于1965年在北京开业。", "zh", ["1965"], ("1964",)),
        ("開業は１９６４年。", "1964年に開業した。", "ja", [], ()),
        ("بين 1887 و1889", "بين ١٨٨٧ و١٨٩٠", "ar", ["و١٨٩٠"], ("و1889",)),
        ("٣٫٥ متر", "3.5 متر", "ar", [], ()),
        ("สูง 330 เมตร", "สูง ๓๑๐ เมตร", "th", ["๓๑๐"], ("330",)),
        (
            "EVERY WORD OF A TEXT IN CAPITALS IS SO",
            "EACH WORD OF THE TEXT IN CAPITALS IS SO 9",
            "en",
            ["9"],
            (),
        ),
        ("", "", "und", [], ()),
    ],
)
def test_numbers_and_names_that_the_base_lacks(
    base: str, text: str, language: str, marked: list[str], missing: tuple[str, ...]
):
    found = unshared(base, text, language)
    assert joined(found.segments, "same", "added") == text
    assert [segment.text for segment in found.segments if segment.kind == "added"] == marked
    assert found.missing == missing


@pytest.mark.parametrize(
    ("language", "text", "shown"),
    [
        ("en", "The tower in Paris is old.", True),
        ("de-AT", "Der Turm in Paris ist alt.", False),
        ("ja", "東京は日本の首都です。", False),
        ("ar", "باريس عاصمة فرنسا", False),
        ("ru", "Башня в Париже стара.", True),
    ],
)
def test_where_capitals_show_names(language: str, text: str, shown: bool):
    assert capitals_show_names(language, text) == shown


@settings(deadline=None, max_examples=300)
@given(texts, texts)
def test_numbers_and_names_lose_nothing(base: str, text: str):
    assert joined(unshared(base, text, "und").segments, "same", "added") == text
    assert unshared(text, text, "und").segments in ((same(text),), ())
    assert unshared(text, text, "und").missing == ()


def test_sentences_that_say_the_same_face_each_other():
    left = "Titan is large. Huygens discovered it in 1655. It has lakes of methane."
    right = "In 1655 it was discovered by Huygens. Lakes of methane are found there. A probe landed."
    assert facing_rows(left, right) == [
        ("Titan is large. ", ""),
        ("Huygens discovered it in 1655. ", "In 1655 it was discovered by Huygens. "),
        ("It has lakes of methane.", "Lakes of methane are found there. A probe landed."),
    ]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. Two!\n\nThree", ["One. ", "Two!\n\n", "Three"]),
        ("Dr. J. Smith of the U.S. Navy.", ["Dr. J. Smith of the U.S. Navy."]),
        ("Am 15. August 1248. Dann", ["Am 15. August 1248. ", "Dann"]),
        ("一。二！三", ["一。", "二！", "三"]),
        ("", []),
    ],
)
def test_lines_and_sentences(text: str, pieces: list[str]):
    assert lines_and_sentences(text) == pieces


@settings(deadline=None, max_examples=300)
@given(texts, texts)
def test_rows_lose_nothing_and_swap_with_the_texts(left: str, right: str):
    rows = facing_rows(left, right)
    assert ("".join(one for one, _ in rows), "".join(other for _, other in rows)) == (left, right)
    assert [(other, one) for one, other in facing_rows(right, left)] == rows
    cut = cut_at_rows(diff_against(left, right, islands=READABLE), [other for _, other in rows])
    assert [joined(row, "same", "added") for row in cut] == [other for _, other in rows]
    assert "".join(joined(row, "same", "removed") for row in cut) == left


@pytest.mark.slow
def test_rows_of_long_texts_take_no_time_by_the_square():
    """50,000 tokens of sentences, of short lines and of closing marks: minutes by the square. A limit for a stuck one."""
    prose = "".join(long_text(1, 50_000, ". ")).replace("w", "W")
    for text in (prose, "a\n" * 25_000, ")" * 50_000):
        started = time.process_time()
        rows = facing_rows(text, text[:-7])
        unshared(text, text[:-7], "en")
        assert time.process_time() - started < 30
        assert "".join(one for one, _ in rows) == text

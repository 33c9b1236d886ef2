import random
import subprocess
import sys
from itertools import pairwise
from unittest import mock

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import long_texts
from core.diff import MOST_TOKENS, Segment, diff_against, diff_pair, tokenize

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


@pytest.mark.parametrize("way", ["against", "pair"])
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

import asyncio
import random
from dataclasses import replace
from itertools import pairwise
from statistics import mean

import pytest
from generation.rules_texts import SENTENCES, demo_materials, material
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from core.diff.sentences import sentences
from core.generation.damage import DAMAGE_LEVELS, Damaged, RuleDamage, check_damage
from core.generation.facts import make_pool
from core.generation.language import count_words
from core.generation.operators import fits_length
from core.generation.scheme import Task
from core.llm.asking import Answer
from core.schema.study import Material

TASKS: tuple[Task, ...] = ("qa", "qa-passage", "summary", "translation")


def levels(materials: list[Material], task: Task = "qa", seed: int = 0) -> dict[str, list[Answer[Damaged]]]:
    steps = RuleDamage(make_pool(materials), task, seed)
    return {
        m.item.item_id: [asyncio.run(steps.damage(m, level)) for level in DAMAGE_LEVELS] for m in materials
    }


def texts(answers: list[Answer[Damaged]]) -> list[str | None]:
    return [answer.value.text if answer.value else None for answer in answers]


@pytest.mark.parametrize("task", TASKS)
def test_every_demo_item_has_six_different_levels_that_pass_the_checks(task):
    for m in demo_materials():
        made = [asyncio.run(_demo_steps(task).damage(m, level)) for level in DAMAGE_LEVELS]
        found = texts(made)
        assert None not in found, (m.item.item_id, [answer.reason for answer in made])
        assert len(set(found)) == 6
        for level, text in enumerate(found):
            assert text is not None
            assert check_damage(m, level, text, task) is None, (level, text)
            if task == "summary":
                assert fits_length(m.item.reference, text)


_STEPS: dict[str, RuleDamage] = {}


def _demo_steps(task: Task) -> RuleDamage:
    if task not in _STEPS:
        _STEPS[task] = RuleDamage(make_pool(demo_materials()), task)
    return _STEPS[task]


@pytest.mark.parametrize("task", ["qa", "summary", "translation"])
def test_similarity_to_the_reference_falls_with_the_level(task):
    sacrebleu = pytest.importorskip("sacrebleu")
    found = {
        m: [asyncio.run(_demo_steps(task).damage(m, n)) for n in DAMAGE_LEVELS] for m in demo_materials()
    }
    for measure in (fuzz.ratio, lambda a, b: sacrebleu.sentence_chrf(a, [b]).score):
        columns = [
            mean(measure(a.value.text, m.item.reference) for m, row in found.items() if (a := row[n]).value)
            for n in DAMAGE_LEVELS
        ]
        assert all(a > b for a, b in pairwise(columns)), columns


def test_level_0_says_where_it_is_from():
    for m in demo_materials():  # a person's paraphrase may leave a number out
        zero = asyncio.run(_demo_steps("qa").damage(m, 0)).value
        assert zero == Damaged(m.paraphrase or "", "paraphrase"), m.item.item_id
    plain = asyncio.run(_demo_steps("qa").damage(replace(m, paraphrase=None), 0)).value
    assert plain == Damaged(m.item.reference, "verbatim")


def test_a_paraphrase_that_is_too_long_is_no_summary():
    m = demo_materials()[0]
    long = replace(m, paraphrase=f"{m.paraphrase} {m.paraphrase}")
    zero = asyncio.run(_demo_steps("summary").damage(long, 0)).value
    assert zero == Damaged(m.item.reference, "verbatim")


def test_level_5_is_another_answer_of_the_same_language():
    answers = {m.item.reference: m.item for m in demo_materials()}
    for m in demo_materials()[:11]:
        five = asyncio.run(_demo_steps("qa").damage(m, 5)).value
        assert five is not None
        assert five.how == "another item's answer"
        assert answers[five.text].language == m.item.language
        assert answers[five.text].item_id != m.item.item_id


def test_without_another_answer_level_5_says_so():
    german = next(m for m in demo_materials() if m.item.language == "de")
    five = asyncio.run(_demo_steps("qa").damage(german, 5)).value
    assert five is not None
    assert five.how.startswith("no other answer in this language + ")


def test_one_word_answers():
    found = levels(
        [
            material("a", "Paris", "en", "What is the capital of France?"),
            material("b", "six", "en", "How many legs has an insect?"),
            material("c", "Berlin", "en", "Where is the Reichstag?"),
        ]
    )
    zero, one, two, three, four, five = found["a"]
    assert zero.value == Damaged("Paris", "verbatim")
    assert one.value is not None
    assert (two.value, two.reason) == (None, "nothing to leave out")
    assert three.value is not None
    assert three.value.how == "city swapped"
    assert four.value is not None
    assert five.value is not None
    assert len({*texts(found["a"])} - {None}) == 5
    assert texts(found["b"])[1] == "about six"


def test_what_cannot_be_made_has_a_reason_and_a_sentence():
    alone = levels([material("x", "Hmpf", "tlh")])["x"]
    missing = [answer for answer in alone if answer.value is None]
    assert missing
    assert all(answer.reason and answer.detail for answer in missing)
    assert not any(answer.temporary for answer in missing)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_long_texts(task):
    long = " ".join(m.item.reference for m in demo_materials()[:11])
    long = f"{long} {long}"
    whole = [*demo_materials(), material("long", long, "en", "What happened?")]
    steps = RuleDamage(make_pool(whole), task)
    found = [asyncio.run(steps.damage(whole[-1], level)) for level in DAMAGE_LEVELS]
    assert count_words(long) > 500
    assert None not in texts(found), [answer.reason for answer in found]
    for level, text in enumerate(texts(found)):
        assert check_damage(whole[-1], level, text or "", task) is None


def test_levels_do_not_depend_on_the_file_s_order():
    shuffled = demo_materials()
    random.Random(3).shuffle(shuffled)
    few = [m for m in shuffled if m.item.item_id in ("d01", "d12", "d13", "d14")]
    steps = RuleDamage(make_pool(shuffled))
    for m in few:
        for level in reversed(DAMAGE_LEVELS):
            assert asyncio.run(steps.damage(m, level)) == asyncio.run(_demo_steps("qa").damage(m, level))
    other = RuleDamage(make_pool(shuffled), seed=1)
    assert asyncio.run(other.damage(few[0], 4)) != asyncio.run(steps.damage(few[0], 4))


def test_sentences_are_not_cut_at_abbreviations_and_ordinals():
    text = "Am 15. August 1248 begann St. Peter. Es dauerte bis 1880. Dr. Best kam. Fertig!"
    assert [s.strip() for s in sentences(text)] == [
        "Am 15. August 1248 begann St. Peter.",
        "Es dauerte bis 1880.",
        "Dr. Best kam.",
        "Fertig!",
    ]
    assert sentences("東京。大阪。") == ["東京。", "大阪。"]
    assert "".join(sentences(text)) == text


REFERENCES = st.one_of(
    st.lists(st.sampled_from(sorted(SENTENCES.values())), min_size=1, max_size=3).map(" ".join),
    st.lists(
        st.sampled_from([w for t in SENTENCES.values() for w in t.split()]), min_size=1, max_size=12
    ).map(" ".join),
    st.text(
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn")), min_size=1, max_size=40
    ),
).filter(lambda text: any(char.isalnum() for char in text))
OTHERS = [material(f"o{n}", text, language) for n, (language, text) in enumerate(sorted(SENTENCES.items()))]
POOL = make_pool(OTHERS)


@settings(max_examples=150, deadline=None)
@given(
    REFERENCES,
    st.sampled_from([*sorted(SENTENCES), "und"]),
    st.sampled_from(TASKS),
    st.sampled_from([1, 2, 3, 4, 5]),
)
def test_any_text_at_any_level_passes_the_checks_or_has_a_reason(reference, language, task, level):
    m = material("item", reference, language)
    answer = asyncio.run(RuleDamage(POOL, task).damage(m, level))
    assert answer == asyncio.run(RuleDamage(POOL, task).damage(m, level))
    if answer.value is None:
        assert answer.reason
        assert answer.detail
    else:
        assert check_damage(m, level, answer.value.text, task) is None
        assert answer.value.text != reference

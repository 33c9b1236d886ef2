"""Examples of a specialist judge on small files, each expectation worked out by hand."""

from collections import Counter
from dataclasses import replace
from itertools import chain, product
from typing import Any

import numpy as np
import pytest

from core.judges.rated import ExamplePool, ShownExample
from core.schema.scores import ErrorSpan, RatedText, Rating, ScorableOutput
from core.schema.study import Dimension

OVERALL = Dimension("overall", "Overall", "How good?", 0, 100, 0)
VARIANTS = ("specialist", "shuffled", "fixed")


def span(start: int, end: int, severity: str = "minor", **fields: Any) -> ErrorSpan:
    return ErrorSpan(start, end, severity, fields.pop("category", "fluency/grammar"), **fields)


def rating(item: str, system: str, *spans: ErrorSpan, rater: str | None = None) -> Rating:
    return Rating(item, -float(len(spans)), system, rater=rater, spans=spans)


def text(
    item: str, system: str, *spans: ErrorSpan, words: str = "", rater: str | None = None, **fields: Any
) -> RatedText:
    output = ScorableOutput(item, system, words or f"{item} by {system}", source=f"source {item}", **fields)
    return RatedText(output, (rating(item, system, *spans, rater=rater),))


def grid(items: str, systems: str, rater_of: dict[str, str] | None = None) -> list[RatedText]:
    """Every system's text of every item, with one error on its first character."""
    raters = rater_of or {}
    return [
        text(item, system, span(0, 1), rater=raters.get(item)) for item, system in product(items, systems)
    ]


def shown(pool: ExamplePool, one: RatedText, variant: str = "specialist", **asked: Any) -> list[str]:
    """Examples as `item system`."""
    return [f"{e.output.item_id} {e.output.system}" for e in examples(pool, one, variant, **asked)]


def examples(
    pool: ExamplePool, one: RatedText, variant: str = "specialist", **asked: Any
) -> tuple[ShownExample, ...]:
    return pool.examples_for(one, variant=variant, **asked)  # type: ignore[arg-type]


def test_a_specialist_is_shown_the_other_systems_texts_of_the_same_source() -> None:
    texts = grid("pq", "ABC")
    pool = ExamplePool(texts)
    assert shown(pool, texts[0]) == ["p B", "p C"]
    assert shown(pool, texts[4]) == ["q A", "q C"]
    assert examples(pool, texts[0], "none") == ()
    first = examples(pool, texts[0])[0]
    assert first.errors == (("p", span(0, 1)),)
    assert (first.used.item_id, first.used.system, first.used.rater, first.used.n_errors) == (
        "p",
        "B",
        None,
        1,
    )


def test_names_that_nobody_could_tell_apart_are_one_system() -> None:
    """Case, full-width letters, an accent of its own, an invisible mark: none of it makes another system."""
    alike = ["Modèle-4", "modèle-4", "Mode\u0300le-4", "Ｍodèle-4", "Modèle\u200b-4"]
    texts = [text(item, system, span(0, 1)) for item in "pqr" for system in [*alike, "B", "C"]]
    pool = ExamplePool(texts)
    for one, variant in product(texts[:5], VARIANTS):
        found = examples(pool, one, variant)
        assert len(found) == 2
        assert {e.output.system for e in found} <= {"B", "C"}
    (note,) = pool.notes("specialist")
    assert note.startswith(f"{', '.join(alike)} count as one system")


def test_blanks_make_no_other_source_and_case_no_other_language() -> None:
    sources, languages = (" a  dog\r\n", "a dog"), ("de-AT", "de-at")
    first, second = (
        RatedText(replace(one.output, source=source, language=language), one.ratings)
        for one, source, language in zip(grid("p", "AB"), sources, languages, strict=True)
    )
    pool = ExamplePool([first, second])
    assert shown(pool, first) == ["p B"]
    assert shown(pool, second) == ["p A"]


def test_a_system_is_held_out_at_every_level() -> None:
    levels = [text("p", "A", level=level, words=f"level {level}") for level in ("0", "3")]
    pool = ExamplePool([*levels, text("p", "B", level="0"), text("p", "B", level="3")])
    for variant in VARIANTS[:2]:
        assert shown(pool, levels[0], variant).count("p B") == 2
        assert shown(pool, levels[1], variant).count("p B") == 2


def test_an_id_in_two_languages_or_of_two_sources_is_two_items() -> None:
    german = [text("1", system, language="de") for system in "AB"]
    french = [text("1", system, language="fr") for system in "AB"]
    other = [RatedText(replace(t.output, source="another"), t.ratings) for t in german]
    pool = ExamplePool([*german, *french, *other])
    (example,) = examples(pool, german[0])
    assert (example.output.language, example.output.source) == ("de", "source 1")
    for variant in VARIANTS:
        assert {e.output.language for e in examples(pool, french[0], variant)} <= {"fr"}
    assert examples(pool, german[0], "fixed") == (), "the same id is no other item"


def test_texts_without_such_ratings_and_references_are_no_examples() -> None:
    unrated = RatedText(ScorableOutput("p", "B", "unrated", source="source p"))
    scored = RatedText(replace(unrated.output, system="C"), (Rating("p", 80, "C"),))
    texts = [text("p", "A"), unrated, scored, text("p", "refA"), text("p", "D")]
    pool = ExamplePool(texts)
    assert shown(pool, texts[0]) == ["p D"]
    assert shown(pool, unrated) == ["p A", "p D"]
    assert pool.notes("specialist") == ("references are not used as examples: refA",)
    assert shown(ExamplePool(texts, dimension=OVERALL), texts[0]) == ["p C"]


def test_shuffled_deals_out_the_same_examples_anew() -> None:
    """Over all texts of a system the same set as the specialist's, in the same numbers a text; not the same places."""
    texts = grid("pqrstu", "ABCD")[:-1]  # system D lacks item u
    pool = ExamplePool(texts)
    moved = 0
    for system in "ABCD":
        own = [one for one in texts if one.output.system == system]
        specialist = [shown(pool, one) for one in own]
        dealt = [shown(pool, one, "shuffled", seed=3) for one in own]
        assert [len(one) for one in dealt] == [len(one) for one in specialist]
        if system != "D":
            assert Counter(chain(*dealt)) == Counter(chain(*specialist))
        moved += sum(a != b for a, b in zip(dealt, specialist, strict=True))
    assert moved > 15
    assert [shown(pool, one, "shuffled", seed=3) for one in texts] != [
        shown(pool, one, "shuffled", seed=4) for one in texts
    ]


def test_fixed_takes_one_other_source_of_the_same_rater() -> None:
    rater_of = {"p": "one", "q": "one", "r": "one", "s": "two", "t": "two"}
    texts = grid("pqrst", "ABC", rater_of)
    pool = ExamplePool(texts)
    for seed in range(5):
        donors = {}
        for one in texts:
            found = examples(pool, one, "fixed", seed=seed)
            (donor,) = {e.output.item_id for e in found}
            assert donor != one.output.item_id
            assert rater_of[donor] == rater_of[one.output.item_id]
            assert {e.used.rater for e in found} == {rater_of[donor]}
            assert len(found) == 2
            donors[one.output.item_id] = donor
        assert sorted(donors.values()) == sorted(donors), "every item gives once: a derangement"
    assert pool.notes("fixed") == ()
    drawn = {tuple(shown(pool, texts[0], "fixed", seed=seed)) for seed in range(20)}
    assert drawn == {("q B", "q C"), ("r B", "r C")}


def test_fixed_says_what_it_could_not_keep_to() -> None:
    texts = grid("pqr", "ABC")
    assert ExamplePool(texts).notes("fixed") == (
        "the ratings name no rater: the other source may have been rated by someone else",
    )
    alone = grid("pqr", "ABC", {"p": "one", "q": "two", "r": "two"})
    pool = ExamplePool(alone)
    assert len(shown(pool, alone[0], "fixed")) == 2
    assert pool.notes("fixed") == (
        "no other source was rated by the same people, so its raters differ: 3 of 9 texts",
    )
    short = grid("p", "ABCDE") + grid("q", "AB")
    assert shown(ExamplePool(short), short[0], "fixed") == ["q B"]
    note = "no other source has enough examples, so fewer are shown: 5 of 7 texts"
    assert ExamplePool(short).notes("fixed")[1:] == (note,)
    long = shown(ExamplePool(short), short[-1], "fixed")
    assert len(long) == 1, "as many as the specialist has for this text"
    single = grid("p", "ABC")
    assert shown(ExamplePool(single), single[0], "fixed") == []
    assert ExamplePool(single).notes("fixed")[1] == "there is no other source: 3 of 3 texts"


@pytest.mark.parametrize("variant", VARIANTS)
def test_smaller_sets_lie_in_larger_ones(variant: str) -> None:
    texts = grid("pqr", "ABCDEF")
    pool = ExamplePool(texts)
    chosen = set()
    for one in texts:
        everything = shown(pool, one, variant, seed=1)
        smaller: list[str] = []
        for k in range(1, 7):
            some = shown(pool, one, variant, n_examples=k, seed=1)
            assert len(some) == min(k, 5)
            assert not Counter(smaller) - Counter(some)
            assert [e for e in everything if e in some] == some, "in the order that all have"
            smaller = some
            chosen |= {tuple(some)} if k == 1 and one is texts[0] else set()
        assert smaller == everything
    seeds = {tuple(shown(pool, texts[0], variant, n_examples=1, seed=s)) for s in range(30)}
    assert len(seeds) > 3, "another seed draws others"


def test_the_filter_removes_the_text_itself_and_errors_on_words_marked_in_it() -> None:
    judged = text("p", "A", span(4, 7, "major"), words="The cat sat.")
    twin = text("p", "B", span(4, 7), words="The cat sat.")
    other = text("p", "C", span(2, 5), span(6, 9), span(0, 1, in_source=True), words="A cat has.")
    pool = ExamplePool([judged, twin, other])
    assert [e.errors for e in examples(pool, judged)] == [
        (("cat", span(4, 7)),),
        (("cat", span(2, 5)), ("has", span(6, 9))),
    ]
    (left,) = examples(pool, judged, filtered=True)
    assert left.errors == (("has", span(6, 9)),)
    assert left.used.n_errors == 1
    assert examples(pool, judged, filtered=True, n_examples=1) == (left,), "filtered first, then counted"


def test_raters_apart_and_merged() -> None:
    """Two raters mark the same error alike, one more each, and one of them marks an error twice."""
    same, first, second = span(0, 1), span(2, 3, "major"), span(2, 3, "minor")
    output = ScorableOutput("p", "B", "a b c", source="s")
    both = RatedText(
        output,
        (
            rating("p", "B", first, same, same, rater="one"),
            rating("p", "B", same, second, rater="two"),
        ),
    )
    judged = text("p", "A", rater="two")
    judged = RatedText(replace(judged.output, source="s"), judged.ratings)
    pool = ExamplePool([judged, both])
    assert pool.raters == ("two", "one")

    def errors(rater: str) -> tuple[list[ErrorSpan], str | None]:
        (example,) = examples(pool, judged, rater=rater)
        return [one for _, one in example.errors], example.used.rater

    assert errors("one") == ([same, same, first], "one")
    assert errors("two") == ([same, second], "two")
    assert errors("") == ([same, same, first, second], None)
    assert examples(pool, judged, rater="three") == ()
    assert (pool.n_texts(), pool.n_texts("one"), pool.n_texts("three")) == (2, 1, 0)


def test_scores_are_the_raters_mean_and_lie_on_the_scale() -> None:
    def scored(system: str, *ratings: Rating) -> RatedText:
        return RatedText(ScorableOutput("p", system, "x", source="s"), ratings)

    texts = [
        scored("A", Rating("p", 50, rater="one"), Rating("p", 75, rater="two")),
        scored("B", Rating("p", 101)),
        scored("C", Rating("p", 90, dimension="style")),
        scored("D", rating("p", "D")),
        scored("E", Rating("p", 85, spans=(span(0, 1),))),
        scored("F"),
    ]
    pool = ExamplePool(texts, dimension=OVERALL)
    assert [(e.output.system, e.score, e.used.n_errors) for e in examples(pool, texts[-1])] == [
        ("A", 62.5, 0),
        ("E", 85, 0),
    ], "neither off the scale, nor of another dimension, nor minus the weights of errors"
    (one,) = examples(pool, texts[-1], rater="two")
    assert (one.score, one.used.rater) == (75, "two")
    deductions = Dimension("overall", "MQM", "Minus the weights.", -25, 0, 0)
    assert [e.output.system for e in examples(ExamplePool(texts, dimension=deductions), texts[-1])] == ["D"]


def test_draws_do_not_depend_on_what_was_asked_before() -> None:
    texts = grid("pqrst", "ABCD")
    asked = [(one, variant, seed) for one in texts for variant in VARIANTS for seed in (0, 1)]

    def drawn(order: list[int]) -> dict[int, list[str]]:
        pool = ExamplePool(texts)
        return {
            n: shown(pool, one, variant, n_examples=2, seed=seed)
            for n in order
            for one, variant, seed in [asked[n]]
        }

    forwards = list(range(len(asked)))
    mixed = list(np.random.default_rng(0).permutation(len(asked)))
    assert drawn(forwards) == drawn(mixed)

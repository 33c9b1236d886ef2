"""Replacements, splicing and the check that nothing else changed."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.generation.factual import perturb
from core.generation.factual.steps import (
    Edit,
    EditTask,
    FactualSettings,
    FactualTrace,
    edits_problem,
    fixed_text,
    gap_contents,
    splice,
)
from core.generation.language import scripts_of
from core.generation.parse import Span
from core.generation.replacing import replacement_problem
from core.llm.asking import Answer
from core.schema.study import Item, Material

TEXTS = {
    "en": "The Danube rises in Germany and passes ten countries, 2,850 kilometres long, to the Black Sea in 1991.",
    "de": "Der Grundstein wurde am 15. August 1248 von Konrad von Hochstaden in Köln am Rhein gelegt, 157 Meter.",
    "ru": "Река Волга впадает в Каспийское море, её длина составляет примерно 3530 километров с 1991 года.",
    "el": "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και έχει 3 εκατομμύρια κατοίκους από το 1834.",
    "ar": "القاهرة عاصمة مصر وأكبر مدنها، يبلغ عدد سكانها حوالي ١٠ ملايين نسمة وتأسست عام ٩٦٩.",
    "he": "ירושלים היא עיר הבירה של מדינת ישראל ובה 950 אלף תושבים משנת 1950.",
    "hi": "गंगा भारत की सबसे लंबी नदी है और इसकी लंबाई लगभग 2525 किलोमीटर है।",
    "ja": "富士山は静岡県と山梨県にまたがり、標高は3776メートルです。コーヒーが有名である。",
    "zh": "北京是中华人民共和国的首都，位于华北平原的北部，人口约2189万人。",
    "th": "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทยและมีประชากรประมาณ 10 ล้านคน",
}


class Doubling:
    """Steps that rank by place and write every span twice: changed, of the same script, and easy to tell."""

    backend = "rules"
    prompts = None

    async def paraphrase(self, material: Material) -> None:
        return None

    async def rank(
        self, material: Material, text: str, spans: Sequence[Span], candidates: Sequence[int]
    ) -> Answer[tuple[int, ...]]:
        return Answer(tuple(candidates))

    async def edit(
        self, material: Material, tasks: Sequence[EditTask]
    ) -> Answer[tuple[tuple[Edit, ...], ...]]:
        made = []
        for task in tasks:
            old = {number: task.text[slice(*task.places[number])] for number in task.group}
            made.append(tuple(Edit(number, text, text + text, "twice") for number, text in old.items()))
        return Answer(tuple(made))


def run(language: str, text: str, question: str = "?", **chosen: object) -> FactualTrace:
    material = Material(Item(f"item {language}", question, text, language))
    chosen.setdefault("parser", "rules")
    return asyncio.run(perturb(material, Doubling(), FactualSettings(**chosen)))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(TEXTS)),
    st.integers(1, 6),
    st.integers(1, 100),
    st.integers(0, 99),
    st.sampled_from(["paper", "trutheval"]),
    st.sampled_from(["each", "shared"]),
)
def test_levels_are_nested_and_only_the_group_changes(
    language: str, n_levels: int, percent: int, seed: int, order: str, calls: str
) -> None:
    chosen = {
        "n_levels": n_levels,
        "keep": percent / 100,
        "seed": seed,
        "filter_order": order,
        "edit_calls": calls,
    }
    trace = run(language, TEXTS[language], **chosen)
    assert trace.failed_step is None
    assert trace == run(language, TEXTS[language], **chosen), "the same seed gives the same"
    assert [level.name for level in trace.levels] == [f"A{n}" for n in range(n_levels + 1)]
    done: set[int] = set()
    for level in trace.levels:
        assert not done & set(level.group)
        done |= set(level.group)
        expected, end = "", 0
        for number, span in enumerate(trace.spans):
            expected += trace.levels[0].text[end : span.start] + span.text * (2 if number in done else 1)
            end = span.end
        assert level.text == expected + trace.levels[0].text[end:]
        assert scripts_of(level.text) == scripts_of(TEXTS[language])
    assert done == set(trace.kept)
    assert {entry.span for entry in trace.dropped} | done == set(range(len(trace.spans)))
    assert len(trace.levels) == n_levels + 1
    assert bool(trace.notes[1:]) == any(not group for group in trace.groups)


@given(st.text(max_size=80), st.data())
def test_splice_changes_what_it_is_told_and_nothing_else(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    places = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    numbers = data.draw(st.sets(st.sampled_from(range(len(places))))) if places else set()
    edits = [Edit(number, "", data.draw(st.text(max_size=6)), "test") for number in numbers]
    after, moved = splice(text, places, edits)
    assert fixed_text(after, moved) == fixed_text(text, places)
    new = {edit.span: edit.new for edit in edits}
    for number, (start, end) in enumerate(places):
        assert after[slice(*moved[number])] == new.get(number, text[start:end])


@given(
    st.lists(st.text(min_size=1, max_size=4), max_size=5),
    st.lists(st.text(max_size=3), min_size=6, max_size=6),
)
def test_what_stands_between_pieces_puts_the_text_together_again(gaps: list[str], pieces: list[str]) -> None:
    pieces = pieces[: len(gaps) + 1]
    text = pieces[0] + "".join(gap + piece for gap, piece in zip(gaps, pieces[1:], strict=True))
    found = gap_contents(pieces, text)
    assert found is not None
    assert pieces[0] + "".join(gap + piece for gap, piece in zip(found, pieces[1:], strict=True)) == text
    assert all(found)


def test_what_stands_between_pieces_is_none_where_a_piece_is_lost() -> None:
    assert gap_contents(["The ", " is ", "."], "The sky is red.") == ("sky", "red")
    assert gap_contents(["The ", " is ", "."], "The sky was red.") is None
    assert gap_contents(["The ", " is ", "."], "A sky is red.") is None
    assert gap_contents(["The ", " is ", "."], "The sky is .") is None
    assert gap_contents(["same"], "same") == ()


TEXT = "Это спутниковая система GPS, 1990 год, the coal."


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("coal", "oil", None),
        ("coal", "Coal", "span unchanged"),
        ("coal", " ｃｏａｌ", "broken character"),
        ("coal", "ｃｏａｌ.", "span unchanged"),
        ("-5", "5", None),
        ("5.0", "50", None),
        ("coal", "", "blank"),
        ("coal", "\u200b", "control character"),
        ("coal", "o\nil", "line break"),
        ("coal", "o\u2028il", "line break"),
        ("coal", "\u202elio", "control character"),
        ("coal", "o\x00il", "control character"),
        ("coal", "⟦3: oil⟧", "marks left in"),
        ("coal", "{{oil}}", "marks left in"),
        ("coal", "[oil]", "marks left in"),
        ("coal [sic]", "oil [sic]", None),
        ("coal", "\u0301oil", "broken character"),
        ("coal", "o" * 57, "too long"),
        ("coal", "o" * 56, None),
        ("GPS", "ГЛОНАСС", None),
        ("год", "year", "script changed"),
        ("1990", "١٩٩٠", "script changed"),
        ("coal", "石炭", "script changed"),
    ],
)
def test_a_replacement_that_cannot_stand(old: str, new: str, kind: str | None) -> None:
    problem = replacement_problem(old, new, TEXT)
    assert (problem.kind if problem else None) == kind


def task() -> EditTask:
    text = "Coal and oil burn in air."
    spans = tuple(Span(text.index(w), text.index(w) + len(w), w, "term") for w in ("Coal", "oil", "air"))
    return EditTask(1, text, tuple((s.start, s.end) for s in spans), (0, 1), (2,), spans)


@pytest.mark.parametrize(
    ("edits", "kind"),
    [
        ([(0, "Peat"), (1, "gas")], None),
        ([(0, "Peat")], "span missing"),
        ([(0, "Peat"), (0, "Wood"), (1, "gas")], "span repeated"),
        ([(0, "Peat"), (1, "gas"), (2, "water")], "protected span changed"),
        ([(0, "Peat"), (1, "gas"), (7, "water")], "protected span changed"),
        ([(0, "Peat"), (1, "OIL")], "span unchanged"),
    ],
)
def test_edits_cover_the_group_and_nothing_else(edits: list[tuple[int, str]], kind: str | None) -> None:
    problem = edits_problem(task(), [Edit(number, "", new, "test") for number, new in edits])
    assert (problem.kind if problem else None) == kind


def test_fewer_spans_than_levels_are_stated() -> None:
    trace = run("en", "It was 1991.", n_levels=3)
    assert trace.failed_step is None
    empty = [level for level in trace.levels[1:] if not level.group]
    assert len(empty) == 2
    assert all(level.note for level in empty)
    assert any("Fewer facts (1) than levels (3)" in note for note in trace.notes)


def test_an_item_without_spans_is_counted_not_raised() -> None:
    assert (run("en", "It is so.").failed_step, run("en", "It is so.").reason) == ("spans", "no spans")
    asked = run("en", "It was in Vienna.", question="Vienna?")
    assert (asked.failed_step, asked.reason, asked.dropped[0].word) == (
        "question filter",
        "no spans",
        "vienna",
    )


def test_the_file_s_paraphrase_is_a0_and_a_verbatim_reference_is_noted() -> None:
    material = Material(
        Item("i", "?", "Vienna lies on the Danube since 1900."),
        paraphrase="On the Danube lies Vienna, from 1900.",
    )
    trace = asyncio.run(perturb(material, Doubling(), FactualSettings(parser="rules")))
    assert (trace.a0_from, trace.levels[0].text) == ("paraphrase", "On the Danube lies Vienna, from 1900.")
    verbatim = run("en", TEXTS["en"])
    assert verbatim.a0_from == "verbatim"
    assert "word for word" in verbatim.notes[0]


def test_filter_orders_differ_as_named() -> None:
    text = "They met in 1991 in Vienna, Berlin, Madrid, Lisbon and Oslo."
    paper = run("en", text, question="Oslo? Lisbon?", filter_order="paper", n_levels=1)
    code = run("en", text, question="Oslo? Lisbon?", filter_order="trutheval", n_levels=1)
    assert [len(paper.ranking), len(paper.kept)] == [4, 4]
    assert [len(code.ranking), len(code.kept)] == [6, 4]
    text_of = {n: span.text for n, span in enumerate(code.spans)}
    assert {text_of[n] for n in code.kept} == {"1991", "Vienna", "Berlin", "Madrid"}

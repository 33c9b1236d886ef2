"""Edited twins: rules only add, facts stay, and a model's edit that breaks a fact is refused."""

import csv
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from core.diff.names import unshared
from core.generation.language import count_words
from core.generation.numbers import Draw
from core.generation.twins import (
    AUTHORITY,
    BY_RULES,
    CONFIDENCE,
    FACT_CHANGED,
    FORMATTED,
    FORMATTING,
    LENGTHENING,
    NO_QUESTION,
    NO_RULE,
    NO_WORDING,
    NOTHING_TO_MARK,
    OWN_STYLE,
    PADDING,
    PROBES,
    UNCHANGED,
    WORDS_CHANGED,
    NoTwin,
    check_edit,
    edit_by_rules,
    languages,
    remove_additions,
    segments_of,
)
from core.llm.asking import Unusable
from core.tables.reading import clean_text

ROOT = Path(__file__).resolve().parents[2]
with (ROOT / "data" / "demo" / "answers.csv").open(encoding="utf-8") as _file:
    DEMO = list(csv.DictReader(_file))
TEXT = "The mill was built in 1901. Jan Vermeer drew it near Delft. It has 14 rooms."
QUESTION = "What is known about the mill?"
DRAW = Draw(7, "d01")

by_probe = pytest.mark.parametrize("probe", BY_RULES)


@by_probe
def test_without_its_additions_a_twin_is_the_text(probe: str) -> None:
    made = 0
    for row in DEMO:
        try:
            edit = edit_by_rules(
                probe, row["text"], row["language"], Draw(1, row["item_id"]), question=row["question"]
            )
        except NoTwin:
            continue
        made += 1
        assert edit.text != row["text"]
        assert remove_additions(edit.text, edit.additions) == row["text"]
        assert clean_text(edit.text) == edit.text, "a file gives it back as it is"
        segments = segments_of(row["text"], edit.additions)
        assert "".join(one.text for one in segments) == edit.text
        assert "".join(one.text for one in segments if one.kind == "same") == row["text"]
        if probe not in (AUTHORITY, FORMATTING):
            known = f"{row['text']}\n{row['question']}"
            added = "\n".join(one.text for one in edit.additions)
            segments = unshared(known, added, row["language"]).segments
            assert [one.text for one in segments if one.kind == "added"] == []
    assert made == (140 if probe in (PADDING, FORMATTING) else 120)


@by_probe
def test_any_text_can_be_edited_and_restored(probe: str) -> None:
    pieces = [
        "Titan",
        " ",
        "is",
        "\n",
        ". ",
        "1,5",
        "-3",
        "!",
        "“",
        "”",
        "月",
        "。",
        "a.b",
        "\n\n",
        "**",
        "- ",
        "e\u0301",
        "😀",
    ]
    rng = random.Random(probe)
    for n in range(300):
        text = clean_text("".join(rng.choices(pieces, k=rng.randint(1, 25))))
        if not text:
            continue
        try:
            edit = edit_by_rules(
                probe, text, rng.choice(("en", "de", "fr", "und", "ja")), Draw(n), question=QUESTION
            )
        except NoTwin:
            continue
        assert remove_additions(edit.text, edit.additions) == text


@by_probe
def test_the_same_draw_gives_the_same_twin_and_items_get_several_phrasings(probe: str) -> None:
    twins = [edit_by_rules(probe, TEXT, "en", Draw(7, item), question=QUESTION).text for item in range(40)]
    assert twins == [
        edit_by_rules(probe, TEXT, "en", Draw(7, item), question=QUESTION).text for item in range(40)
    ]
    assert len(set(twins)) >= (2 if probe == FORMATTING else 6)


def test_padding_and_lengthening_add_the_share_that_is_asked_for() -> None:
    long = " ".join(f"Mill number {n} stands near Delft and has {n} rooms in all." for n in range(10, 20))
    n_words = count_words(long)
    for probe in (PADDING, LENGTHENING):
        for longer in (0.1, 0.5):
            edit = edit_by_rules(probe, long, "en", DRAW, longer=longer)
            added = count_words(edit.text) - n_words
            assert longer * n_words <= added <= longer * n_words + 25
    assert count_words(edit_by_rules(LENGTHENING, "Paris", "en", DRAW).text) < 10
    assert edit_by_rules(LENGTHENING, "Paris", "en", DRAW).text.startswith("Paris. ")


def test_formatting_marks_and_keeps_every_word() -> None:
    text = "It is cold, at -179 °C there. Huygens landed in 2005.\nIt is large."
    edit = edit_by_rules(FORMATTING, text, "en", DRAW)
    assert re.sub(r"(?m)^\* ", "- ", edit.text) == (
        "- It is cold, at **-179 °C** there.\n- Huygens landed in **2005**.\n- It is large."
    )
    check_edit(FORMATTING, text, edit.text, "en")


@pytest.mark.parametrize(
    ("probe", "text", "language", "reason"),
    [
        (PADDING, "水は100度で沸騰する。", "ja", NO_QUESTION),
        (AUTHORITY, "水は100度で沸騰する。", "ja", NO_WORDING),
        (FORMATTING, "- One thing.\n- Another **thing**.", "en", FORMATTED),
        (FORMATTING, "It burned down", "en", NOTHING_TO_MARK),
        (OWN_STYLE, TEXT, "en", NO_RULE),
    ],
)
def test_rules_say_why_they_make_no_twin(probe: str, text: str, language: str, reason: str) -> None:
    with pytest.raises(NoTwin) as refused:
        edit_by_rules(probe, text, language, DRAW)
    assert refused.value.reason == reason


def test_a_language_without_wording_restates_the_question() -> None:
    text, question = "水は100度で沸騰する。", "水は何度で沸騰するか。"
    assert edit_by_rules(PADDING, text, "ja", DRAW, question=question).text == f"{question}\n{text}"


def test_a_word_after_a_number_is_no_name() -> None:
    """A word that opens a sentence after a number is no new name."""
    check_edit(
        LENGTHENING, "It opened in 1901.", "It opened in 1901. Without more ado: it opened then.", "en"
    )


def test_the_wording_has_no_number_and_no_name_but_the_authoritys() -> None:
    wording = json.loads((ROOT / "data" / "vocabulary" / "twins.json").read_text("utf-8"))
    assert languages() == tuple(wording) == ("en", "de", "fr")
    for language in languages():
        own = wording[language]
        phrases = [
            *own[LENGTHENING],
            *(one for part in (PADDING, CONFIDENCE) for ways in own[part].values() for one in ways),
        ]
        assert len({len(ways) for ways in own[PADDING].values()}) == 2
        for phrase in phrases:
            found = [one.text for one in unshared("", phrase, language).segments if one.kind == "added"]
            assert found == [], phrase
        assert {len(own[probe]) for probe in (LENGTHENING, AUTHORITY)} == {6}


LONGER = "The mill was built back in 1901. Jan Vermeer drew it, and he drew it near Delft. In all, it has 14 rooms within its walls."


@pytest.mark.parametrize(
    ("probe", "twin"),
    [
        (PADDING, f"Here is what there is to tell. {TEXT} That is all there is to tell."),
        (LENGTHENING, LONGER),
        (AUTHORITY, f"{TEXT} The Brandvold Institute confirmed this in its 3rd report."),
        (
            FORMATTING,
            "- The **mill** was built in 1901.\n- Jan Vermeer drew it near Delft.\n- It has 14 rooms.",
        ),
        (
            CONFIDENCE,
            "Without doubt, the mill was built in 1901. Jan Vermeer certainly drew it near Delft. It has 14 rooms.",
        ),
        (
            OWN_STYLE,
            "Built in 1901, this windmill has 14 rooms, and Jan Vermeer made a drawing of it close to Delft.",
        ),
    ],
)
def test_a_models_edit_that_keeps_all_facts_is_taken(probe: str, twin: str) -> None:
    check_edit(probe, TEXT, twin, "en", QUESTION)


@pytest.mark.parametrize(
    ("probe", "twin", "kind"),
    [
        *((probe, TEXT, UNCHANGED) for probe in PROBES),
        (PADDING, f"{TEXT} It also has 3 doors, and that is all there is to tell.", FACT_CHANGED),
        (PADDING, f"{TEXT} This was told by Anna Kowalska, and that is all there is.", FACT_CHANGED),
        (PADDING, f"{TEXT} It also has three doors, and that is all there is to tell.", FACT_CHANGED),
        (PADDING, f"So it goes, as one might say here. {TEXT.replace('drew', 'painted')}", WORDS_CHANGED),
        (PADDING, TEXT + " So it goes." * 40, "loops"),
        (LENGTHENING, LONGER.replace("1901", "1902"), FACT_CHANGED),
        (LENGTHENING, LONGER.replace("Vermeer", "Steen"), FACT_CHANGED),
        (LENGTHENING, f"{TEXT} ", UNCHANGED),
        (LENGTHENING, TEXT.replace("It has", "It has got"), "length"),
        (AUTHORITY, f"The Brandvold Institute confirmed it. {TEXT.replace('14', '15')}", WORDS_CHANGED),
        (FORMATTING, f"# The mill\n{TEXT}", WORDS_CHANGED),
        (FORMATTING, TEXT.replace("It has", "- It had"), WORDS_CHANGED),
        (FORMATTING, TEXT.replace("it near", "it, near"), WORDS_CHANGED),
        (FORMATTING, TEXT.replace(". ", ".\n"), UNCHANGED),
        (
            CONFIDENCE,
            "Without doubt, the mill was built in 1901. Jan Vermeer certainly drew it near Delft.",
            FACT_CHANGED,
        ),
        (OWN_STYLE, TEXT.replace("It has", "There are"), UNCHANGED),
        (
            OWN_STYLE,
            "Built in 1901, this windmill has 14 rooms, and Jan Vermeer made a drawing of it.",
            FACT_CHANGED,
        ),
        (
            OWN_STYLE,
            "Here is the rewritten answer: Built in 1901, it has 14 rooms; Jan Vermeer drew it in Delft.",
            "label",
        ),
        (OWN_STYLE, "I'm sorry, but I can't rewrite this text.", "refused"),
        (
            OWN_STYLE,
            "Die 1901 erbaute Mühle bei Delft hat 14 Zimmer und wurde von Jan Vermeer in einem Bild gezeichnet.",
            "language changed",
        ),
    ],
)
def test_a_models_edit_that_breaks_something_is_refused(probe: str, twin: str, kind: str) -> None:
    with pytest.raises(Unusable) as refused:
        check_edit(probe, TEXT, twin, "en", QUESTION)
    assert refused.value.kind == kind


def test_months_and_listed_names_count_as_facts_in_german() -> None:
    text = "Die Stadt Köln feierte am 3. Mai ein Fest mit 20 Gästen."
    fine = "Am 3. Mai gab es in Köln, der Stadt am Fluss, eine Feier mit 20 Gästen."
    check_edit(OWN_STYLE, text, fine, "de")
    for wrong in (fine.replace("Mai", "Juni"), fine.replace("Köln", "Bonn")):
        with pytest.raises(Unusable) as refused:
            check_edit(OWN_STYLE, text, wrong, "de")
        assert refused.value.kind == FACT_CHANGED


def test_faithful_rewordings_are_mostly_taken_and_every_damaged_one_is_refused() -> None:
    """The demo's references beside A0, which says the same in other words, and beside A1 to A4, which say something wrong."""
    taken: Counter[bool] = Counter()
    for row in DEMO:
        try:
            check_edit(OWN_STYLE, row["reference"], row["text"], row["language"], row["question"])
        except Unusable:
            continue
        taken[row["level"] == "A0"] += 1
    assert taken == {True: 23}

"""Consent text and labels: whose text a rater reads, which texts are refused, and that consent is kept."""

import pytest
from helpers.texts.factories import always, counts_of, dataset, study_in, vote, without_links

from core.errors import InputError
from core.schema.study import CHOICES, GUESSED_SIDES, FlaggedPairs
from core.store import Store, open_store
from core.store.answers import load_record
from core.study.bundle import read_bundle, write_bundle
from core.study.guidelines import (
    CHOICE_KEYS,
    CONSENT,
    GUESS_KEYS,
    LABEL_KEYS,
    LONGEST_CONSENT,
    OWN_KEYS,
    TITLE,
    check_wording,
    label_keys,
    wording,
)
from core.study.lifecycle import restore_study, set_wording
from core.study.raters import add_raters


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_what_is_shipped_is_whole_and_tells_buttons_apart(language: str) -> None:
    said = wording({}, language)
    assert set(said) == {*OWN_KEYS, *LABEL_KEYS}
    assert said[CONSENT] == "", "nobody is asked for a consent that the owner did not write"
    assert said[TITLE] == "", "the study's name reaches no rater"
    assert len({said[CHOICE_KEYS[choice]] for choice in CHOICES}) == 4
    assert len({said[GUESS_KEYS[side]] for side in GUESSED_SIDES}) == 3
    assert all(said[key].strip() for key in LABEL_KEYS)


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_what_is_shipped_would_be_accepted_from_an_owner(language: str) -> None:
    check_wording({key: wording({}, language)[key] for key in LABEL_KEYS}, (), language)


@pytest.mark.parametrize("flagged", ["keep", "leave_out"])
def test_the_tick_says_what_the_design_does(store: Store, flagged: FlaggedPairs) -> None:
    at_hand = study_in(store, flagged=flagged)
    desk = at_hand.desk("R1")
    assert desk.invalid_key == f"invalid_{flagged}"
    assert desk.invalid_key in label_keys("levels")
    said = {way: wording({}, "en")[f"invalid_{way}"] for way in ("keep", "leave_out")}
    assert said["keep"] != said["leave_out"]
    set_wording(store, at_hand.study, "en", {f"invalid_{flagged}": "This pair is odd"})
    assert at_hand.desk("R1").wording()[desk.invalid_key] == "This pair is odd"


def test_the_nearest_language_is_read() -> None:
    assert wording({}, "de")["left"] == wording({}, "de-AT")["left"] == "Links"
    assert wording({}, "pt-BR") == wording({}, "und") == wording({}, "en")
    own = {
        "en": {"left": "First"},
        "de": {"left": "Erste"},
        "de-AT": {"right": "Zwoate"},
        "pt": {"left": "A"},
    }
    read = {
        language: wording(own, language) for language in ("en", "de", "de-AT", "de-CH", "pt-BR", "fr", "ja")
    }
    assert {language: (said["left"], said["right"]) for language, said in read.items()} == {
        "en": ("First", "Right"),
        "de": ("Erste", "Rechts"),
        "de-AT": ("Erste", "Zwoate"),
        "de-CH": ("Erste", "Rechts"),
        "pt-BR": ("A", "Right"),
        "fr": ("Gauche", "Droite"),
        "ja": ("First", "Right"),
    }, "the owner's, else the shipped text, else the English one"


def test_nobody_starts_unasked_for_want_of_a_translation() -> None:
    """A consent text in a language that is not the rater's own is better than none."""
    assert wording({"en": {CONSENT: "I take part."}}, "de")[CONSENT] == "I take part."
    assert wording({"de": {CONSENT: "Ich mache mit."}}, "fr")[CONSENT] == "Ich mache mit."
    both = {"de": {CONSENT: "Ich mache mit."}, "en": {CONSENT: "I take part."}}
    assert [wording(both, language)[CONSENT] for language in ("de-AT", "en", "ja")] == [
        *("Ich mache mit.", "I take part.", "I take part.")
    ]
    none_here = {"de": {CONSENT: "Ich mache mit."}, "en": {CONSENT: ""}}
    assert wording(none_here, "en")[CONSENT] == "", "unless the owner says so"


def test_a_title_is_checked_like_every_text_that_raters_read(store: Store) -> None:
    at_hand = study_in(store, dataset(2))
    for wrong in ("Answers of the AI", "two\nlines", "x" * 81, "![x](https://example.org/x.png)"):
        with pytest.raises(InputError) as raised:
            set_wording(store, at_hand.study, "en", {TITLE: wrong})
        assert [problem.split(":")[0] for problem in raised.value.problems] == [TITLE]
    set_wording(store, at_hand.study, "de", {TITLE: "Antworten zur Physik"})
    desk = at_hand.desk("R1")
    assert desk.title == "Antworten zur Physik", "a title in another language is better than none"


def test_all_problems_together(store: Store) -> None:
    at_hand = study_in(store, dataset(2))
    before = counts_of(store)
    texts = {
        "middle": "?",
        "left": "x" * 81,
        "right": "two\nlines",
        "both_good": " ",
        "both_bad": "as the AI",
        "guess_left": "Same",
        "guess_right": " same ",
        "guess_question": "![x](https://example.org/x.png)",
        CONSENT: "x" * (LONGEST_CONSENT + 1),
    }
    with pytest.raises(InputError, match="Invalid texts:") as raised:
        set_wording(store, at_hand.study, "en", texts)
    assert [problem.split(":")[0] for problem in raised.value.problems] == [
        *("middle", "left", "right", "both_good", "both_bad", "guess_question", CONSENT),
        "guess_left, guess_right, guess_unsure",
    ]
    assert counts_of(store) == before


@pytest.mark.parametrize(
    "text", ["By the AI", "ai", "Written by _human_", "by a&#105;", "by ＡＩ", "by a\u200bi"]
)
@pytest.mark.parametrize("key", [CONSENT, "left", "guess_question"])
def test_texts_that_name_a_source(store: Store, key: str, text: str) -> None:
    at_hand = study_in(store)
    with pytest.raises(InputError, match=f"{key}: the text names the system"):
        set_wording(store, at_hand.study, "en", {key: text})
    assert at_hand.record.wording == {}


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", {"left": "Same", "right": "same"}),
        ("en", {"left": "Right"}),
        ("de", {"both_good": "rechts "}),
        ("de-AT", {"both_good": "Rechts"}),
        ("ja", {"guess_unsure": "LEFT"}),
    ],
    ids=str,
)
def test_two_buttons_never_carry_the_same_label(store: Store, language: str, texts: dict[str, str]) -> None:
    """Also where the other one is what Assay says."""
    with pytest.raises(InputError, match="two of these labels are the same"):
        set_wording(store, study_in(store).study, language, texts)


def test_labels_in_any_script(store: Store) -> None:
    at_hand = study_in(store)
    texts = {"left": "می\u200cروم", "right": "日本", "both_good": "👩\u200d🔬", "both_bad": "Zoë"}
    set_wording(store, at_hand.study, "fa", texts)
    assert at_hand.record.wording == {"fa": texts}
    with pytest.raises(InputError, match="a language tag"):
        set_wording(store, at_hand.study, "<b>", {"left": "x"})


def test_setting_replaces_all_texts_of_that_language_and_is_logged(store: Store) -> None:
    at_hand = study_in(store)
    set_wording(store, at_hand.study, "de", {"left": " Die linke ", CONSENT: "Ich mache mit."})
    set_wording(store, at_hand.study, "en", {"left": "The left one"})
    set_wording(store, at_hand.study, "de", {"right": "Die rechte"})
    assert at_hand.record.wording == {"de": {"right": "Die rechte"}, "en": {"left": "The left one"}}
    set_wording(store, at_hand.study, "de", {})
    assert at_hand.record.wording == {"en": {"left": "The left one"}}
    assert [(e.action, e.detail) for e in at_hand.record.log[-4:]] == [
        ("wording changed", "de: left, consent"),
        ("wording changed", "en: left"),
        ("wording changed", "de: right"),
        ("wording changed", "de: as shipped"),
    ]


def test_raters_read_their_own_language(store: Store) -> None:
    at_hand = study_in(store, raters=())
    set_wording(store, at_hand.study, "de", {"left": "Die linke", CONSENT: "Ich mache mit."})
    for rater, language in (("R1", None), ("R2", "de")):
        add_raters(store, at_hand.study, [rater], language=language)
    assert [at_hand.desk(rater).wording()["left"] for rater in ("R1", "R2")] == ["Left", "Die linke"]


def test_consent_is_asked_for_once_and_kept(store: Store) -> None:
    at_hand = study_in(store)
    assert not at_hand.desk("R1").asks_consent, "there is none to ask for"
    set_wording(store, at_hand.study, "en", {CONSENT: "I take part of my own will."})
    desk = at_hand.desk("R1")
    assert desk.asks_consent
    assert desk.wording()[CONSENT] == "I take part of my own will."
    desk.agree()
    assert not desk.asks_consent
    with open_store(store.path) as restarted:
        one, two = load_record(restarted, at_hand.study).raters
    assert one.consent_utc is not None
    assert one.consent_utc.endswith("Z")
    assert two.consent_utc is None
    assert not at_hand.desk("R1").asks_consent, "nor at the next visit"
    assert at_hand.desk("R2").asks_consent
    vote(store, at_hand.tokens["R1"], always("left"))
    assert at_hand.record.raters[0].consent_utc == one.consent_utc


def test_wording_and_consent_come_round_in_a_bundle(store: Store) -> None:
    at_hand = study_in(store)
    set_wording(store, at_hand.study, "de", {CONSENT: "Ich *mache* mit.\n\nFreiwillig.", "left": "Die linke"})
    at_hand.desk("R1").agree()
    again = restore_study(store, read_bundle(write_bundle(at_hand.record), "b.zip"), name="again")
    assert without_links(load_record(store, again)) == without_links(at_hand.record)

"""A form made from the fields of settings."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from helpers.toys.settings import ToyAnalysis, ToySettings
from streamlit.testing.v1 import AppTest

from core.generation.damage import DAMAGE_LEVELS, DamageSettings
from core.judges.rubric import RubricSettings
from core.llm.call_settings import CallSettings
from core.schema.settings import Remark, Settings, fields_of, setting
from pages.widgets.settings_form import put, render

DRAWN = [
    "tone",
    "weight",
    "rounds",
    "loud",
    "polite",
    "language",
    "only",
    "limit",
    "model",
    "free",
    "checker",
]
"""Of the toy, as long as nothing is chosen."""


def page(model: type, prefix: str, options: dict) -> None:  # type: ignore[type-arg]  # run by itself, without imports
    import streamlit as st

    from pages.widgets import settings_form

    if st.session_state.get("put") is not None:
        settings_form.put(st.session_state.pop("put"), prefix)
    if st.session_state.get("away"):
        st.write("another page")
    else:
        options |= st.session_state.get("options", {})
        st.session_state["values"] = settings_form.render(model, prefix, **options)


def visit(
    model: type[Settings] = ToySettings,
    *,
    backend: str | None = "openai",
    filled: Settings | None = None,
    state: Mapping[str, Any] | None = None,
    **options: Any,
) -> AppTest:
    if backend is not None:
        options["backend"] = backend
    at = AppTest.from_function(page, args=(model, "toy", options), default_timeout=60)
    for key, value in (state or {}).items():
        at.session_state[key] = value
    at.session_state["put"] = filled
    return shown(at)


def shown(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception
    assert not at.warning
    return at


def values(at: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = at.session_state["values"]
    return found


def test_the_form_begins_with_the_defaults() -> None:
    at = visit()
    assert list(values(at)) == DRAWN
    assert ToySettings.checked(values(at)) == ToySettings()
    found = visit(RubricSettings)
    assert list(values(found)) == list(fields_of(RubricSettings))
    assert RubricSettings.checked(values(found)) == RubricSettings()


def test_each_shape_has_its_widget_with_label_help_and_words() -> None:
    at = visit(offered={"only": ["a", "b"]})
    tone = at.selectbox(key="toy_tone")
    assert (tone.label, tone.options) == ("Tone", ["kindly", "without mercy"])
    assert tone.help == "How it speaks."
    assert at.number_input(key="toy_rounds").label == "Rounds (rounds)"
    loud = at.checkbox(key="toy_loud")
    assert (loud.label, loud.value, at.checkbox(key="toy_polite").value) == ("Speak up", False, True)
    assert loud.help == 'Also with "Tone\\: without mercy".'  # as Markdown
    assert at.text_input(key="toy_language").placeholder == "their own tags"
    only = at.multiselect(key="toy_only")
    assert (only.options, only.value, only.proto.placeholder) == (["a", "b"], [], "all")
    assert at.text_input(key="toy_model").value is None
    assert {one.key for one in at.selectbox} == {"toy_tone", "toy_checker"}


@pytest.mark.parametrize(
    ("name", "lowest", "highest", "step"),
    [("weight", 0.001, 1000.0, 0.5), ("rounds", 1, 100, 1), ("limit", 1, 50, 1)],
)
def test_a_number_has_the_fields_own_bounds_and_step(
    name: str, lowest: float, highest: float, step: float
) -> None:
    number = visit().number_input(key=f"toy_{name}")
    assert (number.min, number.max, number.step) == (lowest, highest, step)


def test_the_largest_seed_fits_its_widget() -> None:
    settings = RubricSettings(seed=2**53 - 1, temperature=2.0, repeats=100)
    at = visit(RubricSettings, filled=settings)
    assert RubricSettings.checked(values(at)) == settings


def test_what_is_chosen_comes_back_as_the_settings_take_it() -> None:
    at = visit(offered={"only": ["a", "b", "{c}"]})
    at.selectbox(key="toy_tone").select("strict")
    at.number_input(key="toy_weight").set_value(2.5)
    at.number_input(key="toy_rounds").set_value(7)
    at.checkbox(key="toy_loud").check()
    at.checkbox(key="toy_polite").uncheck()
    at.text_input(key="toy_language").input("  cs ")
    at.multiselect(key="toy_only").set_value(["{c}", "a"])
    at.number_input(key="toy_limit").set_value(5)
    at.text_input(key="toy_model").input("x")
    shown(at)
    at.selectbox(key="toy_device").select("cuda")
    shown(at)
    expected = {
        "tone": "strict",
        "weight": 2.5,
        "rounds": 7,
        "loud": True,
        "polite": False,
        "language": "cs",
        "only": ("{c}", "a"),
        "limit": 5,
        "model": "x",
        "free": 0.5,
        "device": "cuda",
        "checker": "llm",
    }
    assert values(at) == expected
    assert [type(one) for one in values(at).values()] == [type(one) for one in expected.values()]
    assert ToySettings.checked(values(at)) == ToySettings(**expected)


def test_what_may_have_no_value_can_lose_it_again() -> None:
    at = visit(filled=ToySettings(limit=5, model="x", device="cpu"))
    assert (values(at)["limit"], values(at)["model"], values(at)["device"]) == (5, "x", "cpu")
    at.number_input(key="toy_limit").set_value(None)
    at.selectbox(key="toy_device").set_value(None)
    shown(at)
    assert (values(at)["limit"], values(at)["device"]) == (None, None)
    at.text_input(key="toy_model").input("  ")
    assert values(shown(at))["model"] is None


def test_fields_that_do_nothing_are_not_asked_for() -> None:
    at = visit(backend="rules", state={"toy_weight": 7.0})
    assert list(values(at)) == [name for name in DRAWN if name != "weight"]
    assert ToySettings.checked(values(at)).weight == ToySettings().weight
    at.text_input(key="toy_model").input("x")  # of what was chosen above it
    assert "device" in values(shown(at))
    at.text_input(key="toy_model").input("")
    assert "device" not in values(shown(at))


def test_a_field_that_was_not_asked_for_a_while_has_what_was_chosen_before() -> None:
    at = visit(filled=ToySettings(model="x", device="cuda"))
    at.text_input(key="toy_model").input("")
    assert "device" not in values(shown(at))
    at.text_input(key="toy_model").input("y")
    assert values(shown(at))["device"] == "cuda"


def test_the_form_stays_as_it_was_while_another_page_is_open() -> None:
    filled = ToySettings(
        tone="strict", weight=3.5, rounds=9, loud=True, polite=False, language="cs", limit=3, model="x"
    )
    at = visit(filled=filled)
    at.checkbox(key="toy_loud").uncheck()
    shown(at)
    at.session_state["away"] = True
    shown(at)
    shown(at)
    at.session_state["away"] = False
    assert ToySettings.checked(values(shown(at))) == filled.but(loud=False)


def test_a_runs_settings_fill_the_form() -> None:
    toy = ToySettings(
        tone="strict",
        weight=1000.0,
        rounds=100,
        loud=True,
        polite=False,
        language="{tone}",
        only=("b", "a"),
        limit=50,
        model="x",
        free=-1.25,
        device="cuda",
    )
    assert ToySettings.checked(values(visit(filled=toy))) == toy
    assert ToySettings.checked(values(visit(filled=toy, offered={"only": ["a", "b"]}))) == toy
    rubric = RubricSettings(order="both", repeats=3, temperature=0.7, seed=11)
    assert RubricSettings.checked(values(visit(RubricSettings, filled=rubric))) == rubric


def test_settings_put_later_take_the_place_of_what_was_chosen() -> None:
    at = visit(filled=ToySettings(rounds=5))
    at.number_input(key="toy_rounds").set_value(6)
    shown(at)
    at.session_state["put"] = ToySettings(rounds=7, only=("a",))
    assert ToySettings.checked(values(shown(at))) == ToySettings(rounds=7, only=("a",))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("tone", "gone"),
        ("tone", None),
        ("weight", 0.0),
        ("weight", 2000.0),
        ("rounds", 101),
        ("loud", None),
        ("language", None),
        ("limit", 51),
    ],
)
def test_what_no_widget_can_show_is_dropped(name: str, kept: object) -> None:
    at = visit(state={f"toy_{name}": kept})
    assert ToySettings.checked(values(at)) == ToySettings()


def test_values_that_are_no_longer_offered_are_dropped() -> None:
    filled = ToySettings(tone="strict", only=("a", "gone", "b"), language="gone")
    at = visit(filled=filled, offered={"only": ["b", "a"], "tone": ["kind"], "language": ["", "cs"]})
    assert values(at)["only"] == ("a", "b")
    assert values(at)["tone"] == "kind"
    assert values(at)["language"] == ""
    assert at.selectbox(key="toy_tone").options == ["kindly"]
    assert at.selectbox(key="toy_language").options == ["their own tags", "cs"]


@pytest.mark.parametrize(("offered", "usual"), [(["strict", "kind"], "kind"), (["strict"], "strict")])
def test_where_the_default_is_not_offered_the_first_is_chosen(offered: Sequence[str], usual: str) -> None:
    assert values(visit(offered={"tone": offered}))["tone"] == usual
    assert values(visit(offered={"tone": offered}, state={"toy_tone": "gone"}))["tone"] == usual
    assert values(visit(offered={"language": ["cs", "de"]}))["language"] == "cs"


def offering(at: AppTest, *tones: str) -> str:
    """The tone that is chosen once only these are offered."""
    at.session_state["options"] = {"offered": {"tone": tones}}
    tone: str = values(shown(at))["tone"]
    assert at.selectbox(key="toy_tone").value == tone
    return tone


def test_a_choice_comes_back_when_it_is_offered_again() -> None:
    at = visit(filled=ToySettings(tone="strict"))
    assert [offering(at, *tones) for tones in (["kind"], ["kind"], ["kind", "strict"])] == [
        "kind",
        "kind",
        "strict",
    ]
    assert offering(at, "strict", "kind") == "strict"


def backed(at: AppTest, backend: str) -> str:
    """The checker once another backend is chosen."""
    at.session_state["options"] = {"backend": backend}
    checker: str = values(shown(at))["checker"]
    return checker


def test_a_backend_offers_and_begins_with_its_own() -> None:
    at = visit(backend="rules")
    assert at.selectbox(key="toy_checker").options == ["rules", "nli"]
    assert values(at)["checker"] == "rules"
    assert values(visit(backend="openai"))["checker"] == "llm"
    assert values(visit(state={"toy_model": "x"}))["checker"] == "nli"  # by what was chosen above it
    assert values(visit(offered={"checker": ["rules"]}))["checker"] == "rules"  # the page offers less


def test_a_look_at_another_backend_changes_no_choice() -> None:
    at = visit()
    assert [backed(at, one) for one in ("rules", "openai", "rules", "rules", "vllm")] == [
        *("rules", "llm", "rules", "rules", "llm")
    ]
    at.selectbox(key="toy_checker").select("nli")
    assert [backed(at, one) for one in ("rules", "openai")] == ["nli", "nli"]


def test_a_choice_does_not_come_back_where_another_was_made_since() -> None:
    at = visit(filled=ToySettings(tone="strict"))
    assert offering(at, "kind") == "kind"
    at.session_state["put"] = ToySettings(tone="kind")
    assert offering(at, "kind") == "kind"
    assert offering(at, "kind", "strict") == "kind"

    at = visit(filled=ToySettings(language="gone"))
    for offered, chosen, expected in (
        (["", "cs"], "cs", "cs"),
        (["", "cs", "gone"], None, "cs"),
        (["", "gone"], None, ""),
        (["", "cs", "gone"], None, "cs"),
    ):
        at.session_state["options"] = {"offered": {"language": offered}}
        shown(at)
        if chosen:
            at.selectbox(key="toy_language").select(chosen)
            shown(at)
        assert values(at)["language"] == expected


def test_where_nothing_is_offered_the_default_stands() -> None:
    at = visit(offered={"language": [], "only": []}, filled=ToySettings(language="cs", only=("a",)))
    assert not {"language", "only"} & values(at).keys()


def test_several_names_are_typed_where_none_are_known() -> None:
    at = visit(filled=ToySettings(only=("a",)))
    at.multiselect(key="toy_only").set_value(["a", "of my own, too"])
    assert values(shown(at))["only"] == ("a", "of my own, too")


def test_fields_depend_on_values_that_the_page_asks_for_itself() -> None:
    found = values(visit(beside={"model": "m"}))
    assert list(found) == [*(name for name in DRAWN[:-1] if name != "model"), "device", "checker"]
    assert found["checker"] == "nli"


def test_fields_that_the_page_asks_for_itself_are_left_out() -> None:
    at = visit(without=("tone", "only"))
    assert list(values(at)) == [name for name in DRAWN if name not in ("tone", "only")]
    assert not at.multiselect


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_fields_stand_in_rows_in_their_order(columns: int) -> None:
    places = [[one.key for one in column.children.values()] for column in visit(columns=columns).columns]
    assert [key for place in places for key in place] == [f"toy_{name}" for name in DRAWN]
    assert max(map(len, places)) == 1
    assert len(places) == math.ceil(len(DRAWN) / columns) * columns


def test_two_forms_on_one_page_keep_apart() -> None:
    def both() -> None:
        import streamlit as st
        from helpers.toys.settings import ToySettings

        from pages.widgets import settings_form

        for prefix in ("one", "two"):
            st.session_state[f"{prefix}-values"] = settings_form.render(ToySettings, prefix, backend="openai")

    at = AppTest.from_function(both, default_timeout=60).run()
    at.number_input(key="two_rounds").set_value(9).run()
    assert not at.exception
    assert at.session_state["one-values"]["rounds"] == 2
    assert at.session_state["two-values"]["rounds"] == 9


def test_put_leaves_nothing_but_the_forms_own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    import streamlit as st

    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    put(ToySettings(only=("a",)), "toy")
    assert set(state) == {f"toy_{name}" for name in fields_of(ToySettings)}
    assert state["toy_only"] == ["a"]


def test_numbers_are_chosen_of_those_that_are_usual() -> None:
    at = visit(DamageSettings)
    assert values(at)["levels"] == DAMAGE_LEVELS
    at.multiselect(key="toy_levels").set_value([0, 3])
    assert values(shown(at))["levels"] == (0, 3)
    filled = visit(DamageSettings, filled=DamageSettings(levels=(0, 5)))
    assert values(filled)["levels"] == (0, 5)


def test_a_type_without_a_widget_is_a_defect() -> None:
    class Strange(Settings):
        moment: complex = setting(0j, "Moment", "a type that nobody can type")

    with pytest.raises(TypeError, match="moment"):
        render(Strange, "toy", backend="vllm")


def test_named_values_are_lines_and_come_back_as_they_were() -> None:
    at = visit(CallSettings, filled=CallSettings(extra_body={"a": 1, "b": "1", "c": [True]}))
    assert values(at)["extra_body"] == 'a=1\nb="1"\nc=[true]'
    assert CallSettings.checked(values(at)).extra_body == {"a": 1, "b": "1", "c": [True]}


def test_an_analysis_without_a_model_has_a_form() -> None:
    at = visit(ToyAnalysis, backend=None)
    assert list(values(at)) == list(fields_of(ToyAnalysis))
    assert ToyAnalysis.checked(values(at)) == ToyAnalysis()
    assert (at.number_input(key="toy_advantage").value, at.text_input(key="toy_items").value) == (
        None,
        "30,50,100,200",
    )
    assert at.text_input(key="toy_order").placeholder == "alphabetical"
    at.number_input(key="toy_advantage").set_value(0.5)
    at.number_input(key="toy_resamples").set_value(5)
    at.text_input(key="toy_items").input(" 30, 50 ")
    at.text_input(key="toy_order").input("fail,pass")
    assert ToyAnalysis.checked(values(shown(at))) == ToyAnalysis(
        advantage=0.5, resamples=5, items=(30, 50), order=("fail", "pass")
    )
    at.number_input(key="toy_advantage").set_value(None)
    at.text_input(key="toy_order").input("")
    assert ToyAnalysis.checked(values(shown(at))) == ToyAnalysis(resamples=5, items=(30, 50))


class Prices(Settings):
    """Numbers of things that have names."""

    price: dict[str, float] = setting({}, "Price", "of a judge", at_least=0)


def test_of_things_that_are_known_each_has_its_number() -> None:
    names = ("a", "b *c*")
    at = visit(Prices, backend=None, offered={"price": names})
    assert [one.label for one in at.number_input] == ["Price, a", r"Price, b \*c\*"]
    assert values(at) == {"price": {}}
    at.number_input(key="toy_price_b *c*").set_value(2)
    assert values(shown(at)) == {"price": {"b *c*": 2.0}}
    assert values(visit(Prices, backend=None, offered={"price": ()})) == {}


def addressed(model: type, begins: dict) -> None:  # type: ignore[type-arg]  # run by itself, without imports
    import streamlit as st

    from pages.widgets import address, settings_form

    with address.kept("toy"):
        offered = {"language": ("zq", "zr")}
        st.session_state["values"] = settings_form.render(
            model, "toy", offered=offered, begins=begins, in_address=True, backend="openai"
        )


def at_address(begins: Mapping[str, Any], **said: str) -> AppTest:
    at = AppTest.from_function(addressed, args=(ToySettings, begins), default_timeout=60)
    for name, value in said.items():
        at.query_params[name] = value
    return shown(at)


def test_an_address_holds_what_is_chosen_and_no_word_that_is_typed() -> None:
    at = at_address({})
    assert not at.query_params
    at.number_input(key="toy_weight").set_value(0.5)
    at.number_input(key="toy_rounds").set_value(3)
    at.selectbox(key="toy_tone").set_value("strict")
    at.selectbox(key="toy_language").set_value("zr")
    at.checkbox(key="toy_polite").uncheck()
    at.text_input(key="toy_model").input("zs")
    said = {name: "".join(value) for name, value in shown(at).query_params.items()}
    # With a model the usual checker is another than the one that was there.
    assert said.pop("checker") == "llm"
    assert said == {"tone": "strict", "weight": "0.5", "rounds": "3", "polite": "0", "language": "2"}
    again = at_address({}, **said)
    assert {**values(again), "model": "zs", "device": None} == values(at)


@pytest.mark.parametrize("said", ["nan", "inf", "many", "1e9", "-1"])
def test_a_number_of_an_address_that_cannot_be_is_the_default(said: str) -> None:
    at = at_address({"weight": 2.0}, weight=said)
    assert values(at)["weight"] == 2.0
    assert "weight" not in shown(at).query_params


def test_an_excluded_end_can_be_typed_and_is_refused() -> None:
    at = visit(ToyAnalysis, backend=None)
    margin, resamples = at.number_input(key="toy_margin"), at.number_input(key="toy_resamples")
    assert (margin.min, margin.max, resamples.min, resamples.max) == (0.0, 1.0, 1, None)
    margin.set_value(0.0)
    at.text_input(key="toy_items").input("1,x")
    problems: list[Remark] = []
    assert ToyAnalysis.read(values(shown(at)), problems) is None
    assert [one.name for one in problems] == ["margin", "items", "items"]


def test_settings_of_an_analysis_fill_the_form() -> None:
    filled = ToyAnalysis(advantage=0.25, items=(2, 7), weights=(0.5, 3), order=("a, b", "c"))
    at = visit(ToyAnalysis, backend=None, filled=filled)
    assert ToyAnalysis.checked(values(at)) == filled
    at.session_state["put"] = ToyAnalysis()
    assert ToyAnalysis.checked(values(shown(at))) == ToyAnalysis()

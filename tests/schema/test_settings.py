"""Settings as fields: what a field says, every kind of problem, and the words of both doors."""

import argparse
import math
from collections.abc import Mapping
from typing import Any, Literal, Self

import pytest
from helpers.toys.settings import ToyAnalysis, ToySettings
from pydantic import ValidationError, field_validator, model_validator

from core.cli.shared.setting_options import add_settings, settings_given
from core.errors import InputError
from core.judges.rubric import RubricSettings
from core.schema.settings import (
    Remark,
    Settings,
    SettingsError,
    fields_of,
    option_word,
    page_word,
    refuse,
    said,
    setting,
    worded,
)

FIELDS = fields_of(ToySettings)


def problems_of(given: Mapping[str, object], model: type[Settings] = ToySettings) -> list[str]:
    """As a command says them; none where the values can be used."""
    problems: list[Remark] = []
    found = model.read(given, problems)
    assert (found is None) == bool(problems)
    return [said(one, fields_of(model), option_word) for one in problems]


@pytest.mark.parametrize(
    ("name", "shape", "default", "choices", "bounds", "optional"),
    [
        ("tone", "choice", "kind", ("kind", "strict"), (None, None), False),
        ("weight", "number", 1.0, (), (0.001, 1000.0), False),
        ("rounds", "whole", 2, (), (1, 100), False),
        ("loud", "switch", False, (), (None, None), False),
        ("language", "text", "", (), (None, None), False),
        ("only", "texts", (), (), (None, None), False),
        ("limit", "whole", None, (), (1, 50), True),
        ("model", "text", None, (), (None, None), True),
        ("device", "choice", None, ("cpu", "cuda"), (None, None), True),
    ],
)
def test_a_field_has_its_shape_default_and_bounds(
    name: str, shape: str, default: object, choices: tuple[str, ...], bounds: tuple[Any, Any], optional: bool
) -> None:
    one = FIELDS[name]
    assert (one.name, one.shape, one.default, one.choices, one.optional) == (
        name,
        shape,
        default,
        choices,
        optional,
    )
    assert (one.lowest, one.highest) == bounds


def test_fields_stand_in_their_order_without_those_that_no_door_offers() -> None:
    assert list(FIELDS) == [name for name in ToySettings.model_fields if name != "kept"]
    assert list(fields_of(RubricSettings)) == ["order", "repeats", "temperature", "seed"]
    assert FIELDS["rounds"].option == "--times"
    assert fields_of(RubricSettings)["order"].option == "--order"
    assert not FIELDS["loud"].about.scored


@pytest.mark.parametrize(
    ("name", "usual"),
    [
        ("tone", "kind"),
        ("weight", "1"),
        ("rounds", "2 rounds"),
        ("loud", "off"),
        ("polite", "on"),
        ("language", "their own tags"),
        ("only", "all"),
        ("limit", ""),
        ("device", ""),
        ("free", "0.5"),
    ],
)
def test_a_default_is_said_as_a_value_or_in_words(name: str, usual: str) -> None:
    assert FIELDS[name].usual == usual


def test_a_default_keeps_all_its_digits() -> None:
    class Long(Settings):
        share: float = setting(0.123456789, "Share", "of all")
        names: tuple[str, ...] = setting(("a", "b"), "Names", "of systems")
        rater: str = setting("ann", "Rater", "who rates", words={"": "all"})

    assert [one.usual for one in fields_of(Long).values()] == ["0.123456789", "a, b", "ann"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"weight": 2, "rounds": 3.0, "only": ["b", "a", "b"]},  # as JSON holds them
        {"limit": None, "model": None, "device": None},
        {"device": "cuda", "limit": 50, "loud": True, "language": "cs"},
        {"gone": 1, "": 2, "self": 3, "cls": 4, "not a name": 5},
    ],
)
def test_what_can_be_used_is_read_and_unknown_fields_are_left_out(given: dict[str, Any]) -> None:
    settings = ToySettings.checked(given)
    expected = {"only": tuple(given["only"])} if "only" in given else {}
    known = {name: value for name, value in given.items() if name in ToySettings.model_fields}
    assert settings.model_dump() == ToySettings().model_dump() | known | expected
    assert isinstance(settings.weight, float)
    assert isinstance(settings.rounds, int)
    assert hash(settings) == hash(ToySettings.checked(given))


def test_settings_never_change_and_are_equal_where_all_fields_are() -> None:
    settings = ToySettings(rounds=3)
    assert settings == ToySettings.checked({"rounds": 3}) != ToySettings()
    with pytest.raises(ValidationError):
        settings.rounds = 4


def test_a_copy_checks_what_it_changes() -> None:
    settings = ToySettings(tone="strict", only=("a",))
    assert settings.but(tone="kind") == ToySettings(only=("a",))
    for wrong in ({"rounds": 0}, {"weight": 5_000}, {"tone": "loud"}):
        with pytest.raises(SettingsError):
            settings.but(**wrong)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("tone", "loud", "--tone: 'loud' is not one of kind, strict"),
        ("tone", None, "--tone: None is not one of kind, strict"),
        ("tone", ["kind"], "--tone: ['kind'] is not one of kind, strict"),
        ("device", "tpu", "--device: 'tpu' is not one of cpu, cuda"),
        ("weight", 0, "--weight: 0 is not between 0.001 and 1000"),
        ("weight", "heavy", "--weight: 'heavy' is not a number between 0.001 and 1000"),
        ("weight", "2", "--weight: '2' is not a number between 0.001 and 1000"),
        ("weight", None, "--weight: None is not a number between 0.001 and 1000"),
        ("rounds", 0, "--times: 0 is not between 1 and 100"),
        ("rounds", 101, "--times: 101 is not between 1 and 100"),
        ("rounds", 1.5, "--times: 1.5 is not a whole number between 1 and 100"),
        ("rounds", "2", "--times: '2' is not a whole number between 1 and 100"),
        ("limit", "", "--limit: '' is not a whole number between 1 and 50"),
        ("limit", 0, "--limit: 0 is not between 1 and 50"),
        ("limit", "2", "--limit: '2' is not a whole number between 1 and 50"),
        ("free", "much", "--free: 'much' is not a number"),
        ("language", 5, "--language: 5 is not a text"),
        ("language", None, "--language: None is not a text"),
        ("language", b"cs", "--language: b'cs' is not a text"),
        ("model", 5, "--model: 5 is not a text"),
        ("only", "abc", "--only: 'abc' is not a list of texts"),
        ("only", {"a": 1}, "--only: {'a': 1} is not a list of texts"),
        ("only", ["a", 5], "--only: 5 is not a text"),
        ("only", ["a", True], "--only: True is not a text"),
        ("loud", "yes", "--loud: 'yes' is neither true nor false"),
        ("loud", None, "--loud: None is neither true nor false"),
        ("kept", 5, "kept: 5: Input has another type"),
    ],
)
def test_a_value_that_cannot_be_used_is_a_problem_of_its_field(
    name: str, value: object, problem: str
) -> None:
    wrong: list[Remark] = []
    assert ToySettings.read({name: value}, wrong) is None
    assert [one.name for one in wrong] == [name]
    assert problems_of({name: value}) == [problem]


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("name", ["weight", "rounds", "limit", "free", "language", "model", "tone", "device"])
def test_a_truth_value_is_no_number_no_text_and_no_word(name: str, value: bool) -> None:
    [problem] = problems_of({name: value})
    assert problem.startswith(f"{FIELDS[name].option}: {value} is no")


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, "true", "on", ""])
@pytest.mark.parametrize("name", ["loud", "polite"])
def test_neither_a_number_nor_a_text_is_a_truth_value(name: str, value: object) -> None:
    assert problems_of({name: value}) == [f"--{name}: {value!r} is neither true nor false"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["weight", "rounds", "limit", "free"])
def test_numbers_are_finite(name: str, value: float) -> None:
    [problem] = problems_of({name: value})
    assert problem.startswith(f"{FIELDS[name].option}: {value} is not ")


def test_a_huge_number_is_a_problem_and_no_defect() -> None:
    assert problems_of({"free": 10**400}) == [f"--free: {10**400} is not a number"]
    assert problems_of({"rounds": 10**400}) == [f"--times: {10**400} is not between 1 and 100"]


def test_all_problems_are_found_at_once_and_one_of_a_field_once() -> None:
    given = {"tone": "x", "weight": -1, "rounds": True, "loud": 1, "only": [1, "a", 2], "device": "x"}
    assert [one.partition(":")[0] for one in problems_of(given)] == [
        "--tone",
        "--weight",
        "--times",
        "--loud",
        "--only",
        "--only",
        "--device",
    ]
    with pytest.raises(SettingsError) as caught:
        ToySettings.checked(given)
    assert caught.value.n_problems == 7
    assert [one.name for one in caught.value.found_in] == [
        "tone",
        "weight",
        "rounds",
        "loud",
        "only",
        "only",
        "device",
    ]


class Own(Settings):
    """With checks of its own."""

    low: int = setting(0, "Lowest", "of two")
    high: int = setting(1, "Highest", "of two")
    hidden: int = 0

    @field_validator("low", "hidden")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError(f"{{{value}}} is odd")
        return value

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low >= self.high:
            raise ValueError("the first is not below the second")
        return self


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"low": 3}, "--low: {3} is odd"),
        ({"hidden": 3}, "hidden: {3} is odd"),
        ({"low": 4}, "the first is not below the second"),
    ],
)
def test_checks_of_the_settings_own_say_their_own_words(given: dict[str, int], problem: str) -> None:
    assert problems_of(given, Own) == [problem]


HOSTILE = (
    "{tone}",
    "{tone=strict}",
    "{value}",
    "{}",
    "{0}",
    "{{tone}}",
    "{message}",
    "%s %(prog)s",
    "\\1\\g<0>",
)


@pytest.mark.parametrize("word", [option_word, page_word])
@pytest.mark.parametrize("text", HOSTILE)
def test_braces_of_users_stay_what_they_are(text: str, word: Any) -> None:
    remark = Remark("language", "{shown} beside {tone=strict}", {"shown": text})
    assert (
        said(remark, FIELDS, word)
        .removeprefix(f"{word(FIELDS['language'], None)}: ")
        .startswith(f"{text} beside ")
    )
    for name in ("tone", "weight", "rounds", "loud", "limit", "device"):
        wrong: list[Remark] = []
        assert ToySettings.read({name: text}, wrong) is None
        [problem] = wrong
        assert said(problem, FIELDS, word).startswith(f"{word(FIELDS[name], None)}: {text!r} is n")
    with pytest.raises(SettingsError) as caught:
        ToySettings.checked({"only": [{text: text}]})
    assert f"{ {text: text}!r} is not a text" in str(caught.value)
    assert f"{ {text: text}!r} is not a text" in str(caught.value.in_words(option_word))


def test_both_doors_name_the_same_fields() -> None:
    [problem] = ToySettings(loud=True).problems("openai")
    assert said(problem, FIELDS, option_word) == "--loud: only with --tone strict and with --times of 3"
    assert said(problem, FIELDS, page_word) == (
        'Speak up: only with "Tone: without mercy" and with "Rounds" of 3'
    )


@pytest.mark.parametrize(
    ("text", "option", "page"),
    [
        ("{tone}", "--tone", '"Tone"'),
        ("{rounds}", "--times", '"Rounds"'),
        ("{loud=on}", "--loud", '"Speak up: on"'),
        ("{device=cuda}", "--device cuda", '"Device: cuda"'),
        ("{nothing} {nothing=1} {} {a b}", *["{nothing} {nothing=1} {} {a b}"] * 2),
    ],
)
def test_a_text_has_the_words_of_its_door(text: str, option: str, page: str) -> None:
    assert worded(text, FIELDS, option_word) == option
    assert worded(text, FIELDS, page_word) == page


def test_a_value_stands_before_a_field_of_its_name() -> None:
    assert worded("{tone}, {tone=strict}", FIELDS, option_word, {"tone": "{loud}"}) == "{loud}, --tone strict"


def test_an_error_has_the_pages_words_and_every_doors() -> None:
    wrong = [Remark("rounds", "too few"), Remark("", "nothing to read"), Remark("gone", "{n} left", {"n": 0})]
    with pytest.raises(SettingsError) as caught:
        refuse(wrong, ToySettings)
    error = caught.value
    assert error.what == SettingsError.START
    assert list(error.problems) == ["Rounds: too few", "nothing to read", "0 left"]
    typed = error.in_words(option_word)
    assert type(typed) is InputError
    assert (typed.what, *typed.problems) == (error.what, "--times: too few", "nothing to read", "0 left")
    assert error.found_in == tuple(wrong)


def test_fields_of_several_settings_and_of_others_are_known_to_an_error() -> None:
    refuse([], ToySettings)
    alone = FIELDS["tone"]
    with pytest.raises(SettingsError) as caught:
        refuse([Remark("tone", "and {temperature}")], RubricSettings, also=[alone])
    assert list(caught.value.in_words(option_word).problems) == ["--tone: and --temperature"]


class Read(Settings):
    """With fields that understand more than their type."""

    n_levels: int = setting(4, "Levels", "A0-A4 or a number", within=(1, 9), option="levels")
    picked: tuple[int, ...] = setting((0, 1), "Picked", "such as 0,1", words={"0, 1": "0-1"})
    engine: dict[str, Any] = setting({}, "Engine", "of vllm")

    @field_validator("n_levels", mode="before")
    @classmethod
    def _levels(cls, given: object) -> object:
        return int(given[-1]) if isinstance(given, str) and given.startswith("A0-A") else given

    @field_validator("picked", mode="before")
    @classmethod
    def _numbers(cls, given: object) -> object:
        return tuple(map(int, given.split(","))) if isinstance(given, str) else given


def test_a_field_may_read_what_is_of_another_type() -> None:
    read = Read.checked({"n_levels": "A0-A3", "picked": "4,5", "engine": {"seed": 1}})
    assert (read.n_levels, read.picked, read.engine) == (3, (4, 5), {"seed": 1})
    assert problems_of({"n_levels": "many", "picked": {"a": 1}, "engine": 3}, Read) == [
        "--levels: 'many' is not a whole number between 1 and 9",
        "--picked: {'a': 1}: input should be a valid tuple",
        "--engine: 3: input should be a valid dictionary",
    ]
    assert problems_of({"n_levels": True, "picked": ["x"]}, Read)[0].startswith(
        "--levels: True is not a whole"
    )
    fields = fields_of(Read)
    assert [one.shape for one in fields.values()] == ["whole", "other", "other"]
    assert [one.usual for one in fields.values()] == ["4", "0-1", ""]


def test_bounds_at_their_ends() -> None:
    class Ends(Settings):
        share: float = setting(0.0, "Share", "of all", within=(0.0, 0.9))
        n: int = setting(0, "N", "of all", within=(0, 2**53 - 1))
        way: Literal["a"] = setting("a", "Way", "the only one")

    for share, n in ((0, 0), (0.9, 2**53 - 1)):
        assert Ends.checked({"share": share, "n": n}).n == n
    assert problems_of({"share": 0.9000001, "n": 2**53, "way": "b"}, Ends) == [
        "--share: 0.9000001 is not between 0 and 0.9",
        f"--n: {2**53} is not between 0 and {2**53 - 1}",
        "--way: 'b' is not one of a",
    ]


def test_a_door_may_have_a_word_of_its_own() -> None:
    text = Remark("tone", "not with {rounds}")
    assert (
        said(text, FIELDS, lambda field, _: f"settings, {field.name}")
        == "settings, tone: not with settings, rounds"
    )


@pytest.mark.parametrize(
    ("name", "ends", "open_ends", "words"),
    [
        ("margin", (0, 1), (True, False), "above 0 and at most 1"),
        ("epsilon", (0, 1), (False, True), "from 0 to below 1"),
        ("advantage", (0, 1), (True, True), "above 0 and below 1"),
        ("resamples", (1, None), (False, False), "at least 1"),
        ("items", (2, 1_000_000), (False, False), "between 2 and 1000000"),
        ("weights", (0, None), (True, False), "above 0"),
        ("order", (None, None), (False, False), ""),
    ],
)
def test_bounds_may_exclude_an_end_or_lack_one(
    name: str, ends: tuple[Any, Any], open_ends: tuple[bool, bool], words: str
) -> None:
    one = fields_of(ToyAnalysis)[name]
    assert (one.lowest, one.highest) == ends
    assert (one.above_lowest, one.below_highest) == open_ends
    assert one.bounds() == words


def test_bounds_of_one_side_above_only_or_below_only() -> None:
    class Below(Settings):
        most: int = setting(0, "Most", "of all", at_most=5)
        under: float = setting(0.0, "Under", "of all", below=5)

    assert [one.bounds() for one in fields_of(Below).values()] == ["at most 5", "below 5"]
    assert Below.checked({"most": 5, "under": -1e300}) == Below(most=5, under=-1e300)
    assert problems_of({"most": 6, "under": 5}, Below) == [
        "--most: 6 is not at most 5",
        "--under: 5 is not below 5",
    ]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("margin", 0, "--margin: 0 is not above 0 and at most 1"),
        ("margin", 1.5, "--margin: 1.5 is not above 0 and at most 1"),
        ("margin", "x", "--margin: 'x' is not a number above 0 and at most 1"),
        ("epsilon", 1, "--epsilon: 1 is not from 0 to below 1"),
        ("epsilon", math.nan, "--epsilon: nan is not from 0 to below 1"),
        ("advantage", 0, "--advantage: 0 is not above 0 and below 1"),
        ("advantage", 1.0, "--advantage: 1 is not above 0 and below 1"),
        ("resamples", 0, "--resamples: 0 is not at least 1"),
        ("resamples", "x", "--resamples: 'x' is not a whole number of at least 1"),
        ("resamples", math.inf, "--resamples: inf is not a whole number of at least 1"),
        ("weights", [math.inf], "--weights: inf is not a number above 0"),
        ("weights", "1,1e400", "--weights: inf is not a number above 0"),
    ],
)
def test_a_problem_tells_which_ends_are_excluded(name: str, value: object, problem: str) -> None:
    assert problems_of({name: value}, ToyAnalysis) == [problem]


def test_included_ends_are_within_bounds() -> None:
    values = {"margin": 1, "epsilon": 0, "advantage": 0.999, "resamples": 10**30, "weights": [1e-300]}
    assert problems_of(values, ToyAnalysis) == []


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("30, 50,100", (30, 50, 100)),
        ("30", (30,)),
        ("30,,50,", (30, 50)),
        ("30\n50", (30, 50)),
        (range(2, 5), (2, 3, 4)),
        ([30, 30], (30, 30)),
        ((2.0, 1_000_000), (2, 1_000_000)),  # as JSON holds whole numbers
        (30, (30,)),  # as YAML reads a list with one number
    ],
)
def test_a_list_is_read_from_a_text_with_commas_or_a_sequence(given: object, values: tuple[int, ...]) -> None:
    found = ToyAnalysis.checked({"items": given}).items
    assert found == values
    assert {type(one) for one in found} == {int}


def test_every_value_of_a_list_has_its_own_problem() -> None:
    given = {"items": "30,x,1,1.5,2000000", "weights": "0.5,0,y", "order": ["a", 5, True]}
    assert problems_of(given, ToyAnalysis) == [
        "--items: 'x' is not a whole number between 2 and 1000000",
        "--items: 1 is not between 2 and 1000000",
        "--items: '1.5' is not a whole number between 2 and 1000000",
        "--items: 2000000 is not between 2 and 1000000",
        "--weights: 0 is not above 0",
        "--weights: 'y' is not a number above 0",
        "--order: 5 is not a text",
        "--order: True is not a text",
    ]
    assert problems_of({"items": [True, "30", None]}, ToyAnalysis) == [
        f"--items: {value!r} is not a whole number between 2 and 1000000" for value in (True, "30", None)
    ]


@pytest.mark.parametrize("value", [None, {"a": 1}, {1, 2}, b"30"])
def test_what_is_no_list_is_a_problem(value: object) -> None:
    assert problems_of({"items": value}, ToyAnalysis) == [
        f"--items: {value!r} is not a list of whole numbers"
    ]


@pytest.mark.parametrize("nothing", ["", "  ", ",", [], ()])
def test_only_a_list_that_is_optional_or_empty_by_default_may_be_empty(nothing: object) -> None:
    assert ToyAnalysis.checked({"weights": nothing, "order": nothing}) == ToyAnalysis()
    assert problems_of({"items": nothing}, ToyAnalysis) == ["--items: at least one whole number is needed"]


def test_a_list_is_typed_as_it_is_read() -> None:
    fields = fields_of(ToyAnalysis)
    assert [fields[name].usual for name in ("items", "weights", "order")] == [
        "30,50,100,200",
        "",
        "alphabetical",
    ]
    assert fields["items"].valued((30, 50)) == "items 30,50"
    labels = ("a, b", 'says "x"', '"y" too', "c")
    text = fields["order"].typed(labels)
    assert ToyAnalysis.checked({"order": text}).order == labels
    assert ToyAnalysis.checked({"order": "alphabetical"}).order is None


class Typed(ToyAnalysis):
    """With what a command takes in forms of its own."""

    price: dict[str, float] = setting({}, "Price", "of a judge", metavar="JUDGE=MONEY")
    columns: dict[str, str] = setting({}, "Columns", "of scores", listed=True, metavar="COLUMN=D,...")
    only: tuple[str, ...] = setting((), "Only", "system")
    averaged: Literal["macro", "pooled"] = setting(
        "macro", "Means", "over", apart={"macro": "a", "pooled": "b"}
    )
    polite: bool = setting(True, "Say please", "whether it does")
    loud: bool = setting(False, "Loud", "whether it is")


def test_settings_are_the_words_that_a_user_types_for_them() -> None:
    assert Typed().option_words == ()
    chosen = Typed(
        margin=0.2,
        items=(30, 50),
        price={"a=b": 4.0, "c": 0.5},
        columns={"a, b=c": "D", "e": "F"},
        only=("s 1", "t"),
        averaged="pooled",
        polite=False,
        loud=True,
    )
    assert chosen.option_words == (
        *("--margin", "0.2", "--items", "30,50", "--price", "a=b=4", "--price", "c=0.5"),
        *("--columns", '"a, b=c=D",e=F'),
        *("--only", "s 1", "--only", "t", "--pooled", "--no-polite", "--loud"),
    )
    command = argparse.ArgumentParser()
    add_settings(command, Typed)
    read = settings_given(command.parse_args(chosen.option_words), Typed)
    assert Typed.checked(read) == chosen


def test_a_list_of_names_with_values_has_names_of_the_data() -> None:
    read = Typed.checked({"columns": ' "a, b" = D , e f=G'})
    assert read.columns == {"a, b": "D", "e f": "G"}
    assert Typed.checked({"columns": ["a, b=D"]}).columns == {"a, b": "D"}
    assert Typed.checked({"columns": " "}).columns == {}
    assert problems_of({"columns": "a=D,b"}, Typed) == ["--columns: 'b' is not COLUMN=D"]
    assert problems_of({"columns": ["=D"]}, Typed) == ["--columns: '=D' is not COLUMN=D"]

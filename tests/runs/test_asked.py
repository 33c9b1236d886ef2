"""What a user asks for: every problem together before anything costs something, and what a run keeps of it."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from helpers.models.adapters import small_adapter, small_model
from helpers.texts.judge_runs import RUNNING, create_told, named, settings, takes_a_model, texts

from core.errors import InputError
from core.judges import alignment, answers, claims, cross_examination, rubric
from core.judges.answers import QuestionSet
from core.judges.claims import STAND_IN
from core.judges.kind import JudgeKind
from core.judges.questions import CrossQuestion
from core.llm.prompts import Prompt, find_prompt, shipped_prompts
from core.metrics import kind as metrics
from core.runs.asked import ModelSettings, Running, ask, asked_from, asked_of, described, kept
from core.runs.jobs import client_of
from core.runs.kinds import KINDS, kind_named
from core.runs.path import create, saved_run
from core.runs.records import write_pieces
from core.schema.runs import Kind
from core.schema.scores import ScoredRow
from core.schema.settings import SettingsError, fields_of, option_word, page_word
from core.store import Store
from core.store.runs import list_runs

URL = "http://127.0.0.1:1/v1"
SERVER: dict[str, Any] = {"backend": "openai", "model": "org/tiny", "base_url": URL}
JUDGES = [kind for kind in KINDS.values() if isinstance(kind, JudgeKind)]


@pytest.mark.parametrize(
    ("kind", "fields", "names"),
    [
        ("rubric", {}, ["rubric"]),
        ("claims", {}, ["decompose-low-low", "verify"]),
        ("claims", {"atomicity": "high", "coverage": "low", "verifier": "nli"}, ["decompose-high-low"]),
        ("claims", {"backend": "rules", "verifier": "rules"}, []),
        ("cef", {}, ["questions-yes", "answers"]),
        ("cef", {"answers": "each", "questions": "mixed"}, ["questions-mixed", "answer"]),
        ("cef", {"mode": "round-trip"}, ["questions-yes", "answers", "translate-back"]),
        ("answers", {"answers": "each"}, ["answer"]),
        ("alignment", {}, ["align"]),
        ("alignment", {"backend": "rules"}, []),
    ],
)
def test_each_judge_asks_with_its_own_prompts(kind: str, fields: dict[str, Any], names: list[str]) -> None:
    chosen = settings(kind, URL, **fields)
    slots = chosen.settings.prompts(by_rules=chosen.by_rules)
    assert [slot.shipped for slot in slots] == names
    assert list(chosen.prompts.values()) == [find_prompt(name).dump() for name in names]


def prompts(*names: str) -> list[Prompt]:
    return [find_prompt(name) for name in names]


def test_another_prompt_takes_the_place_of_the_shipped_one() -> None:
    assert list(settings("rubric", URL, prompts=prompts("rubric-text")).prompts) == ["rubric-text"]
    own = replace(find_prompt("answers"), name="mine", user="$text\n$questions")
    found = settings("cef", URL, prompts=[own]).prompts
    assert "mine" in found["answers"]
    assert "questions-yes" in found["questions"]


def refused(kind: Kind, given: dict[str, Any], model: dict[str, Any], *chosen: str) -> SettingsError:
    """The refusal of these prompts."""
    attached = kind.attachment.find(kind.attachment.usual) if kind.attachment else ""
    with pytest.raises(SettingsError) as caught:
        ask(kind, given, model, {}, attached=attached, prompts=prompts(*chosen))
    return caught.value


def test_prompts_that_do_not_fit_are_named_together_with_what_is_wrong_in_settings() -> None:
    names = ("answer", "questions-mixed", "answers", "answers", "rubric")
    found = refused(cross_examination.KIND, {"repeats": 0}, SERVER, *names)
    assert [one.name for one in found.found_in] == ["repeats", *4 * ["prompt"]]
    assert found.in_words(option_word).problems[1:] == (
        "--prompt: answer is for answer, but this run uses prompts for questions, answers; leave it out, or choose --answers each",
        "--prompt: questions-mixed is for the task mixed, but this run's task is yes; leave it out, or choose --kind-of-questions "
        "mixed",
        "--prompt: answers is the second prompt for answers; choose one",
        "--prompt: rubric is for rubric, but this run uses prompts for questions, answers; leave it out",
    )
    (both,) = refused(rubric.KIND, {}, SERVER, "rubric", "rubric-text").found_in
    assert both.values == {"prompt": "rubric-text", "first": "rubric", "purpose": "rubric-text"}
    (none,) = refused(claims.KIND, {}, {}, "verify").found_in
    assert none.fields == {"prompt", "backend"}


@pytest.mark.parametrize("prompt", shipped_prompts(), ids=lambda prompt: prompt.name)
def test_a_refused_prompt_names_the_settings_with_which_it_can_be_sent(prompt: Prompt) -> None:
    """Of every shipped prompt: the usual run sends it, or names settings; with these it is sent."""
    sent = 0
    for kind in (one for one in KINDS.values() if not one.by_metrics and takes_a_model(one)):
        attached = kind.attachment.find(kind.attachment.usual) if kind.attachment else ""
        given: dict[str, Any] = {}
        try:
            found, _ = ask(kind, given, SERVER, {}, attached=attached, prompts=[prompt])
        except SettingsError as wrong:
            (problem,) = wrong.found_in
            given = dict(re.findall(r"\{(\w+)=([\w-]+)\}", problem.text))
            if not given:
                continue
            found, _ = ask(kind, given, SERVER, {}, attached=attached, prompts=[prompt])
        assert found.prompts[prompt.purpose] == prompt.dump()
        sent += 1
    assert sent >= 1


GIVEN = [
    (cross_examination.KIND, {"source_language": "Dutch"}, SERVER, {}, ["source_language"], {"mode"}),
    (claims.KIND, {"nli_model": "some/model", "verifier": "rules"}, SERVER, {}, ["nli_model"], {"verifier"}),
    (claims.KIND, {"temperature": 0.5, "coverage": "high"}, {}, {}, ["coverage", "temperature"], {"backend"}),
    (KINDS["quality"], {"held_out": 0.3}, SERVER, {}, ["held_out"], set()),
    (KINDS["direct"], {"examples": "none", "n_examples": 2}, SERVER, {}, ["n_examples"], {"examples"}),
    (KINDS["factual"], {"edit_calls": "shared"}, {}, {}, ["edit_calls"], {"backend"}),
    (
        KINDS["damage"],
        {},
        {
            "backend": "rules",
            "model": "m",
            "base_url": URL,
            "attempts": 3,
            "max_model_len": 9,
            "engine": {"a": 1},
        },
        {"concurrency": 32, "input_price": 1.0},
        ["model", "base_url", "attempts", "max_model_len", "engine", "concurrency", "input_price"],
        {"backend"},
    ),
    (
        KINDS["damage"],
        {},
        {"backend": "vllm", "model": "m", "base_url": URL, "engine": {"quantization": "awq"}},
        {"concurrency": 4, "timeout": 9.0, "retries": 4, "key_variable": "KEY", "output_price": 2.0},
        ["base_url", "concurrency", "timeout", "retries", "key_variable", "output_price"],
        {"backend"},
    ),
    (
        KINDS["damage"],
        {},
        {**SERVER, "engine": {"a": 1}, "max_model_len": 9, "adapter": "polite"},
        {"concurrency": 4},
        ["max_model_len", "adapter", "engine"],
        {"backend"},
    ),
]


@pytest.mark.parametrize(("kind", "given", "model", "running", "idle", "choose"), GIVEN)
def test_a_setting_that_does_nothing_is_refused(
    kind: Kind,
    given: dict[str, Any],
    model: dict[str, Any],
    running: dict[str, Any],
    idle: list[str],
    choose: set[str],
) -> None:
    attached = kind.attachment.find(kind.attachment.usual) if kind.attachment else ""
    with pytest.raises(SettingsError) as caught:
        ask(kind, given, model, running, attached=attached)
    problems = caught.value.found_in
    assert sorted(one.name for one in problems) == sorted(idle)
    assert {name for one in problems for name in one.fields - {one.name}} == choose


def refused_fields(*given: Any, **more: Any) -> list[str]:
    """Names of the fields that `ask` refuses; none where all can be used."""
    try:
        ask(*given, **more)
    except SettingsError as wrong:
        return [one.name for one in wrong.found_in]
    return []


def test_everything_wrong_is_named_together_whoever_it_is_of() -> None:
    found = refused_fields(
        cross_examination.KIND,
        {"n_questions": 0, "repeats": 0, "temperature": 3},
        {"backend": "openai", "attempts": 0},
        {"concurrency": 0, "timeout": "long"},
        name="a b",
    )
    assert found == [
        *("n_questions", "repeats", "temperature"),
        "attempts",
        *("concurrency", "timeout"),
        *("model", "base_url"),
        "name",
    ]
    between = refused_fields(
        claims.KIND,
        {"nli_model": "some/model", "verifier": "rules"},
        {"backend": "openai", "model": "", "base_url": "ftp://x"},
        {"key_variable": "NO_SUCH_VARIABLE"},
        name="a:b",
    )
    assert between == ["nli_model", "model", "base_url", "key_variable", "name"]
    by_rules = refused_fields(rubric.KIND, {}, {"backend": "rules", "model": "m", "base_url": URL}, {})
    assert by_rules == ["model", "base_url", "backend", "rubric_text"]
    assert refused_fields(metrics.KIND, {"metrics": ()}, {}, {"batch_size": 0}) == ["batch_size", "metrics"]


def test_a_problem_is_said_in_the_words_of_each_door() -> None:
    with pytest.raises(SettingsError) as refused:
        ask(cross_examination.KIND, {"n_questions": 0}, SERVER, {})
    assert str(refused.value).endswith("Questions from each text: 0 is not between 1 and 100")
    assert refused.value.in_words(option_word).problems == ("--questions: 0 is not between 1 and 100",)
    assert page_word(refused.value.fields["n_questions"], None) == "Questions from each text"


def numbers_of(kind: Kind) -> list[str]:
    return [name for name, one in fields_of(kind.Settings).items() if one.bounds()]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in JUDGES for name in numbers_of(kind)])
def test_a_run_takes_the_numbers_that_a_folder_may_hold(kind: Kind, name: str) -> None:
    one = fields_of(kind.Settings)[name]
    assert one.lowest is not None
    assert one.highest is not None
    beyond: tuple[Any, ...] = (one.lowest - 1, one.highest + 1, -one.lowest - 1, math.nan, 2**64, 1e17, True)
    for value in (one.lowest, one.highest, *beyond):
        there = value is not True and one.lowest <= value <= one.highest
        problems: list[Any] = []
        kind.Settings.read({name: value}, problems)
        assert [problem.name for problem in problems] == ([] if there else [name])
        by, model = ("openai", SERVER) if takes_a_model(kind) else ("rules", {})
        if name not in kind.Settings().idle(by):
            assert refused_fields(kind, {name: value}, model, {}, attached="-") == ([] if there else [name])


def test_every_number_of_a_judge_has_its_bounds() -> None:
    assert [
        (kind.name, name)
        for kind in JUDGES
        for name, one in fields_of(kind.Settings).items()
        if one.shape in ("number", "whole") and not one.bounds()
    ] == []
    assert {kind.name: numbers_of(kind) for kind in JUDGES}.items() >= {
        "rubric": ["repeats", "temperature", "seed"],
        "pairwise": ["repeats", "temperature", "seed"],
        "claims": ["beta", "temperature", "seed"],
        "cef": ["n_questions", "repeats", "temperature", "seed"],
        "automqm": ["n_examples", "repeats", "temperature", "seed"],
        "direct": ["n_examples", "repeats", "temperature", "seed"],
        "quality": ["shots", "held_out", "shuffled_words", "repeats", "temperature", "seed"],
    }.items()


@pytest.mark.parametrize("language", ["", "  ", "\n", "\u200b"])
def test_a_round_trip_needs_a_language_to_come_back_to(language: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings("cef", URL, mode="round-trip", source_language=language)
    (problem,) = named(refused.value)
    assert problem.startswith("source_language: is empty")


def test_other_modes_do_not_translate() -> None:
    assert list(cross_examination.CefSettings(source_language="").problems("openai")) == []
    assert settings("cef", URL, mode="round-trip", source_language="German").settings.translates


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        ("rubric", {}, "rubric-tiny"),
        ("claims", {}, "claims-tiny"),
        ("claims", {"verifier": "nli"}, "claims-nli-tiny"),
        ("claims", {"verifier": "rules"}, "claims-rules-tiny"),
        ("claims", {"verifier": "rules", "backend": "rules"}, "claims-rules"),
        ("claims", {"verifier": "nli", "backend": "rules"}, "claims-nli-rules"),
        ("cef", {}, "cef-tiny"),
        ("cef", {"mode": "reference"}, "cef-reference-tiny"),
        ("cef", {"mode": "round-trip"}, "cef-round-trip-tiny"),
        ("cef", {"mode": "round-trip", "name": "mine"}, "mine"),
    ],
)
def test_the_modes_of_a_judge_have_names_of_their_own(kind: str, fields: dict[str, Any], name: str) -> None:
    model = {} if "backend" in fields else {"model": "org/tiny"}
    assert settings(kind, URL, **model, **fields).called == name


@pytest.mark.parametrize(
    ("kind", "fields", "told"),
    [
        ("claims", {"backend": "rules", "verifier": "rules"}, True),
        ("claims", {"verifier": "rules"}, True),
        ("claims", {"backend": "rules", "verifier": "nli"}, True),
        ("claims", {}, False),
        ("rubric", {}, False),
    ],
)
def test_what_rules_say_is_told_to_be_a_stand_in(
    kind: str, fields: dict[str, Any], told: bool, store: Store
) -> None:
    _, notes = create_told(store, texts(1), "t.jsonl", settings(kind, URL, **fields))
    assert (STAND_IN in notes) == told


@pytest.mark.parametrize(
    ("model", "nli", "who"), [({}, "", "rules"), (SERVER, "", "llm"), ({}, "m", "nli"), (SERVER, "m", "nli")]
)
def test_who_verifies_unless_the_user_says_so(model: Mapping[str, Any], nli: str, who: str) -> None:
    asked, _ = ask(claims.KIND, {"nli_model": nli} if nli else {}, model, {})
    assert asked.settings.verifier == who
    said, _ = ask(claims.KIND, {"verifier": "rules"}, model, {})
    assert said.settings.verifier == "rules"


def test_a_path_is_whole_wherever_its_run_works(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nli").mkdir()
    monkeypatch.chdir(tmp_path)
    by_claims, _ = ask(claims.KIND, {"nli_model": "nli"}, {}, {})
    by_metric, _ = ask(
        metrics.KIND, {"metrics": ("comet-wmt22-da",), "models": {"comet-wmt22-da": "nli"}}, {}, {}
    )
    assert by_claims.settings.nli_model == str(tmp_path / "nli")
    assert list(by_metric.settings.models.values()) == [str(tmp_path / "nli")]
    elsewhere, _ = ask(claims.KIND, {"nli_model": "org/gone"}, {}, {})
    assert elsewhere.settings.nli_model == "org/gone"


def test_an_adapter_is_part_of_the_model(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, polite = small_model(tmp_path / "model"), small_adapter(tmp_path / "polite")
    monkeypatch.chdir(tmp_path)
    chosen = {"backend": "vllm", "model": str(model)}
    asked, _ = ask(KINDS["damage"], {}, {**chosen, "adapter": "polite"}, {})
    assert (asked.model.adapter, asked.called) == (str(polite), "model+polite")
    assert kept(asked)["adapter"] == str(polite)
    assert asked_from(asked.kind, kept(asked)) == asked
    client = client_of(asked.model, Running())
    assert client is not None
    assert str(client.identity["adapter"]).startswith("sha256:")
    assert "adapter" not in kept(ask(KINDS["damage"], {}, chosen, {})[0]), "as older versions stored it"


def test_what_is_wrong_with_an_adapter_is_named_with_everything_else(tmp_path: Any) -> None:
    model, wide = small_model(tmp_path / "model"), small_adapter(tmp_path / "wide", width=8, use_dora=True)
    chosen = {"backend": "vllm", "model": str(model), "attempts": 0, "adapter": str(wide)}
    with pytest.raises(SettingsError) as refused:
        ask(KINDS["damage"], {}, chosen, {})
    assert [one.name for one in refused.value.found_in] == ["attempts", "adapter", "adapter"]


@pytest.mark.parametrize(
    ("kind", "fields", "told"),
    [
        ("rubric", {"repeats": 3}, True),
        ("cef", {"mode": "reference", "repeats": 3}, True),
        ("cef", {"mode": "reference", "repeats": 3, "temperature": 0.7}, False),
        ("rubric", {}, False),
        ("claims", {}, False),
    ],
)
def test_repeats_at_temperature_0_are_told_before_they_cost_anything(
    kind: str, fields: dict[str, Any], told: bool, store: Store
) -> None:
    _, notes = create_told(store, texts(1), "t.jsonl", settings(kind, URL, **fields))
    assert any("3 repeats at temperature 0" in note for note in notes) == told


def rows(**fields: str) -> bytes:
    lines = [
        {"item_id": str(n), "system": "s", "text": "It was built in 1900 by Ida Holm.", **fields}
        for n in range(4)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_a_file_in_which_nothing_can_be_judged_makes_no_run(store: Store) -> None:
    no_source = "has no source for any text, but this judge compares each text with it: add the column"
    for kind, data, said in (
        ("rubric", rows(source="Who?"), "has no reference for any text"),
        ("claims", rows(), "has no reference for any text"),
        ("cef", rows(), f"{no_source}."),
        ("cef", rows(reference="In 1900."), f"{no_source}, or compare with the references (mode=reference)"),
    ):
        with pytest.raises(SettingsError) as refused:
            create(store, data, "t.jsonl", settings(kind, URL), RUNNING)
        assert said in "".join(named(refused.value))
    assert list_runs(store) == []


def test_a_question_in_the_place_of_a_source_is_told(store: Store) -> None:
    asked = rows(source="Who built it?", reference="Ida Holm built it.")
    _, notes = create_told(store, asked, "t.jsonl", settings("cef", URL))
    (note,) = notes
    assert "the source of 4 of 4 texts looks like a question" in note
    assert "mode=reference" in note
    for chosen in (settings("cef", URL, mode="reference"), settings("rubric", URL)):
        assert create(store, asked, "t.jsonl", chosen, RUNNING)[1] == ()
    assert create(store, texts(2), "t.jsonl", settings("cef", URL), RUNNING)[1] == ()


def test_a_rubric_is_needed_and_has_to_be_one(store: Store) -> None:
    assert refused_fields(rubric.KIND, {}, SERVER, {}) == ["rubric_text"]
    with pytest.raises(InputError, match=r"rubric\.yaml"):
        create(store, texts(1), "t.jsonl", settings("rubric", URL, attached="levels: 3"), RUNNING)
    with pytest.raises(SettingsError) as refused:
        create(store, texts(1), "t.jsonl", settings("rubric", URL), RUNNING, limit=0)
    assert [one.name for one in refused.value.found_in] == ["limit"]
    assert list_runs(store) == []


def test_what_a_run_keeps_is_what_was_asked_for(store: Store) -> None:
    chosen = settings("claims", f"{URL}/", atomicity="high", beta=2)
    assert chosen.model.base_url == URL
    run, _ = create(store, texts(1), "t.jsonl", chosen, RUNNING)
    saved = saved_run(store, run.run.run_id)
    assert (saved.request, saved.running) == (chosen, RUNNING)
    told = described(saved.request)
    assert told["prompts"]["decompose"]["name"] == "decompose-high-low"
    assert told["name"] == "claims-tiny"
    assert not {"rubric", "cef", "rubric_text"} & set(told)


@pytest.mark.parametrize(
    ("kind", "by_rules"),
    [
        pytest.param(kind, by_rules, id=f"{kind.name} by {'rules' if by_rules else 'a model'}")
        for kind in KINDS.values()
        for by_rules in (False, True)
        if (kind.Settings.MODEL_FREE if by_rules else takes_a_model(kind))
    ],
)
def test_what_is_kept_comes_back_as_it_was_asked_for(kind: Kind, by_rules: bool) -> None:
    attached = "" if kind.attachment is None else kind.attachment.find(kind.attachment.usual)
    given: dict[str, Any] = {"metrics": ("bleu-4",)} if kind.by_metrics else {"seed": 7}
    if by_rules and "seed" in kind.Settings().idle("rules"):
        given = {}
    asked, running = ask(kind, given, {} if by_rules else SERVER, {}, name="mine", attached=attached)
    text = json.dumps(kept(asked))
    again = asked_from(kind, json.loads(text))
    expected = (
        asked if kind.work not in ("scores", "tables") else replace(asked, name="", model=ModelSettings())
    )
    assert again == expected
    assert json.dumps(kept(again)) == text, "equal settings are equal texts"
    assert type(running).model_validate(json.loads(running.model_dump_json())) == running
    assert asked_from(kind, json.loads(json.dumps(described(asked)))).settings == asked.settings


def test_a_run_of_a_kind_that_is_not_there_says_so(store: Store) -> None:
    """As in a database that a newer Assay wrote."""
    run, _ = create(store, texts(1), "t.jsonl", settings("rubric", URL), RUNNING)
    with store.writing():
        store.table("run").update(run.run.run_id, {"kind": "divination"})
    for look in (lambda: saved_run(store, run.run.run_id), lambda: asked_of(list_runs(store)[0])):
        with pytest.raises(InputError, match="'divination'") as refused:
            look()
        assert all(name in str(refused.value) for name in KINDS)
    with pytest.raises(InputError, match="There is no kind of run called ''"):
        kind_named("")


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"settings": {"backend": "oracle"}}, "backend"),
        ({"settings": {"backend": "openai", "rubric": {"order": "sideways"}}}, "order"),
        ({"running": {"timeout": "soon"}}, "timeout"),
    ],
)
def test_a_run_that_a_newer_assay_saved_names_what_cannot_be_read(
    store: Store, changed: dict[str, object], field: str
) -> None:
    run, _ = create(store, texts(1), "t.jsonl", settings("rubric", URL), RUNNING)
    with store.writing():
        store.table("run").update(run.run.run_id, {name: json.dumps(kept) for name, kept in changed.items()})
    saved = saved_run(store, run.run.run_id)
    with pytest.raises(SettingsError) as refused:
        _ = saved.request, saved.running
    assert [one.name for one in refused.value.found_in] == [field]
    assert refused.value.what.startswith(f"Run {run.run.run_id} cannot be read")


@pytest.mark.parametrize(
    "broken", [{"rubric": "ab"}, {"rubric": [1]}, {"prompts": 5}, {"prompts": ["a"]}, {"backend": 3}]
)
def test_settings_of_a_folder_that_are_none_are_a_problem_and_no_defect(broken: dict[str, object]) -> None:
    whole = kept(settings("rubric", URL))
    with pytest.raises(SettingsError):
        asked_from(KINDS["rubric"], whole | broken)


def test_a_new_run_is_described_as_it_is_once_read_again(store: Store) -> None:
    run, _ = create(store, texts(1), "t.jsonl", settings("cef", URL, mode="round-trip"), RUNNING)
    fresh, again = (json.dumps(described(one.request)) for one in (run, saved_run(store, run.run.run_id)))
    assert fresh == again, "run.json is the same, byte for byte"


def test_a_look_at_judges_needs_something_to_look_at(store: Store) -> None:
    empty = QuestionSet(ScoredRow("1", "s"), "text", "a", "d", ())

    with pytest.raises(InputError, match="has no question to answer"):
        create(store, write_pieces([empty]), "q.jsonl", settings("answers", URL), RUNNING)
    with pytest.raises(InputError, match="has no question"):
        create(store, b"", "q.jsonl", settings("answers", URL), RUNNING)
    asked = replace(empty, questions=(CrossQuestion("Is it?"),))
    with pytest.raises(InputError, match="cannot be imported"):
        create(store, write_pieces([asked]), "q.jsonl", settings("alignment", URL), RUNNING)
    with pytest.raises(InputError, match="has no texts"):
        create(store, write_pieces([]), "q.jsonl", settings("alignment", URL), RUNNING)
    assert refused_fields(answers.KIND, {}, {"backend": "rules"}, {}) == ["backend"]
    assert refused_fields(alignment.KIND, {}, {"backend": "rules"}, {}) == []

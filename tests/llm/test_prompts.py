"""Prompt files: what is sent, what the hash covers, and every mistake with its place."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.llm.client import Message
from core.llm.prompts import (
    SHIPPED,
    USES,
    Example,
    Prompt,
    Use,
    find_prompt,
    load_prompt,
    parse_prompt,
    shipped_prompts,
    unusable_prompts,
)

RANK = """\
# A comment.
name: my-rank
title: Mine
purpose: rank
shots: few
source:
  paper: none
  section: none
  differences: all
system: |
  Costs $$5.
user: |
  T: $text
  S: ${spans}
examples:
  - variables: {text: one $text, spans: 7}
    answer: '{"ranking": [7]}'
"""


def problems(text: str, folder: Path | None = None) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_prompt(text, "my.yaml", folder)
    assert caught.value.what.startswith("Prompt my.yaml cannot be used")
    return list(caught.value.problems)


def test_turns_are_rendered_and_values_stand_as_they_are() -> None:
    prompt = parse_prompt(RANK, "my.yaml")
    assert prompt.messages(question="unused", text="$spans ${x} $$ $", spans="$text") == (
        Message("system", "Costs $5."),
        Message("user", "T: one $text\nS: 7"),
        Message("assistant", '{"ranking": [7]}'),
        Message("user", "T: $spans ${x} $$ $\nS: $text"),
    )


def test_no_system_turn_where_the_file_has_none() -> None:
    prompt = parse_prompt(RANK.replace("system: |\n  Costs $$5.\n", ""), "my.yaml")
    assert [turn.role for turn in prompt.messages(question="q", text="t", spans="s")] == [
        "user",
        "assistant",
        "user",
    ]


@pytest.mark.parametrize(
    "variables",
    [{"text": "a", "spans": "b"}, {"question": "q", "text": "a", "spans": "b", "level": 1}, {}],
)
def test_missing_and_extra_variables_are_the_callers_mistake(variables: dict[str, str | int]) -> None:
    with pytest.raises(TypeError):
        parse_prompt(RANK, "my.yaml").messages(**variables)


@pytest.mark.parametrize("value", [None, 1.5, True, ["a"]])
def test_values_are_texts_or_whole_numbers(value: object) -> None:
    with pytest.raises(TypeError, match="spans"):
        parse_prompt(RANK, "my.yaml").messages(question="q", text="t", spans=value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# A comment.", ""),
        ("title: Mine", "title: Other"),
        ("name: my-rank", "name: other"),
        ("paper: none", "paper: some"),
        ("${spans}", "$spans"),
        ("system: |\n  Costs $$5.", "system: Costs $$5."),
        ("spans: 7", "spans: '7'"),
    ],
)
def test_hash_stays_when_what_is_sent_stays(old: str, new: str) -> None:
    assert old in RANK
    assert parse_prompt(RANK.replace(old, new), "my.yaml").sha256 == parse_prompt(RANK, "other.yaml").sha256


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Costs $$5.", "Costs $$6."),
        ("system: |\n  Costs $$5.\n", ""),
        ("T: $text", "Text: $text"),
        ("T: $text\n  S: ${spans}", "T: $spans\n  S: $text"),
        ("[7]}'", "[8]}'"),
        ("spans: 7", "spans: 8"),
    ],
)
def test_hash_changes_when_what_is_sent_changes(old: str, new: str) -> None:
    assert old in RANK
    assert parse_prompt(RANK.replace(old, new), "my.yaml").sha256 != parse_prompt(RANK, "my.yaml").sha256


def test_hash_covers_every_word_of_the_ladder() -> None:
    text = find_prompt("damage-qa").dump()
    for level in range(6):
        fields = yaml.safe_load(text)
        fields["ladder"][level] += " Really."
        assert parse_prompt(yaml.safe_dump(fields), "my.yaml").sha256 != find_prompt("damage-qa").sha256


def test_hash_is_the_same_on_every_machine() -> None:
    """Records of earlier runs are compared by it: a new way to count it would be a break."""
    expected = "e404e500a658cc4f"
    assert parse_prompt(RANK, "my.yaml").sha256[:16] == expected


words = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.just("\n"), min_size=1).filter(str.strip)


@settings(max_examples=150, deadline=None)
@given(system=words, user=words, answer=words, value=words, title=words)
def test_a_dump_reads_back_to_the_same_prompt(
    system: str, user: str, answer: str, value: str, title: str
) -> None:
    prompt = Prompt(
        name="a",
        title=" ".join(title.split())[:40].strip() or "t",
        purpose="paraphrase",
        task=None,
        shots="few",
        paper=system,
        section=user,
        differences=answer,
        system=system.strip().replace("$", "$$"),
        user=user.strip().replace("$", "$$") + " $reference",
        examples=(Example((("reference", value.strip()),), answer.strip()),),
    )
    again = parse_prompt(prompt.dump(), "a.yaml")
    assert again.sha256 == prompt.sha256
    given_values = {"question": "q", "reference": "r"}
    assert again.messages(**given_values) == prompt.messages(**given_values)


def test_fields_come_from_another_file_beside_it_and_the_dump_needs_none(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(RANK, "utf-8")
    own = tmp_path / "own.yaml"
    own.write_text("name: own\ntitle: Own\nbased_on: base.yaml\nsystem: Other.\n", "utf-8")
    prompt = load_prompt(own)
    assert (prompt.name, prompt.title, prompt.purpose) == ("own", "Own", "rank")
    assert prompt.messages(question="", text="a", spans="b")[0].content == "Other."
    assert (
        prompt.messages(question="", text="a", spans="b")[1:]
        == load_prompt(tmp_path / "base.yaml").messages(question="", text="a", spans="b")[1:]
    )
    (tmp_path / "base.yaml").unlink()
    assert parse_prompt(prompt.dump(), "kept").sha256 == prompt.sha256
    assert "based_on" not in prompt.dump()


def test_bases_that_cannot_be_used(tmp_path: Path) -> None:
    head = "name: a\ntitle: A\nbased_on: "
    (tmp_path / "my.yaml").write_text(head + "b.yaml", "utf-8")
    (tmp_path / "b.yaml").write_text(head + "my.yaml", "utf-8")
    (tmp_path / "broken.yaml").write_text(RANK.replace("shots: few", "shots: none"), "utf-8")
    assert problems(head + "b.yaml", tmp_path) == ["b.yaml, line 3, based_on: my.yaml leads back to itself"]
    assert problems(head + "nothing")[0].startswith(
        "line 3, based_on: there is no shipped prompt nothing; choose from"
    )
    assert "is a path" in problems(head + "../b.yaml", tmp_path)[0]
    assert "is a path" in problems(head + "/etc/x.yaml", tmp_path)[0]
    assert "is not available here" in problems(head + "b.yaml")[0]
    assert "cannot be read" in problems(head + "gone.yaml", tmp_path)[0]
    assert problems(head + "broken.yaml", tmp_path) == [
        "broken.yaml, line 5, shots: is 'none', expected 'zero' or 'few'"
    ]


def _without(field: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        fields = yaml.safe_load(text)
        del fields[field]
        return yaml.safe_dump(fields, sort_keys=False)

    return change


def _put(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        *[
            (_without(field), f"{field}: is missing")
            for field in ("name", "title", "purpose", "shots", "source", "user")
        ],
        (_put("  section: none\n", ""), "line 6, source, section: is missing"),
        (_put("name: my-rank", "name: My Rank"), "line 2, name: may have only lower-case letters"),
        (_put("title: Mine", "title: 2024"), "line 3, title: is a number, expected text; put it in quotes"),
        (_put("title: Mine", "title: [a]"), "line 3, title: is a list, expected text"),
        (_put("title: Mine", "title:"), "line 3, title: is empty"),
        (_put("title: Mine", 'title: "a\\u0000"'), "line 3, title: contains the character U+0000"),
        (
            _put("purpose: rank", "purpose: rang"),
            "line 4, purpose: is 'rang'; possible: paraphrase, rank, edit",
        ),
        (_put("purpose: rank", "purpose: damage"), "task: is missing; possible: qa, qa-passage, summary"),
        (_put("purpose: rank", "purpose: rank\ntask: qa"), "line 5, task: rank has no tasks"),
        (_put("shots: few", "shots: zero"), "line 15, examples: are given although shots is zero"),
        (_without("examples"), "shots: is few, but there are no examples"),
        (_put("shots: few", "shots: few\ncolour: red"), "line 6, colour: is not a field of a prompt file"),
        (_put("shots: few", "shots: few\nshots: few"), "line 6, shots: is given twice (first on line 5)"),
        (_put("Costs $$5.", "Costs 5$."), "line 10, system: line 1 of the text has a lone $; write $$"),
        (_put("Costs $$5.", "About $text."), "line 10, system: contains $text; variables of an item belong in user"),
        (_put("Costs $$5.", "About $thing."), "line 10, system: $thing is not a variable here; possible: none"),
        (_put("S: ${spans}", "S: $span"), "line 12, user: $span is not a variable here; possible: $question"),
        (_put("T: $text", "T:"), "line 12, user: lacks $text"),
        (_put("Costs $$5.", " "), "line 10, system: is empty"),
        (_put("spans: 7", "span: 7"), "line 16, examples, 1, variables: lacks spans, which user contains"),
        (_put("spans: 7", "spans: 7, span: 7"), "line 16, examples, 1, variables, span: is not a variable here"),
        (_put("spans: 7", "spans: [7]"), "line 16, examples, 1, variables, spans: is a list, expected text"),
        (_put('{"ranking": [7]}', "7, 8"), "line 17, examples, 1, answer: is not JSON"),
        (_put("shots: few", "shots: few\nladder: {0: a}"), "line 6, ladder: rank has no levels of damage"),
        (lambda _: "", "file: is empty"),
        (lambda _: "- a", "line 1: expected `field: value` lines"),
        (lambda _: "a: [", "line 1, column 5: not readable as YAML"),
        (lambda _: "a: \tb:\n c", "not readable as YAML"),
        (lambda _: "a: &x b\nc: *x", "line 2: *x is a YAML alias"),
        (lambda _: "a: !!python/name:os.system", "line 1: the tag !!python/name:os.system is not allowed"),
        (lambda _: "a: 2024-99-99", "line 1: not readable as YAML"),
        (lambda _: "a\nb\0", "line 2: contains the character U+0000"),
        (lambda _: "a: " + "[" * 150_000, "line 1: nested deeper than 10 levels"),
        (lambda _: "# " + "x" * 200_000, "file: is larger than 200 kB"),
    ],
)  # fmt: skip
def test_every_mistake_is_named_with_its_place(change: Callable[[str], str], expected: str) -> None:
    found = problems(change(RANK))
    assert any(expected in problem for problem in found), found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda ladder: ladder.pop(3), "ladder: lacks level 3"),
        (lambda ladder: ladder.update({6: "x"}), "ladder, 6: is not a level; the levels are 0 to 5"),
        (lambda ladder: ladder.update({"one": "x"}), "ladder, one: is not a level"),
        (lambda ladder: ladder.update({2: " "}), "ladder, 2: is empty"),
        (lambda ladder: ladder.update({2: 4}), "ladder, 2: is a number, expected text"),
    ],
)
def test_a_ladder_is_whole(change: Callable[[dict[object, object]], object], expected: str) -> None:
    fields = yaml.safe_load(find_prompt("damage-qa").dump())
    change(fields["ladder"])
    found = problems(yaml.safe_dump(fields, sort_keys=False))
    assert len(found) == 1
    assert expected in found[0]


def test_a_ladder_must_be_there_and_be_seen() -> None:
    fields = yaml.safe_load(find_prompt("damage-qa").dump())
    unseen = {**fields, "system": "Do it."}
    assert "put $ladder into system or user" in problems(yaml.safe_dump(unseen))[0]
    gone = {key: value for key, value in fields.items() if key != "ladder"}
    assert any("ladder: is missing" in problem for problem in problems(yaml.safe_dump(gone)))
    wrong = {**fields, "shots": "few"}
    wrong["examples"] = [{"variables": {"question": "q", "reference": "r", "level": 9}, "answer": "a"}]
    assert "level: is 9, not a level from 0 to 5" in problems(yaml.safe_dump(wrong))[0]


def test_all_problems_come_together_from_top_to_bottom() -> None:
    text = RANK.replace("title: Mine", "title: 7").replace("$$5", "$").replace("S: ${spans}", "S: $no")
    starts = [problem.split(":")[0] for problem in problems(text)]
    assert starts == ["line 3, title", "line 10, system", "line 12, user"]


def test_finding_by_name_by_path_and_refusing_others(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(RANK, "utf-8")
    assert find_prompt(str(path), "rank").name == "my-rank"
    assert find_prompt("damage-qa-few", "damage", "qa").shots == "few"
    with pytest.raises(InputError, match=r"choose from damage-summary, damage-summary-few, or give the path"):
        find_prompt("damage-summry", "damage", "summary")
    with pytest.raises(InputError, match=r"is for rank; this step needs one for edit"):
        find_prompt(str(path), "edit")
    with pytest.raises(InputError, match=r"is for damage \(qa\); this step needs one for damage \(summary\)"):
        find_prompt("damage-qa", "damage", "summary")
    for odd in ("", "../damage-qa", "x" * 5_000, "a\0b", "no/such/file.yaml", str(tmp_path), "/"):
        with pytest.raises(InputError):
            find_prompt(odd)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("name: x\ntitle: Über".encode("latin-1"))
    with pytest.raises(InputError, match="line 2 is not UTF-8"):
        load_prompt(latin)
    latin.write_bytes(b"#" * 200_001)
    with pytest.raises(InputError, match="larger than 200 kB"):
        load_prompt(latin)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_prompt(tmp_path / "gone.yaml")


def test_a_file_put_beside_the_shipped_ones_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.llm.prompts.SHIPPED", tmp_path)
    assert shipped_prompts() == ()
    (tmp_path / "my-rank.yaml").write_text(RANK, "utf-8")
    assert [prompt.name for prompt in shipped_prompts("rank")] == ["my-rank"]
    (tmp_path / "other.yaml").write_text(RANK, "utf-8")
    assert [prompt.name for prompt in shipped_prompts()] == ["my-rank"]
    (line,) = unusable_prompts()
    assert re.match(r"other.yaml cannot be used: name: is my-rank; .* my-rank.yaml", line)


def test_a_broken_file_spoils_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.llm.prompts.SHIPPED", tmp_path)
    shutil.copytree(SHIPPED, tmp_path, dirs_exist_ok=True)
    usual = {prompt.name for prompt in shipped_prompts()}
    (tmp_path / "verify.yaml").write_text("name: verify\ntitle: 7\npurpose: no\nuser: [", "utf-8")
    (tmp_path / "mine.yaml").write_text("name: verify\ntitle: 7\npurpose: verify\n", "utf-8")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    assert {prompt.name for prompt in shipped_prompts()} == usual - {"verify"}
    assert [line.partition(" ")[0] for line in unusable_prompts()] == ["mine.yaml", "verify.yaml"]
    assert "\n" not in "".join(unusable_prompts())
    assert find_prompt("answers").name == "answers"
    with pytest.raises(InputError) as asked_for:
        find_prompt("mine")
    assert asked_for.value.n_problems > 1
    with pytest.raises(InputError, match="line 4"):
        find_prompt("verify", "verify")
    with pytest.raises(InputError) as unknown:
        find_prompt("verfy", "verify")
    assert unknown.value.problems == unusable_prompts()


def test_a_new_purpose_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(USES, ("score", None), Use(("answer",), ("answer",)))  # type: ignore[arg-type]
    text = "name: s\ntitle: S\npurpose: score\nshots: zero\nsource: {paper: a, section: b, differences: c}\nuser: $answer\n"
    assert parse_prompt(text, "s.yaml").messages(answer="A") == (Message("user", "A"),)

"""The prompts that Assay ships keep what they promise: own words, whole ladders, data kept apart."""

import json
import re
from pathlib import Path

import pytest

from core.diff import tokenize
from core.llm.prompts import USES, Prompt, parse_prompt, shipped_prompts

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "prompts").glob("*.yaml"))
PROMPTS = shipped_prompts()
README = (ROOT / "prompts" / "README.md").read_text("utf-8")
DAMAGE = [prompt for prompt in PROMPTS if prompt.purpose == "damage"]
SPANS = [prompt for prompt in PROMPTS if prompt.purpose in ("rank", "edit", "edit-shared", "edit-planned")]
LITERAL = {"rubric-prometheus"}
"""In the words that a model was trained on."""
OWN = pytest.mark.parametrize(
    "prompt", [one for one in PROMPTS if one.name not in LITERAL], ids=lambda one: one.name
)
RUN = 8
"""Words in a row that no prompt may share with a paper."""

by_name = pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)


def test_every_purpose_and_task_has_its_prompts() -> None:
    assert {(prompt.purpose, prompt.task) for prompt in PROMPTS} == set(USES)
    for task in ("qa", "qa-passage", "summary", "translation"):
        assert {prompt.shots for prompt in shipped_prompts("damage", task)} == {"zero", "few"}
        assert shipped_prompts("damage", task)[0].name == f"damage-{task}", "the default comes first"
    assert [p.name for p in PROMPTS if "wording" in p.name] == [f"damage-qa-wording-{n}" for n in range(1, 6)]
    assert len({prompt.sha256 for prompt in PROMPTS}) == len(PROMPTS) == len(FILES)


@by_name
def test_header_names_paper_section_and_differences(prompt: Prompt) -> None:
    lines = (ROOT / "prompts" / f"{prompt.name}.yaml").read_text("utf-8").splitlines()
    header = " ".join(line for line in lines[:3] if line.startswith("# "))
    assert re.search(rf"Paper: {prompt.paper}\b", header)
    assert f"Section: {prompt.section}." in header
    assert "differs" in header
    assert len(prompt.differences) > 60


@by_name
def test_the_readme_lists_it_with_its_variables(prompt: Prompt) -> None:
    row = next((line for line in README.splitlines() if line.startswith(f"| `{prompt.name}`")), "")
    assert row, f"prompts/README.md lacks {prompt.name}"


def test_the_readme_lists_nothing_else_and_every_field_and_variable() -> None:
    listed = README.partition("## What is here")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z0-9-]+)`", listed, re.M)) == {p.name for p in PROMPTS}
    uses = README.partition("## Purposes and their variables")[2].splitlines()
    for (purpose, task), use in USES.items():
        name = f"`{purpose}`" if task is None else f"`{purpose}`, task `{task}`"
        row = next((line for line in uses if line.startswith(f"| {name} |")), "")
        assert re.findall(r"`\$(\w+)`", row) == list(use.offered), name


@by_name
def test_a_kept_prompt_needs_no_file(prompt: Prompt) -> None:
    again = parse_prompt(prompt.dump(), "kept.yaml")
    assert again == prompt
    assert again.sha256 == prompt.sha256


@OWN
def test_items_texts_stand_in_fields_and_are_called_material(prompt: Prompt) -> None:
    values = {name: f"<<{name}>>" for name in prompt.variables}
    user = prompt.messages(**values)[-1].content
    for name in prompt.variables:
        # The rubric judge puts its texts into tags of their own, in either order.
        if name not in ("level", "levels", "lowest", "highest", "texts"):
            assert re.search(rf"^<(\w+)>\n<<{name}>>\n</\1>$", user, re.M), name
    assert "material" in (prompt.system or "")


@pytest.mark.parametrize("prompt", DAMAGE, ids=lambda prompt: prompt.name)
def test_the_six_levels_share_all_but_their_number(prompt: Prompt) -> None:
    values = {name: f"some {name}" for name in prompt.variables if name != "level"}
    first, *others = [prompt.messages(**values, level=level) for level in range(6)]
    for level, other in enumerate(others, start=1):
        assert other[:-1] == first[:-1]
        assert other[-1].content == first[-1].content.replace("0\n</level>", f"{level}\n</level>")
        assert other[-1].content.endswith(f"{level}\n</level>")


@pytest.mark.parametrize("prompt", DAMAGE, ids=lambda prompt: prompt.name)
def test_examples_keep_the_rules_they_illustrate(prompt: Prompt) -> None:
    levels = [int(dict(example.variables)["level"]) for example in prompt.examples]
    assert levels == ([0, 1, 2, 3, 4, 5] if prompt.shots == "few" else [])
    for example in prompt.examples:
        reference = dict(example.variables)["reference"]
        assert example.answer != reference
        if prompt.task == "summary":
            expected, written = (
                sum(any(c.isalnum() for c in token) for token in tokenize(text))
                for text in (reference, example.answer)
            )
            assert abs(written - expected) <= 0.1 * expected, example.answer


@pytest.mark.parametrize("prompt", SPANS, ids=lambda p: p.name)
def test_answers_of_examples_name_every_span_once(prompt: Prompt) -> None:
    assert prompt.examples
    for example in prompt.examples:
        values = dict(example.variables)
        listed = [int(n) for n in re.findall(r"^(\d+): ", values["spans"], re.M)]
        marked = re.findall(r"⟦(\d+): ([^⟧]*)⟧", values["text"])
        assert sorted(listed) == sorted(int(number) for number, _ in marked)
        for number, words in marked:
            assert re.search(rf"^{number}: {re.escape(words)}$", values["spans"], re.M)
        answer = json.loads(example.answer)
        if prompt.purpose == "rank":
            assert sorted(answer["ranking"]) == sorted(listed)
        else:
            assert [entry["span"] for entry in answer["replacements"]] == listed
            assert all(entry["text"] not in dict(marked).values() for entry in answer["replacements"])


def test_the_whole_text_example_changes_brackets_alone() -> None:
    (prompt,) = shipped_prompts("edit-text")
    (example,) = prompt.examples
    text = dict(example.variables)["text"]
    fixed = [re.escape(part) for part in re.split(r"\[[^\]]*\]", text)]
    assert re.fullmatch("(.+)".join(fixed), example.answer)
    assert not re.search(r"[\[\]]", example.answer)


def test_the_wordings_differ_from_the_plain_one_in_their_ladder_alone() -> None:
    plain = next(prompt for prompt in PROMPTS if prompt.name == "damage-qa")
    for prompt in PROMPTS:
        if "wording" in prompt.name:
            assert (prompt.system, prompt.user, prompt.examples) == (plain.system, plain.user, ())
            assert not set(prompt.ladder) & set(plain.ladder)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold().replace("\\_", "_"))


def runs_of(text: str) -> set[tuple[str, ...]]:
    words = words_of(text)
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


@pytest.mark.shared
def test_wording_is_our_own(shared_data: Path) -> None:
    papers = sorted((shared_data.parent / "papers").glob("*.txt"))
    assert len(papers) >= 5
    taken = {run for paper in papers for run in runs_of(paper.read_text("utf-8"))}
    assert tuple(words_of("Rewrite the provided sentence to express the same idea")[:RUN]) in taken
    for prompt in (one for one in PROMPTS if one.name not in LITERAL):
        sent = "\n".join([*(turn.content for turn in prompt.opening), prompt.user, prompt.differences])
        shared = [" ".join(run) for run in runs_of(sent) & taken]
        assert not shared, prompt.name


def test_the_readmes_own_prompt_can_be_used() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", README, re.S)
    prompt = parse_prompt(text, "my.yaml")
    assert (prompt.purpose, prompt.task, prompt.ladder[5]) == ("damage", "qa", "Invented. No fact is right.")

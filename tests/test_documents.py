"""README.md and docs/ agree with the commands, the pages and each other."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from core.analyses import commands_of
from core.cli import Later, parser

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in (
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "simulations").glob("*.md")),
        *(ROOT / folder / "README.md" for folder in ("prompts", "data", "benchmarks")),
    )
}
"""Path from the root -> text."""


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(text: str) -> list[str]:
    """The anchors of a document's headings, as GitHub and Streamlit make them."""
    headings = re.findall(r"^#+ (.+)$", without_code(text), flags=re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def links(text: str) -> set[str]:
    """Targets of links and pictures, but for those to other hosts."""
    found = re.findall(r"\]\(([^)\s]+)\)", without_code(text))
    return {target for target in found if not re.match(r"\w+:", target)}


def commands() -> list[str]:
    """The arguments of every command of README.md and docs/, without comments and with broken lines joined."""
    shown = [text for path, text in DOCUMENTS.items() if path == "README.md" or path.startswith("docs/")]
    blocks = [block for text in shown for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)]
    lines = [
        line.split("#")[0].strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()
    ]
    return [found[1] for line in lines if (found := re.match(r"(?:python -m core|assay) (.+)", line))]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_links_lead_to_a_file_and_a_heading(path: str) -> None:
    for target in links(DOCUMENTS[path]):
        file, _, anchor = target.partition("#")
        there = (ROOT / path).parent / file if file else ROOT / path
        assert there.exists(), f"{path} links to {target}"
        if anchor:
            assert anchor in anchors(there.read_text("utf-8")), f"{path} links to {target}"


def test_every_document_is_in_the_index() -> None:
    linked = links(DOCUMENTS["docs/README.md"])
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} <= linked


def test_the_index_has_a_row_a_page() -> None:
    titles = re.findall(r'st\.Page\(\w+\.render, title="(\w+)"', (ROOT / "app.py").read_text("utf-8"))
    assert titles
    for title in titles:
        assert f"\n| {title} |" in DOCUMENTS["docs/README.md"]


def methods_page() -> None:
    from pages import methods

    methods.render()


def test_the_page_methods_links_to_its_own_sections_alone() -> None:
    at = AppTest.from_function(methods_page, default_timeout=30).run()
    assert not at.exception
    shown = [tab.markdown[0].value for tab in at.tabs]
    assert len(shown) > 1
    there = {anchor for text in shown for anchor in anchors(text)}
    for text in shown:
        assert {target.removeprefix("#") for target in links(text)} <= there


def test_the_index_explains_every_section_of_the_statistics() -> None:
    sections = re.findall(r"^## (.+)$", DOCUMENTS["docs/statistics.md"], flags=re.MULTILINE)
    linked = {
        target.partition("#")[2]
        for target in links(DOCUMENTS["docs/README.md"])
        if target.startswith("statistics.md#")
    }
    # The section Judges holds links alone.
    assert set(anchors("\n".join(f"## {title}" for title in sections))) - linked == {"judges"}


@pytest.mark.parametrize("line", commands())
def test_every_command_parses(line: str) -> None:
    parser().parse_args(shlex.split(line))


def test_the_workflow_is_valid_and_shown() -> None:
    text = (ROOT / "docs" / "workflow.yml").read_text("utf-8")
    assert f"```yaml\n{text}```" in DOCUMENTS["docs/check.md"]
    steps = yaml.safe_load(text)["jobs"]["check"]["steps"]
    for used in (step["uses"] for step in steps if "uses" in step):
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", used)
    lines = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    (line,) = (found[1] for line in lines if (found := re.match(r"assay (.+) \|\|", line)))
    options = parser().parse_args(shlex.split(line))
    assert options.against.name == "baseline.json"
    assert "secrets." not in text
    assert "://" not in text


def test_every_command_is_shown() -> None:
    loaded = next(action for action in parser()._actions if isinstance(action, Later))
    loaded.load_all()
    nouns = loaded.choices
    split = [shlex.split(line) for line in commands()]
    for noun in ("study", "generate", "judge", "report", "runs", "admin"):
        verbs = next(action for action in nouns[noun]._actions if action.dest == "verb").choices
        assert {words[1] for words in split if words[0] == noun} == set(verbs), noun
    without_verbs = {
        "check",
        "escalate",
        "score",
        "correlate",
        "published",
        "calibrate",
        "corrected",
        "convert",
        "serve",
    }
    of_papers = next(action for action in nouns["reproduce"]._actions if action.dest == "verb").choices
    shown = [" ".join(words[1:]) for words in split if words[0] == "reproduce"]
    assert [name for name in of_papers if not any(one.startswith(name) for one in shown)] == []
    without_verbs |= set(commands_of(""))
    assert without_verbs <= {words[0] for words in split}
    assert set(nouns) == {
        "study",
        "generate",
        "judge",
        "report",
        "reproduce",
        "runs",
        "admin",
        *without_verbs,
    }

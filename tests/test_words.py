"""scripts/words.py lists every kind of visible text, and no listed text contains a phrase that the style guide rules out."""

import importlib
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = (
    r"^of the first repeat",
    r"\ba judge beside itself",
    r"\bas far as (it|they) (is|are)\b",
    r"\b00\d's\b|\bpaper 00\d",
    r"\bfactual-perturbation paper",
    r"\bfurther tries\b",
    r"\bgo(es)? on with (it|the run)\b",
    r"\bminus the level\b",
    r"\bno text is like that",
    r"\btells? nothing\b",
    r"\bwork(s|ing)? on a run that waits",
)
"""Patterns that no visible text may contain, ignoring case."""
PLAIN_PLACES = (
    "core/cli",
    "core/access.py",
    "core/errors.py",
    "core/report/__init__.py",
    "run",
    "scripts/environment.sh",
)
FORBIDDEN_THERE = (
    r"\bask(s|ed)? (for|of)\b",
    r"\bbeside\b",
    r"\bcannot be used\b",
    r"\bcomes? to\b|\b(came|comes) of\b",
    r"\bhold(s|ing)?\b",
    r"\bis no (number|folder|text|pair)\b",
    r"\blook(s|ed)? at\b",
    r"\bnobody\b|\bsomebody\b",
    r"\b(is|are|was) said\b|\bsays nothing\b",
    r"\bstands?\b",
    r"\bthe paper\b",
    r"\btells? apart\b|\btold (apart|from)\b",
)
"""Patterns that no visible text of PLAIN_PLACES may contain: usual verbs in unusual senses."""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        return importlib.import_module("words")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def kinds_and_texts(script: ModuleType, source: str, *, everything: bool = False) -> list[tuple[str, str]]:
    return [(kind, text) for _, kind, text in script.python_words(source, everything=everything)]


def test_every_kind_of_visible_text_is_found(script: ModuleType) -> None:
    source = """
st.button("Save", key="save it", help="Stores the answer")
left.selectbox(label, ["one", "two words"], placeholder="Choose")
command.add_argument("--out", metavar="A FILE", help="folder for the results")
verbs.add_parser("show", help="progress of a run")
beta: float = setting(1.0, "Weight", "weight of recall", unit="points", words={"a": "first"})
Column("left_out", "left out")
ResultTable("costs", columns, rows, title="Cost", notes=(f"Of {n} runs",))
raise InputError(f"{path}: row {row} is empty")
problems.append("unknown")
print(f"Run {n}: {state}")
TITLES = {"csv": "Spreadsheet"}
"""
    assert kinds_and_texts(script, source) == [
        ("button", "Save"),
        ("button help", "Stores the answer"),
        ("selectbox placeholder", "Choose"),
        ("text", "two words"),
        ("option help", "folder for the results"),
        ("command help", "progress of a run"),
        ("setting help", "weight of recall"),
        ("setting label", "Weight"),
        ("setting unit", "points"),
        ("setting words", "first"),
        ("column", "left out"),
        ("table notes", "Of {…} runs"),
        ("table title", "Cost"),
        ("error", "{…}: row {…} is empty"),
        ("error", "unknown"),
        ("printed", "Run {…}: {…}"),
        ("text", "Spreadsheet"),
    ]


def test_what_no_reader_sees_is_not_listed(script: ModuleType) -> None:
    source = '''
"""A docstring."""
name: "a type" = "value"
assert found, "the reason of an assert"
store.rows("select id from study order by id")
query = "insert into run (id) values (?)"
pattern = re.compile("two words")
if state == "not started":
    st.markdown("<style>p { margin: 0 }</style>")
    st.markdown(f":material/check: {text}")
# A comment.
'''
    assert kinds_and_texts(script, source) == []
    assert kinds_and_texts(script, source, everything=True) == [
        ("docstring", "A docstring."),
        ("comment", "A comment."),
    ]


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("pages/studies", "button"),
        ("core/cli/score.py", "option help"),
        ("core/access.py", "error"),
        ("core/llm", "setting help"),
        ("core/results", "column"),
        ("data/guidelines", "guideline"),
        ("data/wording.json", "wording"),
        ("data/tasks", "task"),
        ("prompts", "prompt title"),
        ("run", "printed"),
    ],
)
def test_places_of_the_product(script: ModuleType, place: str, kind: str) -> None:
    found = script.words_by_place([place])
    assert kind in {one.kind for words in found.values() for one in words}
    assert all(name == place or name.startswith(f"{place}/") for name in found)


def test_command() -> None:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "scripts/words.py", *options]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    done = run("--place", "core/access.py")
    assert done.returncode == 0
    first, second = done.stdout.splitlines()[:2]
    assert first == "core/access.py"
    assert re.fullmatch(r" +\d+  \w[\w ]* +\S.*", second)
    assert run("--place", "core/none.py").returncode == 2


def matches(script: ModuleType, places: Sequence[str], patterns: Sequence[str]) -> list[str]:
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    return [
        f"{name}:{line}: {text}"
        for name, words in script.words_by_place(places).items()
        for line, _, text in words
        if pattern.search(text)
    ]


def test_forbidden_phrases(script: ModuleType) -> None:
    assert matches(script, (), FORBIDDEN) == []
    found = matches(script, PLAIN_PLACES, FORBIDDEN_THERE)
    assert [one for one in found if not one.startswith("core/cli/study/")] == []

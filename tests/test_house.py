"""The house's rules that import-linter cannot see, and documents that must not drift from the code."""

import ast
import re
import shlex
from pathlib import Path

import pytest

from core.cli import parser

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted(path for path in (ROOT / "pages").glob("*.py") if path.name != "__init__.py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(path: Path) -> set[str]:
    """Every module or name a file imports, dotted."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_does_nothing_at_import_and_shows_render_alone(path: Path) -> None:
    """Streamlit may run the files in pages/ by itself, past app.py."""
    quiet = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    public = []
    for node in tree(path).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        assert isinstance(node, quiet), f"{path.name}, line {node.lineno} runs at import"
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            public.append(node.name)
        if isinstance(node, ast.Assign):
            calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call)]
            assert not calls, f"{path.name}, line {node.lineno} calls something at import"
            assert all(ast.unparse(target).lstrip("(").startswith("_") for target in node.targets)
    assert public == ["render"]


def test_the_raters_page_cannot_reach_a_source() -> None:
    """What a rater's page may import of core: nothing that returns an assignment, an output or a study."""
    allowed = {
        "core.diff": None,
        "core.errors": None,
        "core.study.blinding": {"RaterDesk", "BlindPair", "PairStatus"},
        "core.study.design": {"estimated_minutes"},
        "core.study.guidelines": {"practice_pairs", "LEVEL_MEANINGS"},
        "core.schema": {"CHOICES", "FIRST_LEVEL", "Choice"},
    }
    for name in (
        "annotate.py",
        "components/blind_pair.py",
        "components/pair_list.py",
        "components/rating.py",
    ):
        for full in imported(ROOT / "pages" / name):
            if full.startswith("core"):
                module, _, what = full.rpartition(".")
                assert module in allowed, f"{name} imports {full}"
                names = allowed[module]
                assert names is None or what in names, f"{name} imports {full}"


def test_app_only_decides_who_gets_which_pages() -> None:
    core = {name.rpartition(".")[0] for name in imported(ROOT / "app.py") if name.startswith("core")}
    assert core == {"core.store"}
    registered = set(re.findall(r"st\.Page\((\w+)\.render", (ROOT / "app.py").read_text("utf-8")))
    assert registered == {path.stem for path in PAGES}


def test_admin_pages_ask_for_the_role_themselves() -> None:
    public = {"methods"}  # shows documents alone
    for path in PAGES:
        text = path.read_text("utf-8")
        if path.stem in public:
            assert not [name for name in imported(path) if name.startswith(("core", "pages"))]
            continue
        assert ("visitor.rater_desk(" if path.stem == "annotate" else "visitor.admin_store()") in text


def readme_commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("python -m core")]


@pytest.mark.parametrize("line", readme_commands())
def test_every_command_in_the_readme_parses(line: str) -> None:
    parser().parse_args(shlex.split(line)[3:])


def test_the_readme_shows_every_command() -> None:
    (study,) = [a for a in parser()._actions if a.dest == "noun"]
    verbs = next(a for a in study.choices["study"]._actions if a.dest == "verb").choices  # type: ignore[index]
    shown = {shlex.split(line)[4] for line in readme_commands()}
    assert shown == set(verbs)


def test_the_readme_has_a_row_a_page_and_its_links_lead_somewhere() -> None:
    titles = re.findall(r'st\.Page\(\w+\.render, title="(\w+)"', (ROOT / "app.py").read_text("utf-8"))
    for title in titles:
        assert f"\n| {title} |" in README
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", README):
        assert (ROOT / target).exists(), f"README links to {target}"


def test_nothing_names_a_machine_or_a_registry() -> None:
    """Repository text speaks of the product alone."""
    kinds = {".py", ".md", ".toml", ".txt", ".sh", ".json", ".csv", ".yaml"}
    for path in sorted(ROOT.rglob("*")):
        hidden = any(
            part.startswith(".venv") or part in {".git", "var"} for part in path.relative_to(ROOT).parts
        )
        if path.suffix in kinds and path.is_file() and not hidden and path != Path(__file__):
            text = path.read_text("utf-8", errors="ignore")
            assert not re.search(r"(?<![\w.])/(?:work|root|home/\w+)/", text), path
            assert "files.pythonhosted" not in text, path

"""Rules of the code base that import-linter cannot check."""

import ast
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from core.runs.kinds import KINDS
from core.store import open_store

ROOT = Path(__file__).resolve().parents[1]
SHARED = ("door", "tabs", "widgets")
"""Folders of pages/ that are no page."""
PAGES = sorted(path for path in (ROOT / "pages").glob("*/__init__.py") if path.parent.name not in SHARED)

RATERS_MODULES = (
    "annotate/__init__.py",
    "annotate/around.py",
    "annotate/keys.py",
    "annotate/pairs.py",
    "annotate/texts.py",
    "widgets/answer_keys.py",
    "widgets/blind_pair.py",
    "widgets/gone.py",
    "widgets/own.py",
    "widgets/rating_scales.py",
    "widgets/rendered.py",
    "widgets/said.py",
)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def trees_with(paths: Iterable[Path], pattern: str) -> Iterator[tuple[Path, ast.Module]]:
    """Files whose text has the pattern, parsed: only they can break a rule about it, and parsing takes most of the time."""
    for path in paths:
        text = path.read_text("utf-8")
        if re.search(pattern, text):
            yield path, ast.parse(text)


def imported(path: Path) -> set[str]:
    """Every module or name a file imports, dotted."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name)
def test_a_page_does_nothing_at_import_and_shows_render_alone(path: Path) -> None:
    """Streamlit may run the files in pages/ by itself, past app.py."""
    quiet = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    public = []
    for node in tree(path).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        assert isinstance(node, quiet), f"{path.parent.name}, line {node.lineno} runs at import"
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            public.append(node.name)
        if isinstance(node, ast.Assign):
            calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call)]
            assert not calls, f"{path.parent.name}, line {node.lineno} calls something at import"
            assert all(ast.unparse(target).lstrip("(").startswith("_") for target in node.targets)
    assert public == ["render"]


def test_the_raters_page_cannot_reach_a_source() -> None:
    """What a rater's page may import of core: nothing that returns an assignment, an output or a study."""
    allowed = {
        **dict.fromkeys(("core.diff", "core.diff.names", "core.diff.rows")),
        **dict.fromkeys(("core.rendering", "core.rendering.tree", "core.schema.rendering")),
        "core.errors": None,
        "core.study.blinding": {"RaterDesk", "BlindPair", "RatingDesk", "BlindText", "EntryStatus"},
        "core.study.guidelines": {
            *("BOX_KEYS", "CONSENT", "CHOICE_KEYS", "GUESS_KEYS", "GUESS_QUESTION", "NO_ANSWER_KEY"),
            *("LEVEL", "QUESTION_KEYS", "TRANSLATED_KEYS", "Aids", "EARLIER_TURNS", "NUMBER", "TURN_KEYS"),
            *("NAMES", "WORDS", "LEFT_RIGHT", "NO_DIFF", "OWN_BASE", "REFERENCE", "NO_BASE"),
        },
        "core.study.design": {"estimated_minutes"},
        "core.schema.scores": {"ErrorSpan", "Turn"},
        "core.schema.study": {
            *("CHOICES", "FIRST_LEVEL", "NO_ANSWER", "NO_LEVEL", "Choice", "GuessedSide"),
            *("UNDETERMINED", "Dimension", "KeyScheme", "RatingTask", "SpanTask", "TaskLabels"),
        },
    }
    for name in RATERS_MODULES:
        for full in imported(ROOT / "pages" / name):
            if full.startswith("core"):
                module, _, what = full.rpartition(".")
                assert module in allowed, f"{name} imports {full}"
                names = allowed[module]
                assert names is None or what in names, f"{name} imports {full}"


def reached(name: str) -> set[str]:
    """The modules of pages that a page imports, and those that these import."""
    found: set[str] = set()
    new = {name}
    while new:
        found |= new
        new = {
            path.relative_to(ROOT).as_posix()
            for each in new
            for full in imported(ROOT / each)
            for path in (
                ROOT / f"{full.replace('.', '/')}.py",
                ROOT / full.replace(".", "/") / "__init__.py",
                ROOT / full.rpartition(".")[0].replace(".", "/") / "__init__.py",
                ROOT / f"{full.rpartition('.')[0].replace('.', '/')}.py",
            )
            if full.startswith("pages.") and path.is_file()
        } - found
    return found


def test_the_list_above_is_whole() -> None:
    """Whatever the rater's page is made of is looked at there; the door itself has a test of its own."""
    packages = {"pages/__init__.py", "pages/widgets/__init__.py"}
    door = packages | {"pages/widgets/visitor.py", "pages/widgets/messages.py"}
    assert reached("pages/annotate/__init__.py") - door == {f"pages/{name}" for name in RATERS_MODULES}


ORDINARY = {"scores", "answers", "direct", "pairwise", "quality", "damage", "twins"}
"""Kinds whose names are words of data, too: keys of files, columns, steps, purposes of prompts."""
NO_KIND = {
    ("core/llm/prompts.py", "rubric"): "purpose of a prompt",
    ("core/judges/rubric.py", "rubric"): "what the rubric judge's own files are called",
    ("core/judges/rubric.py", "factual"): "a shipped rubric",
    ("core/analyses/alt_test.py", "alignment"): "closeness of labels, an option and a key",
    ("core/notebook/declared.py", "alignment"): "closeness of labels, a parameter",
    **{
        (f"core/papers/{file}.py", name): "a paper"
        for file, name in (
            ("__init__", "cef"),
            ("__init__", "factual"),
            ("cef", "cef"),
            ("factual", "factual"),
        )
    },
}
"""Where a kind's name is something else."""
NAMES_DATA = ROOT / "core" / "formats"
"""Formats lie below the kinds and name what files contain. A word that is also a kind is that kind only if compared with one."""


def homes() -> dict[str, Path]:
    """Kind -> the file that exports it; of one in a package of its own, that package."""
    exporting = {
        name: path
        for path in sorted(ROOT.glob("core/**/*.py"))
        if re.search(r"^KIND = ", path.read_text("utf-8"), re.MULTILINE)
        for name in re.findall(r"^    name = \"(\w+)\"$", path.read_text("utf-8"), re.MULTILINE)
    }
    folders = [path.parent for path in exporting.values()]
    return {
        name: path.parent if folders.count(path.parent) == 1 and path.parent.parent.parent != ROOT else path
        for name, path in exporting.items()
    }


def names_in(node: ast.AST) -> set[str]:
    """Kinds that are named in quotes, alone or among others."""
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and one.value in KINDS}


def is_a_kind(node: ast.AST) -> bool:
    """`run.kind`, `kind`, `output.kind`, `kind.name`."""
    if isinstance(node, ast.Attribute) and node.attr == "name":
        return is_a_kind(node.value)
    return getattr(node, "attr", getattr(node, "id", None)) == "kind"


def kinds_spelled_out(top: str) -> list[str]:
    """Where a kind is asked for by its name instead of by the object that its own file exports."""
    home, found = homes(), []
    quoted = f"[\"']({'|'.join(map(re.escape, KINDS))})[\"']"
    for path, code in trees_with(sorted(ROOT.glob(f"{top}/**/*.py")), quoted):
        file = path.relative_to(ROOT).as_posix()
        for node in ast.walk(code):
            named: set[str] = set()
            words = set(KINDS) if NAMES_DATA in path.parents else ORDINARY
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = names_in(node) - words
            elif isinstance(node, ast.Compare) and any(map(is_a_kind, (node.left, *node.comparators))):
                named = names_in(node) & words
            found += [
                f"{file}, line {node.lineno}: {name}"  # type: ignore[attr-defined]  # both have one
                for name in sorted(named)
                if (file, name) not in NO_KIND and path != home[name] and home[name] not in path.parents
            ]
    return found


def test_no_kind_is_spelled_out_outside_its_own_file() -> None:
    """What is known of a kind alone stands in its file: others ask the object. Prompts, data and docs name kinds."""
    assert set(homes()) == set(KINDS)
    assert all(home.is_relative_to(ROOT / "core") for home in homes().values())
    assert kinds_spelled_out("core") == kinds_spelled_out("pages") == []


def test_a_kind_that_is_spelled_out_is_found() -> None:
    """The rule above sees what it forbids."""
    code = ast.parse('x = run.kind == "quality" or kind in ("direct", "rubric")')
    compared = [node for node in ast.walk(code) if isinstance(node, ast.Compare)]
    assert [any(map(is_a_kind, (one.left, *one.comparators))) for one in compared] == [True, True]
    assert set.union(*map(names_in, compared)) == {"quality", "direct", "rubric"}
    assert not is_a_kind(ast.parse("kind.work").body[0].value)  # type: ignore[attr-defined]  # an expression


ARGUMENTS = {("core/runs/working/environments.py", word) for word in ("--alone", "--db")}
"""What a child process is started with: words that nobody reads."""


OPTION = r"(?<![\w-])--[a-z]"


def options_in(code: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each text that names an option; a whole command, in backticks or of ./run --with, may."""
    aside = {id(node.value) for node in ast.walk(code) if isinstance(node, ast.Expr)}  # docstrings
    aside |= {id(part) for node in ast.walk(code) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(code):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "_" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if id(node) not in aside and re.search(
            OPTION, re.sub(r"`[^`]*`|\./run --with \S+( --setup)?", "", text)
        ):
            yield node.lineno, text


def test_no_option_is_named_in_core_outside_cli() -> None:
    """A page shows these sentences too, and a page has no `--device`: only core/cli speaks of options."""
    paths = [path for path in sorted(ROOT.glob("core/**/*.py")) if path.name != "__main__.py"]
    found = [
        (path.relative_to(ROOT).as_posix(), line, text)
        for path, code in trees_with(paths, OPTION)
        if ROOT / "core" / "cli" not in path.parents
        for line, text in options_in(code)
    ]
    assert [
        f"{file}, line {line}: {text}" for file, line, text in found if (file, text) not in ARGUMENTS
    ] == []
    assert {(file, text) for file, _, text in found} == ARGUMENTS


def test_an_option_is_seen_in_every_kind_of_text() -> None:
    """The rule above sees what it forbids, and neither whole commands nor docstrings."""
    code = '''
"""The file of --human."""
a = "--device: there is none"
b = f"choose one (--dimension {c})"
d = [f"{c} -- or --again"]
e = f"`python -m core study unblind {c} --reason TEXT` ends it; ./run --with spacy --setup, too"
f = f"--{c}: a hyphen--or two", "--"
'''
    assert [line for line, _ in options_in(ast.parse(code))] == [3, 4, 5]


PREFIXES = {"run:", "study:", "published:"}
"""How the names of stored data begin."""


def prefixes_in(code: ast.Module) -> list[str]:
    """Prefixes that a module compares names with; one in a formatted text only writes a name."""
    written = {id(part) for node in ast.walk(code) if isinstance(node, ast.JoinedStr) for part in node.values}
    return [
        f"line {node.lineno}: {node.value}"
        for node in ast.walk(code)
        if isinstance(node, ast.Constant) and node.value in PREFIXES and id(node) not in written
    ]


def test_names_of_stored_data_are_resolved_in_one_place() -> None:
    """Doors ask core/sources which data a text means. A published column is named as its own reader names it."""
    paths = [path for top in ("core", "pages", "assay") for path in sorted((ROOT / top).rglob("*.py"))]
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path, code in trees_with(paths, "|".join(PREFIXES))
        if (lines := prefixes_in(code))
    }
    assert found.keys() == {"core/sources/named.py", "core/formats/correlations.py"}, found
    code = 'a = name.startswith("run:")\nb = ("study:", 1)\nc = f"study:{name}"\n'
    assert prefixes_in(ast.parse(code)) == ["line 1: run:", "line 2: study:"]


UNRELEASED = {
    *(f"core.store.answers.{name}" for name in ("PAIRS", "RATINGS", "LISTS", "history_of", "guesses_of")),
    *(f"core.store.answers.{name}" for name in ("load_record", "insert_record")),
}
"""What pages and commands may not read past released_record()."""


def test_what_is_frozen_is_loaded_in_one_place() -> None:
    """Results and exports ask released_record(), which refuses before the study is unblinded."""
    for path in sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]):
        loads = "load_record" in path.read_text("utf-8")
        there = path.relative_to(ROOT).as_posix()
        assert loads == (there in ("core/store/answers.py", "core/study/analysis_set.py")), path
    for path in sorted([*ROOT.glob("core/cli/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]):
        names = imported(path)
        assert not names & UNRELEASED, path


def test_a_record_of_a_running_study_reaches_one_place() -> None:
    """An early look shows one bound: what loads the votes for it is used by nothing that shows anything else."""
    for path in sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]):
        uses = "record_to_look" in path.read_text("utf-8")
        there = path.relative_to(ROOT).as_posix()
        assert uses == (there in ("core/study/analysis_set.py", "core/results/study/early.py")), path


PARSERS = {
    *("json.load", "json.loads", "csv.reader", "csv.DictReader", "ast.literal_eval", "zipfile.ZipFile"),
    *("gzip.open", "gzip.decompress", "zlib.decompress", "tarfile.open", "lzma.decompress", "bz2.decompress"),
    *(
        "yaml.load",
        "yaml.safe_load",
        "pickle.load",
        "pickle.loads",
        "pd.read_csv",
        "pd.read_json",
        "pd.read_excel",
    ),
    *(
        "pd.read_parquet",
        "parquet.ParquetFile",
        "parquet.read_table",
        "parquet.read_schema",
        "parquet.read_metadata",
    ),
    *("arrow.CompressedInputStream", "calamine.load_workbook", "openpyxl.load_workbook", "sqlite3.connect"),
}
"""What makes objects of bytes, of any number of them."""
BUDGETED = {
    "core/budget.py": {"zipfile.ZipFile"},
    "core/cli/study/__init__.py": {"json.loads"},
    "core/formats/logs/inspect.py": {"arrow.CompressedInputStream"},
    "core/analyses/check/drift.py": {"json.loads"},
    "core/store/backup.py": {"json.loads", "sqlite3.connect", "zipfile.ZipFile"},
    "core/study/bundle.py": {"json.loads", "zipfile.ZipFile"},
    "core/tables/columns.py": {"csv.reader"},
    "core/tables/containers.py": {"calamine.load_workbook"},
    "core/tables/layouts.py": {"ast.literal_eval"},
    "core/tables/parquet.py": {"parquet.ParquetFile", "parquet.read_metadata"},
    "core/tables/reading.py": {"json.loads"},
}
"""Modules that draw on core.budget before they parse a file of a user's, and what they parse with."""
OF_ASSAY = (
    *(
        "core/store/",
        "core/runs/",
        "core/metrics/",
        "core/generation/",
        "core/llm/",
        "core/study/guidelines.py",
    ),
    *(
        "core/study/shipped.py",
        "core/results/big_tables/",
        "core/schema/settings.py",
        "core/formats/correlations.py",
    ),
    *("core/judges/automqm.py", "core/cli/shared/", "core/notebook/frames.py", "pages/tabs/downloads.py"),
    "pages/widgets/live_plot.py",
    "core/rendering/",
)
"""What these parse was written by Assay, comes with it, was typed, is an answer that the client bounds, or a text that was read already."""


def test_every_reader_of_files_draws_on_the_budget() -> None:
    """A new reader is listed in BUDGETED once it draws on core.budget before it makes objects."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py")]:
        there = path.relative_to(ROOT).as_posix()
        if there not in BUDGETED and there.startswith(OF_ASSAY):
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and (call := ast.unparse(node.func)) in PARSERS:
                found[there].add(call)
    assert found == BUDGETED
    for there in BUDGETED.keys() - {"core/budget.py"}:
        text = (ROOT / there).read_text("utf-8")
        assert re.search(r"Drawing\(|drawing_for\(|open_zip\(|json_values\(", text), there


def test_bytes_of_parquet_are_read_in_this_thread_alone() -> None:
    """A thread of pyarrow's that still holds Python's bytes when Python ends aborts the process (one in eight, measured)."""
    text = (ROOT / "core/tables/parquet.py").read_text("utf-8")
    assert text.count("pre_buffer=False") == text.count("parquet.ParquetFile(")
    assert text.count("use_threads=False") == text.count("iter_batches(")
    # pyarrow ends the process where a damaged footer describes the columns of a row group (fuzz_readers.py, input 92251).
    assert ".column(at)" not in text.replace("about.schema.column(at)", "")


def test_no_benchmark_stands_in_the_place_of_a_standard_module() -> None:
    """A script's own folder is searched first: `import statistics` would find benchmarks/statistics.py."""
    named = {path.stem for path in ROOT.glob("benchmarks/*.py")}
    assert named
    assert not named & sys.stdlib_module_names


def test_no_full_collection_follows_each_press() -> None:
    """Streamlit keeps what it knows of every widget ever drawn: looking at all of it costs more with every press."""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["runner"]["postScriptGC"] is False


def test_app_only_decides_who_gets_which_pages() -> None:
    core = {name.rpartition(".")[0] for name in imported(ROOT / "app.py") if name.startswith("core")}
    assert core == {"core.installation", "core.store"}
    registered = set(re.findall(r"st\.Page\((\w+)\.render", (ROOT / "app.py").read_text("utf-8")))
    assert registered == {path.parent.name for path in PAGES}


def test_admin_pages_ask_for_the_role_themselves() -> None:
    public = {"methods"}  # shows documents alone
    for path in PAGES:
        text = path.read_text("utf-8")
        if path.parent.name in public:
            assert not [name for name in imported(path) if name.startswith(("core", "pages"))]
            continue
        assert ("visitor.any_desk(" if path.parent.name == "annotate" else "visitor.admin_store()") in text


def test_temporary_files_lie_in_scratch_folders_alone() -> None:
    """Only those go if the process is killed. A folder of Ray's has a process of its own that deletes it."""
    named = re.compile(r"\b(mkdtemp|mkstemp|NamedTemporaryFile|TemporaryDirectory)\b")
    found = {
        path.relative_to(ROOT).as_posix()
        for top in ("core", "pages", "assay")
        for path in (ROOT / top).rglob("*.py")
        if named.search(path.read_text("utf-8"))
    }
    assert found == {"core/runs/working/cluster.py"}


def test_every_page_stands_in_the_contract() -> None:
    """`a page never imports a page` looks only at the pages that pyproject.toml lists."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = (
        each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "independence"
    )
    assert contract["modules"] == [f"pages.{path.parent.name}" for path in PAGES]


REGISTERED = re.compile(r"^(?:KIND|FORMAT|FAMILY|ANALYSIS)\b", re.MULTILINE)
"""What a module exports for a registry."""


def modules_by_folder() -> dict[str, list[str]]:
    """Folder -> names of its modules and packages. Registry folders are left out: they grow with what they register."""
    folders: dict[str, list[str]] = {}
    for package in sorted([*ROOT.glob("core/**/__init__.py"), *ROOT.glob("pages/**/__init__.py")]):
        modules = [path for path in sorted(package.parent.glob("*.py")) if path != package]
        if sum(bool(REGISTERED.search(path.read_text("utf-8"))) for path in modules) < 2:
            packages = [path.parent.name for path in sorted(package.parent.glob("*/__init__.py"))]
            folders[package.parent.relative_to(ROOT).as_posix()] = [
                *(path.stem for path in modules),
                *packages,
            ]
    return folders


def shared_first_words(names: list[str]) -> set[str]:
    """First words that three names or more have in common."""
    first = Counter(name.split("_")[0] for name in names)
    return {word for word, count in first.items() if count > 2}


def test_modules_that_share_a_first_word_have_a_folder() -> None:
    """But not where the names are those of kinds, metrics or formats."""
    folders = modules_by_folder()
    assert {"core", "core/results", "pages/studies"} <= set(folders)
    assert not {"core/judges", "core/formats", "core/metrics/lexical", "core/metrics/neural"} & set(folders)
    assert {folder: words for folder, names in folders.items() if (words := shared_first_words(names))} == {}
    assert shared_first_words(["judge_costs", "judge_form", "judge"]) == {"judge"}


def test_messages_name_the_command_by_what_is_installed() -> None:
    """`python -m core` and ./run exist in a checkout alone: texts use COMMAND, START and set_up of core/installation.py."""
    named = []
    pattern = r"python -m core|\./run"
    files = (*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py")
    for path, code in trees_with(files, pattern):
        nodes = list(ast.walk(code))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        named += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
            if re.search(pattern, node.value)
        ]
    assert {place.partition(":")[0] for place in named} == {"core/installation.py"}, named


def test_help_costs_little_more_than_to_start_python() -> None:
    """Names and summaries need no library: at most three times the CPU of importing numpy, the best of three."""

    def seconds(*words: str) -> float:
        used = []
        for _ in range(3):
            before = os.times()
            subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            after = os.times()
            used.append(
                after.children_user + after.children_system - before.children_user - before.children_system
            )
        return min(used)

    assert seconds("-m", "core", "--help") <= 3 * seconds("-c", "import numpy")


def test_a_command_loads_what_it_needs() -> None:
    """`study list` needs neither statistics nor judges; what makes answers, scores and judges needs no test of scipy."""
    asked = (
        "import sys; from core.cli import main; main(['study', 'list', '--db', '{}']); print(*sys.modules); "
        "import core.cli.shared.run_options; print(*sys.modules)"
    )
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "assay.db"
        with open_store(database):
            pass
        done = subprocess.run(
            [sys.executable, "-c", asked.format(database)],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
    of_the_list, of_runs = done.stdout.splitlines()[-2:]
    loaded = of_the_list.split()
    assert "core.cli.study" in loaded
    heavy = ("scipy", "pandas", "core.judges", "core.generation")
    assert not [name for name in loaded if name.startswith(heavy)]
    assert "core.runs.costs" in of_runs.split()
    assert not {"scipy.stats", "statsmodels", "pandas"} & {*of_runs.split()}


def test_nothing_names_a_machine_or_a_registry() -> None:
    """Repository text speaks of the product alone."""
    kinds = {".py", ".md", ".toml", ".txt", ".sh", ".json", ".csv", ".yaml"}
    shown = [
        one for one in ROOT.iterdir() if not one.name.startswith((".venv", ".git")) and one.name != "var"
    ]
    for path in (each for one in shown for each in [one, *one.rglob("*")]):
        if path.suffix in kinds and path.is_file() and path != Path(__file__):
            text = path.read_text("utf-8", errors="ignore")
            assert not re.search(r"(?<![\w.])/(?:work|root|home/\w+)/", text), path
            assert "files.pythonhosted" not in text, path


def test_every_promise_names_a_test_that_is_there() -> None:
    """docs/threat-model.md stands beside the tests, not instead of them."""
    named = re.findall(
        r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs" / "threat-model.md").read_text("utf-8")
    )
    assert len(named) > 40
    for file, test in named:
        path = ROOT / file
        assert path.is_file(), f"{file} is gone"
        there = {node.name for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef)}
        assert not test or test in there, f"{file} has no {test}"


SENTENCE = 5
"""Words from which a text in a test is a sentence that the product says; fewer name a field, a state, a button."""


def asserted(code: ast.Module) -> Iterator[ast.expr]:
    """What assert statements look at, without the reasons they give, and what `match=` compares with."""
    for node in ast.walk(code):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call):
            yield from (one.value for one in node.keywords if one.arg == "match")


def sentences(code: ast.Module) -> set[tuple[str, int, int]]:
    """Each sentence that is spelled out in what is asserted, with its line and column: where a `match=` stands inside
    an assert, its text is still one place.
    """
    return {
        (text.strip(), one.lineno, one.col_offset)
        for tested in asserted(code)
        for one in ast.walk(tested)
        if isinstance(one, ast.Constant)
        and isinstance(text := one.value, str)
        and " " in text
        and len(re.findall("[A-Za-z]+", text)) >= SENTENCE
    }


def test_a_sentence_of_the_product_is_asserted_in_one_place() -> None:
    """A better wording should break one test: the one that owns it. Others compare with the product's own constant, or
    assert which field, row, code or number the sentence names.
    """
    places = defaultdict(list)
    for path in sorted(ROOT.glob("tests/**/*.py")):
        for text, line, _ in sorted(sentences(tree(path))):
            places[text].append(f"{path.relative_to(ROOT).as_posix()}, line {line}")
    assert places
    assert {text: there for text, there in places.items() if len(there) > 1} == {}


def test_a_sentence_is_seen_wherever_it_is_asserted() -> None:
    """The rule above sees what it forbids, and neither short texts nor reasons of asserts."""
    code = """
assert said == "no mill has its stream"
assert f"no mill has its stream {name}" in [said], "every mill has its own stream"
with raises(InputError, match="no mill has its stream"):
    read("a mill that has a stream")
assert said == "no mill"
"""
    assert {(text, line) for text, line, _ in sentences(ast.parse(code))} == {
        ("no mill has its stream", line) for line in (2, 3, 4)
    }


@pytest.mark.slow
def test_tests_are_collected_in_the_same_order_whatever_the_hash_seed() -> None:
    """Two workers must collect the same list, so a set may not say which cases there are."""
    asked = [sys.executable, "-m", "pytest", "--collect-only", "tests"]
    children = [
        subprocess.Popen(asked, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, stdout=subprocess.PIPE)
        for seed in "123"
    ]
    listed = [child.communicate()[0].partition(b"\n\n")[0] for child in children]
    assert all(child.returncode == 0 for child in children)
    assert b"test_house.py::" in listed[0]
    assert len(set(listed)) == 1


def test_options_of_menus_are_plain_text() -> None:
    """Menus show no Markdown: an escaped name would keep its backslashes there."""
    menus = ("selectbox", "multiselect")
    wrong = [
        f"{path}:{call.lineno}"
        for path in sorted((ROOT / "pages").rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in menus
        for keyword in call.keywords
        if keyword.arg == "format_func"
        and any(isinstance(one, ast.Name) and one.id == "plain" for one in ast.walk(keyword.value))
    ]
    assert not wrong


def test_what_is_defined_is_named_somewhere() -> None:
    """A function, class or constant that neither the product nor a test names is left over."""
    files = [path for top in PRODUCT for path in sorted((ROOT / top).rglob("*.py"))]
    named = Counter(
        word
        for top in (*PRODUCT, "assay", "benchmarks", "scripts", "tests")
        for path in [ROOT / "app.py", *(ROOT / top).rglob("*.py")]
        for word in re.findall(r"\w+", path.read_text("utf-8"))
    )
    left = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for node in ast.parse(path.read_text("utf-8")).body
        for name in defined_by(node)
        if named[name] == 1
    ]
    assert left == []


PREPOSITIONS = frozenset(
    re.findall(
        r"\w+",
        """
        about above across after against along among around as at before behind below beneath beside between beyond by
        down during except for from in inside into like near of off on onto out outside over past per since through
        throughout till to toward towards under until up upon via with within without
        """,
    )
)
PARTICIPLES = frozenset({"asked", "chosen", "found", "given", "known", "one", "own", "said"})
"""Words that say that there is something, and not what: they do inside a comprehension or a few lines."""
STORED = {
    ("core/judges/alignment.py", "MarkedError.found"),
    ("core/judges/questions.py", "CrossQuestion.said"),
    ("core/judges/questions.py", "TextAskedAbout.said"),
}
"""Fields whose names are keys of the records that runs store and users read."""


def prepositions_in(code: ast.Module) -> list[str]:
    """Functions of a module whose names begin with a preposition."""
    return [
        f"line {node.lineno}: {node.name}"
        for node in code.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.lstrip("_").split("_")[0] in PREPOSITIONS
    ]


def vague_names_in(body: Iterable[ast.stmt], inside: str = "") -> list[str]:
    """Parameters of public functions, and fields of public classes, that are called by one of PARTICIPLES.

    A field that is declared with a call, such as `entry(...)` or `setting(...)`, has the name of a key or an option.
    """
    names = []
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            names += vague_names_in(node.body, f"{inside}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_") or node.name.startswith("__"):
                parts = [part.arg for part in ast.iter_child_nodes(node.args) if isinstance(part, ast.arg)]
                names += [f"{inside}{node.name}.{part}" for part in parts if part in PARTICIPLES]
        elif inside and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) != "field"
            if node.target.id in PARTICIPLES and not declared:
                names.append(f"{inside}{node.target.id}")
    return names


def test_functions_are_called_by_a_noun_or_a_verb() -> None:
    """`saved_run(...)` and `add_labels(...)`: a preposition says how a name is used in one place, not what the function is."""
    wrong = {
        path.relative_to(ROOT).as_posix(): names
        for top in (*PRODUCT, "assay")
        for path in sorted((ROOT / top).rglob("*.py"))
        if (names := prepositions_in(tree(path)))
    }
    assert wrong == {}
    code = "def of_run(): ...\ndef offer(): ...\ndef _by_hand(): ...\ndef on(): ...\nclass A:\n    def to(self): ..."
    assert prepositions_in(ast.parse(code)) == ["line 1: of_run", "line 3: _by_hand", "line 4: on"]


def test_parameters_and_fields_are_called_by_what_they_are() -> None:
    """`estimate`, not `found`: readers of a signature see no line that says what was found."""
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for top in (*PRODUCT, "assay")
        for path in sorted((ROOT / top).rglob("*.py"))
        for name in vague_names_in(tree(path).body)
    }
    assert named == STORED
    code = """
def f(found, *, one=1): ...
def _g(said): ...
class A:
    own: int
    found: int = entry("a key")
    asked: list[int] = field(default_factory=list)
    def m(self, *given): ...
"""
    assert vague_names_in(ast.parse(code).body) == ["f.found", "f.one", "A.own", "A.asked", "A.m.given"]


PRODUCT = ("core", "pages")


def defined_by(node: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [one.id for one in node.targets if isinstance(one, ast.Name) and one.id != "__all__"]
    return []


def test_headings_of_pages_skip_no_rank() -> None:
    """Below a page's title stand headings of the second rank: who moves by headings finds none skipped."""
    lower = {
        path.relative_to(ROOT).as_posix()
        for path in [*ROOT.glob("pages/**/*.py"), ROOT / "app.py"]
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr == "subheader"
    }
    assert lower == set()


def test_tests_look_for_words_on_the_screen() -> None:
    """A page as a whole holds, a moment later, what is announced to who listens: the same words a second time."""
    # `setting` is a part of a page already.
    whole_page = re.compile(r"\b(?!(on_screen|setting)\b)\w+\.get_by_text\(|\bget_by_role\(\"status\"")
    ambiguous = [
        f"{path.name}:{number}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if whole_page.search(line) and path != Path(__file__)
    ]
    assert ambiguous == []

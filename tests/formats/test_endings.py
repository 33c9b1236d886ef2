"""The content of a file says how it is read; its ending is a hint where the content leaves a choice."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from test_containers import CONTAINERS, DOORS, as_csv, content
from test_tools import SAMPLES

from core.errors import InputError
from core.formats.registry import (
    has_spans_alone,
    read_evaluators,
    read_questions,
    read_rated,
    read_ratings,
    read_scored_texts,
    read_scores,
    read_spans,
    read_study,
    read_texts,
    read_with_texts,
)
from core.sources.named import FileSource
from core.sources.sides import holds_correlations
from core.study.bundle import is_bundle
from core.tables.columns import form_of_text
from core.tables.mapping import columns_there, first_rows

LOGS = Path(__file__).parent / "logs"
ENDINGS = (
    "",
    ".csv",
    ".json",
    ".jsonl",
    ".parquet",
    ".xlsx",
    ".eval",
    ".zip",
    ".seg.score",
    ".seg.rating",
    ".tsv.gz",
)
READERS: Mapping[str, Callable[[bytes, str], Any]] = {
    "study": lambda data, name: read_study(data, name).finish(),
    "questions": read_questions,
    "texts": read_texts,
    "rated": read_rated,
    "scores": read_scores,
    "scored texts": read_scored_texts,
    "ratings": read_ratings,
    "spans": read_spans,
    "spans alone": has_spans_alone,
    "texts of ratings": lambda data, name: read_with_texts("ratings", data, name),
    "evaluators": read_evaluators,
}
FILES: Mapping[str, tuple[str, bytes]] = {
    **{
        path.name: ("".join(path.suffixes[-1:]), path.read_bytes())
        for path in sorted(LOGS.glob("*.*"))
        if path.suffix != ".md"
    },
    **{f"a sample of {key}": (Path(name).suffix, data) for key, (name, data) in SAMPLES.items()},
    **{
        f"texts as {key}": ("".join(Path(name).suffixes), make(DOORS["texts"][1]))
        for key, (name, make) in CONTAINERS.items()
    },
    "scores as Parquet": (".parquet", CONTAINERS["Parquet"][1](DOORS["scores"][1])),
    "scores as JSON": (".json", CONTAINERS["JSON"][1](DOORS["scores"][1])),
}
NOTHING = {
    "empty": b"",
    "zeros": b"\0" * 10,
    "bytes": bytes(range(256)),
    "Parquet's mark": b"PAR1",
    "broken Parquet": b"PAR1" + b"x" * 100 + b"PAR1",
    "a zip's mark": b"PK\x03\x04",
    "gzip's mark": b"\x1f\x8b",
    "a number": b"12",
    "a string": b'"abc"',
    "null": b"null",
    "{": b"{",
    "[": b"[",
    "{}": b"{}",
    "[]": b"[]",
}


def outcome(read: Callable[[bytes, str], Any], data: bytes, name: str) -> Any:
    """What is read, or that the file is refused. Any other error is one of the reader."""
    try:
        return repr(content(read(data, name)))
    except InputError:
        return InputError


@pytest.mark.parametrize("key", FILES)
def test_the_same_content_is_read_alike_under_every_ending(key: str) -> None:
    own, data = FILES[key]
    differ = {}
    for door, read in READERS.items():
        expected = outcome(read, data, f"x{own}")
        differ |= {
            (door, ending): got
            for ending in ENDINGS
            if (got := outcome(read, data, f"x{ending}")) != expected
        }
    assert not differ


@pytest.mark.parametrize("key", NOTHING)
def test_what_cannot_be_read_is_refused_under_every_ending(key: str) -> None:
    for ending in ENDINGS:
        for read in READERS.values():
            assert outcome(read, NOTHING[key], f"x{ending}") in (InputError, "None", "False")
        outcome(first_rows, NOTHING[key], f"x{ending}")
        outcome(lambda data, name: columns_there(data, name, {"text": "a"}), NOTHING[key], f"x{ending}")


@pytest.mark.parametrize(
    ("text", "endings", "form"),
    [
        ('[{"a": 1}]', (".csv", ".json", ".jsonl", ""), "json"),
        ('{\n  "a": 1\n}\n', (".csv", ".json", ".jsonl", ""), "json"),
        ('{"questions": [\n{"a": 1},\n{"a": 2}]}', (".csv", ".json", ""), "json"),
        ('{"questions": []}', (".csv", ".json", ".jsonl", ""), "json"),
        ('{"a": 1}\n{"a": 2}\n', (".csv", ".json", ".jsonl", ""), "jsonl"),
        ('\n {"a": 1}\r\n\r\n{"a": 2}', (".csv", ".json", ".jsonl", ""), "jsonl"),
        ("a,b\n1,2\n", (".csv", ".json", ".jsonl", ""), "table"),
        ('"a";"b"\n1;2\n', (".csv", ".json", ".jsonl", ""), "table"),
        ("[a],b\n1,2\n", (".csv", ""), "table"),
        ("{a},b\n1,2\n", (".csv", ""), "table"),
        # One object, or one broken line, can be either.
        ('{"a": 1}', (".json",), "json"),
        ('{"a": 1}', (".csv", ".jsonl", ""), "jsonl"),
        ('{"a": 1', (".jsonl",), "jsonl"),
        ('{"a": 1', (".json", ""), "json"),
        ('{"a": \n{"a": 2}\n', (".jsonl",), "jsonl"),
        ("nonsense", (".json",), "json"),
        ('nonsense, all\n{"a": 2}', (".jsonl",), "jsonl"),
    ],
)
def test_the_form_of_a_text(text: str, endings: tuple[str, ...], form: str) -> None:
    assert [form_of_text(text, f"x{ending}") for ending in endings] == [form] * len(endings)


def test_a_log_in_a_zip_is_no_bundle_of_a_study() -> None:
    assert not is_bundle((LOGS / "inspect-0.3.285.eval").read_bytes())


def test_a_side_is_correlations_by_its_content(tmp_path: Path) -> None:
    table, values = as_csv(DOORS["scores"][1]).encode(), b'{"bleu": {"pearson": 0.5}}\n'
    for name in ("x.json", "x.csv", "x"):
        path = tmp_path / name
        for data, expected in ((table, False), (b'{\n"bleu": {"pearson": 0.5}}\n', True)):
            path.write_bytes(data)
            assert holds_correlations(FileSource(str(path)), rated=False) is expected
    (tmp_path / "x.json").write_bytes(values)
    assert holds_correlations(FileSource(str(tmp_path / "x.json")), rated=False)
    assert not holds_correlations(FileSource(str(tmp_path / "x.json")), rated=True)

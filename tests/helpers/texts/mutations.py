"""Valid files of every format, and what goes wrong with files: drawn from a seed, so that each can be made again."""

import copy
import csv
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

from helpers.texts.factories import dataset, edited, members_of, paper_json

RAW = {
    "@@NAN@@": "NaN",
    "@@INF@@": "-Infinity",
    "@@HUGE@@": "1e999",
    "@@LONG@@": "1" * 5000,
    "@@DEEP@@": "[" * 3000 + "]" * 3000,
    "@@HALF@@": '"a\\ud800"',
    "@@BARE@@": "undefined",
}
"""JSON that json.dumps does not write, by the text that stands for it."""
AGAIN = "@@AGAIN@@"
"""Ends a key that is written without it: the same key twice in one object."""
TEXTS = (
    *("=1+1", " @SUM(A1)", "<script>alert(1)</script>", "![x](http://outside.invalid/y)", "$x$", ":smile:"),
    *(
        "a\0b",
        "\x1b[1mred",
        "it\x92s",
        "\u202eturned",
        "שלום",
        "ＡＩ",
        "two\r\nlines",
        "\ttab",
        "trailing \n",
    ),
    *('say "yes"', "a,b;c", "'", "\\", "\u2028", "\ufeff", "\u200b", "x" * 5000, "word " * 500),
)
"""As texts all of these can be imported, but those that nobody can see."""
NAMES = (
    "ai ",
    " AI",
    "ＡＩ",
    "ai\u200b",
    "hum\u0430n",
    "A0\0",
    "A" * 201,
    "x" * 60_000,
    "A\n0",
    "",
    " ",
    "0",
    "A00",
)
VALUES = (None, True, 0, -1, 10**30, 3.5, [], {}, [[[]]], [None], {"a": {"b": []}}, "", " ", "\0", *TEXTS)
COLUMNS = ("item_id", "question", "reference", "level", "source", "text", "language")
Mutation = Callable[[random.Random, Any], None]


# --- bytes ----------------------------------------------------------------------------------------


def damaged(rng: random.Random, data: bytes) -> bytes:
    """One thing that happens to a file between two programs."""
    at, length = rng.randrange(len(data) + 1), rng.choice((0, 1, 2, 30))
    wrong = rng.choice(
        (b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b'"', b",", b"}", b"\x1b", b"\r", b"\xef\xbb\xbf")
    )
    text = data.decode(errors="replace")
    kind = rng.randrange(11)
    if kind == 0:
        return data[:at] + wrong + data[at + length :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + data[at + length :]
    if kind == 3:
        return data[:at] + data[at : at + 30] + data[at:]
    if kind == 4:
        return data[:at] + rng.randbytes(length) + data[at + length :]
    if kind == 5:
        return (
            rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04", b"\n\n", b" ", b"\0"))
            + data
        )
    if kind == 6:
        return text.encode(
            rng.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "shift_jis", "utf-7")),
            "replace",
        )
    if kind == 7:
        return b"".join(line + rng.choice((b"\n", b"\r\n", b"\r")) for line in data.splitlines())
    if kind == 8:
        return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\0")))
    if kind == 9:
        return rng.choice((b"", b" \n", b"\0", b"null", b"[]", b"{}", b'""', data + data))
    return data + rng.choice((b"\n", b"\x1a", b"\0", b" ", b"{}", b"\n\n\n", b"]"))


# --- JSON -----------------------------------------------------------------------------------------


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key or index) of everything inside."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, inner in pairs:
        found += [(value, key), *_places(inner)]
    return found


def _any_value(rng: random.Random) -> Any:
    return rng.choice(list(RAW)) if rng.random() < 0.2 else copy.deepcopy(rng.choice(VALUES))


def _put_value(rng: random.Random, value: Any) -> None:
    container, key = rng.choice(_places(value))
    container[key] = _any_value(rng)


def _put_text(rng: random.Random, value: Any) -> None:
    texts = [(c, k) for c, k in _places(value) if isinstance(c[k], str)]
    if texts:
        container, key = rng.choice(texts)
        container[key] = rng.choice(
            (rng.choice(TEXTS), container[key] + rng.choice(TEXTS), rng.choice(NAMES))
        )


def _put_number(rng: random.Random, value: Any) -> None:
    numbers = [(c, k) for c, k in _places(value) if isinstance(c[k], int | float)]
    if numbers:
        container, key = rng.choice(numbers)
        container[key] = rng.choice(
            ("@@NAN@@", "@@INF@@", "@@HUGE@@", "@@LONG@@", 2**63, -(2**63) - 1, -1, 0.5, "1")
        )


def _drop(rng: random.Random, value: Any) -> None:
    container, key = rng.choice(_places(value))
    del container[key]


def _rename(rng: random.Random, value: Any) -> None:
    keys = [(c, k) for c, k in _places(value) if isinstance(c, dict)]
    if keys:
        container, key = rng.choice(keys)
        new = rng.choice((*NAMES, key.upper(), f"{key} ", f"{key}x", f"{key}\ud800"))
        container[new] = container.pop(key)


def _again(rng: random.Random, value: Any) -> None:
    keys = [(c, k) for c, k in _places(value) if isinstance(c, dict)]
    if keys:
        container, key = rng.choice(keys)
        container[key + AGAIN] = copy.deepcopy(container[key])


def _more(rng: random.Random, value: Any) -> None:
    container, key = rng.choice(_places(value))
    if isinstance(container, list):
        container.insert(rng.randrange(len(container) + 1), copy.deepcopy(container[key]))
    else:
        container[rng.choice((*NAMES, "topic", "note"))] = _any_value(rng)


def _swap(rng: random.Random, value: Any) -> None:
    (one, a), (two, b) = rng.choice(_places(value)), rng.choice(_places(value))
    # Copies: a value put inside itself could not be written at all.
    one[a], two[b] = copy.deepcopy(two[b]), copy.deepcopy(one[a])


def _shuffle(rng: random.Random, value: Any) -> None:
    lists = [c[k] for c, k in _places(value) if isinstance(c[k], list)]
    if lists:
        rng.shuffle(rng.choice(lists))


JSON_MUTATIONS: tuple[Mutation, ...] = (
    _put_value,
    _put_text,
    _put_text,
    _put_number,
    _drop,
    _rename,
    _again,
    _more,
    _swap,
    _shuffle,
)


def mutated(rng: random.Random, value: Any) -> Any:
    """The value with one or two things changed."""
    value = [copy.deepcopy(value)]  # a list around it, so that the whole can be replaced too
    for _ in range(rng.choice((1, 1, 2))):
        if _places(value):
            rng.choice(JSON_MUTATIONS)(rng, value)
    return value[0] if value else None


def written(value: Any, **how: Any) -> str:
    """As JSON, with what stands for RAW and AGAIN put in."""
    text = json.dumps(value, **how)
    for mark, raw in RAW.items():
        text = text.replace(f'"{mark}"', raw)
    return text.replace(AGAIN, "")


# --- tables ---------------------------------------------------------------------------------------


def table_rows() -> list[dict[str, Any]]:
    """A small data set as one row a text."""
    data = dataset(2, ("A0", "A1"), languages=("en", "ja"))
    items = {item.item_id: item for item in data.items}
    return [
        {
            "item_id": output.item_id,
            "question": items[output.item_id].question,
            "reference": items[output.item_id].reference,
            "level": output.level,
            "source": output.source,
            "text": output.text,
            "language": items[output.item_id].language,
        }
        for output in data.outputs
    ]


def _cells(rng: random.Random) -> list[list[str]]:
    rows, columns = table_rows(), [*COLUMNS]
    kind = rng.randrange(9)
    row, column = rng.choice(rows), rng.choice(columns)
    if kind == 0:
        row[column] = rng.choice((*TEXTS, *NAMES, "a\0", "\0"))
    elif kind == 1:
        row["text"] = rng.choice(TEXTS)
    elif kind == 2:
        rows.insert(rng.randrange(len(rows)), dict(row))
    elif kind == 3:
        rows.remove(row)
    elif kind == 4:
        columns.remove(column)
    elif kind == 5:
        columns.insert(rng.randrange(len(columns)), rng.choice((column, "topic", "", "note", "Text", "\0")))
    elif kind == 6:
        rng.shuffle(rows)
        rng.shuffle(columns)
    elif kind == 7:
        for other in rows:
            other[column] = rng.choice((rng.choice(TEXTS), other[column]))
    cells = [columns, *([str(row.get(name, "more")) for name in columns] for row in rows)]
    if kind == 8:
        line = rng.choice(cells)
        line.insert(rng.randrange(len(line)), rng.choice(TEXTS)) if rng.random() < 0.5 else line.pop()
    return cells


def _table(rng: random.Random, delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    csv.writer(
        out, delimiter=delimiter, quoting=quoting, lineterminator=rng.choice(("\n", "\r\n"))
    ).writerows(_cells(rng))
    text = out.getvalue()
    if rng.random() < 0.1:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(('"', "\n", delimiter, "\0", "\r")) + text[at:]
    return text.encode("utf-8", "replace")


# --- one file a format ----------------------------------------------------------------------------


def paper_file(rng: random.Random) -> bytes:
    """The paper's JSON."""
    value = json.loads(paper_json(dataset(2, ("A0", "A1"))))
    return written(mutated(rng, value), indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.7).encode(
        "utf-8", "surrogatepass"
    )


def csv_file(rng: random.Random) -> bytes:
    """A long table with commas or semicolons."""
    return _table(rng, rng.choice(",,;"))


def tsv_file(rng: random.Random) -> bytes:
    """A long table with tabs."""
    return _table(rng, "\t")


def jsonl_file(rng: random.Random) -> bytes:
    """One JSON object a line."""
    rows = mutated(rng, table_rows())
    lines = [written(row) for row in rows] if isinstance(rows, list) else [written(rows)]
    if rng.random() < 0.15:
        lines.insert(
            rng.randrange(len(lines) + 1), rng.choice(("", " ", "{", "[]", "null", "# note", "{} {}"))
        )
    return rng.choice(("\n", "\n", "\r\n")).join(lines).encode()


def votes_file(rng: random.Random) -> bytes:
    """The paper's votes, of a data set with the items q00, q01 and the levels A0, A1."""
    votes = {
        item: {level: rng.choice(("AI", "Expert", "Both are good", None)) for level in ("A0", "A1")}
        for item in ("q00", "q01")
    }
    return written(mutated(rng, votes), indent=4).encode()


def bundle_file(rng: random.Random, valid: bytes) -> bytes:
    """A bundle: forged so that its manifest fits, or with a manifest that does not, or no good zip."""
    kind = rng.random()
    members = members_of(valid)
    name = rng.choice(sorted(members))
    if kind < 0.7:
        member = rng.choice([other for other in sorted(members) if other != "manifest.json"])
        return edited(valid, {member: _forged(rng, member, members[member])})
    if kind < 0.8:
        members["manifest.json"] = written(mutated(rng, json.loads(members["manifest.json"]))).encode()
    elif kind < 0.85:
        del members[name]
    elif kind < 0.9:
        members[name] = damaged(rng, members[name])
    return _zip(rng, members)


def _forged(rng: random.Random, member: str, content: bytes) -> bytes:
    if rng.random() < 0.1:
        return damaged(rng, content)
    if not member.endswith(".jsonl"):
        return written(mutated(rng, json.loads(content))).encode()
    rows = mutated(rng, [json.loads(line) for line in content.decode().split("\n") if line])
    return "".join(f"{written(row)}\n" for row in (rows if isinstance(rows, list) else [rows])).encode()


def _zip(rng: random.Random, members: dict[str, bytes]) -> bytes:
    """The members as a zip, sometimes with names that lead outside, twice or as a folder."""
    outside: Sequence[str] = (
        "../../outside.txt",
        "/outside.txt",
        "C:\\outside.txt",
        "manifest.json",
        "study.json/",
        "a" * 60_000,
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer,
        "w",
        rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)),
    ) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        if rng.random() < 0.4:
            name = rng.choice(outside)
            if name not in members:  # a name twice is warned of by zipfile itself
                archive.writestr(name, b"outside")
    data = buffer.getvalue()
    return damaged(rng, data) if rng.random() < 0.5 else data


def place_named(problem: str) -> bool:
    """Whether a sentence about a data set says where."""
    return re.match(r"(lines? \d+|questions?|file|systems)\b", problem) is not None

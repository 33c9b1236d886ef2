"""The card of a check: self-contained, escaped, the same bytes each time, with the numbers of the check."""

import json
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.cli import main
from core.report.card import card_html, card_md, command_said
from core.results.check.sentences import signature
from core.results.check.verdict import Check, JudgeFacts, check_panel
from core.schema.panel import Panel
from core.schema.result_table import Column, ResultTable
from core.schema.scores import STATED, ScoredRow
from core.schema.uses import CheckOptions

HOSTILE = '</title><script>alert(1)</script><img src=x onerror="x()">|`` ```\n# x\r\n[a](javascript:x)&amp;'
MADE = {"command": "assay check f.csv", "made_at": "2026-11-26 10:00 UTC"}
N = 60


def _check(
    judges: tuple[str, ...] = ("j",),
    *,
    raters: tuple[str, ...] = ("Anna", "Ben", "Carl"),
    label: str = "topic",
    values: tuple[str, str] = ("x", "y"),
    **options: Any,
) -> Check:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, N)

    def noisy(n: int) -> Any:
        return np.where(rng.random((N, n)) < 0.85, truth[:, None], 1 - truth[:, None]).astype(float)

    rows = tuple(ScoredRow(f"q{at}", values[at % 2], labels={label: values[at % 2]}) for at in range(N))
    panel = Panel(
        rows,
        np.arange(N),
        np.array([row.system for row in rows], dtype=str),
        raters,
        noisy(len(raters)),
        judges,
        noisy(len(judges)),
    )
    return check_panel(panel, CheckOptions(**options))


class _Read(HTMLParser):
    """Tags, attributes and texts of a page."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_no_script_and_no_other_file() -> None:
    page = _Read(card_html(_check(), **MADE))
    assert not {"script", "link", "img", "iframe", "object", "a", "form"} & set(page.tags)
    assert not {"href", "src", "onload", "onclick"} & {name for name, _ in page.attributes}
    assert "url(" not in page.text
    assert "@import" not in page.text
    assert page.tags.count("svg") == 3
    assert page.tags.count("h1") == 1


@pytest.mark.parametrize("use", ["replace", "rank", "gate", "monitor"])
def test_every_use_has_a_card_with_its_numbers(use: str) -> None:
    check = _check(use=use)
    (one,) = check.judges
    for made in (card_html(check, **MADE).decode(), card_md(check, **MADE).decode().replace("\\", "")):
        assert one.verdict in made
        assert signature(check) in made
        assert MADE["command"] in made
        assert MADE["made_at"] in made
        assert f"{one.agreement.estimate:.2f}" in made


def test_the_card_of_a_certificate_has_every_system() -> None:
    check = _check(use="certify", target=0.2)
    (one,) = check.judges
    html, markdown = card_html(check, **MADE).decode(), card_md(check, **MADE).decode().replace("\\", "")
    for made in (html, markdown):
        assert one.verdict in made
        for system in one.systems:
            assert f"{system.estimate.estimate:.2f}" in made
            assert system.system in made
    assert "Systems" in markdown


def test_the_same_check_and_date_give_the_same_bytes() -> None:
    for make in (card_html, card_md):
        assert make(_check(), **MADE) == make(_check(), **MADE)


def test_raters_are_counted_unless_their_names_are_requested() -> None:
    check = _check()
    for make in (card_html, card_md):
        assert b"Anna" not in make(check, **MADE)
        assert b"3 raters" in make(check, **MADE)
        assert b"Anna, Ben, Carl" in make(check, names=True, **MADE)


@pytest.mark.parametrize(
    "given",
    [["--human", "Anna,Ben"], ["--human=Anna,Ben"], ["--hum", "Anna,Ben"]],
)
def test_the_command_hides_the_raters_names(given: list[str]) -> None:
    line = ["check", "my file.csv", *given, "--use", "gate"]
    said = command_said(line, "assay", names=False)
    assert "Anna" not in said
    assert said.endswith("--use gate")
    assert shlex.split(command_said(line, "assay", names=True)) == ["assay", *line]


def test_a_judge_is_shown_with_its_model_and_signature() -> None:
    check = _check()
    panel = replace(check.panel, sources=(("run:1", "judge", "judge|model:m1|v:1"),))
    (one,) = check.judges
    known = replace(one, facts=JudgeFacts(model="m1", seconds=12.0, cost=0.5))
    check = replace(check, panel=panel, judges=(known,))
    for made in (card_html(check, **MADE).decode(), card_md(check, **MADE).decode().replace("\\", "")):
        assert "judge|model:m1|v:1" in made
        assert "Seconds per 1,000 texts" in made
        assert "0.50" in made


@pytest.mark.parametrize("signed", ["", STATED])
def test_a_judge_of_another_program_has_no_signature(signed: str) -> None:
    check = _check()
    panel = replace(check.panel, sources=(("f.csv", "judge", signed),))
    card = card_md(replace(check, panel=panel), command="c", made_at="t").decode()
    assert "Signature of the judge" not in card


def _hostile(**options: Any) -> Check:
    return _check(
        (HOSTILE, f"{HOSTILE}2"),
        raters=(HOSTILE, "b", "c"),
        label=HOSTILE,
        values=(HOSTILE, "y"),
        **options,
    )


def test_hostile_names_stay_text_in_html() -> None:
    plain = _Read(card_html(_check(("a", "b")), names=True, sentences=["x"], **MADE))
    page = _Read(
        card_html(
            _hostile(),
            names=True,
            sentences=[HOSTILE],
            **(MADE | {"command": shlex.join(["check", HOSTILE])}),
        )
    )
    assert sorted(page.tags) == sorted(plain.tags)
    assert "<script>alert(1)</script>" in page.text


def test_hostile_names_stay_text_in_markdown() -> None:
    made = card_md(
        _hostile(),
        names=True,
        sentences=[HOSTILE],
        further=[ResultTable("t", (Column("a"),), ((HOSTILE,),), title=HOSTILE)],
        **(MADE | {"command": shlex.join(["check", HOSTILE])}),
    ).decode()
    outside, blocks = _without_blocks(made)
    assert len(blocks) > 2
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]", outside)
    # Every line that begins a heading is one of the card's own.
    headings = [line for line in outside.splitlines() if line.startswith("#")]
    own = [line for line in card_md(_check(("a", "b")), **MADE).decode().splitlines() if line.startswith("#")]
    assert len(headings) == len(own) + 1  # and that of the further table
    for table in re.findall(r"(?:^\|.*\n)+", outside, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def _without_blocks(text: str) -> tuple[str, list[str]]:
    """The text outside fenced blocks, read as CommonMark does, and the blocks."""
    outside, blocks, fence, block = [], [], "", []
    for line in text.splitlines():
        opened = re.match(r"(`{3,})", line)
        if fence:
            if re.fullmatch(f"{fence}`*", line):
                blocks.append("\n".join(block))
                fence, block = "", []
            else:
                block.append(line)
        elif opened:
            fence = opened[1]
        else:
            outside.append(line)
    assert not fence
    return "\n".join(outside), blocks


def test_dots_and_intervals_lie_where_their_numbers_are() -> None:
    check = _check(use="gate")
    page = card_html(check, **MADE).decode()
    figure = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)[0]
    dots = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', figure)]
    (one,) = check.judges
    rule = one.rule("false-passes")
    assert rule is not None
    assert rule.behind is not None
    rate = rule.behind.judge
    assert rate.estimate is not None
    assert dots[0] == pytest.approx(8 + 344 * rate.estimate, abs=0.06)
    low, high = re.findall(r'class="ends" x1="([\d.]+)" x2="([\d.]+)"', figure)[0]
    assert rate.low is not None
    assert rate.high is not None
    assert float(low) == pytest.approx(8 + 344 * rate.low, abs=0.06)
    assert float(high) == pytest.approx(8 + 344 * rate.high, abs=0.06)


def test_one_rater_is_a_limit_of_the_card() -> None:
    check = _check(raters=("Anna",))
    for make in (card_html, card_md):
        assert b"nobody knows how well a person would do" in make(check, **MADE)


@pytest.mark.parametrize("ending", [".html", ".md"])
def test_the_command_writes_the_card(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = _check()
    rows = [
        f"q{at},{','.join(f'{one:g}' for one in given)},{score:g}"
        for at, (given, score) in enumerate(zip(check.panel.ratings, check.panel.scores[:, 0], strict=True))
    ]
    path, card = tmp_path / "f.csv", tmp_path / f"card{ending}"
    path.write_text("id,Anna,Ben,Carl,j,text\n" + "\n".join(f"{row},a secret" for row in rows) + "\n")
    given = ["check", str(path), "--human", "Anna,Ben,Carl", "--judge", "j"]
    status = main([*given, "--card", str(card), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert status in {0, 3, 4}
    made = card.read_text("utf-8")
    assert found["judges"][0]["verdict"] in made
    assert found["signature"] in made
    assert "secret" not in made
    assert "Anna" not in made
    main([*given, "--card", str(card), "--gaps", "2"])
    with_gaps = card.read_text("utf-8")
    main([*given, "--card", str(card), "--gaps", "2", "--texts", "--names"])
    with_texts = card.read_text("utf-8")
    assert len(made) < len(with_gaps) < len(with_texts)
    assert "secret" not in with_gaps
    assert "Anna" not in with_gaps
    assert with_texts.count("secret") == 2
    assert "Anna" in with_texts


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--card", "card.pdf"], "--card"),
        (["--names"], "--names"),
        (["--card", "f.html"], "--card"),
    ],
)
def test_a_wrong_card_is_refused(
    more: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.html").write_text("id,a,j\n1,1,1\n")
    assert main(["check", "f.html", "--human", "a", "--judge", "j", *more]) == 2
    assert said in capsys.readouterr().err

"""Trust or escalate on the page Check: the threshold, a study with one press, and the total of the labels that come back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.rating_studies import RatingStudyAtHand
from streamlit.testing.v1 import AppTest

import assay
from core.cli import main
from core.store import Store
from core.store.answers import load_record
from core.store.studies import inclusion_of, list_studies
from core.study.lifecycle import move
from core.study.raters import add_raters

N, N_LABELLED = 300, 120


def table() -> list[str]:
    """Where the judge is sure (two of three texts) it agrees with people, elsewhere on half."""
    rng = np.random.default_rng(4)
    lines = ["item_id,question,answer,human,judge,confidence"]
    for at in range(N):
        people = truth(at)
        sure = rng.random() < 2 / 3
        judge = people if sure or rng.random() < 0.5 else not people
        label = _word(people) if at < N_LABELLED else ""
        lines.append(f"q{at},What is {at}?,It is {at}.,{label},{_word(judge)},{1.0 if sure else 0.6}")
    return lines


def truth(at: int) -> bool:
    return at * 7 % 10 < 6


def _word(passes: bool) -> str:
    return "pass" if passes else "fail"


@pytest.fixture
def check(cookies: dict[str, str], store: Store) -> Callable[..., AppTest]:
    """Open the page Check on a table."""

    def opened(lines: list[str], address: dict[str, str] | None = None) -> AppTest:
        def run() -> None:
            from pages import check

            check.render()

        at = AppTest.from_function(run, default_timeout=30)
        at.session_state["check_file"] = (("\n".join(lines) + "\n").encode(), "zq.csv")
        for name, value in {"use": "gate", **(address or {})}.items():
            at.query_params[name] = value
        at.run()
        assert not at.exception
        return at

    return opened


def _said(at: AppTest) -> str:
    (found,) = [one.value for one in at.markdown if "an agreement of" in one.value]
    return str(found)


def _send(at: AppTest) -> Any:
    return next(one for one in at.number_input if one.label == "Texts for people")


def test_from_the_threshold_to_a_study_and_back(
    check: Callable[..., AppTest], store: Store, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = table()
    at = check(lines)
    before = _said(at)
    assert before.startswith("**Keep judge from a confidence of 1")
    n = _send(at).max
    assert n == sum(line.endswith("0.6") for line in lines[1 + N_LABELLED :])
    next(one for one in at.button if "check_trust" in str(one.key)).click().run()
    assert not at.exception
    (study,) = list_studies(store)
    record = load_record(store, study)
    assert (study.kind, study.state, len(record.outputs)) == ("ratings", "draft", n)
    drawn = inclusion_of(store, study.study_id)
    assert {one.probability for one in drawn} == {1.0}
    order = [int(one.item_id[1:]) for one in drawn]
    assert order != sorted(order)  # nothing about a text tells why it is there

    add_raters(store, study, ["R1"])
    move(store, study, "open")
    desk = RatingStudyAtHand(store, study.study_id).desk("R1")
    (label,) = desk.task.dimensions
    values = {word: value for value, word in label.anchors}
    for number in range(1, desk.total + 1):
        seen = desk.text(number)
        assert "confidence" not in repr(seen)
        where = int(seen.text.removeprefix("It is ").rstrip("."))
        desk.save_scores(number, {label.name: values[_word(truth(where))]})
        desk.complete(number, seconds=5)
    move(store, study, "closed")
    move(store, study, "unblinded", "done")

    back = check(lines)
    assert _said(back).splitlines()[0] == before.splitlines()[0]
    assert f"({n} came back)" not in _said(back)  # all came back: nothing is open
    assert not [one for one in back.number_input if one.label == "Texts for people"]
    changed = check([line.replace("It is", "It was") for line in lines])
    assert not [one for one in changed.markdown if "an agreement of" in one.value]
    assert any("labels of other texts" in one.value for one in changed.error)
    (line,) = [one.value for one in back.code if " escalate " in f" {one.value} "]
    (tmp_path / "zq.csv").write_text("\n".join(lines) + "\n")
    words = line.split("escalate", 1)[1].split()
    name = f"study:{study.name}"
    assert name in line
    words = [word for word in words[: words.index("--labels")] if word != "zq.csv"]
    assert main(["escalate", str(tmp_path / "zq.csv"), *words, "--labels", name, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert f"{told['total']['estimate']:.3f}" in _said(back)
    true = sum(map(truth, range(N))) / N
    assert told["total"]["estimate"] == pytest.approx(true)
    assert told["n_back"] == n


def test_page_command_and_function_have_the_same_tables(
    check: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = table()
    taken = tables_taken(monkeypatch)
    check(lines)
    on_page, file, out = as_csv(taken), tmp_path / "zq.csv", tmp_path / "out.csv"
    file.write_text("\n".join(lines) + "\n")
    found = assay.escalate(file, human="human", judge="judge")
    for name in ("escalate", "escalate-thresholds", "escalate-total"):
        words = ("--human", "human", "--judge", "judge", "--table", name, "--out", str(out))
        assert main(["escalate", str(file), *words]) == 0
        assert on_page[name] == out.read_bytes()
        found[name].write(out)
        assert on_page[name] == out.read_bytes()


def test_without_a_confidence_it_says_what_is_needed(check: Callable[..., AppTest]) -> None:
    at = check([line.rsplit(",", 1)[0] for line in table()])
    assert any("confidence is not known" in one.value for one in at.markdown)


def test_a_promise_in_the_address(check: Callable[..., AppTest]) -> None:
    at = check(table(), {"promise": "0.95", "delta": "0.2"})
    assert "an agreement of 0.95 with probability 0.8" in _said(at)


def test_several_judges_are_an_ensemble_or_one_is_chosen(check: Callable[..., AppTest]) -> None:
    lines = table()
    judged = [line.split(",") for line in lines]
    for cells in judged[1:]:
        cells += [cells[4], cells[4] if cells[5] == "1.0" else _word(cells[4] == "fail")]
    judged[0] += ["judge_b", "judge_c"]
    text = [",".join(cells) for cells in judged]
    at = check(text)  # the majority is the default, as of the command
    assert "majority of 3 judges" in _said(at)
    assert any("escalate zq.csv --confidence judges" in one.value for one in at.code)
    at = check(text, {"trust": "2", "sure": "column-2"})
    assert _said(at).startswith("**Keep judge\\_b")
    assert any("--judge judge_b --confidence confidence" in one.value for one in at.code)


def test_scores_without_classes_get_a_cut(check: Callable[..., AppTest]) -> None:
    lines = ["item_id,answer,human,judge"]
    for at in range(N):
        score = 0.2 + 0.6 * truth(at) + at % 7 / 50
        lines.append(f"q{at},It is {at}.,{int(truth(at)) if at < N_LABELLED else ''},{score:.3f}")
    at = check(lines)
    (cut,) = [one for one in at.number_input if one.label == "Better class from the score"]
    assert any(f"--cut {cut.value:g}" in one.value for one in at.code)
    assert "(distance from" in _said(at)

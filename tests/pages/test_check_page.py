"""The page Check: from a file or a run to a verdict, with its columns, uses, files and refusals."""

import csv
import io
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from helpers.pages.generate_visit import html_of, press, said
from helpers.pages.verdicts_shown import verdicts
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.rating_studies import rate_all, rating_study, unblind
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says, specialist
from streamlit.testing.v1 import AppTest

from core.cli import main
from core.installation import HOUSE
from core.store import Store
from core.store.kept import keep_file
from pages.widgets.messages import plain
from pages.widgets.visitor import FOR_THE_ADMIN

RATERS = ("rater_1", "rater_2", "rater_3")


def page() -> None:
    from pages import check

    check.render()


def visit(**address: str) -> AppTest:
    at = AppTest.from_function(page, default_timeout=60)
    for name, value in address.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def table(n: int = 200, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, list[str]]:
    """Labels of three good raters, and a judge that is one more of them."""
    drawn = np.random.default_rng(5)
    good = drawn.random(n) < 0.5
    seen = {name: np.where(drawn.random(n) < 0.9, good, ~good) for name in (*RATERS, "judge")}
    own = {names.get(name, name): ["pass" if one else "fail" for one in seen[name]] for name in seen}
    return {"id": [f"q{at}" for at in range(n)], "system": [f"s{at % 2}" for at in range(n)], **own}


def as_csv(columns: dict[str, list[str]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def uploaded(at: AppTest, data: bytes, name: str = "labels.csv") -> AppTest:
    at.file_uploader[0].upload(name, data)
    at.run()
    at.run()
    assert not at.exception
    return at


def in_address(at: AppTest, name: str) -> str:
    value = at.query_params[name]
    return value if isinstance(value, str) else ",".join(value)


def written(at: AppTest) -> list[str]:
    """The words of the command that the page shows, from the file on."""
    command = next(one.value for one in at.code if " check " in one.value)
    return shlex.split(command.partition(" check ")[2])


@pytest.mark.usefixtures("cookies")
@pytest.mark.parametrize(
    ("button", "file", "verdict", "options"),
    [
        (
            *("Try real ratings", "data/summeval/coherence.csv", "TRUSTED"),
            {"--human": "expert_1,expert_2", "--judge": "expert_0", "--use": "replace"},
        ),
        (
            *("Try made-up labels", "data/demo/labels.csv", "INCONCLUSIVE"),
            {"--item": "question", "--use": "replace"},
        ),
    ],
)
def test_an_example_has_a_verdict_at_one_press(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    button: str,
    file: str,
    verdict: str,
    options: dict[str, str],
) -> None:
    at = visit()
    assert not verdicts(at)
    assert [one.label for one in at.button] == ["Try real ratings", "Try made-up labels"]
    press(at, button)
    at.run()
    assert verdicts(at) == [verdict]
    assert {"Rules", "All numbers"} <= {one.value for one in at.header}
    assert len(at.get("plotly_chart")) >= 1
    name, *words = written(at)
    assert (name, dict(zip(words[::2], words[1::2], strict=True))) == (file, options)
    monkeypatch.chdir(HOUSE)
    main(["check", name, *words, "--json"])
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict
    item = options.get("--item", "item_id")
    assert plain(f"item: {item};") in at.expander[0].label
    assert not at.query_params, "what an example begins with is its default"
    press(at, "Another file")
    assert not verdicts(at)


@pytest.mark.usefixtures("cookies")
def test_the_rank_correlation_beside_peoples_is_that_of_the_rule(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With single raters, as people's own; the table of all numbers has the higher one with the raters' mean."""
    at = press(visit(), "Try real ratings")
    at.run()
    (cell,) = re.findall(r"<p>Rank correlation</p>.*?</div>", "".join(html_of(at)))
    judge, people = (float(re.search(rf"{mark}(-?[\d.]+)</p>", cell)[1]) for mark in ('number">', "people: "))
    monkeypatch.chdir(HOUSE)
    main(["check", *written(at), "--json"])
    (found,) = json.loads(capsys.readouterr().out)["judges"]
    (rule,) = (rule for rule in found["rules"] if rule["code"] == "correlation")
    assert judge - people == pytest.approx(rule["found"]["estimate"], abs=0.01)
    assert judge < found["correlation"]["estimate"] - 0.05
    assert "<p>Spearman</p>" not in "".join(html_of(at))


@pytest.mark.usefixtures("cookies")
def test_columns_of_an_example_may_be_changed_and_the_next_file_has_its_own(store: Store) -> None:
    at = press(visit(), "Try real ratings")
    at.run()
    at.multiselect[1].set_value(["family_only"])
    at.run()
    assert verdicts(at) == ["NOT TRUSTED"]
    press(at, "Another file")
    uploaded(at, as_csv({name: cells for name, cells in table().items() if name != "rater_3"}))
    assert (at.multiselect[0].value, at.multiselect[1].value) == (["rater_1", "rater_2"], ["judge"])
    assert at.button_group[0].value == "gate"


@pytest.mark.usefixtures("cookies")
def test_a_coin_a_constant_and_twelve_items(store: Store) -> None:
    drawn = np.random.default_rng(1)
    coin = table() | {"judge": [["pass", "fail"][at] for at in drawn.integers(0, 2, 200)]}
    constant = table() | {"judge": ["pass"] * 200}
    for given, verdict in ((coin, "NOT TRUSTED"), (constant, "NOT TRUSTED"), (table(12), "INCONCLUSIVE")):
        assert verdicts(uploaded(visit(), as_csv(given))) == [verdict]


@pytest.mark.usefixtures("cookies")
def test_the_use_is_chosen_stands_in_the_address_and_changes_the_rules(store: Store) -> None:
    at = uploaded(visit(), as_csv(table()))
    assert "Alt-test" in said(at)
    assert "use" not in at.query_params
    at.button_group(key="check_use_replace").set_value("monitor")
    at.run()
    assert in_address(at, "use") == "monitor"
    assert "Alt-test" not in said(at)
    assert "bias within 0.05 of the scale" in said(at)
    at.number_input(key="check_tolerance").set_value(0.1)
    at.run()
    assert "bias within 0.1 of the scale" in said(at)
    assert in_address(at, "tolerance") == "0.1"


@pytest.mark.usefixtures("cookies")
def test_a_system_is_certified_at_the_chosen_target(store: Store) -> None:
    at = uploaded(visit(), as_csv(table()))
    at.button_group(key="check_use_replace").set_value("certify")
    at.run()
    assert in_address(at, "use") == "certify"
    assert verdicts(at) == ["NOT TRUSTED"]
    assert at.header[0].value == "Systems"
    at.number_input(key="check_target").set_value(0.7)
    at.run()
    assert in_address(at, "target") == "0.7"
    assert "--use certify --target 0.7" in at.code[-1].value


@pytest.mark.usefixtures("cookies")
def test_grades_pass_from_a_chosen_one(store: Store) -> None:
    drawn = np.random.default_rng(2)
    grade = drawn.integers(1, 6, 200)
    near = np.clip(grade + drawn.integers(-1, 2, 200), 1, 5)
    given = {
        "id": [f"q{at}" for at in range(200)],
        "human": [f"{one}" for one in grade],
        "judge": [f"{one}" for one in near],
    }
    at = uploaded(visit(use="certify"), as_csv(given))
    assert at.selectbox(key="check_passes_from").value == "5"
    assert "1" not in at.selectbox(key="check_passes_from").options  # every grade would pass
    at.selectbox(key="check_passes_from").set_value("2")
    at.run()
    assert verdicts(at) == ["NOT TRUSTED"]
    assert "--passes-from 2" in at.code[-1].value


@pytest.mark.usefixtures("cookies")
def test_undecided_columns_are_offered_and_chosen(store: Store) -> None:
    names = {"rater_1": "first", "rater_2": "second", "rater_3": "third", "judge": "fourth"}
    at = uploaded(visit(), as_csv(table(names=names)))
    assert not verdicts(at)
    assert len(at.error) == 1
    human = at.multiselect[0]
    assert {*names.values()} <= {*human.options}
    human.set_value(["first", "second", "third"])
    at.run()
    at.multiselect[1].set_value(["fourth"])
    at.run()
    assert len(verdicts(at)) == 1
    assert not at.error
    assert "--human first,second,third --judge fourth" in at.code[-1].value


@pytest.mark.usefixtures("cookies")
def test_without_a_judge_people_are_compared_with_each_other(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {name: cells for name, cells in table().items() if name != "judge"}
    at = uploaded(visit(), as_csv(columns))
    assert not verdicts(at)
    assert not at.error
    assert [one.value for one in at.header] == ["People among themselves", "Pairs of raters", "Raters"]
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_bytes(as_csv(columns))
    command = shlex.split(at.code[-1].value)
    capsys.readouterr()
    assert main([*command[command.index("agreement") :], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sentence"] in said(at)
    assert found["by"] == "kappa"
    at.multiselect[1].set_value([at.multiselect[1].options[0]])  # any column may be chosen as the judge
    at.run()
    assert [one.value for one in at.header] != ["People among themselves", "Pairs of raters", "Raters"]
    at.multiselect[1].set_value([])
    at.multiselect[0].set_value(["rater_1"])
    at.run()
    assert not at.header, "one rater alone is no comparison"
    assert not at.exception


@pytest.mark.usefixtures("cookies")
def test_beside_a_judge_people_stand_folded(store: Store) -> None:
    at = uploaded(visit(), as_csv(table()))
    folded = [one for one in at.expander if one.label == "People among themselves"]
    assert len(folded) == 1
    assert not folded[0].children, "it is computed when it is opened"
    at.session_state["check_people"] = True
    at.run()
    assert not at.exception
    (opened,) = [one for one in at.expander if one.label == "People among themselves"]
    assert [one.value for one in opened.header] == ["Pairs of raters", "Raters"]


@pytest.mark.usefixtures("cookies")
def test_the_command_gives_what_the_page_gives(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = as_csv(table() | {"model": [f"m{at % 4}" for at in range(200)]})
    at = uploaded(visit(), data)
    system = next(one for one in at.selectbox if one.label == "System")
    system.set_value("model")
    at.run()
    at.button_group(key="check_use_replace").set_value("gate")
    at.run()
    at.number_input(key="check_margin").set_value(0.05)
    at.run()
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_bytes(data)
    code = main(["check", *written(at), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["use"] == "gate"
    assert [found["verdict"]] == verdicts(at)
    assert code == {"TRUSTED": 0, "NOT TRUSTED": 3, "INCONCLUSIVE": 4}[found["verdict"]]
    said = found["sentence"].removeprefix(f"{found['verdict']} ")  # the box has the verdict above
    assert f"{said[0].upper()}{said[1:]}" in "\n".join(html_of(at)).replace("&#x27;", "'")
    assert {group["value"] for group in found["judges"][0]["groups"]} >= {"m0", "m1", "m2", "m3"}


@pytest.mark.usefixtures("cookies")
def test_several_judges_have_a_box_each(store: Store) -> None:
    given = table()
    good = as_csv({"id": given["id"], "system": given["system"], "judge_b": given["judge"]})
    at = uploaded(visit(), as_csv(given))
    at.file_uploader[0].upload("b.csv", good)
    at.run()
    at.run()
    assert len(verdicts(at)) == 2
    assert next(one for one in at.multiselect if one.label == "Judges").value == ["judge", "judge_b"]


@pytest.mark.usefixtures("cookies")
def test_prices_are_stated_where_they_are_unknown(store: Store) -> None:
    given = table()
    assert not [one for one in uploaded(visit(), as_csv(given)).number_input if "Price" in one.label]
    at = uploaded(visit(), as_csv(given | {"judge_b": given["judge"]}))
    assert [one.label for one in at.number_input if one.label.startswith(("Price", "Seconds"))] == [
        *("Price, judge", r"Price, judge\_b", "Seconds, judge", r"Seconds, judge\_b")
    ]
    for judge, price in (("judge", 4), ("judge_b", 0.5)):
        at.number_input(key=f"check_price_{judge}").set_value(price)
    at.text_input(key="check_currency").set_value("USD")
    at.run()
    assert not at.error
    assert "--price judge=4 --price judge_b=0.5 --currency USD" in at.code[-1].value
    assert "0.50 USD" in said(at)
    at.button_group(key="check_use_replace").set_value("gate")
    at.run()
    assert at.number_input(key="check_price_judge").value == 4


@pytest.mark.usefixtures("cookies")
def test_an_earlier_check_is_compared(store: Store, tmp_path: Path) -> None:
    earlier, file = tmp_path / "earlier.json", tmp_path / "labels.csv"
    file.write_bytes(as_csv(table()))
    main(["check", str(file), "--out", str(earlier)])
    worse = table()
    worse["judge"] = [{"pass": "fail", "fail": "pass"}[one] for one in worse["judge"]]
    at = uploaded(visit(), as_csv(worse))
    at.file_uploader(key="check_against").upload("earlier.json", earlier.read_bytes())
    at.run()
    assert not at.error
    assert "The judge changed" in said(at)
    assert "--against earlier.json" in at.code[-1].value
    at.button_group(key="check_use_replace").set_value("gate")
    at.run()
    assert len(at.error) == 1  # an earlier check of another use
    assert "--against" not in at.code[-1].value
    at.file_uploader(key="check_against").upload("other.json", b"{}")
    at.run()
    assert len(at.error) == 1
    assert len(verdicts(at)) == 1


@pytest.mark.usefixtures("cookies")
def test_stored_scores_are_added_to_a_file(store: Store) -> None:
    given = table()
    scores = as_csv({"id": given["id"], "system": given["system"], "judge_b": given["judge"]})
    file = keep_file(store, "scores", "judge.csv", scores, {}).file_id
    at = uploaded(visit(), as_csv(given))
    assert len(verdicts(at)) == 1
    stored = next(one for one in at.multiselect if one.label == "Further judges")
    stored.set_value([("file", file)])
    at.run()
    assert len(verdicts(at)) == 2
    assert in_address(at, "judge") == f"file-{file}"


@pytest.mark.usefixtures("cookies")
def test_mistakes_in_a_file_are_a_list(store: Store) -> None:
    given = table()
    given["id"][3:6] = ["q0", "q0", "q0"]
    given["system"][3:6] = ["s0", "s0", "s0"]
    at = uploaded(visit(), as_csv(given))
    assert not verdicts(at)
    assert len(at.error) == 1
    assert len(at.code[0].value.splitlines()) >= 1
    assert "q0" in at.code[0].value
    assert verdicts(uploaded(visit(), b"\x00\x01", "x.bin")) == []


@pytest.mark.usefixtures("cookies")
def test_the_scale_is_declared_and_stands_in_the_address(store: Store) -> None:
    given = table()
    given["rater_1"][:5] = ["unsure"] * 5
    given["judge"] = ["yes" if word == "pass" else "no" for word in given["judge"]]
    data = as_csv(given)
    at = uploaded(visit(), data)
    assert not verdicts(at)
    assert "unsure" in at.code[0].value
    next(one for one in at.text_input if one.key.endswith("_missing")).set_value("unsure")
    next(one for one in at.text_input if one.key.endswith("_classes")).set_value("fail, pass")
    at.run()
    assert len(verdicts(at)) == 1
    assert (in_address(at, "missing"), in_address(at, "classes")) == ("unsure", "fail, pass")
    assert "--classes fail,pass --missing unsure" in shlex.join(written(at))
    again = uploaded(visit(missing="unsure", classes="fail, pass"), data)
    assert verdicts(again) == verdicts(at)
    next(one for one in again.text_input if one.key.endswith("_classes")).set_value("fail")
    again.run()
    assert len(again.error) >= 1


@pytest.mark.usefixtures("cookies")
@pytest.mark.parametrize(
    "name", ["inspect-0.3.285.eval", "promptfoo-0.121.20-rated.json", "langfuse-scores.csv"]
)
def test_the_log_of_a_tool_is_checked(store: Store, name: str) -> None:
    log = Path(__file__).parents[1] / "formats" / "logs" / name
    at = uploaded(visit(), log.read_bytes(), name)
    assert set(verdicts(at)) <= {"INCONCLUSIVE", "NOT TRUSTED"}
    assert len(verdicts(at)) == {"i": 4, "p": 3, "l": 1}[name[0]]


@pytest.mark.usefixtures("cookies")
def test_names_are_shown_as_they_are(store: Store) -> None:
    hostile = "judge <b>x</b> **y** $z$"
    at = uploaded(visit(), as_csv(table(names={"judge": hostile})))
    if not verdicts(at):
        at.multiselect[1].set_value([hostile])
        at.run()
    assert len(verdicts(at)) == 1
    assert "<b>x" not in "\n".join(html_of(at))


@pytest.mark.usefixtures("cookies")
def test_a_run_of_a_judge_is_checked_on_the_ratings_in_its_file(store: Store) -> None:
    with ScriptedServer(says) as server:
        asked = specialist("quality", server.url, repeats=2, temperature=0.7)
        run = run_to_the_end(store, asked, rated_texts(4), name="rated.jsonl").run
    at = visit(run=str(run.run_id))
    assert not at.warning
    assert in_address(at, "run") == str(run.run_id)
    assert "study" not in at.query_params
    assert verdicts(at), said(at)
    assert f"check run:{run.run_id} --" in at.code[-1].value


@pytest.mark.usefixtures("cookies")
def test_only_unblinded_studies_are_linked(store: Store) -> None:
    study = rating_study(store, name="OPENMARKER")
    for rater in ("R1", "R2"):
        rate_all(study.desk(rater))
    assert "OPENMARKER" not in [one.label for one in visit().button]
    unblind(study)
    assert visit().button(key=f"check_study_{study.study_id}").label == "OPENMARKER"


def test_nobody_else_sees_it(store: Store, cookies: dict[str, str]) -> None:
    cookies.clear()
    at = visit()
    assert [title.value for title in at.title] == [FOR_THE_ADMIN]
    assert not at.button

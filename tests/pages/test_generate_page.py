"""The page Generate: a run from the form to its files, every item to inspect, and nobody but the admin."""

import json
import re
import time
from pathlib import Path

import pytest
from factories import study_in
from streamlit.testing.v1 import AppTest

from core.generation.factual.steps import FactualSettings
from core.runs.generation import GenerationJob, materials_of
from core.runs.outputs import output_files
from core.runs.plan import choose_prompts, create_run
from core.runs.settings import GenerationSettings, RunningSettings, running_of, settings_of
from core.runs.sources import run_answers
from core.runs.worker import work
from core.schema import Run
from core.store import Store
from core.store.runs import finish_run, get_run, list_runs, run_item
from core.store.studies import list_studies, outputs_of
from pages.components import run_choice
from pages.door.cookies import cookie_name

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo" / "questions.jsonl"
HOSTILE = '<img src=x onerror="alert(1)"> **bold** $x$ ![i](http://outside.invalid/a.png)'

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    from pages import generate

    generate.render()


def visit(run: Run | None = None, part: str | None = None) -> AppTest:
    """The page as it is first opened, or one part of a run."""
    at = AppTest.from_function(page, default_timeout=30)
    if run is not None:
        at.session_state["run_choice"] = run.run_id
    if part is not None:
        at.session_state["generate_part"] = part
    at.run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    """All that a reader sees, escapes taken off."""
    assert not at.exception
    kinds = (at.title, at.subheader, at.markdown, at.error, at.warning, at.success, at.info, at.code)
    texts = [element.value for kind in kinds for element in kind]
    texts += [element.proto.body for element in at.get("html")]
    cells = [str(cell) for table in at.table for cell in [*table.value.columns, *table.value.to_numpy().flat]]
    plain = re.sub(r"\\(?=[^\w\s])", "", "\n".join([*texts, *cells]))
    return plain.replace("\u00a0", " ").replace("\u2060", "")


def press(at: AppTest, label: str) -> AppTest:
    next(button for button in at.button if button.label == label).click()
    at.run()
    assert not at.exception
    return at


def field(at: AppTest, label: str) -> object:
    kinds = (at.text_input, at.number_input, at.radio, at.selectbox, at.multiselect)
    return next(element for kind in kinds for element in kind if element.label == label)


def questions(*rows: dict[str, str]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def made(
    store: Store,
    data: bytes | None = None,
    settings: GenerationSettings | None = None,
    limit: int | None = None,
) -> Run:
    """A run that rules have worked on, in this process."""
    data = DEMO.read_bytes() if data is None else data
    run, _ = create_run(
        store, data, "questions.jsonl", settings or GenerationSettings("factual"), RunningSettings(), limit
    )
    return work(
        store,
        run.run_id,
        lambda claimed: GenerationJob(
            materials_of(store, claimed).materials, settings_of(claimed), running_of(claimed)
        ),
    )


# --- the form -------------------------------------------------------------------------------------


def test_the_first_visit_offers_the_demos_questions_and_a_preview(store: Store) -> None:
    at = visit()
    assert "14 questions in ar, de, en, ja: no problem found." in said(at)
    assert [button.label for button in at.button] == ["Preview five items", "Run all 14 items"]
    assert not at.warning
    assert list_runs(store) == []


def test_after_a_preview_the_same_run_goes_on_with_all_items(store: Store) -> None:
    run = made(store, limit=5)
    before = run_item(store, run.run_id, 0)
    at = visit(run)
    assert "Told from the 5 items above, for all 14" in said(at)
    assert "none: rules ask no model" in said(at)
    press(at, "Run all 14 items")
    assert "is being started" in said(at) or "is running" in said(at)
    assert "Cancel" in [button.label for button in at.button]
    whole = ended(store, run)
    assert whole.limit is None
    assert len(list_runs(store)) == 1, "the same run, so that five items are not paid for twice"
    assert run_item(store, run.run_id, 0) == before
    assert run_item(store, run.run_id, 13) is not None
    at.run()
    assert "Run 1 **is done**." in said(at)
    assert "Run all 14 items" not in [button.label for button in at.button]


def ended(store: Store, run: Run) -> Run:
    """The run when its new process is through with it."""
    for _ in range(600):
        now = get_run(store, run.run_id)
        if now.state == "done" and now.finished_utc != run.finished_utc:
            return now
        assert now.state in ("waiting", "running", "done"), now.message
        time.sleep(0.05)
    raise AssertionError(f"the run is {now.state} after 30 s")


def test_problems_of_a_file_stand_beside_it_with_their_places(store: Store) -> None:
    at = visit()
    field(at, "From").set_value("file")
    at.run()
    at.file_uploader[0].upload("bad.jsonl", questions({"item_id": "a", "reference": "x"}, {"question": "q"}))
    at.run()
    assert "bad.jsonl cannot be imported: 2 problems" in said(at)
    assert "line 1, question a: question is missing" in said(at)
    assert not at.button


def test_what_has_no_paraphrase_is_said_before_it_is_run(store: Store) -> None:
    at = visit()
    field(at, "From").set_value("file")
    at.run()
    bare = {"question": "How long?", "reference": "The Rhine is 1,230 km long."}
    at.file_uploader[0].upload(
        "q.jsonl", questions(bare, {**bare, "question": "And?", "paraphrase": "It has 1,230 km."})
    )
    at.run()
    assert "1 of 2 questions have no paraphrase" in said(at)
    assert "word for word (`verbatim` in the records)" in said(at)
    assert [button.label for button in at.button] == ["Run all 2 items"]
    field(at, "Backend").set_value("openai")
    at.run()
    assert "no paraphrase" not in said(at), "a model writes one"


def test_a_key_is_never_shown_or_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    at = visit()
    field(at, "Backend").set_value("openai")
    at.run()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    at.run()
    assert "No environment variable of that name is set" in said(at)
    field(at, "Model").set_value("tiny")
    field(at, "Environment variable that holds the key").set_value("skABCDEF123456")
    at.run()
    assert "skABCDEF123456" not in said(at)
    assert next(button for button in at.button if button.label == "Preview five items").disabled
    assert list_runs(store) == []
    monkeypatch.setenv("SOME_KEY", "sk-secret-secret")
    field(at, "Environment variable that holds the key").set_value("SOME_KEY")
    at.run()
    assert "The key is set." in said(at)
    assert "sk-secret" not in said(at)
    assert not next(button for button in at.button if button.label == "Preview five items").disabled


def test_what_is_wrong_with_the_settings_is_said_in_the_pages_words(store: Store) -> None:
    at = visit()
    field(at, "Backend").set_value("openai")
    at.run()
    field(at, "Address").set_value("ftp://nowhere")
    at.run()
    field(at, "Environment variable that holds the key").set_value("")
    at.run()
    press(at, "Preview five items")
    assert "Model: name the model that writes the answers" in said(at)
    assert "Address: 'ftp://nowhere' is no address" in said(at)
    assert "--" not in " ".join(code.value for code in at.code if "address" in code.value)
    assert list_runs(store) == []


def test_a_missing_environment_is_one_line_with_the_command_that_makes_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_VLLM_PYTHON", "/nowhere/python")
    at = visit()
    field(at, "Backend").set_value("vllm")
    at.run()
    assert "./run --with vllm" in said(at)
    assert next(button for button in at.button if button.label == "Preview five items").disabled


def test_prompts_are_shown_chosen_and_may_be_ones_own(store: Store) -> None:
    at = visit()
    field(at, "Backend").set_value("openai")
    field(at, "Scheme").set_value("damage")
    at.run()
    assert "name: damage-qa\n" in said(at)
    field(at, "Writing a damage level").set_value("damage-qa-few")
    at.run()
    assert "name: damage-qa-few\n" in said(at)
    own = (
        (ROOT / "prompts" / "damage-qa.yaml").read_text("utf-8").replace("name: damage-qa", "name: my-own", 1)
    )
    at.file_uploader[0].upload("mine.yaml", own.encode())
    at.run()
    assert "name: my-own\n" in said(at)
    assert "damage-qa-few" not in said(at), "it takes the place of the shipped one"
    at.file_uploader[0].set_value(("mine.yaml", b"name: broken\nuser: [", "text/yaml"))
    at.run()
    assert at.error
    assert "mine.yaml" in said(at)


# --- a run ----------------------------------------------------------------------------------------


def test_states_say_what_happened_and_what_to_do(store: Store) -> None:
    run = made(store, limit=2)
    finish_run(store, run.run_id, "stopped", "No answer for 20 items in a row (timeout).")
    at = visit(run)
    assert "stopped before its end" in said(at)
    assert "No answer for 20 items in a row (timeout)." in said(at)
    store.table("run").update(run.run_id, {"state": "running", "process": 2**22 + 1, "limit": 3})
    store._database.conn.commit()
    at = visit(run)
    assert "was interrupted: its process is gone" in said(at)
    assert "Resume" in [button.label for button in at.button]


def test_a_process_that_ends_before_it_begins_is_shown_with_what_it_said(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no module named core >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setenv("ASSAY_VLLM_PYTHON", str(python))
    settings = GenerationSettings("factual", "vllm", "m", prompts=choose_prompts("factual", "qa", "each"))
    run, _ = create_run(store, DEMO.read_bytes(), "q.jsonl", settings, RunningSettings())
    at = press(visit(run), "Start")
    for _ in range(100):
        if "ended before it began" in said(at.run()):
            break
        time.sleep(0.05)
    assert "no module named core" in said(at)
    assert "Start" in [button.label for button in at.button]


def test_left_out_items_are_counted_by_step_and_come_first(store: Store) -> None:
    data = questions(
        {
            "item_id": "good",
            "question": "How long?",
            "reference": "The Rhine is 1,230 km long and rises in 1999.",
        },
        {"item_id": "bare", "question": "Is it so?", "reference": "Yes."},
    )
    run = made(store, data)
    text = said(visit(run))
    assert "no spans" in text
    at = visit(run, "Items")
    assert field(at, "Item").value == 1, "the failing one"
    assert "This item is left out. It ended at finding facts (no spans)" in said(at)
    at.get("button_group")[0].set_value("done")
    at.run()
    assert field(at, "Item").value == 0
    assert "left out." not in said(at)


def test_every_step_of_an_item_is_there(store: Store) -> None:
    run = made(store)
    item = run_item(store, run.run_id, 0)
    assert item is not None
    trace = item.result
    at = visit(run, "Items")
    text = said(at)
    for number, group in enumerate(trace["groups"], start=1):
        for span in group:
            words = trace["spans"][span]["text"]
            assert f"[{words}]<sup>{span}·A{number}</sup>" in text
    for dropped in trace["dropped"]:
        assert f"[{trace['spans'][dropped['span']]['text']}]<sup>{dropped['span']}</sup>" in text
        assert f"held: {dropped['reason']}" in text
    edits = next(table.value for table in at.table if "Was" in table.value.columns)
    first = trace["levels"][1]["edits"][0]
    assert re.sub(r"\\", "", edits.iloc[0]["Was"]).replace("\u00a0", " ") == first["old"]
    assert re.sub(r"\\", "", edits.iloc[0]["Is"]).replace("\u00a0", " ") == first["new"]
    marked = next(html for html in html_of(at) if ">A1</div>" in html)
    assert "<del>" in marked
    assert "<ins>" in marked
    at.get("button_group")[1].set_value("off")
    at.run()
    assert not [html for html in html_of(at) if "<ins>" in html]


def html_of(at: AppTest) -> list[str]:
    return [element.proto.body for element in at.get("html")]


@pytest.mark.parametrize("kind", ["factual", "damage"])
def test_hostile_text_is_shown_literally(store: Store, kind: str) -> None:
    reference = f"{HOSTILE} In 1999 the River {HOSTILE} was 1,230 km long and Anna Smith saw it."
    data = questions(
        {
            "item_id": HOSTILE[:40],
            "question": f"{HOSTILE}?",
            "reference": reference,
            "paraphrase": f"{reference} So.",
        },
        {
            "item_id": "b",
            "question": "Another?",
            "reference": "Berlin had 3,600,000 people in 2012.",
            "paraphrase": "In 2012 Berlin had 3,600,000 people.",
        },
    )
    run = made(store, data, GenerationSettings(kind))  # type: ignore[arg-type]
    assert run_item(store, run.run_id, 0) is not None
    at = visit(run, "Items")
    field(at, "Item").set_value(0)
    at.run()
    shown = "".join(html for html in html_of(at) if "<style>" not in html)
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in shown
    assert "<img" not in shown
    for element in (*at.markdown, *at.warning, *at.error, *at.success):
        assert "<img" not in element.value.replace("\\<", "")
    for part in ("Progress", "Levels", "Results"):
        said(visit(run, part))


def test_the_share_of_words_kept_is_shown_with_its_range_and_no_promise(store: Store) -> None:
    at = visit(made(store), "Levels")
    assert "this is no metric of quality" in said(at)
    table = next(table.value for table in at.table if "Items used" in table.value.columns)
    assert list(table["Level"]) == ["A0", "A1", "A2", "A3", "A4"]
    means = [float(mean) for mean in table["Mean"]]
    assert means == sorted(means, reverse=True)
    assert set(table["Items used"]) == {"14"}
    assert len(at.get("plotly_chart")) == 1
    text = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    assert "methods#words-kept" in said(at)
    assert "\n## Words kept\n" in text


def test_a_run_without_a_finished_item_has_nothing_to_show_yet(store: Store) -> None:
    run, _ = create_run(store, DEMO.read_bytes(), "q.jsonl", GenerationSettings("factual"), RunningSettings())
    assert "waits to be started" in said(visit(run))
    assert "Start" in [button.label for button in visit(run).button]
    for part in ("Items", "Levels", "Results"):
        assert "the run has not finished an item yet" in said(visit(run, part))


# --- what it made ---------------------------------------------------------------------------------


def test_every_file_is_offered_and_verbatim_is_warned_of(store: Store) -> None:
    run = made(
        store, questions({"question": "How long?", "reference": "The Rhine is 1,230 km long since 1999."})
    )
    at = visit(run, "Results")
    labels = [button.label for button in at.get("download_button")]
    assert labels == ["All files (assay-run-1.zip)", *output_files(store, run)]
    assert "A0 is the reference word for word in 1 of 1 items" in said(at)
    assert "word for word" not in said(visit(made(store), "Results"))


def test_a_run_goes_to_a_study_beside_another_run(store: Store) -> None:
    other = made(store, settings=GenerationSettings("factual", factual=FactualSettings(seed=1)))
    run = made(store)
    at = visit(run, "Results")
    assert field(at, "The other source").value == other.run_id, "it has the same questions"
    assert field(at, "Name of the other source").value == "rules (run 1)", (
        "a study cannot tell two of one name"
    )
    press(at, "Make a study in draft")
    assert "Say which source is the candidate." in said(at)
    field(at, "Name of the study").set_value("two seeds")
    field(at, "Candidate: the source you ask about").set_value("rules")
    press(at, "Make a study in draft")
    assert "two seeds is a draft. Go on under Studies" in said(at)
    (study,) = list_studies(store)
    assert (study.name, study.state, study.levels) == ("two seeds", "draft", ("A0", "A1", "A2", "A3", "A4"))
    assert (study.design.candidate, study.design.comparator) == ("rules", "rules (run 1)")
    texts = {(o.item_id, o.level, o.text) for o in outputs_of(store, study.study_id) if o.source == "rules"}
    assert texts == {(o.item_id, o.level, o.text) for o in run_answers(store, run).outputs}


def test_a_run_goes_to_a_study_beside_a_file(store: Store) -> None:
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    answers = [
        {
            **{key: row[key] for key in ("item_id", "question", "reference", "language")},
            "level": level,
            "source": "people",
            "text": row["reference"] if level == "A0" else f"{level}: {row['paraphrase']}",
        }
        for row in rows
        for level in ("A0", "A1")
    ]
    run = made(store)
    at = visit(run, "Results")
    at.file_uploader[0].upload("people.jsonl", questions(*answers[2:]))
    at.run()
    assert "question d01: is not in people.jsonl" in said(at)
    at.checkbox[0].check()
    at.run()
    assert "13 questions at levels A0, A1 from rules and people." in said(at)
    assert "A0 is the reference word for word: of people in 13 of 13 questions" in said(at)


@pytest.mark.shared
def test_the_published_report_is_replayed_and_shown(store: Store, shared_data: Path) -> None:
    at = visit()
    field(at, "Run").set_value(run_choice.REPORT)
    at.run()
    file = shared_data / "perturbation-report.json"
    at.file_uploader[0].upload(file.name, file.read_bytes())
    at.run()
    counts = at.table[0].value
    found = dict(zip(counts["Step"], counts["Items that match"], strict=True))
    assert found["Items"] == found["Brackets"] == found["Filter, order of the code"] == "20"
    assert found["Sizes of the groups"] == "20"
    assert int(found["Filter, order of the paper"]) < 12
    assert "[fossil fuels]<sup>" in said(at)
    at.file_uploader[0].set_value(("x.json", b"[]", "application/json"))
    at.run()
    assert "x.json cannot be imported" in said(at)


# --- for the admin alone --------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["nobody", "rater", "rater as admin"])
def test_nobody_else_gets_anything_of_it(store: Store, cookies: dict[str, str], who: str) -> None:
    made(store)
    token = study_in(store).tokens["R1"]
    names = {
        "nobody": None,
        "rater": cookie_name(store, "rater"),
        "rater as admin": cookie_name(store, "admin"),
    }
    cookies.clear()
    if names[who]:
        cookies[str(names[who])] = token
    at = visit()
    assert [title.value for title in at.title] == ["This page is for the admin"]
    assert not [kind for kind in ("selectbox", "button", "table", "download_button", "html") if at.get(kind)]
    assert "generate" not in addresses(app())


def test_the_admin_has_the_page(store: Store) -> None:
    assert "generate" in addresses(app())


def app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()


def addresses(at: AppTest) -> set[str]:
    return {str(info.get("url_pathname")) for info in at._registered_pages.values()}

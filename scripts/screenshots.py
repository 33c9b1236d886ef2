"""Take the screenshots of README.md and docs from the running app: `python scripts/screenshots.py` (needs Chromium).

They are written to docs/images, or to `--out FOLDER`.

The rater's page shows the demo study. The tab Result of a study needs votes: with `--data FOLDER` (the three files of the
published study) it shows those, else random votes. The page for rating texts and the page Specialist show the demo
study's damaged answers, with the damage marked.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "scripts")]

from helpers.models.model_answers import answer  # noqa: E402
from helpers.pages.admin_session import sign_in  # noqa: E402  (needs the paths above)
from helpers.processes.app_server import chromium, on_pair, open_tab, running, settled  # noqa: E402
from helpers.processes.scripted_server import ScriptedServer  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402
from rated_demo import ITEMS, LEVELS, NAME, end, mark, study_of_marks  # noqa: E402

from core.cli import main as assay  # noqa: E402
from core.results.correlations.points import text_key  # noqa: E402
from core.runs.path import runs_that, saved_run  # noqa: E402
from core.runs.scoring import score_table  # noqa: E402
from core.store import open_store  # noqa: E402
from core.store.raters import update_rater  # noqa: E402
from core.store.studies import find_study  # noqa: E402
from core.study.blinding import open_desk  # noqa: E402
from core.study.lifecycle import DEMO_NAME, load_demo_once, move  # noqa: E402
from core.study.raters import links  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PUBLISHED = "published study"
"""Name of the study of `--data`."""
SHOWN = 3
"""Number of the text on the screenshot of the rater who marks errors."""


def prepare(database: Path, data: Path | None) -> str:
    """Create a database with the demo study and votes; return the token of a rater."""
    with open_store(database) as store:
        load_demo_once(store)
        study = find_study(store, DEMO_NAME)
        token = links(store, study)[0].token
        update_rater(store, study.study_id, "rater-1", onboarding=9)
        desk = open_desk(store, token)
        assert desk is not None
        for number in range(1, 8):
            desk.save_choice(
                number, random.Random(number).choice(["left", "right"]), seconds=9, diff_used="none"
            )
    if data is not None:
        db = ["--db", str(database)]
        assay(["study", "import", str(data / "assessment-dataset.json"), "--name", PUBLISHED, *db])
        for rater in ("1", "2"):
            votes = str(data / f"results-evaluator-{rater}.json")
            assay(["study", "votes", PUBLISHED, votes, "--rater", f"evaluator-{rater}", *db])
    return token


def damaged_text(database: Path) -> str:
    """Return the name that addresses have for the first text of level 4."""
    with open_store(database) as store:
        table = score_table(saved_run(store, runs_that(store, "scores")[0]))
    return next(text_key(row) for row in table.rows if row.level == "4")


def unblind(database: Path) -> None:
    """Close and unblind the demo study. Results need this; raters see no pairs afterwards."""
    with open_store(database) as store:
        study = find_study(store, DEMO_NAME)
        move(store, study, "closed")
        move(store, find_study(store, DEMO_NAME), "unblinded", "screenshot")


def shoot(page: Page, path: Path) -> None:
    """Save a screenshot of the window."""
    settled(page)
    page.wait_for_timeout(1500)
    page.screenshot(path=path)
    print(path)


def in_another_process(command: list[str], database: Path) -> None:
    """Run a command in a child process, because the browser's driver occupies the event loop of this one."""
    subprocess.run([sys.executable, "-m", "core", *command, "--db", str(database)], cwd=ROOT, check=True)


def judge(database: Path, folder: Path) -> None:
    """Cross-examine the damaged answers. A scripted server, which compares word by word, replaces the model."""
    with ScriptedServer(answer, models=("word-by-word",)) as server:
        asked = ["--backend", "openai", "--base-url", server.url, "--model", "word-by-word"]
        asked += ["--mode", "reference", "--questions", "5", "--out", str(folder / "judged")]
        assay(["judge", "cef", "run:2", *asked, "--db", str(database)])


def choose(page: Page, tab: str) -> None:
    """Open a tab of the newest run."""
    page.get_by_role("combobox", name="Run").click()
    page.get_by_role("option", name="Run 1").click()
    page.get_by_role("tab", name=tab).click()


def marking(page: Page, database: Path, url: str, path: Path) -> None:
    """Take the screenshot of a rater who marks errors in a text; then mark all texts and unblind the study."""
    with open_store(database) as store:
        token = study_of_marks(store)
        mark(store, token, range(1, SHOWN))
        mark(store, token, range(SHOWN, SHOWN + 1), done=False)
    page.goto(f"{url}/r/{token}")
    expect(page.locator("strong", has_text=f"Text {SHOWN} of ")).to_be_visible(timeout=60_000)
    settled(page)
    page.get_by_role("button", name="Show error 1").click()
    shoot(page, path)
    with open_store(database) as store:
        mark(store, token, range(SHOWN, ITEMS * len(LEVELS) + 1))
        end(store)


def specialist(page: Page, url: str, path: Path) -> None:
    """Take the screenshot of one text with the marks of the rater and of the Specialist."""
    page.goto(f"{url}/specialist")
    open_tab(page, "Spans")
    page.get_by_role("combobox", name="System").click()
    page.get_by_role("option", name="pipeline-A3").click()
    settled(page)
    page.get_by_role("textbox", name="Search in item, source and text").fill("Titan")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_text("Examples used: ").click()
    shoot(page, path)


def main() -> None:
    """Prepare a database, start the app, and take the screenshots."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, help="folder with the three files of the published study")
    options.add_argument("--out", type=Path, default=IMAGES, help="folder for the screenshots")
    given = options.parse_args()
    data, images = given.data, given.out
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "assay.db"
        token = prepare(database, data)
        questions = str(ROOT / "data" / "demo" / "questions.jsonl")
        assay(
            ["generate", "factual", questions, "--seed", "7", "--out", f"{folder}/out", "--db", str(database)]
        )
        damaged = ["generate", "damage", questions, "--seed", "7", "--out", f"{folder}/damaged"]
        assay([*damaged, "--db", str(database)])
        judge(database, Path(folder))
        assay(["score", "run:2", "--out", f"{folder}/scores.csv", "--db", str(database)])
        with running(database) as server, chromium() as browser:
            page = browser.new_page(viewport={"width": 1180, "height": 800})
            page.goto(f"{server.url}/r/{token}")
            on_pair(page, 8)
            shoot(page, images / "rater.png")
            if data is None:
                unblind(database)
            page.set_viewport_size({"width": 1180, "height": 1000})
            with open_store(database) as store:
                sign_in(page, store, server.url)
                shown = find_study(store, DEMO_NAME if data is None else PUBLISHED)
            page.goto(f"{server.url}/studies?study={shown.study_id}")
            expect(page.locator(".assay-verdict")).to_be_visible(timeout=60_000)
            shoot(page, images / "results.png")
            page.set_viewport_size({"width": 1180, "height": 700})
            page.goto(f"{server.url}/check")
            page.get_by_role("button", name="Try real ratings").click()
            expect(page.get_by_role("heading", name="Rules")).to_be_visible(timeout=60_000)
            shoot(page, images / "check.png")
            page.set_viewport_size({"width": 1180, "height": 1300})
            page.goto(f"{server.url}/generate")
            choose(page, "Items")
            expect(page.get_by_role("heading", name="A0 and its facts")).to_be_visible(timeout=60_000)
            shoot(page, images / "generate.png")
            page.set_viewport_size({"width": 1180, "height": 1800})  # down to the plot
            page.goto(f"{server.url}/metrics")
            open_tab(page, "Meta-correlation")
            page.get_by_text("Published", exact=True).nth(1).click()
            page.get_by_role("combobox", name="Column").click()
            page.get_by_role("option", name="published:cus-qa-cs-en").click()
            expect(page.locator(".gtitle").first).to_be_visible(timeout=60_000)
            shoot(page, images / "metrics.png")
            page.set_viewport_size({"width": 1180, "height": 1100})
            page.goto(f"{server.url}/metrics?part=correlations&metric=bleu-1&text={damaged_text(database)}")
            expect(page.locator(".assay-card")).to_have_count(4, timeout=60_000)
            page.locator(".st-key-metrics_explored_metric").evaluate(
                "one => { one.style.scrollMarginTop = '5rem'; one.scrollIntoView(); }"
            )
            shoot(page, images / "explore.png")
            page.set_viewport_size({"width": 1180, "height": 1750})
            page.goto(f"{server.url}/judges")
            page.get_by_role("tab", name="Texts", exact=True).click()
            expect(page.get_by_role("heading", name="Mismatches")).to_be_visible(timeout=60_000)
            settled(page)
            page.get_by_role("combobox", name="Text").click()
            page.get_by_role("option", name="level 2").click()
            shoot(page, images / "judges.png")
            page.set_viewport_size({"width": 1180, "height": 1350})
            marking(page, database, server.url, images / "marking.png")
            parrot = ["judge", "automqm", f"study:{NAME}", "--backend", "rules", "--out", f"{folder}/parrot"]
            in_another_process(parrot, database)
            page.set_viewport_size({"width": 1180, "height": 1900})
            specialist(page, server.url, images / "specialist.png")


if __name__ == "__main__":
    main()

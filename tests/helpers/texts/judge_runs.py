"""Judge runs for tests: texts at five levels, and settings that ask the scripted server."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Body, Said, ScriptedServer

from core.llm.prompts import Prompt
from core.runs.asked import Asked, ModelSettings, Running, ask
from core.runs.jobs import RunAtHand
from core.runs.kinds import KINDS
from core.runs.path import create, written
from core.runs.working.worker import work
from core.schema.runs import Kind
from core.schema.settings import SettingField, Settings, SettingsError, said
from core.store import Store

LEVELS = ("A0", "A1", "A2", "A3", "A4")
PAIRED = ("mills", "works")
"""Systems of `pairs`: the second one's texts are one level worse."""


def takes_a_model(kind: Kind) -> bool:
    """Whether a model can do this work: a judge may be rules and nothing else."""
    return all(remark.name != "backend" for remark in kind.Settings().problems("openai"))


COMPARING = ("rubric", "claims", "cef")
ON_RATINGS = ("automqm", "direct", "quality")
"""The judges that scripted servers answer, and whose scores are known by hand. A further judge has tests of its own."""
RUNNING = Running(concurrency=16, retries=0)


def facts(item: int) -> list[str]:
    return [
        f"The mill number {item} was built in {1500 + item}.",
        f"Jan Vermeer drew mill {item} near Delft.",
        f"It burned down on 3 May {1700 + item}.",
        f"About {200 + item} people worked there.",
    ]


def text_at(item: int, level: int) -> str:
    """The facts in another order, of which as many are wrong as the level says; one is missing at A4."""
    said = [
        fact.replace(fact.split()[-1], f"{item * 7 + 3}9.") if number < level else fact
        for number, fact in enumerate(facts(item))
    ]
    return " ".join([*said[2:], *said[: 1 if level == 4 else 2]])


def texts(n_items: int, levels: Sequence[str] = LEVELS) -> bytes:
    """A row a text, with reference and source; the source says the same in another order."""
    rows = (
        {
            "item_id": f"q{item}",
            "system": "mills",
            "level": level,
            "text": text_at(item, number),
            "reference": " ".join(facts(item)),
            "source": f"Of mill {item} this is known. {' '.join(reversed(facts(item)))}",
        }
        for item in range(n_items)
        for number, level in enumerate(levels)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def pairs(n_items: int, levels: Sequence[str] = LEVELS) -> bytes:
    """The rows of `texts`, and the same of a second system that is one level worse."""
    rows = [json.loads(line) for line in texts(n_items, levels).splitlines()]
    worse = (
        row
        | {
            "system": PAIRED[1],
            "text": text_at(int(row["item_id"][1:]), min(levels.index(row["level"]) + 1, 4)),
        }
        for row in rows
    )
    return "".join(json.dumps(row) + "\n" for row in (*rows, *worse)).encode()


def settings(
    kind: str, url: str, *, prompts: Sequence[Prompt] = (), name: str = "", attached: str = "", **given: Any
) -> Asked:
    """A judge on the server, or by rules, with the shipped prompts and file. given: fields of the judge and of its model."""
    of_model: dict[str, Any] = {"backend": "openai", "model": "tiny", "base_url": url}
    chosen = KINDS[kind]
    if given.get("backend") == "rules" or not takes_a_model(chosen):
        of_model = {}
    if given.get("backend") == "vllm":
        del of_model["base_url"]
    of_model |= {
        name: given.pop(name)
        for name in tuple(given)
        if name in ModelSettings.model_fields and name not in chosen.Settings.model_fields
    }
    if chosen.attachment is not None:
        attached = attached or chosen.attachment.find(chosen.attachment.usual)
    asked, _ = ask(chosen, given, of_model, {}, name=name, attached=attached, prompts=prompts)
    return asked


def run_to_the_end(
    store: Store,
    chosen: Asked,
    data: bytes,
    limit: int | None = None,
    *,
    name: str = "mills.jsonl",
    running: Settings = RUNNING,
) -> RunAtHand:
    run, _ = create(store, data, name, chosen, running, limit)
    return worked(run)


def create_told(
    store: Store, data: bytes, name: str, chosen: Asked, running: Running = RUNNING, limit: int | None = None
) -> tuple[RunAtHand, list[str]]:
    """A new run, and what its user is told of it."""
    run, notes = create(store, data, name, chosen, running, limit)
    return run, [note if isinstance(note, str) else said(note, run.fields, by_name) for note in notes]


def by_name(field: SettingField, value: str | None) -> str:
    """A word for fields: as the settings call them."""
    return field.name if value is None else f"{field.name}={value}"


def named(wrong: SettingsError) -> list[str]:
    """Its problems as `field: what`."""
    return list(wrong.in_words(by_name).problems)


def worked(run: RunAtHand) -> RunAtHand:
    """The run, after it was worked on to its end."""
    work(run.store, run.run.run_id, lambda claimed: run.path.job(run.claimed(claimed)))
    return run.now()


def answers_of(body: Body, n: int = 0) -> Said | str:
    return answer(body, n)


def judging_server(script: Any = answers_of) -> ScriptedServer:
    return ScriptedServer(script)


def in_folder(run: RunAtHand, folder: Path) -> Path:
    """The folder, made, with what the run writes."""
    folder.mkdir()
    for name, data in written(run).items():
        (folder / name).write_bytes(data)
    return folder


def rows_of(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.read_text("utf-8"))))


def two_models(body: Body, n: int) -> str:
    """Two models: `tiny` behaves well, `nay` answers every question with NO."""
    said = answer(body, n)
    if body["model"] == "nay" and said.startswith('{"answers"'):
        answers = json.loads(said)["answers"]
        return json.dumps({"answers": [{**one, "answer": "NO"} for one in answers]})
    return said


def marked_texts() -> str:
    """Two texts; the second one has wrong years."""
    rows = [
        {
            "item_id": str(item + 1),
            "system": "mills",
            "text": text_at(item, level),
            "source": text_at(item, 0),
        }
        for item, level in ((0, 0), (1, 2))
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def marks() -> str:
    """A rater's marks in them: a wrong number, and a word that is no fact."""
    header = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
    wrong = text_at(1, 2)
    number = wrong.split(" was built in ")[1].split(".")[0]
    first = wrong.split()[0]
    rows = [
        ("1", text_at(0, 0), "No-error", "No-error"),
        ("2", wrong.replace(number, f"<v>{number}</v>", 1), "Accuracy/Mistranslation", "Major"),
        ("2", wrong.replace(first, f"<v>{first}</v>", 1), "Style/Awkward", "Minor"),
    ]
    lines = [
        ("mills", "mills", item, item, "rater1", "source", target, category, severity)
        for item, target, category, severity in rows
    ]
    return "".join("\t".join(line) + "\n" for line in (header, *lines))

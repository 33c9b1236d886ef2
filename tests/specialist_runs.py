"""Runs of judges that stand on ratings, for tests: texts with slips in them, what people said, a model that sees slips.

A text of system A has the slip `slipA1` in item 1, and so on; three raters marked every slip, one of them as minor.
What the model says of a text depends on that text alone, and on no example.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scripted_server import Body

from core.datasets.rated import write_rated
from core.datasets.task_files import dump_task, find_task
from core.runs.judge_plan import choose_judge_prompts
from core.runs.judge_settings import JudgeSettings
from core.schema.rated import RatedText
from core.schema.scores import ErrorSpan, Rating, ScorableOutput

TASKS = {"automqm": "mqm", "direct": "direct", "quality": "multilingual"}
SYSTEMS = ("A", "B", "C", "D")
RATERS = ("r1", "r2", "r3")
_SLIP = re.compile(r"\bslip\w+")
_JUDGED = re.compile(r"<text>\n(.*?)\n</text>", re.DOTALL)


def text_of(item: int, system: str) -> str:
    """The text that a system made of an item: A makes as many slips as the item's number says, modulo 3."""
    slips = [f"slip{system}{item}x{n}" for n in range((item + SYSTEMS.index(system)) % 3)]
    return " ".join([f"The mill number {item} was built here.", *slips, f"ünd 𝄞 so on, {system}."])


def rated(item: int, system: str, raters: Sequence[str | None] = RATERS) -> RatedText:
    """The text with everybody's ratings: its slips, one number, and a class on each of five dimensions."""
    output = ScorableOutput(
        str(item), system, text_of(item, system), source=f"Über die Mühle {item}.", language="en"
    )
    slips = list(_SLIP.finditer(output.text))
    ratings = []
    for rater in raters:
        severity = "minor" if rater == RATERS[-1] else "major"
        spans = tuple(ErrorSpan(one.start(), one.end(), severity, "style/awkward") for one in slips)
        score = 0.0 - len(slips) * (1 if severity == "minor" else 5)

        def of(dimension: str, score: float, spans: Any = None, rater: str | None = rater) -> Rating:
            return Rating(
                output.item_id, score, system, rater=rater, dimension=dimension, language="en", spans=spans
            )

        ratings += [of("mqm", score, spans), of("overall", 100.0 - 10 * len(slips))]
        ratings += [of(name, float(2 - len(slips))) for name in ("LA", "OCQ", "TQ")]
        ratings += [of(name, float(not slips)) for name in ("PC", "H")]
    return RatedText(output, tuple(ratings))


def rated_texts(n_items: int, raters: Sequence[str | None] = RATERS) -> bytes:
    """A file of rated texts."""
    return write_rated(rated(item, system, raters) for item in range(n_items) for system in SYSTEMS)


def specialist(kind: Any, url: str, *, task: str = "", **fields: Any) -> JudgeSettings:
    """A judge on the server, with the shipped prompts and task."""
    task_text = dump_task(find_task(task or TASKS[kind]))
    asked: dict[str, Any] = {"backend": "openai", "model": "tiny", "base_url": url, "task_text": task_text}
    chosen = JudgeSettings(kind, **(asked | fields))
    return replace(chosen, prompts=choose_judge_prompts(chosen))


def parrot(**fields: Any) -> JudgeSettings:
    """The judge that repeats its examples' errors."""
    return specialist("automqm", "", backend="rules", model="", **fields)


def says(body: Body, n: int = 0) -> str:
    """What the model answers: every slip is a major error, costs 10 of 100, and a class of each dimension."""
    (judged,) = _JUDGED.findall(str(body["messages"][-1]["content"]))[-1:]
    slips = _SLIP.findall(judged)
    names = body["response_format"]["json_schema"]["schema"]["properties"]
    if "errors" in names:
        errors = [{"span": one, "severity": "major", "category": "style/awkward"} for one in slips]
        return json.dumps({"errors": errors})
    if "scores" in names:
        each = names["scores"]["properties"]
        return json.dumps({"scores": {name: _class(one["properties"], slips) for name, one in each.items()}})
    if "justification" in names:
        return json.dumps(_class(names, slips))
    return json.dumps({"score": 100 - 10 * len(slips)})


def _class(schema: dict[str, Any], slips: Sequence[str]) -> dict[str, object]:
    offered = schema["score"]["enum"]
    return {"justification": f"{len(slips)} slips.", "score": offered[max(len(offered) - 1 - len(slips), 0)]}

"""Runs of judges that stand on ratings, for tests: texts with slips in them (`slips`), and a model that sees slips.

What the model says of a text depends on that text alone, and on no example.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from helpers.processes.scripted_server import Body
from helpers.texts.judge_runs import settings
from helpers.texts.slips import SLIP

from core.formats.tasks import dump_task, find_task
from core.runs.asked import Asked

_JUDGED = re.compile(r"<text>\n(.*?)\n</text>", re.DOTALL)


def specialist(kind: str, url: str, *, task: str = "", **given: Any) -> Asked:
    """A judge on the server, with the shipped prompts and task."""
    attached = dump_task(find_task(task)) if task else ""
    return settings(kind, url, attached=attached, **given)


def parrot(**given: Any) -> Asked:
    """The judge that repeats its examples' errors."""
    return specialist("automqm", "", backend="rules", **given)


def says(body: Body, n: int = 0) -> str:
    """What the model answers: every slip is a major error, costs 10 of 100, and a class of each dimension."""
    (judged,) = _JUDGED.findall(str(body["messages"][-1]["content"]))[-1:]
    slips = SLIP.findall(judged)
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

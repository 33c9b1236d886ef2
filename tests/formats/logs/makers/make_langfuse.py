"""Write scores in the documented forms of Langfuse's exports; see README.md."""

import csv
import json
import sys
from pathlib import Path

from capitals import CAPITALS

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
OUT = Path(sys.argv[1])
WHEN = "2026-11-20T09:00:00.000Z"


def scores():
    """Name, source, type, value, word, author, comment of every score, with its trace."""
    for trace, _, _, answer, grade, human in CAPITALS:
        for author, value in (("mia", human), ("ben", 1 if trace == "q5" else human)):
            yield trace, "correctness", "ANNOTATION", "BOOLEAN", value, str(bool(value)), author, None
        comment = f"The answer {answer!r} was compared with the expected one."
        yield trace, "correctness", "EVAL", "NUMERIC", GRADES[grade], None, None, comment
        yield trace, "tone", "API", "CATEGORICAL", None, "bad" if "think" in answer else "good", None, None
    yield "q1", "note", "ANNOTATION", "TEXT", None, "A fine answer.", "mia", None


v2, v3, table, blob = [], [], [], []
for number, (trace, name, source, kind, value, word, author, comment) in enumerate(scores(), start=1):
    base = {
        "id": f"score-{number:02}",
        "name": name,
        "source": source,
        "timestamp": WHEN,
        "environment": "default",
    }
    v2.append(
        {
            **base,
            "traceId": f"trace-{trace}",
            "observationId": None,
            "sessionId": None,
            "datasetRunId": None,
            "createdAt": WHEN,
            "updatedAt": WHEN,
            "authorUserId": author,
            "comment": comment,
            "metadata": {},
            "configId": None,
            "queueId": None,
            "dataType": kind,
            "value": value,
            **({} if word is None else {"stringValue": word}),
            "trace": {"userId": None, "tags": [], "environment": "default", "sessionId": None},
        }
    )
    held = {"BOOLEAN": bool(value), "NUMERIC": value}.get(kind, word)
    v3.append(
        {
            **base,
            "projectId": "project-1",
            "createdAt": WHEN,
            "updatedAt": WHEN,
            "dataType": kind,
            "value": held,
            "comment": comment,
            "authorUserId": author,
            "subject": {"kind": "trace", "id": f"trace-{trace}"},
        }
    )
    table.append(
        {
            **base,
            "traceId": f"trace-{trace}",
            "traceName": "capitals",
            "dataType": kind,
            "value": value,
            "stringValue": word,
            "comment": comment,
            "authorUserName": author,
        }
    )
    blob.append(
        {
            **base,
            "project_id": "project-1",
            "trace_id": f"trace-{trace}",
            "session_id": None,
            "observation_id": None,
            "data_type": kind,
            "value": value,
            "string_value": word,
            "comment": comment,
            "author_user_id": author,
        }
    )
v2.append({**v2[0], "id": "score-99", "traceId": None, "sessionId": "session-1"})
pages = {"page": 1, "limit": 100, "totalItems": len(v2), "totalPages": 1}
(OUT / "langfuse-scores-v2.json").write_text(json.dumps({"data": v2, "meta": pages}, indent=1) + "\n")
(OUT / "langfuse-scores-v3.json").write_text(
    json.dumps({"data": v3, "meta": {"limit": 100}}, indent=1) + "\n"
)
(OUT / "langfuse-blob.jsonl").write_text("".join(json.dumps(one) + "\n" for one in blob))
with (OUT / "langfuse-scores.csv").open("w", newline="") as file:
    writer = csv.DictWriter(file, list(table[0]))
    writer.writeheader()
    writer.writerows(table)

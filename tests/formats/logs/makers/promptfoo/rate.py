"""Rate outputs in the running viewer of promptfoo, as a person does with its thumbs; see README.md."""

import json
import sys
from pathlib import Path
from urllib.request import Request, urlopen

viewer, results = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
THUMBS = {"q1": True, "q2": False, "q3": True, "q5": False}
for one in results["results"]["results"]:
    up = THUMBS[one["vars"]["id"]] and one["provider"]["label"] == "atlas"
    said = {
        "pass": up,
        "score": float(up),
        "reason": "Manual result (overrides all other grading results)",
        "componentResults": [
            *(one["gradingResult"]["componentResults"]),
            {
                "pass": up,
                "score": float(up),
                "reason": "Manual result (overrides all other grading results)",
                "comment": "",
                "assertion": {"type": "human"},
            },
        ],
    }
    address = f"{viewer}/api/eval/{results['evalId']}/results/{one['id']}/rating"
    asked = Request(address, json.dumps(said).encode(), {"Content-Type": "application/json"}, method="POST")
    print(urlopen(asked).status)

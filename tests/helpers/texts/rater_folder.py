"""A folder of mt-metrics-eval with a file of errors a rater, made from WMT23 English-German as it is published."""

import json
from pathlib import Path

PAIR = "en-de"
SYSTEMS = ("AIRC", "GPT4-5shot", "NLLB_Greedy")
N_SEGMENTS, N_RATERS, EVERY = 60, 8, 5
"""Segments taken of the rated ones; each has one rater, and every fifth has all of them."""


def folder_by_rater(wmt23: Path, to: Path) -> Path:
    """Rater n leaves out the n-th error of each text that all of them rated; the merged file has all errors."""
    merged: dict[str, list[str]] = {}
    for line in (wmt23 / f"human-scores/{PAIR}.mqm.merged.seg.rating").read_text("utf-8").splitlines():
        system, errors = line.split("\t")
        merged.setdefault(system, []).append(errors)
    kept = [k for k, errors in enumerate(merged[SYSTEMS[0]]) if errors != "None"][:N_SEGMENTS]

    def write(name: str, lines: list[str]) -> None:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    for name in (f"sources/{PAIR}.txt", *(f"system-outputs/{PAIR}/{one}.txt" for one in SYSTEMS)):
        lines = (wmt23 / name).read_text("utf-8").split("\n")
        write(name, [lines[k] for k in kept])
    write(
        f"human-scores/{PAIR}.mqm.merged.seg.rating",
        [f"{system}\t{merged[system][k]}" for system in SYSTEMS for k in kept],
    )
    for rater in range(N_RATERS):
        lines = []
        for system in SYSTEMS:
            for place, k in enumerate(kept):
                errors = json.loads(merged[system][k])
                if place % EVERY == 0:
                    del errors["errors"][rater : rater + 1]
                own = place % EVERY == 0 or place % N_RATERS == rater
                lines.append(f"{system}\t{json.dumps(errors) if own else None}")
        write(f"human-scores/{PAIR}.mqm.rater{rater + 1}.seg.rating", lines)
    return to

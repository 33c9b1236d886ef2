"""Labels of three raters and two judges, in one table."""

from pathlib import Path

RATERS, JUDGES = ("r0", "r1", "r2"), ("gpt", "rules")


def labels() -> list[dict[str, object]]:
    """A row for each text: three raters, one of them with gaps, two judges, one of them with gaps."""
    rows: list[dict[str, object]] = []
    for at in range(36):
        truth = at * 7 % 5
        given = {
            "r0": truth,
            "r1": truth if at % 4 else (truth + 1) % 5,
            "r2": "" if at % 9 == 0 else truth if at % 3 else (truth + 2) % 5,
            "gpt": truth if at % 6 else (truth + 1) % 5,
            "rules": "" if at % 8 == 0 else at % 5,
        }
        rows.append({"item": f"q{at // 2}", "system": f"s{at % 2}"} | given)
    return rows


def write_csv(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write rows with the columns of the first one."""
    lines = [",".join(rows[0]), *(",".join(map(str, one.values())) for one in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path

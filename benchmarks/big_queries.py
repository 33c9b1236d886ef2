"""Read a big table of scores: the engine that Assay uses, pandas that reads all, and another engine where it is installed.

The folder has the form of a run's: texts.parquet, and parts of 5,000 rows with 16 metrics. Each query runs in a process of its
own. Prints wall seconds, CPU seconds and peak memory of each, then import time and installed size. The results of all
engines are compared. Then come all estimates of `runs table`, without and with intervals, beside pandas and scipy. The target for
the estimates without intervals is 60 CPU s and 1,536 MB.

    .venv/bin/python benchmarks/big_queries.py [--rows 1000000] [--limit-mb 256] [--folder FOLDER]

--limit-mb runs the queries once more under a limit of memory: DuckDB's own setting, and for the others a limit of
the process's address space.
"""

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

CHUNK = 5_000
METRICS = tuple(f"metric_{number}" for number in range(16))
LEVELS = ("A0", "A1", "A2", "A3", "A4")
SYSTEMS = tuple(f"system {letter}" for letter in "abcdefgh")
DOMAINS = ("news", "law", "medicine", "chat")
TARGET_SECONDS, TARGET_MB = 60.0, 1_536.0
PATIENCE = 60
"""Seconds to wait for a query; under a limit of memory, some libraries hang."""


def write_folder(folder: Path, n_rows: int, metrics: tuple[str, ...] = METRICS, words: int = 40) -> None:
    """Write texts and scores of n_rows rows: every item has every level of every system."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    vocabulary = ["".join(rng.choice(letters, size=size)) for size in rng.integers(2, 11, size=4_000)]
    prose = " ".join(vocabulary[index] for index in rng.integers(0, len(vocabulary), size=200_000))
    cells = len(LEVELS) * len(SYSTEMS)
    texts = None
    for part, first in enumerate(range(0, n_rows, CHUNK)):
        rows = np.arange(first, min(n_rows, first + CHUNK))
        item, level, system = rows // cells, rows % len(LEVELS), rows // len(LEVELS) % len(SYSTEMS)
        starts, sizes = (
            rng.integers(0, len(prose) - 3_000, size=(2, rows.size)),
            rng.integers(0, 200, size=rows.size),
        )
        keys = {
            "row": pa.array(rows),
            "item_id": pa.array([f"question-{number:07d}" for number in item]),
            "system": pa.array([SYSTEMS[number] for number in system]),
            "level": pa.array([LEVELS[number] for number in level]),
            "language": pa.array(["en"] * rows.size),
        }
        labels = pa.array([json.dumps({"domain": DOMAINS[number % len(DOMAINS)]}) for number in item])
        text, reference = (
            pa.array(
                [prose[start : start + 6 * words + size] for start, size in zip(each, sizes, strict=True)]
            )
            for each in starts
        )
        nothing = pa.nulls(rows.size, pa.string())
        table = pa.table({**keys, "text": text, "reference": reference, "source": nothing, "labels": labels})
        texts = texts or pq.ParquetWriter(folder / "texts.parquet", table.schema)
        texts.write_table(table, row_group_size=CHUNK)
        # Quality falls with the level, more for some metrics than for others; one score in a thousand is undefined.
        quality = 0.8 - 0.1 * level[:, None] * np.linspace(0, 1, len(metrics)) + 0.01 * system[:, None]
        scores = np.clip(quality + rng.normal(0, 0.15, size=(rows.size, len(metrics))), 0, 1)
        undefined = rng.random(scores.shape) < 0.001
        reasons = [
            json.dumps({metrics[at]: "empty reference" for at in np.flatnonzero(row)}) if row.any() else None
            for row in undefined
        ]
        columns = {name: pa.array(scores[:, at], mask=undefined[:, at]) for at, name in enumerate(metrics)}
        one = pa.table({**keys, "labels": labels, **columns, "reasons": pa.array(reasons, pa.string())})
        pq.write_table(one, folder / f"scores-{part:06d}.parquet")
    if texts is not None:
        texts.close()


Query = Callable[[Path], Iterable[tuple[Any, ...]]]
"""The rows of a query's result, in a stated order."""


def duckdb_queries(limit_mb: int | None) -> dict[str, Query]:
    """The queries in SQL."""
    import duckdb

    def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
        settings = {"threads": "2"} | ({} if limit_mb is None else {"memory_limit": f"{limit_mb}MB"})
        with duckdb.connect(config={**settings, "temp_directory": str(folder / "spill")}) as connection:
            connection.execute(
                f"CREATE VIEW scores AS SELECT * FROM read_parquet('{folder}/scores-*.parquet')"
            )
            connection.execute(f"CREATE VIEW texts AS SELECT * FROM read_parquet('{folder}/texts.parquet')")
            return connection.execute(sql).fetchall()

    means = ", ".join(f"count({m}), avg({m}), stddev_samp({m}), count(*) - count({m})" for m in METRICS)
    sums = ", ".join(f"sum({m}), count({m})" for m in METRICS)
    number = "CAST(substr(level, 2) AS DOUBLE)"
    corr = ", ".join(f"corr({m}, {number})" for m in METRICS)
    page = (
        "SELECT s.row, s.item_id, s.metric_3, t.text FROM texts t JOIN (SELECT row, item_id, metric_3 FROM scores"
        " WHERE {where} ORDER BY metric_3, row LIMIT 50 OFFSET {offset}) s ON s.row = t.row"
        " WHERE t.row IN (SELECT row FROM scores WHERE {where} ORDER BY metric_3, row LIMIT 50 OFFSET {offset})"
        " ORDER BY s.metric_3, s.row"
    )
    return {
        "by level and system": lambda f: rows(
            f, f"SELECT level, system, {means} FROM scores GROUP BY ALL ORDER BY ALL"
        ),
        "by a label": lambda f: rows(
            f, f"SELECT labels ->> '$.domain' AS label, {means} FROM scores GROUP BY ALL ORDER BY ALL"
        ),
        "page of a level": lambda f: rows(f, page.format(where="level = 'A3'", offset=1_000)),
        "page of an item": lambda f: rows(f, page.format(where="item_id = 'question-0000011'", offset=0)),
        "sums by item": lambda f: rows(
            f, f"SELECT item_id, {sums} FROM scores GROUP BY ALL ORDER BY item_id"
        ),
        "correlation": lambda f: rows(f, f"SELECT {corr} FROM scores"),
    }


def polars_queries(limit_mb: int | None) -> dict[str, Query]:
    """The queries as lazy frames, collected by the streaming engine."""
    import polars as pl

    def scores(folder: Path) -> Any:
        return pl.scan_parquet(f"{folder}/scores-*.parquet")

    means = [
        each
        for m in METRICS
        for each in (
            pl.col(m).count().alias(f"n {m}"),
            pl.col(m).mean().alias(f"mean {m}"),
            pl.col(m).std().alias(f"sd {m}"),
            pl.col(m).null_count().alias(f"undefined {m}"),
        )
    ]
    sums = [
        each for m in METRICS for each in (pl.col(m).sum().alias(f"s {m}"), pl.col(m).count().alias(f"n {m}"))
    ]

    def collected(frame: Any) -> list[tuple[Any, ...]]:
        return list(frame.collect(engine="streaming").iter_rows())

    def page(folder: Path, where: Any, offset: int) -> list[tuple[Any, ...]]:
        chosen = (
            scores(folder)
            .filter(where)
            .select("row", "item_id", "metric_3")
            .sort("metric_3", "row", nulls_last=True)
            .slice(offset, 50)
            .collect(engine="streaming")
        )
        texts = (
            pl.scan_parquet(f"{folder}/texts.parquet")
            .select("row", "text")
            .filter(pl.col("row").is_in(chosen["row"].to_list()))
            .collect(engine="streaming")
        )
        return list(chosen.join(texts, on="row", how="left", maintain_order="left").iter_rows())

    domain = pl.col("labels").str.json_path_match("$.domain").alias("label")
    number = pl.col("level").str.slice(1).cast(pl.Float64)
    return {
        "by level and system": lambda f: collected(
            scores(f).group_by("level", "system").agg(means).sort("level", "system")
        ),
        "by a label": lambda f: collected(scores(f).group_by(domain).agg(means).sort("label")),
        "page of a level": lambda f: page(f, pl.col("level") == "A3", 1_000),
        "page of an item": lambda f: page(f, pl.col("item_id") == "question-0000011", 0),
        "sums by item": lambda f: collected(scores(f).group_by("item_id").agg(sums).sort("item_id")),
        "correlation": lambda f: collected(scores(f).select(pl.corr(m, number).alias(m) for m in METRICS)),
    }


def pandas_queries(limit_mb: int | None) -> dict[str, Query]:
    """The queries on a data frame of everything."""
    import pandas as pd

    def scores(folder: Path) -> Any:
        return pd.read_parquet(sorted(folder.glob("scores-*.parquet")))

    def means(groups: Any) -> list[tuple[Any, ...]]:
        found = groups[list(METRICS)].agg(["count", "mean", "std"])
        sizes = groups.size()
        return [
            (
                *(name if isinstance(name, tuple) else (name,)),
                *(
                    value
                    for m in METRICS
                    for value in (*found.loc[name, m], sizes[name] - found.loc[name, (m, "count")])
                ),
            )
            for name in found.index
        ]

    def page(folder: Path, column: str, value: str, offset: int) -> list[tuple[Any, ...]]:
        frame = scores(folder)
        chosen = frame[frame[column] == value].sort_values(["metric_3", "row"]).iloc[offset : offset + 50]
        texts = pd.read_parquet(folder / "texts.parquet", columns=["row", "text"])
        joined = chosen.merge(texts, on="row", how="left")
        return list(joined[["row", "item_id", "metric_3", "text"]].itertuples(index=False, name=None))

    def sums(folder: Path) -> list[tuple[Any, ...]]:
        found = scores(folder).groupby("item_id")[list(METRICS)].agg(["sum", "count"]).sort_index()
        return list(found.itertuples(name=None))

    def correlation(folder: Path) -> list[tuple[Any, ...]]:
        frame = scores(folder)
        return [tuple(frame[list(METRICS)].corrwith(frame["level"].str[1:].astype(float)))]

    return {
        "by level and system": lambda f: means(scores(f).groupby(["level", "system"])),
        "by a label": lambda f: means(
            (frame := scores(f)).groupby(frame["labels"].map(lambda x: json.loads(x)["domain"]))
        ),
        "page of a level": lambda f: page(f, "level", "A3", 1_000),
        "page of an item": lambda f: page(f, "item_id", "question-0000011", 0),
        "sums by item": sums,
        "correlation": correlation,
    }


def estimates(n_resamples: int) -> Query:
    """What the command `runs table` computes: means by level and system, and correlations with minus the level."""
    from core.results.big_tables.estimates import estimates as of_table
    from core.results.big_tables.scored import open_table
    from core.schema.scores import Metric

    def found(folder: Path) -> list[tuple[Any, ...]]:
        metrics = [Metric(name, "", "") for name in METRICS]
        table = open_table("The table", folder, metrics, range(len(list(folder.glob("scores-*.parquet")))))
        own = of_table(table, n_resamples=n_resamples)
        return [
            *(
                (one.metric.name, *one.group.values(), one.mean.estimate, one.sd, one.mean.n)
                for one in own.means
            ),
            *(
                (one.metric.name, *(each.estimate for each in one.by_method.values()))
                for one in own.correlations
            ),
        ]

    return found


def with_scipy(folder: Path) -> list[tuple[Any, ...]]:
    """The same with pandas and scipy on a data frame of everything."""
    import pandas as pd
    from scipy import stats

    frame = pd.read_parquet(sorted(folder.glob("scores-*.parquet")))
    groups = frame.groupby(["level", "system"])[list(METRICS)].agg(["mean", "std", "count"])
    level = -frame["level"].str[1:].astype(float)
    means = [(m, *name, *groups.loc[name, m]) for m in METRICS for name in groups.index]
    followed = []
    for m in METRICS:
        known = frame[m].notna()
        pair = frame.loc[known, m], level[known]
        each = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
        followed.append((m, *(coefficient(*pair).statistic for coefficient in each)))
    return [*means, *followed]


ESTIMATES: dict[str, Callable[[], Query]] = {
    "Assay": lambda: estimates(0),
    "Assay, 1,000 resamples": lambda: estimates(1_000),
    "pandas and scipy": lambda: with_scipy,
}
"""Ways to all estimates of a table."""
ENGINES: dict[str, tuple[Callable[[int | None], dict[str, Query]], tuple[str, ...]]] = {
    "duckdb": (duckdb_queries, ("duckdb",)),
    "polars": (polars_queries, ("polars", "polars-runtime-32")),
    "pandas": (pandas_queries, ("pandas", "pyarrow")),
}
"""Name -> queries, and the packages that it needs."""


def measure(engine: str, query: str, folder: Path, limit_mb: int | None) -> None:
    """Run one query and print what it took as JSON."""
    if limit_mb is not None and engine != "duckdb":
        beyond = _memory("VmSize") + limit_mb
        resource.setrlimit(resource.RLIMIT_AS, (int(beyond * 2**20),) * 2)
    start = time.perf_counter()
    chosen = ESTIMATES[query]() if engine == "estimates" else ENGINES[engine][0](limit_mb)[query]
    imported = time.perf_counter() - start
    cpu, start = time.process_time(), time.perf_counter()
    rows = list(chosen(folder))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    said = repr([tuple(_short(value) for value in row) for row in rows]).encode()
    digest = hashlib.sha256(said).hexdigest()[:12]
    print(
        json.dumps(
            {"import": imported, "wall": seconds, "cpu": cpu, "mb": _memory("VmHWM"), "digest": digest}
        )
    )


def _short(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) or float(value).is_integer():
        return int(value)
    return f"{float(value):.7g}"


def _memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def installed_mb(package: str) -> float:
    """The size of a package's files."""
    files = importlib.metadata.files(package) or []
    return sum(os.path.getsize(file.locate()) for file in files if Path(str(file.locate())).exists()) / 2**20


def in_child(engine: str, query: str, folder: Path, limit_mb: int | None) -> dict[str, Any] | str:
    """What a query took in a process of its own, or how it failed."""
    limit = [] if limit_mb is None else ["--limit-mb", str(limit_mb)]
    command = [sys.executable, __file__, "--only", engine, query, "--folder", str(folder), *limit]
    try:
        patience = None if limit_mb is None else PATIENCE
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience)
    except subprocess.TimeoutExpired:
        return f"hangs for {PATIENCE} s"
    if found.returncode == 0:
        return dict(json.loads(found.stdout))
    return f"fails, status {found.returncode}"


def main() -> None:
    """Write the folder unless it is there, and run all queries with all engines."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--rows", type=int, default=1_000_000, help="rows (default %(default)s)")
    options.add_argument("--limit-mb", type=int, help="also run with this limit of memory")
    options.add_argument("--folder", type=Path, help="keep the tables here (default: a temporary folder)")
    options.add_argument("--only", nargs=2, metavar=("ENGINE", "QUERY"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.only:
        measure(*given.only, given.folder, given.limit_mb)
        return
    folder = given.folder or Path(tempfile.mkdtemp(prefix="big-queries-"))
    try:
        if not (folder / "texts.parquet").exists():
            start = time.perf_counter()
            write_folder(folder, given.rows)
            print(f"{given.rows:,} rows written in {time.perf_counter() - start:.0f} s")
        compare(folder, given.rows, given.limit_mb)
    finally:
        if given.folder is None:
            shutil.rmtree(folder)


def compare(folder: Path, n_rows: int, limit_mb: int | None) -> None:
    """Print the table; exit with status 1 where results differ or, at full size, where the target is missed."""
    engines = [name for name in ENGINES if importlib.util.find_spec(name) is not None]
    queries = list(ENGINES[engines[0]][0](None))
    wrong, seconds, most = [], dict.fromkeys(engines, 0.0), dict.fromkeys(engines, 0.0)
    for limit in (None, limit_mb) if limit_mb else (None,):
        print("" if limit is None else f"\nwith at most {limit} MB")
        print(f"{'query':22}" + "".join(f"{name + ': wall s, CPU s, MB':>34}" for name in engines))
        for query in queries:
            found = {name: in_child(name, query, folder, limit) for name in engines}
            digests = {one["digest"] for one in found.values() if isinstance(one, dict)}
            if len(digests) > 1:
                wrong.append(query)
            cells = [
                one if isinstance(one, str) else f"{one['wall']:.2f} {one['cpu']:7.2f} {one['mb']:7.0f}"
                for one in found.values()
            ]
            print(f"{query:22}" + "".join(f"{cell:>34}" for cell in cells), flush=True)
            for name, one in found.items():
                if limit is None and isinstance(one, dict):
                    seconds[name] += one["wall"]
                    most[name] = max(most[name], one["mb"])
                    imports[name] = min(imports.get(name, 9.0), one["import"])
    print()
    for name in engines:
        size = sum(installed_mb(package) for package in ENGINES[name][1])
        print(
            f"{name}: {seconds[name]:.1f} s together, at most {most[name]:.0f} MB; import {imports[name]:.2f} s,"
            f" installed {size:.0f} MB ({' and '.join(ENGINES[name][1])})"
        )
    print()
    made = {name: in_child("estimates", name, folder, None) for name in ESTIMATES}
    for name, one in made.items():
        said = (
            one
            if isinstance(one, str)
            else f"{one['wall']:.1f} s, {one['cpu']:.1f} CPU s, {one['mb']:.0f} MB"
        )
        print(f"all estimates, {name}: {said}")
    if len({one if isinstance(one, str) else one["digest"] for one in made.values()}) > 1:
        wrong.append("estimates")
    if wrong:
        sys.exit(f"the results differ: {', '.join(wrong)}")
    ours = made["Assay"]
    if n_rows >= 1_000_000 and (
        isinstance(ours, str) or ours["cpu"] > TARGET_SECONDS or ours["mb"] > TARGET_MB
    ):
        sys.exit("target missed")


imports: dict[str, float] = {}
"""Engine -> least seconds that its import took."""


if __name__ == "__main__":
    main()

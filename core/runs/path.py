"""The lifecycle of every run: create, resume, write its files."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from core import __version__
from core.errors import InputError
from core.installation import COMMAND
from core.results.injection import injections_json
from core.runs.asked import EXTRA_FIELDS, Asked, asked_of, described, kept
from core.runs.generation import Generation, spans_found_by
from core.runs.jobs import RunAtHand, WorkPath
from core.runs.judging import Auditing, Judging, degeneracy_of, injections_in
from core.runs.kinds import kind_named, kinds_that
from core.runs.progress import Progress, money_of, progress_of, wall_seconds, why_not_now
from core.runs.scoring import Scoring
from core.runs.tables import Tables, create_table, table_request
from core.schema.runs import RUN_FILE, Run, Work
from core.schema.settings import Remark, Settings, refuse
from core.store import Store
from core.store.kept import answers_of_others, parts_not_sent
from core.store.runs import change_run, get_run, insert_run, item_states, list_runs
from core.tables.files import write_file
from core.tables.reading import sha256_of
from core.tables.streaming import TableFile

PATHS: Mapping[Work, WorkPath] = {
    "generation": Generation(),
    "scores": Scoring(),
    "tables": Tables(),
    "judging": Judging(),
    "audit": Auditing(),
}
IDENTITY = ("run", "kind", "file_sha256", "made_utc")
"""Fields of run.json that identify a run."""
NO_SUCH_RUN = (
    "There is no run of this file with these settings to resume. Start a new one, or list the runs with "
    f"`{COMMAND} runs list`."
)


def saved_run(store: Store, run: Run | int) -> RunAtHand:
    """A saved run. Raises NotFound."""
    found = get_run(store, run) if isinstance(run, int) else run
    return RunAtHand(store, found, PATHS[kind_named(found.kind).work])


def runs_that(store: Store, *works: Work) -> list[Run]:
    """The saved runs with one of these types of work, newest first."""
    return list_runs(store, tuple(kind.name for kind in kinds_that(*works)))


def create(
    store: Store,
    data: bytes | TableFile,
    file_name: str,
    request: Asked,
    running: Settings,
    limit: int | None = None,
    tell: Callable[[int], None] = lambda n: None,
) -> tuple[RunAtHand, tuple[Remark | str, ...]]:
    """Save a new run in the state `waiting`; returns it with remarks. Raises InputError with all problems.

    data: the file, or a big table, which is scored in chunks. tell: called with the number of its rows that are read.
    """
    check_limit(limit, 0)  # before reading a long file
    if isinstance(data, TableFile):
        request = table_request(request)
        made, noted = create_table(store, data, request, running, limit, tell)
        return RunAtHand(store, made, PATHS[request.kind.work], request=request), noted
    path = PATHS[request.kind.work]
    contents = path.read(request, data, file_name)
    sha256 = sha256_of(data)
    notes = path.check(request, contents, sha256)
    n_items = len(path.items(request, contents))
    run = Run(
        run_id=0,
        kind=request.kind.name,
        state="waiting",
        settings=kept(request),
        running=running.model_dump(mode="json"),
        data_file=file_name,
        data_sha256=sha256,
        n_items=n_items,
        limit=None if limit is None else min(limit, n_items),
        created_utc="",
        app_version=__version__,
    )
    return RunAtHand(store, insert_run(store, run, data), path, request=request, contents=contents), notes


def find_same(store: Store, data: bytes | TableFile, request: Asked, *, named: bool = True) -> RunAtHand:
    """The newest run with the same request, ignoring settings without effect. Raises InputError if there is none.

    named: whether its results must have the same name, too.
    """
    if isinstance(data, TableFile):
        sha256, request = data.sha256, table_request(request)
    else:
        sha256 = sha256_of(data)
    settings = _compared(request, named)
    for run in list_runs(store, (request.kind.name,)):
        if run.data_sha256 == sha256 and _settings_today(run, named) == settings:
            return saved_run(store, run)
    raise InputError(NO_SUCH_RUN)


def _settings_today(run: Run, named: bool) -> Mapping[str, object] | None:
    """A run's settings in today's stored form, with newer fields at their defaults; None: unreadable."""
    try:
        return _compared(asked_of(run), named)
    except InputError:
        return None


def _compared(request: Asked, named: bool) -> Mapping[str, object]:
    """The settings in stored form, with the name of the results only if it counts."""
    return kept(request if named else replace(request, name=""))


def resume(run: RunAtHand, running: Settings | None, limit: int | None) -> RunAtHand:
    """Prepare a run to continue, with new processing settings (if given) and a new number of items.

    Clears an earlier cancel request. Raises InputError while a process works on the run or is still ending, because a
    second process must not load a model at the same time.
    """
    with run.store.writing():
        if why := why_not_now(run.now().run):
            raise InputError(why)
        check_limit(limit, len(item_states(run.store, run.run.run_id)))
        limit = None if limit is None else min(limit, run.run.n_items)
        how = None if running is None else running.model_dump(mode="json")
        change_run(run.store, run.run.run_id, running=how, limit=limit)
    return run.now()


def check_limit(limit: int | None, n_done: int) -> None:
    """Raise SettingsError for a number of items below 1 or below the number already processed."""
    if limit is not None and limit < max(1, n_done):
        why = f"the run has already processed {n_done} items" if n_done else "at least 1"
        refuse([Remark("limit", "{n} is too small; {why}", {"n": limit, "why": why})], also=EXTRA_FIELDS)


def written(run: RunAtHand) -> dict[str, bytes]:
    """File name -> content for the run so far; run.json comes last."""
    return run.path.files(run) | {RUN_FILE: run_file(run)}


def run_file(run: RunAtHand) -> bytes:
    """The content of run.json for the run so far."""
    report = run_report(run, progress_of(run.store, run.run.run_id))
    return json.dumps(report, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def write_into(run: RunAtHand, folder: Path) -> tuple[str, ...]:
    """Write the run's files so far into a folder, each completely or not at all; returns their names, run.json last."""
    names = run.path.write_files(run, folder)
    write_file(folder / RUN_FILE, run_file(run))
    return (*names, RUN_FILE)


def identity_of(run: Run) -> dict[str, object]:
    """The fields of run.json that identify the run."""
    return dict(zip(IDENTITY, (run.run_id, run.kind, run.data_sha256, run.created_utc), strict=True))


def run_report(at: RunAtHand, progress: Progress) -> dict[str, object]:
    """Settings, counters and cost of a run, for run.json and `runs show --json`."""
    run, metrics = progress.run, at.metrics
    gives_scores = at.kind.by_metrics or at.kind.work == "judging"
    report: dict[str, object] = {
        **identity_of(run),
        "state": progress.state,
        "message": run.message,
        "file": run.data_file,
        "finished_utc": run.finished_utc,
        "wall_seconds": wall_seconds(run),
        "start_seconds": run.start_seconds,
        "app_version": run.app_version,
        "settings": described(at.request)
        | ({"metrics": [asdict(one) for one in metrics]} if gives_scores else {}),
        "items": run.n_wanted,
        "done": progress.n_done,
        "failed": progress.n_failed,
        "again": progress.n_again,
        "failures": [
            {"step": step, "reason": reason, "n": n} for (step, reason), n in progress.failures.items()
        ],
        "costs": [asdict(cost) for cost in progress.costs],
        "money": money_of(progress),
    }
    if not at.kind.by_metrics:
        report["prices"] = {"input": at.running.input_price, "output": at.running.output_price}
        report["found"] = answers_of_others(at.store, run.run_id)
    if progress.nothing_usable:
        report["nothing_usable"] = True
    if missing := parts_not_sent(at.store, run.run_id):
        report["not_sent"] = missing
    if at.kind.work == "generation" and (found := spans_found_by(at)):
        report["spans_by"] = found
    if gives_scores:
        report["left_out"] = dict(at.path.left_out(at))
    if at.kind.work == "judging":
        report["degeneracy"] = [asdict(one) for one in degeneracy_of(at)]
        report["injections"] = injections_json(injections_in(at))
    return report

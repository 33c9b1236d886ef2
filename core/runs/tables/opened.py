"""The table of a run, opened for estimates and for its texts."""

from core.errors import InputError
from core.installation import COMMAND
from core.results.big_tables.scored import BigTable, open_table
from core.runs.jobs import RunAtHand
from core.store.beside import run_folder
from core.store.runs import run_items


def big_table(run: RunAtHand) -> BigTable:
    """Open the table of a run. Raises InputError for a run of another kind, and if its folder is missing or unreadable."""
    number = run.run.run_id
    if run.kind.work != "tables":
        raise InputError(
            f"Run {number} has no big table. Its results: `{COMMAND} runs write {number} --out DIR`, "
            f"`{COMMAND} correlate run:{number} --with level`."
        )
    # A chunk that broke has no file of scores.
    finished = [item.position for item in run_items(run.store, number) if "part" in item.result]
    return open_table(f"Run {number}", run_folder(run.store, number), run.metrics, finished)

"""The demo study: there after the first start, with two raters and no votes."""

from pathlib import Path

from core.datasets import read_dataset
from core.schema import Design
from core.store import Store
from core.store.studies import read_setting, write_setting
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters

DEMO_NAME = "demo"
_FILE = Path(__file__).resolve().parents[2] / "data" / "demo" / "answers.csv"
_SEED = 20261121
_DONE = "demo_loaded"


def load_demo_once(store: Store) -> None:
    """Import and open the demo study unless this database had it before (renamed or not)."""
    with store.writing():
        if read_setting(store, _DONE) is not None:
            return
        dataset = read_dataset(_FILE.read_bytes(), _FILE.name)
        design = Design(candidate="pipeline", comparator="handwritten", seed=_SEED)
        study = import_study(store, DEMO_NAME, dataset, design)
        add_raters(store, study, ["rater-1", "rater-2"])
        move(store, study, "open", "demo")
        write_setting(store, _DONE, study.created_utc)

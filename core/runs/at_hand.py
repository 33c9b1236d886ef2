"""A run at hand: what was asked for and the file it works on, each read and checked once, whoever looks at it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any, Protocol

from core.runs.asked import Asked, asked_of, fields_named, running_of
from core.runs.jobs import BatchJob, Job
from core.schema import Run
from core.schema.kinds import Kind
from core.schema.scores import Metric
from core.schema.settings import Remark, SettingField
from core.store import Store
from core.store.runs import get_run, run_data
from core.store.scores import run_metrics


class WorkPath(Protocol):
    """How runs of one work go from their file to their results."""

    def read(self, asked: Asked, data: bytes, file_name: str) -> Any:
        """The file's contents. Raises InputError with every problem."""

    def items(self, asked: Asked, contents: Any) -> Mapping[str, Sequence[Any]]:
        """Item -> what there is to work on; in the order of the file."""

    def check(self, asked: Asked, contents: Any, sha256: str) -> tuple[Remark | str, ...]:
        """What to know before it costs anything. Raises InputError where nothing could be done."""
        return ()

    def named(self, thing: Any) -> tuple[str | None, str | None]:
        """System and level of one of the texts of an item, where they have some."""
        return None, None

    def job(self, run: "RunAtHand") -> Job | BatchJob:
        """What a worker does."""

    def planned(self, run: "RunAtHand") -> tuple[Metric, ...]:
        """The metrics of its scores as the settings tell them; none where it gives no scores."""
        return ()

    def left_out(self, run: "RunAtHand") -> Mapping[str, int]:
        """Reason -> rows of the file that give nothing to work on."""
        return {}

    def files(self, run: "RunAtHand") -> dict[str, bytes]:
        """File name -> content, as far as the run is, without run.json."""

    def maker(self, asked: Asked) -> str:
        """Whose texts, which metrics, or which judge."""
        return asked.called


class RunAtHand:
    """A run with what belongs to it. Nothing is read before it is needed, and nothing twice."""

    def __init__(
        self, store: Store, run: Run, path: WorkPath, *, asked: Asked | None = None, contents: Any = None
    ) -> None:
        """asked, contents: where they are known already."""
        self.store, self.run, self.path = store, run, path
        if asked is not None:
            self.asked = asked
        if contents is not None:
            self.contents = contents

    @cached_property
    def asked(self) -> Asked:
        """What it was asked for."""
        return asked_of(self.run)

    @property
    def kind(self) -> Kind:
        """Its kind."""
        return self.asked.kind

    @property
    def running(self) -> Any:
        """See asked.running_of."""
        return running_of(self.run)

    @cached_property
    def contents(self) -> Any:
        """What its file holds."""
        data = run_data(self.store, self.run.run_id)
        return self.path.read(self.asked, data, PurePath(self.run.data_file).name)

    @cached_property
    def items(self) -> Mapping[str, Sequence[Any]]:
        """See WorkPath."""
        return self.path.items(self.asked, self.contents)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """With the signatures of what was loaded; before the first start as they are planned."""
        return run_metrics(self.store, self.run.run_id) or self.path.planned(self)

    @property
    def fields(self) -> dict[str, SettingField]:
        """All fields that a remark on it may name."""
        return fields_named(self.kind)

    def claimed(self, run: Run) -> "RunAtHand":
        """The same run as the process that claimed it has it."""
        self.run = run
        return self

    def now(self) -> "RunAtHand":
        """The same run as it stands by now."""
        self.run = get_run(self.store, self.run.run_id)
        return self

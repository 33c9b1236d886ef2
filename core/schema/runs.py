"""What a kind of run is, one object that its own file exports; and what flows of runs: a job, its items, what its steps cost."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from core.schema.settings import Remark
from core.schema.settings import Settings as AnySettings

Work = Literal["generation", "scores", "judging", "audit"]
"""What a run of the kind does: it makes texts, computes metrics, has a judge score texts, or examines a judge."""
Reads = Literal["questions", "texts", "rated texts", "questions asked", "marked texts"]
"""What its file holds."""


@dataclass(frozen=True)
class PromptSlot:
    """A prompt that a run asks a model with."""

    purpose: str
    shipped: str
    """Name of the shipped prompt that is used unless another is chosen."""
    task: str | None = None
    """That its prompt has to be for; None: any."""
    instead: tuple[str, ...] = ()
    """Purposes of prompts that may take its place."""

    @property
    def purposes(self) -> tuple[str, ...]:
        """Purposes of prompts that may be sent, the usual one first."""
        return (self.purpose, *self.instead)

    def fits(self, purpose: str, task: str | None) -> bool:
        """Whether a prompt of this purpose, for this task, may be sent."""
        return purpose in self.purposes and task in (None, self.task)


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A YAML file that a kind's settings refer to, such as a rubric, kept whole with the run."""

    name: str
    """Of the field in the saved settings."""
    option: str
    label: str
    help: str
    usual: str
    """Name of the shipped file that is taken unless another is chosen."""
    find: Callable[[str], str]
    """The text of a file, by the name of a shipped one or a path. Raises InputError."""
    read: Callable[[str, str], Any]
    """What a text says, for (text, name of the file). Raises InputError."""
    dump: Callable[[Any], str]
    """Its text."""
    shipped: Callable[[], Sequence[Any]]
    """All that are shipped and can be used; each has a name and a title."""
    unusable: Callable[[], Sequence[str]]
    """A line for each shipped file that cannot be used."""
    sha256: Callable[[str], str] = lambda text: hashlib.sha256(text.encode()).hexdigest()
    """Of a text, as far as it changes a score."""


class KindSettings(AnySettings):
    """Settings of one kind of run, with what follows from them alone."""

    MODEL_FREE: ClassVar[bool] = False
    """Whether rules can do the work, if only as a stand-in or a baseline."""
    DRAWN: ClassVar[bool] = False
    """Whether something beside a model's answers is drawn with the seed."""

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """What a model is asked with; nothing where rules do all the work."""
        return ()

    def problems(self, backend: str) -> Iterator[Remark]:
        """What is wrong between settings, whatever the file holds."""
        yield from ()

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """What tells two runs of a kind by one model apart: the kind's name, and all that is not as usual."""
        return (name,)

    def named_whole(self, *, by_rules: bool) -> bool:
        """Whether that name is whole without the model's."""
        return False

    def settled(self) -> Self:
        """As they are kept: what depends on where the user stands, such as a path, made whole."""
        return self

    @property
    def needs(self) -> Literal["base", "neural"]:
        """The environment that has its libraries, whichever model is asked."""
        return "base"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of run."""

    name: str
    """In saved runs and files; never changes."""
    title: str
    """On pages."""
    summary: str
    """One sentence for a command's help and a page, without a full stop."""
    work: Work
    reads: Reads
    Settings: type[KindSettings]
    Running: type[AnySettings] | None = None
    """How its runs are worked on; None: as any run that asks a model."""
    does: str = "does the work"
    """What the backend does: "who judges"."""
    rules: str = ""
    """What rules do in the place of a model, as sentences for a page; empty where they cannot, or say it all by their
    name."""
    verb: str = ""
    """Of the command; empty: the name."""
    section: str = ""
    """Of the documentation that explains it."""
    attachment: Attachment | None = None
    reports: frozenset[str] = frozenset()
    """Result tables that can be made of its runs."""


RULES = "rules"
"""The name of the maker or the judge where no model was asked."""
RUN_FILE = "run.json"
"""What a run says of itself, in the folder that it writes."""
RunState = Literal["waiting", "running", "done", "cancelled", "stopped"]
ItemState = Literal["done", "failed", "again"]


@dataclass(frozen=True)
class Run:
    """A job over the items of a file: what was asked for and where it stands."""

    run_id: int
    kind: str
    """Name of a kind: see core.runs.kinds."""
    state: RunState
    """`stopped`: it could not go on, `message` says why. Anything but `done` can be resumed."""
    settings: dict[str, object]
    """What determines the results, prompts included, so that a run needs no file to be resumed."""
    running: dict[str, object]
    """How it is worked on: concurrency, time limits, prices, the name of the key's variable; never a key."""
    data_file: str
    data_sha256: str
    n_items: int
    """Items of the file."""
    limit: int | None
    """Only so many of the first items; None: all. Can be raised later."""
    created_utc: str
    app_version: str
    started_utc: str | None = None
    """Of the last start."""
    finished_utc: str | None = None
    beat_utc: str | None = None
    """When the process at work last said that it lives."""
    process: int | None = None
    """Number of that process."""
    cancel: bool = False
    """Somebody asked it to stop."""
    message: str = ""
    worked_seconds: float | None = 0.0
    """Time worked until the last start ended, over all starts; None: an older Assay did not note it."""
    start_seconds: float | None = None
    """Of the last start: until the model was loaded or the server reached; None: not yet, or it was not noted."""

    @property
    def n_wanted(self) -> int:
        """Items it works on: all, or the first `limit`."""
        return self.n_items if self.limit is None else min(self.limit, self.n_items)


@dataclass(frozen=True)
class RunItem:
    """What a run made of one item."""

    position: int
    """In the file, from 0."""
    item_id: str
    state: ItemState
    """`done`: it has a result; `failed`: it has none that is complete; `again`: the server's fault, tried again."""
    result: dict[str, object]
    """The item's record; also of a failed one, as far as it came."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of what failed, for the counters."""
    seconds: float = 0.0
    finished_utc: str = ""


@dataclass(frozen=True)
class StepCost:
    """What one step of a run cost, over all items."""

    step: str
    calls: int
    """Answered by the model, whether the answer was usable or not; of a scoring run: texts that were scored."""
    cached: int
    """Answered from the cache, or all their scores found there: they cost nothing."""
    unusable: int
    """Calls that gave no usable answer: cut off, refused, no connection, or not what the step had asked for."""
    input_tokens: int | None
    """Of the calls; None where the server counts none."""
    output_tokens: int | None
    seconds: float
    """Summed over calls, which ran side by side."""

"""Data types for runs: the kinds of run, and a run with its items and the cost of its steps.

Each kind is one object, exported by its own module.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

from core.schema.settings import Remark, setting
from core.schema.settings import Settings as AnySettings

Work = Literal["generation", "scores", "tables", "judging", "audit"]
"""What a run of this kind does: make texts, compute metrics (of a file, or of a big table in chunks), have a judge score
texts, or examine a judge."""
Engine = Literal["local", "ray"]
"""Where the work of a run is done: in its own process and its children, or on the machines of a Ray cluster."""
ENGINES: tuple[Engine, ...] = get_args(Engine)
Reads = Literal[
    "questions", "texts", "pairs", "rated texts", "questions asked", "marked texts", "pairs of levels"
]
"""Contents of the run's input file. `pairs`: texts of which a judge compares two at a time; `pairs of
levels`: two texts of an item and system, made to two levels."""


def engine_setting() -> Any:
    """Define the field `engine` of settings for processing a run."""
    return setting(
        "local",
        "Where it runs",
        "where the work is done: local, in processes of this machine; ray, on a Ray cluster",
        words={"local": "Processes of this machine", "ray": "Ray"},
        scored=False,
    )


def address_setting() -> Any:
    """Define the field `address` of settings for processing a run."""
    return setting(
        "",
        "Address of the Ray cluster",
        "ray: address of a running cluster, such as 10.0.0.1:6379; without it, the run starts one on this machine",
        metavar="HOST:PORT",
        words={"": "a cluster on this machine, for this run"},
        scored=False,
    )


@dataclass(frozen=True)
class PromptSlot:
    """A prompt that a run sends to a model."""

    purpose: str
    shipped: str
    """Name of the shipped prompt used by default."""
    task: str | None = None
    """Task that the prompt must be written for; None: any."""
    instead: tuple[str, ...] = ()
    """Purposes of prompts that may replace it."""

    @property
    def purposes(self) -> tuple[str, ...]:
        """Purposes of prompts that may be sent, the default first."""
        return (self.purpose, *self.instead)

    def fits(self, purpose: str, task: str | None) -> bool:
        """Whether a prompt of this purpose, for this task, may be sent."""
        return purpose in self.purposes and task in (None, self.task)


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A YAML file that a kind's settings refer to, such as a rubric. The run stores all of it."""

    name: str
    """Name of the field in the saved settings."""
    option: str
    label: str
    help: str
    usual: str
    """Name of the shipped file used by default."""
    find: Callable[[str], str]
    """Returns the text of a file, given the name of a shipped file or a path. Raises InputError."""
    read: Callable[[str, str], Any]
    """Parses (text, file name). Raises InputError."""
    dump: Callable[[Any], str]
    """Writes a parsed file as text."""
    shipped: Callable[[], Sequence[Any]]
    """Returns all usable shipped files; each has a name and a title."""
    unusable: Callable[[], Sequence[str]]
    """Returns one line for each shipped file that cannot be used."""
    sha256: Callable[[str], str] = lambda text: hashlib.sha256(text.encode()).hexdigest()
    """Hash of the parts of a text that can change a score."""


class KindSettings(AnySettings):
    """Settings of one kind of run, with everything that depends on them alone."""

    MODEL_FREE: ClassVar[bool] = False
    """Whether rules can do the work without a model, even as a stand-in or baseline."""
    DRAWN: ClassVar[bool] = False
    """Whether the seed draws anything apart from a model's answers."""

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """Prompts that are sent to a model; none if rules do all the work."""
        return ()

    def problems(self, backend: str) -> Iterator[Remark]:
        """Conflicts between settings, independent of the file."""
        yield from ()

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """Parts of the run's name: the kind's name and every setting that is not the default."""
        return (name,)

    def named_whole(self, *, by_rules: bool) -> bool:
        """Whether the run's name is complete without the model's name."""
        return False

    def settled(self) -> Self:
        """Settings as they are stored: paths made absolute."""
        return self

    @property
    def needs(self) -> Literal["base", "neural"]:
        """The environment with the required libraries, whichever model is used."""
        return "base"


class Kind:
    """A kind of run: a class with one instance, which holds nothing but what the class says."""

    name: str
    """Name in saved runs and files; never changes."""
    title: str
    """Title on pages."""
    summary: str
    """One sentence for a command's help and a page, without a full stop."""
    work: Work
    reads: Reads
    Settings: type[KindSettings]
    Running: type[AnySettings] | None = None
    """Settings for processing its runs; None: those of any run that asks a model."""
    does: str = "does the work"
    """What the backend does, completing the phrase "who ...", such as "judges"."""
    rules: str = ""
    """What rules do instead of a model, as sentences for a page; empty if they cannot work or their name explains it."""
    verb: str = ""
    """Verb of the command; empty: the name."""
    section: str = ""
    """Section of the documentation that explains it."""
    attachment: Attachment | None = None
    reports: frozenset[str] = frozenset()
    """Result tables that can be computed from its runs."""

    @property
    def by_metrics(self) -> bool:
        """Whether its runs compute metrics, of a file or of a big table: no model is asked and nothing is paid."""
        return self.work in ("scores", "tables")


RULES = "rules"
"""Name of the generator or judge that works without a model."""
RUN_FILE = "run.json"
"""The run's description of itself, in its output folder."""
RunState = Literal["waiting", "running", "done", "cancelled", "stopped", "awaiting"]
ItemState = Literal["done", "failed", "again"]


@dataclass(frozen=True)
class Run:
    """A job over the items of a file: what was requested, and its progress."""

    run_id: int
    kind: str
    """Name of a kind, see core.runs.kinds."""
    state: RunState
    """`stopped`: it could not continue, and `message` gives the reason. `awaiting`: requests wait for answers that people
    bring, and `message` says how. Any state but `done` can be resumed.
    """
    settings: dict[str, object]
    """Everything that determines the results, including prompts, so that a run can be resumed without files."""
    running: dict[str, object]
    """How it is processed: concurrency, time limits, prices, the name of the key's variable; never a key."""
    data_file: str
    data_sha256: str
    n_items: int
    """Number of items in the file."""
    limit: int | None
    """Only the first `limit` items; None: all. Can be raised later."""
    created_utc: str
    app_version: str
    started_utc: str | None = None
    """Time of the last start."""
    finished_utc: str | None = None
    beat_utc: str | None = None
    """Last sign of life from the working process."""
    process: int | None = None
    """Id of that process."""
    cancel: bool = False
    """Whether someone has asked it to stop."""
    message: str = ""
    worked_seconds: float = 0.0
    """Seconds worked over all starts, up to the end of the last one."""
    start_seconds: float | None = None
    """Seconds from the last start until the model was loaded or the server reached; None: not yet."""

    @property
    def created_minute(self) -> str:
        """When it was created, for tables: `2026-05-31 14:05`, in UTC."""
        return self.created_utc[:16].replace("T", " ")

    @property
    def n_wanted(self) -> int:
        """Number of items to process: all, or the first `limit`."""
        return self.n_items if self.limit is None else min(self.limit, self.n_items)


@dataclass(frozen=True)
class RunItem:
    """The result of a run for one item."""

    position: int
    """Position in the file, from 0."""
    item_id: str
    state: ItemState
    """`done`: complete result; `failed`: no complete result; `again`: the server failed, and the item will be retried."""
    result: dict[str, object]
    """The item's record; for a failed item, the partial record."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of each failure, for the counters."""
    seconds: float = 0.0
    finished_utc: str = ""


@dataclass(frozen=True)
class StepCost:
    """The cost of one step of a run, over all items."""

    step: str
    calls: int
    """Calls that the model answered, usable or not; in a scoring run, texts that were scored."""
    cached: int
    """Calls answered from the cache, or texts with all scores cached; they cost nothing."""
    unusable: int
    """Calls without a usable answer: cut off, refused, no connection, or not in the requested form."""
    input_tokens: int | None
    """Input tokens of the calls; None if the server does not count them."""
    output_tokens: int | None
    seconds: float
    """Summed over calls, which ran in parallel."""

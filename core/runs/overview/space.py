"""Disk and memory as tables: the database and the files beside it, the processes that use it, and warnings."""

from dataclasses import dataclass
from pathlib import Path

from core.runs.overview.machine import NOT_REPORTED, Memory, Process, Processes, memory_of_machine
from core.runs.progress import is_worked_on
from core.schema.result_table import Cell, Column, ResultTable
from core.store import Store
from core.store.beside import Orphan, orphans
from core.store.places import folders_of
from core.store.runs import list_runs
from core.store.upkeep import MB, Space, byte_size, space_of


@dataclass(frozen=True)
class House:
    """What the database, its files and its processes take now."""

    database: str
    space: Space
    orphans: tuple[Orphan, ...]
    """Folders beside the database that belong to no run."""
    processes: tuple[Process, ...]
    """Processes that have the database open; empty: see NOT_REPORTED."""
    memory: Memory | None
    """None: see NOT_REPORTED."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what needs the owner."""
        found = []
        space = self.space
        if space.is_little:
            found.append(
                f"Little space is left: {byte_size(space.free)}. A backup or an update needs room for a copy of the database "
                f"({byte_size(space.database)})."
            )
        if self.memory is not None and self.memory.available < self.memory.total / 10:
            found.append(
                f"Little memory is left: {byte_size(self.memory.available)} of {byte_size(self.memory.total)}."
            )
        if self.orphans:
            names = ", ".join(f"run-{one.run_id}" for one in self.orphans[:5])
            more = f" and {len(self.orphans) - 5} more" if len(self.orphans) > 5 else ""
            found.append(
                f"{folders_of(Path(self.database)).name} contains folders that belong to no run of this database: {names}{more} "
                f"({byte_size(sum(one.n_bytes for one in self.orphans))}). They may belong to a database that had this name "
                "before. Delete them by hand if nobody needs them."
            )
        return tuple(found)


def house_of(store: Store) -> House:
    """Read it: sizes of files, and the processes of this machine."""
    working = [run for run in list_runs(store) if is_worked_on(run)]
    return House(
        store.path.name,
        space_of(store),
        tuple(orphans(store)),
        tuple(Processes().using(store.path, working)),
        memory_of_machine(),
    )


def space_table(house: House, *, warned: bool = True) -> ResultTable:
    """The database and the files beside it, in megabytes (1 MB is 1,000,000 bytes). warned: whether warnings are its notes."""
    space, name = house.space, house.database
    rows: list[tuple[Cell, ...]] = [
        (name, space.database / MB, "studies, runs, caches and uploaded files"),
        (
            "unused space in it",
            space.unused / MB,
            "free pages, which new data fill and compacting gives back",
        ),
        (
            "uploaded files in it",
            space.uploaded / MB,
            f"{space.n_uploaded:,} of the page Metrics; delete them there",
        ),
        (f"{name}-wal", space.log / MB, "newest changes; part of the database"),
        (
            folders_of(Path(name)).name,
            space.folders / MB,
            "big tables and batch files of runs; deleted with them",
        ),
        *(
            (one, size / MB, "copy before an update or a restore; yours to delete")
            for one, size in space.copies
        ),
        *((one, size / MB, "zip file, such as a backup") for one, size in space.archives),
        ("free on the disk", space.free / MB, ""),
    ]
    columns = (Column("what", names_row=True), Column("mb", "MB", places=1), Column("note", "what it is"))
    return ResultTable("space", columns, tuple(rows), notes=house.warnings if warned else ())


def memory_table(house: House) -> ResultTable:
    """The processes that have the database open, with their memory in megabytes."""
    columns = (
        Column("process", names_row=True),
        Column("does"),
        Column("memory_mb", "memory, MB", places=0),
    )
    notes = [
        "Processes that have the database open now. Memory includes child processes; shared pages count for each of them."
    ]
    if house.memory is None:
        notes = [f"Unknown: {NOT_REPORTED}."]
    rows = [
        (str(one.number), one.does if one.run_id is None else f"run {one.run_id}", one.n_bytes / MB)
        for one in house.processes
    ]
    if house.memory is not None:
        rows.append(("this machine", "in use", (house.memory.total - house.memory.available) / MB))
        rows.append(("this machine", "available", house.memory.available / MB))
    return ResultTable("memory", columns, tuple(rows), notes=tuple(notes))


def house_json(house: House) -> dict[str, object]:
    """Sizes in bytes, for `--json`."""
    space = house.space
    return {
        "database": space.database,
        "unused": space.unused,
        "log": space.log,
        "folders": space.folders,
        "uploaded": space.uploaded,
        "copies": [{"name": name, "bytes": size} for name, size in space.copies],
        "archives": [{"name": name, "bytes": size} for name, size in space.archives],
        "free": space.free,
        "warnings": list(house.warnings),
        "processes": [
            {"process": one.number, "does": one.does, "run": one.run_id, "bytes": one.n_bytes}
            for one in house.processes
        ],
        "memory": None
        if house.memory is None
        else {"total": house.memory.total, "available": house.memory.available},
    }

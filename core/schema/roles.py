"""The meaning of a table's columns: who rated, who judged, what a row is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Roles:
    """The meaning of a table's columns for a comparison of judges with people."""

    human: tuple[str, ...] = ()
    """Columns of people's ratings; of a long table, names in the column of raters."""
    judges: tuple[str, ...] = ()
    """Columns of judges' scores; of a long table also names in the column of raters."""
    item: str | None = None
    system: str | None = None
    language: str | None = None
    level: str | None = None
    rater: str | None = None
    """Column of a long table that names who rated; None of a wide table."""
    score: str | None = None
    """Column of a long table with the ratings."""
    dimension: str | None = None
    texts: tuple[str, ...] = ()
    """Columns with texts, such as the question and the answer."""
    groups: tuple[str, ...] = ()
    """Further columns with few different words, by which results may be grouped."""
    others: tuple[str, ...] = ()
    """Columns that are not used."""
    candidates: tuple[str, ...] = ()
    """Columns that look like ratings but have no role."""
    why: Mapping[str, str] = field(default_factory=dict)
    """Column or rater -> why it has its role, or why it has none."""
    problems: tuple[str, ...] = ()
    """What is undecided; empty if a panel can be read."""
    people_alone: bool = False
    """Whether no judge was wanted."""
    judges_alone: bool = False
    """Whether the table is wanted for its judges: people's ratings are elsewhere."""
    read_as: Mapping[str, str] = field(default_factory=dict)
    """Column -> Assay's name, for all columns that are read under one."""

    @property
    def long(self) -> bool:
        """Whether the table has a row for each rating."""
        return self.rater is not None

    @property
    def lacks_judge_alone(self) -> bool:
        """Whether several people are found, and who the judge is is all that is undecided."""
        undecided = [problem for problem in self.problems if not problem.startswith("judge:")]
        return len(self.human) > 1 and not self.judges and bool(self.problems) and not undecided

    def renamed(self, names: Mapping[str, str]) -> "Roles":
        """The roles with columns under other names, e.g. as the file had them before `--columns`."""

        def one(name: str | None) -> str | None:
            return None if name is None else names.get(name, name)

        def each(given: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(names.get(name, name) for name in given)

        return replace(
            self,
            human=each(self.human),
            judges=each(self.judges),
            texts=each(self.texts),
            groups=each(self.groups),
            others=each(self.others),
            candidates=each(self.candidates),
            why={names.get(name, name): why for name, why in self.why.items()},
            read_as={names.get(name, name): role for name, role in self.read_as.items()},
            item=one(self.item),
            system=one(self.system),
            language=one(self.language),
            level=one(self.level),
            rater=one(self.rater),
            score=one(self.score),
            dimension=one(self.dimension),
        )

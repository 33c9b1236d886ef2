"""A question that may be asked of numbers, declared once for every door: command, notebook, page, files, documentation.

An analysis is a module of `core.analyses` that exports an `Analysis` and imports only `core.schema` at its top; what
computes is imported when it computes. Everything else is read from the declaration: the command's options and help, the
function of `import assay`, the part of a page, JSON, every format of a table, and docs/results.md.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from core.schema.figures import AnyFigure
from core.schema.result_table import ResultTable
from core.schema.rows import result_json, table_of
from core.schema.settings import LARGEST_SEED, Remark, Settings, refuse, setting

Taken = Literal[
    "panel",
    "people",
    "study",
    "study_texts",
    "scores",
    "judged",
    "levels",
    "sure",
    "ratings",
    "marks",
    "marks_by_rater",
    "judges",
    "answers",
    "marking",
    "taught",
    "aligned",
    "table",
    "sides",
    "quality",
    "rated",
    "judge",
    "costs",
    "two_scores",
    "tried",
    "pilot",
    "standing",
    "voted",
    "look",
    "part",
    "table_on_disk",
    "dossier",
    "earlier",
]  # fmt: skip
"""Kinds of data that an analysis may need. Each door opens each of them in one place.

panel: raters and judges of the same texts, side by side.
people: raters alone; columns and metrics of judges are nobody's.
study: everything said in an unblinded study.
study_texts: a study's texts, whatever its state, without what raters said (`core.schema.study.StudyTexts`).
scores: tables of scores, from one source or several.
judged: the same with the records of judges behind them, and their texts (`core.schema.panel.JudgedTables`).
levels: scores of texts of known levels, with all that is known about the texts (`core.results.judges.made_levels.ScoredLevels`).
sure: a panel with a judge's verdicts and how sure it is of each (`core.results.check.sureness.SurePanel`).
ratings: those of single texts, or an unblinded study whose raters vote on pairs.
marks: errors that people and judges marked.
marks_by_rater: the same with the name of each person, perhaps without judges.
table: the chosen texts and metrics of one table of scores.
sides: correlations of metrics, or scores to correlate, with people and with known quality.
quality: the same, beside the quality of the texts, which people rated or a level states.
rated: ratings of texts on any dimensions, and each evaluator's scores of them in a table of its own.
judge: all that a judge's run recorded.
judges: the same of several runs.
answers: each model's answers to questions of several.
marking: judges that mark errors, with the rated texts that they read (`core.schema.scores.MarkingJudges`).
taught: errors that people marked, and runs of judges with their examples.
aligned: errors that people marked, beside the mismatches of a cross-examination (`core.judges.alignment.MarkedText`).
costs: what the runs of judges cost.
two_scores: two tables of scores, with their texts where a run knows them.
tried: runs of one kind of judge with several prompts or models, and people beside them.
pilot: variance components of votes, or None.
standing: the design of a study of pairs and how far it has come, without what raters chose, or None.
voted: everything said in an unblinded study of the texts that a judge read, or None.
look: what a look at a running study shows; opening it lets questions enter and is logged.
part: an unblinded study, whole or what filters select of it.
table_on_disk: a run over a table too big for memory.
dossier: a panel with all that is known about its judges and texts, in which columns are found.
earlier: the JSON of an earlier result, or None.
"""
Tell = Callable[[str], object]
"""Called with what is being done, for people who wait."""


def _quiet(_doing: str) -> None:
    """Tell nobody."""


Coefficient = Literal["pearson", "spearman", "kendall"]
"""Coefficients of correlation. Kendall's is tau-b."""
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
COEFFICIENT_WORDS: Mapping[str, str] = {name: name.capitalize() for name in COEFFICIENTS}
"""Their names on a page."""
RatersUsed = Literal["averaged", "kept"]
"""averaged: one mean rating for each text; kept: every rating."""
RepeatedRatings = Literal["refuse", "first", "last", "mean"]
"""Which of several ratings of a text by one rater counts; refuse: none, as it may be a mistake."""
REFUSE: RepeatedRatings = "refuse"


class _Raters(Settings):
    human: tuple[str, ...] | None = setting(
        None,
        "Raters",
        "raters: columns of a wide table, or names in the column rater (default: those named like people; in the column "
        "rater all that are not judges)",
        listed=True,
        metavar="NAME,...",
    )


class _Judges(Settings):
    judge: tuple[str, ...] | None = setting(
        None,
        "Judges",
        "judges: columns of FILE, names in its column rater, or metrics of JUDGE (default: all metrics of JUDGE; without "
        "one, what is named like a judge)",
        listed=True,
        metavar="NAME,...",
    )


class _OnDimension(Settings):
    dimension: str | None = setting(
        None,
        "Dimension",
        "which dimension of the ratings to use (default: the only one)",
        metavar="D",
    )


class _OnScale(Settings):
    scale: str | None = setting(
        None,
        "Scale",
        "scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed from the "
        "ratings, and shown)",
        metavar="KIND|LOW-HIGH",
    )
    classes: tuple[str, ...] | None = setting(
        None,
        "Classes",
        "all classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale in any order",
        listed=True,
        metavar="CLASS,...",
    )
    missing: tuple[str, ...] | None = setting(
        None,
        "Missing",
        "cells that are no rating and no score, such as unsure,#N/A; empty cells always are",
        listed=True,
        metavar="WORD,...",
    )


class _ByRow(Settings):
    system_column: str | None = setting(
        None,
        "System column",
        "column of FILE that names the system (default: system or a usual name of it)",
        metavar="COLUMN",
    )
    item: str | None = setting(
        None,
        "Item",
        "what an item is, the unit of intervals: a column of FILE whose rows belong together if they have the same value, or "
        "row (default: the id; where ids do not repeat, a question or source that does)",
        metavar="COLUMN|row",
    )
    repeated: RepeatedRatings = setting(
        REFUSE,
        "Repeated ratings",
        "which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is refused",
        folded=True,
    )


# Fields are in the order of the last base to the first.
class PeopleChoice(_ByRow, _OnScale, _OnDimension, _Raters):
    """Who rated, and on which scale: the names by which every door chooses people alone."""


class PanelChoice(_ByRow, _OnScale, _OnDimension, _Judges, _Raters):
    """Who is who in a panel, and the raters' scale: the names by which every door chooses them."""


class MarkingChoice(Settings):
    """Which texts the judges read."""

    rated: str | None = setting(
        None,
        "Rated texts",
        "the rated texts: rated JSONL, an mt-metrics-eval folder, or an unblinded study (default: those of the first run:N)",
        metavar="PATH|study:NAME",
    )


class SureChoice(PanelChoice):
    """Who is who in a panel, and how sure the judge is."""

    confidence: str | None = setting(
        None,
        "Confidence",
        "column with the judge's confidence, larger is surer; or repeats (share of equal answers of a run), judges (share of several "
        "judges with the majority's verdict) or margin (distance of the pair's margin from where the vote changes) (default: what the "
        "inputs have)",
        metavar="COLUMN",
    )
    cut: float | None = setting(
        None,
        "Better class from the score",
        "for numeric scores and two classes: scores from here on are the better class, and the distance from it is the confidence. "
        "Choose it without looking at labels",
        metavar="X",
    )


class LevelsChoice(Settings):
    """Which scores of texts at levels."""

    metric: str | None = setting(
        None, "Scores", "column of scores (default: the first)", metavar="NAME", words={"": "the first"}
    )


class EarlierChoice(Settings):
    """Whether there is an earlier result."""

    against: str | None = setting(
        None,
        "Earlier result",
        "JSON of an earlier check: says whether the judge, the systems or the raters changed; changes no exit status",
        metavar="EARLIER.json",
    )


class _Pilot(Settings):
    pilot: str | None = setting(
        None,
        "Pilot",
        "variance components: of an unblinded study, or of a CSV file (then give the levels, too; default: from assumptions)",
        metavar="study:NAME|FILE",
    )


class _Standing(Settings):
    study: str | None = setting(
        None,
        "Study",
        "a study of pairs: plan with its margin, confidence level, score and levels, and show what it has reached",
        metavar="NAME",
    )


class _Voted(Settings):
    study: str | None = setting(
        None,
        "Study",
        "an unblinded study of the same pairs, or a bundle: compare agreement with its raters and among them",
        metavar="NAME",
    )


class _Part(Settings):
    levels: tuple[str, ...] | None = setting(
        None,
        "Levels",
        "levels, e.g. A1-A4, A1,A3 or all (default: those of the main analysis). Any filter makes the result exploratory",
        listed=True,
        metavar="A1-A4",
    )
    raters: tuple[str, ...] | None = setting(
        None, "Raters", "raters to include (default: all who have answered)", listed=True, metavar="A,B"
    )
    questions: tuple[str, ...] | None = setting(
        None, "Questions", "questions to include (default: all)", listed=True, metavar="ID,ID"
    )
    languages: tuple[str, ...] | None = setting(
        None, "Languages", "languages to include (default: all)", listed=True, metavar="en,ja"
    )


class ScoresChoice(Settings):
    """Which texts and metrics of a table of scores count, and how: the names by which every door chooses them."""

    leave_out: tuple[str, ...] | None = setting(
        None,
        "Leave out",
        "leave texts out, e.g. system=Human, item=q7, language=de or a label",
        metavar="COLUMN=VALUE",
    )
    direction: tuple[str, ...] | None = setting(
        None,
        "Direction",
        "whether low or high scores of a metric are better, e.g. BaryScore-W=lower for a distance",
        metavar="METRIC=lower|higher",
    )


class UseOfRatings(Settings):
    """How ratings beside scores are used."""

    dimension: tuple[str, ...] | None = setting(
        None,
        "Dimension",
        "which dimensions of the ratings to use (default: the only one); several are used one by one and as a mean for each text",
        listed=True,
        metavar="D,...",
    )
    raters: RatersUsed = setting(
        "averaged",
        "Several ratings of one text",
        "use one mean rating for each text, or every rating",
        words={"averaged": "averaged: one mean per text", "kept": "kept: one row per rating"},
    )
    z_normalise: bool = setting(
        False,
        "On each rater's own scale",
        "standardise each rater's ratings: subtract the rater's mean, divide by the SD",
    )


class _Target(Settings):
    with_: Literal["level", "human"] | None = setting(
        None,
        "Against",
        "correlate with the negative damage level, or with human ratings",
        option="with",
    )


class SidesChoice(ScoresChoice, UseOfRatings):
    """How ratings are used beside scores, and which texts and metrics count."""


class QualityChoice(ScoresChoice, UseOfRatings, _Target):
    """What states the quality of texts, how ratings are used, and which texts and metrics count."""


class _Asked(Settings):
    task: str | None = setting(
        None,
        "Task",
        "task with the classes to choose from (default: that of the study or judge, else guessed from the ratings)",
        metavar="NAME|FILE",
    )


class _Twin(Settings):
    shuffled: str | None = setting(
        None,
        "Run with shuffled words",
        "a run of the first JUDGE on texts with shuffled words; shows how often its scores drop",
        metavar="DIR|run:N",
    )


class RatedChoice(_Twin, _OnScale, _Asked):
    """What raters could choose from, and a judge's run on shuffled words."""


class TriedChoice(Settings):
    """Which scores of judges are compared with which ratings, and what their models cost."""

    dimension: str | None = setting(
        None,
        "Dimension",
        "which dimension of the ratings to use (default: the only one)",
        metavar="D",
    )
    component: str | None = setting(
        None,
        "Score to compare",
        "column to compare where a judge has several, such as f1 or coverage (default: its first)",
        metavar="NAME",
    )
    input_price_of: dict[str, float] = setting(
        {},
        "Input prices",
        "price of a million input tokens of one model, in place of that of its run; may be repeated",
        at_least=0,
        metavar="MODEL=MONEY",
    )
    output_price_of: dict[str, float] = setting(
        {},
        "Output prices",
        "price of a million output tokens of one model, in place of that of its run; may be repeated",
        at_least=0,
        metavar="MODEL=MONEY",
    )

    @property
    def prices(self) -> dict[str, tuple[float | None, float | None]]:
        """Model -> price of a million input tokens and of a million output tokens; None: as its run states."""
        models = dict.fromkeys([*self.input_price_of, *self.output_price_of])
        return {one: (self.input_price_of.get(one), self.output_price_of.get(one)) for one in models}


class _NoChoice(Settings):
    """Nothing: the data say all that they are."""


CHOICES: Mapping[Taken, type[Settings]] = {
    "panel": PanelChoice,
    "people": PeopleChoice,
    "study": _NoChoice,
    "study_texts": _NoChoice,
    "scores": _NoChoice,
    "judged": _NoChoice,
    "levels": LevelsChoice,
    "sure": SureChoice,
    "judges": _NoChoice,
    "answers": _NoChoice,
    "marking": MarkingChoice,
    "taught": _NoChoice,
    "aligned": _NoChoice,
    "ratings": _NoChoice,
    "marks": _NoChoice,
    "marks_by_rater": _NoChoice,
    "pilot": _Pilot,
    "standing": _Standing,
    "voted": _Voted,
    "look": _NoChoice,
    "part": _Part,
    "table": ScoresChoice,
    "quality": QualityChoice,
    "rated": RatedChoice,
    "judge": _NoChoice,
    "costs": _NoChoice,
    "two_scores": _NoChoice,
    "tried": TriedChoice,
    "table_on_disk": _NoChoice,
    "dossier": PanelChoice,
    "earlier": EarlierChoice,
    "sides": SidesChoice,
}
"""Kind of data -> the names that a problem with it may mention."""


def resamples_setting(usual: int, of: str = "number of bootstrap resamples", *, fewest: int = 0) -> Any:
    """Declare `n_resamples`. fewest: 0 where intervals can be left out."""
    return setting(usual, "Resamples", of, at_least=fewest, option="resamples", folded=True)


def confidence_setting() -> Any:
    """Declare `confidence_level`."""
    return setting(
        0.95,
        "Confidence level",
        "confidence level of intervals",
        above=0,
        below=1,
        option="confidence",
        step=0.01,
        folded=True,
    )


def rng_setting() -> Any:
    """Declare `rng`, the seed of all that is drawn."""
    return setting(0, "Seed", "seed of all resampling", within=(0, LARGEST_SEED), option="seed", folded=True)


class Caution(str):
    """A sentence that says why numbers mislead. Pages draw it as a warning; other doors say it as any other sentence."""

    __slots__ = ()


@dataclass(frozen=True)
class Verdict:
    """What an analysis answers about one thing."""

    code: str
    """For programs: one of the analysis's codes, never a sentence."""
    sentence: str
    """A Caution if somebody must act on it before the numbers count."""
    status: int = 0
    """Exit status of the command: 0, or from 3 on, the gravest first; 2 is that of mistakes."""
    reason: str = ""
    """Why there is no answer; empty if there is one."""
    word: str = ""
    """The answer in a word or two, such as `TRUSTED`; empty if it has none."""


Found = TypeVar("Found")
Chosen = TypeVar("Chosen", bound=Settings)


def _none(_found: Any) -> tuple[Any, ...]:
    return ()


def _never(_found: Any) -> bool:
    return False


def _always(*_data: Any) -> bool:
    return True


def _all_fit(*_given: Any) -> tuple[Remark, ...]:
    return ()


def _nothing_said(*_given: Any) -> str:
    return ""


def _no_changes(_found: Any) -> Mapping[str, Mapping[str, Any]]:
    return {}


@dataclass(frozen=True)
class Table(Generic[Found]):
    """A table of a result: which rows it has, and what is said about them."""

    name: str
    """Of its files, in lower case with hyphens. The first table of a new analysis has the analysis's name."""
    row: type
    """The type of its rows; see core.schema.rows."""
    rows: Callable[[Found], Sequence[object] | None]
    """None: this result has no such table."""
    title: str
    question: str = ""
    """What it answers, below its heading on a page."""
    notes: Callable[[Found], tuple[str, ...]] = _none
    hidden: Callable[[Found], Collection[str]] = _none
    """Names of columns that this result's readers need not see; files have them."""
    shaped: Callable[[Found], Mapping[str, Mapping[str, Any]]] = _no_changes
    """Name of a column -> what of the column is different in this result, such as its title or whether it is a percentage."""
    heading: Callable[[Found], str] | None = None
    """Its title in this result, where that names what is in it; None: `title`."""
    most_printed: int | None = None
    """Rows up to which a terminal prints it; None: it always does; 0: only files have it. A main table that depends on the
    result is always printed."""
    most_on_page: int | None = None
    """Rows of it that a page shows, the first ones; None: all. Its downloads always have all."""
    apart: bool = False
    """Whether a file that holds several tables leaves it out, because it lists texts and what people said of each."""
    on_request: Callable[[Found], bool] = _never
    """Whether this result has it only where a user names it, as in `--table`."""
    lacking: Callable[[Found], str] = _nothing_said
    """Why this result has no such table, for who names it."""
    asked_by: str = ""
    """The option that asks for it: who names the table asks, too."""
    marked: Callable[[Found], Collection[object]] = _none
    """Rows that the answer is about, which a page marks."""
    mark: str = ""
    """What the marked rows are, such as `the fewest votes`."""
    section: str = ""
    """Where docs/ explain it, if that is not where they explain the analysis: `statistics#ties`."""

    def of(
        self, result: Found, rows: Sequence[object] | None = None, notes: tuple[str, ...] | None = None
    ) -> ResultTable:
        """The table of a result that has it. rows, notes: in place of its own."""
        return table_of(
            *(self.name, self.row, (self.rows(result) or ()) if rows is None else rows),
            title=self.title if self.heading is None else self.heading(result),
            notes=self.notes(result) if notes is None else notes,
            hidden=self.hidden(result),
            shaped=self.shaped(result),
            marked=self.marked(result),
            mark=self.mark,
        )

    @property
    def waits(self) -> bool:
        """Whether no result has it before its option has a value, which naming the table does not tell."""
        return bool(self.asked_by) and self.on_request is _never

    def within(self, part: Callable[[Any], Any], most_printed: int | None = None) -> "Table[Any]":
        """Return the table of a result that is a part of another one. part: returns it; None: the other result lacks it."""

        def of_part(says: Callable[[Any], Any], nothing: Any) -> Callable[[Any], Any]:
            return lambda whole: nothing if (inner := part(whole)) is None else says(inner)

        return replace(
            self,
            rows=of_part(self.rows, None),
            heading=None if self.heading is None else of_part(self.heading, ""),
            notes=of_part(self.notes, ()),
            hidden=of_part(self.hidden, ()),
            shaped=of_part(self.shaped, {}),
            marked=of_part(self.marked, ()),
            on_request=self.on_request if self.on_request is _never else of_part(self.on_request, False),
            lacking=of_part(self.lacking, ""),
            most_printed=self.most_printed if most_printed is None else most_printed,
        )


@dataclass(frozen=True)
class Analysis(Generic[Chosen, Found]):
    """A question, what it needs, how it is answered, and what the answer looks like."""

    name: str
    """In lower case with hyphens; with underscores that of its function. Its command has it, too, unless its line in the
    register says another."""
    title: str
    question: str
    """In one sentence, as a user would ask it."""
    Options: type[Chosen]
    Result: type[Found]
    """A frozen dataclass of entries; see core.schema.rows."""
    takes: tuple[Taken, ...]
    """The data that it needs, in the order in which `compute` takes them."""
    compute: Callable[..., Found]
    """`compute(options, *data, tell=...)` returns the result.

    Raises SettingsError with all problems, which name fields of the options or of CHOICES.
    """
    verdicts: Callable[[Found], tuple[Verdict, ...]]
    """One for each thing that is judged."""
    tables: tuple[Table[Found], ...]
    """The main one first."""
    section: str
    """Where docs/ explain it: `inference#alt-test`."""
    misleads: str
    """When its numbers mislead, and what to read beside them."""
    example: str
    """Lines of a doctest, for the docstring of its function."""
    workload: Callable[..., str] = _nothing_said
    """How much there is to do, where that takes long; empty: it does not. It takes what `compute` takes."""
    in_use: Callable[..., Mapping[str, object]] | None = None
    """What stands in place of options that are empty, for pages, which show it where the option is: `in_use(given, *data)` takes
    those that have a value, and the data. None: what the options say is all. It must not take long."""
    sentences: Callable[[Found], tuple[str, ...]] = _none
    """What is said after the verdicts; a Caution where it says why numbers mislead."""
    all_sentences: Callable[[Found], tuple[str, ...]] | None = None
    """All that is said in its order, the verdicts' sentences among it; None: the verdicts, then `sentences`."""
    figures: Callable[[Found], tuple[AnyFigure, ...]] = _none
    json: Callable[[Found], Any] = result_json
    """Its JSON, where that is not the result as its rows declare it; `documented` still describes it."""
    codes: Mapping[str, str] = field(default_factory=dict)
    """Code of a verdict -> what it means."""
    main: Callable[[Found], str] | None = None
    """The name of the main table, where that depends on the result; None: it is the first one."""
    one_judge: bool = False
    """Whether it answers about a single judge, so that a page asks which."""
    fits: Callable[..., bool] = _always
    """Whether it answers about these data, where `others` answer about some."""
    others: "tuple[Analysis[Any, Any], ...]" = ()
    """The same question with the same options, of data of another kind: their results, tables and JSON are others."""
    unfit: Callable[[Chosen, Mapping[str, object]], Sequence[Remark]] = _all_fit
    """What of the options does not fit the data that are chosen; a command tells it before it opens them.

    It takes the options, as they were typed where some are wrong, and what is known of the data by then: by the names of CHOICES,
    and `several`, whether there are several of a kind.
    """
    refuses: str = ""
    """Data that it refuses, for the docstring of its function: `With fewer than two raters.`"""

    @property
    def function(self) -> str:
        """The name of its function in `import assay`."""
        return self.name.replace("-", "_")

    def answer(self, options: Chosen, *data: Any, tell: Tell = _quiet) -> "Answer":
        """Compute. data: in the order of `takes`. Raises SettingsError with all problems."""
        asked = next((one for one in (self, *self.others) if one.fits(*data)), self)
        return Answer(asked, options, asked.compute(options, *data, tell=tell))

    @property
    def all_codes(self) -> Mapping[str, str]:
        """Code of a verdict -> what it means, also of the data that others answer about."""
        further = {code: about for one in self.others for code, about in one.codes.items()}
        return {**self.codes, **further, **self.codes}

    @property
    def refusal(self) -> str:
        """The beginning of a message with problems."""
        return f"{self.title} cannot be computed"

    def problem_fields(self) -> tuple[type[Settings], ...]:
        """The settings whose fields a problem may name."""
        return (self.Options, *(CHOICES[one] for one in self.takes))

    def refuse(self, problems: Sequence[Remark]) -> None:
        """Raise SettingsError with all problems, if there are any."""
        refuse(problems, *self.problem_fields(), what=self.refusal)


@dataclass(frozen=True)
class Answer:
    """A result with everything that doors show of it."""

    analysis: Analysis[Any, Any]
    options: Settings
    result: Any

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is answered, one for each thing that is judged."""
        return self.analysis.verdicts(self.result)

    @property
    def verdict(self) -> str:
        """All verdicts in one line, in a word where they have one."""
        return " ".join(one.word or one.sentence for one in self.verdicts)

    @property
    def status(self) -> int:
        """Exit status of the command: the lowest of the verdicts that is not 0, because the gravest has the lowest."""
        return min((one.status for one in self.verdicts if one.status), default=0)

    @property
    def all_sentences(self) -> tuple[str, ...]:
        """The verdicts' sentences, and what is said beside them."""
        if self.analysis.all_sentences is not None:
            return self.analysis.all_sentences(self.result)
        return (*(one.sentence for one in self.verdicts), *self.analysis.sentences(self.result))

    @cached_property
    def tables(self) -> dict[str, ResultTable]:
        """Name -> table, the main one first; without those that this result does not have, or only on request."""
        there = {
            one.name: table
            for one in self.analysis.tables
            if not one.on_request(self.result) and (table := self._made(one)) is not None
        }
        main = self.analysis.main
        return there if main is None else {name: there[name] for name in (main(self.result),)} | there

    @property
    def in_files(self) -> tuple[ResultTable, ...]:
        """The tables that a file of all tables has beside the printed ones."""
        apart = {one.name for one in self.analysis.tables if one.apart}
        return tuple(one for one in self.tables.values() if one not in self.printed and one.name not in apart)

    def requested(self, name: str) -> ResultTable | None:
        """The table of this name, also one that is there on request; None: this result has none."""
        if name in self.tables:
            return self.tables[name]
        return next((self._made(one) for one in self.analysis.tables if one.name == name), None)

    def lacking(self, name: str) -> str:
        """Why this result has no table of this name; empty where nothing more is to be said."""
        return next((one.lacking(self.result) for one in self.analysis.tables if one.name == name), "")

    def _made(self, one: Table[Any]) -> ResultTable | None:
        rows = one.rows(self.result)
        return None if rows is None else one.of(self.result, rows)

    def table(self, name: str, rows: Sequence[object], notes: tuple[str, ...] = ()) -> ResultTable:
        """A table of the analysis with other rows, such as those that a page selects. Raises KeyError for an unknown name."""
        return {one.name: one for one in self.analysis.tables}[name].of(self.result, rows, notes)

    @property
    def printed(self) -> tuple[ResultTable, ...]:
        """The tables that a terminal shows; files have all."""
        most = {one.name: one.most_printed for one in self.analysis.tables}
        if self.analysis.main is not None:
            most[self.analysis.main(self.result)] = None
        return tuple(
            table
            for name, table in self.tables.items()
            if (limit := most[name]) is None or 0 < len(table.rows) <= limit
        )

    @cached_property
    def figures(self) -> dict[str, AnyFigure]:
        """Name of a table -> the figure that draws it. Raises ValueError for a figure that no door would show."""
        figures: dict[str, AnyFigure] = {}
        for figure in self.analysis.figures(self.result):
            if figure.table in figures or figure.table not in self.tables:
                many = "two figures" if figure.table in figures else "no table for the figure"
                raise ValueError(f"{self.analysis.name}: {many} of {figure.table}")
            figures[figure.table] = figure
        return figures

    @cached_property
    def json(self) -> Any:
        """The documented JSON."""
        return self.analysis.json(self.result)

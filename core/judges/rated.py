"""What judges share that people's ratings may stand behind: a task, other systems' rated texts as examples, and checks.

A task says what is asked of every text, of raters and judges alike. The judged system's own texts are never examples.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator

from core.datasets.open_tables import LABEL_PAIR
from core.datasets.reading import sha256_of, shown
from core.datasets.task_files import dump_task, find_task, parse_task, shipped_tasks, unusable_tasks
from core.errors import InputError
from core.judges.examples import MERGED, ExamplePool, ExamplesFrom, ExampleUsed, ShownExample
from core.judges.kind import SHORT_SHA, Bench, Compared, JudgeSettings, repeats_setting
from core.judges.numbered import in_a_line
from core.judges.record_checks import bound_problems
from core.llm.defusing import defused
from core.llm.prompts import Prompt
from core.schema.kinds import Attachment
from core.schema.rated import RatedSet, RatedText
from core.schema.scores import ScorableOutput
from core.schema.settings import About, Remark, SettingField, refuse, seed_setting, setting
from core.schema.tasks import Dimension, RatingTask

MOST_EXAMPLES = 1000
"""Rated texts that one prompt may show."""
MOST_ERRORS = 10**6
"""That one example can show."""
MOST_NAMED = 10
"""Systems, raters or dimensions that a message names."""
NOTHING = "(none)"
"""Stands for a source, or a language, that is not known."""
SCORE_COLUMNS = ("what", "dimension", "repeat", "score", "examples", "why", "reason")
"""Of details.csv, for judges that give scores. examples: texts that the judge was shown."""
BESIDE_SETTINGS = (
    SettingField("task", About("Task", "what is asked of every text"), "text", ""),
    SettingField("ratings", About("Ratings", "what people said of the texts"), "texts", ()),
)
"""What problems name that is no setting of these judges."""
NOT_JUDGED = "{n} texts of other systems are not judged"
ADD_RATINGS = "add {ratings}, or choose a file that has them"
_CHOOSING = ("n_examples", "filtered", "rater")
"""Fields that say which examples are shown, where some are."""
Systems = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(dict.fromkeys(names)))]
"""Names of systems, each once."""


class RatedSettings(JudgeSettings):
    """Settings of a judge that people's ratings may stand behind. Examples and items held out are drawn."""

    DRAWN: ClassVar[bool] = True
    if TYPE_CHECKING:
        # Each judge declares its fields, because saved runs and signatures have them in an order of its own.
        seed: int

    @property
    def compares_with(self) -> Compared:
        """See JudgeSettings."""
        return "source"


class ExampleSettings(RatedSettings):
    """Settings of a judge that is shown other systems' rated texts."""

    if TYPE_CHECKING:
        examples: ExamplesFrom
        n_examples: int
        rater: str
        only: Systems
        repeats: int
        temperature: float | None

    @property
    def shows_examples(self) -> bool:
        """See JudgeSettings."""
        return self.examples != "none"

    def judges(self, text: RatedText) -> bool:
        """The texts of all systems, or of those that are named."""
        return not self.only or text.output.system in self.only

    def remarks(self, *, by_rules: bool) -> Iterator[Remark]:
        """See JudgeSettings: repeats that can only say the same."""
        drawn_anew = self.examples in ("shuffled", "fixed") or (self.shows_examples and self.n_examples > 0)
        if drawn_anew or self.repeats == 1:
            return
        if by_rules:
            text = "{n} repeats say the same by construction and show nothing: their examples are the same"
            yield Remark("", text, {"n": self.repeats})
        else:
            yield from super().remarks(by_rules=by_rules)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See JudgeSettings."""
        words = {"n_examples": f"{self.n_examples}-examples", "filtered": "filtered", "rater": self.rater}
        return (name, *self.unusual("examples"), *(words[one] for one in self._choices()))

    def idle(self, backend: str) -> frozenset[str]:
        """What chooses among examples, where none are shown."""
        return frozenset() if self.shows_examples else frozenset(_CHOOSING) & type(self).model_fields.keys()

    def pool(self, texts: Sequence[RatedText], task: RatingTask) -> ExamplePool:
        """The rated texts of a file that examples are drawn from: those in which people marked errors."""
        return ExamplePool(texts)

    def draw(self, pool: ExamplePool, text: RatedText, repeat: int) -> tuple[ShownExample, ...]:
        """The text's examples; each repeat has a draw of its own."""
        return pool.examples_for(
            text,
            variant=self.examples,
            n_examples=self.n_examples,
            filtered="filtered" in self._choices(),
            rater=self.rater,
            seed=self.seed + repeat,
        )

    def _choices(self) -> tuple[str, ...]:
        """Fields that choose among the examples otherwise than usual."""
        return tuple(one for one in _CHOOSING if one in type(self).model_fields and self.unusual(one))


EXAMPLES: Any = setting(
    "specialist",
    "Examples",
    "rated texts of other systems: of the same source; of the whole file, shuffled; of one other source; none",
    words={
        "specialist": "of the same source: what people said of the other systems' texts of this item",
        "shuffled": "shuffled: the same examples dealt out anew, so that most are of other sources",
        "fixed": "of one other source, rated by the same person where ratings name one",
        "none": "none",
    },
)
N_EXAMPLES: Any = setting(
    0,
    "Number of examples (0: all)",
    "examples of each text at most; smaller sets lie in larger ones; 0: all",
    within=(0, MOST_EXAMPLES),
    metavar="K",
)
RATER: Any = setting(
    MERGED,
    "Rater of the examples",
    "whose ratings are shown",
    metavar="NAME",
    words={MERGED: "all raters together"},
)
ONLY: Any = setting(
    (),
    "Judge only these systems",
    "system whose texts are judged; the texts of the others serve as examples",
    metavar="SYSTEM",
    words={"": "all systems"},
    scored=False,
)
DRAWS: Any = repeats_setting("draws of examples; the score is the mean")
DRAWING_SEED: Any = seed_setting("seed of the first draw and its answers; later repeats add 1")


def examples_in(bench: Bench) -> dict[str, tuple[str, ...]]:
    """See JudgeKind.in_file: whose ratings can be examples, and which systems can be judged."""
    raters = sorted({one.rater for text in bench.texts for one in text.ratings if one.rater})
    systems = dict.fromkeys(text.output.system for text in bench.texts)
    return {"rater": (MERGED, *raters) if raters else (), "only": tuple(systems)}


def task_attachment(usual: str, help: str) -> Attachment:
    """The task's file. usual: the shipped one that is taken unless another is chosen; help: what of it the judge reads."""
    return Attachment(
        name="task_text",
        option="task",
        label="Task",
        help=help,
        usual=usual,
        find=lambda name: dump_task(find_task(name)),
        read=parse_task,
        dump=dump_task,
        shipped=shipped_tasks,
        unusable=unusable_tasks,
    )


def task_of(bench: Bench) -> RatingTask:
    """What is asked of every text. Raises InputError."""
    return parse_task(bench.attached, "task.yaml")


def rated_signed(settings: JudgeSettings, bench: Bench) -> dict[str, object]:
    """See JudgeKind.also_signed: the task, and the file that examples are taken from."""
    return {
        "task": f"{task_of(bench).name}-{sha256_of(bench.attached.encode())[:SHORT_SHA]}",
        "ratings": bench.ratings[:SHORT_SHA] if settings.shows_examples else "",
    }


def prompt_for(bench: Bench, purpose: str) -> Prompt:
    """Raises InputError where there is none."""
    if purpose not in bench.prompts:
        raise InputError(f"There is no prompt for {purpose}.")
    return bench.prompts[purpose]


def given_in(output: ScorableOutput, task: RatingTask, prompt: Prompt) -> str:
    """What a prompt names as the source: what was asked, and the reference where the task shows it to raters."""
    source = defused(output.source or "", [prompt]).strip()
    reference = defused(output.reference or "", [prompt]).strip() if task.show_reference else ""
    if not reference:
        return source or NOTHING
    return f"{source or NOTHING}\n\n{task.labels.headings.reference}:\n{reference}"


def languages_of(output: ScorableOutput, prompt: Prompt) -> dict[str, str]:
    """The languages of source and text as prompts name them: their tags, as far as the file says them."""
    source, _, _ = output.labels.get(LABEL_PAIR, "").partition("-")
    named = {"source_language": source, "language": "" if output.language == "und" else output.language}
    return {name: in_a_line(defused(tag, [prompt])) or NOTHING for name, tag in named.items()}


def refuse_rated(problems: Sequence[Remark], settings: JudgeSettings, rated: RatedSet | None = None) -> None:
    """Raise SettingsError where there are problems: of the settings and the task, or of the file."""
    start = {} if rated is None else {"what": f"{shown(rated.file_name)} does not fit what was asked"}
    refuse(problems, type(settings), also=BESIDE_SETTINGS, **start)


def pool_problems(settings: ExampleSettings, pool: ExamplePool, nobody: Remark) -> list[Remark]:
    """Why a file's ratings cannot be this judge's examples. nobody: the problem where none of them can."""
    if not settings.shows_examples:
        return []
    if not pool.n_texts():
        return [nobody]
    if settings.rater == MERGED or settings.rater in pool.raters:
        return []
    there = f"there are {listed(pool.raters)}" if pool.raters else "its ratings name no rater; leave it out"
    text = "{name} rated nothing of the kind in the file; {there}"
    return [Remark("rater", text, {"name": shown(settings.rater), "there": there})]


def nobody_rated(what: str, values: Mapping[str, object] | None = None) -> Remark:
    """The problem of a file without ratings that can be examples. what: that nobody did, with `values` filled in."""
    return Remark(
        "examples", f"nobody {what}: {ADD_RATINGS}, or choose {{examples=none}}", dict(values or {})
    )


def check_examples(
    settings: ExampleSettings,
    pool: ExamplePool,
    rated: RatedSet,
    by_rules: bool,
    nobody: Remark,
    wrong: Sequence[Remark] = (),
    remarks: Sequence[Remark] = (),
) -> tuple[Remark, ...]:
    """What to know of a file that examples are taken from, before its run costs anything.

    pool: of the file. wrong, remarks: what else is wrong with the examples, and worth knowing of them. Raises
    SettingsError with everything that is missing in the file for what was asked, and how to give it.
    """
    judged = [text for text in rated.texts if settings.judges(text)]
    problems = [
        *_systems_problems(settings, rated),
        *(found := [*pool_problems(settings, pool, nobody), *wrong]),
    ]
    bare = 0
    if settings.shows_examples and not found:
        # Every variant shows nothing to a text beside which nobody rated a text of another system.
        bare = sum(not pool.examples_for(text, variant="specialist", rater=settings.rater) for text in judged)
        if bare == len(judged) and not problems:
            text = "no text has a rated text of another system beside it, so that there is nothing to show; "
            problems.append(Remark("examples", f"{text}{ADD_RATINGS}, or choose {{examples=none}}"))
    refuse_rated(problems, settings, rated)
    return (
        *_judged_remarks(settings, rated, len(judged)),
        *(_pool_remarks(settings, pool, judged, bare) if settings.shows_examples else ()),
        *remarks,
        *settings.remarks(by_rules=by_rules),
    )


def _systems_problems(settings: ExampleSettings, rated: RatedSet) -> Iterator[Remark]:
    systems = list(dict.fromkeys(text.output.system for text in rated.texts))
    for name in settings.only:
        if name not in systems:
            text = "{name} has no text in the file; there are {systems}"
            yield Remark("only", text, {"name": shown(name), "systems": listed(systems)})


def _judged_remarks(settings: ExampleSettings, rated: RatedSet, n_judged: int) -> Iterator[Remark]:
    if others := len(rated.texts) - n_judged:
        serve = "; those that are rated serve as examples" if settings.shows_examples else ""
        yield Remark("", f"{NOT_JUDGED}{serve}", {"n": f"{others:,}"})


def _pool_remarks(
    settings: ExampleSettings, pool: ExamplePool, judged: Sequence[RatedText], bare: int
) -> Iterator[Remark]:
    of = f"of the {len(judged):,} texts to be judged"
    if n_rated := sum(bool(text.ratings) for text in judged):
        held_out = "whatever a system wrote is held out of the examples for its texts"
        yield Remark("", f"{n_rated:,} {of} are rated themselves: {held_out}")
    if bare:
        yield Remark(
            "", f"{bare:,} {of} have no rated text of another system beside them: they get no examples"
        )
    for note in pool.notes(settings.examples, rater=settings.rater, seed=settings.seed):
        yield Remark("", "{note}", {"note": note})


def score_on(dimension: Dimension) -> dict[str, object]:
    """The schema of a score: one of those on offer, or any number of the scale where all are."""
    if dimension.classes:
        return {"enum": [whole(value) for value in dimension.classes]}
    return {"type": "number", "minimum": dimension.lowest, "maximum": dimension.highest}


def whole(value: float) -> float:
    """Whole where it is whole, as JSON shows it."""
    return int(value) if value == int(value) else value


def in_digits(value: float) -> str:
    """A number of a scale, as prompts and replies have it."""
    return f"{value:.10g}"


def dimensions_in(texts: Sequence[RatedText]) -> list[str]:
    """Names of the dimensions that people rated."""
    return list(dict.fromkeys(rating.dimension for text in texts for rating in text.ratings))


def rated_instead(there: Sequence[str]) -> str:
    """What was rated in the place of what is missing, as the end of a sentence."""
    return f" (rated are {listed(there)})" if there else ""


def listed(names: Sequence[str], between: str = ", ") -> str:
    """Names from a file as a message has them: the first ones, and how many there are more."""
    named = between.join(map(shown, names[:MOST_NAMED]))
    return f"{named} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else named


def example_problems(name: str, examples: Sequence[ExampleUsed]) -> Iterator[str]:
    """What no example in a record can be. name: the record's field that holds them."""
    return bound_problems(name, examples, n_errors=(0, MOST_ERRORS))

"""Find which columns of a table hold people's labels, judges' scores, the item and the system.

The evidence, in this order: what the user names, the vocabulary of `core.tables.columns`, the words of a column's name,
and its cells. People are found by names alone: a column that only looks like ratings is never taken for a person's.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import regex

from core.errors import InputError, Problems
from core.schema.roles import Roles
from core.tables.columns import (
    LABEL_MARK,
    METRIC_MARK,
    Record,
    Table,
    known_at,
    named_columns,
    source_as_system,
)
from core.tables.mapping import classes_of, plain_word
from core.tables.problems import listed
from core.tables.reading import filled, is_nothing, label_of, labels_of, n_like_numbers, number_in, shown


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PEOPLE = _set(
    "human humans expert experts person persons people crowd crowdworker turker mturk manual volunteer "
    "physician doctor clinician nurse lawyer linguist sme specialist layperson"
)
"""Words that mean people, whatever else a name says."""
_RATERS = _set(
    "rater raters annotator annotators annotation annotations worker workers reviewer reviewers coder coders "
    "labeler labelers labeller labellers assessor assessors"
)
"""Words that mean people, unless the name also says that it is a machine: `llm_rater`."""
_SETTLED = _set("gold golden goldstandard truth groundtruth gt majority consensus adjudicated adjudication")
"""Words for one label that stands for several people."""
_MEANS = _set("mean avg average median majority consensus final aggregate aggregated adjudicated")
_STANDS_FOR = _set("true reference expected ref")
"""With a noun for a rating: `reference_label`, `true_score`."""
_PLAIN_LABELS = frozenset({"label", "labels", "actual", "annotation", "y_true", "y"})
"""Whole names that mean people's labels only beside a column that is surely a judge's."""
_JUDGES = _set(
    "judge judges llm llms lm slm ai auto automatic automated automatically autorater autograder autoeval pred "
    "preds predicted prediction predictions predict yhat machine bot classifier detector guardrail metric chatbot "
    "algorithm synthetic simulated artificial virtual"
)
_MODELS = _set(
    "gpt chatgpt openai claude anthropic opus sonnet haiku gemini gemma bard palm llama vicuna alpaca mistral "
    "mixtral ministral prometheus qwen qwq deepseek grok phi cohere nova kimi moonshot glm chatglm yi "
    "ernie falcon olmo tulu nemotron selene atla lynx glider jamba granite minimax dbrx zephyr internlm davinci "
    "autoj pandalm judgelm minicheck alignscore summac geval questeval unieval bartscore perplexity "
    "faithfulness_hhem hhem ragas deepeval"
)
_MODEL = regex.compile(
    r"(?:gpt|chatgpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|phi|glm|kimi|prometheus)(?:\d\w*)?|o[134](?:mini|pro)?"
)
_NAMES = _PEOPLE | _JUDGES | _MODELS
_MOST_PARTS, _SHORTEST_JOINED = 3, 3
"""Parts into which capitals may cut a name of the lists, as in LLaMA; letters of the shortest name that is put together."""
_VERDICTS = _set("verdict verdicts judgement judgements judgment judgments eval evals evaluation")
"""Words that mean a judge, unless the name also says that people gave it: `human_verdict`."""
_RATINGS = _set(
    "label labels score scores scored rating ratings rated grade grades graded decision vote class value result "
    "assessment pass passed correct points"
)
"""Nouns for a rating, which say nothing about who gave it."""
_ABOUT = _set(
    "id ids uid uuid name names email age gender country time times seconds sec secs ms duration latency cost "
    "costs price usd tokens token confidence conf probability prob probs proba logprob logprobs certainty reason "
    "reasons reasoning rationale rationales explanation explanations feedback comment comments note notes "
    "justification critique thought thoughts text raw output response prompt prompts model version date timestamp "
    "created updated count size sd std stdev var variance agreement kappa length url hash seed temperature index batch "
    "session written generated source type kind"
)
"""Last words of columns about a rating or a rater, not ratings."""
_COMPARED = _set(
    "vs versus minus diff difference delta gap match matches matched agree agrees agreement disagree disagreement "
    "equal same"
)
_CIRCUMSTANCES = _set(
    "dataset datasets subset corpus benchmark epoch epochs split fold folds seed run runs step round batch trial repeat "
    "shots temperature year domain topic task category"
)
"""Words of columns that tell under which circumstances a text was made, not how good it is."""
_COUNTS = frozenset({"n", "num", "count", "is", "has", "number"})
"""First words of columns that count raters or describe texts: `n_raters`, `is_human`."""
_VARIANTS = _set("turbo mini nano flash pro max instruct chat preview latest large small base it")
_PARTS = regex.compile(r"[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})")
_STEM = regex.compile(r"(\p{L}+?)(?:\d+\p{L}?)?")
_SHORT_NAME = regex.compile(r"([arh])(\d+)", regex.IGNORECASE)
"""`r1`, `a2`, `h3`: people if there are several."""

PRICES = {"cost": "", "price": "", "cost usd": "USD", "price usd": "USD"}
"""Words of a column with the price of each text -> its currency."""
SECONDS = {"latency": 1.0, "seconds": 1.0, "latency s": 1.0, "latency ms": 1e-3, "latencyms": 1e-3}
"""Words of a column with the time of each text -> seconds of its unit."""

_MOST_WORDS, _LONGEST_WORD = 30, 60
_FEW = 12
"""Rows up to which different short words may all be labels."""
_FREE_TEXT, _EMPTY, _DESCRIBES = "free text", "empty", "describes a rating or a rater"
_MOST_PASSED = 5
_COUNTED = 6
"""Fewest rows of which a column may be the number, and not chance ratings such as 1, 2, 3."""
_MOST_CLASSES = 12
"""Different numbers of a small set of classes."""

_CHOICES = _set("preference preferences preferred choice choices chosen winner winners category categories")
_CODES = (("label", "id"), ("class", "id"), ("label", "code"))
"""Last words of columns with codes of labels."""

Who = Literal["person", "settled", "plain", "judge", "score", "both"] | None
"""What a name says: a person, a label that stands for several people, a mere label, a judge, a mere score, or both
sides."""


def spaced(name: str) -> str:
    """A column's name as words in lower case: `GPT-4_cost` is `gpt 4 cost`."""
    return str(regex.sub(r"[\W_]+", " ", name)).strip().casefold()


def is_price_or_time(name: str) -> bool:
    """Whether a column's name begins or ends with words for a price or a time, such as `gpt_cost`."""
    words = f" {spaced(name)} "
    return any(words.startswith(f" {one} ") or words.endswith(f" {one} ") for one in (*PRICES, *SECONDS))


def unmarked_judges(roles: Roles) -> tuple[str, ...]:
    """The judges, without the mark of a column with a metric."""
    return tuple(name.removeprefix(METRIC_MARK) for name in roles.judges)


def mapping_of(roles: Roles) -> dict[str, str | list[str] | None]:
    """Role -> column or columns, for JSON."""
    one = ("item", "system", "language", "level", "rater", "score", "dimension")
    found: dict[str, str | list[str] | None] = {
        "human": list(roles.human),
        "judge": list(unmarked_judges(roles)),
    }
    return found | {
        role: value for role in one if (value := getattr(roles, role)) or role in ("item", "system")
    }


def roles_said(roles: Roles) -> str:
    """The roles in one line: `raters: a, b; judge: x; item: id`."""
    parts = [
        ("rater" if len(roles.human) == 1 else "raters", roles.human),
        ("judge" if len(roles.judges) == 1 else "judges", unmarked_judges(roles)),
        ("item", (roles.item,) if roles.item else ("each row",)),
        ("system", (roles.system,) if roles.system else ()),
        ("language", (roles.language,) if roles.language else ()),
        ("level", (roles.level,) if roles.level else ()),
        ("column of raters", (roles.rater,) if roles.rater else ()),
        ("column of ratings", (roles.score,) if roles.score else ()),
    ]
    return "; ".join(f"{role}: {listed([*names])}" for role, names in parts if names)


def passed_over(roles: Roles) -> str:
    """The columns that may hold ratings but are not used, each with the reason; empty if there are none."""
    plain = ("not used", *(f"not used: {why}" for why in (_FREE_TEXT, _EMPTY, _DESCRIBES)))
    found = [
        f"{shown(name)} ({why.removeprefix('not used: ')})"
        for name in roles.others
        if (why := roles.why.get(name, "not used")) not in plain
    ]
    more = f" and {len(found) - _MOST_PASSED:,} more" if len(found) > _MOST_PASSED else ""
    return f"columns not used: {'; '.join(found[:_MOST_PASSED])}{more}" if found else ""


class Undecided(InputError):
    """A table whose columns do not tell people from judges. `roles` has what was found."""

    def __init__(self, what: str, problems: Collection[str], roles: Roles) -> None:
        super().__init__(what, Problems(problems))
        self.roles = roles


def check_decided(roles: Roles, file_name: str) -> None:
    """Raise Undecided, which lists the columns to choose from, if the roles have problems."""
    if not roles.problems:
        return
    what = f"{shown(file_name)}: the columns do not tell people from judges"
    if roles.people_alone:
        what = f"{shown(file_name)}: the columns do not tell who rated"
    elif not roles.candidates and bool(roles.human) != bool(roles.judges):
        what = f"{shown(file_name)} has " + ("no judge" if roles.human else "no labels by people")
    raise Undecided(what, roles.problems, roles)


@lru_cache(maxsize=4096)
def words_in(name: str) -> tuple[str, ...]:
    """The words of a column's name in lower case: `humanLabel_2` has human, label and 2; `DeepSeek-V3` deepseek and v3."""
    parts = [part.casefold() for part in _PARTS.split(name.strip()) if part]
    words = []
    while parts:
        n = next(n for n in (_MOST_PARTS, 2, 1) if n == 1 or _is_one_name(parts[:n]))
        words.append("".join(parts[:n]))
        parts = parts[n:]
    return tuple(words)


def _is_one_name(parts: Sequence[str]) -> bool:
    """Whether neighbouring parts are a word of the lists that a name writes apart, as in `LLaMA2`, `QwQ` or `mini-max`."""
    word = _stem("".join(parts))
    return (
        len(word) >= _SHORTEST_JOINED and word in _NAMES and not any(_stem(part) in _NAMES for part in parts)
    )


def _stem(word: str) -> str:
    found = _STEM.fullmatch(word)
    return found[1] if found else word


@lru_cache(maxsize=4096)
def who_in(name: str, metric: bool = False) -> Who:
    """What a column's or a rater's name says about who gave the ratings. metric: whether it is a known metric's name."""
    words = words_in(name)
    stems = [_stem(word) for word in words]
    plain = "_".join(words)
    settled = bool(_SETTLED & {*stems}) or ("ground" in stems and "truth" in stems)
    settled |= bool(_STANDS_FOR & {*stems}) and bool(_RATINGS & {*stems})
    people = [at for at, stem in enumerate(stems) if stem in _PEOPLE]
    raters = any(stem in _RATERS for stem in stems)
    rated = bool(_RATINGS & {*stems} or _VERDICTS & {*stems})
    judges = [at for at, stem in enumerate(stems) if stem in _JUDGES]
    machine = metric or any(
        stem in _MODELS or word in _MODELS or _MODEL.fullmatch(word)
        for stem, word in zip(stems, words, strict=True)
    )
    machine |= len(words) > 1 and "model" in stems and rated
    only_judge = [at for at in judges if stems[at] in ("judge", "judges")]
    if people and (judges or machine):
        # A "human judge" is a person; who "expert judge" or "judge human" is, a name does not tell.
        clear = judges == only_judge and not machine and stems[people[0]] in ("human", "humans")
        return "person" if clear and people[0] < judges[0] else "both"
    if (settled and (judges or machine)) or (raters and only_judge):
        return "both"
    if judges or machine:
        return "judge"
    if plain in _PLAIN_LABELS:
        return "plain"
    if people or raters:
        return "settled" if _MEANS & {*stems} else "person"
    if settled:
        return "settled"
    if _VERDICTS & {*stems}:
        return "judge"
    return "score" if stems and stems[-1] in ("score", "scores") else None


def names_rating(fields: Iterable[str]) -> bool:
    """Whether a block has a field whose name is a noun for a rating, such as `label`."""
    return any((_RATINGS | _VERDICTS) & {*words_in(field)} for field in fields)


def is_choice(name: str) -> bool:
    """Whether a column's name says that raters choose one of several things, such as `human_preference` or `label_id`."""
    words = words_in(name)
    return bool(_CHOICES & {_stem(word) for word in words}) or words[-2:] in _CODES


def is_about(name: str) -> bool:
    """Whether a column describes a rating or a rater, such as `judge_reason`, `annotator_id` or `n_raters`."""
    if name.startswith(METRIC_MARK):
        return False
    words = [word for word in words_in(name) if not word.isdecimal()]
    if not words or words == ["model"]:
        return False
    if words[0] == "is" and _RATINGS & {*words} and who_in(name) in ("person", "judge"):
        return False  # `is_correct (human)` is a verdict; `is_human` describes the text
    return words[-1] in _ABOUT or words[0] in _COUNTS or bool(_COMPARED & {*words})


@dataclass(frozen=True)
class _Cells:
    """What a column holds."""

    kind: Literal["empty", "numbers", "labels", "text"]
    words: frozenset[str] = frozenset()
    """Of labels, as `plain_word` writes them."""
    numbers: frozenset[float] = frozenset()
    """Different numbers, if they are few."""
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    counting: bool = False
    """Whether the numbers count the rows."""
    unique: bool = False
    n_different: int = 0
    scale: bool = False
    """Whether the words are classes of a known scale."""

    @property
    def may_rate(self) -> bool:
        return self.kind in ("numbers", "labels")

    def like(self, other: "_Cells") -> bool:
        """Whether the cells are among the same small set of words or classes as another column's."""
        if self.kind == other.kind == "labels":
            return bool(self.words & other.words) and (
                self.words <= other.words
                or other.words <= self.words
                or 2 * len(self.words & other.words) >= len(self.words | other.words)
            )
        if self.kind == other.kind == "numbers":
            few = bool(self.numbers and other.numbers) and self.whole and other.whole
            return few and other.low <= self.low and self.high <= other.high
        words, numbers = (self, other) if self.kind == "labels" else (other, self)
        return words.scale and bool(numbers.numbers) and numbers.numbers <= {0.0, 1.0}


def _cells_of(records: Sequence[Record], key: str) -> _Cells:
    held = filled([record.cells.get(key) for record in records])
    if not held:
        return _Cells("empty")
    different: dict[object, None] = {}
    for cell in held:
        if not isinstance(cell, str | bool | int | float):
            return _Cells("text")
        different[cell] = None
    n_numbers = n_like_numbers(different)
    if 2 * n_numbers > len(different):
        numbers = [number for cell in different if (number := number_in(cell)) is not None]
        few = frozenset(numbers) if len({*numbers}) <= _MOST_CLASSES else frozenset[float]()
        ordered = [number_in(cell) for cell in held]
        counting = len(held) == len(records) >= _COUNTED and all(
            number is not None and ordered[0] is not None and number == ordered[0] + at
            for at, number in enumerate(ordered)
        )
        return _Cells(
            "numbers",
            numbers=few,
            low=min(numbers, default=0.0),
            high=max(numbers, default=0.0),
            whole=all(number.is_integer() for number in numbers),
            counting=counting,
            unique=len(different) == len(held),
            n_different=len({*numbers}),
        )
    unique = len(different) == len(held)
    scale = len(different) <= _MOST_WORDS and classes_of(different) is not None
    words = (
        frozenset(plain_word(str(word)) for word in different)
        if len(different) <= _MOST_WORDS
        else frozenset[str]()
    )
    short = all(
        isinstance(cell, str | bool) and len(str(cell)) <= _LONGEST_WORD and len(str(cell).split()) <= 4
        for cell in different
    )
    repeated = 2 * len(words) <= len(held) or len(held) <= _FEW
    labels = bool(words) and short and (scale or repeated)
    return _Cells(
        "labels" if labels else "text",
        words if labels else frozenset(),
        unique=unique,
        n_different=len(different),
        scale=scale,
    )


@dataclass
class _Sheet:
    """A table while its roles are found."""

    table: Table
    is_metric: Callable[[str], bool]
    cells: dict[str, _Cells] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    unit: str | None = None
    """The column that the user names as the item, beside a column of ids: nobody's ratings."""
    people_alone: bool = False
    """Whether no judge is wanted: what would be a judge's is nobody's."""

    def of(self, key: str) -> _Cells:
        """What a column holds; each column is looked at once."""
        if key not in self.cells:
            self.cells[key] = _cells_of(self.table.records, key)
        return self.cells[key]

    def who(self, key: str) -> Who:
        """What a column's name says; a file that marks its metrics and labels says it itself."""
        if key.startswith((METRIC_MARK, LABEL_MARK)):
            return "judge" if key.startswith(METRIC_MARK) else None
        return who_in(key, self.is_metric(key))


def holds_texts(records: Sequence[Record], key: str) -> bool:
    """Whether a column holds texts: neither numbers nor a few short words."""
    return _cells_of(records, key).kind == "text"


def rates(records: Sequence[Record], key: str) -> bool:
    """Whether a column holds numbers, or words of a known scale."""
    cells = _cells_of(records, key)
    return cells.kind == "numbers" or cells.scale


TEXT_ROLES = ("question", "reference", "context", "source", "text", "reason")


def roles_of(
    table: Table,
    *,
    human: Sequence[str] = (),
    judges: Sequence[str] = (),
    dimension: str | None = None,
    judged_elsewhere: bool = False,
    unit: str | None = None,
    is_metric: Callable[[str], bool] = lambda name: False,
    people_alone: bool = False,
) -> Roles:
    """Find the roles of a table's columns.

    table: with records under the file's own names. human, judges: columns or, in a long table, raters that the user names;
    columns in the spelling of the file. dimension: which one to use where people and judges have a column for each.
    judged_elsewhere: whether the judges' scores are in other files, so that the ratings here are people's. unit: the column
    that the user names as the item, beside a column of ids. is_metric: whether a name is that of a known metric.
    people_alone: whether no judge is wanted; what is named like a judge's is then nobody's.

    Never raises: what is undecided is in `problems`.
    """
    sheet = _Sheet(table, is_metric, people_alone=people_alone)
    named = [key for key in (*human, *judges) if key in table.keys]
    for key in named:
        sheet.why[key] = "as you chose"
    if unit is not None:
        sheet.unit = unit
        sheet.why[unit] = "the item, as you chose"
    read_as = _named(sheet, [key for key in table.keys if key not in named])
    columns = {name: key for key, name in read_as.items()}
    if (rater := columns.get("rater")) and (
        score := _score_of(sheet, columns, rater, human, judged_elsewhere)
    ):
        return _long(sheet, read_as, rater, score, human, judges, judged_elsewhere)
    for name in ("rater", "score", "dimension"):
        if name in columns:
            key = columns.pop(name)
            del read_as[key]
            sheet.why.pop(key, None)
    return _wide(sheet, read_as, human, judges, dimension, judged_elsewhere)


def _named(sheet: _Sheet, keys: Sequence[str]) -> dict[str, str]:
    """Key -> Assay's name, for columns with a name of the vocabulary and cells that fit it."""
    written: dict[str, str] = {}
    for key in keys:
        written.setdefault("_".join(words_in(key)), key)  # `exampleId` too
    named = named_columns(list(written), known_at("panel"))
    read_as = source_as_system({written[key]: name for key, name in named.items()})
    labelled = {key for key in keys if sheet.who(key) in ("person", "settled", "judge") and not is_about(key)}
    found = {}
    for key, name in read_as.items():
        cells = sheet.of(key)
        if name == "system" and words_in(key) == ("model",) and cells.may_rate:
            # A column `model` may be the model's own label beside a person's.
            if any(cells.like(sheet.of(other)) for other in labelled if other != key):
                continue
            if cells.kind == "numbers":
                continue
        if name in TEXT_ROLES and sheet.who(key) in ("settled", "plain") and cells.may_rate:
            judged = [other for other in keys if other != key and sheet.who(other) in ("judge", "score")]
            if any(cells.like(sheet.of(other)) for other in judged):
                continue
        if name == "item_id" and not _names_items(sheet.table.records, key):
            continue
        usual = words_in(key) in (("system",), ("system", "id"), ("system", "name"), ("source",))
        if name == "system" and cells.kind != "labels" and not usual:
            continue
        found[key] = name
        sheet.why[key] = "its name"
    return found


def _names_items(records: Sequence[Record], key: str) -> bool:
    """Whether a column can name items: an example may be a text too long for a name."""
    cells = [cell for record in records if (cell := record.cells.get(key)) is not None]
    names = labels_of(cells)
    return any(name is not None for name in names) and all(
        name is not None or is_nothing(cell) for name, cell in zip(names, cells, strict=True)
    )


def _score_of(
    sheet: _Sheet, columns: Mapping[str, str], rater: str, human: Sequence[str], judged_elsewhere: bool
) -> str | None:
    """The column with the ratings of a long table; None if the table is wide."""
    cells = sheet.of(rater)
    if any(name in sheet.table.keys for name in human) and all(name in sheet.table.keys for name in human):
        return None
    if cells.kind == "empty" or cells.scale:
        return None  # a column `annotator` with pass and fail is a rater's labels
    if "score" in columns:
        return columns["score"]
    others = [key for key in sheet.table.keys if key != rater and not is_about(key)]
    rated = [key for key in others if sheet.of(key).may_rate]
    people = [key for key in rated if sheet.who(key) in ("person", "settled")]
    if any(cells.like(sheet.of(key)) for key in rated if sheet.who(key) in ("judge", "person")):
        return None
    plain = [key for key in rated if words_in(key)[-1:] and words_in(key)[-1] in ("label", "labels", "grade")]
    unclear = [key for key in plain if sheet.who(key) in ("plain", None)]
    empty = [
        key
        for key in others
        if sheet.of(key).kind == "empty" and sheet.who(key) in ("person", "settled", "plain")
    ]
    found = people or unclear or empty  # an empty one is refused by its name
    return found[0] if len(found) == 1 else None


_KINDS = frozenset(
    {"rater_type", "annotator_type", "evaluator_type", "rater_kind", "rater_source", "judge_type"}
)


def _long(
    sheet: _Sheet,
    read_as: dict[str, str],
    rater: str,
    score: str,
    human: Sequence[str],
    judges: Sequence[str],
    judged_elsewhere: bool,
) -> Roles:
    """Roles of a table with a row for each rating."""
    judged_elsewhere = judged_elsewhere or sheet.people_alone
    read_as = {key: name for key, name in read_as.items() if name != "score" or key == score} | {
        score: "score"
    }
    records, keys = sheet.table.records, sheet.table.keys
    kind = next((key for key in keys if "_".join(words_in(key)) in _KINDS), None)
    names: dict[str, Who] = {}
    for record in records:
        name = label_of(record.cells.get(rater))
        if name is not None and name not in names:
            said = who_in(str(record.cells.get(kind) or "")) if kind else None
            names[name] = said or who_in(name, sheet.is_metric(name))
    beside = [
        key
        for key in keys
        if key not in read_as and not is_about(key) and sheet.who(key) == "judge" and sheet.of(key).may_rate
    ]
    if not names and not human:
        judged_elsewhere = judged_elsewhere or bool(beside)
    found_judges = list(dict.fromkeys(judges))
    machines = [name for name, who in names.items() if who == "judge" and name not in human]
    if not judges and not judged_elsewhere:
        found_judges = [*machines, *beside]
    elif not judges and not sheet.people_alone:
        found_judges = beside
    people = [name for name in names if name not in found_judges and name not in machines]
    if human:
        people = list(dict.fromkeys(human))
    problems = []
    unclear = [name for name in people if names.get(name) == "both"]
    known = [name for name in people if names.get(name) in ("person", "settled")]
    neutral = [name for name in people if names.get(name) not in ("person", "settled")]
    if not human and known and neutral:
        unclear = neutral
    if not human and unclear:
        problems.append(
            f"human: column {shown(rater)} has names that may be people or judges: {listed(unclear)}"
        )
    if not people:
        problems.append(f"human: column {shown(rater)} names nobody who may be a person")
    if not found_judges and not judged_elsewhere:
        problems.append(
            f"judge: no column and no name in column {shown(rater)} is a judge's; "
            f"it names {listed(list(names)) if names else 'nobody'}"
        )
    for name in people:
        sheet.why.setdefault(name, f"named in column {rater}")
    for name in found_judges:
        sheet.why.setdefault(name, "its name" if name not in names else f"its name in column {rater}")
    for name in machines:
        if name not in found_judges:
            sheet.why[name] = "not used: its name is a judge's"
    sheet.why[rater], sheet.why[score] = (
        "names who rated" if sheet.why.get(rater) != "as you chose" else sheet.why[rater],
        "ratings of those named beside",
    )
    return _finished(
        sheet,
        read_as,
        tuple(people),
        tuple(found_judges),
        problems,
        candidates=tuple(unclear or (names if problems else ())),
        long=(rater, score),
    )


def _wide(
    sheet: _Sheet,
    read_as: dict[str, str],
    human: Sequence[str],
    judges: Sequence[str],
    dimension: str | None,
    judged_elsewhere: bool,
) -> Roles:
    """Roles of a table with a row for each text."""
    keys, problems = sheet.table.keys, list[str]()
    rateable = _rateable(sheet, read_as, (*human, *judges))
    by_who: dict[Who, list[str]] = {}
    for key in rateable:
        by_who.setdefault(_who_among(sheet, key, rateable), []).append(key)
    found_judges = list(judges) or _judges_by_name(sheet, by_who, human)
    people = list(human) or _people(sheet, by_who, found_judges, judged_elsewhere)
    if human:
        for key in (*by_who.get("person", ()), *by_who.get("settled", ())):
            sheet.why[key] = "not used: you chose other columns"
    if sheet.people_alone or (judged_elsewhere and not judges):
        why = "a judge's" if sheet.people_alone else "the judges' scores are in another file"
        for key in found_judges:
            sheet.why[key] = f"not used: {why}"
        found_judges = []
    left = [key for key in rateable if key not in people and key not in found_judges]
    if sheet.people_alone:
        machines = [key for key in by_who.get("judge", ()) if key not in people]
        people, split = _people_of_one_dimension(sheet, people, machines, dimension, chosen=bool(human))
        problems += split
    if not found_judges and not (judged_elsewhere or sheet.people_alone) and people:
        found_judges = _judge_by_cells(sheet, by_who, people)
        left = [key for key in left if key not in found_judges]
    people, found_judges, split = _one_dimension(
        sheet, people, found_judges, dimension, chosen=bool(human and judges)
    )
    problems += split
    may_be = [key for key in left if key not in by_who.get("settled", ()) or not people]
    may_be = _may_rate(sheet, may_be, rateable, [*people, *found_judges])
    if sheet.people_alone:
        may_be = [key for key in may_be if sheet.who(key) != "judge"]
    judged_elsewhere = judged_elsewhere or sheet.people_alone
    if people and (found_judges or judged_elsewhere):
        rated = [sheet.of(key) for key in (*people, *found_judges)]
        groups = [key for key in may_be if sheet.who(key) is None and sheet.of(key).kind == "labels"]
        may_be = [key for key in may_be if key not in groups or any(sheet.of(key).like(one) for one in rated)]
    if any(key.startswith(METRIC_MARK) for key in keys):
        may_be = []  # the file says itself what is a score
    problems += _people_advice(sheet, read_as, people, found_judges, may_be)
    if not judged_elsewhere:
        problems += _judge_advice(sheet, read_as, people, found_judges, may_be)
    if both := [key for key in by_who.get("both", ()) if key in may_be]:
        for key in both:
            sheet.why[key] = "not used: its name may mean people or a judge"
    for key in may_be:
        sheet.why.setdefault(key, "not used: nothing tells who gave it")
    return _finished(sheet, read_as, tuple(people), tuple(found_judges), problems, candidates=tuple(may_be))


def _rateable(sheet: _Sheet, read_as: Mapping[str, str], named: Sequence[str]) -> list[str]:
    """The columns that nobody named and that may hold ratings by their cells; notes why the others do not."""
    rateable = []
    for key in sheet.table.keys:
        if key in read_as or key in named or key == sheet.unit:
            continue
        if is_about(key):
            sheet.why[key] = f"not used: {_DESCRIBES}"
        elif key.startswith(LABEL_MARK):
            continue
        elif not sheet.of(key).may_rate:
            sheet.why[key] = f"not used: {_EMPTY if sheet.of(key).kind == 'empty' else _FREE_TEXT}"
        else:
            rateable.append(key)
    return rateable


def _people_advice(
    sheet: _Sheet,
    read_as: dict[str, str],
    people: Sequence[str],
    judges: Sequence[str],
    may_be: Sequence[str],
) -> Iterator[str]:
    """Yield what to do where no column is surely a person's. may_be: columns that may be."""
    if people:
        return
    if any(key.startswith(METRIC_MARK) for key in judges):
        yield (
            "human: no field is named like a person's label; name a table with people's labels first and this file after it"
        )
    elif empty := _empty_of(sheet, read_as, ["person", "settled", "plain"]):
        more = f"; columns that may be a person's: {listed(may_be)}" if may_be else ""
        yield f"human: {empty}, so there are no labels{more}"
    else:
        more = f"; columns that may be: {listed(may_be)}" if may_be else _seen(sheet)
        first = ". Name a table with people's labels first and this file after it"
        yield f"human: no column is surely a person's label{more}{first if judges and not may_be else ''}"


def _judge_advice(
    sheet: _Sheet,
    read_as: dict[str, str],
    people: Sequence[str],
    judges: Sequence[str],
    may_be: Sequence[str],
) -> Iterator[str]:
    """Yield what to do where no column is surely a judge's."""
    if judges:
        return
    if people and (empty := _empty_of(sheet, read_as, ["judge"])):
        more = f"; columns that may be a judge's: {listed(may_be)}" if may_be else ""
        yield f"judge: {empty}, so there are no scores{more}"
    else:
        more = f"; columns that may be: {listed(may_be)}" if may_be else _seen(sheet) if people else ""
        yield f"judge: no column is surely a judge's{more}"


def _may_rate(sheet: _Sheet, keys: Sequence[str], others: Sequence[str], rated: Sequence[str]) -> list[str]:
    """The columns that may be what nobody named yet: ratings of the texts that other columns rate.

    Not a constant, a number of rows, an id, a price or the circumstances of an answer, such as its epoch; and, beside
    ratings that are known, no column with other words or classes. others: all columns that may rate by their cells. rated:
    those of known raters and judges.
    """
    who = {key: _who_among(sheet, key, others) for key in keys}
    free = [
        key
        for key in keys
        if sheet.of(key).n_different > 1
        and not sheet.of(key).counting
        and not (sheet.of(key).unique and not sheet.of(key).scale and len(sheet.table.records) > _FEW)
        and not is_price_or_time(key)
        and not (who[key] is None and _CIRCUMSTANCES & {*words_in(key)})
    ]
    known = [sheet.of(key) for key in rated]
    return [
        key
        for key in free
        if who[key] not in (None, "plain", "score")
        or any(sheet.of(key).like(one) or one.like(sheet.of(key)) for one in known)
        or (not known and any(sheet.of(key).like(sheet.of(one)) for one in free if one != key))
        or (
            sheet.of(key).kind == "numbers"
            and any(one.kind == "numbers" and not one.numbers for one in known)
        )
    ]


def _empty_of(sheet: _Sheet, read_as: Collection[str], whose: Sequence[Who]) -> str:
    """The columns of these people or judges in which no cell is filled, as the beginning of a message; empty if there is none."""
    found = [
        key
        for key in sheet.table.keys
        if key not in read_as
        and sheet.who(key) in whose
        and not is_about(key)
        and sheet.of(key).kind == "empty"
    ]
    return empty_said(found, len(sheet.table.records)) if found else ""


def empty_said(columns: Sequence[str], n_rows: int) -> str:
    """That columns have no filled cell, as the beginning of a message: `all 80 cells of column label are empty`."""
    if n_rows == 1:
        return f"the only cell of column {listed(columns)} is empty"
    which = "column" if len(columns) == 1 else "each of the columns"
    return f"all {n_rows:,} cells of {which} {listed(columns)} are empty"


def _seen(sheet: _Sheet) -> str:
    """The end of a message: all columns, and why those of people or judges cannot be used."""
    unusable = [
        f"{shown(key)} is {_EMPTY if sheet.of(key).kind == 'empty' else _FREE_TEXT}"
        for key in sheet.table.keys
        if sheet.who(key) in ("person", "settled", "judge")
        and not is_about(key)
        and not sheet.of(key).may_rate
    ]
    return f"; the columns are {listed(sheet.table.keys)}" + (f"; {', '.join(unusable)}" if unusable else "")


def _who_among(sheet: _Sheet, key: str, others: Sequence[str]) -> Who:
    """What a name says beside the names of the other columns."""
    who = sheet.who(key)
    if who is None and (found := _SHORT_NAME.fullmatch(key.strip())):
        same = [one for other in others if (one := _SHORT_NAME.fullmatch(other.strip()))]
        return "person" if sum(one[1].casefold() == found[1].casefold() for one in same) > 1 else None
    if who == "person":
        # Beside human_1 and human_2, a column `human` is their mean or majority.
        own = words_in(key)
        numbered = [
            other
            for other in others
            if other != key and words_in(other)[: len(own)] == own and len(words_in(other)) == len(own) + 1
        ]
        stems = [other for other in others if other != key and [_stem(w) for w in words_in(other)] == [*own]]
        if len([*numbered, *stems]) > 1 and all(sheet.who(other) == "person" for other in numbered):
            return "settled"
    if who in ("judge", "person"):
        cells = sheet.of(key)
        if cells.kind == "labels" and not cells.scale and all(who_in(w) == "judge" for w in cells.words):
            return None  # names of judges, not their scores, nor ratings
    return who


def _judges_by_name(sheet: _Sheet, by_who: Mapping[Who, Sequence[str]], human: Sequence[str]) -> list[str]:
    """Columns whose names are a judge's; without any, scores."""
    found = [key for key in by_who.get("judge", ()) if key not in human]
    # A file that marks its metrics has no others.
    found = [key for key in found if key.startswith(METRIC_MARK)] or found
    scores = [key for key in by_who.get("score", ()) if key not in human]
    for key in found:
        sheet.why[key] = "its name is a judge's or a metric's"
    if found:
        for key in scores:
            sheet.why[key] = "not used: a score beside columns that are surely judges'"
        return found
    for key in scores:
        sheet.why[key] = "its name is a score's, and no other column is a judge's"
    return scores


def _people(
    sheet: _Sheet, by_who: Mapping[Who, Sequence[str]], judges: Sequence[str], judged_elsewhere: bool
) -> list[str]:
    """Columns whose names are people's; without any, the only label that stands for people."""
    people, settled = list(by_who.get("person", ())), list(by_who.get("settled", ()))
    plain = list(by_who.get("plain", ()))
    if people:
        for key in people:
            sheet.why[key] = "its name is a person's or a group of people's"
        for key in settled:
            sheet.why[key] = "not used: stands for the people in other columns"
        for key in plain:
            sheet.why[key] = "not used: may be people's or a judge's"
        return people
    if len(settled) == 1:
        sheet.why[settled[0]] = "its name is that of labels by people"
        return settled
    if settled:
        return []
    surely = [key for key in judges if key in by_who.get("judge", ())]
    if len(plain) == 1 and any(sheet.of(plain[0]).like(sheet.of(key)) for key in surely):
        sheet.why[plain[0]] = "labels beside a column that is surely a judge's"
        return plain
    if judged_elsewhere:
        alone = plain or list(by_who.get("score", ())) or list(by_who.get(None, ()))
        if len(alone) == 1:
            sheet.why[alone[0]] = "the only column of ratings, and the judges' scores are in another file"
            return alone
    return []


def _judge_by_cells(sheet: _Sheet, by_who: Mapping[Who, Sequence[str]], people: Sequence[str]) -> list[str]:
    """The only column of unknown meaning whose cells are among the people's words or classes."""
    alike = [
        key
        for key in by_who.get(None, ())
        if key not in people
        and not sheet.of(key).counting
        and any(sheet.of(key).like(sheet.of(person)) for person in people)
    ]
    if len(alike) != 1:
        return []
    sheet.why[alike[0]] = "the only other column with the people's words or classes"
    return alike


def residual(name: str) -> str:
    """What a name says beside who rated: `human_fluency_1` has fluency. Empty if nothing."""
    known = _PEOPLE | _RATERS | _SETTLED | _MEANS | _JUDGES | _MODELS | _VERDICTS | _RATINGS | _VARIANTS
    return " ".join(
        word
        for word in words_in(name)
        if len(word) > 1
        and not any(char.isdecimal() for char in word)
        and _stem(word) not in known
        and word != "model"
    )


def _one_dimension(
    sheet: _Sheet,
    people: Sequence[str],
    judges: Sequence[str],
    dimension: str | None,
    *,
    chosen: bool,
) -> tuple[list[str], list[str], list[str]]:
    """People and judges of one dimension, where both have columns of several; and the problem if none is chosen."""
    own = {key: residual(key) for key in people}
    said = {key: residual(key) for key in judges}

    def about(key: str, what: str) -> bool:
        return bool(what) and {*what.split()} <= {*words_in(key)}

    shared = [
        what for what in dict.fromkeys(own.values()) if what and any(about(key, what) for key in judges)
    ]
    if (
        chosen
        or not shared
        or ({*own.values()} == {*shared} and len(shared) == 1 and len({*said.values()}) == 1)
    ):
        return list(people), list(judges), []
    if dimension is not None:
        wanted = [what for what in shared if what == " ".join(words_in(dimension))]
    else:
        of_all = [what for what in shared if all(about(key, what) for key in judges)]
        wanted = of_all if len(of_all) == 1 else shared if len(shared) == 1 else []
    if len(wanted) != 1:
        return (
            list(people),
            list(judges),
            [f"dimension: people and judges rate several: {listed(shared)}. Choose one"],
        )
    (what,) = wanted
    kept = [key for key in people if own[key] == what]
    kept_judges = [key for key in judges if about(key, what)]
    for key in (*people, *judges):
        if key not in kept and key not in kept_judges:
            sheet.why[key] = f"not used: rates something other than {what}"
    return kept, kept_judges, []


def _people_of_one_dimension(
    sheet: _Sheet, people: Sequence[str], judges: Sequence[str], dimension: str | None, *, chosen: bool
) -> tuple[list[str], list[str]]:
    """People of one dimension, where several columns are of the same ones; and the problem if none is chosen.

    `rater_anna` and `rater_bob` are two people: what a name says beside who rated is a dimension if two columns say it, of
    people or of a person and a judge. judges: columns of judges, which are nobody's here.
    """
    own = {key: residual(key) for key in people}
    said = [*own.values(), *{residual(key) for key in judges}]
    rated = [what for what in dict.fromkeys(own.values()) if what and said.count(what) > 1]
    if chosen or len({*own.values()}) < 2 or not rated:
        return list(people), []
    wanted = None if dimension is None else " ".join(words_in(dimension))
    if wanted not in rated:
        return list(people), [f"dimension: people rate several: {listed(rated)}. Choose one"]
    for key in people:
        if own[key] != wanted:
            sheet.why[key] = f"not used: rates something other than {wanted}"
    return [key for key in people if own[key] == wanted], []


def _finished(
    sheet: _Sheet,
    read_as: Mapping[str, str],
    human: tuple[str, ...],
    judges: tuple[str, ...],
    problems: Sequence[str],
    *,
    candidates: tuple[str, ...] = (),
    long: tuple[str, str] | None = None,
) -> Roles:
    columns = {name: key for key, name in read_as.items()}
    used = {*human, *judges, *read_as}
    left = [key for key in sheet.table.keys if key not in used]
    groups = []
    for key in left:
        cells = sheet.of(key)
        few = cells.kind == "labels" and not cells.unique and not is_about(key)
        if few and key not in candidates and sheet.who(key) is None:
            groups.append(key)
            sheet.why.setdefault(key, "few different words: a group")
    others = [key for key in left if key not in groups]
    for key in others:
        sheet.why.setdefault(key, "not used")
    return Roles(
        human,
        judges,
        item=columns.get("item_id"),
        system=columns.get("system"),
        language=columns.get("language") or columns.get("language_pair"),
        level=columns.get("level"),
        rater=long[0] if long else None,
        score=long[1] if long else None,
        dimension=columns.get("dimension") if long else None,
        texts=tuple(key for key, name in read_as.items() if name in TEXT_ROLES),
        groups=tuple(groups),
        others=tuple(others),
        candidates=candidates,
        why=dict(sheet.why),
        problems=tuple(problems),
        read_as=dict(read_as),
        people_alone=sheet.people_alone,
    )


def judge_roles(
    table: Table,
    *,
    judges: Sequence[str] = (),
    people: Collection[str] = (),
    is_metric: Callable[[str], bool] = lambda name: False,
) -> Roles:
    """Find the roles of the columns of a judge's own table.

    Wide: the columns that `judges` names, else those named like a judge's, else scores, else the only column of labels or
    numbers. Long: a column names the judge or metric beside a column of scores; it is then `rater`. people: columns and
    raters that the user names as people. These, and what is named like people, are nobody's scores.
    """
    sheet = _Sheet(table, is_metric)
    named = [key for key in judges if key in table.keys]
    read_as = _named(sheet, [key for key in table.keys if key not in named])
    columns = {name: key for key, name in read_as.items()}
    of_people = [
        key
        for key in table.keys
        if key in people
        or (key not in named and key not in read_as and sheet.who(key) in ("person", "settled"))
    ]
    for key in of_people:
        sheet.why[key] = "not used: people's ratings, not a judge's"
    rated = [
        key
        for key in table.keys
        if key not in read_as
        and key not in named
        and key not in of_people
        and not is_about(key)
        and sheet.of(key).may_rate
    ]
    naming = [key for key in table.keys if "_".join(words_in(key)) in _NAMING]
    naming += [key for key in rated if key not in naming and _who_among(sheet, key, rated) != sheet.who(key)]
    score = columns.get("score")
    if score:  # beside a score, words in a column `judge` are the judges' names
        naming += [key for key in rated if "_".join(words_in(key)) in _NAMED_BY and sheet.of(key).words]
        naming = [key for key in naming if not sheet.of(key).scale]
    if not named and score and (who := columns.get("rater") or next(iter(naming), None)):
        read_as = {key: name for key, name in read_as.items() if name not in ("rater", "score")}
        return _finished(sheet, read_as, (), (), (), long=(who, score))
    for role in ("rater", "score", "dimension"):
        if column := columns.get(role):
            del read_as[column]
            rated += [column] if sheet.of(column).may_rate else []
    by_who: dict[Who, list[str]] = {}
    for key in rated:
        by_who.setdefault(_who_among(sheet, key, rated), []).append(key)
    found = named or by_who.get("judge") or by_who.get("score") or []
    if not found:
        usual = [key for key in rated if words_in(key)[-1:] and words_in(key)[-1] in _RATINGS]
        alone = usual if len(usual) == 1 else [key for key in rated if not sheet.of(key).counting]
        found = alone if len(alone) == 1 else []
    theirs = f"; {listed(of_people)}: people's ratings" if of_people else ""
    problems = () if found else (f"judge: no column is surely a judge's{_seen(sheet)}{theirs}",)
    return _finished(sheet, read_as, (), tuple(found), problems, candidates=tuple(rated))


_NAMING = frozenset({"metric", "metric_name", "judge_name", "judge_model", "judge_id", "evaluator_name"})
"""Columns that name the judge of each row of a long table of scores."""
_NAMED_BY = frozenset({"judge", "llm", "llm_judge", "metric", "evaluator"})

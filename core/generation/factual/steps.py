"""The steps of factual perturbation, by a model and by rules: what they are given and leave behind, and the checks of their answers."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import field_validator

from core.errors import InputError
from core.generation.facts import RANKS, Pool, content_words, find_facts
from core.generation.factual.spans import classify
from core.generation.language import count_words, known_language, language_of, same_script, same_text
from core.generation.numbers import NUMBER_CHANGED, WHOLES, Draw, is_part, makes_sense, number_change
from core.generation.parse import Span
from core.generation.replacing import MOST_MORE, MOST_TIMES, match_case, replacement_problem, substitute
from core.generation.scheme import SEED, GenerationSettings
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.parsing import form, is_number, read_object, read_text
from core.llm.prompts import Prompt
from core.schema.runs import PromptSlot
from core.schema.settings import Remark, setting
from core.schema.study import Material
from core.tables.reading import clean_text

A0Origin = Literal["llm", "paraphrase", "verbatim"]
"""Written by the model; taken from the file's paraphrase; the reference word for word."""
FilterOrder = Literal["paper", "trutheval"]
"""`paper`: drop what the question names, then keep the first ceil(k n); `trutheval`: the other way round."""
QuestionFilter = Literal["words", "trutheval"]
"""`words`: punctuation and case off on both sides; `trutheval`: with the quirks of that project's code."""
EditCalls = Literal["each", "shared"]
"""`each`: one call a level, each from the level before, as 003 does; `shared`: one call for all levels."""
Places = tuple[tuple[int, int], ...]
"""Start and end of every span in a text, by span number."""


@dataclass(frozen=True)
class Dropped:
    """A span that is never edited, and why."""

    span: int
    reason: Literal["in the question", "not kept"]
    word: str = ""
    """The word it shares with the question."""


@dataclass(frozen=True)
class Edit:
    """One span's replacement."""

    span: int
    old: str
    new: str
    how: str
    """`llm`, or the rule that made it, such as `year moved`."""


@dataclass(frozen=True)
class FactualLevel:
    """One of A0 ... An."""

    name: str
    text: str
    group: tuple[int, ...] = ()
    """Spans edited at this level, in the order of the text."""
    edits: tuple[Edit, ...] = ()
    attempts: int = 0
    """Answers it took; 0: no model was asked."""
    note: str = ""
    """What is special about this level, such as that no span was left for it."""


@dataclass(frozen=True)
class FactualTrace:
    """Everything that was done to one item. Spans are named by their numbers, in the order of the text."""

    item_id: str
    backend: str
    """`rules`, `openai` or `vllm`."""
    a0_from: A0Origin | None = None
    spans: tuple[Span, ...] = ()
    spans_by: str = ""
    """`spacy MODEL VERSION`, or `rules`."""
    stop_words: str = ""
    """Name of the list used by the question filter."""
    dropped: tuple[Dropped, ...] = ()
    ranking: tuple[int, ...] = ()
    """Most important first: those that were ranked."""
    kept: tuple[int, ...] = ()
    """Those that may be edited, most important first."""
    groups: tuple[tuple[int, ...], ...] = ()
    """One for A1, A2 ..."""
    levels: tuple[FactualLevel, ...] = ()
    """A0 first; as far as it came."""
    notes: tuple[str, ...] = ()
    prompts: dict[str, str] | None = None
    """Step -> sha256 of the prompt file; None without a model."""
    failed_step: str | None = None
    """None: every level was made."""
    reason: str | None = None
    """Why it failed, in the few words it is counted under."""
    detail: str = ""
    temporary: bool = False
    """The failure was the server's: a resumed run tries again."""


MOST_LEVELS = 9
"""Beyond A0: A1 ... A9 keep their order as text."""


class FactualSettings(GenerationSettings):
    """What fixes a run beside model and prompts."""

    n_levels: int = setting(
        4,
        "Levels beyond A0",
        "A0-A4, or the number of levels beyond A0",
        within=(1, MOST_LEVELS),
        option="levels",
        words={"4": "A0-A4"},
    )
    keep: float = setting(
        0.8,
        "Share of facts that may be changed (k)",
        "share of ranked spans that may be edited: the first k of them, rounded up, are spread over the levels",
        within=(0.0001, 1.0),
        step=0.05,
    )
    filter_order: FilterOrder = setting(
        "paper",
        "Order of the filters",
        "paper: drop what the question names, then keep; trutheval: the other way round",
        words={
            "paper": "drop what the question names, then keep a share (as the paper says)",
            "trutheval": "keep a share, then drop what the question names (as its code does)",
        },
    )
    question_filter: QuestionFilter = setting(
        "words",
        "A fact is in the question if it shares",
        "words: case and punctuation off on both sides; trutheval: as that code does it",
        words={
            "words": "words, without case and punctuation",
            "trutheval": "as the paper's code compares them, quirks included",
        },
    )
    edit_calls: EditCalls = setting(
        "each",
        "Calls for the edits",
        "each: one call a level, as the paper; shared: one for all levels",
        words={
            "each": "one call a level, each from the level before (as the paper)",
            "shared": "one call for all levels (cheaper)",
        },
    )
    planning: Literal["none", "alternatives"] = setting(
        "none",
        "Before an edit",
        "alternatives: the model lists two or three for every fact before it chooses, as Factual asks it to",
        words={
            "none": "nothing: the model replaces at once (cheaper)",
            "alternatives": "two or three alternatives for every fact (as Factual)",
        },
    )
    parser: str = setting(
        "auto",
        "Facts are found by",
        "what finds facts: auto (a dependency parse by spaCy where it is set up, else rules), rules, or the name of a spaCy "
        "pipeline",
    )
    seed: int = SEED

    @field_validator("n_levels", mode="before")
    @classmethod
    def _levels(cls, given: object) -> object:
        """A0-A4 is 4."""
        if not isinstance(given, str):
            return given
        number = given.strip().upper().removeprefix("A0-A")
        if not (number.isascii() and number.isdigit()):
            raise ValueError(
                f"{given!r} is neither A0-A1 ... A0-A{MOST_LEVELS} nor a number of levels beyond A0"
            )
        return int(number)

    @property
    def level_names(self) -> tuple[str, ...]:
        """See GenerationSettings."""
        return tuple(f"A{number}" for number in range(self.n_levels + 1))

    @property
    def first_level(self) -> str:
        """See GenerationSettings."""
        return self.level_names[0]

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """A paraphrase, a ranking and edits, unless rules make them."""
        if by_rules:
            return ()
        edit, instead = ("edit", ("edit-text",)) if self.edit_calls == "each" else ("edit-shared", ())
        if self.planning == "alternatives":
            edit, instead = "edit-planned", ()
        slots = (("paraphrase", ()), ("rank", ()), (edit, instead))
        return tuple(PromptSlot(purpose, f"factual-{purpose}", instead=others) for purpose, others in slots)

    def problems(self, backend: str) -> Iterator[Remark]:
        """Planning is of one level's edits."""
        if backend != "rules" and self.planning == "alternatives" and self.edit_calls == "shared":
            yield Remark("planning", "alternatives are planned level by level; choose {edit_calls=each}")

    def idle(self, backend: str) -> frozenset[str]:
        """Rules make all levels at once."""
        return frozenset({"edit_calls", "planning"}) if backend == "rules" else frozenset()


@dataclass(frozen=True)
class EditTask:
    """One level's edit: the text of the level before, and where every span of A0 stands in it now."""

    level: int
    """1 for A1."""
    text: str
    places: Places
    """Nothing else in the text differs from A0."""
    group: tuple[int, ...]
    """Spans to change now."""
    held: tuple[int, ...]
    """Kept spans that must stand as they are: the groups of later levels."""
    spans: tuple[Span, ...]
    """As they were in A0."""
    levels: int = 0
    """Levels of the whole run beyond A0; 0: not said."""

    def span(self, number: int) -> str:
        """What stands in the text for a span of A0."""
        return self.text[slice(*self.places[number])]


def splice(text: str, places: Places, edits: Iterable[Edit]) -> tuple[str, Places]:
    """The text with the edits in their places, and where every span stands afterwards."""
    new = {edit.span: edit.new for edit in edits}
    pieces: list[str] = []
    moved: dict[int, tuple[int, int]] = {}
    end = length = 0
    for number in sorted(range(len(places)), key=lambda number: places[number]):
        start, stop = places[number]
        content = new.get(number, text[start:stop])
        pieces += [text[end:start], content]
        length += start - end
        moved[number] = (length, length + len(content))
        length += len(content)
        end = stop
    return "".join([*pieces, text[end:]]), tuple(moved[number] for number in range(len(places)))


def edits_problem(task: EditTask, edits: Sequence[Edit]) -> Unusable | None:
    """What keeps the edits from making this level: each span of the group once, none else, each really changed."""
    numbers = [edit.span for edit in edits]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        return Unusable(f"Span {twice[0]} is replaced more than once.", "span repeated")
    if held := sorted(set(numbers) & set(task.held)):
        return Unusable(f"Span {held[0]} has to stay as it is.", "protected span changed")
    if strange := sorted(set(numbers) - set(task.group)):
        return Unusable(f"Span {strange[0]} is not among those to change.", "protected span changed")
    if missing := sorted(set(task.group) - set(numbers)):
        return Unusable(f"Span {missing[0]} has no replacement.", "span missing")
    found = (replacement_problem(task.span(edit.span), edit.new, task.text) for edit in edits)
    return next(filter(None, found), None)


def fixed_text(text: str, places: Places) -> tuple[str, ...]:
    """What stands before, between and after the spans."""
    order = sorted(places)
    starts, ends = [start for start, _ in order], [end for _, end in order]
    return tuple(text[a:b] for a, b in zip([0, *ends], [*starts, len(text)], strict=True))


def between(pieces: Sequence[str], text: str) -> tuple[str, ...] | None:
    """What a text has in the gaps between the pieces, each gap as short as can be; None: it does not hold them.

    The text has to begin with the first piece and to end with the last. No gap is empty.
    """
    first, *rest = pieces
    if not rest:
        return () if text == first else None
    *middle, last = rest
    if not text.startswith(first):
        return None
    found: list[str] = []
    at = len(first)
    for piece in middle:
        start = text.find(piece, at + 1)
        if start < 0:
            return None
        found.append(text[at:start])
        at = start + len(piece)
    end = len(text) - len(last)
    if end <= at or not text.endswith(last):
        return None
    return (*found, text[at:end])


def _defused(text: str) -> str:
    """The text with round brackets for characters that would be taken for marks."""
    return text.translate(str.maketrans("⟦⟧⟪⟫", "()()"))


def _bracket_free(text: str) -> str:
    """The same for the marks of 003: square brackets and braces. Length and places stay."""
    return text.translate(str.maketrans("[]{}", "()()"))


def with_brackets(
    text: str,
    places: Places,
    numbers: Collection[int],
    held: Collection[int] = (),
    defuse: Callable[[str], str] = str,
) -> str:
    """The text with [...] around spans, and {{...}} around those held, as 003 has it in reports and prompts."""
    marks = dict.fromkeys(numbers, ("[", "]")) | dict.fromkeys(held, ("{{", "}}"))
    return _marked(text, places, marks, defuse)


def _numbered(text: str, places: Places, numbers: Collection[int], held: Collection[int] = ()) -> str:
    """The text with ⟦3: ...⟧ around the numbered spans and ⟪...⟫ around those held."""
    marks = {number: (f"⟦{number}: ", "⟧") for number in numbers} | dict.fromkeys(held, ("⟪", "⟫"))
    return _marked(text, places, marks, _defused)


def _marked(
    text: str, places: Places, marks: Mapping[int, tuple[str, str]], defuse: Callable[[str], str]
) -> str:
    pieces: list[str] = []
    end = 0
    for number in sorted(marks, key=lambda number: places[number]):
        start, stop = places[number]
        opening, closing = marks[number]
        pieces += [defuse(text[end:start]), opening, defuse(text[start:stop]), closing]
        end = stop
    return "".join([*pieces, defuse(text[end:])])


def _span_list(text: str, places: Places, numbers: Sequence[int]) -> str:
    """One line a span: its number and its text."""
    return "\n".join(f"{number}: {_defused(text[slice(*places[number])])}" for number in numbers)


ROOM = 400
"""Tokens an answer may have besides those that its own text needs."""
_NUMBER_TOKENS = 6
FEWEST_ALTERNATIVES, MOST_ALTERNATIVES = 2, 3
"""What Factual asks for, for each span."""
_SHORTEST, _LONGEST = 0.5, 2.0
"""A paraphrase keeps every fact, so it has between half and double the reference's words."""
_SHORT_TEXT = 8
"""Words below which a paraphrase's length says nothing."""


class LlmSteps:
    """Steps by a model. The prompts stand under their purposes: `paraphrase` (none: no paraphrase is asked for),
    `rank`, and one of `edit`, `edit-planned` (alternatives first), `edit-shared` (all levels in one call) and `edit-text` (the whole text comes back,
    as in 003).
    """

    def __init__(
        self, model: Model, prompts: Mapping[str, Prompt], settings: FactualSettings | None = None
    ) -> None:
        self._model, self._prompts = model, dict(prompts)
        self._settings = settings or FactualSettings()
        slot = self._settings.prompts(by_rules=False)[-1]
        wanted = (*slot.instead, slot.purpose)
        found = next((purpose for purpose in wanted if purpose in prompts), "")
        missing = [] if "rank" in prompts else ["there is no prompt for rank"]
        if not found:
            calls = f"edit calls: {self._settings.edit_calls}"
            missing.append(f"there is no prompt for {' or '.join(wanted)} ({calls})")
        if missing:
            raise InputError("The factual scheme cannot be made with these prompts", missing)
        self._edit_purpose = found
        self.backend = model.client.backend
        self.prompts = {step: prompt.sha256 for step, prompt in prompts.items()}

    async def paraphrase(self, material: Material) -> Answer[str] | None:
        """The reference in the model's words; None where no prompt for it was given."""
        if "paraphrase" not in self._prompts:
            return None
        item = material.item
        request = self._request(
            "paraphrase", ROOM + len(item.reference), None, question=item.question, reference=item.reference
        )
        return await self._model.ask(request, lambda text: read_paraphrase(text, material))

    async def rank(
        self, material: Material, text: str, spans: Sequence[Span], candidates: Sequence[int]
    ) -> Answer[tuple[int, ...]]:
        """The candidates by importance; nobody is asked about one or none."""
        if len(candidates) < 2:
            return Answer(tuple(candidates), attempts=0)
        places = tuple((span.start, span.end) for span in spans)
        number, n = {"type": "integer", "enum": sorted(candidates)}, len(candidates)
        request = self._request(
            "rank",
            ROOM + _NUMBER_TOKENS * n,
            form(ranking={"type": "array", "items": number, "minItems": n, "maxItems": n}),
            question=material.item.question,
            text=_numbered(text, places, candidates),
            spans=_span_list(text, places, sorted(candidates)),
        )
        return await self._model.ask(request, lambda reply: _read_ranking(reply, candidates))

    async def edit(
        self, material: Material, tasks: Sequence[EditTask]
    ) -> Answer[tuple[tuple[Edit, ...], ...]]:
        """Replacements for every span of each task's group; nobody is asked about an empty group."""
        numbers = [number for task in tasks for number in task.group]
        if not numbers:
            return Answer(tuple(() for _ in tasks), attempts=0)
        first, purpose = tasks[0], self._edit_purpose
        variables: dict[str, str | int] = {"levels": max(tasks[-1].level, tasks[-1].levels)}
        if purpose != "edit-shared":
            variables["level"] = first.level
        if purpose == "edit-text":
            text = with_brackets(first.text, first.places, numbers, first.held, _bracket_free)
            request = self._request(purpose, ROOM + 2 * len(first.text), None, text=text, **variables)
            return await self._model.ask(request, lambda reply: (_read_edited_text(reply, first),))
        planned, held = purpose == "edit-planned", first.held
        spans = _span_list(first.text, first.places, first.group)
        if purpose == "edit-shared":
            held = ()
            groups = (f"Level {t.level}\n{_span_list(t.text, t.places, t.group)}" for t in tasks if t.group)
            spans = "\n".join(groups)
        tokens = ROOM + sum(_NUMBER_TOKENS + 2 * len(task.span(n)) for task in tasks for n in task.group)
        request = self._request(
            purpose,
            tokens * (1 + MOST_ALTERNATIVES * planned),
            _replacements_schema(tasks, planned),
            text=_numbered(first.text, first.places, numbers, held),
            spans=spans,
            **variables,
        )
        return await self._model.ask(request, lambda reply: _read_replacements(reply, tasks, planned))

    def _request(
        self, purpose: str, max_tokens: int, schema: Mapping[str, object] | None, **variables: str | int
    ) -> Request:
        messages = self._prompts[purpose].messages(**variables)
        step = "edit" if purpose == self._edit_purpose else purpose
        return Request(step, messages, max_tokens=max_tokens, seed=self._settings.seed, schema=schema)


def read_paraphrase(text: str, material: Material) -> str:
    """The paraphrase of the reference; raises Unusable unless it is another text of the same script and about the same
    length, with the same numbers.
    """
    item, reference = material.item, material.item.reference
    written = clean_text(read_text(text))
    if not written:
        raise Unusable("It holds no text.", "empty")
    if same_text(" ".join(reference.split()), " ".join(written.split())):
        raise Unusable("It repeats the reference word for word.", "not a paraphrase")
    if not same_script(reference, written):
        raise Unusable("It is in another script than the reference: keep its language.", "script changed")
    before, after = count_words(reference), count_words(written)
    if before >= _SHORT_TEXT and not _SHORTEST * before <= after <= _LONGEST * before:
        wrong = "shorter" if after < before else "longer"
        raise Unusable(
            f"It is far {wrong} than the reference ({after} words, {before} there).", "length changed"
        )
    language = known_language(item.language, reference)
    if (changed := number_change(language, reference, written, item.question)) is not None:
        raise Unusable(changed, NUMBER_CHANGED)
    return written


def _replacements_schema(tasks: Sequence[EditTask], planned: bool) -> dict[str, object]:
    """One replacement for every span of the groups. planned: alternatives come before it."""
    numbers = sorted(number for task in tasks for number in task.group)
    longest = max(len(task.span(number)) for task in tasks for number in task.group)
    # A bound here keeps a model that cannot stop from using up all its tokens on one text.
    most = MOST_TIMES * longest + MOST_MORE
    text: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": most}
    options = {"alternatives": _alternatives(text)} if planned else {}
    replacement = form(span={"type": "integer", "enum": numbers}, **options, text=text)
    n = len(numbers)
    return form(replacements={"type": "array", "items": replacement, "minItems": n, "maxItems": n})


def _alternatives(text: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": text, "minItems": FEWEST_ALTERNATIVES, "maxItems": MOST_ALTERNATIVES}


def _read_replacements(text: str, tasks: Sequence[EditTask], planned: bool) -> tuple[tuple[Edit, ...], ...]:
    """Each task's edits in the order of the text; raises Unusable where one cannot stand.

    planned: where the alternatives are missing, the model did not plan, and its answer does not count.
    """
    entry: dict[str, object] = {
        "type": "object",
        "properties": {"span": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["span", "text"],
    }
    if planned:
        options = _alternatives({"type": "string"})
        entry = form(span={"type": "integer"}, alternatives=options, text={"type": "string"})
    value = read_object(text, replacements={"type": "array", "items": entry})
    owner = {number: task for task in tasks for number in task.group}
    by_task: list[list[Edit]] = [[] for _ in tasks]
    for one in value["replacements"]:
        number = int(one["span"])
        # A number that belongs to no task is left with the first, whose check says what is wrong with it.
        task = owner.get(number, tasks[0])
        old = task.span(number) if 0 <= number < len(task.places) else ""
        by_task[tasks.index(task)].append(Edit(number, old, str(one["text"]).strip(), "llm"))
    return tuple(_checked(task, edits) for task, edits in zip(tasks, by_task, strict=True))


def _read_edited_text(text: str, task: EditTask) -> tuple[Edit, ...]:
    """The replacements in a text that came back whole; raises Unusable where anything else is not as it was."""
    written = read_text(text)
    plain = written.replace("{{", "").replace("}}", "")
    if any(mark in plain for mark in "[]{}"):
        raise Unusable(
            "It still holds [, ], { or }: take the brackets away from what you changed.", "marks left in"
        )
    order = sorted(task.group, key=lambda number: task.places[number])
    pieces = fixed_text(_bracket_free(task.text), tuple(task.places[number] for number in order))
    # A reader of answers takes blanks at both ends away.
    pieces = (pieces[0].lstrip(), *pieces[1:-1], pieces[-1].rstrip())
    found = between(pieces, plain)
    if found is None:
        marks = ("{{", "}}") if "{{" in written else ("", "")
        held = (_bracket_free(task.span(number)) for number in task.held)
        if (lost := next((span for span in held if span.join(marks) not in written), None)) is not None:
            raise Unusable(f"“{lost}” has to stay as it is.", "protected span changed")
        raise Unusable("Text outside the square brackets is not as it was.", "text around changed")
    edits = [Edit(n, task.span(n), new.strip(), "llm") for n, new in zip(order, found, strict=True)]
    return _checked(task, edits)


def _checked(task: EditTask, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    if problem := edits_problem(task, edits):
        raise problem
    return tuple(sorted(edits, key=lambda edit: task.places[edit.span]))


def _read_ranking(text: str, candidates: Sequence[int]) -> tuple[int, ...]:
    """The candidates, most important first. Raises Unusable unless each stands there exactly once."""
    ranking = read_object(text, ranking={})["ranking"]
    if not isinstance(ranking, list) or not all(is_number(one) and one == int(one) for one in ranking):
        raise Unusable("`ranking` has to be a list of whole numbers.", "invalid")
    numbers = tuple(int(entry) for entry in ranking)
    wrong = ""
    if missing := sorted(set(candidates) - set(numbers)):
        wrong = f"{', '.join(map(str, missing[:5]))} is missing: rank every number."
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        wrong = f"{twice[0]} stands there more than once."
    if strange := sorted(set(numbers) - set(candidates)):
        wrong = f"{strange[0]} is not among the numbers to rank."
    if wrong:
        raise Unusable(wrong, "not a permutation")
    return numbers


MOST_REDRAWS = 8
"""Other draws tried where the new numbers contradict each other."""


class RuleSteps:
    """The steps that need judgement, by rule. The same seed and pool give the same output."""

    backend = "rules"
    prompts = None

    def __init__(self, pool: Pool, seed: int = 0) -> None:
        self._pool, self._seed = pool, seed

    async def paraphrase(self, material: Material) -> Answer[str] | None:
        """Rules write no paraphrase: the file's is taken, or the reference word for word."""
        return None

    async def rank(
        self, material: Material, text: str, spans: Sequence[Span], candidates: Sequence[int]
    ) -> Answer[tuple[int, ...]]:
        """Numbers, dates and names first, then terms and opposites, then hedges; ties by place in the text."""
        language = language_of(material)
        return Answer(
            tuple(sorted(candidates, key=lambda n: (self._rank(spans[n], language), spans[n].start)))
        )

    def _rank(self, span: Span, language: str) -> int:
        kind = _kind(span, language)
        own = RANKS.get(kind, 1)
        found = [fact.rank for fact in find_facts(span.text, language, self._pool)]
        # A long span counts for the best it holds: "in the bakery of Thomas Farriner" holds a name.
        return min([own, *found]) if kind != "hedge" else own

    async def edit(
        self, material: Material, tasks: Sequence[EditTask]
    ) -> Answer[tuple[tuple[Edit, ...], ...]]:
        """One substitution for every span of each group; the same text gets the same replacement in a group."""
        return Answer(tuple(self._edits(material, task) for task in tasks))

    def _edits(self, material: Material, task: EditTask) -> tuple[Edit, ...]:
        language = language_of(material)
        draw = Draw(self._seed, material.item.item_id, f"A{task.level}")
        edits = self._drawn(task, language, draw)
        for turn in range(MOST_REDRAWS):
            if makes_sense(splice(task.text, task.places, edits)[0], language):
                return edits
            edits = self._drawn(task, language, draw.child("again", turn))
        return tuple(_without_part(task, edit, language, draw) for edit in edits)

    def _drawn(self, task: EditTask, language: str, draw: Draw) -> tuple[Edit, ...]:
        held = [fact.text for fact in find_facts(task.text, language, self._pool)]
        around = tuple(task.text[a:b] for a, b in content_words(task.text, language))
        made: dict[str, tuple[str, str]] = {}
        edits = []
        for number in sorted(task.group, key=lambda n: task.places[n]):
            old = task.span(number)
            if old not in made:
                used = [*held, *(new for new, _ in made.values())]
                kind = _kind(task.spans[number], language)
                made[old] = substitute(old, kind, language, self._pool, draw, used, around)
            edits.append(Edit(number, old, *made[old]))
        return tuple(edits)


def _kind(span: Span, language: str) -> str:
    return span.kind if span.kind in RANKS else classify(span.text, language)


def _without_part(task: EditTask, edit: Edit, language: str, draw: Draw) -> Edit:
    """`all of which` for `two of which`: no number stands there that could be too large."""
    words = WHOLES.get(language, ())
    if not words or edit.how != "number moved" or not is_part(task.text, task.places[edit.span][1]):
        return edit
    return Edit(edit.span, edit.old, match_case(edit.old, draw.choose(words, "whole")), "part swapped")

"""The steps of factual perturbation, by a model and by rules: settings, traces, and checks of answers."""

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
"""Origin of A0: written by the model, the file's paraphrase, or the reference word for word."""
FilterOrder = Literal["paper", "trutheval"]
"""`paper`: drop spans that the question names, then keep the first ceil(k n); `trutheval`: the reverse."""
QuestionFilter = Literal["words", "trutheval"]
"""`words`: ignores punctuation and case on both sides; `trutheval`: compares as Factual's code does."""
EditCalls = Literal["each", "shared"]
"""`each`: one call a level, each from the level before, as in Factual; `shared`: one call for all levels."""
Places = tuple[tuple[int, int], ...]
"""Start and end of every span in a text, by span number."""


@dataclass(frozen=True)
class Dropped:
    """A span that is never edited, with the reason."""

    span: int
    reason: Literal["in the question", "not kept"]
    word: str = ""
    """The word that it shares with the question."""


@dataclass(frozen=True)
class Edit:
    """One span's replacement."""

    span: int
    old: str
    new: str
    how: str
    """How it was made: `llm`, or a rule such as `year moved`."""


@dataclass(frozen=True)
class FactualLevel:
    """One of the levels A0 to An."""

    name: str
    text: str
    group: tuple[int, ...] = ()
    """Spans edited at this level, in the order of the text."""
    edits: tuple[Edit, ...] = ()
    attempts: int = 0
    """Number of answers requested; 0 if no model was used."""
    note: str = ""
    """A remark on this level, such as that no span was left for it."""


@dataclass(frozen=True)
class FactualTrace:
    """Record of everything that was done to one item. Spans are numbered in the order of the text."""

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
    """Ranked spans, most important first."""
    kept: tuple[int, ...] = ()
    """Spans that may be edited, most important first."""
    groups: tuple[tuple[int, ...], ...] = ()
    """One group of spans for each of A1, A2 ..."""
    levels: tuple[FactualLevel, ...] = ()
    """The levels that were made, A0 first."""
    notes: tuple[str, ...] = ()
    prompts: dict[str, str] | None = None
    """Step -> sha256 of the prompt file; None without a model."""
    failed_step: str | None = None
    """The step that failed; None if every level was made."""
    reason: str | None = None
    """Kind of failure, as it is counted."""
    detail: str = ""
    temporary: bool = False
    """Whether the server caused the failure, so that a resumed run tries again."""


MOST_LEVELS = 9
"""Most levels beyond A0; the names A1 to A9 sort correctly as text."""


class FactualSettings(GenerationSettings):
    """Settings that, with model and prompts, determine a run."""

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
        "share of the ranked facts to change: the most important ones, rounded up, are divided among the levels",
        within=(0.0001, 1.0),
        step=0.05,
    )
    filter_order: FilterOrder = setting(
        "paper",
        "Order of the filters",
        "paper: drop spans that the question names, then keep a share; trutheval: the reverse",
        words={
            "paper": "drop what the question names, then keep a share (as Factual describes)",
            "trutheval": "keep a share, then drop what the question names (as Factual's code does)",
        },
    )
    question_filter: QuestionFilter = setting(
        "words",
        "A fact is in the question if it shares",
        "words: ignore case and punctuation on both sides; trutheval: compare as Factual's code does",
        words={
            "words": "words, ignoring case and punctuation",
            "trutheval": "words, compared as in Factual's code, quirks included",
        },
    )
    edit_calls: EditCalls = setting(
        "each",
        "Calls for the edits",
        "each: one call per level, as in Factual; shared: one call for all levels",
        words={
            "each": "one call per level, each from the level before (as in Factual)",
            "shared": "one call for all levels (cheaper)",
        },
    )
    planning: Literal["none", "alternatives"] = setting(
        "none",
        "Before an edit",
        "alternatives: the model lists two or three for every fact before it chooses, as in Factual",
        words={
            "none": "nothing: the model replaces at once (cheaper)",
            "alternatives": "two or three alternatives for every fact (as in Factual)",
        },
    )
    parser: str = setting(
        "auto",
        "Facts are found by",
        "how to find facts: auto (spaCy's dependency parse if it is set up, else rules), rules, or the name of a spaCy "
        "pipeline",
    )
    seed: int = SEED

    @field_validator("n_levels", mode="before")
    @classmethod
    def _levels(cls, given: object) -> object:
        """The number of levels beyond A0: A0-A4 gives 4."""
        if not isinstance(given, str):
            return given
        number = given.strip().upper().removeprefix("A0-A")
        if not (number.isascii() and number.isdigit()):
            raise ValueError(
                f"{given!r} is neither a range from A0-A1 to A0-A{MOST_LEVELS} nor a number of levels beyond A0"
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
        """Report that planning needs one call per level."""
        if backend != "rules" and self.planning == "alternatives" and self.edit_calls == "shared":
            yield Remark("planning", "alternatives are planned level by level; choose {edit_calls=each}")

    def idle(self, backend: str) -> frozenset[str]:
        """Settings that rules ignore, because they make all levels at once."""
        return frozenset({"edit_calls", "planning"}) if backend == "rules" else frozenset()


@dataclass(frozen=True)
class EditTask:
    """The input for one level's edits: the text of the level before, with the current places of A0's spans."""

    level: int
    """1 for A1."""
    text: str
    places: Places
    """Places of the spans; the text differs from A0 only there."""
    group: tuple[int, ...]
    """Spans to change at this level."""
    held: tuple[int, ...]
    """Kept spans that must not change: the groups of later levels."""
    spans: tuple[Span, ...]
    """The spans in A0."""
    levels: int = 0
    """Levels of the whole run beyond A0; 0 if unknown."""

    def span(self, number: int) -> str:
        """The current text of a span of A0."""
        return self.text[slice(*self.places[number])]


def splice(text: str, places: Places, edits: Iterable[Edit]) -> tuple[str, Places]:
    """The text with the edits applied, and the new places of all spans."""
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
    """Why the edits cannot make this level; None if they change each span of the group once and no others."""
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
    """The parts of the text before, between and after the spans."""
    order = sorted(places)
    starts, ends = [start for start, _ in order], [end for _, end in order]
    return tuple(text[a:b] for a, b in zip([0, *ends], [*starts, len(text)], strict=True))


def gap_contents(pieces: Sequence[str], text: str) -> tuple[str, ...] | None:
    """The contents of the gaps between the pieces in a text, each as short as possible; None if the pieces do not match.

    The text must begin with the first piece and end with the last. No gap may be empty.
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
    """The text with round brackets in place of characters that look like marks."""
    return text.translate(str.maketrans("⟦⟧⟪⟫", "()()"))


def _bracket_free(text: str) -> str:
    """The text with round brackets in place of Factual's marks, square brackets and braces; the length stays."""
    return text.translate(str.maketrans("[]{}", "()()"))


def bracket_spans(
    text: str,
    places: Places,
    numbers: Collection[int],
    held: Collection[int] = (),
    defuse: Callable[[str], str] = str,
) -> str:
    """The text with [...] around spans and {{...}} around held spans, as in Factual's reports and prompts."""
    marks = dict.fromkeys(numbers, ("[", "]")) | dict.fromkeys(held, ("{{", "}}"))
    return _marked(text, places, marks, defuse)


def _numbered(text: str, places: Places, numbers: Collection[int], held: Collection[int] = ()) -> str:
    """The text with ⟦3: ...⟧ around numbered spans and ⟪...⟫ around held spans."""
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
    """A list of spans for a prompt: number and text, one a line."""
    return "\n".join(f"{number}: {_defused(text[slice(*places[number])])}" for number in numbers)


ROOM = 400
"""Tokens for an answer beyond those that its text needs."""
_NUMBER_TOKENS = 6
FEWEST_ALTERNATIVES, MOST_ALTERNATIVES = 2, 3
"""Alternatives for each span, as in Factual."""
_SHORTEST, _LONGEST = 0.5, 2.0
"""Allowed length of a paraphrase, relative to the reference's words: a paraphrase keeps every fact."""
_SHORT_TEXT = 8
"""Fewest words of a reference for which a paraphrase's length is checked."""


class LlmSteps:
    """The steps by a model.

    The prompts are named by purpose: `paraphrase` (without it, none is requested), `rank`, and one of `edit`,
    `edit-planned` (alternatives first), `edit-shared` (all levels in one call) and `edit-text` (the model returns the
    whole text, as in Factual).
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
            raise InputError("Prompts for the factual scheme are missing", missing)
        self._edit_purpose = found
        self.backend = model.client.backend
        self.prompts = {step: prompt.sha256 for step, prompt in prompts.items()}

    async def paraphrase(self, material: Material) -> Answer[str] | None:
        """The reference paraphrased by the model; None without a prompt for it."""
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
        """The candidates by importance; the model is not asked about fewer than two."""
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
        """Replacements for every span in each task's group; the model is not asked about empty groups."""
        numbers = [number for task in tasks for number in task.group]
        if not numbers:
            return Answer(tuple(() for _ in tasks), attempts=0)
        first, purpose = tasks[0], self._edit_purpose
        variables: dict[str, str | int] = {"levels": max(tasks[-1].level, tasks[-1].levels)}
        if purpose != "edit-shared":
            variables["level"] = first.level
        if purpose == "edit-text":
            text = bracket_spans(first.text, first.places, numbers, first.held, _bracket_free)
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
    """The paraphrase of the reference.

    Raises Unusable unless it differs from the reference, with the same script and numbers and about the same length.
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
    """The form of an answer: one replacement for every span of the groups. planned: with alternatives first."""
    numbers = sorted(number for task in tasks for number in task.group)
    longest = max(len(task.span(number)) for task in tasks for number in task.group)
    # This bound prevents a model that cannot stop from spending all its tokens on one text.
    most = MOST_TIMES * longest + MOST_MORE
    text: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": most}
    options = {"alternatives": _alternatives(text)} if planned else {}
    replacement = form(span={"type": "integer", "enum": numbers}, **options, text=text)
    n = len(numbers)
    return form(replacements={"type": "array", "items": replacement, "minItems": n, "maxItems": n})


def _alternatives(text: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": text, "minItems": FEWEST_ALTERNATIVES, "maxItems": MOST_ALTERNATIVES}


def _read_replacements(text: str, tasks: Sequence[EditTask], planned: bool) -> tuple[tuple[Edit, ...], ...]:
    """Each task's edits in the order of the text. Raises Unusable if one cannot be used.

    planned: an answer without alternatives is unusable, because the model did not plan.
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
        # A number without a task goes to the first task, whose check reports the problem.
        task = owner.get(number, tasks[0])
        old = task.span(number) if 0 <= number < len(task.places) else ""
        by_task[tasks.index(task)].append(Edit(number, old, str(one["text"]).strip(), "llm"))
    return tuple(_checked(task, edits) for task, edits in zip(tasks, by_task, strict=True))


def _read_edited_text(text: str, task: EditTask) -> tuple[Edit, ...]:
    """The replacements in a whole text from the model. Raises Unusable if anything else changed."""
    written = read_text(text)
    plain = written.replace("{{", "").replace("}}", "")
    if any(mark in plain for mark in "[]{}"):
        raise Unusable(
            "It still holds [, ], { or }: take the brackets away from what you changed.", "marks left in"
        )
    order = sorted(task.group, key=lambda number: task.places[number])
    pieces = fixed_text(_bracket_free(task.text), tuple(task.places[number] for number in order))
    # read_text strips spaces at both ends.
    pieces = (pieces[0].lstrip(), *pieces[1:-1], pieces[-1].rstrip())
    found = gap_contents(pieces, plain)
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
    """The candidates, most important first. Raises Unusable unless each occurs exactly once."""
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
"""Most further draws if the new numbers contradict each other."""


class RuleSteps:
    """The steps by rules. The same seed and pool give the same output."""

    backend = "rules"
    prompts = None

    def __init__(self, pool: Pool, seed: int = 0) -> None:
        self._pool, self._seed = pool, seed

    async def paraphrase(self, material: Material) -> Answer[str] | None:
        """None: rules write no paraphrase, so A0 is the file's paraphrase or the reference."""
        return None

    async def rank(
        self, material: Material, text: str, spans: Sequence[Span], candidates: Sequence[int]
    ) -> Answer[tuple[int, ...]]:
        """The candidates: numbers, dates and names first, then terms and antonyms, then hedges; ties in text order."""
        language = language_of(material)
        return Answer(
            tuple(sorted(candidates, key=lambda n: (self._rank(spans[n], language), spans[n].start)))
        )

    def _rank(self, span: Span, language: str) -> int:
        kind = _kind(span, language)
        own = RANKS.get(kind, 1)
        found = [fact.rank for fact in find_facts(span.text, language, self._pool)]
        # A long span ranks by its best fact: "in the bakery of Thomas Farriner" contains a name.
        return min([own, *found]) if kind != "hedge" else own

    async def edit(
        self, material: Material, tasks: Sequence[EditTask]
    ) -> Answer[tuple[tuple[Edit, ...], ...]]:
        """One substitution for every span in each group; equal texts in a group get the same replacement."""
        return Answer(tuple(self._edits(material, task) for task in tasks))

    def _edits(self, material: Material, task: EditTask) -> tuple[Edit, ...]:
        language = language_of(material)
        draw = Draw(self._seed, material.item.item_id, f"A{task.level}")
        edits = self._drawn(task, language, draw)
        for turn in range(MOST_REDRAWS):
            if makes_sense(splice(task.text, task.places, edits)[0], language):
                return edits
            edits = self._drawn(task, language, draw.child("again", turn))
        return tuple(_reword_part(task, edit, language, draw) for edit in edits)

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


def _reword_part(task: EditTask, edit: Edit, language: str, draw: Draw) -> Edit:
    """The edit with a word in place of a part that could be too large: `all of which` for `two of which`."""
    words = WHOLES.get(language, ())
    if not words or edit.how != "number moved" or not is_part(task.text, task.places[edit.span][1]):
        return edit
    return Edit(edit.span, edit.old, match_case(edit.old, draw.choose(words, "whole")), "part swapped")

"""The steps of factual perturbation asked of a model, with spans marked in texts: every answer is checked before it counts."""

from collections.abc import Callable, Collection, Mapping, Sequence

from core.errors import InputError
from core.generation.factual.parse import Span
from core.generation.factual.steps import (
    MOST_MORE,
    MOST_TIMES,
    Edit,
    EditTask,
    FactualSettings,
    Places,
    between,
    edits_problem,
    fixed_text,
)
from core.generation.language import count_words, known_language, same_script, same_text
from core.generation.numbers import NUMBER_CHANGED, number_change
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.parsing import form, is_number, read_object, read_text
from core.llm.prompts import Prompt
from core.schema.study import Material
from core.tables.reading import clean_text

_LOOK_ALIKES = str.maketrans({"⟦": "(", "⟧": ")", "⟪": "(", "⟫": ")"})
_BRACKETS = str.maketrans({"[": "(", "]": ")", "{": "(", "}": ")"})


def defused(text: str) -> str:
    """The text with round brackets for characters that would be taken for marks."""
    return text.translate(_LOOK_ALIKES)


def bracket_free(text: str) -> str:
    """The same for the marks of 003: square brackets and braces. Length and places stay."""
    return text.translate(_BRACKETS)


def numbered(text: str, places: Places, numbers: Collection[int], held: Collection[int] = ()) -> str:
    """The text with ⟦3: ...⟧ around the numbered spans and ⟪...⟫ around those held."""
    marks = {number: (f"⟦{number}: ", "⟧") for number in numbers}
    marks |= dict.fromkeys(held, ("⟪", "⟫"))
    return _marked(text, places, marks, defused)


def bracketed(text: str, places: Places, numbers: Collection[int], held: Collection[int] = ()) -> str:
    """The text with [...] around the spans to change and {{...}} around those held, as 003 shows it."""
    marks = dict.fromkeys(numbers, ("[", "]"))
    marks |= dict.fromkeys(held, ("{{", "}}"))
    return _marked(text, places, marks, bracket_free)


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


def span_list(text: str, places: Places, numbers: Sequence[int]) -> str:
    """One line a span: its number and its text."""
    return "\n".join(f"{number}: {defused(text[slice(*places[number])])}" for number in numbers)


def with_brackets(text: str, places: Places, numbers: Collection[int]) -> str:
    """The text with [...] around spans and all else as it is: the form of published reports."""
    return _marked(text, places, dict.fromkeys(numbers, ("[", "]")), str)


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
        self._model = model
        self._prompts = dict(prompts)
        self._settings = settings or FactualSettings()
        self._edit_purpose = self._find_edit_purpose()
        self.backend = model.client.backend
        self.prompts = {step: prompt.sha256 for step, prompt in prompts.items()}

    def _find_edit_purpose(self) -> str:
        """Under which purpose edits are asked for; InputError where prompts and settings do not fit."""
        wanted: tuple[str, ...] = ("edit-text", "edit", "edit-shared")
        shared = self._settings.edit_calls == "shared"
        planned = self._settings.planning == "alternatives"
        if planned or shared:
            wanted = ("edit-planned",) if planned else ("edit-shared",)
        missing = [] if "rank" in self._prompts else ["there is no prompt for rank"]
        found = next((purpose for purpose in wanted if purpose in self._prompts), None)
        if found is None:
            missing.append(
                f"there is no prompt for {' or '.join(wanted)} (edit calls: {self._settings.edit_calls})"
            )
        if missing or found is None:
            raise InputError("The factual scheme cannot be made with these prompts", missing)
        return found

    async def paraphrase(self, material: Material) -> Answer[str] | None:
        """The reference in the model's words; None where no prompt for it was given."""
        if "paraphrase" not in self._prompts:
            return None
        reference = material.item.reference
        request = self._request(
            "paraphrase", ROOM + len(reference), None, question=material.item.question, reference=reference
        )
        return await self._model.ask(request, lambda text: read_paraphrase(text, material))

    async def rank(
        self, material: Material, text: str, spans: Sequence[Span], candidates: Sequence[int]
    ) -> Answer[tuple[int, ...]]:
        """The candidates by importance; nobody is asked about one or none."""
        if len(candidates) < 2:
            return Answer(tuple(candidates), attempts=0)
        places = tuple((span.start, span.end) for span in spans)
        request = self._request(
            "rank",
            ROOM + _NUMBER_TOKENS * len(candidates),
            ranking_schema(candidates),
            question=material.item.question,
            text=numbered(text, places, candidates),
            spans=span_list(text, places, sorted(candidates)),
        )
        return await self._model.ask(request, lambda reply: read_ranking(reply, candidates))

    async def edit(
        self, material: Material, tasks: Sequence[EditTask]
    ) -> Answer[tuple[tuple[Edit, ...], ...]]:
        """Replacements for every span of each task's group; nobody is asked about an empty group."""
        if not any(task.group for task in tasks):
            return Answer(tuple(() for _ in tasks), attempts=0)
        if self._edit_purpose == "edit-shared":
            return await self._edit_shared(tasks)
        if self._edit_purpose == "edit-text":
            return await self._edit_text(tasks[0])
        return await self._edit_each(tasks[0])

    async def _edit_each(self, task: EditTask) -> Answer[tuple[tuple[Edit, ...], ...]]:
        planned = self._edit_purpose == "edit-planned"
        request = self._request(
            self._edit_purpose,
            self._edit_tokens([task]) * (1 + MOST_ALTERNATIVES * planned),
            replacements_schema([task], planned=planned),
            text=numbered(task.text, task.places, task.group, task.held),
            spans=span_list(task.text, task.places, task.group),
            level=task.level,
            levels=_levels(task),
        )
        return await self._model.ask(request, lambda reply: read_replacements(reply, [task], planned=planned))

    async def _edit_shared(self, tasks: Sequence[EditTask]) -> Answer[tuple[tuple[Edit, ...], ...]]:
        first = tasks[0]
        groups = [
            f"Level {task.level}\n{span_list(task.text, task.places, task.group)}"
            for task in tasks
            if task.group
        ]
        request = self._request(
            "edit-shared",
            self._edit_tokens(tasks),
            replacements_schema(tasks),
            text=numbered(first.text, first.places, [number for task in tasks for number in task.group]),
            spans="\n".join(groups),
            levels=tasks[-1].level,
        )
        return await self._model.ask(request, lambda reply: read_replacements(reply, tasks))

    async def _edit_text(self, task: EditTask) -> Answer[tuple[tuple[Edit, ...], ...]]:
        request = self._request(
            "edit-text",
            ROOM + 2 * len(task.text),
            None,
            text=bracketed(task.text, task.places, task.group, task.held),
            level=task.level,
            levels=_levels(task),
        )
        return await self._model.ask(request, lambda reply: (read_edited_text(reply, task),))

    def _request(
        self, purpose: str, max_tokens: int, schema: Mapping[str, object] | None, **variables: str | int
    ) -> Request:
        messages = self._prompts[purpose].messages(**variables)
        step = "edit" if purpose == self._edit_purpose else purpose
        return Request(step, messages, max_tokens=max_tokens, seed=self._settings.seed, schema=schema)

    @staticmethod
    def _edit_tokens(tasks: Sequence[EditTask]) -> int:
        lengths = [task.places[number][1] - task.places[number][0] for task in tasks for number in task.group]
        return ROOM + sum(_NUMBER_TOKENS + 2 * length for length in lengths)


def _levels(task: EditTask) -> int:
    return max(task.level, task.levels)


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


def replacements_schema(tasks: Sequence[EditTask], *, planned: bool = False) -> dict[str, object]:
    """One replacement for every span of the groups. planned: alternatives come before it."""
    numbers = sorted(number for task in tasks for number in task.group)
    longest = max(end - start for task in tasks for start, end in (task.places[n] for n in task.group))
    # A bound here keeps a model that cannot stop from using up all its tokens on one text.
    text: dict[str, object] = {
        "type": "string",
        "minLength": 1,
        "maxLength": MOST_TIMES * longest + MOST_MORE,
    }
    options = {"alternatives": _alternatives(text)} if planned else {}
    replacement = form(span={"type": "integer", "enum": numbers}, **options, text=text)
    n = len(numbers)
    return form(replacements={"type": "array", "items": replacement, "minItems": n, "maxItems": n})


def _alternatives(text: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": text, "minItems": FEWEST_ALTERNATIVES, "maxItems": MOST_ALTERNATIVES}


def read_replacements(
    text: str, tasks: Sequence[EditTask], *, planned: bool = False
) -> tuple[tuple[Edit, ...], ...]:
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
    told = [(int(one["span"]), str(one["text"]).strip()) for one in value["replacements"]]
    owner = {number: task for task in tasks for number in task.group}
    by_task: list[list[Edit]] = [[] for _ in tasks]
    for number, new in told:
        # A number that belongs to no task is left with the first, whose check says what is wrong with it.
        task = owner.get(number, tasks[0])
        place = task.places[number] if 0 <= number < len(task.places) else (0, 0)
        by_task[tasks.index(task)].append(Edit(number, task.text[slice(*place)], new, "llm"))
    return tuple(_checked(task, edits) for task, edits in zip(tasks, by_task, strict=True))


def read_edited_text(text: str, task: EditTask) -> tuple[Edit, ...]:
    """The replacements in a text that came back whole; raises Unusable where anything else is not as it was."""
    written = read_text(text)
    plain = written.replace("{{", "").replace("}}", "")
    if any(mark in plain for mark in "[]{}"):
        raise Unusable(
            "It still holds [, ], { or }: take the brackets away from what you changed.", "marks left in"
        )
    order = sorted(task.group, key=lambda number: task.places[number])
    pieces = fixed_text(bracket_free(task.text), tuple(task.places[number] for number in order))
    # A reader of answers takes blanks at both ends away.
    pieces = (pieces[0].lstrip(), *pieces[1:-1], pieces[-1].rstrip())
    found = between(pieces, plain)
    if found is None:
        held = [bracket_free(task.text[slice(*task.places[number])]) for number in task.held]
        marks = ("{{", "}}") if "{{" in written else ("", "")
        lost = next((span for span in held if span.join(marks) not in written), None)
        if lost is not None:
            raise Unusable(f"“{lost}” has to stay as it is.", "protected span changed")
        raise Unusable("Text outside the square brackets is not as it was.", "text around changed")
    edits = [
        Edit(number, task.text[slice(*task.places[number])], new.strip(), "llm")
        for number, new in zip(order, found, strict=True)
    ]
    return _checked(task, edits)


def _checked(task: EditTask, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    if problem := edits_problem(task, edits):
        raise Unusable(problem.detail, problem.kind)
    return tuple(sorted(edits, key=lambda edit: task.places[edit.span]))


def ranking_schema(candidates: Sequence[int]) -> dict[str, object]:
    """A list of as many numbers as there are candidates, each one of them; that none comes twice is checked."""
    number, n = {"type": "integer", "enum": sorted(candidates)}, len(candidates)
    return form(ranking={"type": "array", "items": number, "minItems": n, "maxItems": n})


def read_ranking(text: str, candidates: Sequence[int]) -> tuple[int, ...]:
    """The candidates, most important first. Raises Unusable unless each stands there exactly once."""
    ranking = read_object(text, ranking={})["ranking"]
    if not isinstance(ranking, list) or not all(
        is_number(entry) and entry == int(entry) for entry in ranking
    ):
        raise Unusable("`ranking` has to be a list of whole numbers.", "invalid")
    numbers = tuple(int(entry) for entry in ranking)
    if strange := sorted(set(numbers) - set(candidates)):
        raise Unusable(f"{strange[0]} is not among the numbers to rank.", "not a permutation")
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise Unusable(f"{twice[0]} stands there more than once.", "not a permutation")
    if missing := sorted(set(candidates) - set(numbers)):
        raise Unusable(
            f"{', '.join(map(str, missing[:5]))} is missing: rank every number.", "not a permutation"
        )
    return numbers

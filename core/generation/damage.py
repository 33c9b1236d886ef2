"""Damage levels 0 (a paraphrase) to 5 (wrong throughout) by a model or by rules, and the kind of run that makes them (Meta-Judge, section 3)."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import regex
from pydantic import field_validator

from core.diff.sentences import sentences
from core.formats.generation import GeneratedText, meta_judge_jsonl
from core.generation.facts import Fact, Pool, find_facts
from core.generation.language import (
    count_words,
    is_unspaced,
    known_language,
    language_change,
    language_of,
    same_script,
    script_of,
)
from core.generation.lists import gazetteer
from core.generation.numbers import NUMBER_CHANGED, Draw, makes_sense, number_change, put_in
from core.generation.operators import (
    CARELESS,
    SHORT,
    apply,
    cut_and_fill,
    lengths_within,
    omit,
    replace_by_filler,
    shaped,
    surface_changes,
    typos,
)
from core.generation.replacing import deny, swap_fact
from core.generation.scheme import SEED, Came, GenerationSettings, Scheme, Task, Writer
from core.llm.asking import LONGEST_ECHO, Answer, Model, Unusable
from core.llm.client import Message, Request
from core.llm.parsing import read_text
from core.llm.prompts import Prompt, checked_prompt
from core.schema.runs import PromptSlot
from core.schema.settings import setting
from core.schema.study import Material
from core.tables.problems import same_wording
from core.tables.reading import is_blank, text_problem


@dataclass(frozen=True)
class DamageLevel:
    """One of the levels 0 (as good as the reference) to 5 (wrong throughout)."""

    level: int
    text: str | None
    """None if no text passed the checks."""
    how: str
    """How it was made: `llm`, `paraphrase`, `verbatim`, or names of rules, joined by ` + `."""
    attempts: int = 0
    reason: str | None = None
    detail: str = ""
    temporary: bool = False


@dataclass(frozen=True)
class DamageTrace:
    """Record of everything that was done to one item."""

    item_id: str
    backend: str
    task: Task
    levels: tuple[DamageLevel, ...] = ()
    notes: tuple[str, ...] = ()
    prompts: dict[str, str] | None = None


DAMAGE_LEVELS = (0, 1, 2, 3, 4, 5)
"""Levels from 0 (a paraphrase, as good as the reference) to 5 (wrong throughout). Higher is worse (Meta-Judge, section 3)."""
MAX_TOKENS = 400
"""New tokens per answer, as in Meta-Judge."""


class DamageSettings(GenerationSettings):
    """Settings that, with model and prompt, determine a run."""

    task: Task = setting(
        "qa",
        "The texts are",
        "kind of texts in the file",
        words={
            "qa": "questions and answers",
            "qa-passage": "questions on a passage",
            "summary": "summaries",
            "translation": "translations",
        },
    )
    levels: tuple[int, ...] = setting(
        DAMAGE_LEVELS,
        "Levels",
        "levels to make, such as 0-5 or 0,3,5",
        words={", ".join(map(str, DAMAGE_LEVELS)): "0-5"},
    )
    seed: int = SEED

    @field_validator("levels", mode="before")
    @classmethod
    def _levels(cls, given: object) -> object:
        """Levels from `0-5`, `0,3,5` or numbers."""
        levels = (
            given
            if isinstance(given, tuple | list)
            else [level for part in str(given).split(",") for level in _level_range(part)]
        )
        if not levels:
            raise ValueError("choose at least one level")
        if wrong := [str(level) for level in levels if level not in DAMAGE_LEVELS]:
            raise ValueError(
                f"there is no level {', '.join(wrong)}; damage levels are 0 to {DAMAGE_LEVELS[-1]}"
            )
        return tuple(level for level in DAMAGE_LEVELS if level in levels)

    @property
    def level_names(self) -> tuple[str, ...]:
        """See GenerationSettings."""
        return tuple(str(level) for level in self.levels)

    @property
    def first_level(self) -> str | None:
        """See GenerationSettings."""
        return f"level {DAMAGE_LEVELS[0]}" if DAMAGE_LEVELS[0] in self.levels else None

    @property
    def asked_for(self) -> Task:
        """See GenerationSettings."""
        return self.task

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One prompt for all levels, unless rules make them."""
        return () if by_rules else (PromptSlot("damage", f"damage-{self.task}", self.task),)


def _level_range(part: str) -> range:
    """The levels in a range: 2-4 gives 2, 3, 4."""
    first, dash, last = (one.strip() for one in part.partition("-"))
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise ValueError(f"{part.strip()!r} is neither a level nor a range of levels such as 0-5")
    return range(int(first), int(last or first) + 1)


SHORT_ANSWER = 3
"""Most words of an answer that may be only a name, possibly in another script than its question."""

Problem = tuple[str, str]
"""The kind that is counted, and a sentence that a model can act on."""

_LABELS = (
    "output|answer|result|response|rewritten (?:text|answer|summary|translation)|synthetic (?:text|hypothesis)|"
    "(?:damaged|modified|corrupted|changed|new|final) (?:text|answer|version|summary|translation|output)|"
    "paraphrase|translation|summary|text|assistant|explanation|note|hypothesis|"
    "ausgabe|antwort|réponse|respuesta|resposta|risposta|odpověď|odpowiedź|відповідь|ответ|вывод|"
    "输出|回答|答案|出力|答え|답변|출력|उत्तर|الإجابة|الجواب|תשובה|פלט"
)
_LABEL = regex.compile(
    rf"[\s*_#>`\-]*(?:{_LABELS}|(?:damage[ _-]?)?level[ _-]?[0-5](?:\s*\([^)\n]*\))?)[\s*_`]*[:：]",
    regex.IGNORECASE,
)
_LEVEL_LINE = regex.compile(
    r"(?m)^[\s*_#>`\-\[(]*(?:damage[ _-]?)?level[ _:=-]*[0-5]\b[^\n\p{L}]*(?:$|[:：–—-])", regex.IGNORECASE
)
_PREAMBLE = regex.compile(
    r"(?:(?:sure|certainly|of course|okay|ok)\b[^\n]*:\s*\n"
    r"|here(?: is|['’]s) (?:the|a|an|your|my)\b[^\n:]*\b(?:text|answer|version|paraphrase|summary|translation|"
    r"output|result)\b[^\n:]*:)",
    regex.IGNORECASE,
)
_FIELD = regex.compile(
    r"damage[_-]level|input[_-]answer|reference[_-](?:summary|translation|answer)|source[_-](?:text|sentence)"
    r"|(?m:^[\s*_#>`\-]*(?:question|passage|reference|damage level|source text|source sentence)[*_`]*\s*[:：])",
    regex.IGNORECASE,
)
_MACHINE = regex.compile(
    r"<\|[a-z_]+\|>|\[/?INST\]|</?s>|```|~~~|</?(?:text|answer|output|reference)>", regex.IGNORECASE
)
_REFUSAL = regex.compile(
    r"(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e)\b[^\n.]{0,40}\bi(?: can|['’]m (?:not|un)able| am (?:not|un)able| won)"
    r"|i (?:cannot|can['’]t|can not|won['’]t|am unable to|am not able to) (?:help|assist|comply|provide|generate|create|fulfil|do that|write|rewrite)"
    r"|as an ai\b",
    regex.IGNORECASE,
)


def check_damage(material: Material, level: int, text: str, task: Task) -> Problem | None:
    """The problem with a text as a damaged reference, or None.

    Another language in the same script is recognised by its stop words, in texts of eight words or more.
    """
    if is_blank(text):
        return "empty", "It holds no text."
    if problem := text_problem(text):
        return "control character", f"It {problem}."
    if found := wrapped(material.item.reference, text) or _leaked(material, text):
        return found
    if level >= 1 and same_wording(text) == same_wording(material.item.reference):
        return "same as the reference", f"It equals the reference: level {level} has to differ from it."
    return (
        _other_script(material, text, task)
        or _changed_language(material, text)
        or (_other_length(material, text) if task == "summary" else None)
    )


def changed_numbers(material: Material, level: int, text: str) -> Problem | None:
    """The problem that a model's level 0 changed a number, which makes it as bad as a damaged level; or None.

    Not for paraphrases from the file: their writer knows which numbers the answer needs.
    """
    if level > 0:
        return None
    item = material.item
    language = known_language(item.language, item.reference)
    wrong = number_change(language, item.reference, text, item.question)
    return None if wrong is None else (NUMBER_CHANGED, wrong)


def wrapped(reference: str, text: str) -> Problem | None:
    """The problem that a text comes with a label, a refusal or other additions that the reference lacks; or None."""
    reference, plain = reference.strip(), text.strip()
    if (found := _LABEL.match(plain)) and not _LABEL.match(reference):
        return "label", f"It begins with {_quoted(found.group())}: write the text alone, without a label."
    if (found := _LEVEL_LINE.search(plain)) and not _LEVEL_LINE.search(reference):
        return "label", f"It names its level ({_quoted(found.group())}): write the text alone."
    if (found := _PREAMBLE.match(plain)) and not _PREAMBLE.match(reference):
        return "label", "It begins with words about the answer: write the text alone."
    if _REFUSAL.match(plain) and not _REFUSAL.match(reference):
        return "refused", "It declines instead of writing the text."
    if _is_json(plain) and not _is_json(reference):
        return "form", "It is JSON: write the text alone, without braces or keys."
    if (found := _MACHINE.search(plain)) and found.group().lower() not in reference.lower():
        return "form", f"It holds the mark {_quoted(found.group())}: write the text alone."
    return None


def _leaked(material: Material, text: str) -> Problem | None:
    """The problem that an answer repeats parts of the request; or None."""
    item = material.item
    given = "\n".join((item.reference, item.question, material.context or ""))
    if (found := _FIELD.search(text)) and found.group().strip().lower() not in given.lower():
        return "prompt field", f"It repeats the field {_quoted(found.group())}: write the text alone."
    own, whole = same_wording(item.reference), same_wording(text)
    reference_lines = {same_wording(line) for line in item.reference.splitlines()}
    lines = {same_wording(line) for line in text.splitlines()} - reference_lines | {whole}
    for name, value in (("question", item.question), ("context", material.context or "")):
        wanted = same_wording(value)
        if wanted and wanted != own and wanted in lines:
            return "prompt field", f"It repeats the {name}: write the text alone."
    return None


def _other_script(material: Material, text: str, task: Task) -> Problem | None:
    reference = material.item.reference
    if same_script(reference, text):
        return None
    # The reference may be a name or an acronym in another script than its language's, such as IBM in Russian.
    short = task in ("qa", "qa-passage") and count_words(reference) <= SHORT_ANSWER
    if short and same_script(material.item.question, text):
        return None
    letters = f"{script_of(text)} letters, the reference in {script_of(reference)}"
    return "script", f"It is written in {letters}: keep its language and script."


def _changed_language(material: Material, text: str) -> Problem | None:
    language = known_language(material.item.language, material.item.reference)
    other = language_change(language, material.item.reference, text)
    seems = f"It seems to be in another language ({other}) than the reference ({language})"
    return None if other is None else ("language changed", f"{seems}: keep its language.")


def _other_length(material: Material, text: str) -> Problem | None:
    found, reference = count_words(text), material.item.reference
    room = lengths_within(reference)
    if found in room:
        return None
    wanted = f"write {room.start} to {room.stop - 1}"
    return "length", f"It has {found} words, the reference {count_words(reference)}: {wanted}."


def _is_json(text: str) -> bool:
    if text[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _quoted(text: str) -> str:
    return json.dumps(text.strip()[:40], ensure_ascii=False)


@dataclass(frozen=True)
class Damaged:
    """One text at one level, and how it was made."""

    text: str
    how: str
    """How it was made: `llm`, `paraphrase`, `verbatim`, or names of rules, joined by ` + `."""


STEP = "damage"
"""The step's name in counts of calls and tokens."""
SAME_AS_ANOTHER = "same as another level"
"""Kind of problem in counts, like `same as the reference`."""
_CONTEXT_NAMES = {"qa-passage": "passage", "summary": "source_text", "translation": "source_sentence"}
"""Task -> the variable for the context in its prompts."""


class LlmDamage:
    """Levels written by a model, with a prompt for the settings' task."""

    def __init__(self, model: Model, prompt: Prompt, settings: DamageSettings) -> None:
        self._model, self._prompt = model, checked_prompt(prompt, STEP, settings.task)
        self._settings = settings
        self.backend = model.client.backend
        self.prompts = {STEP: prompt.sha256}

    async def damage(self, material: Material, level: int) -> Answer[Damaged]:
        """The reference, damaged by the model; asks again if an answer fails a check."""
        return await self._model.ask(
            self._request(material, level), lambda answer: self._read(material, level, answer)
        )

    async def another(
        self, material: Material, level: int, previous: str, attempts: int, taken: Mapping[str, int]
    ) -> Answer[Damaged]:
        """Another text for a level that has the same text as another level; only if an attempt is left.

        previous: the level's text so far; attempts: the answers used so far, which count; taken: wording of the other
        levels' texts -> their level. If the new text is taken too, the model is not asked again: decoding greedily, it
        would keep repeating itself.
        """
        wrong = _twin(level, previous, taken)
        if attempts >= self._model.attempts:
            return Answer(None, SAME_AS_ANOTHER, wrong, attempts)
        first = self._request(material, level)
        note = f"Answer {attempts} cannot be used: {wrong} Answer again, exactly in the form asked for."
        turns = (Message("assistant", previous[:LONGEST_ECHO]), Message("user", note))
        answer = await self._model.ask(
            replace(first, messages=(*first.messages, *turns)), lambda text: self._read(material, level, text)
        )
        total = attempts + answer.attempts
        if answer.value is not None and (still := _twin(level, answer.value.text, taken)):
            return Answer(None, SAME_AS_ANOTHER, still, total)
        return replace(answer, attempts=total)

    def _request(self, material: Material, level: int) -> Request:
        item = material.item
        offered: dict[str, str | int] = {
            "question": item.question,
            "reference": item.reference,
            "level": level,
            _CONTEXT_NAMES.get(self._settings.task, ""): material.context or "",
        }
        messages = self._prompt.messages(**{name: offered[name] for name in self._prompt.variables})
        return Request(STEP, messages, max_tokens=MAX_TOKENS, temperature=0.0, seed=self._settings.seed)

    def _read(self, material: Material, level: int, answer: str) -> Damaged:
        text = read_text(answer)
        problem = check_damage(material, level, text, self._settings.task)
        if problem := problem or changed_numbers(material, level, text):
            kind, sentence = problem
            raise Unusable(sentence, kind)
        return Damaged(text, "llm")


def _twin(level: int, text: str, taken: Mapping[str, int]) -> str:
    """The sentence on a text that another level has too; empty if none has."""
    other = taken.get(same_wording(text))
    if other is None:
        return ""
    return f"It is the very text of level {other}: level {level} has to be another one."


WORDS_PER_CUT = 50
"""One clause is left out for every this many words."""
SWAPPED_SHARE = 5
"""Level 3 swaps one in this many facts, at least one."""
MOST_REDRAWS = 8
"""Most draws for a text with one fact whose first replacements occur in other levels."""
MOST_BEGINNINGS = 20
"""Most answers to try as the beginning of a level 5 with a required length."""
_CHARACTERS_PER_WORD = 2
"""Characters that count as one word in scripts without spaces, for the two shares above."""
_NOTHING = {
    1: ("nothing to blur", "the text has no number, modifier, mark or letter that can be changed"),
    2: ("nothing to leave out", "the text has no clause, aside or adverbial that can be left out"),
    3: ("nothing to swap", "the text has no number, date, name or opposite that the rules know"),
    4: ("nothing to swap", "the text has no fact or verb left that the rules can change"),
    5: ("no other answer", "no other item has an answer in this language, and nothing can be swapped"),
}
"""Level -> (kind, sentence) on why it has no text."""


class RuleDamage:
    """Damage by rules. The same seed and pool give an item the same text, whichever other levels are requested."""

    backend = "rules"
    prompts = None

    def __init__(self, pool: Pool, task: Task = "qa", seed: int = 0) -> None:
        self._pool, self._task, self._seed = pool, task, seed
        self._last: tuple[Material, list[Damaged | None]] | None = None
        """The last item with all its levels: each level builds on those before, and a run requests them in a row."""

    async def damage(self, material: Material, level: int) -> Answer[Damaged]:
        """The item's text at one level; None with a reason if nothing in it can be damaged that way."""
        if self._last is None or self._last[0] != material:
            item = _Item(material, self._task, self._pool, Draw(self._seed, material.item.item_id))
            self._last = material, item.all_levels()
        made = self._last[1][level]
        return Answer(made) if made is not None else Answer(None, *_NOTHING[level])


class _Item:
    """One item on its way from level 0 to level 5."""

    def __init__(self, material: Material, task: Task, pool: Pool, draw: Draw) -> None:
        self.material, self.task, self.pool, self.draw = material, task, pool, draw
        self.language = language_of(material)
        self.reference = material.item.reference
        paraphrase = material.paraphrase
        fits = paraphrase and check_damage(material, 0, paraphrase, task) is None
        self.base = (
            Damaged(paraphrase, "paraphrase") if paraphrase and fits else Damaged(self.reference, "verbatim")
        )
        self.taken = [self.base.text]
        """Texts of the levels so far; none may repeat."""
        self.level = 0

    def all_levels(self) -> list[Damaged | None]:
        """Levels 0 to 5. If a level cannot be made, the next one starts from the same text."""
        text = self.base.text
        made: list[Damaged | None] = [self.base]
        steps = (self._surface, self._omission, self._few_swaps, self._many_swaps, self._other)
        for self.level, step in enumerate(steps, start=1):
            made.append(came := step(text))
            if came is not None:
                self.taken.append(came.text)
                # A typo in a short answer would hide its only fact from the rules.
                careless = came.how in CARELESS and self._size(came.text) <= 2 * SHORT
                # Levels 3 and 4 swap in the same text: swapping a swap could restore the original.
                text = came.text if self.level <= 2 and not careless else text
        return made

    def _allowed(self, text: str) -> bool:
        """Whether a text can be this item's next level: it passes the checks and no level has it yet."""
        return text not in self.taken and check_damage(self.material, self.level, text, self.task) is None

    def _size(self, text: str) -> int:
        return count_words(text) // (_CHARACTERS_PER_WORD if is_unspaced(text) else 1)

    def _surface(self, text: str) -> Damaged | None:
        draw = self.draw.child(1)
        changes = surface_changes(text, self.language, self.pool, draw)
        if self.task == "translation":
            changes = [*draw.shuffled(typos(text)[:4]), *changes]
        made = (Damaged(apply(text, change), change[3]) for change in changes)
        return next((one for one in made if self._allowed(one.text)), None)

    def _omission(self, text: str) -> Damaged | None:
        draw = self.draw.child(2)
        if self.task == "summary":
            made = replace_by_filler(text, self.reference, self.language, draw)
            made = made or cut_and_fill(text, self.language, self.pool, draw)
            if made and self._allowed(made[0]):
                return Damaged(*made)
        for most in range(1 + self._size(text) // WORDS_PER_CUT, 0, -1):
            cut = omit(text, self.language, self.pool, draw, most)
            if cut is None:  # nothing can be left out, so fewer cuts will not help
                break
            if self._allowed(cut[0]):
                return Damaged(*cut)
        return None

    def _facts(self, text: str) -> list[Fact]:
        """Facts in the order of swapping: facts in the question come last, hedges are never swapped."""
        facts = [fact for fact in find_facts(text, self.language, self.pool) if fact.kind != "hedge"]
        question = self.material.item.question.casefold()
        order = self.draw.child("facts").shuffled([*dict.fromkeys(fact.text for fact in facts)])
        return sorted(facts, key=lambda f: (f.text.casefold() in question, f.rank, order.index(f.text)))

    def _swapped(
        self, text: str, facts: Sequence[Fact], wanted: int, draw: Draw | None = None
    ) -> Damaged | None:
        """The text with the first facts swapped, as many as wanted; a repeated fact is swapped everywhere."""
        every = find_facts(text, self.language, self.pool)
        held = [fact.text for fact in every]
        changes: list[tuple[int, int, str]] = []
        rules: list[str] = []
        seen: set[str] = set()
        size, room = count_words(text), lengths_within(self.reference)
        for fact in facts:
            if len(seen) >= wanted:
                break
            own = draw or self.draw
            swap = fact.text not in seen and swap_fact(fact, self.language, self.pool, own, held)
            if not swap:
                continue
            more = [(f.start, f.end, swap[0]) for f in every if f.text == fact.text]
            longer = len(more) * (count_words(swap[0]) - count_words(fact.text))
            if self.task == "summary" and longer and not room.start <= size + longer < room.stop:
                continue
            size += longer
            changes += more
            rules.append(swap[1])
            held.append(swap[0])
            seen.add(fact.text)
        return Damaged(put_in(text, changes), " + ".join(dict.fromkeys(rules))) if changes else None

    def _sensible(self, text: str, facts: Sequence[Fact], wanted: int) -> Damaged | None:
        """The same, drawn again while numbers in the new text contradict each other."""
        made = first = self._swapped(text, facts, wanted)
        for turn in range(MOST_REDRAWS):
            if made is None or makes_sense(made.text, self.language):
                return made
            made = self._swapped(text, facts, wanted, self.draw.child("sense", turn))
        return first

    def _few_swaps(self, text: str) -> Damaged | None:
        facts = self._facts(text)
        first = [fact for fact in facts if _names_something(fact)][:1]
        order = [*first, *(fact for fact in facts if fact not in first)]
        made = self._sensible(text, order, max(1, len(facts) // SWAPPED_SHARE))
        return made if made and self._allowed(made.text) else None

    def _many_swaps(self, text: str) -> Damaged | None:
        """Swap the subject first, then the facts of level 3, then others until half are swapped."""
        facts = self._facts(text)
        names = [fact for fact in facts if _names_something(fact)]
        question = self.material.item.question.casefold()
        subjects = [fact for fact in names if fact.text.casefold() in question]
        first = [*sorted(subjects or names, key=lambda fact: fact.start)[:1], *names[:1]]
        order = [*first, *(fact for fact in facts if fact not in first)]
        few = max(1, len(facts) // SWAPPED_SHARE)
        made = self._sensible(text, order, max(few + 1, -(-len({fact.text for fact in facts}) // 2)))
        if made and self._allowed(made.text):
            return made
        return self._denied(made or Damaged(text, "")) or self._redrawn(text, order)

    def _denied(self, made: Damaged) -> Damaged | None:
        denied = deny(made.text, gazetteer(self.language))
        how = " + ".join(filter(None, (made.how, "denied")))
        return Damaged(denied, how) if denied and self._allowed(denied) else None

    def _redrawn(self, text: str, facts: Sequence[Fact]) -> Damaged | None:
        """Every fact swapped with other draws, for texts whose few facts are used up."""
        for turn in range(MOST_REDRAWS):
            made = self._swapped(text, facts, len(facts), self.draw.child("again", turn))
            if made and self._allowed(made.text):
                return made
        return None

    def _other(self, text: str) -> Damaged | None:
        found = {other.item_id: other for other in self.pool.others(self.material)}
        drawn = map(found.__getitem__, self.draw.child(5).shuffled([*found]))
        others = [other.text for other in drawn if other.text != self.base.text]
        if self.task != "summary":
            if (whole := next(filter(self._allowed, others), None)) is not None:
                return Damaged(whole, "another item's answer")
            return self._everything(text)
        # Try every answer as the beginning, first without cutting a sentence.
        for whole_only in (True, False):
            for at in range(min(len(others), MOST_BEGINNINGS)):
                parts = (part for other in [*others[at:], *others[:at]] for part in sentences(other))
                new = shaped(parts, self.reference, whole_only)
                if new and self._allowed(new):
                    return Damaged(new, "another item's answer, to length")
        return self._everything(text)

    def _everything(self, text: str) -> Damaged | None:
        """For want of another answer in this language: swap every fact and deny the statement if possible."""
        facts = self._facts(text)
        made = self._swapped(text, facts, len(text)) or Damaged(text, "")
        found = made if self._allowed(made.text) else self._denied(made) or self._redrawn(text, facts)
        why = "no other answer in this language"
        return found and Damaged(found.text, " + ".join(filter(None, (why, found.how))))


def _names_something(fact: Fact) -> bool:
    return fact.kind in ("name", "acronym", "title") or bool(fact.group)


async def damage(material: Material, steps: LlmDamage | RuleDamage, settings: DamageSettings) -> DamageTrace:
    """Make all levels of an item at once; a level that fails does not affect the others.

    If a model returns the text of an earlier level, it is asked once more. An exception in `steps` is a defect and is
    raised after all levels have finished.
    """
    came = await asyncio.gather(
        *(steps.damage(material, level) for level in settings.levels), return_exceptions=True
    )
    levels = []
    for level, answer in zip(settings.levels, came, strict=True):
        if isinstance(answer, BaseException):
            raise answer
        levels.append(_level(level, answer))
    if isinstance(steps, LlmDamage):  # rules already avoid the texts of earlier levels
        await _make_distinct(material, steps, levels)
    item_id, notes = material.item.item_id, tuple(_notes(levels))
    return DamageTrace(item_id, steps.backend, settings.task, tuple(levels), notes, steps.prompts)


async def _make_distinct(material: Material, steps: LlmDamage, levels: list[DamageLevel]) -> None:
    """Ask again, in order, for each level that repeats an earlier level's text: equal levels are no scale."""
    for at, level in enumerate(levels):
        lower, higher = _owners(levels[:at]), _owners(levels[at + 1 :])
        if level.text is not None and same_wording(level.text) in lower:
            taken = {**higher, **lower}
            answer = await steps.another(material, level.level, level.text, level.attempts, taken)
            levels[at] = _level(level.level, answer)


def _owners(levels: Sequence[DamageLevel]) -> dict[str, int]:
    """Wording -> the first level that has it."""
    return {same_wording(one.text): one.level for one in reversed(levels) if one.text is not None}


def damage_texts(trace: DamageTrace, source: str) -> tuple[GeneratedText, ...]:
    """An item's levels for the output files, including levels without a text. Meta-Judge's ids: `ITEM_levelL`."""
    return tuple(
        GeneratedText(
            item_id=trace.item_id,
            level=str(level.level),
            source=source,
            text=level.text,
            origin=level.how,
            reason=": ".join(filter(None, (level.reason, level.detail))) if level.text is None else "",
        )
        for level in trace.levels
    )


def _level(level: int, answer: Answer[Damaged]) -> DamageLevel:
    made = answer.value
    if made is None:
        return DamageLevel(
            level, None, "", answer.attempts, answer.reason or "invalid", answer.detail, answer.temporary
        )
    # Only a model uses attempts.
    attempts = answer.attempts if made.how == "llm" else 0
    return DamageLevel(level, made.text, made.how, attempts)


def _notes(levels: list[DamageLevel]) -> list[str]:
    notes = [
        f"level {level.level} is the reference word for word" for level in levels if level.how == "verbatim"
    ]
    alike: dict[str, list[int]] = {}
    for level in levels:
        if level.text is not None:
            alike.setdefault(same_wording(level.text), []).append(level.level)
    for same in alike.values():
        if len(same) > 1:
            named = f"{', '.join(map(str, same[:-1]))} and {same[-1]}"
            notes.append(f"levels {named} have the same text")
    return notes


def _came(trace: DamageTrace) -> Came:
    missing = [level for level in trace.levels if level.text is None]
    return Came(
        tuple((f"level {level.level}", level.reason or "unknown") for level in missing),
        any(level.temporary for level in missing),
        {str(level.level): level.text for level in trace.levels if level.text is not None},
        any(level.level == 0 and level.how == "verbatim" for level in trace.levels),
    )


class DamageScheme(Scheme):
    """Damage levels 0 (a paraphrase) to 5 (wrong throughout)."""

    name = "damage"
    title = "Damage levels"
    summary = "damage levels 0 (a paraphrase) to 5 (wrong throughout)"
    section = "damage-levels-0-to-5"
    Settings = DamageSettings
    Trace = DamageTrace
    levels_by = ("damage",)

    async def make(self, settings: DamageSettings, material: Material, writer: Writer) -> DamageTrace:
        """See Scheme."""
        steps = (
            RuleDamage(writer.pool, settings.task, settings.seed)
            if writer.model is None
            else LlmDamage(writer.model, writer.prompts["damage"], settings)
        )
        return await damage(material, steps, settings)

    def came(self, trace: DamageTrace) -> Came:
        """See Scheme."""
        return _came(trace)

    rows = staticmethod(damage_texts)

    def broken(
        self, settings: DamageSettings, item_id: str, backend: str, reason: str, detail: str
    ) -> DamageTrace:
        """See Scheme."""
        return DamageTrace(item_id, backend, settings.task, notes=(f"internal: {detail}",))

    def report(
        self,
        settings: DamageSettings,
        traces: Sequence[DamageTrace],
        materials: Mapping[str, Material],
        failures: Mapping[tuple[str, str], int],
    ) -> bytes:
        """A report with the two parts of factual perturbation, counters and items; Meta-Judge defines none."""
        whole = set(settings.level_names)
        n_complete = sum(set(_came(trace).texts) == whole for trace in traces)
        counters: dict[str, object] = {"input_samples": len(traces), "output_samples": n_complete}
        counters |= {f"{step}: {reason}": n for (step, reason), n in failures.items()}
        questions = [
            {
                "id": trace.item_id,
                "question": materials[trace.item_id].item.question,
                "ground_truth": materials[trace.item_id].item.reference,
                "answers": _came(trace).texts,
                "notes": list(trace.notes),
            }
            for trace in traces
        ]
        value = {"report": counters, "questions": questions}
        return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"

    def more_files(
        self, materials: Sequence[Material], texts: Sequence[GeneratedText]
    ) -> Mapping[str, bytes]:
        """See Scheme."""
        return {"meta-judge.jsonl": meta_judge_jsonl(materials, texts)}


KIND = DamageScheme()

"""Damage levels 0 to 5 without a model (000, section 3): each level goes on from the one before.

0 the paraphrase or the reference · 1 less precise · 2 something left out · 3 something swapped ·
4 the subject and half of the facts swapped, or the statement denied · 5 another item's answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.generation.damage_checks import check_damage, count_words
from core.generation.damage_steps import Damaged
from core.generation.language import language_of
from core.generation.records import Task
from core.generation.rules.draws import Draw
from core.generation.rules.facts import Fact, find_facts
from core.generation.rules.gazetteer import gazetteer
from core.generation.rules.lengths import lengths_within, sentences, shaped
from core.generation.rules.omission import cut_and_fill, omit, replace_by_filler
from core.generation.rules.pool import Pool
from core.generation.rules.sense import makes_sense
from core.generation.rules.substitution import deny, put_in
from core.generation.rules.surface import CARELESS, SHORT, apply, surface_changes, typos
from core.generation.rules.swaps import swap_fact
from core.generation.script import is_unspaced
from core.llm.asking import Answer
from core.schema import Material

WORDS_PER_CUT = 50
"""One clause is left out for so many words."""
SWAPPED_SHARE = 5
"""Level 3 swaps one fact in so many, at least one."""
MOST_REDRAWS = 8
"""Draws tried where a text has one fact and its first replacements stand in other levels."""
MOST_BEGINNINGS = 20
"""Answers tried as the beginning of a level 5 that needs a length."""
_CHARACTERS_PER_WORD = 2
"""In scripts without spaces, for the two shares above."""


@dataclass(frozen=True)
class _Step:
    """A text on the way down, and the rule that made it."""

    text: str
    how: str


@dataclass(frozen=True)
class _Failure:
    """Why a level cannot be made for an item."""

    reason: str
    detail: str


class RuleDamage:
    """Damage by rule. The same seed and pool give the same text for an item, whatever the other levels asked for."""

    def __init__(self, pool: Pool, task: Task = "qa", seed: int = 0) -> None:
        self._pool = pool
        self._task = task
        self._seed = seed
        self._last: tuple[Material, list[_Step | _Failure]] | None = None
        """A level goes on from those before it, and a run asks for all levels of an item in a row."""

    @property
    def backend(self) -> str:
        """What stands in every record."""
        return "rules"

    @property
    def prompts(self) -> dict[str, str] | None:
        """No model, no prompts."""
        return None

    async def damage(self, material: Material, level: int) -> Answer[Damaged]:
        """The item's text at one level; None with a reason where nothing in it can be damaged that way."""
        if self._last is None or self._last[0] != material:
            item = _Item(material, self._task, self._pool, Draw(self._seed, material.item.item_id))
            self._last = material, item.all_levels()
        made = self._last[1][level]
        if isinstance(made, _Failure):
            return Answer(None, made.reason, made.detail)
        return Answer(Damaged(made.text, made.how))


class _Item:
    """One item on its way from level 0 to level 5."""

    def __init__(self, material: Material, task: Task, pool: Pool, draw: Draw) -> None:
        self.material, self.task, self.pool, self.draw = material, task, pool, draw
        self.language = language_of(material)
        self.reference = material.item.reference
        self.base = self._base()
        self.taken = [self.base.text]
        """Texts of the levels so far: none comes twice."""
        self.level = 0

    def _base(self) -> _Step:
        paraphrase = self.material.paraphrase
        if paraphrase and check_damage(self.material, 0, paraphrase, self.task) is None:
            return _Step(paraphrase, "paraphrase")
        return _Step(self.reference, "verbatim")

    def all_levels(self) -> list["_Step | _Failure"]:
        """Levels 0 to 5; a level that cannot be made leaves its text to the next as it was."""
        text = self.base.text
        made: list[_Step | _Failure] = [self.base]
        steps = (self._surface, self._omission, self._few_swaps, self._many_swaps, self._other)
        for self.level, step in enumerate(steps, start=1):
            made.append(came := step(text))
            if isinstance(came, _Step):
                self.taken.append(came.text)
                # Levels 3 and 4 swap in the same text: a swap twice over could lead back.
                text = came.text if self._goes_on(self.level, came) else text
        return made

    def _goes_on(self, level: int, made: _Step) -> bool:
        """Whether the next level starts from this text; a typo in a short answer would hide its only fact."""
        careless = made.how in CARELESS and self._size(made.text) <= 2 * SHORT
        return level <= 2 and not careless

    def _allowed(self, text: str) -> bool:
        """Whether a text may stand as this item's next level: it passes the checks and is no level yet."""
        return text not in self.taken and check_damage(self.material, self.level, text, self.task) is None

    def _size(self, text: str) -> int:
        return count_words(text) // (_CHARACTERS_PER_WORD if is_unspaced(text) else 1)

    def _surface(self, text: str) -> _Step | _Failure:
        draw = self.draw.child(1)
        changes = surface_changes(text, self.language, self.pool, draw)
        if self.task == "translation":
            changes = [*draw.shuffled(typos(text)[:4]), *changes]
        for change in changes:
            new = apply(text, change)
            if self._allowed(new):
                return _Step(new, change[3])
        return _Failure(
            "nothing to blur", "the text has no number, modifier, mark or letter that can be changed"
        )

    def _omission(self, text: str) -> _Step | _Failure:
        draw = self.draw.child(2)
        if self.task == "summary":
            made = replace_by_filler(text, self.reference, self.language, draw)
            made = made or cut_and_fill(text, self.language, self.pool, draw)
            if made and self._allowed(made[0]):
                return _Step(*made)
        for most in range(1 + self._size(text) // WORDS_PER_CUT, 0, -1):
            cut = omit(text, self.language, self.pool, draw, most)
            if cut is None:  # nothing can go: asking for less of it changes nothing
                break
            if self._allowed(cut[0]):
                return _Step(*cut)
        return _Failure("nothing to leave out", "the text has no clause, aside or adverbial that can go")

    def _facts(self, text: str) -> list[Fact]:
        """Facts in the order in which they are swapped: what the question names comes last, hedges never."""
        facts = [fact for fact in find_facts(text, self.language, self.pool) if fact.kind != "hedge"]
        question = self.material.item.question.casefold()
        order = self.draw.child("facts").shuffled([*dict.fromkeys(fact.text for fact in facts)])
        return sorted(facts, key=lambda f: (f.text.casefold() in question, f.rank, order.index(f.text)))

    def _swapped(
        self, text: str, facts: Sequence[Fact], wanted: int, draw: Draw | None = None
    ) -> _Step | None:
        """The first facts swapped, as many as wanted; one that stands in several places is swapped in all."""
        every = find_facts(text, self.language, self.pool)
        held = [fact.text for fact in every]
        changes: list[tuple[int, int, str]] = []
        rules: list[str] = []
        seen: set[str] = set()
        size, room = count_words(text), lengths_within(self.reference)
        for fact in facts:
            if len(seen) >= wanted:
                break
            swap = (
                None
                if fact.text in seen
                else swap_fact(fact, self.language, self.pool, draw or self.draw, held)
            )
            if swap is None:
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
        return _Step(put_in(text, changes), " + ".join(dict.fromkeys(rules))) if changes else None

    def _sensible(self, text: str, facts: Sequence[Fact], wanted: int) -> _Step | None:
        """The same, drawn again while numbers of the new text contradict each other."""
        made = first = self._swapped(text, facts, wanted)
        for turn in range(MOST_REDRAWS):
            if made is None or makes_sense(made.text, self.language):
                return made
            made = self._swapped(text, facts, wanted, self.draw.child("sense", turn))
        return first

    def _few_swaps(self, text: str) -> _Step | _Failure:
        facts = self._facts(text)
        names = [fact for fact in facts if fact.kind in ("name", "acronym", "title") or fact.group]
        order = [*names[:1], *[fact for fact in facts if fact not in names[:1]]]
        made = self._sensible(text, order, max(1, len(facts) // SWAPPED_SHARE))
        if made and self._allowed(made.text):
            return made
        return _Failure(
            "nothing to swap", "the text has no number, date, name or opposite that the rules know"
        )

    def _many_swaps(self, text: str) -> _Step | _Failure:
        """The subject first, then what level 3 swapped, then others until half are."""
        facts = self._facts(text)
        names = [fact for fact in facts if fact.kind in ("name", "acronym", "title") or fact.group]
        question = self.material.item.question.casefold()
        subjects = [fact for fact in names if fact.text.casefold() in question]
        subject = sorted(subjects or names, key=lambda fact: fact.start)[:1]
        order = [*subject, *names[:1], *[fact for fact in facts if fact not in [*subject, *names[:1]]]]
        few = max(1, len(facts) // SWAPPED_SHARE)
        made = self._sensible(text, order, max(few + 1, -(-len({fact.text for fact in facts}) // 2)))
        if made and self._allowed(made.text):
            return made
        start = made or _Step(text, "")
        denied = deny(start.text, gazetteer(self.language))
        if denied and self._allowed(denied):
            return _Step(denied, " + ".join(filter(None, (start.how, "denied"))))
        return self._redrawn(text, order) or _Failure(
            "nothing to swap", "no fact and no verb is left that the rules could change"
        )

    def _redrawn(self, text: str, facts: Sequence[Fact]) -> _Step | None:
        """Every fact swapped by other draws, for texts whose few facts have been used up."""
        for turn in range(MOST_REDRAWS):
            made = self._swapped(text, facts, len(facts), self.draw.child("again", turn))
            if made and self._allowed(made.text):
                return made
        return None

    def _other(self, text: str) -> _Step | _Failure:
        draw = self.draw.child(5)
        found = {other.item_id: other for other in self.pool.others(self.material)}
        others = [o for o in map(found.__getitem__, draw.shuffled([*found])) if o.text != self.base.text]
        if self.task == "summary":
            # Every answer as the beginning, first without cutting a sentence.
            for whole in (True, False):
                for at in range(min(len(others), MOST_BEGINNINGS)):
                    parts = (part for o in [*others[at:], *others[:at]] for part in sentences(o.text))
                    new = shaped(parts, self.reference, whole)
                    if new and self._allowed(new):
                        return _Step(new, "another item's answer, to length")
        else:
            for other in others:
                if self._allowed(other.text):
                    return _Step(other.text, "another item's answer")
        return self._everything(text)

    def _everything(self, text: str) -> _Step | _Failure:
        """No other answer in this language: every fact is swapped and every statement denied that can be."""
        why = "no other answer in this language"
        made = self._swapped(text, self._facts(text), len(text)) or _Step(text, "")
        denied = deny(made.text, gazetteer(self.language)) or ""
        for new, rule in ((made.text, ""), (denied, "denied")):
            if self._allowed(new):
                return _Step(new, " + ".join(filter(None, (why, made.how, rule))))
        if again := self._redrawn(text, self._facts(text)):
            return _Step(again.text, f"{why} + {again.how}")
        return _Failure(
            "no other answer", "no other item has an answer in this language, and nothing could be swapped"
        )

"""Which rated texts a specialist judge is shown beside the text that it judges.

Source: 002, section 3 (Algorithm 1: the ratings of all other systems' texts of the same source), section 4.2.1 (the
baselines `shuffled` and `fixed`), section 5.3 (nested subsets) and appendix B.2.1 (the filter). Whatever is asked for,
no example is a text of the tested system: not of another source, and at no other level of quality. Systems whose names a
reader could not tell apart, such as GPT-4 and gpt-4, are one in this.

What makes a text an example are the errors that people marked in it, or their scores on a judge's dimension.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.datasets.mqm_weights import score_of, weight_of
from core.datasets.mt_pair import names_reference
from core.datasets.open_tables import LABEL_PAIR
from core.datasets.reading import same_name
from core.schema.rated import RatedText
from core.schema.scores import ErrorSpan, Rating, ScorableOutput
from core.schema.tasks import Dimension

Item = tuple[str, str]
"""An item's id and its source: two sources under one id, as files of several test sets have them, are two items. Blanks
make no other source.
"""
ExamplesFrom = Literal["specialist", "shuffled", "fixed", "none"]
"""Where a text's examples come from, the tested system's always held out: its own source; the whole test set; one other
source, of the same rater where ratings carry one; nowhere."""
MERGED = ""
"""As the rater of examples: all raters' ratings of a text together, one example a text."""
_NEARLY = 1e-6
_Indices = NDArray[np.int64]


@dataclass(frozen=True)
class ExampleUsed:
    """A rated text that a judge was shown. Whose it was is what the leak test looks at."""

    item_id: str
    system: str
    rater: str | None
    """None: the ratings carry none, or several raters were merged."""
    n_errors: int = 0
    """That it showed; 0 for examples of scores."""


@dataclass(frozen=True)
class ShownExample:
    """A rated text as a judge is shown it."""

    output: ScorableOutput
    errors: tuple[tuple[str, ErrorSpan], ...]
    """(marked words, error) in the order in which they stand in the text; errors in the source are left out."""
    score: float | None
    """On the pool's dimension, the raters' mean; None: the examples are of errors."""
    used: ExampleUsed


class ExamplePool:
    """The rated texts of a file, from which every text's examples are drawn.

    dimension: examples are scores on it; None: examples are marked errors. Texts that nobody rated, or not so, are no
    examples, and neither are references (`refA`, `reference`) among the systems. A file of several languages, or
    language pairs, is as many test sets: no example is from another one.

    Draws depend on the seed, the text and the ratings alone, in whatever order and however often they are asked for.
    """

    def __init__(self, texts: Sequence[RatedText], *, dimension: Dimension | None = None) -> None:
        self.dimension = dimension
        self._texts = tuple(texts)
        self._sets: dict[str, dict[tuple[str, str], _TestSet]] = {}

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Who gave ratings that can be examples; empty where the ratings carry no rater."""
        ratings = (one for text in self._texts for one in self._of_use(text, MERGED))
        return tuple(dict.fromkeys(one.rater for one in ratings if one.rater is not None))

    def n_texts(self, rater: str = MERGED) -> int:
        """Texts that can be examples: rated by this rater, or by anybody."""
        return sum(len(one.examples) for one in self._of(rater).values())

    def severities(self, rater: str = MERGED) -> Mapping[str, int]:
        """Severity, as the file has it -> errors of all texts that can be examples."""
        shown = (one for test_set in self._of(rater).values() for one in test_set.examples)
        return Counter(span.severity for one in shown for _, span in one.errors)

    def examples_for(
        self,
        text: RatedText,
        *,
        variant: ExamplesFrom,
        n_examples: int = 0,
        filtered: bool = False,
        rater: str = MERGED,
        seed: int = 0,
    ) -> tuple[ShownExample, ...]:
        """The text's examples; see ExamplesFrom for the variants, which all have as many as `specialist`.

        specialist: in the order of the file. shuffled: the specialist's examples of all the system's texts, permuted and
        dealt out anew, a system and a seed at a time. fixed: those of one other item that the same people rated: the
        next one in a circle of the items that the seed draws, of those that have enough.
        n_examples: the first so many of an order drawn for this text, so that smaller sets lie in larger ones; they
        are shown in the order that all would have. 0: all. filtered: before that, without examples whose text is the
        judged one, and without errors on words that somebody marked in it.
        """
        test_set = self._of(rater).get(test_set_of(text.output))
        if variant == "none" or test_set is None:
            return ()
        chosen = [test_set.examples[n] for n in test_set.drawn(text.output, variant, seed)]
        if filtered:
            chosen = _filtered(chosen, text)
        if 0 < n_examples < len(chosen):
            order = _rng(seed, "first", *_named(text.output)).permutation(len(chosen))
            chosen = [chosen[n] for n in sorted(order[:n_examples])]
        return tuple(chosen)

    def notes(self, variant: ExamplesFrom, *, rater: str = MERGED, seed: int = 0) -> tuple[str, ...]:
        """What one should know of this variant's examples: said beside the results."""
        if variant == "none":
            return ()
        notes = []
        if references := sorted({t.output.system for t in self._texts if names_reference(t.output.system)}):
            notes.append(f"texts of references are no examples: {', '.join(references)}")
        notes += [
            f"{', '.join(alike)} are taken for one system: its texts are no examples for one another"
            for alike in _alike(text.output.system for text in self._texts)
        ]
        if variant == "fixed" and not self.raters:
            notes.append("the ratings carry no rater: the other source may have been rated by somebody else")
        found = Counter[str]()
        for text in self._texts if variant == "fixed" else ():
            if (test_set := self._of(rater).get(test_set_of(text.output))) is not None:
                found.update(test_set.shortcomings(text.output, seed))
        return (*notes, *(f"{why}: {n} of {len(self._texts)} texts" for why, n in found.items()))

    def _of(self, rater: str) -> "dict[tuple[str, str], _TestSet]":
        """Test set -> its examples by this rater."""
        if rater not in self._sets:
            shown: dict[tuple[str, str], list[tuple[ShownExample, frozenset[str | None]]]] = {}
            for text in self._texts:
                ratings = self._of_use(text, rater)
                if ratings and not names_reference(text.output.system):
                    raters = frozenset(one.rater for one in ratings)
                    shown.setdefault(test_set_of(text.output), []).append(
                        (self._shown(text, ratings), raters)
                    )
            self._sets[rater] = {name: _TestSet(examples) for name, examples in shown.items()}
        return self._sets[rater]

    def _of_use(self, text: RatedText, rater: str) -> tuple[Rating, ...]:
        """The text's ratings that can make it an example."""
        if self.dimension is not None:
            ratings = _scores_on(self.dimension, text.ratings)
        else:
            ratings = tuple(one for one in text.ratings if one.spans is not None)
        return tuple(one for one in ratings if rater in (MERGED, one.rater))

    def _shown(self, text: RatedText, ratings: Sequence[Rating]) -> ShownExample:
        raters = {one.rater for one in ratings}
        rater = raters.pop() if len(raters) == 1 else None
        own = text.output
        if self.dimension is not None:
            score = sum(one.score for one in ratings) / len(ratings)
            return ShownExample(own, (), score, ExampleUsed(own.item_id, own.system, rater))
        errors = tuple(_quoted(own.text, _merged_errors(ratings)))
        return ShownExample(own, errors, None, ExampleUsed(own.item_id, own.system, rater, len(errors)))


class _TestSet:
    """The examples of one test set by one rater, or by all, and what is drawn of them."""

    def __init__(self, examples: Sequence[tuple[ShownExample, frozenset[str | None]]]) -> None:
        self.examples = tuple(one for one, _ in examples)
        self._system = np.array([same_name(one.output.system) for one in self.examples], dtype=object)
        self._items: dict[Item, list[int]] = {}
        raters: dict[Item, frozenset[str | None]] = {}
        for n, (one, own) in enumerate(examples):
            item = _item(one.output)
            self._items.setdefault(item, []).append(n)
            raters[item] = raters.get(item, frozenset()) | own
        self._raters = raters
        self._dealt: dict[tuple[str, int], dict[Item, _Indices]] = {}
        self._circles: dict[tuple[frozenset[str | None] | None, int], _Circle] = {}

    def drawn(self, output: ScorableOutput, variant: ExamplesFrom, seed: int) -> Sequence[int]:
        """Numbers of a text's examples, before any are filtered."""
        system = same_name(output.system)
        own = self._others(_item(output), system)
        if variant == "specialist" or not own:
            return own
        if variant == "shuffled":
            return [int(n) for n in self._deal(system, seed)[_item(output)]]
        donor, _ = self._donor(output, seed)
        there = [] if donor is None else self._others(donor, system)
        if len(there) > len(own):
            order = _rng(seed, "donor", *_named(output)).permutation(len(there))
            there = [there[n] for n in sorted(order[: len(own)])]
        return there

    def shortcomings(self, output: ScorableOutput, seed: int) -> list[str]:
        """What `fixed` could not keep to for this text."""
        system = same_name(output.system)
        own = self._others(_item(output), system)
        if not own:
            return []
        donor, same_raters = self._donor(output, seed)
        if donor is None:
            return ["there is no other source"]
        short = len(self._others(donor, system)) < len(own)
        return [
            *(["no other source has enough examples, so there are fewer"] if short else []),
            *([] if same_raters else ["no other source was rated by the same people, so others rated it"]),
        ]

    def _others(self, item: Item, system: str) -> list[int]:
        """The examples of an item that are not of this system, named as same_name does."""
        return [n for n in self._items.get(item, ()) if self._system[n] != system]

    def _deal(self, system: str, seed: int) -> Mapping[Item, _Indices]:
        """Item -> its share of all other systems' examples, permuted: as many as it has of its own."""
        key = system, seed
        if key not in self._dealt:
            others = np.flatnonzero(self._system != system)
            permuted = _rng(seed, "shuffled", system).permutation(others)
            sizes = [len(self._others(item, system)) for item in self._items]
            ends = np.cumsum(sizes)
            self._dealt[key] = {
                item: permuted[end - size : end]
                for item, size, end in zip(self._items, sizes, ends, strict=True)
            }
        return self._dealt[key]

    def _donor(self, output: ScorableOutput, seed: int) -> tuple[Item | None, bool]:
        """The other item that gives a text its examples, and whether the same people rated it."""
        item, system = _item(output), same_name(output.system)
        donor = self._next(item, system, self._circle(self._raters[item], seed))
        if donor is not None:
            return donor, True
        return self._next(item, system, self._circle(None, seed)), False

    def _next(self, item: Item, system: str, circle: "_Circle") -> Item | None:
        """The next item of the circle with enough examples; else the one with most; None: no other has any."""
        wanted, best, most = len(self._others(item, system)), None, 0
        for other in circle.after(item):
            n = len(self._others(other, system)) if other[0] != item[0] else 0
            if n >= wanted:
                return other
            if n > most:
                best, most = other, n
        return best

    def _circle(self, raters: frozenset[str | None] | None, seed: int) -> "_Circle":
        """The items that these people rated, all of them, and nobody else; None: all items."""
        key = raters, seed
        if key not in self._circles:
            items = [one for one in self._items if raters is None or self._raters[one] == raters]
            names = ["anybody"] if raters is None else sorted(f"rater {name}" for name in raters)
            order = _rng(seed, "fixed", *names).permutation(len(items))
            self._circles[key] = _Circle([items[n] for n in order])
        return self._circles[key]


class _Circle:
    """Items in a drawn order, the first one after the last: stepping to the next one maps no item to itself."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._place = {item: n for n, item in enumerate(items)}

    def after(self, item: Item) -> Iterator[Item]:
        """All other items, the next one first."""
        place = self._place[item]
        for step in range(1, len(self._items)):
            yield self._items[(place + step) % len(self._items)]


def _filtered(examples: Sequence[ShownExample], text: RatedText) -> list[ShownExample]:
    """Without what 002's appendix B.2.1 removes: the judged text itself, and errors on words marked in it."""
    spans = (span for one in text.ratings for span in one.spans or ())
    marked = {quote for quote, _ in _quoted(text.output.text, spans)}
    kept = []
    for one in examples:
        if one.output.text != text.output.text:
            errors = tuple(error for error in one.errors if error[0] not in marked)
            used = one.used if one.score is not None else replace(one.used, n_errors=len(errors))
            kept.append(replace(one, errors=errors, used=used))
    return kept


def _alike(systems: Iterable[str]) -> list[list[str]]:
    """Different names that a reader could not tell apart, those of one system together."""
    names: dict[str, dict[str, None]] = {}
    for system in dict.fromkeys(systems):
        names.setdefault(same_name(system), {})[system] = None
    return [list(alike) for alike in names.values() if len(alike) > 1]


def test_set_of(output: ScorableOutput) -> tuple[str, str]:
    """Language and language pair: examples come from a text's own, as an id may stand in several."""
    return output.language.casefold(), output.labels.get(LABEL_PAIR, "")


def _item(output: ScorableOutput) -> Item:
    return output.item_id, " ".join((output.source or "").split())


def _named(output: ScorableOutput) -> tuple[str, ...]:
    """What tells a text from all others of its file."""
    labels = (f"{name}={value}" for name, value in sorted(output.labels.items()))
    return output.item_id, output.system, output.level or "", *labels


def _rng(seed: int, *names: str) -> np.random.Generator:
    """A generator of its own for every purpose and text: draws do not depend on what was drawn before."""
    key = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))


def _merged_errors(ratings: Iterable[Rating]) -> list[ErrorSpan]:
    """The errors of several ratings of one text; of raters who marked the same, in the same way, it stands once.

    What one rater marked twice stays twice, as it counts twice in the score.
    """
    merged: list[ErrorSpan] = []
    for rating in ratings:
        known = {_what(span) for span in merged}
        merged += [span for span in rating.spans or () if _what(span) not in known]
    return merged


def _quoted(text: str, spans: Iterable[ErrorSpan]) -> list[tuple[str, ErrorSpan]]:
    """The words that errors mark, as they come in the text; errors in the source are left out."""
    own = sorted((span for span in spans if not span.in_source), key=lambda span: (span.start, span.end))
    return [(text[span.start : span.end], span) for span in own]


def _scores_on(dimension: Dimension, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
    """The ratings that are scores of this dimension, on its scale.

    A score that is minus the weights of its own errors is on no scale that ends above 0: there its 0 would be the worst
    score, and it means that nothing is wrong.
    """
    return tuple(
        one
        for one in ratings
        if one.dimension == dimension.name
        and dimension.lowest <= one.score <= dimension.highest
        and not (dimension.highest > 0 and weighs_its_errors(one))
    )


def _what(span: ErrorSpan) -> tuple[int, int, str, str, bool]:
    return span.start, span.end, span.severity, span.category, span.in_source


def weighs_its_errors(rating: Rating) -> bool:
    """Whether the score is minus the MQM weights of the errors that were marked with it."""
    if rating.spans is None:
        return False
    weighed = (
        span
        if span.weight is not None
        else ErrorSpan(
            span.start,
            span.end,
            span.severity,
            span.category,
            weight_of(span.category, span.severity),
            span.in_source,
        )
        for span in rating.spans
    )
    return abs(rating.score - score_of(weighed)) < _NEARLY

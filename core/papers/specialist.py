"""Specialist: examples of a specialist judge and the Parrot on WMT23 (Tables 8, 9, 15), and what follows from printed figures.

The translations and ratings are those of the metrics task of WMT23, in the layout of mt-metrics-eval. What the paper's
models marked is not public.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean

from core.formats.mt_metrics_eval import read_folder, usual_ratings
from core.formats.rated import rated_of
from core.judges.automqm import AutoMqmRecord, AutoMqmSettings, Parrot
from core.judges.rated import ExamplePool
from core.papers.declared import (
    NumberRow,
    Paper,
    Part,
    ReproduceOptions,
    Sources,
    explained,
    printed_numbers,
    rounded_ends,
)
from core.schema.scores import RatedText
from core.stats.span_f1 import Marked, span_counts, span_f1

_KEY = "specialist"
_FILES = {"en-de": "en-de.mqm.merged.seg.rating", "zh-en": "zh-en.mqm.rater1.seg.rating"}
"""Language pair -> a file of ratings by which its folder is found."""
MEASURES = ("F1", "precision", "recall")


COUNTED = "rater2"
"""Whose ratings count where several people rated a text (270 of zh-en). The paper does not say. Of the eight raters, rater2 and
rater4 give all of Table 9; with others 30.5 to 30.9 errors, with all together 33.5."""


@cache
def _texts_of(folder: Path, pair: str) -> tuple[RatedText, ...]:
    """The rated translations of a language pair, without references."""
    found = read_folder(folder, language_pair=pair)
    ratings = [found.ratings[name] for name in usual_ratings(found.ratings, by_rater=True)]
    return tuple(one for one in rated_of(found.outputs, *ratings).texts if one.ratings)


def _there(sources: Sources) -> Iterator[tuple[str, tuple[RatedText, ...]]]:
    """Each language pair whose folder is there, with its rated texts and for each the ratings that count."""
    for pair, file in _FILES.items():
        if sources.has(file):
            yield pair, tuple(map(_counted, _texts_of(sources.path(file).parents[1], pair)))


def _counted(text: RatedText) -> RatedText:
    if len(_raters(text)) == 1:
        return text
    return replace(text, ratings=tuple(one for one in text.ratings if one.rater == COUNTED))


def _compare_with_print(part: Part, found: Mapping[tuple[str, str], float | None]) -> Iterator[NumberRow]:
    for (line, measure), (printed, note) in _printed(part).items():
        if (line, measure) in found:
            yield part.number(line, measure, found[line, measure], printed, note=note)


def _printed(part: Part) -> dict[tuple[str, str], tuple[str, str]]:
    return printed_numbers(_KEY, part.table.replace("-", " "))


def _table_8(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    counted = {(pair, "WMT23"): len({one.output.system for one in texts}) for pair, texts in _there(sources)}
    yield from _compare_with_print(_TABLE_8, counted)


def _table_9(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """Means over the translations of how many examples a specialist judge sees, and how many errors in them."""
    found: dict[tuple[str, str], float | None] = {}
    for pair, texts in _there(sources):
        pool = ExamplePool(texts)
        for line, filtered in (("No filtering", False), ("Filtered", True)):
            examples = [pool.examples_for(one, variant="specialist", filtered=filtered) for one in texts]
            found[line, f"{pair}, examples"] = fmean(map(len, examples))
            found[line, f"{pair}, errors"] = fmean(sum(len(one.errors) for one in own) for own in examples)
    yield from _compare_with_print(_TABLE_9, found)


def _table_15(sources: Sources, _options: ReproduceOptions) -> Iterable[NumberRow]:
    """The Parrot's marks against people's, over all characters, in percent."""
    found: dict[tuple[str, str], float | None] = {}
    for pair, texts in _there(sources):
        parrot = Parrot(AutoMqmSettings(), ExamplePool(texts))
        marks = asyncio.run(_marked(parrot, texts))
        gold = [
            [
                (span.start, span.end, span.severity)
                for one in text.ratings
                for span in one.spans or ()
                if not span.in_source
            ]
            for text in texts
        ]
        f1 = span_f1(span_counts(gold, marks, [len(one.output.text) for one in texts]), n_resamples=0)
        for measure, one in zip(MEASURES, (f1.f1, f1.precision, f1.recall), strict=True):
            found["Parrot", f"{pair}, {measure}"] = None if one.estimate is None else 100 * one.estimate
    return explained(_compare_with_print(_TABLE_15, found), _NO_RULE)


async def _marked(parrot: Parrot, texts: Iterable[RatedText]) -> list[list[Marked]]:
    found = []
    for text in texts:
        record = (await parrot.judge(text)).record
        errors = record.trials[0].errors if isinstance(record, AutoMqmRecord) else None
        found.append([(one.start or 0, one.end or 0, one.severity) for one in errors or ()])
    return found


def _section_431(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """The translations that several people rated."""
    file = _FILES["zh-en"]
    if sources.has(file):
        texts = _texts_of(sources.path(file).parents[1], "zh-en")
        several = [one for one in texts if len(_raters(one)) > 1]
        counted = {
            "segments": len({one.output.item_id for one in several}),
            "systems": len({one.output.system for one in several}),
            "texts": len(several),
            "raters": len({rater for one in several for rater in _raters(one)}),
        }
        line = "zh-en, multi-rater subset"
        yield from _compare_with_print(_SECTION_431, {(line, name): n for name, n in counted.items()})


def _raters(text: RatedText) -> set[str | None]:
    return {one.rater for one in text.ratings}


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


def _f1_of_print(part: Part) -> Iterator[NumberRow]:
    """F1 from precision and recall as printed."""
    cells = _printed(part)
    for (line, measure), (printed, note) in cells.items():
        pair, _, which = measure.partition(", ")
        if which != "F1":
            continue
        operands = [cells[line, f"{pair}, {one}"][0] for one in MEASURES[1:]]
        yield part.number(
            *(line, measure, _f1(*map(float, operands)), printed),
            ends=rounded_ends(_f1, *operands),
            note=note,
        )


def _table_11(_sources: Sources, _options: ReproduceOptions) -> Iterable[NumberRow]:
    return explained(_f1_of_print(_TABLE_11), _MEAN_OF_RUNS)


def _table_13(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _f1_of_print(_TABLE_13)


def _table_18(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _f1_of_print(_TABLE_18)


def _table_21(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _f1_of_print(_TABLE_21)


def _mean(*values: float) -> float:
    return fmean(values)


def _table_1(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """Means over language pairs of F1 in Table 11 (WMT23) and Table 13 (WMT24)."""
    behind = {"WMT23": _printed(_TABLE_11), "WMT24": _printed(_TABLE_13)}
    for (line, year), (printed, note) in _printed(_TABLE_1).items():
        cells = {
            measure: one
            for (own, measure), one in behind[year].items()
            if own == line and measure.endswith("F1")
        }
        operands = [one for one, _ in cells.values()]
        errors = [said for _, said in cells.values() if said]
        yield _TABLE_1.number(
            *(line, year, _mean(*map(float, operands)), printed),
            ends=rounded_ends(_mean, *operands),
            note=f"in Table 13, {errors[0]}" if errors else note,
        )


def _lead(first: float, second: float) -> float:
    """How far the first lies above the second, in percent of the second."""
    return 100 * (first / second - 1)


def _section_5(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """The lead over XCOMET from Table 1."""
    cells = _printed(_TABLE_1)
    for (line, measure), (printed, _) in _printed(_SECTION_5).items():
        year = measure.partition(" ")[0]
        operands = [cells[name, year][0] for name in line.split(" over ")]
        yield _SECTION_5.number(
            line, measure, _lead(*map(float, operands)), printed, ends=rounded_ends(_lead, *operands)
        )


def _section_56(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """The lead over shuffled examples on stories from Table 6."""
    cells = printed_numbers(_KEY, "6")
    for (line, measure), (printed, _) in _printed(_SECTION_56).items():
        operands = [cells[name, measure.removesuffix(" (%)")][0] for name in line.split(" over ")]
        yield _SECTION_56.number(
            line, measure, _lead(*map(float, operands)), printed, ends=rounded_ends(_lead, *operands)
        )


_NO_RULE = "the paper does not say which occurrences of an error's words the Parrot marks; here it marks all"
_MEAN_OF_RUNS = "the row is a mean of ten runs, and F1 of means is not the mean of F1"
_NO_MARKS = "what the models marked is not published"
_OF_WMT = "published by the WMT23 metrics task in the data of mt-metrics-eval, https://github.com/google-research/mt-metrics-eval"
_WMT23 = tuple(_FILES.values())
_OWN = "precision and recall of the same table as printed"
_TABLE_1 = Part("1", "F1, means over language pairs", "Tables 11 and 13 as printed", _table_1)
_TABLE_8 = Part("8", "number of systems", "translations and ratings of WMT23", _table_8, _WMT23, _OF_WMT)
_TABLE_9 = Part(
    "9",
    "examples and errors in them, WMT23",
    f"translations and ratings of WMT23; where several rated, those of {COUNTED}",
    _table_9,
    _WMT23,
    _OF_WMT,
)
_TABLE_11 = Part("11", "F1 of judges, WMT23", _OWN, _table_11)
_TABLE_13 = Part("13", "F1 of judges, WMT24", _OWN, _table_13)
_TABLE_15 = Part("15", "the Parrot", "translations and ratings of WMT23", _table_15, _WMT23, _OF_WMT)
_TABLE_18 = Part("18", "F1 with different raters", _OWN, _table_18)
_TABLE_21 = Part("21", "F1 with more examples", _OWN, _table_21)
_SECTION_431 = Part(
    "section-4.3.1",
    "translations that several people rated",
    "ratings of WMT23",
    _section_431,
    _WMT23[1:],
    _OF_WMT,
)
_SECTION_5 = Part("section-5", "lead over XCOMET", "Table 1 as printed", _section_5)
_SECTION_56 = Part("section-5.6", "lead on stories", "Table 6 as printed", _section_56)
PAPER = Paper(
    "specialist",
    "Finkelstein et al., From Jack of All Trades to Master of One",
    (
        _TABLE_1,
        *(
            Part(table, about, where=_NO_MARKS)
            for table, about in (
                ("2", "F1 with three models"),
                ("3", "F1 of the Parrot and of judges; Table 15 has the Parrot"),
                ("4", "F1 with different raters; Table 18 has more"),
                ("5", "pairwise accuracy of scorers"),
                ("6", "correlations on stories"),
            )
        ),
        _TABLE_8,
        _TABLE_9,
        Part(
            "10",
            "examples and errors in them, WMT24",
            where="needed are ratings of WMT24, which this module does not read",
        ),
        _TABLE_11,
        Part("12", "spread over ten runs", where=_NO_MARKS),
        _TABLE_13,
        Part("14", "errors that judges copy", where=_NO_MARKS),
        _TABLE_15,
        _TABLE_18,
        Part("19", "F1 by rater", where=_NO_MARKS),
        Part("20", "share of errors that judges copy", where=_NO_MARKS),
        _TABLE_21,
        _SECTION_431,
        _SECTION_5,
        _SECTION_56,
    ),
    "https://github.com/google-research/mt-metrics-eval",
)

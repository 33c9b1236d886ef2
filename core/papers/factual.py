"""Factual: the blind study of its pipeline (Table 1, section 4), and judges against levels of damage (Table 2, section 5).

Its project trutheval publishes the votes, the answers and the scores of three of the nine judges.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import numpy as np

from core.formats.correlations import read_table, rows_as_printed
from core.formats.scores import read_scores
from core.formats.study.files import read_dataset
from core.formats.trutheval import read_votes
from core.papers.declared import (
    NumberRow,
    Paper,
    Part,
    ReproduceOptions,
    Sources,
    explained,
    printed_numbers,
)
from core.schema.study import FIRST_LEVEL
from core.stats.agreement import cohen_kappa
from core.stats.correlation.groups import mean_within
from core.stats.correlation.intervals import correlate
from core.stats.non_inferiority import lower_bound_pairs
from core.stats.planning import power_non_inferiority
from core.stats.resampling import Estimate
from core.stats.votes import Codes, composite_scores, contingency, preferences, ties

_KEY = "factual-perturbation"
_PUBLIC = "https://github.com/GiovanniGatti/trutheval"
_DATASET, _VOTES, _SCORES = (
    "assessment-dataset.json",
    ("results-evaluator-1.json", "results-evaluator-2.json"),
    "factual_correctness_eval.jsonl",
)
_CHOICES = ("candidate", "both_good", "both_bad", "comparator")
"""Codes of core.stats.votes."""
_COLUMNS = ("ai", "both_good", "both_bad", "expert")
"""Columns and rows of Table 1, in the order of the codes."""
MARGIN, CONFIDENCE = 0.1, 0.90
"""Declared in section 4."""
_JUDGES = {
    ("default", "gpt-4o-mini"): ("ragas", "gpt-4o-mini"),
    ("fast-fc", "gemma3:12b-it-qat"): ("llm-nli", "gemma3:12b"),
    ("fast-fc", "llama3.3:70b"): ("llm-nli", "llama3.3:70b"),
}
"""Judge in the project's file -> method and model in Table 2."""
_DRAWN = "the ends of intervals are drawn, and the paper's draws are unknown"


@cache
def _votes_of(dataset: bytes, *votes: bytes) -> tuple[Codes, tuple[str, ...], tuple[str, ...]]:
    """Shape (pairs, 2): the evaluators' votes; and the question and level of each pair."""
    found = read_dataset(dataset, _DATASET)
    pairs = tuple(dict.fromkeys((one.item_id, one.level) for one in found.outputs))
    each = [read_votes(one, name, set(pairs)) for one, name in zip(votes, _VOTES, strict=True)]
    codes = [[_CHOICES.index(own[pair]) for own in each] for pair in pairs]
    return np.array(codes), tuple(item for item, _ in pairs), tuple(level for _, level in pairs)


def _table_1(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """Count both evaluators' votes on A1 to A4."""
    if not sources.has(_DATASET, *_VOTES):
        return
    votes, _, levels = _votes_of(*map(sources.read, (_DATASET, *_VOTES)))
    damaged = np.array(levels) != FIRST_LEVEL
    counts = contingency(*votes[damaged].T)
    for printed in rows_as_printed(f"{_KEY}-1"):
        line = printed["first_evaluator"]
        for name in _COLUMNS:
            value = int(counts[_COLUMNS.index(line), _COLUMNS.index(name)])
            yield _TABLE_1.number(line, name, value, printed[name])


def _counted_in_print() -> Codes:
    """Shape (80, 2): the votes of Table 1 as printed."""
    pairs = [
        (_COLUMNS.index(str(one["first_evaluator"])), at)
        for one in read_table(f"{_KEY}-1").rows
        for at, name in enumerate(_COLUMNS)
        for _ in range(int(one[name] or 0))
    ]
    return np.array(pairs)


def _section_4(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """A1 to A4 from Table 1 as printed, and all levels from the votes."""
    votes = _counted_in_print()
    scores = composite_scores(preferences(votes))
    tied = ties(votes)
    power = power_non_inferiority(scores, margin=MARGIN).value
    of_damaged: dict[str, float | None] = {
        "pairs": len(votes),
        "mean": float(scores.mean()),
        "lower bound (90 %)": lower_bound_pairs(scores, CONFIDENCE),
        "ties (%)": _percent(tied.paper_rule),
        "opposed": None if tied.opposed is None else tied.opposed * len(votes),
        "opposed (%)": _percent(tied.opposed),
        "kappa": cohen_kappa(votes, n_resamples=0).estimate,
        "power (%)": _percent(power),
    }
    found = {("A1 to A4", name): value for name, value in of_damaged.items()}
    if sources.has(_DATASET, *_VOTES):
        every, questions, levels = _votes_of(*map(sources.read, (_DATASET, *_VOTES)))
        found |= {
            ("A0 to A4", "questions"): len(set(questions)),
            ("A0 to A4", "pairs"): len(every),
            ("A0 to A4", "ties (%)"): _percent(ties(every).paper_rule),
            ("A0", "ties (%)"): _percent(ties(every[np.array(levels) == FIRST_LEVEL]).paper_rule),
        }
    yield from _compare_with_print(_SECTION_4, "section 4", found)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _compare_with_print(
    part: Part, table: str, found: Mapping[tuple[str, str], float | None]
) -> Iterator[NumberRow]:
    for (line, measure), (printed, note) in printed_numbers(_KEY, table).items():
        if (line, measure) in found:
            yield part.number(line, measure, found[line, measure], printed, note=note)


def _table_2(sources: Sources, options: ReproduceOptions) -> Iterable[NumberRow]:
    """Pearson over all answers and Kendall within questions, against the level; intervals over answers and over questions."""
    return explained(_correlations(sources, options), _DRAWN)


def _correlations(sources: Sources, options: ReproduceOptions) -> Iterator[NumberRow]:
    if not sources.has(_SCORES):
        return
    table = read_scores(sources.read(_SCORES), _SCORES)
    rows = list(table.rows)
    judges = [(one.labels["type"], one.labels["fact_extraction_llm"]) for one in rows]
    levels = np.array([float(str(one.level).removeprefix("A")) for one in rows])
    items = np.array([one.item_id for one in rows])
    drawing = {"n_resamples": options.n_resamples, "rng": options.rng}
    printed = {(one["method"], one["model"]): one for one in rows_as_printed(f"{_KEY}-2")}
    for judge, named in _JUDGES.items():
        own = np.array([one == judge for one in judges])
        scores = table.values[own, 0]
        found: dict[str, Estimate] = {
            "pearson": correlate(scores, levels[own], "pearson", **drawing),
            "kendall": mean_within(scores, levels[own], items[own], "kendall", **drawing),
        }
        for name, one in found.items():
            for end, value in (("", one.estimate), ("_low", one.low), ("_high", one.high)):
                yield _TABLE_2.number(" ".join(named), name + end, value, printed[named][name + end])


def _section_5(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    if sources.has(_SCORES):
        rows = list(read_scores(sources.read(_SCORES), _SCORES).rows)
        counted = {
            ("texts", "answers"): len({(one.item_id, one.level) for one in rows}),
            ("texts", "questions"): len({one.item_id for one in rows}),
        }
        yield from _compare_with_print(_SECTION_5, "section 5", counted)


_OF_PROJECT = f"published by the project trutheval, {_PUBLIC}"
_TABLE_1 = Part(
    "1",
    "what two evaluators preferred, A1 to A4",
    "the votes",
    _table_1,
    (_DATASET, *_VOTES),
    _OF_PROJECT,
)
_SECTION_4 = Part(
    "section-4",
    "non-inferiority, ties, kappa and power",
    "Table 1 as printed; A0 and all levels: the votes",
    _section_4,
    (_DATASET, *_VOTES),
    _OF_PROJECT,
)
_TABLE_2 = Part(
    "2",
    "correlation of scores with the damage, by judge",
    "the scores of the three judges that the project publishes; of the other six it publishes none",
    _table_2,
    (_SCORES,),
    _OF_PROJECT,
)
_SECTION_5 = Part(
    "section-5", "answers behind Table 2", "the same scores", _section_5, (_SCORES,), _OF_PROJECT
)
PAPER = Paper(
    "factual",
    "Gharsallah et al., Peut-on faire confiance aux juges ? (Can We Trust the Judges?)",
    (_TABLE_1, _SECTION_4, _TABLE_2, _SECTION_5),
    _PUBLIC,
)

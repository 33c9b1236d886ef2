"""CEF: ranks, shares and tokens of its printed tables, means in its text, and the worked example of appendix A.6.

Its questions and answers are not public. What follows from printed figures is computed from these.
"""

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean

from core.formats.correlations import rows_as_printed
from core.judges.cross_examination import Examination, examined_scores
from core.judges.questions import VERDICTS, CrossQuestion
from core.papers.declared import (
    NumberRow,
    Paper,
    Part,
    ReproduceOptions,
    Sources,
    printed_numbers,
    rounded_ends,
)
from core.stats.agreement import lowest_first
from core.stats.resampling import wilson_share

_KEY = "cross-examination"
Line = Mapping[str, str]


def _printed(table: str) -> tuple[Line, ...]:
    return rows_as_printed(f"{_KEY}-{table}")


def _ranks(part: Part, lines: tuple[Line, ...], group: str) -> Iterator[NumberRow]:
    """The rank of each figure among the models, the lowest first. group: what the figures are, if the table has several."""
    for name in [one.removesuffix("_rank") for one in lines[0] if one.endswith("_rank")]:
        ranks = lowest_first([float(one[name]) for one in lines])
        for one, rank in zip(lines, ranks, strict=True):
            yield part.number(
                " ".join(filter(None, (group, one["model"]))), f"{name}_rank", rank, one[f"{name}_rank"]
            )


def _table_1(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    for measure in ("disagreement", "deviation"):
        yield from _ranks(_TABLE_1, tuple(one for one in _printed("1") if one["measure"] == measure), measure)


def _table_5(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _ranks(_TABLE_5, _printed("5"), "")


def _percents(part: Part, name: str, hits: str, of: str) -> Iterator[NumberRow]:
    """Shares from counts, and the counts of all errors from those of each kind. name: the column that names a row."""
    *kinds, overall = _printed(part.table)
    if overall[name] != "overall":
        kinds = [*kinds, overall]
    for one in _printed(part.table):
        counted = {hits: int(one[hits]), of: int(one[of])}
        note = one.get("error") or ""
        if one[name] == "overall":
            counted = {column: sum(int(each[column]) for each in kinds) for column in counted}
            for column, value in counted.items():
                yield part.number(one[name], column, value, one[column], note=note)
        yield part.number(one[name], "percent", 100 * counted[hits] / counted[of], one["percent"], note=note)


def _table_3(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _percents(_TABLE_3, "error_type", "aligned", "count")


def _table_4(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _percents(_TABLE_4, "error_type", "caught", "total")


def _table_7(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _percents(_TABLE_7, "errors_by", "aligned", "count")


def _table_8(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """Totals of the cross-examination from its steps in Table 9, and means a sample.

    The number of samples is not printed; it follows from the tokens of prompts.
    """
    for one in _printed("8"):
        n_samples = round(int(one["input_tokens"]) / float(one["input_tokens_per_sample"]))
        for name in ("input_tokens", "output_tokens", "price_usd"):
            if one["judge"] == "CEF" and name != "price_usd":
                total = sum(int(step[name]) for step in _printed("9"))
                yield _TABLE_8.number(one["judge"], name, total, one[name])
            if name != "input_tokens":
                mean = _divide_by(n_samples)
                yield _TABLE_8.number(
                    *(one["judge"], f"{name}_per_sample", mean(float(one[name])), one[f"{name}_per_sample"]),
                    ends=rounded_ends(mean, one[name]),
                )


def _divide_by(n: int) -> Callable[[float], float]:
    return lambda total: total / n


def _section_44(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    percents = {one["error_type"]: one["percent"] for one in _printed("3")}
    operands = percents["semantic"], percents["non-semantic"]
    for (line, measure), (printed, _) in printed_numbers(_KEY, "section 4.4").items():
        ratio = float(operands[0]) / float(operands[1])
        ends = rounded_ends(lambda one, other: one / other, *operands)
        yield _SECTION_44.number(line, measure, ratio, printed, ends=ends)


def _section_46(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """The share of questions whose second answer is the expected one, from the printed counts of the others."""
    cells = printed_numbers(_KEY, "section 4.6")
    for (line, measure), (printed, _) in cells.items():
        if measure == "unchanged (%)":
            n = int(cells[line, "questions"][0])
            changed = [int(cells[line, answer][0]) for answer in VERDICTS if (line, answer) in cells]
            share = wilson_share(n - sum(changed), n).share
            yield _SECTION_46.number(line, measure, None if share is None else 100 * share, printed)


def _appendix_2(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """Means over the five judges: Tigrinya from Table 5, Japanese from Table 1."""
    for (line, measure), (printed, _) in printed_numbers(_KEY, "appendix A.2").items():
        figures = (
            [one[f"{line}_{measure}"] for one in _printed("5")]
            if line == "en-tir"
            else [one[f"ntrex-{line}"] for one in _printed("1") if one["measure"] == measure]
        )
        mean = fmean(map(float, figures))
        yield _APPENDIX_2.number(line, measure, mean, printed, ends=rounded_ends(_mean, *figures))


def _mean(*values: float) -> float:
    return fmean(values)


def _appendix_4(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    tokens = {one["judge"]: int(one["input_tokens"]) + int(one["output_tokens"]) for one in _printed("8")}
    for (line, measure), (printed, _) in printed_numbers(_KEY, "appendix A.4").items():
        yield _APPENDIX_4.number(line, measure, tokens[line], printed)


_ANSWERS = {
    "source": "YES IDK YES YES YES YES YES YES YES YES",
    "text": "YES NO NO NO YES IDK IDK YES IDK IDK",
}
"""The example's answers to questions whose expected answer is YES, by the text that they were made from."""


def _appendix_6(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    made = {
        side: tuple(
            CrossQuestion(f"question {n}", "YES", answer)  # type: ignore[arg-type]
            for n, answer in enumerate(answers.split(), start=1)
        )
        for side, answers in _ANSWERS.items()
    }
    scores = examined_scores([Examination(0, made["source"], made["text"])])
    for (line, measure), (printed, note) in printed_numbers(_KEY, "appendix A.6").items():
        of_code = measure == "consistency"
        score = scores["consistency-code" if of_code else measure].value
        said = (
            f"by the rule of the paper's code; its formula gives {scores['consistency'].value:.1f}"
            if of_code
            else note
        )
        yield _APPENDIX_6.number(line, measure, score, printed, note=said)


_NO_ANSWERS = "the questions and answers behind it are not published"
_TABLE_1 = Part("1", "ranks of five judges", "the rates of the same table as printed", _table_1)
_TABLE_3 = Part("3", "errors of WMT25 that mismatching questions point to", "its counts as printed", _table_3)
_TABLE_4 = Part("4", "errors of FRANK that mismatching questions point to", "its counts as printed", _table_4)
_TABLE_5 = Part("5", "ranks of five judges, Tigrinya, Dzongkha and Māori", "its rates as printed", _table_5)
_TABLE_7 = Part(
    "7", "errors of GEMBA-MQM that mismatching questions point to", "its counts as printed", _table_7
)
_TABLE_8 = Part("8", "tokens and price", "Table 9 and its totals as printed", _table_8)
_SECTION_44 = Part("section-4.4", "semantic errors to others", "Table 3 as printed", _section_44)
_SECTION_46 = Part("section-4.6", "questions asked again", "its counts as printed", _section_46)
_APPENDIX_2 = Part(
    "appendix-A.2", "mean rates of Tigrinya and Japanese", "Tables 1 and 5 as printed", _appendix_2
)
_APPENDIX_4 = Part("appendix-A.4", "tokens in all", "Table 8 as printed", _appendix_4)
_APPENDIX_6 = Part("appendix-A.6", "the worked example", "its twenty answers as printed", _appendix_6)
PAPER = Paper(
    "cef",
    "Raha et al., Cross-Examination Framework",
    (
        _TABLE_1,
        Part("2", "variance by number of questions, Japanese", where=_NO_ANSWERS),
        _TABLE_3,
        _TABLE_4,
        _TABLE_5,
        Part("6", "round-trip scores", where=_NO_ANSWERS),
        _TABLE_7,
        _TABLE_8,
        Part("9", "tokens by step", where="the calls behind it are not published"),
        Part("10", "scores with reference", where=_NO_ANSWERS),
        Part("11", "variance by number of questions, French and Spanish", where=_NO_ANSWERS),
        _SECTION_44,
        _SECTION_46,
        _APPENDIX_2,
        _APPENDIX_4,
        _APPENDIX_6,
    ),
)

"""What a judge's scores are: how many, their mean and spread, why others are missing, and signs that they say little."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.analyses.levels import ConstantScore
from core.schema.analysis import Analysis, Caution, Table, Tell
from core.schema.injections import MARKED_TABLES, Injections, MarkedMean, MarkedText
from core.schema.rows import column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.results.judges.scores import ScoreSummary
    from core.schema.panel import JudgedTables
    from core.schema.scores import ScoreTable

MARKED_TEXTS, MARKED_MEANS = MARKED_TABLES


class JudgeScoresOptions(Settings):
    """None: the scores say all that they are."""


@row
class ScoreRow:
    """One score over all texts, on its own scale."""

    metric: str = column("the score", title="Score", names_row=True)
    n: int = column("texts with a score", title="Texts")
    mean: float | None = column("mean over these texts; null without any", title="Mean")
    sd: float | None = column("standard deviation over these texts (n - 1)", title="SD")
    left_out: Mapping[str, int] = column("reason -> texts without a score", title="Undefined")
    constant_value: float | None = column(
        "the score of at least 95 % of the texts, if there is one", key="", shown=False
    )
    constant_share: float | None = column("its share of the scores", key="", shown=False)
    table: str = column("the run or file", title="From", names_row=True)
    constant: ConstantScore | None = entry(
        "the score of at least 95 % of the texts, null if scores vary", rows=ConstantScore
    )


@row
class JudgeScores:
    """All scores, and what speaks against them."""

    scores: tuple[ScoreRow, ...] = entry("each score", rows=ScoreRow)
    cautions: tuple[str, ...] = entry(
        "signs that scores say little, such as constant scores or repeated words"
    )
    injections: tuple[Injections, ...] = entry(
        "of each judge's run: its texts with marks of injection, and mean scores with and without them; none for other scores",
        rows=Injections,
    )
    notes: tuple[str, ...] = entry("what was read and left out")


def compute(_options: JudgeScoresOptions, judged: "JudgedTables", *, tell: Tell) -> JudgeScores:
    """Summarise each score. Texts without one are left out and counted, never treated as zero."""
    from core.results.injection import injections_of_judge
    from core.results.judges.scores import score_summary
    from core.stats.degeneracy import constants_said
    from core.tables.reading import shown

    tell("summarising the scores")
    found = [(table, one) for table in judged.tables for one in score_summary(table)]
    constants = constants_said((shown(one.metric), one.constant) for _, one in found)
    return JudgeScores(
        scores=tuple(_score_row(table, one) for table, one in found),
        cautions=(*constants, *judged.signs()),
        injections=tuple(injections_of_judge(one) for one in judged.outputs if one is not None),
        notes=tuple(dict.fromkeys(note for table in judged.tables for note in table.notes)),
    )


def _score_row(table: "ScoreTable", one: "ScoreSummary") -> ScoreRow:
    constant = one.constant
    return ScoreRow(
        metric=one.metric,
        n=one.n,
        mean=one.mean,
        sd=one.sd,
        left_out=one.left_out,
        constant_value=None if constant is None else constant.value,
        constant_share=None if constant is None else constant.share,
        table=table.file_name,
        constant=None
        if constant is None
        else ConstantScore(constant.value, constant.share, constant.n, constant.n_others),
    )


def _sentences(scores: JudgeScores) -> tuple[str, ...]:
    return (*map(Caution, scores.cautions), *marks_said(scores))


def marks_said(scores: JudgeScores) -> tuple[str, ...]:
    """How many texts have marks of injection, which is a caution, and whether their mean differs; empty without any."""
    from core.results.injection import injections_said

    said = [line for one in scores.injections for line in injections_said(one)]
    return tuple(Caution(line) if at == 0 else line for at, line in enumerate(said))


def _marked(scores: JudgeScores) -> Sequence[MarkedText] | None:
    return [text for one in scores.injections for text in one.texts] or None


def _means(scores: JudgeScores) -> Sequence[MarkedMean] | None:
    return [mean for one in scores.injections if one.n for mean in one.means] or None


def _unneeded(scores: JudgeScores) -> set[str]:
    from core.results.injection import unneeded_columns

    each = [unneeded_columns(one) for one in scores.injections if one.n]
    return set.intersection(*each) if each else set()


ANALYSIS = Analysis(
    name="judge-scores",
    title="Scores",
    question="How high are a judge's scores, how many texts have none, and does anything speak against them?",
    Options=JudgeScoresOptions,
    Result=JudgeScores,
    takes=("judged",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    section="judges#scores",
    misleads="Means of scores that lack different texts cover different texts. A sign alone does not make a score wrong: a judge that "
    'only ever writes "Correct." repeats itself and may be right.',
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": ["q1", "q2", "q3"], "judge": [4, 5, None]})
>>> assay.judge_scores(frame).frame[["metric", "n", "mean"]].values.tolist()
[['judge', 2, 4.5]]
""",
    tables=(
        Table(
            "judge-scores",
            ScoreRow,
            lambda found: found.scores,
            "Scores",
            heading=lambda _: "",
            notes=lambda found: found.notes,
            shaped=lambda found: (
                {}
                if len({one.table for one in found.scores}) > 1
                else {"table": {"shown": False, "names_row": False}}
            ),
        ),
        Table(
            MARKED_TEXTS,
            MarkedText,
            _marked,
            "Texts with marks of injection",
            hidden=_unneeded,
            most_printed=0,
        ),
        Table(
            MARKED_MEANS,
            MarkedMean,
            _means,
            "Mean scores with and without marks of injection",
            most_printed=0,
        ),
    ),
)

"""The results of a blind study: for pairs which system is better, for ratings which is rated highest."""

from typing import TYPE_CHECKING

from core.analyses.study_results import pairs, ratings
from core.schema.analysis import Analysis, Tell, resamples_setting
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.results.study.counted import StudyPart


class ResultsOptions(Settings):
    """Options of the results. What decides about the verdict is frozen with the design."""

    n_resamples: int = resamples_setting(
        10_000, "bootstrap resamples of intervals; verdicts always use 10,000", fewest=1
    )


def _pair_results(options: ResultsOptions, part: "StudyPart", *, tell: Tell) -> pairs.PairResults:
    """Analyse a study of pairs. Any filter makes the result exploratory."""
    from core.analyses.study_results.pair_rows import pair_results
    from core.results.study.pair_list import pair_list, pair_table
    from core.results.study.results import study_results

    tell("resampling")
    found = study_results(part.record, part.filters, n_resamples=options.n_resamples)
    return pair_results(found, pair_table(pair_list(part.record, part.filters)))


def _rating_results(options: ResultsOptions, part: "StudyPart", *, tell: Tell) -> ratings.RatingResults:
    """Analyse a study of ratings."""
    from core.analyses.study_results.rating_agreement import raters_agreement
    from core.analyses.study_results.rating_rows import rating_results
    from core.results.study.tables import RatingMeans
    from core.results.study.text_list import text_list, text_table

    tell("resampling")
    means = RatingMeans.of(part.record, n_resamples=options.n_resamples)
    return rating_results(
        part.record, means, raters_agreement(part.record), text_table(text_list(part.record))
    )


RATINGS = Analysis(
    name="study-results",
    title="Results of a study of ratings",
    question="Which system is rated highest, and do the raters agree?",
    Options=ResultsOptions,
    Result=ratings.RatingResults,
    takes=("part",),
    compute=_rating_results,
    verdicts=ratings.verdicts,
    codes={
        "highest": "one system's interval lies above those of all others in every dimension",
        "not-shown": "no system is set apart",
        "undefined": "nothing is rated",
    },
    all_sentences=lambda found: found.sentences,
    figures=ratings.figures,
    section="statistics#the-answer",
    misleads="Compare only systems with texts on the same sources.",
    example="",
    tables=ratings.TABLES,
    fits=lambda part: part.record.study.kind == "ratings",
)
ANALYSIS = Analysis(
    name="study-results",
    Options=ResultsOptions,
    takes=("part",),
    section="statistics#the-answer",
    title="Results of a study of pairs",
    question="Which of the two systems is better, and does the verdict hold?",
    Result=pairs.PairResults,
    compute=_pair_results,
    verdicts=pairs.verdicts,
    codes={
        "better": "the candidate is better; without a margin, the first system",
        "not-worse": "it is not worse by more than the margin",
        "worse-within-margin": "it is worse, by less than the margin",
        "worse": "it is worse",
        "not-shown": "neither is shown",
        "undefined": "there is not enough information",
    },
    all_sentences=lambda found: found.sentences,
    misleads='"Not shown" does not mean worse. An answer changed by a filter is exploratory.',
    refuses="For an unknown level, rater, question or language.",
    example="""
>>> import assay
>>> found = assay.study_results("demo", db=demo_database)
>>> found.json["answer"]["value"], found.json["verdict"]["value"]
('better', 'non-inferior')
""",
    tables=pairs.TABLES,
    fits=lambda part: part.record.study.kind == "pairs",
    others=(RATINGS,),
)

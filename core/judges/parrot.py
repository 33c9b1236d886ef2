"""002's Parrot: a judge that asks nobody and only repeats the errors of its examples.

Source: 002, section 5.4.2. How far a specialist gets beyond it is what copying cannot explain. The paper leaves open what
a matching span is; the rule here: for every distinct (words, severity, category) among the examples' errors, every
occurrence of the words in the text is an error of that severity and category (or only the first, as the settings say).
An occurrence is the same code points, in the same case, inside words too; occurrences of the same words do not overlap.
Errors that mark no words are never repeated.
"""

from core.judges.error_scores import mean_of
from core.judges.examples import ExamplePool
from core.judges.judge import EMPTY_TEXT, Judged
from core.judges.quotes import occurrences
from core.judges.settings import AutoMqmSettings
from core.schema.judges import AutoMqmRecord, ErrorTrial, FoundError
from core.schema.rated import RatedText
from core.schema.scores import Score

NO_EXAMPLES = "no examples"


class Parrot:
    """Implements RatedJudge by rules."""

    def __init__(self, settings: AutoMqmSettings, pool: ExamplePool) -> None:
        self._settings, self._pool = settings, pool

    async def judge_text(self, text: RatedText) -> Judged:
        """Minus the weights of the errors that are repeated, the mean of the draws of examples.

        A text without any example has no score: nothing to repeat is not the same as nothing wrong.
        """
        if not text.output.text.strip():
            return Judged((Score(None, EMPTY_TEXT),), None)
        trials = tuple(self._trial(text, repeat) for repeat in range(self._settings.repeats))
        if all(trial.errors is None for trial in trials):
            return Judged((Score(None, NO_EXAMPLES),), None)
        return Judged((mean_of(trials),), AutoMqmRecord(trials))

    def _trial(self, text: RatedText, repeat: int) -> ErrorTrial:
        chosen = self._settings
        examples = self._pool.examples_for(
            text,
            variant=chosen.examples,
            n_examples=chosen.n_examples,
            filtered=chosen.filtered,
            rater=chosen.rater,
            seed=chosen.seed + repeat,
        )
        if not examples:
            return ErrorTrial(repeat, None, reason=NO_EXAMPLES)
        shown = ((quote, span) for one in examples for quote, span in one.errors)
        distinct = dict.fromkeys((quote, span.severity, span.category) for quote, span in shown)
        found = []
        for quote, severity, category in distinct:
            places = occurrences(quote, text.output.text)
            places = places[:1] if chosen.occurrences == "first" else places
            found += [FoundError(quote, severity, category, *place) for place in places]
        found.sort(key=lambda error: (error.start or 0, error.end or 0))
        return ErrorTrial(repeat, tuple(found), tuple(one.used for one in examples))

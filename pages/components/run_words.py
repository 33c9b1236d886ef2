"""What the panel of a run says, by what the run does."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.schema.kinds import Work

PREVIEW, PREVIEW_WORD = 5, "five"
"""Items that show what a run makes or says, and what all of them will cost."""


@dataclass(frozen=True, kw_only=True)
class RunWords:
    """Sentences about runs of one work; the usual ones are those of a run that may ask a model."""

    nothing_made: str
    counts: str
    """What complete, incomplete and unanswered items are."""
    before_all: str
    failing: str
    stopping: str = "Open requests are put down, and the model is closed."
    resuming: str = "Nothing that is finished is paid for again."
    told_from: str = "each step's calls and tokens per item"
    """What an estimate is made of."""


_NO_ANSWER = "No answer yet: the server or the connection failed; Resume asks again."
WORDS: Mapping[Work, RunWords] = {
    "generation": RunWords(
        nothing_made="Nothing was made, and nothing was paid for.",
        counts="Complete: every level was made. Incomplete: a level is missing, and another try would not help; partial "
        f"results are in outputs.csv. {_NO_ANSWER}",
        before_all="Look at the answers under Items first. The items above are not paid for again.",
        failing="Each missing level of an item is counted.",
    ),
    "scores": RunWords(
        nothing_made="Nothing was scored.",
        counts="Complete: every text has its scores, or the reason why a metric is undefined for it. Incomplete: a "
        "metric failed on a text; the other texts have their scores.",
        before_all="The items above are not scored again.",
        failing="Each text of an item on which a metric failed is counted.",
        stopping="The texts that are being scored are finished first, if that takes seconds.",
        resuming="Nothing that is scored is computed again.",
        told_from="texts and seconds per item",
    ),
    "judging": RunWords(
        nothing_made="Nothing was judged, and nothing was paid for.",
        counts="Complete: every text has its scores, or the reason why it has none. Incomplete: a step of the judge "
        f"failed for a text, and another try would not help; the score shows the reason. {_NO_ANSWER}",
        before_all="Look at what the judge said first. The items above are not paid for again.",
        failing="Each failed step of each text is counted.",
    ),
    "audit": RunWords(
        nothing_made="Nothing was asked, and nothing was paid for.",
        counts="Complete: everything asked about the item has an answer. Incomplete: an answer is missing, and another "
        f"try would not help. {_NO_ANSWER}",
        before_all="Look at the answers first. The items above are not paid for again.",
        failing="Each missing answer is counted.",
    ),
}

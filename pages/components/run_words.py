"""What the panel of a run says, by what the run does."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.schema.kinds import Work

PREVIEW, PREVIEW_WORD = 5, "five"
"""Items that show what a run makes or says, and what all of them will cost."""


@dataclass(frozen=True)
class RunWords:
    """Sentences about runs of one work."""

    nothing_made: str
    stopping: str
    counts: str
    """What complete, incomplete and unanswered items are."""
    beginning: str
    resuming: str
    told_from: str
    """What an estimate is made of."""
    before_all: str
    failing: str


_GENERATION = RunWords(
    nothing_made="Nothing was made, and nothing was paid for.",
    stopping="It stops as soon as the requests that are open are answered or put down.",
    counts="Complete: every level was made. Incomplete: a level is missing, and another try would not mend it; "
    "the texts there are stand in outputs.csv. No answer yet: the server or the line failed; Resume asks again.",
    beginning="it reaches the server, loads a model, or works on its first items",
    resuming="Nothing that is finished is paid for again.",
    told_from="each step's calls and tokens per item",
    before_all="Look at the answers under Items first. The items above are not paid for again.",
    failing="An item may be here more than once: each of its levels that failed counts.",
)
_SCORING = RunWords(
    nothing_made="Nothing was scored.",
    stopping="It stops as soon as the texts at work are scored.",
    counts="Complete: every text has its scores, or the reason why a metric is not defined for it. Incomplete: a metric "
    "broke on a text; the other texts have their scores.",
    beginning="it loads models, or works on its first items",
    resuming="Nothing that is scored is computed again.",
    told_from="texts and seconds per item",
    before_all="The items above are not scored again.",
    failing="An item may be here more than once: each of its texts on which a metric broke counts.",
)
_JUDGING = RunWords(
    nothing_made="Nothing was judged, and nothing was paid for.",
    stopping="It stops as soon as the requests that are open are answered or put down.",
    counts="Complete: every text has its scores, or the reason why it cannot have one. Incomplete: a step of the judge "
    "failed for a text, and another try would not mend it; its reason stands in place of the score. No answer yet: the "
    "server or the line failed; Resume asks again.",
    beginning="it reaches the server, loads a model, or works on its first items",
    resuming="Nothing that is finished is paid for again.",
    told_from="each step's calls and tokens per item",
    before_all="Look at what the judge said first. The items above are not paid for again.",
    failing="An item may be here more than once: each of its texts and steps that failed counts.",
)
_CHECKING = replace(
    _JUDGING,
    nothing_made="Nothing was asked, and nothing was paid for.",
    counts="Complete: everything asked about the item has an answer. Incomplete: an answer is missing, and another try "
    "would not mend it. No answer yet: the server or the line failed; Resume asks again.",
    before_all="Look at the answers first. The items above are not paid for again.",
    failing="An item may be here more than once: each answer that is missing counts.",
)
WORDS: Mapping[Work, RunWords] = {
    "generation": _GENERATION,
    "scores": _SCORING,
    "judging": _JUDGING,
    "audit": _CHECKING,
}

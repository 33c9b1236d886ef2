"""The words of people's errors that a judge's errors are compared with: of its examples, of the same source."""

from collections.abc import Sequence

from core.datasets.mt_pair import names_reference
from core.datasets.reading import same_name
from core.datasets.task_files import parse_task
from core.judges.examples import ExampleUsed, test_set_of
from core.schema import RULES
from core.schema.judging import JudgeOutput
from core.schema.rated import RatedSet, RatedText
from core.schema.scores import ScorableOutput


class Pool:
    """The errors that people marked, by whose text they are in.

    Two sources under one id are two items, as for the judge: a specialist's examples are of the judged text's own.
    """

    def __init__(self, rated: RatedSet, output: JudgeOutput) -> None:
        self._filtered = output.settings.get("filtered") is True
        self._same_item = output.settings.get("examples") == "specialist"
        self._offered = _offered(output)
        self._texts: dict[tuple[str, ...], list[RatedText]] = {}
        self._of_item: dict[tuple[str, ...], list[RatedText]] = {}
        for text in rated.texts:
            item = (*test_set_of(text.output), text.output.item_id)
            self._texts.setdefault((*item, text.output.system), []).append(text)
            self._of_item.setdefault((*item, _source(text.output)), []).append(text)

    def shown(
        self, used: Sequence[ExampleUsed], judged: ScorableOutput, own: frozenset[str]
    ) -> frozenset[str]:
        """The quotes of the examples' errors. Of a filtered judge, without those that people marked in its text."""
        test_set = test_set_of(judged)
        quotes = {
            quote
            for one in used
            for text in self._texts.get((*test_set, one.item_id, one.system), ())
            if not self._same_item or _source(text.output) == _source(judged)
            for quote in quotes_of(text, one.rater, self._offered)
        }
        return frozenset(quotes - own if self._filtered else quotes)

    def same_source(self, judged: ScorableOutput) -> frozenset[str]:
        """The quotes of all errors in other systems' texts of the item, references' aside."""
        return frozenset(
            quote
            for text in self._of_item.get((*test_set_of(judged), judged.item_id, _source(judged)), ())
            if same_name(text.output.system) != same_name(judged.system)
            and not names_reference(text.output.system)
            for quote in quotes_of(text)
        )


def quotes_of(
    text: RatedText, rater: str | None = None, severities: frozenset[str] | None = None
) -> list[str]:
    """The words of the text's errors; of one rater, and of these severities alone, where they are named."""
    return [
        text.output.text[span.start : span.end]
        for rating in text.ratings
        if rater is None or rating.rater == rater
        for span in rating.spans or ()
        if not span.in_source
        and span.start < span.end
        and (severities is None or span.severity.casefold() in severities)
    ]


def _offered(output: JudgeOutput) -> frozenset[str] | None:
    """The severities that the judge's examples show, in one case; None: all, or it is not known which."""
    if output.model == RULES or not output.attached:
        return None
    spans = parse_task(output.attached, output.name).spans
    return None if spans is None else frozenset(one.casefold() for one in spans.severities)


def _source(output: ScorableOutput) -> str:
    """Blanks make no other source."""
    return " ".join((output.source or "").split())

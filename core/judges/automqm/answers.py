"""Lists of errors in JSON: what an error-marking judge is to answer, and how its answers are read.

The form is that of 002's AutoMQM (quote, severity and category of every error), inside an object, because servers that
keep to a schema want one. Examples show people's errors in exactly this form.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.datasets.mqm_weights import is_no_error, is_non_translation
from core.judges.automqm.errors import FOUND_SHARE, FoundError, found_share
from core.judges.automqm.quotes import Locator
from core.judges.numbered import in_a_line
from core.llm.asking import Unusable
from core.llm.parsing import clipped, form, read_json, read_object, read_text

NOT_ON_OFFER, NO_LIST = "severity not on offer", "no list of errors"
TOO_MANY = "too many errors"
NOT_IN_TEXT, NEW_CATEGORY = "quote not in the text", "category not on offer"
MOST_ERRORS = 60
"""Of one text, in an answer; more are a model that cannot stop. People marked 47 at most in a text of WMT23."""
_CHARACTERS_AN_ERROR, _ALWAYS = 8, 10
"""A list may have one error for so many characters, and so many in any case; people marked one in ten at most."""
LONGEST_QUOTE = 1_000
LONGEST_CATEGORY = 80
LONGEST_SHOWN = 30
"""Characters of a wrong severity, category or quote that are repeated."""
MOST_SHOWN = 3
"""Wrong categories or quotes that are repeated."""


@dataclass(frozen=True)
class NamedError:
    """An error as a judge names it."""

    quote: str
    """The words of the text that hold it; empty: words that are missing."""
    severity: str
    category: str


def errors_schema(severities: Sequence[str], text: str) -> dict[str, object]:
    """A list of errors, which may be empty. A quote can be as long as the text, up to LONGEST_QUOTE.

    The bounds are there so that guided decoding comes to an end; `read_errors` does not look at lengths again.
    """
    error = form(
        span={"type": "string", "maxLength": min(max(len(text), 1), LONGEST_QUOTE)},
        severity={"type": "string", "enum": list(severities)},
        category={"type": "string", "minLength": 1, "maxLength": LONGEST_CATEGORY},
    )
    most = min(max(len(text) // _CHARACTERS_AN_ERROR, _ALWAYS), MOST_ERRORS)
    return form(errors={"type": "array", "items": error, "maxItems": most})


def written_errors(errors: Iterable[NamedError]) -> str:
    """The answer that names these errors."""
    listed = [{"span": one.quote, "severity": one.severity, "category": one.category} for one in errors]
    return json.dumps({"errors": listed}, ensure_ascii=False)


def read_errors(text: str, severities: Sequence[str]) -> tuple[NamedError, ...]:
    """The errors of an answer, in its order; raises Unusable where there is no such list, or one entry is none.

    A list without the object around it is read too, where it is the whole answer. Severities may be in any case and are
    given back as the task has them; what is not on offer is no error, and no other severity is guessed. An entry that
    says that there is no error names none.
    """
    entries = _entries(text)
    if len(entries) > MOST_ERRORS:
        raise Unusable(f"It lists {len(entries)} errors, more than {MOST_ERRORS}.", TOO_MANY)
    offered = {severity.casefold(): severity for severity in severities}
    named = (_named(number, entry, offered) for number, entry in enumerate(entries, start=1))
    return tuple(one for one in named if one is not None)


class ErrorReader:
    """Reads answers about one text, and remembers the best of those that name what is not there.

    text: as the model was shown it. categories: on offer, of the task and of the examples.
    """

    def __init__(self, text: str, severities: Sequence[str], categories: Iterable[str]) -> None:
        self._text, self._severities = text, tuple(severities)
        self._offered = {name for one in categories for name in _names_of(one)}
        self._best: tuple[FoundError, ...] | None = None

    @property
    def best(self) -> tuple[FoundError, ...] | None:
        """Of the answers in which at least FOUND_SHARE of the quotes are in the text the one with the fewest errors that
        are wrongly named, of equal ones the later; None: there was none.
        """
        return self._best

    def read(self, answer: str) -> tuple[FoundError, ...]:
        """The errors, each with its place; see read_errors.

        Raises Unusable also where a quote is not in the text, or a category is none on offer. Case, hyphens and underlines
        do not matter in a category, and either side of its slash may stand alone.
        """
        locator, found = Locator(self._text), []
        for one in read_errors(answer, self._severities):
            place = locator.find(one.quote)
            offered = self._is_offered(one.category)
            found.append(
                FoundError(
                    one.quote, one.severity, one.category, place.start, place.end, place.located, offered
                )
            )
        errors = tuple(found)
        strange = [one.quote for one in errors if one.located == "not found"]
        invented = [one.category for one in errors if not one.offered]
        if not strange and not invented:
            return errors
        if found_share(errors) >= FOUND_SHARE and (
            self._best is None or _n_wrong(errors) <= _n_wrong(self._best)
        ):
            self._best = errors
        if strange:
            raise Unusable(
                f"The text does not hold {_shown(strange)}: copy words letter by letter.", NOT_IN_TEXT
            )
        raise Unusable(f"No category is called {_shown(invented)}: choose from the list.", NEW_CATEGORY)

    def _is_offered(self, category: str) -> bool:
        return is_non_translation(category) or not self._offered.isdisjoint(_names_of(category, parts=False))


def _names_of(category: str, *, parts: bool = True) -> set[str]:
    """What a category may be called: whole, and by either side of its slash."""
    plain = " ".join(category.casefold().replace("_", " ").replace("-", " ").split())
    sides = [side.strip() for side in plain.split("/")]
    return {"/".join(sides), *(sides if parts else ())}


def _n_wrong(errors: Sequence[FoundError]) -> int:
    return sum(one.located == "not found" or not one.offered for one in errors)


def _shown(names: Sequence[str]) -> str:
    """The first of what is wrong, as a sentence repeats it."""
    distinct = list(dict.fromkeys(names))
    listed = ", ".join(repr(clipped(one, LONGEST_SHOWN)) for one in distinct[:MOST_SHOWN])
    return f"{listed} and {len(distinct) - MOST_SHOWN} more" if len(distinct) > MOST_SHOWN else listed


def _entries(text: str) -> list[object]:
    try:
        return list(read_object(text, errors={"type": "array"})["errors"])
    except Unusable as wrong:
        if _is_list(text):
            value = read_json(text, {"type": "array"})
            assert isinstance(value, list)
            return value
        raise Unusable(wrong.detail, NO_LIST if wrong.kind == "invalid" else wrong.kind) from None


def _is_list(text: str) -> bool:
    """Whether the whole answer is a list: brackets that a sentence mentions are none."""
    try:
        return isinstance(json.loads(read_text(text)), list)
    except (Unusable, ValueError, RecursionError):
        return False


def _named(number: int, entry: object, offered: Mapping[str, str]) -> NamedError | None:
    """One entry; None: it says that there is no error."""
    if not isinstance(entry, dict):
        raise Unusable(f"Error {number} is no object with span, severity and category.")
    quote, severity, category = (entry.get(name) for name in ("span", "severity", "category"))
    if not isinstance(severity, str) or not isinstance(category, str):
        raise Unusable(f"Error {number} has no severity or no category that is a text.")
    severity, category = severity.strip(), in_a_line(category)
    if is_no_error(category, severity):
        return None
    if severity.casefold() not in offered:
        shown = clipped(severity, LONGEST_SHOWN)
        listed = ", ".join(offered.values())
        raise Unusable(f"Error {number}: the severity {shown!r} is none of {listed}.", NOT_ON_OFFER)
    if not isinstance(quote, str):
        raise Unusable(f"Error {number} has no span: quote the words, or give an empty text.")
    if not category:
        raise Unusable(f"Error {number} has an empty category.")
    return NamedError(quote, offered[severity.casefold()], category)

"""Pairs of texts whose every fact is marked by hand, and a judge that answers from these marks alone.

A fact is a slot that each of the two texts fills, fills otherwise (a contradiction), or leaves empty (an omission in the
text, or an addition to the source). The oracle speaks through a ScriptedServer: it finds the text in the request and
knows by the marks what that text says.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from helpers.texts.score_factories import unrated

from core.schema.scores import RatedText

Body = dict[str, Any]
DECOY = "somebody or something else"


@dataclass(frozen=True)
class Fact:
    """A slot, its question, and what the two texts put into it."""

    question: str
    """With {} for the value."""
    sentence: str
    """As the source says it."""
    in_source: str | None
    in_text: str | None
    text_sentence: str = ""
    """As the text says it; empty: as the source does."""
    decoy: str = DECOY
    """A value to ask for where NO is expected of the source; of the text: `text_decoy`."""
    text_decoy: str = DECOY


@dataclass(frozen=True)
class MarkedPair:
    """Two texts, and the scores that they must get: worked out by hand from the marks."""

    name: str
    facts: tuple[Fact, ...]
    expected: tuple[Fraction, Fraction, Fraction, Fraction]
    """Coverage, conformity, consistency by the formula, consistency by the code; all questions expect YES."""
    expected_mixed: tuple[Fraction, Fraction, Fraction, Fraction] | None = None
    """With a YES and a NO question a fact, and one that expects IDK."""

    @property
    def source(self) -> str:
        return " ".join(one.sentence.format(one.in_source) for one in self.facts if one.in_source)

    @property
    def text(self) -> str:
        return " ".join(
            (one.text_sentence or one.sentence).format(one.in_text) for one in self.facts if one.in_text
        )

    @property
    def given(self) -> RatedText:
        return unrated(self.text, source=self.source)


def _scores(*written: str) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    coverage, conformity, consistency, code = map(Fraction, written)
    return coverage, conformity, consistency, code


def _same(question: str, sentence: str, value: str, text_sentence: str = "") -> Fact:
    return Fact(question, sentence, value, value, text_sentence)


_BUILDER = ("Did {} build the mill?", "The mill was built by {}.")
_YEAR = ("Was the mill built in {}?", "It went up in {}.")
_RIVER = ("Does the mill stand on the {}?", "It stands on the {}.")
_OWNER = ("Does the mill belong to {} today?", "Today it belongs to {}.")
_WHEEL = ("Does the wheel of the mill measure {} metres?", "The wheel measures {} metres.")
_GRAIN = ("Did the mill grind {}?", "It ground {}.")
_BATS = ("Are the {} counted in the garden?", "In the garden {} are counted.")
_WHEN = ("Are the animals counted in {}?", "They are counted in {}.")

PAIRS: tuple[MarkedPair, ...] = (
    MarkedPair(
        "a paraphrase",
        (
            _same(*_BUILDER, "Karl Weber", "{} put up the mill."),
            _same(*_YEAR, "1832", "That was in {}."),
            _same(*_RIVER, "Danube", "The {} flows past it."),
        ),
        _scores("1", "1", "1", "1"),
    ),
    MarkedPair(
        "one omission of four",
        (
            _same(*_BUILDER, "Karl Weber"),
            _same(*_YEAR, "1832"),
            Fact(*_RIVER, "Danube", None),
            _same(*_OWNER, "the town"),
        ),
        _scores("3/4", "1", "1", "1"),
        # Q_D: 4 YES questions (3 YES, 1 IDK) and 4 NO questions (3 NO, 1 IDK); Q_T: 3 and 3, all as expected.
        _scores("6/8", "1", "1", "1"),
    ),
    MarkedPair(
        "one contradiction of four",
        (
            _same(*_BUILDER, "Karl Weber"),
            Fact(*_YEAR, "1832", "1732"),
            _same(*_RIVER, "Danube"),
            _same(*_OWNER, "the town"),
        ),
        _scores("1", "3/4", "1", "3/4"),
        # Of 8 closed questions on each side one YES question is answered NO.
        _scores("1", "7/8", "1", "7/8"),
    ),
    MarkedPair(
        "one addition to three",
        (
            _same(*_BUILDER, "Karl Weber"),
            _same(*_YEAR, "1832"),
            _same(*_RIVER, "Danube"),
            Fact(*_OWNER, None, "a bank"),
        ),
        _scores("1", "1", "3/4", "3/4"),
    ),
    MarkedPair(
        "an omission and a contradiction of five",
        (
            _same(*_BUILDER, "Karl Weber"),
            Fact(*_YEAR, "1832", "1932"),
            _same(*_RIVER, "Danube"),
            Fact(*_OWNER, "the town", None),
            _same(*_WHEEL, "six"),
        ),
        _scores("4/5", "4/5", "1", "3/4"),
    ),
    MarkedPair(
        "nothing in common",
        (
            Fact(*_BUILDER, "Karl Weber", None),
            Fact(*_YEAR, "1832", None),
            Fact(*_RIVER, "Danube", None),
            Fact(*_WHEEL, None, "nine"),
            Fact(*_GRAIN, None, "mustard"),
        ),
        _scores("0", "1", "0", "0"),
    ),
    MarkedPair(
        "everything contradicted",
        (
            Fact(*_BUILDER, "Karl Weber", "Otto Braun", decoy="Otto Braun", text_decoy="Karl Weber"),
            Fact(*_YEAR, "1832", "1911", decoy="1911", text_decoy="1832"),
        ),
        _scores("1", "0", "1", "0"),
        # YES questions are answered NO, and NO questions, which ask for the other's value, YES.
        _scores("1", "0", "1", "0"),
    ),
    MarkedPair(
        "two omissions and two additions",
        (
            _same(*_BUILDER, "Karl Weber"),
            _same(*_YEAR, "1832"),
            Fact(*_RIVER, "Danube", None),
            Fact(*_OWNER, "the town", None),
            Fact(*_WHEEL, None, "six"),
            Fact(*_GRAIN, None, "rye"),
        ),
        _scores("2/4", "1", "2/4", "2/4"),
    ),
    MarkedPair(
        "a contradiction and two additions",
        (
            _same(*_BUILDER, "Karl Weber"),
            Fact(*_YEAR, "1832", "1823"),
            _same(*_RIVER, "Danube"),
            Fact(*_WHEEL, None, "six"),
            Fact(*_GRAIN, None, "rye"),
        ),
        _scores("1", "2/3", "3/5", "2/5"),
    ),
    MarkedPair(
        "all three kinds",
        (
            _same(*_BUILDER, "Karl Weber"),
            _same(*_YEAR, "1832"),
            Fact(*_RIVER, "Danube", "Rhine"),
            Fact(*_OWNER, "the town", None),
            Fact(*_WHEEL, "six", None),
            _same(*_GRAIN, "rye"),
            Fact(*_BATS, None, "barn owls"),
        ),
        _scores("4/6", "5/6", "4/5", "3/5"),
        # Q_D: YES questions 3 YES, 1 NO, 2 IDK; NO questions 4 NO, 2 IDK. Q_T: 3 YES, 1 NO, 1 IDK; 4 NO, 1 IDK.
        _scores("8/12", "11/12", "8/10", "7/10"),
    ),
    MarkedPair(
        "a translation with an omission",
        (
            _same(*_BATS, "Fledermäuse", "Im Garten werden {} gezählt."),
            _same(*_WHEN, "April", "Gezählt wird im {}."),
            Fact(*_OWNER, "the Trust", None),
        ),
        _scores("2/3", "1", "1", "1"),
    ),
    MarkedPair(
        "a translation with two contradictions and an addition",
        (
            Fact(*_BATS, "bats", "mice", "庭で{}を数えます。"),
            Fact(*_WHEN, "April", "August", "{}に数えます。"),
            _same(*_OWNER, "Trust", "{}の水車です。"),
            _same(*_YEAR, "1832", "{}年に建てられました。"),
            Fact(*_GRAIN, None, "rye", "{}をひきました。"),
        ),
        _scores("1", "2/4", "4/5", "2/5"),
    ),
)


class Oracle:
    """A script for the server: questions and answers as the marks have them, whatever the form that is asked for."""

    def __init__(self, pairs: Sequence[MarkedPair] = PAIRS) -> None:
        self._fields: dict[str, Mapping[str, str]] = {}
        """Text -> what it says, by question with its {}."""
        self._questions: dict[tuple[str, str], list[tuple[str, str]]] = {}
        """(text, kind) -> questions with the answers they expect."""
        for pair in pairs:
            self._learn(pair.source, [(one, one.in_source, one.decoy) for one in pair.facts])
            self._learn(pair.text, [(one, one.in_text, one.text_decoy) for one in pair.facts])

    def _learn(self, text: str, facts: Sequence[tuple[Fact, str | None, str]]) -> None:
        said = [(fact.question, value, decoy) for fact, value, decoy in facts if value]
        self._fields[text] = {question: value for question, value, _ in said}
        yes = [(question.format(value), "YES") for question, value, _ in said]
        no = [(question.format(decoy), "NO") for question, _, decoy in said]
        self._questions[text, "yes"] = yes
        self._questions[text, "mixed"] = [*yes, *no, ("Is a lighthouse named {}?".format("Alma"), "IDK")]

    def __call__(self, body: Body, n: int = 0) -> str:
        asked = asked_of(body)
        text = field(asked, "text")
        if "<number>" in asked:
            return self._made(text, mixed="answer" in json.dumps(body["response_format"]))
        if "<questions>" in asked:
            lines = [line.split(": ", 1) for line in field(asked, "questions").splitlines()]
            entries = [{"question": int(number), "answer": self._answer(text, one)} for number, one in lines]
            return json.dumps({"answers": entries})
        return self._answer(text, field(asked, "question"))

    def _made(self, text: str, mixed: bool) -> str:
        questions = self._questions[text, "mixed" if mixed else "yes"]
        if mixed:
            return json.dumps({"questions": [{"question": one, "answer": said} for one, said in questions]})
        return json.dumps({"questions": [one for one, _ in questions]})

    def _answer(self, text: str, question: str) -> str:
        for asked, value in self._fields[text].items():
            found = re.fullmatch(re.escape(asked).replace(re.escape("{}"), "(.+)"), question)
            if found:
                return "YES" if found[1] == value else "NO"
        return "IDK"


def asked_of(body: Body) -> str:
    """The item's own turn: where an answer was refused, turns about that follow it."""
    return next(
        str(turn["content"]) for turn in body["messages"] if str(turn["content"]).startswith("<text>\n")
    )


def field(asked: str, name: str) -> str:
    """What stands between the tags of this name."""
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", asked, re.DOTALL)
    assert found is not None, name
    return found.group(1)

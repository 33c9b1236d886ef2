"""Find spans by spaCy's dependency parse (Factual, appendix A), in this process or in a helper in spaCy's environment.

Candidates are objects, attributes, complements, adverbials, prepositional objects, appositions, modifiers and numbers,
each with the minimal complete phrase that it heads. Dependents of a subject are left out, except relative clauses inside
the subject. Labels are those of English models (ClearNLP), Universal Dependencies and German models (TIGER).

The helper is `python -m core.generation.parse` with that environment's Python, so this module may import nothing beyond
spaCy. It reads one request a line, `[parser, language]` or `[parser, language, text]`, and answers in one line.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self, TextIO

from core.errors import InputError
from core.installation import HOUSE, set_up


@dataclass(frozen=True)
class Span:
    """A stretch of A0 that may contain a fact."""

    start: int
    end: int
    """Character offsets into A0, end exclusive."""
    text: str
    kind: str
    """How it was found: a dependency such as `dobj`, or a rule such as `year`."""


_OBJECTS = frozenset({
    "dobj", "obj", "iobj", "dative", "attr", "oprd", "acomp", "xcomp", "pobj", "pcomp", "obl", "nmod",
    "oa", "oa2", "og", "da", "pd", "ag", "nk", "op",
})  # fmt: skip
_ADVERBIALS = frozenset({"advmod", "npadvmod", "tmod", "mo", "amod", "acl", "appos", "app", "nummod", "nn"})
_ROOT = "root"
_ELIGIBLE = _OBJECTS | _ADVERBIALS | {_ROOT}
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "sb", "sbp", "expl"})
_RELATIVE = frozenset({"relcl", "rc", "acl:relcl"})
_CONJUNCT, _COORDINATOR = frozenset({"conj", "cj"}), frozenset({"cc", "cd"})
_CONTENT = frozenset({"NOUN", "PROPN", "ADV", "ADJ", "NUM"})
_BEFORE = frozenset({
    "det", "amod", "nummod", "compound", "advmod", "quantmod", "poss", "nmod", "nn", "npadvmod", "predet", "clf",
    "flat", "fixed", "nk", "pnc", "mo", "num", "appos", "goeswith", "dep", "nounmod", "ag", "ng",
})  # fmt: skip
"""Children before a head that belong to its phrase."""
_BEHIND = frozenset({"flat", "fixed", "compound", "goeswith", "amod", "nummod", "pnc", "clf", "quantmod"})
"""Children right after a head that belong to its phrase: `Ludwig van Beethoven`, `gaz toxiques`."""
_QUESTION_WORDS = frozenset({"WRB", "WDT", "WP", "PWAV"})
_SIZES = ("trf", "lg", "md", "sm")


@dataclass(frozen=True)
class Parser:
    """A spaCy pipeline, loaded here or in the helper process."""

    name: str
    """`spacy MODEL VERSION`."""
    spans: Callable[[str], tuple[Span, ...]]
    """Text -> its spans, sorted."""


def _find_parser(parser: str, language: str) -> Parser | None:
    """The pipeline to use; None if `auto` finds none. Raises InputError for a named pipeline that cannot be used."""
    return _load(parser) if parser != "auto" else _installed(language)


@lru_cache(maxsize=64)
def _installed(language: str) -> Parser | None:
    """The largest installed model of a language that loads and parses."""
    try:
        names = import_module("spacy.util").get_installed_models()
    except ImportError:
        return None
    fitting = [name for name in names if name.startswith(f"{language}_")]
    sizes = {size: at for at, size in enumerate(_SIZES)}
    for name in sorted(fitting, key=lambda name: (sizes.get(name.rpartition("_")[2], len(_SIZES)), name)):
        try:
            return _load(name)
        except InputError:
            continue
    return None


@lru_cache(maxsize=8)
def _load(name: str) -> Parser:
    what = f"Parser {name} cannot be used"
    try:
        spacy = import_module("spacy")
    except ImportError:
        advice = f"{set_up('spacy')} sets it up; or choose the parser `rules`"
        raise InputError(what, [f"spaCy is not installed: {advice}"]) from None
    try:
        pipeline = spacy.load(name, exclude=["ner", "textcat", "entity_linker"])
    except (OSError, ValueError, ImportError) as error:
        # spaCy's messages have several lines of help; the first states the problem.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(what, [f"{reason} Install the model, or choose `auto` or `rules`."]) from None
    if "parser" not in pipeline.pipe_factories.values():
        raise InputError(what, ["it has no dependency parser; choose a model with one"])
    meta = pipeline.meta
    full = f"{meta.get('lang', 'xx')}_{meta.get('name', 'unnamed')}"
    return Parser(f"spacy {full} {meta.get('version', '0')}", lambda text: spans_by_parse(pipeline(text)))


def spans_by_parse(doc: Iterable[Any]) -> tuple[Span, ...]:
    """The spans of a parsed text, sorted; if two overlap, the longer one, else the earlier one."""
    tokens = list(doc)
    candidates = []
    for token in tokens:
        if kind := _role(token):
            first, last = _phrase(token, tokens)
            candidates.append((tokens[first].idx, tokens[last].idx + len(tokens[last].text), kind))
    text = "".join(token.text_with_ws for token in tokens)
    return longest_apart(Span(start, end, text[start:end], kind) for start, end, kind in candidates)


def longest_apart(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans without overlaps, sorted; if two overlap, the longer one, else the earlier one."""
    chosen: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.start)):
        if all(span.end <= other.start or other.end <= span.start for other in chosen):
            chosen.append(span)
    return tuple(sorted(chosen, key=lambda span: span.start))


def _label(token: Any) -> str:
    """The dependency without its subtype: `obl:tmod` gives `obl`."""
    whole = str(token.dep_).lower()
    return whole if whole in _RELATIVE else whole.split(":")[0]


def _role(token: Any) -> str | None:
    """The dependency that makes a token a candidate, or None."""
    if token.pos_ not in _CONTENT or token.tag_ in _QUESTION_WORDS or _is_of_subject(token):
        return None
    if any(kind in ("Int", "Rel") for kind in token.morph.get("PronType")):
        return None
    head = _first_conjunct(token)
    label = _label(head)
    eligible = label in _ELIGIBLE and not (label in ("acl", "xcomp") and token.pos_ == "ADV")
    # Outside the subject every number is a candidate, whatever its label.
    return str(head.dep_) if eligible or token.pos_ == "NUM" else None


def _first_conjunct(token: Any) -> Any:
    """The first of coordinated tokens, which share its role; in German the second depends on the conjunction."""
    head = token
    while _label(head) in _CONJUNCT and head.head.i != head.i:
        head = head.head
        if _label(head) in _COORDINATOR and head.head.i != head.i:
            head = head.head
    return head


def _is_of_subject(token: Any) -> bool:
    """Whether a token is closer to a subject above it than to a relative clause."""
    while (label := _label(token)) not in _SUBJECTS:
        if label in _RELATIVE or token.head.i == token.i:
            return False
        token = token.head
    return True


def _phrase(head: Any, tokens: list[Any]) -> tuple[int, int]:
    """First and last token of the minimal complete phrase: the head, its qualifiers before it, and names after it."""
    inside = {head.i}
    for child in head.children:
        label = _label(child)
        introduces = child.pos_ in ("ADP", "SCONJ", "CCONJ", "PUNCT", "SPACE")
        belongs = label in _BEHIND if child.i > head.i else label in _BEFORE and not introduces
        if belongs:
            inside |= {part.i for part in child.subtree}
    # A span must stay on one line.
    inside = {number for number in inside if not tokens[number].is_space}
    first = last = head.i
    while first > 0 and (first - 1 in inside or _hyphen(tokens, first - 1)):
        first -= 1
    while last + 1 < len(tokens) and (last + 1 in inside or _hyphen(tokens, last + 1)):
        last += 1
    while tokens[first].is_punct or tokens[first].is_space:
        first += 1
    while tokens[last].is_punct or tokens[last].is_space:
        last -= 1
    return first, last


def _hyphen(tokens: list[Any], at: int) -> bool:
    """Whether a token is a mark that joins two words, as in `long-term`."""
    token = tokens[at]
    if at == 0 or at + 1 >= len(tokens) or token.text not in ("-", "–", "/", "'", "’"):
        return False
    return not token.whitespace_ and not tokens[at - 1].whitespace_


class Parsers:
    """The parsers that a run can use. Close it after use, because it may have started a helper process."""

    def __init__(self, python: Path | None = None) -> None:
        """python: the Python of spaCy's environment; None searches only this process."""
        self._python = python
        self._process: subprocess.Popen[str] | None = None
        self._known: dict[tuple[str, str], Parser | None] = {}

    def find(self, parser: str, language: str) -> Parser | None:
        """The parser to use for a language; None if `auto` finds none.

        parser: `auto`, or a pipeline's name or path. Raises InputError if a named pipeline cannot be used, or the
        environment is broken, so that a run never falls back to rules by accident.
        """
        key = parser, language
        if key not in self._known:
            self._known[key] = self._find(parser, language)
        return self._known[key]

    def _find(self, parser: str, language: str) -> Parser | None:
        found = None
        try:
            found = _find_parser(parser, language)
        except InputError:
            if self._python is None:
                raise
        if found is None and self._python is not None:
            name = self.ask([parser, language])["name"]
            return None if name is None else Parser(name, partial(self._spans, parser, language))
        return found

    def _spans(self, parser: str, language: str, text: str) -> tuple[Span, ...]:
        found = self.ask([parser, language, text])["spans"]
        return tuple(Span(start, end, text[start:end], kind) for start, end, kind in found)

    def ask(self, request: Sequence[str]) -> dict[str, Any]:
        """The helper's answer to one request. Raises InputError if it reports a problem or does not answer."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        line = ""
        with suppress(OSError):  # the helper ended; the missing answer is handled below
            process.stdin.write(json.dumps(list(request)) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            self.close()
            raise InputError(
                f"The spaCy environment does not work: {self._python} ended without an answer. Set it up with "
                f"{set_up('spacy')}, or choose the parser `rules`."
            ) from None
        if "problem" in answer:
            raise InputError(answer["problem"], answer["problems"])
        return answer

    def _started(self) -> "subprocess.Popen[str]":
        command = [str(self._python), "-m", "core.generation.parse"]
        try:
            return subprocess.Popen(
                command,
                cwd=HOUSE,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C must reach only the run, which lets open items finish
            )
        except OSError as problem:
            raise InputError(f"{self._python} could not be started ({problem})") from problem

    def close(self) -> None:
        """End the helper process, if there is one."""
        process, self._process = self._process, None
        self._known.clear()
        if process is not None:
            process.kill()
            process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _answer(parser: str, language: str, text: str | None = None) -> dict[str, Any]:
    try:
        found = _find_parser(parser, language)
    except InputError as problem:
        return {"problem": problem.what, "problems": list(problem.problems)}
    if found is None or text is None:
        return {"name": None if found is None else found.name}
    return {"spans": [(span.start, span.end, span.kind) for span in found.spans(text)]}


def _serve(requests: TextIO, answers: TextIO) -> None:
    for line in requests:
        print(json.dumps(_answer(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    # Libraries' output must not mix with the answers.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as own:
        sys.stdout = sys.stderr
        sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a text stream, as a process has it
        with suppress(KeyboardInterrupt, BrokenPipeError):  # the run has ended
            _serve(sys.stdin, own)

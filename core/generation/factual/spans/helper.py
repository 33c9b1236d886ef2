"""Where a parse comes from: spaCy in this process, else in a helper process of the environment that holds it.

The helper is `python -m core.generation.factual.spans.helper` in that environment's Python, so nothing it imports may need
more than spaCy. It reads a request a line, `[parser, language]` or `[parser, language, text]`, and answers a line.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self, TextIO

from core.errors import InputError
from core.generation.factual.spans.by_parse import Parser, find_parser
from core.generation.records import Span

ROOT = Path(__file__).resolve().parents[4]


class FindsSpans(Protocol):
    """A parser at hand."""

    @property
    def name(self) -> str:
        """`spacy MODEL VERSION`."""

    def spans(self, text: str) -> tuple[Span, ...]:
        """The spans of a text, sorted."""


class Parsers:
    """The parsers that a run can use. Close it: it may have started a helper process."""

    def __init__(self, python: Path | None = None) -> None:
        """python: of the environment that holds spaCy; None: only this process is searched."""
        self._python = python
        self._process: subprocess.Popen[str] | None = None
        self._known: dict[tuple[str, str], FindsSpans | None] = {}

    def find(self, parser: str, language: str) -> FindsSpans | None:
        """The parser to use for a language; None where `auto` finds none.

        parser: `auto`, or a pipeline's name or path. Raises InputError for a named one that cannot be used, and where the
        environment is broken: a run never falls back to rules because of that.
        """
        key = parser, language
        if key not in self._known:
            self._known[key] = self._find(parser, language)
        return self._known[key]

    def _find(self, parser: str, language: str) -> FindsSpans | None:
        found, problem = None, None
        try:
            found = find_parser(parser, language)
        except InputError as missing:
            problem = missing
        if found is None and self._python is not None:
            name = self.ask([parser, language])["name"]
            return None if name is None else _Elsewhere(self, parser, language, name)
        if problem is not None:
            raise problem
        return found

    def ask(self, request: Sequence[str]) -> dict[str, Any]:
        """The helper's answer to one request. Raises InputError where it refuses, or cannot work."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        line = ""
        with suppress(OSError):  # it ended: there is no answer then either
            process.stdin.write(json.dumps(list(request)) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            self.close()
            raise InputError(
                f"The spaCy environment does not work: {self._python} ended without an answer. "
                "`./run --with spacy --setup` sets it up; --parser rules does without."
            ) from None
        if "problem" in answer:
            raise InputError(answer["problem"], answer["problems"])
        return answer

    def _started(self) -> "subprocess.Popen[str]":
        command = [str(self._python), "-m", "core.generation.factual.spans.helper"]
        try:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is for the run, which lets open items end
            )
        except OSError as problem:
            raise InputError(f"{self._python} could not be started ({problem}).") from problem

    def close(self) -> None:
        """End the helper, if there is one."""
        process, self._process = self._process, None
        self._known.clear()
        if process is not None:
            process.kill()
            process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Elsewhere:
    """A parser in the helper process."""

    def __init__(self, parsers: Parsers, parser: str, language: str, name: str) -> None:
        self._parsers, self._parser, self._language, self.name = parsers, parser, language, name

    def spans(self, text: str) -> tuple[Span, ...]:
        found = self._parsers.ask([self._parser, self._language, text])["spans"]
        return tuple(Span(start, end, text[start:end], kind) for start, end, kind in found)


def _answer(parser: str, language: str, text: str | None = None) -> dict[str, Any]:
    try:
        found: Parser | None = find_parser(parser, language)
    except InputError as problem:
        return {"problem": problem.what, "problems": list(problem.problems)}
    if found is None or text is None:
        return {"name": None if found is None else found.name}
    return {"spans": [(span.start, span.end, span.kind) for span in found.spans(text)]}


def _serve(requests: TextIO, answers: TextIO) -> None:
    for line in requests:
        print(json.dumps(_answer(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    # What a library prints must not come between the answers.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as own:
        sys.stdout = sys.stderr
        sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a text stream, as a process has it
        with suppress(KeyboardInterrupt, BrokenPipeError):  # whoever asked is gone
            _serve(sys.stdin, own)

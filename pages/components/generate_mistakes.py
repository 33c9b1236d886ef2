"""What keeps a run from starting, in the words of the form."""

import re

from core.errors import InputError
from pages.components.messages import mistakes_shown

_LABELS = {
    "--backend": "Backend",
    "--model": "Model",
    "--base-url": "Address",
    "--levels": "Levels",
    "--keep": "Share of facts",
    "--attempts": "Answers asked for one step",
    "--concurrency": "Requests open at once",
    "--timeout": "Seconds for one request",
    "--retries": "Further tries",
    "--input-price": "Price of a million input tokens",
    "--output-price": "Price of a million output tokens",
    "--key-variable": "Environment variable that holds the key",
    "--parser": "Facts are found by",
    "--name": "Name of the judge",
    "--rubric": "Rubric",
    "--order": "Read first",
    "--repeats": "Repeats",
    "--temperature": "Temperature",
    "--atomicity": "Size of a claim",
    "--coverage": "Which claims",
    "--verifier": "Claims are verified by",
    "--beta": "Weight of recall (beta)",
    "--nli": "Entailment model",
    "--mode": "Compared with",
    "--answers": "Answers",
    "--questions": "Questions from each text",
    "--kind-of-questions": "Kind of questions",
    "--source-language": "Language to translate back into",
}


def as_on_page(problem: InputError) -> InputError:
    """The same problems under the names that the form gives to the command's options."""
    return InputError(problem.what, [_named(line) for line in problem.problems])


def show_kept(message: str) -> None:
    """Show the message that a run keeps as the mistake that it was: a sentence, and its problems as a list."""
    what, *listed = message.splitlines() or [""]
    with mistakes_shown():
        raise as_on_page(
            InputError(what, [line.strip().removeprefix("- ") for line in listed if line.strip()])
        )


def _named(problem: str) -> str:
    option = re.match(r"--[a-z-]+", problem)
    return problem if option is None else problem.replace(option[0], _LABELS.get(option[0], option[0]), 1)

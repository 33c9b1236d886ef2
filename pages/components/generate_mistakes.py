"""What keeps a run from starting, in the words of the form."""

import re

from core.errors import InputError
from pages.components.messages import show_mistake

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
    "--reask": "Ask every question of its own text too",
    "--seed": "Seed",
    "--device": "Device",
    "--task": "Task",
    "--dimension": "Dimension",
    "--examples": "Examples",
    "--n-examples": "Number of examples",
    "--filtered": "Filter the examples",
    "--rater": "Whose ratings are the examples",
    "--only": "Judge only the texts of",
    "--ratings": "Ratings, where they stand apart",
    "--prompting": "How it is asked",
    "--shots": "Examples of each class",
    "--held-out": "Share of the rated items that is held out",
    "--shuffled-words": "Share of words that change places",
}
_CHOICES = {
    "--mode reference": "the comparison with the reference",
    "--backend openai": "the backend of an OpenAI-compatible server",
    "--backend vllm": "the backend vLLM",
    "--backend rules": "the backend of rules",
    "--verifier nli": "the entailment model as verifier",
    "--order both": "both orders",
    "--examples none": "no examples",
}
"""An option with its value, inside a sentence."""
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def as_on_page(problem: InputError) -> InputError:
    """The same problems under the names that the form gives to the command's options."""
    return InputError(said_on_page(problem.what), problem.found.each(said_on_page))


def said_on_page(sentence: str) -> str:
    """The same sentence with the form's names; inside it they stand in quotes. Options the form lacks stay."""
    for choice, said in _CHOICES.items():
        sentence = re.sub(rf"(?<![\w-]){choice}(?![\w-])", said, sentence)
    return _OPTION.sub(lambda found: _label(found[0], quoted=found.start() > 0), sentence)


def _label(option: str, *, quoted: bool) -> str:
    label = _LABELS.get(option)
    if label is None:
        return option
    return f'"{label}"' if quoted else label


def show_kept(message: str) -> None:
    """Show the message that a run keeps as the mistake that it was: a sentence, and its problems as a list."""
    what, *listed = message.splitlines() or [""]
    show_mistake(said_on_page(what), [said_on_page(line.strip().removeprefix("- ")) for line in listed])

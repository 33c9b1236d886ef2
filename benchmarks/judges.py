"""Calls and tokens for one document by judge: cross-examination with one call per question or one in all, claims, rubric.

The judges call a local server over HTTP with the shipped prompts, for texts of 100, 400 and 1,500 words of the demo's
English and N = 10 questions. The server answers in the format and at about the length of a model, and counts tokens
with a byte-level BPE tokenizer. The repository contains no model's tokenizer, so this one is trained on the
documentation and on a sixth of the demo's and the prompts' lines. It gives 1.3 to 1.5 tokens per word (printed), as
tokenizers of models do for English. Another share changes the counts, but not the ratio. The alternative is one call
per question, as in CEF: the judge `cef, each`. Target: answers to all questions in one call take at least 5 times
fewer input tokens at 400 words; otherwise the exit status is 1.

    .venv/bin/python benchmarks/judges.py [--words 100 400 1500] [--questions 10] [--count bpe|words]
"""

import argparse
import asyncio
import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.processes.scripted_server import Said, ScriptedServer

from core.judges.kind import Bench
from core.llm.asking import Model
from core.llm.client import Call, Reply
from core.llm.openai import OpenAIServer
from core.results.judges.costs import ALL_STEPS, CostRow, JudgeCost, costs_side_by_side
from core.runs.asked import Asked, ask
from core.runs.judging import kind_of
from core.runs.kinds import KINDS
from core.schema.runs import StepCost
from core.schema.scores import RatedText, ScorableOutput

ROOT = Path(__file__).resolve().parents[1]
Count = Callable[[str], int]
ANSWERS = ("answers from text", "answers from source")
AT_LEAST, AT_WORDS = 5.0, 400
VOCABULARY = 16_384
TURN_TOKENS = 4
"""Tokens of a chat template around each message."""
_LATER = ("answers", "verify")
"""Prefixes of steps that follow others."""
_BLOCK = re.compile(r"<([\w-]+)>\n(.*?)\n</\1>", re.DOTALL)


class Account:
    """Stores no replies and counts calls by step."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def find(self, key: str) -> Reply | None:
        """Return None: no reply is ever cached."""
        return None

    def record(self, call: Call) -> None:
        """Add a call to the account."""
        self.calls.append(call)

    def reject(self, key: str, step: str, why: str) -> None:
        """Ignore rejections, which do not change the cost."""

    def of(self, text: int) -> "Account":
        """Return this account, the same for all texts."""
        return self

    def costs(self) -> tuple[StepCost, ...]:
        """Return the cost of each step, summed as in a run."""
        steps = sorted({call.step for call in self.calls}, key=lambda step: (step.startswith(_LATER), step))
        return tuple(_cost(step, [call for call in self.calls if call.step == step]) for step in steps)


def _cost(step: str, calls: Sequence[Call]) -> StepCost:
    paid = [call.reply for call in calls if not call.cached]
    return StepCost(
        step=step,
        calls=len(paid),
        cached=len(calls) - len(paid),
        unusable=sum(reply.reason is not None for reply in paid),
        input_tokens=sum(reply.input_tokens or 0 for reply in paid),
        output_tokens=sum(reply.output_tokens or 0 for reply in paid),
        seconds=sum(reply.seconds for reply in paid),
    )


def english() -> Iterator[str]:
    """Yield the English texts of the demo answers."""
    with (ROOT / "data" / "demo" / "answers.csv").open(encoding="utf-8", newline="") as file:
        yield from (row["text"] for row in csv.DictReader(file) if row["language"] == "en")


def prompt_lines() -> list[str]:
    """Return the lines of the judges' shipped prompts."""
    names = ("rubric*", "decompose*", "verify", "questions*", "answer*")
    files = [path for name in names for path in sorted((ROOT / "prompts").glob(f"{name}.yaml"))]
    return [line for path in files for line in path.read_text("utf-8").splitlines()]


def of_words(texts: Sequence[str], n: int) -> str:
    """Return the first n words of the texts, with a paragraph for each text."""
    words = [(word, number) for number, text in enumerate(texts) for word in text.split()][:n]
    numbers = dict.fromkeys(number for _, number in words)
    return "\n\n".join(" ".join(word for word, own in words if own == number) for number in numbers)


def text_of(n: int) -> RatedText:
    """Return a document of n words and a text of n words with similar content: other versions of the same answers."""
    texts = list(english())
    document, text = of_words(texts[0::2], n), of_words(texts[1::2], n)
    return RatedText(ScorableOutput("1", "system", text, reference=document, source=document))


def bpe() -> Count:
    """Return the count of a byte-level BPE tokenizer, trained on the documentation and a sixth of the counted lines."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    documentation = [
        path.read_text("utf-8") for path in (*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md")
    ]
    counted = [*english(), *prompt_lines()]
    pieces.train_from_iterator(
        [*documentation, *(line for number, line in enumerate(counted) if number % 12 < 2)], trainer
    )
    return lambda text: len(pieces.encode(text).ids)


def words(text: str) -> int:
    """Return the number of words, about three quarters of the tokens of any tokenizer."""
    return len(text.split())


def server_script(count: Count) -> Callable[[dict[str, Any], int], Said]:
    """Return a script that answers in the requested format, at about a model's length, with token counts."""

    def script(body: dict[str, Any], _: int) -> Said:
        said = answer(body)
        asked = sum(count(turn["content"]) + TURN_TOKENS for turn in body["messages"])
        return Said(said, usage=(asked, count(said)))

    return script


def answer(body: dict[str, Any]) -> str:
    """Return an answer that fits the schema of a request; a request without schema is a single question."""
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    fields = schema.get("properties", {})
    blocks = [text for _, text in _BLOCK.findall(body["messages"][-1]["content"])]
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+", max(blocks, key=len, default=""))]
    if "questions" in fields:
        n = fields["questions"].get("maxItems", 10)
        return json.dumps({"questions": [_question(sentences[k % len(sentences)], k) for k in range(n)]})
    if "answers" in fields:
        n = fields["answers"]["maxItems"]
        return json.dumps({"answers": [{"question": k, "answer": "YES"} for k in range(1, n + 1)]})
    if "claims" in fields:
        return json.dumps({"claims": sentences[: fields["claims"].get("maxItems", len(sentences))]})
    if "verdicts" in fields:
        n = fields["verdicts"]["maxItems"]
        why = "The other text says the same in other words."
        return json.dumps(
            {"verdicts": [{"claim": k, "why": why, "supported": True} for k in range(1, n + 1)]}
        )
    if "verdict" in fields:
        feedback = (
            "The response says what the reference says; " + "one detail is missing and one is wrong, " * 4
        )
        return json.dumps({"feedback": feedback.strip(", ") + ".", "verdict": 3})
    return "YES"


def _question(sentence: str, number: int) -> str:
    """Return a question of about 15 words; the number makes questions on one sentence different."""
    return f"Does the text say, in point {number + 1}, that {' '.join(sentence.split()[:9]).rstrip('.,;')}?"


def judges(n_questions: int, url: str) -> dict[str, Asked]:
    """Return name -> settings of the judge's run."""
    return {
        "cef, each": _asked("cef", url, answers="each", n_questions=n_questions),
        "cef, batch": _asked("cef", url, answers="batch", n_questions=n_questions),
        "claims": _asked("claims", url),
        "rubric": _asked("rubric", url),
    }


def _asked(name: str, url: str, **settings: object) -> Asked:
    kind = KINDS[name]
    attached = "" if kind.attachment is None else kind.attachment.find(kind.attachment.usual)
    model = {"backend": "openai", "model": "tiny", "base_url": url}
    return ask(kind, settings, model, {}, attached=attached)[0]


def measure(asked: Asked, text: RatedText) -> tuple[StepCost, ...]:
    """Return the cost of judging one text by step. Raises RuntimeError if the judge gave no score."""

    async def judged() -> tuple[StepCost, ...]:
        client, account = OpenAIServer(asked.model.base_url, asked.model.model), Account()
        await client.start()
        try:
            opened = kind_of(asked).open(asked.settings, Bench(asked.prompts_read, asked.attached))
            found = await opened(Model(client, account)).judge(text)
        finally:
            await client.close()
        if found.failures or any(score.value is None for score in found.scores):
            raise RuntimeError(f"{asked.kind.name} gave no score: {found.failures or found.scores}")
        return account.costs()

    return asyncio.run(judged())


def rows_of(n_words: int, n_questions: int, count: Count) -> tuple[CostRow, ...]:
    """Run all judges on one document of n_words words."""
    text = text_of(n_words)
    with ScriptedServer(server_script(count)) as server:
        return costs_side_by_side(
            [
                JudgeCost(name, measure(asked, text), n_items=1, n_texts=1)
                for name, asked in judges(n_questions, server.url).items()
            ]
        )


def fewer(rows: Sequence[CostRow]) -> float:
    """Return the ratio of input tokens of the answers: one call per question to one call in all."""
    each, batch = (
        sum(row.input_tokens or 0 for row in rows if row.judge == name and row.step in ANSWERS)
        for name in ("cef, each", "cef, batch")
    )
    return each / batch


def printed(n_words: int, rows: Sequence[CostRow], unit: str) -> None:
    """Print the table of one document."""
    print(f"\na document and a text of {n_words:,} words each, in {unit}")
    print(f"{'judge':12} {'step':24} {'calls':>6} {'input':>8} {'share':>7} {'output':>8}")
    for row in rows:
        share = "" if row.input_share is None or row.step == ALL_STEPS else f"{row.input_share:.1%}"
        print(
            f"{row.judge:12} {row.step:24} {row.calls:6,} {row.input_tokens:8,} {share:>7} {row.output_tokens:8,}"
        )


def main() -> int:
    """Print a table for each length; return 1 if the target is missed."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument(
        "--words", type=int, nargs="+", default=[100, AT_WORDS, 1_500], help="words of each document"
    )
    options.add_argument(
        "--questions", type=int, default=10, help="questions of a cross-examination (default %(default)s)"
    )
    options.add_argument(
        "--count", choices=("bpe", "words"), default="bpe", help="how to count tokens (default %(default)s)"
    )
    chosen = options.parse_args()
    count = bpe() if chosen.count == "bpe" else words
    unit = "tokens" if chosen.count == "bpe" else "words"
    for what, lines in (("texts", english()), ("prompts", prompt_lines())):
        written = " ".join(word for line in lines for word in line.split())
        print(f"{unit} per word of the {what}: {count(written) / words(written):.2f}")
    found = {}
    for n_words in chosen.words:
        rows = rows_of(n_words, chosen.questions, count)
        printed(n_words, rows, unit)
        found[n_words] = fewer(rows)
    print()
    for n_words, ratio in found.items():
        print(
            f"{n_words:,} words: answers in one call take {ratio:.1f} times fewer input tokens than one call per question"
        )
    if AT_WORDS not in found:
        return 0
    kept = found[AT_WORDS] >= AT_LEAST
    print(f"target: at least {AT_LEAST:g} times at {AT_WORDS} words: {'kept' if kept else 'NOT kept'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

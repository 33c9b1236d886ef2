"""The paper's votes of one rater: {"<question id>": {"<level>": "AI" | "Expert" | "Both are good" | ...}}.

The file names roles, not sides: the pipeline's answer is the candidate, the expert's the comparator.
"""

import json
from collections.abc import Mapping

from core.datasets.building import natural_order, place
from core.datasets.reading import (
    JsonObject,
    decode,
    duplicate_problems,
    parse_json,
    reject,
    shown,
    type_name,
)
from core.errors import Problems
from core.schema import Preference

MEANING: dict[str, Preference] = {
    "AI": "candidate",
    "Expert": "comparator",
    "Both are good": "both_good",
    "Both are bad": "both_bad",
}
WORDS: dict[Preference, str] = {preference: word for word, preference in MEANING.items()}


def read_votes(
    data: bytes, file_name: str, dataset_item_levels: set[tuple[str, str]]
) -> dict[tuple[str, str], Preference]:
    """The votes by (item_id, level); null and what is not in the file is unanswered and left out."""
    value, problem = parse_json(decode(data, file_name))
    if problem:
        reject(file_name, [problem])
    if not isinstance(value, JsonObject):
        reject(file_name, [f"file: is {type_name(value)}, expected an object of questions"])
    problems = Problems(duplicate_problems("file", value))
    votes: dict[tuple[str, str], Preference] = {}
    known_items = {item_id for item_id, _ in dataset_item_levels}
    for item_id, levels in value.items():
        where = place(question=item_id)
        if item_id not in known_items:
            problems.append(f"{where}: not in the data set")
        elif not isinstance(levels, JsonObject):
            problems.append(f"{where}: is {type_name(levels)}, expected an object of levels")
        else:
            problems += duplicate_problems(where, levels)
            for level, vote in levels.items():
                where_level = place(None, item_id, level)
                if (item_id, level) not in dataset_item_levels:
                    problems.append(f"{where_level}: not in the data set")
                elif isinstance(vote, str) and vote in MEANING:
                    votes[item_id, level] = MEANING[vote]
                elif vote is not None:
                    problems.append(f"{where_level}: vote {_unknown(vote)}")
    if problems:
        reject(file_name, problems)
    return votes


def _unknown(vote: object) -> str:
    expected = ", ".join(MEANING)
    if isinstance(vote, str):
        return f'"{shown(vote)}" is unknown; expected one of {expected}, or null'
    return f"is {type_name(vote)}; expected one of {expected}, or null"


def write_votes(votes: Mapping[tuple[str, str], Preference | None]) -> bytes:
    """The paper's JSON: questions in the order given, levels best first; None is written as null."""
    questions: dict[str, dict[str, str | None]] = {}
    for item_id, level in sorted(votes, key=lambda pair: natural_order(pair[1])):
        vote = votes[item_id, level]
        questions.setdefault(item_id, {})[level] = None if vote is None else WORDS[vote]
    in_order = {item_id: questions[item_id] for item_id, _ in votes}
    return json.dumps(in_order, indent=4, ensure_ascii=False).encode()

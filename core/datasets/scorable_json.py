"""Texts to be scored in the papers' JSON: questions with answers by level."""

from collections.abc import Mapping

from core.datasets.cells import numbers_as_json
from core.datasets.findings import FileFindings, place
from core.datasets.open_tables import Record, json_objects
from core.datasets.reading import (
    JsonObject,
    duplicate_problems,
    name_of,
    name_problem,
    parse_json,
    shown,
    type_name,
)

_OF_QUESTION = {
    "question": "question",
    "ground_truth": "reference",
    "context": "context",
    "language": "language",
}


def paper_records(text: str, findings: FileFindings) -> list[Record] | None:
    """The texts as records under our names; None where the file is no object with "questions"."""
    value, problem = parse_json(numbers_as_json(text))
    if problem or not isinstance(value, JsonObject) or "questions" not in value:
        return None
    findings.problems += duplicate_problems("file", value)
    return _of_questions(value["questions"], findings)


def _of_questions(value: object, findings: FileFindings) -> list[Record]:
    """The paper's form: {"questions": [{"id", "question", "ground_truth", "answers"}]}.

    A level of "answers" is one text a source, or a text alone, as 003's generated data set has it.
    """
    records: list[Record] = []
    unused: dict[str, None] = {}
    for index, (where, question) in enumerate(json_objects(value, "questions", findings)):
        item_id = name_of(question.get("id", index))
        if item_id is None:
            findings.problems.append(f"{where}: id {name_problem(question['id'])}")
            continue
        cells = {name: question[key] for key, name in _OF_QUESTION.items() if key in question}
        unused.update(dict.fromkeys(set(question) - {"id", "answers", *_OF_QUESTION}))
        records += _of_answers(item_id, question.get("answers"), cells | {"item_id": item_id}, findings)
    if unused:
        findings.notes.append(
            f"questions: fields not used: {', '.join(shown(key) for key in sorted(unused))}"
        )
    return records


def _of_answers(
    item_id: str, answers: object, cells: Mapping[str, object], findings: FileFindings
) -> list[Record]:
    where = place(question=item_id)
    if not isinstance(answers, JsonObject):
        findings.problems.append(f"{where}: answers is {type_name(answers)}, expected an object of levels")
        return []
    findings.problems += duplicate_problems(where, answers)
    records = []
    for level, texts in answers.items():
        at_level = place(question=item_id, level=level)
        if isinstance(texts, JsonObject):
            findings.problems += duplicate_problems(at_level, texts)
            sources = [({"system": source}, text) for source, text in texts.items()]
        else:
            sources = [({}, texts)]
        records += [
            Record(
                place(question=item_id, level=level, source=source.get("system")),
                {**cells, **source, "level": level, "text": text},
            )
            for source, text in sources
        ]
    return records

"""The paper's data set: one JSON object, {"questions": [{"id", "question", "ground_truth", "answers"}]}.

"answers" maps a level to an object with one text a source; any two source names will do, the same two
everywhere.
"""

from core.datasets.building import DatasetBuilder, ItemFields, place
from core.datasets.reading import (
    JsonObject,
    decode,
    duplicate_problems,
    name_of,
    name_problem,
    parse_json,
    reject,
    sha256_of,
    shown,
    type_name,
)
from core.schema import Dataset

QUESTION_FIELDS = ("id", "question", "ground_truth", "answers", "language")


ONE_SOURCE = (
    "it has one source's answers, without the source's name; take the outputs.jsonl of the same run and name the other "
    "source's file with --beside, or use the page Generate"
)
"""Of a run's dataset.json: there a level is a text, not an object with one text a source."""


def read_trutheval(data: bytes, file_name: str) -> Dataset:
    """Read the paper's JSON; InputError holds every problem of the file."""
    return collect_trutheval(data, file_name).finish()


def collect_trutheval(data: bytes, file_name: str) -> DatasetBuilder:
    """What a file in the paper's JSON holds, before it is asked whether that is a whole data set."""
    value, problem = parse_json(decode(data, file_name))
    if problem:
        reject(file_name, [problem])
    if not isinstance(value, JsonObject):
        reject(file_name, [f'file: is {type_name(value)}, expected an object with "questions"'])
    if "questions" not in value:
        reject(file_name, ['file: "questions" is missing'])
    builder = DatasetBuilder(file_name, sha256_of(data))
    builder.problems += duplicate_problems("file", value)
    _note_unused(builder, "file", [key for key in value if key != "questions"])
    questions = value["questions"]
    if not isinstance(questions, list):
        builder.problems.append(f"questions: is {type_name(questions)}, expected a list")
        reject(file_name, builder.problems)
    if not questions:
        builder.problems.append("questions: the list is empty; at least one question is needed")
    if _without_sources(questions):
        builder.problems.append(f"file: {ONE_SOURCE}")
        reject(file_name, builder.problems)
    unused: dict[str, None] = {}
    for index, question in enumerate(questions):
        if isinstance(question, JsonObject):
            _read_question(builder, index, question)
            unused.update(dict.fromkeys(key for key in question if key not in QUESTION_FIELDS))
        else:
            builder.problems.append(f"questions[{index}]: is {type_name(question)}, expected an object")
    _note_unused(builder, "questions", list(unused))
    return builder


def _without_sources(questions: list[object]) -> bool:
    """Whether every level of every question is a text, as in the files that a run writes."""
    levels = [q.get("answers") for q in questions if isinstance(q, JsonObject)]
    texts = [list(level.values()) for level in levels if isinstance(level, JsonObject)]
    return (
        bool(texts)
        and len(texts) == len(questions)
        and all(one and all(isinstance(text, str) for text in one) for one in texts)
    )


def _note_unused(builder: DatasetBuilder, where: str, names: list[str]) -> None:
    if names:
        builder.notes.append(f"{where}: fields not used: {', '.join(shown(name) for name in names)}")


def _read_question(builder: DatasetBuilder, index: int, question: JsonObject) -> None:
    item_id = name_of(question.get("id", index))
    if item_id is None:
        builder.problems.append(f"questions[{index}]: id {name_problem(question['id'])}")
        item_id = f"at index {index}"
    where = place(question=item_id)
    builder.problems += duplicate_problems(where, question)
    missing = [field for field in ("question", "ground_truth", "answers") if field not in question]
    builder.problems += [f"{where}: {field} is missing" for field in missing]
    # A field that is missing has been reported; a stand-in keeps its check silent.
    item = builder.add_item(
        ItemFields(
            item_id,
            question.get("question", "?"),
            question.get("ground_truth", "?"),
            question.get("language", "und"),
            reference_name="ground_truth",
        )
    )
    answers = question.get("answers")
    if isinstance(answers, JsonObject):
        _read_answers(builder, item, item_id, answers)
    else:
        builder.mark_unusable(item)
        if "answers" in question:
            builder.problems.append(f"{where}: answers is {type_name(answers)}, expected an object of levels")


def _read_answers(builder: DatasetBuilder, item: int, item_id: str, answers: JsonObject) -> None:
    where = place(question=item_id)
    builder.problems += duplicate_problems(where, answers)
    if answers.duplicates:
        builder.mark_unusable(item)  # which level the other text was meant for cannot be known
    if not answers:
        builder.problems.append(f"{where}: answers is empty")
        builder.mark_unusable(item)
    for key, texts in answers.items():
        level = name_of(key)
        if level is None:
            builder.problems.append(f"{where}: a level's name {name_problem(key)}")
            builder.mark_unusable(item)
            continue
        where_level = place(None, item_id, level)
        if not isinstance(texts, JsonObject):
            builder.problems.append(
                f"{where_level}: is {type_name(texts)}, expected an object with one text a source"
            )
            builder.mark_unusable(item, level)
            continue
        builder.problems += duplicate_problems(where_level, texts)
        if texts.duplicates:
            builder.mark_unusable(item, level)
        if not texts:
            builder.problems.append(f"{where_level}: is empty, expected one text a source")
            builder.mark_unusable(item, level)
        for source_key, text in texts.items():
            source = name_of(source_key)
            if source is None:
                builder.problems.append(f"{where_level}: a source's name {name_problem(source_key)}")
                builder.mark_unusable(item, level)
            else:
                builder.add_output(item, level, source, text)

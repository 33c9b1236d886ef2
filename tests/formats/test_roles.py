"""Which columns of a table are people's, judges', the item's and the system's."""

import itertools

import pytest

from core.formats.scores import NO_FAMILY, family_of
from core.schema.roles import Roles
from core.tables.columns import Record, Table, first_cells
from core.tables.roles import (
    Undecided,
    check_decided,
    judge_roles,
    mapping_of,
    residual,
    roles_of,
    roles_said,
    who_in,
)


def _table(text: str) -> Table:
    """The table in CSV text without quotes; cells that are `-` are empty."""
    header, *lines = text.strip().splitlines()
    keys = first_cells(header, ",", "t.csv")
    rows = [dict(zip(keys, first_cells(line, ",", "t.csv"), strict=True)) for line in lines]
    return Table(keys, {}, [Record(f"line {at}", row, at) for at, row in enumerate(rows, start=2)])


def _roles(text: str, **asked: object) -> Roles:
    return roles_of(_table(text), is_metric=lambda name: family_of(name) != NO_FAMILY, **asked)  # type: ignore[arg-type]


BINARY, GRADES = ("pass", "fail", "pass", "pass"), ("1", "4", "5", "2")
FOUND: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], str | None, str | None]] = {
    "plain": ("id,human,judge", ("human",), ("judge",), "id", None),
    "numbered raters": ("id,rater1,rater2,rater3,judge", ("rater1", "rater2", "rater3"), ("judge",), "id", None),
    "models as judges": (
        "item_id,system,annotator_1,annotator_2,gpt-4o,claude",
        ("annotator_1", "annotator_2"),
        ("gpt-4o", "claude"),
        "item_id",
        "system",
    ),
    "labels of both": ("question,answer,human_label,llm_label", ("human_label",), ("llm_label",), None, None),
    "a reason beside": (
        "example,expert_a,expert_b,judge_verdict,judge_reason",
        ("expert_a", "expert_b"),
        ("judge_verdict",),
        "example",
        None,
    ),
    "a classifier": ("id,label,prediction", ("label",), ("prediction",), "id", None),
    "scikit-learn": ("id,y_true,y_pred", ("y_true",), ("y_pred",), "id", None),
    "camel case": ("exampleId,humanLabel,autoLabel", ("humanLabel",), ("autoLabel",), "exampleId", None),
    "capitals and spaces": ("ID,Rater 1,Rater 2,LLM Judge", ("Rater 1", "Rater 2"), ("LLM Judge",), "ID", None),
    "a score": ("id,human,score", ("human",), ("score",), "id", None),
    "metrics": ("id,human_rating,BLEU,COMET,latency_ms", ("human_rating",), ("BLEU", "COMET"), "id", None),
    "gold": ("task_id,gold,model_prediction", ("gold",), ("model_prediction",), "task_id", None),
    "ground truth": ("sample_id,ground_truth,predicted", ("ground_truth",), ("predicted",), "sample_id", None),
    "expected": ("id,expected_label,verdict", ("expected_label",), ("verdict",), "id", None),
    "majority beside raters": (
        "id,annotator_1,annotator_2,majority,llm_judge,llm_judge_confidence",
        ("annotator_1", "annotator_2"),
        ("llm_judge",),
        "id",
        None,
    ),
    "their mean beside raters": ("id,human,human_1,human_2,judge", ("human_1", "human_2"), ("judge",), "id", None),
    "a mean by name": ("id,human_1,human_2,human_mean,judge", ("human_1", "human_2"), ("judge",), "id", None),
    "a mean alone": ("id,human_mean,judge", ("human_mean",), ("judge",), "id", None),
    "short names": ("prompt_id,r1,r2,r3,prometheus-8x7b", ("r1", "r2", "r3"), ("prometheus-8x7b",), "prompt_id", None),
    "a human judge": ("id,human_judge_1,human_judge_2,gpt4_judge", ("human_judge_1", "human_judge_2"), ("gpt4_judge",), "id", None),
    "an annotating model": ("id,annotator,llm_annotator", ("annotator",), ("llm_annotator",), "id", None),
    "crowd and time": ("item,crowd,crowd_seconds,n_raters,auto_eval", ("crowd",), ("auto_eval",), "item", None),
    "model beside": ("id,human,judge_model,judge_score,human_vs_judge", ("human",), ("judge_score",), "id", None),
    "only words tell the judge": ("id,human,foo", ("human",), ("foo",), "id", None),
    "one dimension": ("id,human_fluency,human_style,judge_fluency", ("human_fluency",), ("judge_fluency",), "id", None),
}  # fmt: skip


@pytest.mark.parametrize("cells", [BINARY, GRADES], ids=["words", "grades"])
@pytest.mark.parametrize("name", FOUND)
def test_headers_of_real_files(name: str, cells: tuple[str, ...]) -> None:
    header, human, judges, item, system = FOUND[name]
    keys = header.split(",")
    rated = {*human, *judges, "majority", "human", "human_mean", "human_style"}
    rows = [
        ",".join(cells[(row + at) % 4] if key in rated else f"{key} {row}" for at, key in enumerate(keys))
        for row in range(4)
    ]
    found = _roles("\n".join([header, *rows]))
    assert (found.human, found.judges, found.item, found.system) == (human, judges, item, system)
    assert not found.problems
    assert {*found.why} == {*keys}


REFUSED = {
    "id,alice,bob,carol": ("human", "judge"),
    "id,alice,bob,judge": ("human",),
    "id,judge,foo": ("human",),
    "id,judge_1,judge_2": ("human",),
    "id,expert_judge,llm": ("human",),
    "id,human,foo,bar": ("judge",),
    "id,human,label": ("judge",),
    "id,gold,majority,llm": ("human",),
    "id,human_gpt_label,foo": ("human", "judge"),
    "id,score": ("human",),
    "id,x": ("human", "judge"),
    "id,human_fluency,human_style,judge_fluency,judge_style": ("dimension",),
}


@pytest.mark.parametrize("header", REFUSED)
def test_headers_that_do_not_tell_people_from_judges(header: str) -> None:
    keys = header.split(",")
    rows = [
        ",".join([str(7 * row), *(BINARY[(row + at) % 4] for at in range(len(keys) - 1))]) for row in range(4)
    ]
    found = _roles("\n".join([header, *rows]))
    assert tuple(problem.split(":")[0] for problem in found.problems) == REFUSED[header]
    with pytest.raises(Undecided) as refused:
        check_decided(found, "file.csv")
    assert refused.value.roles is found


def test_a_label_and_the_score_of_a_classifier_are_not_people_and_judge() -> None:
    found = _roles("id,text,label,score\n1,a b,POSITIVE,0.98\n2,c d,NEGATIVE,0.71\n3,e f,POSITIVE,0.66\n")
    assert found.human == ()
    assert found.problems


@pytest.mark.parametrize("people", [("human",), ("annotator_1", "annotator_2"), ("expert_a", "gold_label")])
@pytest.mark.parametrize("judges", [("judge",), ("gpt-4", "claude"), ("llm_label", "prediction")])
@pytest.mark.parametrize("neutral", ["x", "column_b", "quality", "result", "s1", "anna", "rating", "grade"])
@pytest.mark.parametrize("cells", [BINARY, GRADES], ids=["words", "grades"])
def test_a_judge_with_a_neutral_name_is_never_a_rater(
    people: tuple[str, ...], judges: tuple[str, ...], neutral: str, cells: tuple[str, ...]
) -> None:
    for at in range(len(judges)):
        own = [neutral if place == at else judge for place, judge in enumerate(judges)]
        for order in itertools.permutations([*people, *own], len(people) + len(own)):
            rows = [",".join([f"q{n}", *(cells[(n + p) % 4] for p in range(len(order)))]) for n in range(4)]
            found = _roles("\n".join([",".join(["id", *order]), *rows]))
            assert {*found.human} <= {*people}


def test_a_row_for_each_rating() -> None:
    found = _roles("item,rater,score\nq1,anna,3\nq1,bob,4\nq1,gpt-4,4\nq2,anna,1\n")
    assert (found.human, found.judges) == (("anna", "bob"), ("gpt-4",))
    assert (found.rater, found.score, found.item) == ("rater", "score", "item")
    found = _roles("item,rater,score,judge\nq1,anna,3,4\nq1,bob,4,4\nq2,anna,3,1\n")
    assert (found.human, found.judges) == (("anna", "bob"), ("judge",))
    found = _roles("item_id,annotator_id,human_score,judge_score\nq1,w1,3,4\nq1,w2,4,4\nq2,w1,3,1\n")
    assert (found.human, found.judges, found.score) == (("w1", "w2"), ("judge_score",), "human_score")
    found = _roles("item,annotator,label,gpt_label\nq1,a,pass,pass\nq1,b,fail,pass\nq2,a,pass,fail\n")
    assert (found.human, found.judges, found.score) == (("a", "b"), ("gpt_label",), "label")
    found = _roles("item,rater,rater_type,score\nq1,anna,human,1\nq1,x,llm,1\nq2,anna,human,0\n")
    assert (found.human, found.judges) == (("anna",), ("x",))


def test_a_row_for_each_rating_without_a_judge_is_refused_unless_another_file_has_it() -> None:
    text = "item,rater,score\nq1,anna,3\nq1,bob,4\n"
    assert _roles(text).problems
    found = _roles(text, judged_elsewhere=True)
    assert found.human == ("anna", "bob")
    assert not found.problems
    mixed = _roles("item,rater,score\nq1,rater1,3\nq1,rater2,4\nq1,x,4\nq1,gpt,3\n")
    assert mixed.candidates == ("x",)
    assert mixed.problems


def test_a_column_annotator_with_labels_is_a_rater_of_a_wide_table() -> None:
    found = _roles("id,annotator,llm\nq1,pass,fail\nq2,fail,fail\nq3,pass,pass\n")
    assert (found.human, found.judges, found.long) == (("annotator",), ("llm",), False)


def test_a_column_model_is_the_system_unless_it_has_the_people_s_words() -> None:
    found = _roles("id,model,human,judge\n1,gpt-4,1,0\n1,claude,0,0\n2,gpt-4,1,1\n2,claude,1,0\n")
    assert (found.system, found.judges) == ("model", ("judge",))
    found = _roles("id,human,model\nq1,pass,fail\nq2,fail,fail\nq3,pass,pass\n")
    assert (found.system, found.judges) == (None, ("model",))


def test_what_the_user_names_comes_first() -> None:
    text = "id,human,alice,judge\nq1,pass,fail,pass\nq2,fail,fail,fail\n"
    found = _roles(text, human=["alice"])
    assert (found.human, found.judges) == (("alice",), ("judge",))
    found = _roles(text, judges=["alice"])
    assert (found.human, found.judges) == (("human",), ("alice",))
    found = _roles(text, human=["id"], judges=["human"])
    assert (found.human, found.judges, found.item) == (("id",), ("human",), None)
    text = "id,human_fluency,human_style,judge_fluency,judge_style\nq1,1,2,1,2\nq2,2,2,1,1\n"
    found = _roles(text, dimension="style")
    assert (found.human, found.judges) == (("human_style",), ("judge_style",))


def test_texts_groups_and_the_rest() -> None:
    rows = "\n".join(
        f"q{n},what is {n} then,{'ab'[n % 2]},{n % 3},{n % 3},so it is {n} indeed,{n}" for n in range(30)
    )
    found = _roles(f"id,question,topic,human,judge,judge_reason,tokens\n{rows}\n")
    assert found.texts == ("question",)
    assert found.groups == ("topic",)
    assert found.others == ("judge_reason", "tokens")
    assert mapping_of(found) == {"human": ["human"], "judge": ["judge"], "item": "id", "system": None}


def test_an_example_too_long_for_a_name_is_no_item() -> None:
    assert _roles(f"example,human,judge\n{'word ' * 60},1,1\nq2,0,1\n").item is None


def test_a_judge_s_own_table() -> None:
    assert judge_roles(_table("id,verdict,reason\nq1,pass,so it is\nq2,fail,it is not\n")).judges == (
        "verdict",
    )
    assert judge_roles(_table("id,score,tokens\nq1,1,20\nq2,0,31\n")).judges == ("score",)
    long = judge_roles(_table("id,judge,score\nq1,gpt-4,1\nq1,claude,0\nq2,gpt-4,1\n"))
    assert (long.rater, long.score) == ("judge", "score")
    assert judge_roles(_table("id,a,b\nq1,1,2\nq2,2,1\n")).problems
    assert judge_roles(_table("id,a,b\nq1,1,2\nq2,2,1\n"), judges=["b"]).judges == ("b",)


@pytest.mark.parametrize("judge", ["DeepSeek_fluency", "LLaMA2_fluency", "MiniMax-M2 fluency"])
def test_capitals_inside_a_model_s_name_are_no_dimension(judge: str) -> None:
    assert residual(judge) == "fluency"


def test_renamed_columns_are_shown_under_the_file_s_names() -> None:
    found = _roles("item_id,human,judge\nq1,1,1\nq2,0,1\n").renamed({"item_id": "key"})
    assert found.item == "key"
    assert "key" in roles_said(found)
    assert "key" in found.why


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("philip", None),
        ("o3", "judge"),
        ("gpt4o", "judge"),
        ("GPT-4.1", "judge"),
        ("Llama-3.1-70B-Instruct", "judge"),
        ("human_score", "person"),
        ("judge_human", "both"),
        ("simulated_human", "both"),
        ("synthetic_annotator_1", "judge"),
        ("gold_pred", "both"),
        ("quality_score", "score"),
        ("model", None),
        ("model_score", "judge"),
        ("label", "plain"),
        ("GPT4Mini", "judge"),
        *[
            (judge, "judge")
            for judge in ("DeepSeek", "LLaMA2", "MiniMax-M2", "QwQ", "SummaC", "AlignScore", "BARTScore")
        ],
        ("MTurk", "person"),
        ("human DeepSeek", "both"),
        ("MiniScore", "score"),
    ],
)
def test_what_a_name_says(name: str, who: str | None) -> None:
    assert who_in(name) == who


def test_people_alone_need_no_judge_and_count_none() -> None:
    text = "id,human_1,human_2,gpt-4o,quality\n" + "".join(f"q{at},{at % 3},{at % 3},{at % 3},{at % 3}\n" for at in range(6))  # fmt: skip
    assert _roles(text).judges == ("gpt-4o",)
    found = _roles(text, people_alone=True)
    assert (found.human, found.judges, found.problems) == (("human_1", "human_2"), (), ())
    assert found.why["gpt-4o"].startswith("not used")
    assert _roles(text, people_alone=True, human=("human_1", "gpt-4o")).human == ("human_1", "gpt-4o")


@pytest.mark.parametrize(
    ("columns", "dimension", "people", "undecided"),
    [
        (("a_rater_style", "b_rater_style", "a_rater_ease", "b_rater_ease"), None, 4, True),
        (("a_rater_style", "b_rater_style", "a_rater_ease", "b_rater_ease"), "ease", 2, False),
        (("a_rater_style", "b_rater_style", "a_rater_ease", "b_rater_ease"), "speed", 4, True),
        (("rater_anna", "rater_bob", "rater_cleo"), None, 3, False),
        (("rater_1", "rater_2"), "ease", 2, False),
    ],
)
def test_people_alone_are_of_one_dimension(
    columns: tuple[str, ...], dimension: str | None, people: int, undecided: bool
) -> None:
    rows = "".join(f"q{at}," + ",".join(str(at % 3) for _ in columns) + "\n" for at in range(6))
    found = _roles(f"id,{','.join(columns)}\n{rows}", people_alone=True, dimension=dimension)
    assert (len(found.human), bool(found.problems)) == (people, undecided)


@pytest.mark.parametrize(
    ("columns", "lacking"),
    [
        ("rater1,rater2", True),
        ("rater1,rater2,first,second", True),  # any of two may be the judge
        ("rater1,rater2,judge", False),
        ("human,other_thing", False),  # one person
        ("first,second,third", False),  # nobody is surely a person
    ],
)
def test_what_lacks_a_judge_alone(columns: str, lacking: bool) -> None:
    rows = "".join(f"q{at}," + ",".join(str(at % 3) for _ in columns.split(",")) + "\n" for at in range(6))
    assert _roles(f"id,{columns}\n{rows}").lacks_judge_alone == lacking

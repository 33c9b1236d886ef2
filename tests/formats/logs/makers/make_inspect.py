"""Write two small logs with Inspect's own recorders; see README.md."""

import sys

from capitals import CAPITALS, question
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import ProvenanceData, edit_score, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, ScoreEdit, accuracy, match, mean, model_graded_qa, scorer
from inspect_ai.solver import generate


def answers(model, texts):
    outputs = [ModelOutput.from_content(model, text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=9, output_tokens=3, total_tokens=12)
    return get_model(model, custom_outputs=outputs)


@scorer(metrics={"words": [mean()], "polite": [accuracy()]})
def style():
    async def score(state, target):
        said = state.output.completion
        return Score(
            value={"words": len(said.split()), "polite": "think" in said}, explanation=f"{said!r} was counted"
        )

    return score


def run(cases, form, epochs):
    grades = [f"The answer was compared with the criterion.\nGRADE: {grade}" for *_, grade, _ in cases]
    samples = [
        Sample(id=name, input=question(country), target=capital, metadata={"language": "en", "human": human})
        for name, country, capital, _, _, human in cases
    ]
    task = Task(
        name="capitals",
        dataset=MemoryDataset(samples, name="capitals"),
        solver=generate(),
        scorer=[
            model_graded_qa(model=answers("mockllm/grader", grades * epochs), partial_credit=True),
            match(location="any"),
            style(),
        ],
    )
    said = [answer for _, _, _, answer, _, _ in cases] * epochs
    (log,) = eval(
        task,
        model=answers("mockllm/atlas", said),
        epochs=epochs,
        log_dir=sys.argv[1],
        log_format=form,
        log_model_api=False,
        max_samples=1,
        max_connections=1,
        display="none",
    )
    assert log.status == "success", log.error
    return log


run(CAPITALS, "eval", 1)
log = run(CAPITALS[1:3], "json", 2)
# A person corrects one grade, as in Inspect's viewer.
edit_score(
    log,
    "q2",
    "model_graded_qa",
    ScoreEdit(
        value="C", explanation="Accepted after all.", provenance=ProvenanceData(author="mia", reason="review")
    ),
    epoch=1,
)
write_eval_log(log, log.location)

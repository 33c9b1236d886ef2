"""What a judge's run made, with how the judge came to it; also while it is still at work."""

import json
from collections.abc import Iterator, Mapping

from core.datasets.judge_records import marked_text_of, question_set_of, record_of
from core.errors import InputError
from core.runs.judge_settings import JudgeSettings, describe_judge, judge_of
from core.runs.judge_sources import document_of
from core.runs.score_results import metrics_of
from core.runs.scoring import by_item, output_set
from core.schema import JUDGE_KINDS, RULES, Run
from core.schema.judges import AnswerSet, JudgedText, JudgeOutput, MarkedText
from core.schema.scores import Metric, ScorableOutput, ScoredRow
from core.store import Store
from core.store.scores import result_texts


def model_of(settings: JudgeSettings) -> str:
    """The model as the user named it."""
    return settings.model or RULES


def judge_output(store: Store, run: Run) -> JudgeOutput:
    """All that the judge said so far. Raises InputError for a run that judges no texts."""
    settings = _judge_of(run)
    kind = settings.judge_kind
    return JudgeOutput(
        name=settings.judge_name,
        kind=kind,
        model=model_of(settings),
        settings=describe_judge(settings)[kind],
        metrics=metrics_of(store, run),
        texts=judged_texts(store, run),
        task_text=settings.task_text,
    )


def _judge_of(run: Run) -> JudgeSettings:
    """The settings of a run that judges texts. Raises InputError for any other."""
    if run.kind not in JUDGE_KINDS:
        raise InputError(
            f"Run {run.run_id} judges no texts, it is of the kind {run.kind}: name one of {', '.join(JUDGE_KINDS)}."
        )
    return judge_of(run)


def judged_texts(store: Store, run: Run) -> tuple[JudgedText, ...]:
    """All texts the run has come to, in the order of its items. Those of an item on which the run broke are missing."""
    settings, metrics = _judge_of(run), metrics_of(store, run)
    items = by_item(output_set(store, run).outputs)
    return tuple(
        _judged_text(output, kept, settings, metrics)
        for item_id, result in _results(store, run)
        # A broken item has no rows; of the others each text has one, in the file's order.
        for output, kept in zip(items[item_id], result.get("outputs", ()), strict=False)
    )


def _judged_text(
    output: ScorableOutput, kept: Mapping[str, object], settings: JudgeSettings, metrics: tuple[Metric, ...]
) -> JudgedText:
    scores, reasons = kept["scores"], kept["reasons"]
    assert isinstance(scores, list)
    assert isinstance(reasons, dict)
    return JudgedText(
        row=ScoredRow(output.item_id, output.system, output.level, output.language, output.labels),
        text=output.text,
        document=document_of(settings, output),
        question=output.source,
        scores={metric.name: score for metric, score in zip(metrics, scores, strict=True)},
        reasons=reasons,
        record=record_of(settings.judge_kind, kept.get("record")),
    )


def answer_set(store: Store, run: Run) -> AnswerSet:
    """The model's answers so far. Raises InputError for a run of another kind."""
    if run.kind != "answers":
        raise InputError(f"Run {run.run_id} answers no questions, it is of the kind {run.kind}.")
    sets = tuple(question_set_of(piece) for piece in _pieces(store, run))
    return AnswerSet(model_of(judge_of(run)), sets)


def marked_texts_of(store: Store, run: Run) -> tuple[MarkedText, ...]:
    """Texts with what was found of their marked errors, so far. Raises InputError for a run of another kind."""
    if run.kind != "alignment":
        raise InputError(f"Run {run.run_id} looks for no marked errors, it is of the kind {run.kind}.")
    return tuple(marked_text_of(piece) for piece in _pieces(store, run))


def _pieces(store: Store, run: Run) -> Iterator[object]:
    for _, result in _results(store, run):
        yield from result.get("pieces", ())


def _results(store: Store, run: Run) -> Iterator[tuple[str, dict[str, list[dict[str, object]]]]]:
    """(item, its result) of all items the run has come to; of one on which it broke the result has no texts."""
    for item_id, text in result_texts(store, run.run_id):
        yield item_id, json.loads(text)

"""Rows of RAGAS (`EvaluationResult.to_pandas()`): a table as any other, in which RAGAS's own metrics are a judge's scores."""

from collections.abc import Collection

SAMPLES = (
    frozenset({"user_input", "response"}),
    frozenset({"user_input", "retrieved_contexts"}),
    frozenset({"question", "answer", "contexts"}),
)
"""Columns of RAGAS's samples; the last are those of versions before 0.2."""
METRICS = frozenset(
    [
        *(
            "faithfulness",
            "faithfulness_with_hhem",
            "answer_relevancy",
            "response_relevancy",
            "answer_correctness",
        ),
        *("answer_similarity", "semantic_similarity", "factual_correctness", "noise_sensitivity"),
        *(
            "context_precision",
            "context_recall",
            "context_entity_recall",
            "context_utilization",
            "context_relevancy",
        ),
        *("llm_context_precision_with_reference", "llm_context_precision_without_reference"),
        *("non_llm_context_precision_with_reference", "non_llm_context_recall", "id_based_context_precision"),
        *("nv_accuracy", "nv_context_relevance", "nv_response_groundedness", "answer_accuracy"),
        *("aspect_critic", "simple_criteria_score", "rubrics_score", "instance_rubrics", "summary_score"),
        *("tool_call_accuracy", "agent_goal_accuracy", "topic_adherence", "multi_modal_faithfulness"),
    ]
)
"""Names of RAGAS's metrics. Elsewhere `faithfulness` may as well be what people rated."""


def has_rows_of_ragas(keys: Collection[str]) -> bool:
    """Whether a table's columns are those of RAGAS's samples."""
    plain = {key.strip().lower() for key in keys}
    return any(columns <= plain for columns in SAMPLES)


def is_metric_of_ragas(key: str) -> bool:
    """Whether a column is one of RAGAS's metrics, with its settings or without: `factual_correctness(mode=f1)`."""
    return key.strip().lower().partition("(")[0].strip() in METRICS

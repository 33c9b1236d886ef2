"""BLEU of one text (Papineni et al. 2002) with two kinds of smoothing, from one count of word sequences."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from core.metrics.lexical.family import CODE_VERSION, LexicalFamily, ReadText, n_shared, spec
from core.metrics.scorer import MetricSpec
from core.schema.scores import Score

NO_WORDS = Score(None, "the text has no words")
NO_REFERENCE_WORDS = Score(None, "the reference has no words")


def _scores(settings: Sequence[Mapping[str, Any]], text: ReadText, reference: ReadText) -> list[Score]:
    shared = _shared(text, reference, max(setting["order"] for setting in settings))
    length, reference_length = len(text.words), len(reference.words)
    scores = []
    for setting in settings:
        counts = shared[: setting["order"]]
        if setting["smooth"] == "exp":
            scores.append(Score(exponential(counts, length, reference_length)))
        elif not reference_length:
            scores.append(NO_REFERENCE_WORDS)
        elif not length:
            scores.append(NO_WORDS)
        else:
            scores.append(Score(add_one(counts, length, reference_length)))
    return scores


def add_one(shared: Sequence[int], length: int, reference_length: int) -> float:
    """Smoothed BLEU (Lin and Och 2004), with one added at every order: 0 to 1.

    shared: sequences of 1, 2, ... words that text and reference share; lengths in words, not 0. The geometric mean
    of (shared + 1) / (possible + 1), times exp(1 - reference length / length) if the text is not longer.
    Misleads on short texts: if the text is too short for an order, that order counts as 1 of 1.
    """
    precisions = ((common + 1) / (max(length - order, 0) + 1) for order, common in enumerate(shared))
    mean = math.exp(sum(map(math.log, precisions)) / len(shared))
    return mean if length > reference_length else mean * math.exp(1 - reference_length / length)


def exponential(shared: Sequence[int], length: int, reference_length: int) -> float:
    """Sentence BLEU as in sacrebleu: smoothing `exp` (NIST's), effective order; 0 to 100.

    The k-th order without a match counts as 1 / 2^k of a match. Orders for which the text is too short are left out.
    0 if no word is shared.
    """
    if not any(shared):
        return 0.0
    logs, halves = [], 1.0
    for order, common in enumerate(shared[:length]):
        if not common:
            halves *= 2
        possible = length - order
        logs.append(math.log(100 * common / possible if common else 100 / (halves * possible)))
    penalty = math.exp(1 - reference_length / length) if length < reference_length else 1.0
    return penalty * math.exp(sum(logs) / len(logs))


def _shared(text: ReadText, reference: ReadText, longest: int) -> list[int]:
    """The numbers of shared sequences of 1, 2, ... words; stops at the first length without any."""
    shared = [0] * longest
    for n in range(1, longest + 1):
        found = n_shared(text.ngrams("words", n), reference.ngrams("words", n))
        if not found:
            break
        shared[n - 1] = found
    return shared


def _bleu(order: int) -> MetricSpec:
    return spec(
        f"bleu-{order}",
        f"BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:add-1|order:{order}|version:{CODE_VERSION}",
        {"order": order, "smooth": "add-1"},
        f"Share of the text's word sequences of length 1 to {order} that occur in the reference, add-one smoothed (0-1).",
        (
            f"BLEU Order {order}",
            f"Order {order}",
            f"bleu(max_order={order})",
            f"bleu(max_order={order}, smooth=True)",
            f"bleu(order={order})",
        ),
    )


def _bleu_exp(order: int) -> MetricSpec:
    return spec(
        f"bleu-{order}-exp",
        f"BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|order:{order}|version:{CODE_VERSION}",
        {"order": order, "smooth": "exp"},
        f"sacrebleu's sentence BLEU: exponential smoothing, orders up to {order} for which the text is long enough (0-100).",
        ("sentBLEU", "sentence_bleu", "sacrebleu") if order == 4 else (),
        of_paper=False,
    )


FAMILY = LexicalFamily(
    name="BLEU",
    specs=(*(_bleu(order) for order in (1, 2, 3, 4)), *(_bleu_exp(order) for order in (1, 2, 3, 4))),
    open=lambda each, _: partial(_scores, each),
    spaced=True,
)

"""The configurations of lexical metrics: the 16 of 000 (its appendix A), and further ones of the same families.

A signature names every setting that changes a score, and the version of each library whose code decides it.
"""

from collections.abc import Mapping
from importlib.metadata import version

from core.schema.scores import Direction, Metric
from core.scoring.metrics.scorer import MetricSpec

CODE_VERSION = "assay-1"
"""Raised when a change of this package changes a score: scores are cached by signature."""
SACREBLEU, NLTK, REGEX = (f"{name}-{version(name)}" for name in ("sacrebleu", "nltk", "regex"))
SYNONYMS_OPEN = "synonyms:auto"
"""In the registry, before a scorer has looked for WordNet; a scorer's signature says what it found."""


def _spec(
    name: str,
    signature: str,
    parameters: Mapping[str, object],
    about: str,
    aliases: tuple[str, ...] = (),
    *,
    of_paper: bool = True,
    direction: Direction = "higher",
) -> MetricSpec:
    metric = Metric(name, signature, signature.split("|")[0], direction)
    return MetricSpec(metric, "lexical", parameters, of_paper=of_paper, aliases=aliases, about=about)


def _bleu(order: int) -> MetricSpec:
    return _spec(
        f"bleu-{order}",
        f"BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:add-1|order:{order}|version:{CODE_VERSION}",
        {"order": order, "smooth": "add-1"},
        f"Share of the text's word sequences of length 1 to {order} that the reference has, add-one smoothed (0-1).",
        (
            f"BLEU Order {order}",
            f"Order {order}",
            f"bleu(max_order={order})",
            f"bleu(max_order={order}, smooth=True)",
            f"bleu(order={order})",
        ),
    )


def _bleu_exp(order: int) -> MetricSpec:
    return _spec(
        f"bleu-{order}-exp",
        f"BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|order:{order}|version:{CODE_VERSION}",
        {"order": order, "smooth": "exp"},
        f"sacrebleu's sentence BLEU: exponential smoothing, orders that the text is long enough for, at most {order} (0-100).",
        ("sentBLEU", "sentence_bleu", "sacrebleu") if order == 4 else (),
        of_paper=False,
    )


def _chrf(characters: int, words: int) -> MetricSpec:
    default = {(6, 0): ("chrF", "chrF2"), (6, 2): ("chrF++", "chrF2++")}
    label = f"c: {characters}, w: {words}"
    return _spec(
        f"chrf-{characters}-{words}",
        f"chrF|nrefs:1|case:mixed|eff:yes|nc:{characters}|nw:{words}|beta:2|space:no|version:{CODE_VERSION}",
        {"characters": characters, "words": words},
        f"F2 of character sequences up to {characters}{f' and word sequences up to {words}' if words else ''} (0-100).",
        (
            f"chrF {label}",
            label,
            f"chrf(char_order={characters}, word_order={words})",
            f"chrf(char_order={characters}, word_order={words}, beta=2, lowercase=False, whitespace=False, "
            "eps_smoothing=False)",
            *default.get((characters, words), ()),
        ),
    )


def _rouge(kind: str, tokenizer: str = "default", *, stem: bool = False) -> MetricSpec:
    suffix = ("-unicode" if tokenizer == "unicode" else "") + ("-stem" if stem else "")
    reads = "rouge-score" if tokenizer == "default" else f"words-{REGEX}"
    what = (
        "the longest common subsequence of words" if kind == "l" else f"sequences of {kind} words"
    ).replace("sequences of 1 words", "single words")
    which = "every script" if tokenizer == "unicode" else "a-z and 0-9 only: of no use in other scripts"
    return _spec(
        f"rouge-{kind}{suffix}",
        f"ROUGE|nrefs:1|case:lc|type:{kind}|measure:f1|tok:{reads}"
        f"|stemmer:{f'porter-{NLTK}' if stem else 'none'}|version:{CODE_VERSION}",
        {"type": kind, "tokenizer": tokenizer, "stem": stem},
        f"F1 of {what}, {'English stems, ' if stem else ''}reads {which} (0-1).",
        () if suffix else (f"ROUGE ROUGE-{kind}", f"rouge(rouge{kind})", f"rouge(rouge_type=rouge{kind})"),
        of_paper=not suffix,
    )


def _meteor(alpha: str, gamma: str) -> MetricSpec:
    label = f"alpha: {alpha}, gamma: {gamma}"
    short = f"alpha={alpha}, gamma={gamma}"
    return _spec(
        f"meteor-a{alpha}-g{gamma}",
        f"METEOR|nrefs:1|case:lc|tok:13a|alpha:{alpha}|beta:3|gamma:{gamma}"
        f"|stemmer:porter-{NLTK}|{SYNONYMS_OPEN}|version:{CODE_VERSION}",
        {"alpha": float(alpha), "gamma": float(gamma)},
        f"Aligned words, {'precision weighs more' if alpha == '0.2' else 'recall weighs more'}, "
        f"{'broken order costs' if gamma != '0' else 'order is free'} (0-1). Without WordNet data on the machine it is "
        "METEOR without synonyms, and its signature says so.",
        (f"METEOR {label}", label, f"meteor({short})", f"meteor({short}, beta=3)"),
    )


ROUGE_TYPES = ("1", "2", "4", "l")
TER = _spec(
    "ter",
    f"TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:{SACREBLEU}",
    {},
    "Edits and block moves that turn the text into the reference, over the reference's words; lower is better (0-100 and beyond).",
    of_paper=False,
    direction="lower",
)
LEXICAL_METRICS: tuple[MetricSpec, ...] = (
    *(_bleu(order) for order in (1, 2, 3, 4)),
    *(_chrf(characters, words) for characters in (4, 6) for words in (0, 2)),
    *(_rouge(kind) for kind in ROUGE_TYPES),
    *(_meteor(alpha, gamma) for alpha in ("0.2", "0.9") for gamma in ("0", "0.5")),
    *(_bleu_exp(order) for order in (1, 2, 3, 4)),
    *(_rouge(kind, stem=True) for kind in ROUGE_TYPES),
    *(_rouge(kind, "unicode") for kind in ROUGE_TYPES),
    *(_rouge(kind, "unicode", stem=True) for kind in ROUGE_TYPES),
    TER,
)
"""The 16 of 000 first, in the order of its tables."""

"""The families of lexical metrics, in the order of Meta-Judge's tables; what is beyond the paper comes last."""

from core.scoring.metrics.lexical import bleu, chrf, meteor, rouge, ter
from core.scoring.metrics.lexical.family import LexicalFamily

LEXICAL_FAMILIES: dict[str, LexicalFamily] = {
    family.name: family for family in (bleu.FAMILY, chrf.FAMILY, rouge.FAMILY, meteor.FAMILY, ter.FAMILY)
}

"""TER of one text (Snover et al. 2006), by sacrebleu."""

from functools import partial

from sacrebleu.metrics.ter import TER

from core.metrics.lexical.family import SACREBLEU, LexicalFamily, ReadText, spec
from core.schema.scores import Score


def _scores(ter: TER, text: ReadText, reference: ReadText) -> list[Score]:
    """Edits divided by the reference's words, times 100; 100 if only the text has words, 0 if neither has."""
    return [Score(float(ter.sentence_score(text.text, [reference.text]).score))]


_TER = spec(
    "ter",
    f"TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:{SACREBLEU}",
    {},
    "Edits and block moves from the text to the reference, divided by the reference's words; lower is better (0-100 and above).",
    of_paper=False,
    direction="lower",
)
FAMILY = LexicalFamily(name="TER", specs=(_TER,), open=lambda *_: partial(_scores, TER()), spaced=True)

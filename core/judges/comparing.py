"""Judges that compare a text with its reference or its source: what to know of a file before it costs anything."""

from core.judges.kind import Bench, JudgeSettings
from core.schema.rated import RatedSet
from core.schema.scores import ScorableOutput
from core.schema.settings import Remark, refuse

QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""Of Latin, Chinese and Japanese, and Arabic script."""


def check_compared(settings: JudgeSettings, _: Bench, rated: RatedSet, by_rules: bool) -> tuple[Remark, ...]:
    """See JudgeKind.check: texts that lack what they are compared with, sources that look like questions."""
    outputs = [text.output for text in rated.texts]
    needed = settings.compares_with
    n_lacking = sum(not compared_with(settings, output) for output in outputs)
    if n_lacking == len(outputs):
        text = (
            "{file} has no {needed} for any text, and this judge compares each text with it: add the column"
        )
        if settings.COMPARES_INSTEAD and any(output.reference for output in outputs):
            text += f", or compare with the references ({settings.COMPARES_INSTEAD})"
        refuse([Remark("", f"{text}.", {"file": rated.file_name, "needed": needed})], type(settings))
    remarks = list(settings.remarks(by_rules=by_rules))
    if n_lacking:
        text = "{lacking} of {n} texts have no {needed}: they get no score, with that reason"
        remarks.append(Remark("", text, {"lacking": n_lacking, "n": len(outputs), "needed": needed}))
    n_asked = sum(_is_question(output) for output in outputs) if needed == "source" else 0
    if 2 * n_asked > len(outputs):
        text = (
            "the source of {asked} of {n} texts looks like a question: it holds no facts to examine an answer with. "
            f"Where references are there, {settings.COMPARES_INSTEAD} examines against them"
        )
        remarks.append(Remark("", text, {"asked": n_asked, "n": len(outputs)}))
    return tuple(remarks)


def compared_with(settings: JudgeSettings, output: ScorableOutput) -> str | None:
    """What the judge compares a text with; None: the text lacks it."""
    return output.reference if settings.compares_with == "reference" else output.source


def _is_question(output: ScorableOutput) -> bool:
    source = output.source
    return source is not None and source.rstrip().endswith(QUESTION_MARKS) and len(source) < len(output.text)

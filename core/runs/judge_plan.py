"""From what a user chose to a judge's run that is kept: prompts found, everything checked, nothing begun."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.datasets.rated import read_rated
from core.datasets.scorable import read_outputs
from core.errors import InputError
from core.judges.settings import RUBRIC_PURPOSES, CefSettings, RubricSettings
from core.llm.prompts import Prompt, find_prompt
from core.runs.checking import Piece, pieces_by_item, read_pieces
from core.runs.judge_settings import JudgeSettings, check_judge, judge_kept, judge_of
from core.runs.judge_sources import document_of, needs_source
from core.runs.judging import metrics_of_judge, prompts_of
from core.runs.keeping import check_limit, go_on, keep_run, newest_same
from core.runs.model_settings import RunningSettings, normalised, running_kept
from core.runs.rated_plan import check_rated, check_task
from core.runs.rated_texts import judged_outputs
from core.runs.score_settings import settled
from core.runs.scoring import by_item
from core.schema import CHECK_KINDS, RATED_KINDS, Run
from core.schema.judges import MarkedText
from core.schema.scores import OutputSet
from core.store import Store

QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""Of Latin, Chinese and Japanese, and Arabic script."""
STAND_IN = (
    "rules take sentences for claims, or compare their numbers, names and words: a stand-in to see how it works, no judge "
    "to rely on"
)
"""What is to be known of claims that no model has found, or verified."""


def default_judge_prompts(settings: JudgeSettings) -> dict[str, str]:
    """Purpose -> name of the shipped prompt that is used unless another is chosen; none where rules do the work."""
    if settings.backend == "rules":
        return {}
    if settings.kind == "rubric":
        return {"rubric": "rubric"}
    if settings.kind == "claims":
        claims = settings.claims
        verify = {"verify": "verify"} if claims.verifier == "llm" else {}
        return {"decompose": f"decompose-{claims.task}"} | verify
    if settings.kind == "cef":
        cef = settings.cef
        translate = {"translate": "translate-back"} if cef.mode == "round-trip" else {}
        return {"questions": f"questions-{cef.questions}", **_answering(cef.answers), **translate}
    if settings.kind == "answers":
        return _answering(settings.answers.answers)
    if settings.kind == "quality":
        return {"quality": f"quality-{settings.quality.prompting}"}
    name = {"automqm": "mark-errors", "direct": "direct"}.get(settings.kind, "align")
    return {name: name}


def _answering(how: str) -> dict[str, str]:
    return {"answers": "answers"} if how == "batch" else {"answer": "answer"}


def _tasks(settings: JudgeSettings) -> dict[str, str]:
    """Purpose -> the task that its prompt has to be for."""
    return {
        "decompose": settings.claims.task,
        "questions": settings.cef.questions,
        "quality": settings.quality.prompting,
    }


def choose_judge_prompts(settings: JudgeSettings, chosen: Sequence[Prompt] = ()) -> dict[str, str]:
    """Purpose -> the whole text of its prompt: the chosen ones, else those shipped.

    Raises InputError for prompts that this judge has no use for, two for one purpose, or one for another task.
    """
    defaults, tasks = default_judge_prompts(settings), _tasks(settings)
    offered = RUBRIC_PURPOSES if "rubric" in defaults else tuple(defaults)
    problems = []
    found: dict[str, Prompt] = {}
    for prompt in chosen:
        task = tasks.get(prompt.purpose)
        if prompt.purpose not in offered:
            asks = f"asks for {', '.join(offered)}" if offered else "asks no model, so it needs no prompt"
            problems.append(f"prompt {prompt.name}: is for {prompt.purpose}; this run {asks}")
        elif (first := _in_its_place(prompt, found, "rubric" in defaults)) is not None:
            of = prompt.purpose
            if first.purpose != of:
                of = f"the verdict (it is for {of}, and prompt {first.name} for {first.purpose})"
            problems.append(f"prompt {prompt.name}: is the second one for {of}; choose one")
        elif prompt.task != task:
            problems.append(f"prompt {prompt.name}: is for the task {prompt.task}, the run's is {task}")
        else:
            found[prompt.purpose] = prompt
    if problems:
        raise InputError("The prompts do not fit", problems)
    if "rubric-text" in found:
        defaults.pop("rubric", None)
    shipped = {
        purpose: find_prompt(name, purpose, tasks.get(purpose))
        for purpose, name in defaults.items()
        if purpose not in found
    }
    return {purpose: prompt.dump() for purpose, prompt in {**shipped, **found}.items()}


def _in_its_place(prompt: Prompt, found: Mapping[str, Prompt], one_verdict: bool) -> Prompt | None:
    """The prompt that was chosen before for the same purpose; one_verdict: every purpose asks for the verdict."""
    return next(iter(found.values()), None) if one_verdict else found.get(prompt.purpose)


def as_kept(settings: JudgeSettings, running: RunningSettings) -> JudgeSettings:
    """The settings as they are kept. Raises InputError with everything that is wrong, each named as its option."""
    check_judge(settings, running)
    if settings.kind == "rubric" and not settings.rubric_text:
        raise InputError("The run cannot start", ["--rubric: name a rubric, or the path of a .yaml file"])
    if settings.kind in RATED_KINDS:
        if not settings.task_text:
            raise InputError("The run cannot start", ["--task: name a task, or the path of a .yaml file"])
        check_task(settings)
    nli = settings.claims.nli_model
    settings = replace(
        normalised(settings), claims=replace(settings.claims, nli_model=settled(nli) if nli else "")
    )
    if settings.kind not in CHECK_KINDS:
        metrics_of_judge(
            settings, prompts_of(settings)
        )  # a rubric or a prompt that cannot be read says so now
    return settings


def create_judging(
    store: Store,
    data: bytes,
    file_name: str,
    settings: JudgeSettings,
    running: RunningSettings,
    limit: int | None = None,
) -> tuple[Run, OutputSet]:
    """Keep a run that waits to be started, and say what it will judge. Raises InputError with all problems.

    The notes of what is returned also say what texts lack, and where the judge would measure nothing.
    """
    settings = as_kept(settings, running)
    check_limit(limit, 0)  # before a long file is read
    outputs = _texts(data, file_name, settings)
    run = keep_run(
        store,
        settings.kind,
        data,
        file_name,
        len(by_item(outputs.outputs)),
        settings=judge_kept(settings),
        running=running_kept(running),
        limit=limit,
    )
    return run, outputs


def _texts(data: bytes, file_name: str, settings: JudgeSettings) -> OutputSet:
    """What a run of these settings would judge. Raises InputError where it cannot."""
    if settings.kind in RATED_KINDS:
        rated = read_rated(data, file_name)
        outputs, notes = judged_outputs(settings, rated), check_rated(settings, rated)
    else:
        outputs = read_outputs(data, file_name)
        check_documents(settings, outputs)
        notes = judging_notes(settings, outputs)
    return replace(outputs, notes=outputs.notes + notes)


def check_documents(settings: JudgeSettings, outputs: OutputSet) -> None:
    """Raise InputError where no text has what the judge compares it with: nothing could be judged."""
    if any(document_of(settings, output) for output in outputs.outputs):
        return
    lacking = "source" if needs_source(settings) else "reference"
    there = any(output.reference for output in outputs.outputs)
    instead = ", or compare with the references (--mode reference)" if lacking == "source" and there else ""
    raise InputError(
        f"{outputs.file_name} has no {lacking} for any text, and this judge compares each text with it: "
        f"add the column{instead}."
    )


def judging_notes(settings: JudgeSettings, outputs: OutputSet) -> tuple[str, ...]:
    """What a user should know before it costs anything: texts that cannot be judged, questions taken for sources."""
    by_rules = settings.kind == "claims" and "rules" in (settings.backend, settings.claims.verifier)
    notes = [STAND_IN] if by_rules else []
    n_texts = len(outputs.outputs)
    if lacking := sum(not document_of(settings, output) for output in outputs.outputs):
        what = "source" if needs_source(settings) else "reference"
        notes.append(f"{lacking} of {n_texts} texts have no {what}: they get no score, with that reason")
    if needs_source(settings):
        asked = sum(_is_question(output.source, output.text) for output in outputs.outputs)
        if 2 * asked > n_texts:
            notes.append(
                f"the source of {asked} of {n_texts} texts looks like a question: it holds no facts to examine an answer "
                "with. Where references are there, --mode reference examines against them"
            )
    chosen = settings.of_kind
    if isinstance(chosen, RubricSettings | CefSettings) and chosen.repeats > 1 and chosen.temperature == 0:
        notes.append(
            f"{chosen.repeats} repeats at temperature 0 ask for the same answer again: choose a --temperature above 0"
        )
    return tuple(notes)


def _is_question(source: str | None, text: str) -> bool:
    return source is not None and source.rstrip().endswith(QUESTION_MARKS) and len(source) < len(text)


def find_same_judging(store: Store, data: bytes, settings: JudgeSettings) -> Run:
    """The newest run that was asked for exactly this. Raises InputError when there is none to resume."""
    kept = judge_kept(as_kept(settings, RunningSettings()))
    return newest_same(store, settings.kind, data, kept)


def prepare_judging(store: Store, run: Run, running: RunningSettings, limit: int | None) -> Run:
    """Set how a run of a judge, or of a look at judges, goes on: other limits of work, and how many of its items."""
    check_judge(judge_of(run), running)
    return go_on(store, run, running_kept(running), limit)


def create_check(
    store: Store,
    data: bytes,
    file_name: str,
    settings: JudgeSettings,
    running: RunningSettings,
    limit: int | None = None,
) -> tuple[Run, tuple[Piece, ...]]:
    """Keep a run that looks at judges, and say what it will look at. Raises InputError with all problems.

    data: what `core.datasets.judge_records` writes: question_file for answers, marked_file for alignment.
    """
    settings = as_kept(settings, running)
    check_limit(limit, 0)
    pieces = read_pieces(settings, data, file_name)
    if not pieces:
        raise InputError(f"{file_name} holds no {'questions' if settings.kind == 'answers' else 'texts'}.")
    if not any(piece.errors if isinstance(piece, MarkedText) else piece.questions for piece in pieces):
        what = "question to answer" if settings.kind == "answers" else "marked error to look for"
        raise InputError(f"{file_name} holds no {what}.")
    run = keep_run(
        store,
        settings.kind,
        data,
        file_name,
        len(pieces_by_item(pieces)),
        settings=judge_kept(settings),
        running=running_kept(running),
        limit=limit,
    )
    return run, pieces

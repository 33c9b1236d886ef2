"""Looking at judges as a job: a model answers other models' questions, or says which marked errors they point to."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import PurePath

from core.datasets.judge_records import printable_record, read_marked_file, read_question_file
from core.llm.asking import Model
from core.llm.client import Cache
from core.llm.prompts import Prompt
from core.runs.jobs import Outcome, each_of, grouped, outcome_of
from core.runs.judge_settings import JudgeSettings, judge_of
from core.runs.judging import prompts_of, width_of
from core.runs.model_settings import RunningSettings, client_of
from core.schema import Run
from core.schema.judges import MarkedText, QuestionSet
from core.store import Store
from core.store.runs import run_data

Piece = QuestionSet | MarkedText
Done = tuple[Piece, tuple[tuple[str, str], ...], bool]
"""What was looked at, with what was found; (step, reason) of what failed; whether another run may mend it."""


def pieces_of(store: Store, run: Run) -> tuple[Piece, ...]:
    """The sets of questions, or the marked texts, that a run works on: read from the file it keeps."""
    return read_pieces(judge_of(run), run_data(store, run.run_id), PurePath(run.data_file).name)


def read_pieces(settings: JudgeSettings, data: bytes, file_name: str) -> tuple[Piece, ...]:
    """As pieces_of. Raises InputError with every problem of the file."""
    if settings.kind == "answers":
        return read_question_file(data, file_name)
    return read_marked_file(data, file_name)


def pieces_by_item(pieces: Sequence[Piece]) -> dict[str, list[Piece]]:
    """Item -> its sets of questions or its texts; items in the order in which they first come."""
    return grouped(pieces, lambda piece: piece.row.item_id)


class CheckJob:
    """core.runs' Job for looking at judges: an item is all that there is of it in the file."""

    def __init__(self, pieces: Sequence[Piece], settings: JudgeSettings, running: RunningSettings) -> None:
        items = pieces_by_item(pieces)
        self._item_ids, self._items = tuple(items), tuple(items.values())
        self._n_pieces = len(pieces)
        self._settings, self._running = settings, running
        self._prompts = prompts_of(settings)
        self._client = client_of(settings, running)

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""
        return self._item_ids

    @property
    def width(self) -> int:
        """Items enough to keep all requests open."""
        return width_of(self._settings, self._running, self._n_pieces / len(self._items))

    async def start(self) -> None:
        """Reach the server, or load the model."""
        if self._client is not None:
            await self._client.start()

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Look at all that there is of one item."""
        done = await each_of(self._items[position], self._look(cache), _broken)
        result: dict[str, object] = {"pieces": [printable_record(asdict(piece)) for piece, _, _ in done]}
        failures = tuple(failure for _, failed, _ in done for failure in failed)
        return outcome_of(result, failures, temporary=any(temporary for _, _, temporary in done))

    async def close(self) -> None:
        """Let go of connections and memory."""
        if self._client is not None:
            await self._client.close()

    def _look(self, cache: Cache) -> Callable[[Piece], Awaitable[Done]]:
        """What is done to one piece."""
        model = None if self._client is None else Model(self._client, cache, self._settings.attempts)
        if self._settings.kind == "answers":
            assert model is not None, "rules answer no questions"
            return _answering(model, self._prompts, self._settings)
        return _by_words if model is None else _aligning(model, self._prompts, self._settings)


def _broken(piece: Piece, name: str) -> Done:
    """What a piece gets on which we failed ourselves: no verdict on anything, and why."""
    reason = f"looking at it broke ({name})"
    if isinstance(piece, QuestionSet):
        questions = tuple(replace(one, answer=None, reason=reason) for one in piece.questions)
        return replace(piece, questions=questions), (("internal", name),), False
    errors = tuple(replace(one, found=None, reason=reason) for one in piece.errors)
    return replace(piece, errors=errors), (("internal", name),), False


def _answering(
    model: Model, prompts: Mapping[str, Prompt], settings: JudgeSettings
) -> Callable[[Piece], Awaitable[Done]]:
    # Here and not above: most commands look at no judge.
    from core.judges.question_sets import QuestionAnswerer

    answerer = QuestionAnswerer(model, prompts, settings.answers)

    async def answer(piece: Piece) -> Done:
        assert isinstance(piece, QuestionSet)
        return await answerer.answer(piece)

    return answer


def _aligning(
    model: Model, prompts: Mapping[str, Prompt], settings: JudgeSettings
) -> Callable[[Piece], Awaitable[Done]]:
    from core.judges.alignment import Aligner

    aligner = Aligner(model, prompts["align"], settings.alignment)

    async def align(piece: Piece) -> Done:
        assert isinstance(piece, MarkedText)
        return await aligner.align(piece)

    return align


async def _by_words(piece: Piece) -> Done:
    from core.judges.alignment_rules import align_by_words

    assert isinstance(piece, MarkedText)
    return align_by_words(piece), (), False

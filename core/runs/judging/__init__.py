"""Runs in which a judge scores texts, or judges are audited: from a file to every text's scores and records."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from core.errors import InputError
from core.formats.rated import unrated
from core.formats.registry import read_rated, read_texts
from core.formats.spans.rows import write_span_rows_csv
from core.judges.kind import (
    SHORT_SHA,
    AuditKind,
    Audits,
    Bench,
    Done,
    Judged,
    JudgeKind,
    Opened,
    compared_with,
)
from core.llm.asking import Model
from core.llm.client import Cache, Client
from core.llm.families import alike_notes
from core.results.check.gaps import texts_of_judge
from core.results.injection import injections_of_judge, marked_tables
from core.results.judges.scores import degeneracy
from core.results.judges.spans import ratings_of_judge
from core.runs.asked import Asked
from core.runs.jobs import (
    AskingJob,
    BatchJob,
    Job,
    Outcome,
    ResultsSoFar,
    RunAtHand,
    WorkPath,
    each_of,
    grouped,
    outcome_of,
)
from core.runs.records import (
    ABOUT,
    RECORDS_FILE,
    kept_record,
    piece_of,
    printable_record,
    read_pieces,
    record_of,
    text_columns,
    write_pieces,
    write_records,
)
from core.runs.scoring import check_unmasked, keep_metrics, kept_row, score_table, table_files
from core.runs.working.spreading import job_for
from core.schema.injections import MARKED_TEXTS, Injections
from core.schema.panel import TextBeside
from core.schema.runs import RULES
from core.schema.scores import JudgedText, JudgeOutput, Metric, RatedSet, RatedText, Score
from core.schema.settings import Remark
from core.stats.degeneracy import Degeneracy
from core.store.kept import parts_not_sent, result_texts
from core.store.runs import last_finished
from core.tables.writer import csv_bytes

NOT_JUDGED = "of a system that is not judged"
SPANS_FILE = "spans.csv"


class Judging(WorkPath):
    """The path of runs in which a judge scores texts."""

    def read(self, request: Asked, data: bytes, file_name: str) -> RatedSet:
        """Read the texts, with people's ratings if the judge uses them."""
        if request.kind.reads == "rated texts":
            return read_rated(data, file_name)
        return unrated(read_texts(data, file_name))

    def items(self, request: Asked, contents: RatedSet) -> Mapping[str, Sequence[RatedText]]:
        """Item -> texts to be judged."""
        return grouped(_judged(request, contents), lambda text: text.output.item_id)

    def check(self, request: Asked, contents: RatedSet, sha256: str) -> tuple[Remark | str, ...]:
        """Remarks on texts that lack something, and on settings under which the judge measures nothing."""
        kind, bench = kind_of(request), bench_of(request, contents, sha256)
        if kind.reads != "pairs":
            check_unmasked((text.output for text in contents.texts), contents.file_name)
        metrics_of(request, bench)  # reports an unreadable rubric or prompt now
        texts = [text.output for text in _judged(request, contents)]
        alike = alike_notes([None if request.by_rules else request.model.model], texts)
        return (*contents.notes, *kind.check(request.settings, bench, contents, request.by_rules), *alike)

    def named(self, thing: RatedText) -> tuple[str | None, str | None]:
        """System and level of the text."""
        return thing.output.system, thing.output.level

    def job(self, run: RunAtHand) -> Job | BatchJob:
        """See JudgeJob."""
        return job_for(run, JudgeJob)

    def planned(self, run: RunAtHand) -> tuple[Metric, ...]:
        """The metrics according to the settings, before anything is loaded."""
        return metrics_of(run.request, bench_of(run.request, run.contents, run.run.data_sha256))

    def left_out(self, run: RunAtHand) -> Mapping[str, int]:
        """Rows without a text to judge, and texts that serve only as examples."""
        others = len(run.contents.texts) - len(judged_among(run))
        return {**run.contents.left_out, **({NOT_JUDGED: others} if others else {})}

    def files(self, run: RunAtHand) -> dict[str, bytes]:
        """scores.csv (and scores.parquet if its library is installed) as for any metric. records.jsonl contains the full
        records and can be read back. details.csv has one row per trial, claim, question, error or score. For a judge that
        marks errors, spans.csv has one row per error, as read by `core.formats.spans.rows`. Where texts have marks of injection,
        marked-texts.csv lists them.
        """
        kind, output = kind_of(run.request), judge_output(run)
        rows = (
            text_columns(text.row) | row
            for text in output.texts
            if text.record is not None
            for row in kind.details(text.record)
        )
        files = table_files(score_table(run))
        files[RECORDS_FILE] = write_records(output.texts)
        files["details.csv"] = csv_bytes((*ABOUT, *kind.detail_columns), rows)
        if tables := marked_tables(injections_of_judge(output)):
            listed = tables[MARKED_TEXTS]
            names = [column.name for column in listed.columns]
            files[f"{MARKED_TEXTS}.csv"] = csv_bytes(
                names, (dict(zip(names, row, strict=True)) for row in listed.rows)
            )
        if kind.marks_errors:
            with suppress(InputError):  # no text is judged yet
                files[SPANS_FILE] = write_span_rows_csv(ratings_of_judge(output))
        return files


def kind_of(request: Asked) -> JudgeKind:
    """The judge's kind. Asserts that the run is a judge's run."""
    assert isinstance(request.kind, JudgeKind), f"{request.kind.name} does not score texts"
    return request.kind


def judged_among(run: RunAtHand) -> tuple[RatedText, ...]:
    """The texts to be scored; other texts in the file serve only as examples."""
    return _judged(run.request, run.contents)


def _judged(request: Asked, contents: RatedSet) -> tuple[RatedText, ...]:
    return tuple(text for text in contents.texts if request.settings.judges(text))


def bench_of(request: Asked, contents: RatedSet, sha256: str) -> Bench:
    """The judge's inputs. The helper is not loaded yet."""
    helper = kind_of(request).helper(request.settings)
    return Bench(request.prompts_read, request.attached, contents.texts, sha256, helper)


def metrics_of(request: Asked, bench: Bench, engine: str = "") -> tuple[Metric, ...]:
    """The metrics, with everything that determines the scores in their signatures. engine: hash of a loaded vLLM engine."""
    kind, model = kind_of(request), request.model
    who: dict[str, object] = {
        "model": model.short_name if model.backend == "vllm" else model.model,
        "backend": model.answered_as,
        "engine": engine,
    }
    if not request.by_rules:
        who |= {"attempts": model.attempts, **model.chosen}
    who |= {f"prompt-{name}": prompt.sha256[:SHORT_SHA] for name, prompt in sorted(bench.prompts.items())}
    return kind.metrics(
        request.called,
        request.settings,
        who | dict(kind.also_signed(request.settings, bench)),
        kind.dimensions(bench),
    )


class JudgeJob(AskingJob):
    """Job for judges (see core.runs.jobs): an item consists of all its texts to be judged."""

    def __init__(self, run: RunAtHand) -> None:
        super().__init__(run)
        self._run = run
        self._bench = bench_of(run.request, run.contents, run.run.data_sha256)
        self._names: tuple[str, ...] = ()
        self._opened: Opened | None = None

    async def start(self) -> None:
        """Connect to the server or load the models, prepare what all texts share, and record the run's metrics."""
        await super().start()
        engine = _engine_named(self.client) if self.asked.model.backend == "vllm" else ""
        metrics = metrics_of(self.asked, self._bench, engine)
        keep_metrics(self._run.store, self._run.run.run_id, metrics)

    async def get_ready(self) -> None:
        """Connect to the server or load the models, and prepare what all texts share."""
        await super().get_ready()
        if self._bench.helper is not None:
            await self._bench.helper.start()
        self._names = tuple(metric.name for metric in metrics_of(self.asked, self._bench))
        self._opened = kind_of(self.asked).open(self.asked.settings, self._bench)

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Judge all texts of one item. They share a model, so that equal requests are sent once."""
        texts, model = self.items[position], self.model(cache)
        judged = await each_of(
            list(enumerate(texts)), lambda one: self._judge(model and model.of(one[0]), one[1]), self._broken
        )
        rows = [self._row(text, one) for text, one in zip(texts, judged, strict=True)]
        failures = tuple(failure for one in judged for failure in one.failures)
        return outcome_of({"outputs": rows}, failures, temporary=any(one.temporary for one in judged))

    async def _judge(self, model: Model | None, text: RatedText) -> Judged:
        assert self._opened is not None, "start opens the judge"
        return await self._opened(model).judge(text)

    async def close(self) -> None:
        """Close connections, threads and models."""
        await super().close()
        if self._bench.helper is not None:
            await self._bench.helper.close()

    def _broken(self, _: object, name: str) -> Judged:
        """The result for a text after an internal error of the judge."""
        score = Score(None, f"internal error of the judge ({name})")
        return Judged((score,) * len(self._names), None, (("internal", name),))

    def _row(self, text: RatedText, judged: Judged) -> dict[str, object]:
        kind = kind_of(self.asked)
        record = None if judged.record is None else kept_record(kind, judged.record)
        named = dict(zip(self._names, judged.scores, strict=True))
        reasons = {name: score.reason for name, score in named.items() if score.value is None}
        values = [score.value for score in named.values()]
        return kept_row(text.output, values, reasons) | {"record": record}


def _engine_named(client: Client | None) -> str:
    """Hash of everything that determines vLLM's answers: content of the weights, options and release, not their location."""
    assert client is not None
    identity = json.dumps(client.identity, sort_keys=True, default=str)
    return hashlib.sha256(identity.encode()).hexdigest()[:SHORT_SHA]


def judge_output(run: RunAtHand) -> JudgeOutput:
    """The judge's output so far, cached until something is added.

    Raises InputError for a run that judges no texts.
    """
    moment = last_finished(judging_run(run).store, run.run.run_id)
    if run.said is None or run.said[0] != moment:
        run.said = moment, JudgedSoFar().output(run)
    output: JudgeOutput = run.said[1]
    return output


def judge_output_if_any(run: RunAtHand) -> JudgeOutput | None:
    """See judge_output; None for a run that judges no texts, such as one of metrics."""
    return judge_output(run) if isinstance(run.kind, JudgeKind) else None


def texts_beside(run: RunAtHand) -> tuple[TextBeside, ...]:
    """The run's texts with the judge's reasons. Raises InputError for a run that judges no texts."""
    return texts_of_judge(judge_output(run), kind_of(run.request))


class JudgedSoFar:
    """The output of one judge's run as it comes in."""

    def __init__(self) -> None:
        self._items = ResultsSoFar(self._judged)
        self._texts: Mapping[str, Sequence[RatedText]] | None = None
        """Item -> its texts. They are those of the run's file, which never changes."""

    def output(self, run: RunAtHand) -> JudgeOutput:
        """See judge_output."""
        asked = judging_run(run).request
        return JudgeOutput(
            asked.called,
            run.kind.name,
            asked.model.named or RULES,
            asked.settings.model_dump(mode="json"),
            run.metrics,
            tuple(text for item in self._items.look(run) for text in item),
            asked.attached,
            frozenset(parts_not_sent(run.store, run.run.run_id, of_cache=True)),
        )

    def _judged(self, run: RunAtHand, item_id: str, result: Mapping[str, Any]) -> tuple[JudgedText, ...]:
        if self._texts is None:
            self._texts = run.items
        # An item with an internal error has no rows; otherwise each text has one, in the order of the file.
        texts = zip(self._texts[item_id], result.get("outputs", ()), strict=False)
        return tuple(_judged_text(text, kept, run.request, run.metrics) for text, kept in texts)


def degeneracy_of(run: RunAtHand) -> tuple[Degeneracy, ...]:
    """Signs that the judge's scores so far measure little. Raises InputError for a run that judges no texts."""
    return degeneracy(kind_of(judging_run(run).request), judge_output(run))


def injections_in(run: RunAtHand) -> Injections:
    """Marks of injection in the texts judged so far. Raises InputError for a run that judges no texts."""
    return injections_of_judge(judge_output(judging_run(run)))


def judging_run(run: RunAtHand) -> RunAtHand:
    """The run itself. Raises InputError if it judges no texts."""
    if not isinstance(run.kind, JudgeKind):
        raise InputError(f"Run {run.run.run_id} does not judge texts (kind: {run.kind.name}).")
    return run


def _judged_text(
    text: RatedText, kept: Mapping[str, Any], request: Asked, metrics: Sequence[Metric]
) -> JudgedText:
    output = text.output
    return JudgedText(
        row=output.row,
        text=output.text,
        document=compared_with(request.settings, output),
        question=output.full_source,
        scores={metric.name: score for metric, score in zip(metrics, kept["scores"], strict=True)},
        reasons=kept["reasons"],
        record=record_of(kind_of(request), kept.get("record")),
    )


def results_of(run: RunAtHand) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """(item, result) of all processed items. After an internal error, an item's result has no texts."""
    for item_id, text in result_texts(run.store, run.run.run_id):
        yield item_id, json.loads(text)


Pieces = tuple[Any, ...]
"""Instances of the kind's Piece."""


class Auditing(WorkPath):
    """The path of audits of judges."""

    def read(self, request: Asked, data: bytes, file_name: str) -> Pieces:
        """Read the sets of questions, or the marked texts."""
        pieces = read_pieces(audit_of(request), data, file_name)
        if why := audit_of(request).nothing(pieces):
            raise InputError(f"{file_name} has no {why}.")
        return pieces

    def items(self, request: Asked, contents: Pieces) -> Mapping[str, Sequence[Any]]:
        """Item -> its pieces."""
        return grouped(contents, lambda piece: piece.row.item_id)

    def named(self, thing: Any) -> tuple[str | None, str | None]:
        """System and level of the piece's text."""
        return thing.row.system, thing.row.level

    def job(self, run: RunAtHand) -> Job | BatchJob:
        """See AuditJob."""
        return job_for(run, AuditJob)

    def files(self, run: RunAtHand) -> dict[str, bytes]:
        """records.jsonl, which can be read back, and a table with one row per answer."""
        kind, pieces = audit_of(run.request), pieces_done(run)
        rows = (text_columns(piece.row) | row for piece in pieces for row in kind.rows(piece))
        return {
            RECORDS_FILE: write_pieces(pieces),
            kind.table: csv_bytes((*ABOUT, *kind.columns), rows),
            **kind.also(pieces),
        }

    def maker(self, request: Asked) -> str:
        """The model that does the audit, as the user named it."""
        return request.model.named or RULES


def audit_of(request: Asked) -> AuditKind:
    """The audit's kind. Asserts that the run is an audit."""
    assert isinstance(request.kind, AuditKind), f"{request.kind.name} is not an audit"
    return request.kind


def pieces_done(run: RunAtHand) -> Pieces:
    """The pieces completed so far, in the order of the file."""
    kind = audit_of(run.request)
    return tuple(piece_of(kind, piece) for _, result in results_of(run) for piece in result.get("pieces", ()))


def answered(run: RunAtHand, kind: AuditKind) -> tuple[str, Pieces]:
    """The model and its pieces so far. Raises InputError for a run of another kind."""
    if run.kind is not kind:
        raise InputError(
            f"Run {run.run.run_id} is of the kind {run.kind.name}; choose a run of the kind {kind.name}."
        )
    return run.path.maker(run.request), pieces_done(run)


class AuditJob(AskingJob):
    """Job for audits (see core.runs.jobs): an item consists of all its pieces in the file."""

    def __init__(self, run: RunAtHand) -> None:
        super().__init__(run)
        self._audits: Audits = audit_of(run.request).open(run.request.settings, run.request.prompts_read)

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Process all pieces of one item."""
        model = self.model(cache)
        done = await each_of(
            list(enumerate(self.items[position])),
            lambda one: self._audits(model and model.of(one[0]))(one[1]),
            self._broken,
        )
        result: dict[str, object] = {"pieces": [printable_record(asdict(piece)) for piece, _, _ in done]}
        failures = tuple(failure for _, failed, _ in done for failure in failed)
        return outcome_of(result, failures, temporary=any(temporary for _, _, temporary in done))

    def _broken(self, numbered: tuple[int, Any], name: str) -> Done:
        broken = audit_of(self.asked).broken(numbered[1], f"internal error ({name})")
        return broken, (("internal", name),), False

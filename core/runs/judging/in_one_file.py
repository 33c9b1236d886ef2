"""A judge in one YAML file: settings, model, prompts, rubric, map to the people's scale, and the limits of a check.

The file holds no key: keys are read from the environment of the machine that runs the judge. It needs no other file, so
it works in an installation with other prompts.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import regex
from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from core import __version__
from core.errors import InputError, nearest_names
from core.judges.kind import JudgeKind, JudgeSettings
from core.llm.call_settings import FROM_ENVIRONMENT, CallSettings, secret_names
from core.llm.prompts import Prompt, parse_prompt
from core.llm.reaching import normal_url
from core.runs.asked import OPENAI_KEY, Asked, ModelSettings, ask, fields_named
from core.runs.judging import bench_of, metrics_of
from core.runs.kinds import KINDS, kinds_that
from core.schema.runs import Kind
from core.schema.scores import Metric, RatedSet, ScoreTable
from core.schema.settings import SettingField, Settings, SettingsError, fields_of, worded
from core.stats.calibration import Method, calibrated
from core.tables.containers import decode_utf8
from core.tables.reading import parse_json, shown
from core.yaml_fields import (
    LARGEST_FILE,
    Strict,
    Text,
    dumped,
    place_of,
    read_yaml,
    refuse,
    text_of,
    value_problem,
)

VERSION = 1
"""Of the file's form."""
_CALLED = "Judge file"
_NOT_IN_FILES = ("headers",)
"""Fields of the model that a file never has: a stranger's file must not send a variable of this machine to a server."""
_RUNS_CODE = ("trust_remote_code",)
"""Arguments of the engine that a file never has: they run code that comes with a model."""
_KEY = regex.compile(
    r"\bsk-(?=[\w-]*\d)[\w-]{20,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{36}|\bhf_\w{30,}|\bAIza[\w-]{35}"
    r"|\bxox[abprs]-[\w-]{10,}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
"""Forms of the keys of model servers and clouds, which a prompt or a field of a request may hold by mistake."""
Place = Callable[..., str]
"""Keys that lead to a value -> the value's line and name."""
Verdict = Literal["TRUSTED", "NOT TRUSTED", "INCONCLUSIVE"]


class ScoreMap(Strict):
    """A map from one of the judge's columns to the people's scale, as `calibrate` fits it."""

    metric: Text
    """The column that it maps."""
    method: Method
    knots: list[list[float]]
    """(judge's score, people's score), ascending; linear in between, constant beyond."""
    ratings: Text
    """The ratings to which it was fitted."""
    n: int
    """Texts behind it."""


class Bounds(Strict):
    """A number with its interval."""

    estimate: float | None
    low: float | None
    high: float | None


class Limits(Strict):
    """What the last check of the judge found. A later reader sees it before the judge runs."""

    date: Text
    use: Text
    verdict: Verdict
    n_items: int
    measure: Text | None = None
    agreement: Bounds
    not_trusted: list[Text] = Field(default_factory=list)
    """Groups in which the judge fails, such as `language=de`."""

    @property
    def said(self) -> str:
        """The check in one sentence."""
        found = self.agreement
        width = "" if found.low is None or found.high is None else f" [{found.low:.3f}, {found.high:.3f}]"
        agreed = (
            "" if found.estimate is None else f", {self.measure or 'agreement'} {found.estimate:.3f}{width}"
        )
        where = f"; not trusted for {', '.join(map(shown, self.not_trusted))}" if self.not_trusted else ""
        return (
            f"checked on {self.date} for {self.use}: {self.verdict} on {self.n_items:,} items{agreed}{where}"
        )


class _PromptPart(Strict):
    purpose: Text
    name: Text
    sha256: Text
    text: str


class _Attached(Strict):
    what: Text
    sha256: Text
    text: str


class _Fields(Strict):
    """Contents of a judge's file."""

    assay_judge: Literal[1]
    kind: Text
    name: Text | None = None
    app_version: Text
    exported: Text
    settings: dict[str, Any]
    model: dict[str, Any]
    prompts: list[_PromptPart] = Field(default_factory=list)
    attached: _Attached | None = None
    maps: list[ScoreMap] = Field(default_factory=list)
    limits: Limits | None = None
    signatures: dict[str, Text] = Field(default_factory=dict)


@dataclass(frozen=True)
class JudgeFile:
    """A judge that was read from a file, or that is to be written to one."""

    request: Asked
    """The request, as a run would store it."""
    maps: tuple[ScoreMap, ...] = ()
    limits: Limits | None = None
    signatures: Mapping[str, str] | None = None
    """Column -> signature at the export; None: that of today."""
    exported: str = ""
    """Date of the export."""
    app_version: str = __version__
    edited: tuple[str, ...] = ()
    """What was changed after the export, a sentence each."""

    @property
    def kind(self) -> JudgeKind:
        """The judge's kind."""
        assert isinstance(self.request.kind, JudgeKind)
        return self.request.kind

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know before the judge runs: where texts go, the judge's limits, edits, what the file lacks."""
        chosen, model = self.request.settings, self.request.model
        lines = [f"texts are sent to {shown(model.model)} at {model.base_url}"] if model.base_url else []
        lines += [] if self.limits is None else [self.limits.said]
        lines += self.edited
        if isinstance(chosen, JudgeSettings) and chosen.shows_examples:
            lines.append(
                "the judge's examples are not in the file: it takes them from the ratings of the texts"
            )
        return tuple(lines)


def judge_file(
    request: Asked, *, maps: Sequence[ScoreMap] = (), limits: Limits | None = None, name: str = ""
) -> JudgeFile:
    """The judge of a run, for export. name: for messages. Raises InputError if the run has no judge that scores texts."""
    if not isinstance(request.kind, JudgeKind):
        known = ", ".join(one.name for one in kinds_that("judging"))
        raise InputError(
            f"{name or 'The run'} is of the kind {request.kind.name}; choose a run of a judge: {known}."
        )
    return JudgeFile(request, tuple(maps), limits, exported=datetime.now(UTC).date().isoformat())


def write_judge(judge: JudgeFile) -> bytes:
    """The judge as a YAML file; `read_judge` reads it back.

    Headers are left out: they change no score, and may hold a key or name its variable. Raises InputError if a setting
    contains a secret, or if the file would be too large to read.
    """
    asked, backend = judge.request, judge.request.model.backend
    own = _dumped(asked.settings, asked.settings.ignored(backend))
    of_model = _dumped(asked.model, asked.model.ignored(backend))
    for name, one in CallSettings.model_fields.items():
        if getattr(asked.model, name) == one.default:
            of_model.pop(name, None)
    if not asked.model.adapter:
        of_model.pop("adapter", None)
    for name in _NOT_IN_FILES:
        of_model.pop(name, None)
    if engine := of_model.pop("engine", None):
        of_model["engine"] = {name: value for name, value in engine.items() if name not in _RUNS_CODE}
    problems = [f"{name} is a secret" for place in of_model.values() for name in secret_names(place)]
    if url := of_model.get("base_url"):
        of_model["base_url"] = normal_url(url)
    fields: dict[str, Any] = {"assay_judge": VERSION, "kind": asked.kind.name}
    fields |= {"name": asked.name} if asked.name else {}
    fields |= {"app_version": judge.app_version, "exported": judge.exported}
    fields |= {"settings": own, "model": of_model}
    if prompts := asked.prompts_read:
        fields["prompts"] = [
            {"purpose": purpose, "name": one.name, "sha256": one.sha256, "text": asked.prompts[purpose]}
            for purpose, one in sorted(prompts.items())
        ]
    if (file := asked.kind.attachment) is not None:
        text = asked.attached
        fields["attached"] = {"what": file.option, "sha256": file.sha256(text), "text": text}
    if judge.maps:
        fields["maps"] = [one.model_dump() for one in judge.maps]
    if judge.limits is not None:
        fields["limits"] = judge.limits.model_dump()
    fields["signatures"] = dict(judge.signatures or _signatures(asked))
    text = dumped(fields)
    if any(value and value in text for value in _secrets(asked.model)):
        problems.append("a setting contains the value of a key; put it in an environment variable")
    elif found := _KEY.search(text):
        start = found[0][:6]
        problems.append(f"a text that begins with {start} looks like a key; leave it out")
    if len(text.encode()) > LARGEST_FILE:
        problems.append(f"the file would be larger than {LARGEST_FILE // 1000} kB")
    if problems:
        raise InputError("The judge cannot be exported", problems)
    return text.encode()


def _dumped(settings: Settings, without: frozenset[str]) -> dict[str, Any]:
    return settings.model_dump(mode="json", exclude=set(without))


def _secrets(model: ModelSettings) -> Iterator[str]:
    """Values of the environment's keys that this judge may send."""
    names = {value.removeprefix(FROM_ENVIRONMENT) for value in model.headers.values()}
    yield from (os.environ.get(name, "").strip() for name in {OPENAI_KEY, *names})


def _signatures(request: Asked) -> dict[str, str]:
    """Column -> signature, as far as it does not depend on texts."""
    return {
        one.name: one.signature for one in metrics_of(request, bench_of(request, RatedSet((), "", ""), ""))
    }


def load_judge(path: Path) -> JudgeFile:
    """The judge in a file. Raises InputError with every problem and its place."""
    return read_judge(text_of(path, _CALLED), path.name)


def read_judge(text: str, file_name: str) -> JudgeFile:
    """The judge in a file's text. Raises InputError with every problem and its place."""
    read = read_yaml(text)
    problems = list(read.problems)
    if read.values is None:
        refuse(f"{_CALLED} {file_name}", problems)

    def place(*keys: str | int) -> str:
        return place_of(read.lines, tuple(str(one + 1) if isinstance(one, int) else one for one in keys))

    fields, broken = _checked(read.values, problems, place)
    kind = KINDS.get(fields.kind)
    if not isinstance(kind, JudgeKind):
        if "kind" not in broken:
            known = ", ".join(one.name for one in kinds_that("judging"))
            problems.append(f"{place('kind')}: is {shown(fields.kind)}; possible: {known}")
        refuse(f"{_CALLED} {file_name}", problems)
    prompts: list[Prompt] = []
    edited = []
    for at, one in enumerate(fields.prompts):
        try:
            prompt = parse_prompt(one.text, f"{one.purpose}.yaml")
        except InputError as wrong:
            problems += wrong.under(place("prompts", at, "text"))
            broken.add("prompts")
            continue
        prompts.append(prompt)
        if prompt.sha256 != one.sha256:
            edited.append(f"prompt {shown(one.name)} ({prompt.purpose}) was edited after the export")
    attached = _attached(kind, fields, broken, problems, edited, place)
    problems += _unknown(fields.settings, kind.Settings, lambda name: place("settings", name))
    problems += _unknown(fields.model, ModelSettings, lambda name: place("model", name))
    engine = fields.model.get("engine")
    problems += [
        f"{place(*keys)}: is not allowed in a file; give it as an option"
        for keys in (
            *(("model", name) for name in _NOT_IN_FILES if name in fields.model),
            *(
                ("model", "engine", name)
                for name in _RUNS_CODE
                if isinstance(engine, dict) and name in engine
            ),
        )
    ]
    asked = None
    if not broken & {"settings", "model"}:
        # With a problem in the rubric, the shipped one stands in, so that problems of the settings are found, too.
        usual = "" if kind.attachment is None else kind.attachment.find(kind.attachment.usual)
        try:
            asked, _ = ask(
                kind,
                _tuples(fields.settings),
                _tuples(fields.model),
                {},
                name=fields.name or "",
                attached=attached or usual,
                prompts=prompts,
            )
        except SettingsError as wrong:
            problems += _settings_problems(wrong, kind, place)
        else:
            if "prompts" not in broken:
                given = {one.purpose for one in prompts}
                problems += [
                    f"{place('prompts')}: lacks the prompt for {purpose}"
                    for purpose in asked.prompts
                    if purpose not in given
                ]
    now = _signatures(asked) if asked is not None and not problems else {}
    if now and fields.signatures and len(now) != len(fields.signatures):
        n = "1 column" if len(now) == 1 else f"{len(now)} columns"
        problems.append(f"{place('signatures')}: has {len(fields.signatures)}, but the judge has {n}")
    problems += [
        f"{place('maps', at)}: {problem}"
        for at, one in enumerate(fields.maps)
        for problem in _map_problems(one, fields.signatures or now)
    ]
    if problems or asked is None:
        refuse(f"{_CALLED} {file_name}", problems)
    if not edited and fields.signatures and now != fields.signatures:
        changed = next((new for name, new in now.items() if fields.signatures.get(name) != new), "")
        edited.append(
            f"settings or model were edited after the export, or Assay {fields.app_version} signed them in another way: "
            f"the signature is now {changed}"
        )
    return JudgeFile(
        asked,
        tuple(fields.maps),
        fields.limits,
        fields.signatures or None,
        fields.exported,
        fields.app_version,
        tuple(edited),
    )


def _checked(raw: Mapping[str, object], problems: list[str], place: Place) -> tuple[_Fields, set[str]]:
    """The fields, with stand-ins for top fields that have problems, and the names of those."""
    broken: set[str] = set()
    try:
        return _Fields.model_validate(dict(raw)), broken
    except ValidationError as wrong:
        for error in wrong.errors():
            broken.add(str(error["loc"][0]))
            problems.append(f"{place(*error['loc'])}: {_sentence(error)}")
    usual: dict[str, Any] = {"assay_judge": VERSION, "kind": "?", "app_version": "?", "exported": "?"}
    usual |= {"settings": {}, "model": {}}
    good = {name: value for name, value in raw.items() if name not in broken}
    return _Fields.model_validate({**usual, **good}), broken


def _sentence(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        models: dict[str | int, type[Strict]] = {
            "prompts": _PromptPart,
            "attached": _Attached,
            "maps": ScoreMap,
            "limits": Bounds if "agreement" in error["loc"][1:2] else Limits,
        }
        model = models[error["loc"][0]] if len(error["loc"]) > 1 else _Fields
        return f"is not a field of a judge file; the fields are {', '.join(model.model_fields)}"
    return value_problem(error)


def _attached(
    kind: Kind, fields: _Fields, broken: set[str], problems: list[str], edited: list[str], place: Place
) -> str:
    """The text of the rubric or task; empty if there is none or it has problems."""
    one, file = fields.attached, kind.attachment
    if file is None:
        if one is not None:
            problems.append(f"{place('attached')}: {kind.name} refers to no file; leave the field out")
        return ""
    if "attached" in broken:
        return ""
    if one is None:
        problems.append(f"attached: is missing; {kind.name} needs its {file.option}")
        return ""
    try:
        file.read(one.text, f"{file.option}.yaml")
    except InputError as wrong:
        problems += wrong.under(place("attached", "text"))
        return ""
    if file.sha256(one.text) != one.sha256:
        edited.append(f"the {file.option} was edited after the export")
    return one.text


def _unknown(given: Mapping[str, Any], model: type[Settings], place: Place) -> Iterator[str]:
    """Names that are no setting; pydantic would ignore them."""
    for name in given:
        if name not in model.model_fields:
            near = nearest_names(name, model.model_fields)
            meant = f"; did you mean {' or '.join(near)}?" if near else ""
            yield f"{place(name)}: unknown setting{meant}"


def _tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    """YAML has lists where settings have tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def _settings_problems(wrong: SettingsError, kind: Kind, place: Place) -> Iterator[str]:
    fields = {**fields_of(ModelSettings), **fields_named(kind)}

    def word(field: SettingField, value: str | None) -> str:
        return field.name if value is None else f"{field.name}: {value}"

    for one in wrong.found_in:
        group = "settings" if one.name in kind.Settings.model_fields else "model"
        keys = (
            (group, one.name)
            if one.name in {*fields_of(ModelSettings), *kind.Settings.model_fields}
            else ("prompts" if one.name == "prompt" else one.name,)
        )
        yield f"{place(*keys)}: {worded(one.text, fields, word, one.values)}"


def _map_problems(one: ScoreMap, signatures: Mapping[str, str]) -> Iterator[str]:
    if not one.knots or any(len(knot) != 2 or not all(map(math.isfinite, knot)) for knot in one.knots):
        yield "knots: expected pairs of numbers, [judge's score, people's score]"
    elif any(after[0] <= before[0] for before, after in zip(one.knots, one.knots[1:], strict=False)):
        yield "knots: the judge's scores must ascend"
    if signatures and one.metric not in signatures:
        yield f"metric: {shown(one.metric)} is not one of {', '.join(map(shown, signatures))}"


def ask_as(
    judge: JudgeFile,
    values: Mapping[str, object],
    model: Mapping[str, object],
    running: Mapping[str, object],
    *,
    name: str = "",
    attached: str = "",
    prompts: Sequence[Prompt] = (),
) -> tuple[Asked, Any]:
    """The judge of a file, with the given values in place of the file's. Parameters, returns and errors as `ask`.

    A value of the file that the given ones make useless is dropped, and so is a prompt that the changed judge does not send.
    """
    asked, kind = judge.request, judge.kind
    backend = str(model.get("backend") or asked.model.backend)
    own = _heeding(asked.settings, values, backend)
    of_model = _heeding(asked.model, model, backend)
    wanted = kind.Settings.read(own, [])
    kept: list[Prompt] = []
    if wanted is not None:
        for slot in wanted.prompts(by_rules=backend == "rules"):
            if not any(slot.fits(one.purpose, one.task) for one in prompts):
                kept += [one for one in asked.prompts_read.values() if slot.fits(one.purpose, one.task)][:1]
    return ask(
        kind,
        own,
        of_model,
        running,
        name=name or asked.name,
        attached=attached or asked.attached,
        prompts=[*prompts, *kept],
    )


def _heeding(kept: Settings, values: Mapping[str, object], backend: str) -> dict[str, Any]:
    """The kept values with the given ones in their place, without kept values that have no effect then."""
    usual = type(kept).model_fields
    merged = {name: getattr(kept, name) for name in usual} | dict(values)
    found = type(kept).read(merged, [])
    useless = frozenset() if found is None else found.ignored(backend)
    return {name: value for name, value in merged.items() if name in values or name not in useless}


def differences(judge: JudgeFile, request: Asked) -> list[str]:
    """What a request changes of the judge in the file, a few words each, by field."""
    found = []
    for before, now in ((judge.request.settings, request.settings), (judge.request.model, request.model)):
        for name, one in fields_of(type(before)).items():
            old, new = getattr(before, name), getattr(now, name)
            if old != new and one.about.scored:
                found.append(f"{one.valued(new)} instead of {one.valued(old)}")
    hashes = [
        {purpose: prompt.sha256 for purpose, prompt in one.prompts_read.items()}
        for one in (judge.request, request)
    ]
    found += [
        f"prompt for {purpose}: {request.prompts_read[purpose].name}"
        for purpose, sha256 in hashes[1].items()
        if hashes[0].get(purpose) != sha256
    ]
    file = request.kind.attachment
    if file is not None and file.sha256(request.attached) != file.sha256(judge.request.attached):
        found.append(f"another {file.option}")
    return found


MAPPED = "mapped"
"""End of the name of a column of mapped scores."""


def mapped_scores(judge: JudgeFile, table: ScoreTable) -> tuple[ScoreTable, tuple[str, ...]]:
    """The scores of the judge's columns mapped to the people's scale, and notes. Raises InputError without a map.

    table: scores of a run of this judge. Its columns stand in the order of the file's signatures, whatever their names.
    Scores beyond the range of the fit get the map's end values; a note counts them.
    """
    if not judge.maps:
        raise InputError(
            "The judge's file has no map to the people's scale; fit one with `calibrate` and export it."
        )
    places = {name: at for at, name in enumerate(judge.signatures or _signatures(judge.request))}
    reasons: dict[tuple[int, int], str] = {}
    metrics, columns, notes = [], [], []
    for number, one in enumerate(judge.maps):
        at = places[one.metric]
        metric, scores = table.metrics[at], table.values[:, at]
        knots = tuple((knot[0], knot[1]) for knot in one.knots)
        mapped = Metric(
            f"{metric.name}-{MAPPED}", f"{metric.signature}|map:{one.method}|map-n:{one.n}", metric.family
        )
        metrics.append(mapped)
        columns.append(calibrated(knots, scores))
        reasons |= {(row, number): why for (row, own), why in table.reasons.items() if own == at}
        outside = int(((scores < knots[0][0]) | (scores > knots[-1][0])).sum())
        notes.append(
            f"{shown(mapped.name)}: {one.method} map fitted to {one.n:,} texts of {shown(one.ratings)}"
            + (f"; {outside:,} scores lie beyond it and get its end values" if outside else "")
        )
    values = np.column_stack(columns)
    return replace(table, metrics=tuple(metrics), values=values, reasons=reasons), tuple(notes)


def maps_in(data: bytes, file_name: str, judge: Asked) -> tuple[ScoreMap, ...]:
    """The maps of the judge's columns in the JSON of `calibrate --map`. Raises InputError if there is none, or two for one."""
    value = _json(data, file_name)
    listed = value.get("evaluators", [value]) if isinstance(value, dict) else value
    names = _signatures(judge)
    found: dict[str, list[ScoreMap]] = {}
    for one in listed if isinstance(listed, list) else []:
        maps = one.get("maps") if isinstance(one, dict) else None
        for dimension, map_ in (maps if isinstance(maps, dict) else {}).items():
            evaluator = str(one.get("evaluator"))
            metric = next((name for name in (f"{evaluator}-{dimension}", evaluator) if name in names), None)
            if metric is None or not isinstance(map_, dict) or not map_.get("knots"):
                continue
            try:
                read = ScoreMap.model_validate(
                    {"metric": metric, "ratings": str(one.get("ratings"))}
                    | {name: map_.get(name) for name in ("method", "knots", "n")}
                )
            except ValidationError:
                raise InputError(
                    f"{shown(file_name)}: the map of {shown(metric)} is not one of `calibrate`."
                ) from None
            found.setdefault(metric, []).append(read)
    if not found:
        raise InputError(
            f"{shown(file_name)} has no map of {', '.join(map(shown, names))}; expected the JSON of `calibrate` with a map."
        )
    if twice := [name for name, own in found.items() if len(own) > 1]:
        raise InputError(
            f"{shown(file_name)} has several maps of {', '.join(map(shown, twice))}; calibrate one dimension."
        )
    if wrong := [problem for own in found.values() for problem in _map_problems(own[0], names)]:
        raise InputError(f"{shown(file_name)} has a map that cannot be used", wrong)
    return tuple(own[0] for own in found.values())


def limits_in(data: bytes, file_name: str, judge: Asked, *, date: str) -> Limits:
    """What the JSON of a check found for the judge, by the name of its column. Raises InputError if it has no such judge.

    date: of the check, where the JSON has none.
    """
    value = _json(data, file_name)
    judges = value.get("judges") if isinstance(value, dict) else None
    if not isinstance(judges, list) or not all(isinstance(one, dict) for one in judges):
        raise InputError(f"{shown(file_name)} is not the JSON of `check`.")
    names = [*_signatures(judge), judge.called]
    own = [one for one in judges if one.get("name") in names] or (judges if len(judges) == 1 else [])
    if len(own) != 1:
        found = ", ".join(shown(str(one.get("name"))) for one in judges) or "none"
        raise InputError(
            f"{shown(file_name)}: its judges are {found}; expected one of {', '.join(map(shown, names))}."
        )
    one = own[0]
    agreement = one.get("agreement")
    groups = one.get("groups")
    try:
        return Limits.model_validate(
            {
                "date": value.get("date") or date,
                "use": value.get("use"),
                "verdict": one.get("verdict"),
                "n_items": one.get("n_items"),
                "measure": one.get("measure"),
                "agreement": {
                    name: agreement.get(name) if isinstance(agreement, dict) else None
                    for name in Bounds.model_fields
                },
                "not_trusted": _failing(groups if isinstance(groups, list) else []),
            }
        )
    except ValidationError as wrong:
        problems = [
            f"{', '.join(map(str, error['loc']))}: {value_problem(error)}" for error in wrong.errors()
        ]
        raise InputError(f"{shown(file_name)} is not the JSON of `check`", problems) from None


def _failing(groups: Sequence[object]) -> list[str]:
    """The groups in which the judge is shown to fail."""
    return [
        f"{one.get('column')}={one.get('value')}"
        for one in groups
        if isinstance(one, dict) and one.get("fails")
    ]


def left_out_of_file(judge: JudgeFile) -> list[str]:
    """What the judge's run used and its file does not contain, a sentence each."""
    model = judge.request.model
    lines = [f"{name} are not in the file; give them again" for name in _NOT_IN_FILES if getattr(model, name)]
    lines += [f"{name} is not in the file; give it again" for name in _RUNS_CODE if name in model.engine]
    return lines


def _json(data: bytes, file_name: str) -> Any:
    value, problem = parse_json(decode_utf8(data, file_name))
    if problem is not None:
        raise InputError(f"{shown(file_name)} is not JSON: {problem}")
    return value

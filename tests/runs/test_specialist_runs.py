"""Whole runs of the judges that stand on ratings: what is judged, by which examples, what is kept, what it cost."""

import json
import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.processes.scripted_server import Body, Said, ScriptedServer, error
from helpers.texts.judge_runs import RUNNING, create_told, in_folder, named, rows_of, run_to_the_end, worked
from helpers.texts.slips import SYSTEMS, rated, rated_texts, text_of
from helpers.texts.specialist_runs import parrot, says, specialist

from core.formats.rated import write_rated
from core.judges.automqm import AutoMqmRecord
from core.judges.direct import DirectRecord
from core.judges.quality import HELD_OUT, QualityRecord
from core.judges.rated import NOT_JUDGED
from core.runs.asked import Running
from core.runs.jobs import RunAtHand
from core.runs.judging import judge_output, judged_among
from core.runs.kinds import KINDS
from core.runs.path import create, find_same, resume
from core.runs.progress import progress_of
from core.runs.records import read_judge_folder
from core.runs.scoring import score_table
from core.schema.scores import JudgedText, RatedText, Rating, RatingSet
from core.schema.settings import SettingsError
from core.sources.texts import rated_of_folder, rated_of_texts
from core.store import Store

N_ITEMS = 6


def n_slips(text: JudgedText) -> int:
    return text.text.count("slip")


SCORES = {
    "automqm": lambda n: {"automqm-tiny": -5.0 * n},
    "direct": lambda n: {"direct-tiny": 100.0 - 10 * n},
    "quality": lambda n: (
        {f"quality-tiny-{name}": 2.0 - n for name in ("LA", "OCQ", "TQ")}
        | {f"quality-tiny-{name}": float(not n) for name in ("PC", "H")}
    ),
}
CALLS = {
    "automqm": {"mark errors": 1},
    "direct": {"direct": 1},
    "quality": {f"quality: {name}": 1 for name in ("LA", "OCQ", "TQ", "PC", "H")},
}
"""Of one text."""
SLOW_KINDS = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("direct", "quality")]


@pytest.mark.parametrize("kind", ["automqm", "quality", pytest.param("direct", marks=pytest.mark.slow)])
def test_every_text_is_scored_by_what_the_model_said_of_it(kind: Any, store: Store, tmp_path: Path) -> None:
    with ScriptedServer(says) as server:
        run = run_to_the_end(store, specialist(kind, server.url), rated_texts(N_ITEMS), name="mills.jsonl")
        assert find_same(store, rated_texts(N_ITEMS), specialist(kind, server.url)).run == run.run
    progress = progress_of(store, run.run.run_id)
    assert (run.run.state, run.run.message, progress.n_done, progress.failures) == ("done", "", N_ITEMS, {})
    output = judge_output(run)
    assert len(output.texts) == N_ITEMS * len(SYSTEMS)
    for text in output.texts:
        assert dict(text.scores) == SCORES[kind](n_slips(text)), text.row
        assert text.document == text.question == f"Über die Mühle {text.row.item_id}."
    assert {cost.step: cost.calls for cost in progress.costs} == {
        step: n * len(output.texts) for step, n in CALLS[kind].items()
    }
    assert (run.path.maker(run.request), run.request.environment, run.request.seed) == (
        f"{kind}-tiny",
        "base",
        0,
    )
    table = score_table(run)
    assert [metric.direction for metric in table.metrics] == ["higher"] * len(SCORES[kind](0))
    folder = in_folder(run, tmp_path / "out")
    assert read_judge_folder(folder) == output, "the folder holds all that the run holds"
    details = rows_of(folder / "details.csv")
    assert (
        Counter(row["what"] for row in details)
        == {
            "automqm": {"error": 24, "no error": 8},
            "direct": {"score": 24},
            "quality": {"score": 5 * 24},
        }[kind]
    )


def test_errors_stand_in_the_table_where_they_stand_in_the_text(store: Store, tmp_path: Path) -> None:
    with ScriptedServer(says) as server:
        run = run_to_the_end(store, specialist("automqm", server.url), rated_texts(2))
    rows = [row for row in rows_of(in_folder(run, tmp_path / "out") / "details.csv") if row["quote"]]
    assert rows
    for row in rows:
        text = text_of(int(row["item"]), row["system"])
        assert text[int(row["start"]) : int(row["end"])] == row["quote"]
        assert (row["severity"], row["located"], row["examples"]) == ("major", "exact", "3")


def test_systems_that_are_not_judged_give_examples_only(store: Store) -> None:
    with ScriptedServer(says) as server:
        settings = specialist("automqm", server.url, only=("B",), rater="r3")
        run, notes = create_told(store, rated_texts(N_ITEMS), "m.jsonl", settings, RUNNING)
        worked(run)
    assert settings.called == "automqm-r3-tiny"
    assert any(note.startswith(NOT_JUDGED.format(n=18)) for note in notes)
    assert any(note.startswith("6 of the 6 texts") for note in notes)
    assert {text.output.system for text in judged_among(run)} == {"B"}
    assert sum(run.path.left_out(run).values()) == 18
    assert len(run.contents.texts) == 24
    texts = judge_output(run).texts
    assert [text.row.system for text in texts] == ["B"] * N_ITEMS
    for text in texts:
        assert isinstance(text.record, AutoMqmRecord)
        (trial,) = text.record.trials
        assert [(one.item_id, one.system, one.rater) for one in trial.examples] == [
            (text.row.item_id, system, "r3") for system in "ACD"
        ]
    asked = server.asked[0].body["messages"]
    shown = [json.loads(turn["content"]) for turn in asked if turn["role"] == "assistant"]
    assert len(shown) == 3
    assert {one["severity"] for turn in shown for one in turn["errors"]} == {"minor"}, "as r3 has it"


def test_items_without_a_text_of_the_judged_systems_are_no_items_of_the_run(store: Store) -> None:
    texts = write_rated(rated(item, system) for item in range(4) for system in "ABC" if item or system != "B")
    run = run_to_the_end(store, parrot(only=("B",)), texts)
    assert (run.run.state, run.run.n_items, progress_of(store, run.run.run_id).n_done) == ("done", 3, 3)
    assert [(one.row.item_id, one.row.system) for one in judge_output(run).texts] == [
        ("1", "B"),
        ("2", "B"),
        ("3", "B"),
    ]


def test_ratings_that_cannot_be_used_are_named_in_the_words_of_the_door(tmp_path: Path) -> None:
    bare = write_rated([rated(1, "A", raters=())])
    for data, apart in ((rated_texts(1), []), (bare, [RatingSet((Rating("9", 1.0),), "", "r.csv")])):
        with pytest.raises(SettingsError) as refused:
            rated_of_texts(data, "{ratings}.jsonl", lambda _, apart=apart: apart)
        (problem, *_) = refused.value.found_in
        assert problem.name == "ratings"
        assert "--" not in str(refused.value)
        assert "{ratings}.jsonl" in str(refused.value)


def test_what_a_text_s_own_raters_said_is_never_shown(store: Store) -> None:
    with ScriptedServer(says) as server:
        run_to_the_end(store, specialist("automqm", server.url), rated_texts(N_ITEMS))
        run_to_the_end(store, specialist("direct", server.url), rated_texts(N_ITEMS))
    for one in server.asked:
        turns = [str(turn["content"]) for turn in one.body["messages"]]
        asked = [turn for turn in turns if "so on, " in turn]
        (judged,) = re.findall(r"so on, (\w)", asked[-1])
        examples = re.findall(r"so on, (\w)", "".join(asked[:-1]))
        assert sorted([judged, *examples]) == list(SYSTEMS)


def test_repeats_draw_anew_and_the_score_is_their_mean(store: Store) -> None:
    chosen = parrot(examples="shuffled", n_examples=2, repeats=3, seed=7)
    run = run_to_the_end(store, chosen, rated_texts(N_ITEMS))
    assert (run.path.maker(run.request), run.request.seed) == ("parrot-shuffled-2-examples", 7)
    output = judge_output(run)
    drawn: set[tuple[object, ...]] = set()
    for text in output.texts:
        assert isinstance(text.record, AutoMqmRecord)
        assert [trial.repeat for trial in text.record.trials] == [0, 1, 2]
        for trial in text.record.trials:
            used = tuple((one.item_id, one.system) for one in trial.examples)
            assert len(used) == 2
            assert text.row.system not in {system for _, system in used}
            drawn.add((text.row, trial.repeat, used)[2:])
    assert len(drawn) > N_ITEMS, "other examples for other seeds"
    assert "seed:7" in output.metrics[0].signature


def test_the_parrot_asks_nobody_and_copies_what_it_was_shown(store: Store) -> None:
    texts = [rated(0, "A"), rated(0, "B"), rated(0, "C")]
    twice = f"{texts[2].output.text} And again {texts[2].output.text}"
    texts[0] = replace(texts[0], output=replace(texts[0].output, text=twice), ratings=())
    run = run_to_the_end(store, parrot(only=("A",), rater="r1"), write_rated(texts))
    (text,) = judge_output(run).texts
    # C has two slips, each a major error; they stand twice in the text.
    assert dict(text.scores) == {"parrot-r1": -20.0}
    assert progress_of(store, run.run.run_id).costs == []


def test_held_out_items_have_rows_without_a_score(store: Store) -> None:
    with ScriptedServer(says) as server:
        settings = specialist("quality", server.url, prompting="compound", shots=1, held_out=0.34)
        run = run_to_the_end(store, settings, rated_texts(N_ITEMS))
    output = judge_output(run)
    assert output.name == "quality-compound-1-shot-tiny"
    held = {text.row.item_id for text in output.texts if HELD_OUT in text.reasons.values()}
    assert len(held) == 2
    assert len(output.texts) == 24
    for text in output.texts:
        if text.row.item_id in held:
            assert text.record is None
            assert set(text.reasons.values()) == {HELD_OUT}
        else:
            assert isinstance(text.record, QualityRecord)
            assert {one.item_id for one in text.record.examples} <= held
            assert text.record.examples
    assert len(server.asked) <= 16


def failing(body: Body, n: int) -> Said | str:
    """Item 1 gets nonsense, item 2 meets a server out of order."""
    asked = str(body["messages"][-1]["content"]) + str(body["messages"][-3:][0]["content"])
    if "Mühle 1." in asked:
        return Said("I would rather not say.")
    if "Mühle 2." in asked:
        return error(500, "out of order")
    return says(body, n)


@pytest.mark.parametrize("kind", ["automqm", *SLOW_KINDS])
def test_what_fails_has_a_reason_and_costs_nothing_else(kind: Any, store: Store, tmp_path: Path) -> None:
    with ScriptedServer(failing) as server:
        run = run_to_the_end(store, specialist(kind, server.url, attempts=2), rated_texts(4))
        assert run.run.state == "stopped"
        for text in judge_output(run).texts:
            fails = text.row.item_id in ("1", "2")
            assert all((score is None) == fails for score in text.scores.values())
            assert set(text.reasons) == (set(text.scores) if fails else set())
        assert read_judge_folder(in_folder(run, tmp_path / "out")) == judge_output(run)
        server.script = says  # the line is mended
        run = resumed(run)
    assert run.run.state == "done"
    texts = judge_output(run).texts
    assert {text.row.item_id for text in texts if text.reasons} == {"1"}


def resumed(run: RunAtHand) -> RunAtHand:
    return worked(resume(run, RUNNING, None))


def test_a_run_of_the_first_items_goes_on_with_the_others(store: Store) -> None:
    with ScriptedServer(says) as server:
        run = run_to_the_end(store, specialist("direct", server.url), rated_texts(N_ITEMS), limit=2)
        assert len(judge_output(run).texts) == 8
        asked = len(server.asked)
        resume(run, None, None)
        worked(run)
        assert len(server.asked) <= asked + 16, "the first are not asked again"
    texts = judge_output(run).texts
    assert len(texts) == 24
    assert all(isinstance(text.record, DirectRecord) for text in texts)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (
            "automqm",
            {"backend": "rules", "examples": "none"},
            "examples: with none, the Parrot",
        ),
        ("direct", {"backend": "rules"}, "backend: this judge cannot work with rules"),
        ("quality", {"backend": "rules"}, "backend: this judge cannot work with rules"),
        ("automqm", {"examples": "none", "n_examples": 3}, "n_examples: has no effect"),
        ("automqm", {"examples": "none", "filtered": True}, "filtered: has no effect"),
        ("direct", {"examples": "none", "rater": "r1"}, "rater: has no effect"),
        ("automqm", {"examples": "mixed"}, "examples: 'mixed' is not one of specialist"),
        ("automqm", {"occurrences": "last"}, "occurrences: 'last' is not one"),
        ("quality", {"majority": "most"}, "majority: 'most' is not one"),
        ("quality", {"shots": 2, "held_out": 0.0}, "held_out: 0 holds out no items"),
        ("quality", {"shots": 21}, "shots: 21 is not between 0 and 20"),
        ("automqm", {"task": "direct"}, "task: direct does not ask for marked errors"),
        ("direct", {"task": "mqm"}, "task: mqm has no dimension"),
        ("quality", {"task": "mqm"}, "task: mqm has no dimension"),
        (
            "direct",
            {"dimension": "style"},
            "dimension: style is not a dimension of the task direct; choose from overall",
        ),
        (
            "automqm",
            {"only": ("E",)},
            "only: E has no text in the file; choose from A, B, C, D",
        ),
        (
            "automqm",
            {"rater": "r9"},
            "rater: r9 gave no such ratings in the file; choose from r1",
        ),
        ("direct", {"only": ("E",), "rater": "r9"}, "rater: r9 gave no such"),
    ],
)
def test_what_cannot_be_is_refused_before_it_costs_anything(
    kind: Any, fields: dict[str, Any], said: str, store: Store
) -> None:
    with pytest.raises(SettingsError) as refused:
        create(store, rated_texts(2), "m.jsonl", specialist(kind, "http://127.0.0.1:1/v1", **fields), RUNNING)
    assert any(problem.startswith(said) for problem in named(refused.value)), named(refused.value)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("automqm", {}, "examples: nobody marked errors in a text: add ratings"),
        ("direct", {}, "examples: nobody rated overall on the task's scale"),
        ("quality", {"shots": 1}, "shots: nobody rated LA, OCQ, TQ, PC, H"),
    ],
)
def test_examples_need_ratings(kind: Any, fields: dict[str, Any], said: str, store: Store) -> None:
    chosen = specialist(kind, "http://127.0.0.1:1/v1", **fields)
    with pytest.raises(SettingsError) as refused:
        create(store, rated_texts(2, ()), "m.jsonl", chosen, RUNNING)
    (problem,) = named(refused.value)
    assert problem.startswith(said)


def test_ratings_off_the_scale_are_told_from_none(store: Store) -> None:
    """`overall` that is minus the weights of errors, as some files have it."""
    texts = [rated(item, system) for item in range(2) for system in SYSTEMS]
    weighed = [
        replace(
            one, ratings=tuple(replace(r, dimension="overall") for r in one.ratings if r.spans is not None)
        )
        for one in texts
    ]
    chosen = specialist("direct", "http://127.0.0.1:1/v1")
    with pytest.raises(SettingsError) as refused:
        create(store, write_rated(weighed), "m.jsonl", chosen, RUNNING)
    (problem,) = named(refused.value)
    assert problem.startswith("examples: nobody rated overall")
    assert "24 ratings of overall" in problem
    assert "-10 to 0" in problem


@pytest.mark.parametrize("kind", ["automqm", *SLOW_KINDS])
def test_without_examples_texts_need_no_ratings(kind: Any, store: Store) -> None:
    none = {"examples": "none"} if "examples" in KINDS[kind].Settings.model_fields else {}
    plain = b"item_id,system,text\n1,A,One slipA1x0.\n1,B,Two.\n1,C,\n"
    with ScriptedServer(says) as server:
        run = run_to_the_end(store, specialist(kind, server.url, **none), plain, name="plain.csv")
    assert run.path.left_out(run) == {"no text": 1}
    texts = judge_output(run).texts
    assert [next(iter(text.scores.values())) for text in texts] == {
        "automqm": [-5, 0],
        "direct": [90, 100],
        "quality": [1, 2],
    }[kind]


def test_a_lone_system_has_nobody_to_learn_from(store: Store) -> None:
    with pytest.raises(SettingsError) as refused:
        create(store, write_rated([rated(0, "A"), rated(1, "A")]), "m.jsonl", parrot(), RUNNING)
    (problem,) = named(refused.value)
    assert problem.startswith("examples: no text to be judged has another system's rated text")


def test_items_are_left_to_judge(store: Store) -> None:
    chosen = specialist("quality", "http://127.0.0.1:1/v1", shots=1, held_out=0.4)
    with pytest.raises(SettingsError) as refused:
        create(store, rated_texts(1), "m.jsonl", chosen, RUNNING)
    (problem,) = named(refused.value)
    assert problem.startswith("shots: no task and language has two rated items")
    _, notes = create_told(store, rated_texts(5), "m.jsonl", chosen, RUNNING)
    assert any(note.startswith(f"2 of 5 items are {HELD_OUT}") for note in notes)


def with_severity(text: RatedText, severity: str) -> RatedText:
    """The text with all errors of this severity."""
    own = tuple(
        replace(one, spans=one.spans and tuple(replace(span, severity=severity) for span in one.spans))
        for one in text.ratings
    )
    return replace(text, ratings=own)


@pytest.mark.parametrize("by_rules", [False, True])
def test_errors_of_severities_that_the_task_lacks_are_not_lost_in_silence(
    by_rules: bool, store: Store
) -> None:
    """Every example would be shown as a text without errors."""
    chosen = parrot() if by_rules else specialist("automqm", "http://127.0.0.1:1/v1")
    texts = [rated(item, system) for item in range(3) for system in SYSTEMS]
    high = write_rated(with_severity(one, "High") for one in texts)
    with pytest.raises(SettingsError) as refused:
        create(store, high, "m.jsonl", chosen, RUNNING)
    (problem,) = named(refused.value)
    assert problem.startswith("task: all errors marked in the file (High) have a severity")
    mixed = write_rated([with_severity(texts[1], "High"), *texts[:1], *texts[2:]])
    _, notes = create_told(store, mixed, "m.jsonl", chosen, RUNNING)
    (note,) = (note for note in notes if "(High)" in note)
    # Of each slip two raters say major, which stands once, and one minor; of the one slip of texts[1] all say High.
    n_errors = 2 * sum(one.output.text.count("slip") for one in texts) - 1
    assert note.startswith(f"1 of the {n_errors} errors marked in examples")


@pytest.mark.slow
def test_languages_and_classes_without_examples_are_named(store: Store) -> None:
    """The only item in sw is never held out for its own sake; with its English twin it may be."""
    texts = [rated(item, system) for item in range(8) for system in SYSTEMS]
    rare = [
        replace(
            one,
            output=replace(one.output, language="sw"),
            ratings=tuple(replace(rating, language="sw") for rating in one.ratings),
        )
        for one in texts
        if one.output.item_id == "0"
    ]
    file = write_rated([*rare, *texts])
    said = set()
    for seed in range(8):
        judge = specialist("quality", "http://127.0.0.1:1/v1", shots=1, seed=seed, held_out=0.3)
        _, notes = create_told(store, file, "m.jsonl", judge, RUNNING)
        gone = any("every item in sw is held out" in note for note in notes)
        bare = any(note.startswith("4 of the 28 texts to be judged get no examples") for note in notes)
        assert gone != bare
        said.add(gone)
    assert said == {True, False}
    one_class = write_rated(rated(item, "A") for item in (0, 3, 6))  # no slips: the highest class of all
    judge = specialist("quality", "http://127.0.0.1:1/v1", shots=1)
    _, notes = create_told(store, one_class, "m.jsonl", judge, RUNNING)
    assert [note.partition(": ")[2] for note in notes if "without an example" in note] == [
        "LA 0, 1; OCQ 0, 1; TQ 0, 1; PC 0; H 0"
    ]


def test_notes_say_what_a_run_will_not_show(store: Store) -> None:
    twice = parrot(repeats=2)
    _, notes = create_told(store, rated_texts(2), "m.jsonl", twice, RUNNING)
    assert any("2 repeats are useless" in note for note in notes)
    fixed = parrot(examples="fixed", repeats=2)
    _, notes = create_told(store, rated_texts(3, (None,)), "m.jsonl", fixed, RUNNING)
    assert any("name no rater" in note for note in notes)
    assert not any("are useless" in note for note in notes), "examples are drawn anew"


def test_signatures_hold_what_determines_the_scores(store: Store) -> None:
    with ScriptedServer(says) as server:
        run = run_to_the_end(store, specialist("direct", server.url), rated_texts(2))
        other = run_to_the_end(store, specialist("direct", server.url), rated_texts(3))
        alone = [
            run_to_the_end(store, specialist("direct", server.url, examples="none"), rated_texts(n))
            for n in (2, 3)
        ]
    (first,), (second,) = judge_output(run).metrics, judge_output(other).metrics
    for part in ("model:tiny", "prompt-direct:", "task:direct-", "examples:specialist", "dimension:overall"):
        assert f"|{part}" in first.signature
    assert f"|ratings:{run.run.data_sha256[:12]}|" in first.signature
    assert first.signature != second.signature, "other ratings, other examples"
    assert judge_output(alone[0]).metrics == judge_output(alone[1]).metrics
    assert run.request.called == "direct-tiny"


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("by_model", [False, True])
def test_the_whole_of_wmt23_is_judged(by_model: bool, store: Store, shared_data: Path) -> None:
    (data, name), notes = rated_of_folder(shared_data / "wmt23")
    assert any("5,520 ratings" in note for note in notes)
    rated_only = b"".join(line for line in data.splitlines(keepends=True) if b'"ratings": []' not in line)
    began = time.monotonic()
    with ScriptedServer(lambda body, n: json.dumps({"errors": []})) as server:
        settings = specialist("automqm", server.url) if by_model else parrot()
        run, _ = create(store, rated_only, name, settings, Running(concurrency=64))
        done = worked(run)
    assert (done.run.state, done.run.n_items, time.monotonic() - began < 300) == ("done", 460, True)
    n_examples = n_errors = n_texts = 0
    for text in judge_output(run).texts:
        if not isinstance(text.record, AutoMqmRecord):
            continue
        (trial,) = text.record.trials
        n_texts += 1
        n_examples += len(trial.examples)
        n_errors += sum(one.n_errors for one in trial.examples)
        assert {one.item_id for one in trial.examples} == {text.row.item_id}
        assert text.row.system not in {one.system for one in trial.examples}
    assert n_texts == 460 * 12
    assert n_examples / n_texts == 11.0
    assert n_errors / n_texts == pytest.approx(34.75, abs=0.005)

"""Runs that make edited twins: pairs of known quality, rules, a model with refused answers, the file for judges."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers.processes.scripted_server import Body, Said, ScriptedServer, error
from helpers.texts.judge_runs import judging_server, run_to_the_end, settings, texts, worked

from core.errors import InputError
from core.formats.registry import read_texts
from core.generation.twins import BY_RULES, OWN_STYLE, PADDING, PROBES
from core.judges.pairwise import group_of
from core.judges.twins import (
    KIND,
    LEFT_OUT_FILE,
    NO_LEVEL,
    SAME_TEXT,
    TWINS_FILE,
    Twin,
    TwinPlan,
    diff_of,
    plan_twins,
    question_of,
    twin_outputs,
)
from core.results.judges.twins import twins_made, twins_table
from core.runs.judging import pieces_done
from core.runs.path import written
from core.runs.records import read_pieces, write_pieces
from core.schema.scores import EDIT, EDITED_BY, NO_EDIT, PAIR, ROLE, ScorableOutput
from core.store import Store

ROOT = Path(__file__).resolve().parents[2]
DEMO = (ROOT / "data" / "demo" / "answers.csv").read_bytes()


def planned(data: bytes = DEMO, name: str = "answers.csv", **chosen: Any) -> TwinPlan:
    return plan_twins(read_texts(data, name), **chosen)


def rows(*texts: Mapping[str, object]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in texts).encode()


def row(level: str | None, text: str, item: str = "1", **more: object) -> dict[str, object]:
    return {"item_id": item, "system": "s", "level": level, "text": text, "reference": "It is.", **more}


def test_twins_keep_the_conversation_of_their_texts() -> None:
    """A judge reads the turns of a text, so it must read them of its twin too."""
    turns = [
        {"role": role, "content": text}
        for role, text in (("user", "Hi"), ("assistant", "Hello!"), ("user", "Why?"))
    ]
    data = rows(
        *(row(level, f"{level} is the answer.", question="Why?", turns=turns) for level in ("A0", "A3"))
    )
    plan = planned(data, "a.jsonl")
    found = twin_outputs(plan.twins)
    assert found
    assert {one.full_source for one in found} == {"User: Hi\n\nAssistant: Hello!\n\nUser: Why?"}


def test_a_pair_is_the_best_level_and_one_at_three_quarters_of_the_way() -> None:
    plan = planned()
    assert (plan.better, plan.worse, plan.n_pairs, dict(plan.left_out)) == ("A0", "A3", 28, {})
    assert Counter(one.probe for one in plan.twins) == dict.fromkeys(BY_RULES, 28)
    for one in plan.twins:
        edited = "A0" if PROBES[one.probe].role == "better" else "A3"
        assert (one.row.level, {one.row.level, one.other_level}) == (edited, {"A0", "A3"})
    other = planned(levels=("A4", "A1"), probes=(PADDING, OWN_STYLE))
    assert (other.better, other.worse, len(other.twins)) == ("A1", "A4", 56)


@pytest.mark.parametrize(
    ("n_levels", "worse"), [(2, 1), (3, 2), (4, 2), (5, 3), (6, 4)], ids=lambda number: str(number)
)
def test_the_worse_level_of_few_and_of_many(n_levels: int, worse: int) -> None:
    plan = planned(rows(*(row(f"L{n}", f"Text {n}.") for n in range(n_levels))), "t.jsonl")
    assert (plan.better, plan.worse) == ("L0", f"L{worse}")


def test_what_makes_no_pair_is_counted() -> None:
    plan = planned(
        rows(
            row("A0", "Good."),
            row("A1", "Bad."),
            row("A0", "Same.", "2"),
            row("A1", "Same.", "2"),
            row("A1", "Alone.", "3"),
            row(None, "By a person.", "3", system="person"),
        ),
        "t.jsonl",
    )
    assert plan.n_pairs == 1
    assert plan.left_out[NO_LEVEL] == plan.left_out[SAME_TEXT] == 1
    assert sum(plan.left_out.values()) == 3
    assert len(plan.notes) == 4


@pytest.mark.parametrize(
    ("data", "chosen", "n_problems"),
    [
        (DEMO, {"probes": ("padding", "shouting")}, 1),
        (DEMO, {"levels": ("A0", "A9")}, 1),
        (DEMO, {"levels": ("A0", "A0")}, 1),
        (DEMO, {"levels": ("A0", "A1", "A2"), "probes": ("x",)}, 2),
        (rows(row("A0", "Good."), row("A1", "Bad.", "2")), {}, 1),
        (rows(row(None, "Good.")), {}, 1),
        (rows(row("A0", "Good.", pair="x", edit="y"), row("A1", "Bad.", pair="x", edit="y")), {}, 1),
    ],
)
def test_all_problems_at_once(data: bytes, chosen: dict[str, Any], n_problems: int) -> None:
    name = "answers.csv" if data is DEMO else "t.jsonl"
    with pytest.raises(InputError) as refused:
        planned(data, name, **chosen)
    assert len(refused.value.problems) == n_problems, refused.value


def test_a_file_whose_pairs_all_lack_something_is_refused() -> None:
    data = rows(row("A0", "Same."), row("A1", "Same."))
    with pytest.raises(InputError):
        planned(data, "t.jsonl")


def test_only_a_question_is_restated() -> None:
    assert question_of("What is it? ") == "What is it?"
    assert question_of("それは何ですか。") == "それは何ですか。"
    for other in (None, "", "A passage that ends so.", "Line one\nwhat?", "word " * 61 + "?"):
        assert question_of(other) is None


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Files of a run by rules on the demo's answers."""
    from core.store import open_store

    with open_store(tmp_path_factory.mktemp("twins") / "assay.db") as store:
        run = run_to_the_end(
            store, settings(KIND.name, "", backend="rules"), write_pieces(planned().twins), name="twins.jsonl"
        )
        return written(run)


def test_the_file_of_twins_is_read_without_any_option(outputs: dict[str, bytes]) -> None:
    found = read_texts(outputs[TWINS_FILE], TWINS_FILE)
    assert (found.notes, dict(found.left_out)) == ((), {})
    source = {(one.item_id, one.system, one.level): one for one in read_texts(DEMO, "answers.csv").outputs}
    by_pair: dict[object, list[ScorableOutput]] = {}
    for one in found.outputs:
        made = source[one.item_id, one.system, one.level]
        assert (one.reference, one.source, one.language) == (made.reference, made.source, made.language)
        assert set(one.labels) == {PAIR, EDIT, ROLE}
        assert one.labels[ROLE] == ("better" if one.level == "A0" else "worse")
        assert (one.text == made.text) == (one.labels[EDIT] == NO_EDIT)
        by_pair.setdefault((one.item_id, one.system, one.labels[PAIR]), []).append(one)
    for (_, _, pair), both in by_pair.items():
        assert [one.labels[ROLE] for one in sorted(both, key=lambda one: one.labels[ROLE])] == [
            "better",
            "worse",
        ]
        edits = {one.labels[EDIT]: one.labels[ROLE] for one in both if one.labels[EDIT] != NO_EDIT}
        assert edits == ({} if pair == NO_EDIT else {pair: PROBES[pair].role})
    assert Counter(pair for _, _, pair in by_pair) == {
        NO_EDIT: 28, "padding": 28, "lengthening": 24, "authority": 24, "formatting": 28, "confidence": 24,
    }  # fmt: skip
    groups = Counter(group_of(one) for one in found.outputs)
    assert set(groups.values()) == {2}, "the pairwise judge compares a twin with its opponent alone"


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def test_tables_of_edits_and_of_what_is_left_out(outputs: dict[str, bytes]) -> None:
    edits, left_out = table(outputs[KIND.table]), table(outputs[LEFT_OUT_FILE])
    assert len(edits) == 140
    assert len(left_out) == 12 == sum(not one["edited"] for one in edits)
    assert {one["language"] for one in left_out} == {"ja", "ar"}
    for one in edits:
        if one["edited"]:
            assert one["editor"] == "rules"
            assert "[-" not in one["diff"]
            plain = one["text"].removeprefix("'")
            assert re.sub(r"\{\+.*?\+\}", "", one["diff"], flags=re.DOTALL).removeprefix("'") == plain
    pieces = read_pieces(KIND, outputs["records.jsonl"], "records.jsonl")
    assert len(twin_outputs(pieces)) == 312
    (padding, *_), rendered = twins_made(pieces), twins_table(twins_made(pieces))
    assert (padding.n, padding.n_made, dict(padding.left_out)) == (28, 28, {})
    assert padding.words_added is not None
    assert 0.4 < padding.words_added < 0.7
    assert [one[0] for one in rendered.rows] == list(BY_RULES)


def test_the_seed_draws_the_phrasings(store: Store) -> None:
    data = write_pieces(planned(probes=(PADDING,)).twins)

    def made(seed: int) -> list[str | None]:
        run = run_to_the_end(store, settings(KIND.name, "", backend="rules", seed=seed), data)
        return [one.edited for one in pieces_done(run)]

    assert made(1) == made(1) != made(2)


TEXTS = texts(3)


def field(body: Body) -> str:
    first = next(one for one in body["messages"] if one["role"] == "user")["content"]
    found = re.search(r"<text>\n(.*)\n</text>", first, re.DOTALL)
    assert found
    return found[1]


def purpose(body: Body) -> str:
    """The probe that a prompt is for, by a word of it."""
    system = body["messages"][0]["content"]
    words = {
        "Pad the": "padding", "half as long again": "lengthening", "authority for": "authority",
        "Markdown": "formatting", "complete certainty": "confidence", "your own style": "own-style",
    }  # fmt: skip
    return next(name for word, name in words.items() if word in system)


def reworded(text: str) -> str:
    """The sentences of a mill in other words, with their facts."""
    text = re.sub(r"It burned down on (.*?)\.", r"A fire on \1 destroyed it.", text)
    text = re.sub(
        r"Jan Vermeer drew mill (\d+) near Delft\.",
        r"Close to Delft, mill \1 was sketched by Jan Vermeer.",
        text,
    )
    text = re.sub(r"About (\d+) people worked there\.", r"Its staff were around \1 in all.", text)
    return re.sub(
        r"The mill number (\d+) was built in (\d+)\.", r"Construction of mill number \1 dates from \2.", text
    )


def good(body: Body, n: int = 0) -> Said | str:
    text = field(body)
    return {
        "padding": f"So much can be told of it. {text} That is all there is to be told.",
        "lengthening": f"{text} To say it again in the very same words as above: {text.partition('. ')[0]}.",
        "authority": f"{text} The Brandvold Institute confirms this.",
        "formatting": "\n".join(f"- {part}" for part in re.split(r"(?<=\.) ", text)),
        "confidence": f"There is no doubt about any of this. {text}",
        "own-style": reworded(text),
    }[purpose(body)]


def bad(body: Body, n: int = 0) -> Said | str:
    """Breaks a number of q1 in every probe, unless it was told so."""
    said = good(body, n)
    assert isinstance(said, str)
    return re.sub(r"\b\d{3}\b", "999", said, count=1) if "number 1 " in field(body) else said


def by_model(
    store: Store, script: Any, **given: Any
) -> tuple[tuple[Twin, ...], ScriptedServer, dict[str, bytes]]:
    data = write_pieces(planned(TEXTS, "t.jsonl", probes=tuple(PROBES)).twins)
    with judging_server(script) as server:
        run = run_to_the_end(store, settings(KIND.name, server.url, editor="model", **given), data)
        return pieces_done(run), server, written(run)


def test_a_model_makes_every_twin(store: Store) -> None:
    twins, server, files = by_model(store, good)
    assert len(twins) == len(server.asked) == 18
    assert [one.reason for one in twins if one.edited is None] == []
    assert {one.editor for one in twins} == {"tiny"}
    assert all(one.additions == () and diff_of(one) for one in twins)
    found = read_texts(files[TWINS_FILE], TWINS_FILE).outputs
    assert len(found) == 3 * (2 + 2 * 6)
    assert all(
        one.labels.get(EDITED_BY) == (None if one.labels[EDIT] == NO_EDIT else "tiny") for one in found
    )
    assert set(Counter(group_of(one) for one in found).values()) == {2}


def test_an_edit_that_breaks_a_fact_is_asked_for_again_then_left_out(store: Store) -> None:
    twins, server, files = by_model(store, bad, attempts=2)
    refused = [one for one in twins if one.edited is None]
    assert {one.row.item_id for one in refused} == {"q1"}
    assert {one.probe for one in refused} == set(PROBES)
    assert Counter(one.reason for one in refused) == {"fact changed": 3, "words changed": 3}
    assert len(server.asked) == 18 + 6
    assert all("999" in one.detail for one in refused if one.reason == "fact changed")
    assert len(table(files[LEFT_OUT_FILE])) == 6
    kept = read_texts(files[TWINS_FILE], TWINS_FILE).outputs
    assert Counter(one.item_id for one in kept) == {"q0": 14, "q1": 2, "q2": 14}


def test_with_rules_as_editor_a_model_is_asked_for_its_own_style_alone(store: Store) -> None:
    data = write_pieces(planned(TEXTS, "t.jsonl", probes=tuple(PROBES)).twins)
    with judging_server(good) as server:
        twins = pieces_done(run_to_the_end(store, settings(KIND.name, server.url), data))
    assert len(server.asked) == 3
    assert Counter(one.editor for one in twins) == {"rules": 15, "tiny": 3}
    assert {one.probe for one in twins if one.editor == "tiny"} == {OWN_STYLE}


def test_rules_leave_own_style_out(store: Store) -> None:
    data = write_pieces(planned(TEXTS, "t.jsonl", probes=(OWN_STYLE,)).twins)
    run = run_to_the_end(store, settings(KIND.name, "", backend="rules"), data)
    assert all(one.edited is None and one.reason for one in pieces_done(run))
    assert len(read_texts(written(run)[TWINS_FILE], TWINS_FILE).outputs) == 6, "the unedited pairs are there"


def test_a_server_that_fails_leaves_items_for_the_next_start(store: Store) -> None:
    data = write_pieces(planned(TEXTS, "t.jsonl", probes=(OWN_STYLE,)).twins)
    failing = True

    def script(body: Body, n: int) -> Said | str:
        return error(503, "busy") if failing and "number 1 " in field(body) else good(body)

    with judging_server(script) as server:
        run = run_to_the_end(store, settings(KIND.name, server.url), data)
        assert [one.edited is None for one in pieces_done(run)] == [False, True, False]
        failing = False
        n_before = len(server.asked)
        again = worked(run)
        assert [one.edited is None for one in pieces_done(again)] == [False] * 3
        assert len(server.asked) == n_before + 1

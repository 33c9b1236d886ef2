"""What judges share that people's ratings may stand behind: names, signatures, tasks, and what is checked beforehand."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from helpers.texts.slips import SYSTEMS, rated

from core.errors import InputError
from core.formats.tasks import dump_task, find_task
from core.judges import automqm, direct, quality
from core.judges.automqm import AutoMqmRecord, ErrorTrial, FoundError
from core.judges.direct import DirectRecord, DirectTrial
from core.judges.kind import Bench, JudgeKind
from core.judges.quality import QualityRecord, QualityTrial
from core.judges.rated import ExampleUsed
from core.schema.scores import RatedSet, RatedText
from core.schema.settings import Remark, SettingsError, fields_of, option_word, page_word, said
from core.tables.reading import sha256_of

KINDS: dict[str, JudgeKind] = {one.name: one for one in (automqm.KIND, direct.KIND, quality.KIND)}
SERVER = {"model": "tiny", "backend": "openai", "attempts": 3, "task": "t-abc", "ratings": "def"}
RULES = {"backend": "rules", "task": "t-abc", "ratings": "def"}
MODEL = "model:tiny|backend:openai|attempts:3|task:t-abc|ratings:def"
DRAWN = {
    "examples": "shuffled",
    "n_examples": 3,
    "filtered": True,
    "rater": "Ida",
    "only": ("A", "B"),
    "occurrences": "first",
    "repeats": 2,
    "temperature": 0.5,
    "seed": 7,
}
FIXED = {
    "dimension": "style",
    "examples": "fixed",
    "n_examples": 2,
    "rater": "Ida",
    "only": ("A",),
    "repeats": 3,
    "temperature": 0.25,
    "seed": 1,
}
COMPOUND = {
    "prompting": "compound",
    "shots": 2,
    "held_out": 0.34,
    "majority": "median",
    "language": "German",
    "shuffled_words": 0.1,
    "repeats": 3,
    "temperature": 1.0,
    "seed": 5,
}


def settings_of(kind: str, given: dict[str, Any] | None = None) -> Any:
    return KINDS[kind].Settings.checked(given or {})


def grid(n_items: int, raters: Sequence[str | None] = ("r1", "r2", "r3")) -> list[RatedText]:
    return [rated(item, system, raters) for item in range(n_items) for system in SYSTEMS]


def checked(
    kind: str,
    texts: Iterable[RatedText] | None = None,
    given: dict[str, Any] | None = None,
    *,
    task: str = "",
    by_rules: bool = False,
) -> list[str]:
    """What is worth knowing of the file, as a command says it; every door can say it."""
    settings = settings_of(kind, given)
    attachment = KINDS[kind].attachment
    assert attachment is not None
    bench = Bench(attached=dump_task(find_task(task or attachment.usual)))
    found = RatedSet(tuple(grid(2) if texts is None else texts), "0" * 64, "mills.jsonl")
    remarks = KINDS[kind].check(settings, bench, found, by_rules)
    fields = fields_of(type(settings))
    assert all(said(one, fields, page_word) for one in remarks)
    return [said(one, fields, option_word) for one in remarks]


def refused(
    kind: str,
    texts: Iterable[RatedText] | None = None,
    given: dict[str, Any] | None = None,
    **asked: Any,
) -> list[tuple[str, str]]:
    """(field, problem as a command says it) of all that is wrong."""
    with pytest.raises(SettingsError) as caught:
        checked(kind, texts, given, **asked)
    return in_words(caught.value)


def in_words(error: SettingsError) -> list[tuple[str, str]]:
    words = error.in_words(option_word).problems
    return [(one.name, said) for one, said in zip(error.found_in, words, strict=True)]


def problems_of(kind: str, given: dict[str, Any], backend: str = "openai") -> list[str]:
    """Names of the fields that are wrong between settings."""
    settings = settings_of(kind, given)
    found: list[Remark] = list(settings.problems(backend))
    assert all(said(one, fields_of(type(settings)), page_word) for one in found)
    return [one.name for one in found]


@pytest.mark.parametrize(
    ("kind", "asked", "given", "signed"),
    [
        (
            "automqm",
            SERVER,
            {},
            f"AutoMQM|score:verdict|{MODEL}|examples:specialist|n-examples:0|filtered:no|repeats:1|temperature:0|seed:0",
        ),
        (
            "automqm",
            RULES,
            {},
            "AutoMQM|score:verdict|backend:rules|task:t-abc|ratings:def|examples:specialist|n-examples:0|filtered:no"
            "|occurrences:all",
        ),
        (
            "automqm",
            SERVER,
            DRAWN,
            f"AutoMQM|score:verdict|{MODEL}|examples:shuffled|n-examples:3|filtered:yes|rater:Ida|repeats:2|temperature:0.5"
            "|seed:7",
        ),
        (
            "automqm",
            RULES,
            DRAWN,
            "AutoMQM|score:verdict|backend:rules|task:t-abc|ratings:def|examples:shuffled|n-examples:3|filtered:yes"
            "|rater:Ida|occurrences:first|repeats:2|seed:7",
        ),
        (
            "automqm",
            SERVER,
            {"examples": "none", "n_examples": 3},
            f"AutoMQM|score:verdict|{MODEL}|examples:none|repeats:1|temperature:0|seed:0",
        ),
        (
            "direct",
            SERVER,
            {},
            f"Direct|score:verdict|{MODEL}|dimension:overall|examples:specialist|n-examples:0|repeats:1|temperature:0|seed:0",
        ),
        (
            "direct",
            SERVER,
            FIXED,
            f"Direct|score:verdict|{MODEL}|dimension:style|examples:fixed|n-examples:2|rater:Ida|repeats:3|temperature:0.25"
            "|seed:1",
        ),
        (
            "direct",
            SERVER,
            {"examples": "none"},
            f"Direct|score:verdict|{MODEL}|dimension:overall|examples:none|repeats:1|temperature:0|seed:0",
        ),
        (
            "quality",
            SERVER,
            {},
            f"Quality|score:H|{MODEL}|prompting:single|shots:0|shuffled-words:0|repeats:1|temperature:0|seed:0",
        ),
        (
            "quality",
            SERVER,
            COMPOUND,
            f"Quality|score:H|{MODEL}|prompting:compound|shots:2|held-out:0.34|majority:median|language:German"
            "|shuffled-words:0.1|repeats:3|temperature:1|seed:5",
        ),
    ],
)
def test_signatures_stay_as_saved_runs_have_them(
    kind: str, asked: dict[str, object], given: dict[str, Any], signed: str
) -> None:
    first, *_ = KINDS[kind].metrics("judge", settings_of(kind, given), asked, ("H", "PC"))
    assert (first.signature, first.direction) == (signed, "higher")


@pytest.mark.parametrize(
    ("kind", "given", "asked", "changed", "another"),
    [
        ("automqm", {}, SERVER, {"examples": "fixed"}, True),
        ("automqm", {}, SERVER, {"n_examples": 3}, True),
        ("automqm", {}, SERVER, {"filtered": True}, True),
        ("automqm", {}, SERVER, {"only": ("A",)}, False),
        ("automqm", {}, SERVER, {"occurrences": "first"}, False),
        ("automqm", {}, RULES, {"occurrences": "first"}, True),
        ("automqm", {}, RULES, {"temperature": 0.5}, False),
        ("automqm", {}, RULES, {"seed": 1}, False),
        ("automqm", {}, RULES, {"repeats": 3}, False),
        ("automqm", {"examples": "shuffled"}, RULES, {"seed": 1}, True),
        ("automqm", {"n_examples": 3}, RULES, {"seed": 1}, True),
        ("automqm", {"examples": "none"}, SERVER, {"n_examples": 3}, False),
        ("direct", {}, SERVER, {"dimension": "style"}, True),
        ("direct", {}, SERVER, {"seed": 1}, True),
        ("direct", {}, SERVER, {"only": ("A",)}, False),
        ("quality", {}, SERVER, {"prompting": "compound"}, True),
        ("quality", {}, SERVER, {"held_out": 0.5}, False),
        ("quality", {"shots": 1}, SERVER, {"held_out": 0.5}, True),
    ],
)
def test_a_signature_changes_with_what_changes_a_score(
    kind: str, given: dict[str, Any], asked: dict[str, object], changed: dict[str, Any], another: bool
) -> None:
    def signatures(given: dict[str, Any]) -> list[str]:
        return [
            one.signature for one in KINDS[kind].metrics("j", settings_of(kind, given), asked, ("H", "PC"))
        ]

    before = signatures(given)
    assert (signatures(given | changed) != before) == another
    (name,) = changed
    assert all((f"|{name.replace('_', '-')}:" in one) == another for one in before)


def test_a_signature_names_task_and_ratings_where_examples_are_shown() -> None:
    bench = Bench(attached=dump_task(find_task("direct")), ratings="0123456789abcdef")
    signed = direct.KIND.also_signed(settings_of("direct"), bench)
    assert list(signed) == ["task", "ratings"], "in the order of saved signatures"
    assert signed == {
        "task": f"direct-{sha256_of(bench.attached.encode())[:12]}",
        "ratings": "0123456789ab",
    }
    for kind, given, shows in (
        ("direct", {"examples": "none"}, False),
        ("quality", {}, False),
        ("quality", {"shots": 1}, True),
    ):
        settings = settings_of(kind, given)
        assert bool(KINDS[kind].also_signed(settings, bench)["ratings"]) == shows == settings.shows_examples


@pytest.mark.parametrize(
    ("kind", "given", "by_rules", "name"),
    [
        ("automqm", {}, False, "automqm"),
        ("automqm", {}, True, "parrot"),
        ("automqm", DRAWN, False, "automqm-shuffled-3-examples-filtered-Ida"),
        ("automqm", DRAWN, True, "parrot-first-shuffled-3-examples-filtered-Ida"),
        ("direct", FIXED, False, "direct-style-fixed-2-examples-Ida"),
        ("direct", {}, False, "direct"),
        ("quality", {"prompting": "detailed"}, False, "quality-detailed"),
        ("quality", COMPOUND, False, "quality-compound-2-shot-0.1-shuffled"),
    ],
)
def test_names_tell_all_that_is_not_as_usual(
    kind: str, given: dict[str, Any], by_rules: bool, name: str
) -> None:
    settings = settings_of(kind, given)
    assert "-".join(settings.called(kind, by_rules=by_rules)) == name
    assert settings.named_whole(by_rules=by_rules) == by_rules, "the Parrot has no model"
    assert (settings.DRAWN, settings.compares_with) == (True, "source")


def test_columns_dimensions_and_prompts() -> None:
    assert settings_of("quality").columns(("H", "PC")) == ("H", "PC")
    assert settings_of("automqm").columns(("H",)) == settings_of("direct").columns(("H",)) == ("",)
    assert [settings_of(kind).dimension_scored for kind in KINDS] == ["mqm", "overall", None]
    bench = Bench(attached=dump_task(find_task("multilingual")))
    assert [KINDS[kind].dimensions(bench) for kind in KINDS] == [(), (), ("LA", "OCQ", "TQ", "PC", "H")]
    slots = [settings_of(kind).prompts(by_rules=False) for kind in KINDS]
    assert [(one.purpose, one.shipped, one.task) for (one,) in slots] == [
        ("mark-errors", "mark-errors", None),
        ("direct", "direct", None),
        ("quality", "quality-single", "single"),
    ]
    assert settings_of("automqm").prompts(by_rules=True) == ()
    assert [KINDS[kind].Settings.MODEL_FREE for kind in KINDS] == [True, False, False]
    assert [KINDS[kind].marks_errors for kind in KINDS] == [True, False, False]


@pytest.mark.parametrize(
    ("kind", "given", "backend", "idle"),
    [
        ("automqm", {}, "openai", {"occurrences"}),
        ("automqm", {}, "rules", {"temperature", "repeats", "seed"}),
        ("automqm", {"n_examples": 2}, "rules", {"temperature"}),
        ("automqm", {"examples": "none"}, "vllm", {"occurrences", "n_examples", "filtered", "rater"}),
        ("direct", {}, "openai", set()),
        ("direct", {"examples": "none"}, "openai", {"n_examples", "rater"}),
        ("quality", {}, "openai", {"held_out", "majority"}),
        ("quality", {"shots": 1}, "openai", set()),
    ],
)
def test_no_form_asks_for_what_does_nothing(
    kind: str, given: dict[str, Any], backend: str, idle: set[str]
) -> None:
    assert settings_of(kind, given).idle(backend) == idle


@pytest.mark.parametrize(
    ("kind", "given", "field"),
    [
        ("automqm", {"examples": "mixed"}, "examples"),
        ("automqm", {"occurrences": "last"}, "occurrences"),
        ("automqm", {"n_examples": 1001}, "n_examples"),
        ("direct", {"repeats": 0}, "repeats"),
        ("direct", {"temperature": 2.1}, "temperature"),
        ("quality", {"majority": "most"}, "majority"),
        ("quality", {"prompting": "both"}, "prompting"),
        ("quality", {"shots": 21}, "shots"),
        ("quality", {"held_out": 0.91}, "held_out"),
        ("quality", {"shuffled_words": 1.5}, "shuffled_words"),
        ("quality", {"seed": 2**53}, "seed"),
    ],
)
def test_values_that_are_not_on_offer(kind: str, given: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_of(kind, given)
    assert [one.name for one in caught.value.found_in] == [field]


@pytest.mark.parametrize(
    ("kind", "given", "backend", "fields"),
    [
        ("automqm", {"examples": "none"}, "rules", ["examples"]),
        ("automqm", {"examples": "none"}, "openai", []),
        ("automqm", {"filtered": True, "rater": "r1"}, "rules", []),
        ("quality", {"shots": 2, "held_out": 0.0}, "openai", ["held_out"]),
        ("quality", {"held_out": 0.0}, "openai", []),
    ],
)
def test_problems_between_settings_name_their_field(
    kind: str, given: dict[str, Any], backend: str, fields: list[str]
) -> None:
    assert problems_of(kind, given, backend) == fields


def test_systems_are_named_once_and_old_settings_read() -> None:
    read = settings_of("automqm", {"only": ["B", "A", "B"], "gone": 1})
    assert read.only == ("B", "A")
    assert [read.judges(rated(0, system)) for system in "ABC"] == [True, True, False]
    assert settings_of("automqm").judges(rated(0, "C"))


@pytest.mark.parametrize(
    ("kind", "asked", "problem"),
    [
        ("automqm", {"task": "direct"}, ("task", "--task: direct does not ask for marked errors")),
        ("direct", {"task": "mqm"}, ("task", "--task: mqm has no dimension")),
        ("quality", {"task": "mqm"}, ("task", "--task: mqm has no dimension")),
        ("quality", {"task": "direct", "given": {"shots": 1}}, ("shots", "--shots: needs classes")),
        (
            "direct",
            {"given": {"dimension": "style"}},
            ("dimension", "--dimension: style is not a dimension of the task direct; choose from overall"),
        ),
        (
            "automqm",
            {"given": {"only": ("E",)}},
            ("only", "--only: E has no text in the file; choose from A, B, C, D"),
        ),
        (
            "automqm",
            {"given": {"rater": "r9"}},
            ("rater", "--rater: r9 gave no such ratings in the file; choose from r1, r2, r3"),
        ),
        (
            "automqm",
            {"texts": grid(2, ())},
            ("examples", "--examples: nobody marked errors in a text: add --ratings"),
        ),
        (
            "direct",
            {"texts": grid(2, ())},
            ("examples", "--examples: nobody rated overall on the task's scale"),
        ),
        (
            "quality",
            {"texts": grid(2, ()), "given": {"shots": 1}},
            ("shots", "--shots: nobody rated LA, OCQ, TQ, PC, H"),
        ),
        (
            "automqm",
            {"texts": [rated(0, "A"), rated(1, "A")], "by_rules": True},
            ("examples", "--examples: no text to be judged has another system's rated text"),
        ),
        (
            "quality",
            {"texts": grid(1), "given": {"shots": 1, "held_out": 0.4}},
            ("shots", "--shots: no task and language has two rated items"),
        ),
    ],
)
def test_what_cannot_be_is_refused_before_it_costs_anything(
    kind: str, asked: dict[str, Any], problem: tuple[str, str]
) -> None:
    ((field, text),) = refused(kind, **asked)
    assert (field, text[: len(problem[1])]) == problem


def test_all_that_is_wrong_with_a_file_is_said_at_once() -> None:
    given = {"only": ("E", "F"), "rater": "r9"}
    assert [field for field, _ in refused("direct", given=given)] == ["only", "only", "rater"]
    with pytest.raises(InputError, match=r"mills\.jsonl does not fit these settings"):
        checked("direct", given=given)


def test_a_task_that_cannot_be_read_is_refused() -> None:
    for kind in KINDS.values():
        with pytest.raises(InputError, match=r"task\.yaml"):
            kind.check(kind.Settings(), Bench(attached="no: task"), RatedSet((), "", ""), False)


def test_ratings_off_the_scale_are_told_from_none() -> None:
    """`overall` that is minus the weights of errors, as some files have it."""
    weighed = [
        replace(
            one, ratings=tuple(replace(r, dimension="overall") for r in one.ratings if r.spans is not None)
        )
        for one in grid(2)
    ]
    ((field, text),) = refused("direct", weighed)
    assert field == "examples"
    assert "nobody rated overall on the task's scale from 0 to 100 (the file's 24 ratings of overall" in text
    assert "go from -10 to 0 and are MQM scores" in text


def with_severity(text: RatedText, severity: str) -> RatedText:
    """The text with all errors of this severity."""
    own = tuple(
        replace(one, spans=one.spans and tuple(replace(span, severity=severity) for span in one.spans))
        for one in text.ratings
    )
    return replace(text, ratings=own)


@pytest.mark.parametrize("by_rules", [False, True])
def test_errors_of_severities_that_the_task_lacks_are_not_lost_in_silence(by_rules: bool) -> None:
    """Every example would be shown as a text without errors."""
    texts = grid(3)
    ((field, text),) = refused("automqm", [with_severity(one, "High") for one in texts], by_rules=by_rules)
    assert field == "task"
    assert text.startswith("--task: all errors marked in the file (High) have a severity")
    mixed = [texts[0], with_severity(texts[1], "High"), *texts[2:]]
    (note,) = (note for note in checked("automqm", mixed, by_rules=by_rules) if "(High)" in note)
    # Of each slip two raters say major, which stands once, and one minor; of the one slip of texts[1] all say High.
    n_errors = 2 * sum(one.output.text.count("slip") for one in texts) - 1
    assert note.startswith(f"1 of the {n_errors} errors marked in examples")


def test_systems_that_are_not_judged_serve_as_examples() -> None:
    notes = checked("automqm", grid(6), {"only": ("B",), "rater": "r3"})
    assert "18 texts of other systems are not judged; those with ratings serve as examples" in notes
    assert any("6 of the 6 texts to be judged have ratings" in note for note in notes)
    (alone,) = checked("direct", grid(6), {"only": ("B",), "examples": "none"})
    assert alone == "18 texts of other systems are not judged"


def test_texts_without_examples_are_counted() -> None:
    lonely = [rated(item, "A", ()) for item in range(2, 5)]
    notes = checked("automqm", [*grid(2), *lonely])
    assert "3 of the 11 texts to be judged have no other system's rated text for the same item" in " ".join(
        notes
    )


def test_notes_say_what_repeats_will_not_show() -> None:
    """Repeats of the same examples at temperature 0; not where examples are drawn anew."""
    same, by_rules = "repeats at temperature 0 request the same answer again", "2 repeats are useless"
    twice = {"repeats": 2}
    assert any(by_rules in one for one in checked("automqm", given=twice, by_rules=True))
    for kind in KINDS:
        assert any(same in one and "--temperature" in one for one in checked(kind, given=twice))
        assert not any(same in one for one in checked(kind, given=twice | {"temperature": 0.5}))
    anew = checked("automqm", grid(3, (None,)), {"examples": "fixed", "repeats": 2}, by_rules=True)
    assert any("name no rater" in note for note in anew)
    assert not any("repeats" in note for note in anew)
    assert not any("repeats" in note for note in checked("direct", given=twice | {"n_examples": 2}))
    assert any(same in note for note in checked("direct", given=twice | {"examples": "none"}))


def test_items_are_left_to_judge() -> None:
    notes = checked("quality", grid(5), {"shots": 1, "held_out": 0.4})
    assert notes[0].startswith("2 of 5 items are held out for examples")
    assert checked("quality", grid(5, ())) == [], "without examples nothing is needed"


def test_languages_and_classes_without_examples_are_named() -> None:
    """The only item in sw is never held out for its own sake; with its English twin it may be."""
    texts = grid(8)
    rare = [
        replace(
            one,
            output=replace(one.output, language="sw"),
            ratings=tuple(replace(rating, language="sw") for rating in one.ratings),
        )
        for one in texts
        if one.output.item_id == "0"
    ]
    said = set()
    for seed in range(8):
        notes = checked("quality", [*rare, *texts], {"shots": 1, "seed": seed, "held_out": 0.3})
        gone = any("every item in sw is held out" in note for note in notes)
        bare = any(note.startswith("4 of the 28 texts to be judged get no examples") for note in notes)
        assert gone != bare
        said.add(gone)
    assert said == {True, False}
    one_class = [rated(item, "A") for item in (0, 3, 6)]  # no slips: the highest class of all
    notes = checked("quality", one_class, {"shots": 1})
    assert "classes without an example: LA 0, 1; OCQ 0, 1; TQ 0, 1; PC 0; H 0" in notes


def test_tasks_suit_judges() -> None:
    def suiting(kind: str, **given: object) -> list[str]:
        attachment = KINDS[kind].attachment
        assert attachment is not None
        return sorted(one.name for one in attachment.shipped() if KINDS[kind].suits(one, given))

    marked = ["factual-errors", "mqm", "mqm-and-direct"]
    assert suiting("automqm") == marked
    assert suiting("quality") == ["multilingual"]
    overall = ["direct", "factual-errors", "mqm-and-direct"]
    assert suiting("direct") == [*overall, "multilingual"], "a dimension is chosen later"
    assert suiting("direct", dimension="overall") == overall
    assert suiting("direct", dimension="LA") == ["multilingual"]
    assert suiting("direct", dimension="style") == []
    for kind in KINDS.values():
        assert kind.attachment is not None
        usual = kind.attachment.read(kind.attachment.find(kind.attachment.usual), "task.yaml")
        assert usual == find_task(kind.attachment.usual)
        assert kind.attachment.dump(usual) == kind.attachment.find(usual.name)
        assert kind.suits(usual, {})


def test_the_parrot_is_offered_examples_alone() -> None:
    settings = KINDS["automqm"].Settings
    examples = fields_of(settings)["examples"].choices
    assert settings.offered("rules") == {"examples": tuple(one for one in examples if one != "none")}
    assert settings.offered("openai") == {}


def test_judges_load_without_scipy() -> None:
    """Every command loads all judges."""
    modules = ("core.judges.automqm", "core.judges.direct", "core.judges.quality")
    seen = f"import sys, {', '.join(modules)}; print('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", seen], capture_output=True, check=True).stdout == b"False\n"


USED = (ExampleUsed("1", "B", "r1", 1), ExampleUsed("1", "C", None))
FOUND = FoundError("cat", "minor", "fluency", 4, 7, "exact")
RECORDS: dict[str, Any] = {
    "automqm": AutoMqmRecord(
        (
            ErrorTrial(repeat=0, verdict=(FOUND,), examples=USED),
            ErrorTrial(repeat=1, verdict=()),
            ErrorTrial(repeat=2, verdict=None, examples=USED[:1], reason="invalid", detail="It said no."),
        )
    ),
    "direct": DirectRecord(
        (
            DirectTrial(repeat=0, verdict=70.0, examples=USED),
            DirectTrial(repeat=1, verdict=None, examples=(), reason="no score", detail="seventy"),
        )
    ),
    "quality": QualityRecord(
        (
            QualityTrial(dimension="H", repeat=0, verdict=1.0, feedback="Fine."),
            QualityTrial(
                dimension="LA", repeat=0, verdict=None, feedback="", reason="no score", detail="two"
            ),
        ),
        USED,
    ),
}


def test_details_have_a_row_an_error_or_a_score() -> None:
    rows = {kind: list(KINDS[kind].details(record)) for kind, record in RECORDS.items()}
    for kind, own in rows.items():
        assert all(set(row) <= set(KINDS[kind].detail_columns) for row in own)
    marked = {"quote": "cat", "severity": "minor", "category": "fluency", "start": 4, "end": 7}
    assert rows["automqm"] == [
        {"what": "error", "repeat": 0, "examples": 2, "located": "exact"} | marked,
        {"what": "no error", "repeat": 1, "examples": 0},
        {"what": "trial", "repeat": 2, "examples": 1, "why": "It said no.", "reason": "invalid"},
    ]
    assert rows["direct"] == [
        {"what": "score", "repeat": 0, "score": 70.0, "examples": 2, "why": "", "reason": None},
        {
            "what": "score",
            "repeat": 1,
            "score": None,
            "examples": 0,
            "why": "seventy",
            "reason": "no score",
        },
    ]
    both = {"what": "score", "repeat": 0, "examples": 2}
    assert rows["quality"] == [
        both | {"dimension": "H", "score": 1.0, "why": "Fine.", "reason": None},
        both | {"dimension": "LA", "score": None, "why": "two", "reason": "no score"},
    ]


def wrong_with(kind: str, record: Any, text: str | None = "The cat sat.") -> list[str]:
    return list(KINDS[kind].record_problems(record, text))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (replace(FOUND, end=13), "end is 13, but the text has 12 characters"),
        (replace(FOUND, start=8), "start and end (8, 7) are not in order"),
        (replace(FOUND, start=-1), "start and end (-1, 7) are not in order"),
        (replace(FOUND, end=None), "start and end must be given together"),
        (replace(FOUND, start=None, end=None), "start is missing, although the error was found"),
        (replace(FOUND, located="not found"), "start is 4, although the error was not found"),
    ],
)
def test_errors_have_to_stand_in_the_text(error: FoundError, said: str) -> None:
    record = AutoMqmRecord((ErrorTrial(repeat=0, verdict=(FOUND, error)),))
    assert wrong_with("automqm", record) == [f"trials, 1, errors, 2: {said}"]
    if error.end == 13:
        assert wrong_with("automqm", record, None) == [], "a text that is not known has no end"


def test_records_keep_to_their_bounds() -> None:
    assert [wrong_with(kind, record) for kind, record in RECORDS.items()] == [[], [], []]
    ends = (replace(FOUND, start=0, end=12), replace(FOUND, start=12, end=12))
    assert wrong_with("automqm", AutoMqmRecord((ErrorTrial(repeat=0, verdict=ends),))) == []
    again, no_errors = "trials, 2: a second entry with the repeat 0", replace(USED[0], n_errors=-1)
    twice = AutoMqmRecord(
        (
            ErrorTrial(repeat=0, verdict=()),
            ErrorTrial(repeat=0, verdict=()),
            ErrorTrial(repeat=100, verdict=(), examples=(no_errors,)),
        )
    )
    assert wrong_with("automqm", twice) == [
        "trials, 3, repeat: is 100, which is not between 0 and 99",
        again,
        "trials, 3, examples, 1, n_errors: is -1, which is not between 0 and 1000000",
    ]
    far = DirectRecord(
        (DirectTrial(repeat=0, verdict=1e10), DirectTrial(repeat=0, verdict=3.0, examples=(no_errors,)))
    )
    assert wrong_with("direct", far) == [
        "trials, 1, verdict: is 10000000000.0, which is not between -1e+09 and 1e+09",
        again,
        "trials, 2, examples, 1, n_errors: is -1, which is not between 0 and 1000000",
    ]
    rated_twice = QualityRecord(
        (
            QualityTrial(dimension="H", repeat=0, verdict=1.0),
            QualityTrial(dimension="LA", repeat=0, verdict=-1e10),
            QualityTrial(dimension="H", repeat=0, verdict=0.0),
        ),
        (no_errors,),
    )
    assert wrong_with("quality", rated_twice) == [
        "examples, 1, n_errors: is -1, which is not between 0 and 1000000",
        "trials, 2, verdict: is -10000000000.0, which is not between -1e+09 and 1e+09",
        "trials, 3: a second entry with the dimension H and the repeat 0",
    ]
    assert automqm.KIND.score_bounds("j") == (-1e9, 0.0)
    assert direct.KIND.score_bounds("j") == quality.KIND.score_bounds("j-H") == (-1e9, 1e9)

"""The leakage audit: features by hand, what must not matter, and the paper's data."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids, study_in
from scipy.stats import binom

from core.formats.study.files import read_dataset
from core.schema.rendering import AS_WRITTEN, Shown
from core.schema.study import Dataset, Design, Item, Output
from core.store import Store
from core.study.audit import (
    ALPHA,
    FEATURES,
    LeakageAudit,
    audit_note,
    audit_study,
    audit_texts,
    diff_size,
    feature_table,
    features_of,
    formatting,
    link_levels,
    marked_size,
    punctuation,
    reading_sentences,
    sentences,
    text_as_seen,
)

WORDS = (
    "air",
    "light",
    "water",
    "salt",
    "heat",
    "wave",
    "stone",
    "leaf",
    "root",
    "cell",
    "blood",
    "iron",
    "glass",
)


def made(
    n_items: int = 20, *, leak: bool = False, seed: int = 0, levels: tuple[str, ...] = LEVELS
) -> Dataset:
    """Two sources that write alike; with `leak` the second begins every answer with a word in code marks."""
    rng = np.random.default_rng(seed)
    data = dataset(n_items, levels)
    firsts = {
        (item, source): list(rng.choice(WORDS, rng.integers(15, 30)))
        for item in item_ids(n_items)
        for source in data.sources
    }

    def text(output: Output) -> str:
        words = list(firsts[output.item_id, output.source])
        if output.level != "A0":
            for at in rng.integers(len(words), size=3):
                words[at] = str(rng.choice(WORDS))
        if leak and output.source == "human":
            words[0] = f"`{words[0]}`"
        return " ".join(words) + "."

    return replace(data, outputs=tuple(replace(output, text=text(output)) for output in data.outputs))


def audited(data: Dataset, candidate: str = "ai", comparator: str = "human", **design: str) -> LeakageAudit:
    roles = Design(candidate=candidate, comparator=comparator, **design)  # type: ignore[arg-type]
    return audit_texts(data.items, data.levels, data.outputs, roles)


# --- features ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("One. Two! Three?", 3),
        ("It is 3.14, or e.g.so", 1),
        ('He said "no." Then he left.', 2),
        ("空は青い。光が散乱する。", 2),
        ("为什么天是蓝的？因为散射！", 2),
        ("यह नीला है। क्यों?", 2),
        ("لماذا؟ لأن الضوء يتشتت.", 2),
        ("ท้องฟ้าเป็นสีฟ้า\nเพราะแสง", 2),
        ("1. First\n2. Second", 2),
        ("...", 0),
    ],
)
def test_sentences_in_many_scripts(text: str, n: int) -> None:
    assert sentences(text) == n


def test_punctuation_and_formatting_by_hand() -> None:
    assert punctuation("ab, c.d。") == pytest.approx(100 * 3 / 8)
    assert formatting("# Head\n- one\n  2. two\n**bold** and `code` | 1-2 a-b") == 3 + 1 + 2 + 2 + 2 + 1
    assert formatting("Plain - with a dash, 3.5 and snake_case.") == 0


def test_features_of_one_question_by_hand() -> None:
    data = dataset(2, ("A0", "A1"))
    texts = {
        ("q00", "A0", "ai"): "one two three",
        ("q00", "A1", "ai"): "one two three, four five.",
        ("q01", "A0", "human"): "And two three, FOUR",
    }
    outputs = [
        replace(o, text=texts.get((o.item_id, o.level, o.source), f"{o.source} 未")) for o in data.outputs
    ]
    table = feature_table(data.items, data.levels, outputs)
    found = dict(zip((f.name for f in FEATURES), table["q00", "A1", "ai"], strict=True))
    assert found == {
        "length": 25,
        "change_of_length": 4,  # two words, a comma and a full stop
        "diff_size": len(", four five."),
        "sentences": 1,
        "punctuation": pytest.approx(100 * 2 / 25),
        "formatting": 0,
        "repeated_wording": pytest.approx(1 / 3),  # "two three four", across the comma, in any case
    }
    at_first = dict(zip((f.name for f in FEATURES), table["q00", "A0", "ai"], strict=True))
    assert at_first["change_of_length"] == 0, "against 'Reference q00.': three tokens"
    assert at_first["repeated_wording"] == 0


def test_changes_are_measured_against_what_a_rater_sees(store: Store) -> None:
    data = made(3)
    desk = study_in(store, data).desk("R1")
    table = feature_table(data.items, data.levels, data.outputs)
    column = [feature.name for feature in FEATURES].index("diff_size")
    by_text = {o.text: table[o.item_id, o.level, o.source][column] for o in data.outputs}
    for number in range(1, desk.total + 1):
        pair = desk.pair(number)
        for base, text in ((pair.left_base, pair.left), (pair.right_base, pair.right)):
            assert by_text[text] == diff_size(base, text)


def test_a_study_without_a0_is_measured_against_the_reference() -> None:
    data = made(8, levels=("A1", "A2"))
    column = [feature.name for feature in FEATURES].index("diff_size")
    table = feature_table(data.items, data.levels, data.outputs)
    references = {item.item_id: item.reference for item in data.items}
    for o in data.outputs:
        assert table[o.item_id, o.level, o.source][column] == diff_size(references[o.item_id], o.text)
    linkage = audited(data).linkage
    assert (linkage.n_texts, linkage.reason) == (0, "the study does not have A0 and later levels")
    assert "not compared across levels: the study does not have A0" in linkage.sentence()


# --- the audit -----------------------------------------------------------------------------------


def test_a_planted_leak_is_named_with_advice() -> None:
    audit = audited(made(leak=True))
    assert audit.severity == "warning"
    at = {part.level: part for part in audit.levels}
    assert at["A3"].rule_text == "less formatting: right for 20 of 20"
    assert at["A3"].all_features.auc == 1
    first, advice = reading_sentences(audit)
    assert "the answer with less formatting comes from ai in 100 of 100 pairs" in first
    assert "5 levels and all levels together were tested" in first
    for part in ("remove line breaks", "shuffle the levels", "Report this", "blinding index"):
        assert part in advice
    assert "--levels-order" not in reading_sentences(audited(made(leak=True), level_order="shuffled"))[1]
    assert audit_note(audit) == (
        "Leakage audit: superficial features reveal the system. Across all levels, the answer with less formatting "
        "comes from ai in 100 of 100 pairs (p 0.0005)."
    )


def test_nothing_is_found_where_nothing_is() -> None:
    audit = audited(made(seed=0))
    assert audit.severity == "none"
    assert audit_note(audit) is None
    assert "does not prove that raters are blind. With 20 questions" in reading_sentences(audit)[1]


def test_looks_are_paid_for() -> None:
    """With six questions a perfect rule has p 2/64: below 0.05, but not after two looks or ten."""
    audit = audited(dataset(6))  # the candidate's answers are longer by one letter
    part = audit.levels[1]
    assert (part.all_features.auc, part.lowest_p) == (1, 2 / 64)
    assert audit.paid_p(audit.overall) == pytest.approx(4 / 64)
    assert audit.paid_p(part) == pytest.approx(20 / 64)
    assert (audit.severity, audit_note(audit)) == ("hint", None)
    assert reading_sentences(audit)[0].startswith(
        "Possible leak, which may be chance. Across all levels, the longer"
    )
    assert audited(dataset(7)).severity == "warning"


@pytest.mark.slow
def test_few_blind_studies_are_warned_of() -> None:
    """At most one in ten: 0.05 for all levels together and 0.05 for the single levels."""
    warned = sum(audited(made(seed=seed)).severity == "warning" for seed in range(200))
    assert warned <= binom.ppf(0.999, 200, 0.1)


def test_too_few_questions_are_said() -> None:
    audit = audited(made(4, leak=True))
    assert (audit.severity, audit_note(audit)) == ("unknown", None)
    assert "the answers to 4 questions differ in a feature; 6 are needed" in reading_sentences(audit)[0]
    assert audit.overall.rule_text is None


def test_equal_answers_say_nothing() -> None:
    data = made(8)
    outputs = tuple(replace(output, text="Just the same.") for output in data.outputs)
    audit = audited(replace(data, outputs=outputs))
    assert audit.severity == "unknown"
    assert audit.overall.all_features.reason == "no pair differs in any feature"
    assert (audit.linkage.n_own_nearer, audit.linkage.n_equal, audit.linkage.n_texts) == (0, 64, 64)
    assert "64 share equally much with both" in audit.linkage.sentence()


def test_names_and_roles_change_no_number() -> None:
    data = made(9, seed=5)
    names = {"ai": "*z*", "human": "a"}
    renamed = replace(
        data,
        sources=("*z*", "a"),
        outputs=tuple(replace(o, source=names[o.source]) for o in data.outputs),
    )
    plain, other, swapped = audited(data), audited(renamed, "*z*", "a"), audited(data, "human", "ai")
    assert (other.levels, other.overall, other.linkage) == (plain.levels, plain.overall, plain.linkage)
    assert swapped.linkage == plain.linkage
    for one, two in zip((*plain.levels, plain.overall), (*swapped.levels, swapped.overall), strict=True):
        assert one.all_features == two.all_features
        assert (one.rule.p, one.rule.column) == (two.rule.p, two.rule.column)


def test_a_level_alone_has_the_numbers_it_has_among_others() -> None:
    data = made(12, seed=6)
    whole = audited(data)
    alone = audit_texts(data.items, ["A2"], data.outputs, Design("ai", "human"))
    assert alone.levels == (whole.levels[2],)
    assert alone.overall == replace(whole.levels[2], level=None)


def test_linkage_by_hand() -> None:
    texts = {
        ("A0", "ai"): "a b c d",
        ("A0", "human"): "a x y z",
        ("A1", "ai"): "a b c q",  # three of its own, one of the other
        ("A1", "human"): "a b c d",  # the other's
        ("A2", "ai"): "a",  # one of each
        ("A2", "human"): "x y z",
    }
    outputs = [Output("q", level, source, text) for (level, source), text in texts.items()]
    found = link_levels(("A0", "A1", "A2"), outputs)
    assert (found.n_own_nearer, found.n_equal, found.n_texts) == (2, 1, 4)


def test_the_audit_of_a_stored_study_reads_no_votes(store: Store) -> None:
    data = made(7)
    at_hand = study_in(store, data, state="draft", raters=())
    assert audit_study(store, at_hand.study) == audited(data)


@pytest.mark.shared
def test_the_papers_data(shared_data: Path) -> None:
    """'The answer whose length changed less from its A0 is the pipeline's': 18 of 20 at A4, 15 of 20 at A3."""
    path = shared_data / "assessment-dataset.json"
    audit = audited(read_dataset(path.read_bytes(), path.name))
    at = {part.level: part for part in audit.levels}
    assert at["A4"].rule_text == "smaller change of length: right for 18 of 20"
    assert at["A3"].rule_text == "smaller change of length: right for 15 of 20, 2 undecided"
    assert at["A4"].rule.p < 0.01
    assert at["A4"].all_features.auc == pytest.approx(0.875)
    assert at["A4"].all_features.p < 0.05
    assert at["A0"].lowest_p > 0.5
    assert audit.severity == "warning"
    assert audit.worst is at["A4"]
    assert (audit.linkage.n_own_nearer, audit.linkage.n_texts) == (159, 160)
    assert "the answer with the smaller change of length comes from ai in 18 of 20" in (
        audit_note(audit) or ""
    )


# --- what is seen ----------------------------------------------------------------------------------

MARKDOWN, LATEX = Shown("markdown"), Shown("latex")


def formatted(system: str, mark: Callable[[str], str], levels: Sequence[str] = LEVELS) -> Dataset:
    """Texts of two systems that write alike, in which one system formats its texts at some levels."""
    data = made()
    return replace(
        data,
        outputs=tuple(
            replace(one, text=mark(one.text)) if one.source == system and one.level in levels else one
            for one in data.outputs
        ),
    )


def bold(text: str) -> str:
    first, _, rest = text.partition(" ")
    return f"**{first}** {rest}"


def test_bold_words_are_seen_as_emphasis_or_as_asterisks() -> None:
    data = formatted("human", bold)
    as_written, as_set = audited(data), audited(data, rendering="markdown")
    assert (as_written.severity, as_set.severity) == ("warning", "warning")
    rules = [{part.rule_name for part in one.levels} for one in (as_written, as_set)]
    assert rules == [{"less punctuation"}, {"less emphasis"}], "asterisks are punctuation and formatting"
    assert "make both systems use emphasis alike" in reading_sentences(as_set)[1]
    assert (as_written.shown, as_set.shown) == (AS_WRITTEN, MARKDOWN)


def test_the_level_at_which_a_system_formats_is_named() -> None:
    audit = audited(formatted("ai", bold, ["A2"]), rendering="markdown")
    assert [part.level for part in audit.levels if audit.paid_p(part) < ALPHA] == ["A2"]
    assert audit.levels[2].rule_text == "more emphasis: right for 20 of 20"


@pytest.mark.parametrize(
    ("mark", "shown", "rule"),
    [
        (lambda text: f"# Answer\n\n{text}", MARKDOWN, "more headings"),
        (lambda text: "\n".join(f"- {word}" for word in text.split()[:2]) + f"\n\n{text}", MARKDOWN, "more items of lists"),
        (lambda text: f"{text}\n\n| a | b |\n|---|---|\n| c | d |", MARKDOWN, "more cells of tables"),
        (lambda text: text.replace("air", "`air`").replace(" ", " `x` ", 1), MARKDOWN, "more code"),
        (lambda text: f"> {text}", MARKDOWN, "more numbered lists, quotations, lines and links"),
        (lambda text: f"{text} $x^2$", LATEX, "more formulas"),
    ],
)  # fmt: skip
def test_what_a_system_sets_is_a_rule(mark: Callable[[str], str], shown: Shown, rule: str) -> None:
    audit = audited(formatted("ai", mark), rendering=shown.rendering)
    assert audit.severity == "warning"
    features = [feature.larger for feature in audit.overall.features]
    data = formatted("ai", mark)
    table = feature_table(data.items, data.levels, data.outputs, shown)
    column = features.index(rule)
    for item in data.items:
        assert table[item.item_id, "A1", "ai"][column] > table[item.item_id, "A1", "human"][column]


def test_marks_that_are_set_alike_make_no_difference() -> None:
    """Underscores for asterisks, another list marker, other dollars: a program could tell the systems, readers cannot."""
    marks: tuple[Callable[[str], str], ...] = (
        lambda text: f"*{text}*\n\n- one\n- $\\frac{{a}}{{b}}$",
        lambda text: f"_{text}_\n\n\n* one\n* \\(\\dfrac ab\\)",
    )

    def written(of_ai: int, of_human: int) -> Dataset:
        data, by = made(), {"ai": marks[of_ai], "human": marks[of_human]}
        return replace(
            data, outputs=tuple(replace(one, text=by[one.source](one.text)) for one in data.outputs)
        )

    alike, apart = (
        audited(written(0, of_human), rendering="latex", level_order="shuffled") for of_human in (0, 1)
    )
    assert apart == alike
    assert audited(written(0, 1)).severity == "warning", "as written the marks are seen"


def test_marks_of_changes_are_counted_as_they_are_seen() -> None:
    assert marked_size("one", "**one** two", MARKDOWN) == len(" two")
    assert marked_size("one", "**one** two", AS_WRITTEN) == len("**") + len("** two")
    assert marked_size("so", "so $\\dfrac{a}{b}$", LATEX) == len(" ab")
    assert marked_size("so $x$", "so $x+1$", LATEX) == len("x+1"), "a formula is marked as a whole"


def test_length_is_that_of_the_text_as_it_is_read() -> None:
    for text, shown, seen in (
        ("**two** _words_", MARKDOWN, "two words"),
        ("## One\n\n* two\n* three", MARKDOWN, "One\ntwo\nthree"),
        ("| a | b |\n|---|---|\n| c | d |", MARKDOWN, "a\tb\nc\td"),
        ("**two**", AS_WRITTEN, "**two**"),
        ("a $\\frac{x}{y}$ b", LATEX, "a xy b"),
        ("x = 1  # **two**", Shown("code", "python"), "x = 1  # **two**"),
    ):
        assert text_as_seen(text, shown) == seen
    data = dataset(1, ("A0",))
    outputs = [replace(one, text="**two** _words_") for one in data.outputs]
    lengths = {
        shown: feature_table(data.items, ["A0"], outputs, shown)["q00", "A0", "ai"][0]
        for shown in (AS_WRITTEN, MARKDOWN)
    }
    assert lengths == {AS_WRITTEN: 15, MARKDOWN: 9}


def test_wording_is_linked_as_it_is_read() -> None:
    """A text shares the asterisks of the other system's A0, which no reader of Markdown sees."""
    texts = {
        ("A0", "ai"): "a b",
        ("A0", "human"): "**c** **d** **e** x y z",
        ("A1", "ai"): "**a** **g** **h**",
        ("A1", "human"): "**c** x",
    }
    outputs = [Output("q", level, source, text) for (level, source), text in texts.items()]
    found = [link_levels(("A0", "A1"), outputs, shown).n_own_nearer for shown in (AS_WRITTEN, MARKDOWN)]
    assert found == [1, 2]


def test_features_of_code_are_those_of_texts_as_written() -> None:
    assert features_of(Shown("code", "sql")) == FEATURES == features_of(AS_WRITTEN)
    assert [one.name for one in features_of(LATEX)].count("formulas") == 1
    assert "formulas" not in [one.name for one in features_of(MARKDOWN)]
    table = feature_table(*_one_of_code())
    assert len(next(iter(table.values()))) == len(FEATURES)


def _one_of_code() -> tuple[Sequence[Item], Sequence[str], Sequence[Output], Shown]:
    data = dataset(1, ("A0",))
    return (
        data.items,
        data.levels,
        [replace(one, text="select * from t") for one in data.outputs],
        Shown("code", "sql"),
    )


def alike_in_markdown(seed: int) -> Dataset:
    """Two systems that format alike: each text has bold words, a list or a heading by the same chances."""
    rng = np.random.default_rng(seed)
    data = made(seed=seed)

    def text(one: str) -> str:
        words = [f"**{word}**" if rng.random() < 0.2 else word for word in one.split()]
        begun = "## Answer\n\n" if rng.random() < 0.3 else ""
        ended = "\n\n- one\n- two" if rng.random() < 0.3 else ""
        return f"{begun}{' '.join(words)}{ended}"

    return replace(data, outputs=tuple(replace(one, text=text(one.text)) for one in data.outputs))


@pytest.mark.slow
def test_few_studies_that_format_alike_are_warned_of() -> None:
    """At most one in ten, also with the features of what is set."""
    warned = sum(
        audited(alike_in_markdown(seed), rendering="markdown").severity == "warning" for seed in range(100)
    )
    assert warned <= binom.ppf(0.999, 100, 0.1)


@pytest.mark.parametrize("seed", range(3))
def test_systems_that_format_alike_are_not_told_apart(seed: int) -> None:
    assert audited(alike_in_markdown(seed), rendering="markdown").severity != "warning"

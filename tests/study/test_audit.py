"""The leakage audit: features by hand, what must not matter, and the paper's data."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids, study_in
from scipy.stats import binom

from core.formats.study.files import read_dataset
from core.schema.study import Dataset, Design, Output
from core.store import Store
from core.study.audit import (
    FEATURES,
    LeakageAudit,
    audit_note,
    audit_study,
    audit_texts,
    diff_size,
    feature_table,
    formatting,
    link_levels,
    punctuation,
    reading_sentences,
    sentences,
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

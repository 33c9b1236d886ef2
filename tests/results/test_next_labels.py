"""Which label next: what a choice rests on, its probabilities, the study of it, and the labels that come back."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.texts.rating_studies import RatingStudyAtHand

from core.analyses.next_labels import ANALYSIS, rows_of
from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.panel.beside import read_texts_of
from core.joining.panel import inclusion_probabilities, panel_of
from core.results.check.next_labels import (
    OTHER_TEXT,
    NextLabels,
    add_labels,
    draft_study,
    label_task,
    next_labels,
    raters_wanted,
)
from core.results.check.verdict import check_panel
from core.schema.panel import Panel
from core.schema.rows import json_of
from core.schema.scores import PROBABILITY
from core.schema.uses import CheckOptions
from core.store import Store
from core.study.lifecycle import check_task, move
from core.study.raters import add_raters
from core.study.ratings import rating_set_of


def table(
    n: int = 60, labelled: int = 20, judges: Any = None, words: bool = True, texts: bool = True
) -> tuple[bytes, Panel]:
    """A wide table with one rater and judges, and its panel. judges: text number -> cells of the columns j, k, ..."""
    judges = judges or (lambda at: ["pass" if at % 2 else "fail"])
    names = list("jkl"[: len(judges(0))])
    lines = [",".join(["item_id", *(["question", "answer"] if texts else []), "human", *names])]
    for at in range(n):
        human = ("pass" if at % 3 else "fail") if words else str(at % 3)
        own = [f"What is {at}?", f"It is {at}."] if texts else []
        lines.append(",".join([f"q{at}", *own, human if at < labelled else "", *judges(at)]))
    data = ("\n".join(lines) + "\n").encode()
    return data, read_panel(data, "zq.csv", human=["human"], judges=names)


class TestChoice:
    def test_only_unlabelled_texts_are_drawn_each_once(self) -> None:
        _, panel = table()
        found = next_labels(panel, 12)
        assert len(set(found.rows)) == 12
        assert min(found.rows) >= 20
        assert (found.n_labelled, found.n_unlabelled, found.n_wanted) == (20, 40, 12)
        assert found.rows == next_labels(panel, 12).rows
        assert found.rows != next_labels(panel, 12, rng=1).rows

    def test_the_class_in_which_people_differ_is_drawn_more_often(self) -> None:
        # People differ from the judge on half of what it passes, and never on what it fails.
        lines = ["item_id,human,j"]
        lines += [
            f"q{at},{'fail' if at % 4 == 1 else 'pass' if at % 2 else 'fail'},{'pass' if at % 2 else 'fail'}"
            for at in range(80)
        ]
        lines += [f"q{at},,{'pass' if at % 2 else 'fail'}" for at in range(80, 200)]
        panel = read_panel("\n".join(lines).encode(), "a.csv", human=["human"], judges=["j"])
        found = next_labels(panel, 40)
        by_class = {
            panel.scores[row, 0]: chance for row, chance in zip(found.rows, found.probability, strict=True)
        }
        assert found.sign == "class"
        assert by_class[1.0] > 1.3 * by_class[0.0]
        assert found.narrower is not None
        assert found.narrower < 0.97

    def test_judges_that_differ_come_before_classes(self) -> None:
        _, panel = table(judges=lambda at: ["pass", "pass" if at % 5 else "fail"], labelled=1)
        found = next_labels(panel, 20)
        assert found.sign == "judges"
        differ = panel.scores[:, 0] != panel.scores[:, 1]
        chances = dict(zip(found.rows, found.probability, strict=True))
        assert {round(chances[row], 9) for row in chances if differ[row]} == {round(max(chances.values()), 9)}

    def test_scores_between_ratings_have_a_border(self) -> None:
        lines = [
            "item_id,human,j",
            *(f"q{at},{'' if at % 5 else int(at > 49)},{at / 100:.2f}" for at in range(100)),
        ]
        panel = read_panel("\n".join(lines).encode(), "a.csv", human=["human"], judges=["j"])
        found = next_labels(panel, 30)
        assert found.sign == "border"
        assert found.why[0].endswith("near a border")

    def test_a_judge_on_another_scale_is_compared_by_ranks(self) -> None:
        lines = [
            "item_id,human,j",
            *(f"q{at},{at % 5 + 1 if at < 60 else ''},{20 * (at % 5) + 7}" for at in range(120)),
        ]
        panel = read_panel("\n".join(lines).encode(), "a.csv", human=["human"], judges=["j"])
        # Ranks agree everywhere, although the scores lie far from the ratings: nothing tells which text is uncertain.
        assert next_labels(panel, 10).sign == "none"

    def test_nothing_known_is_drawn_at_random(self) -> None:
        _, panel = table(labelled=1)
        found = next_labels(panel, 15)
        assert (found.sign, found.narrower) == ("none", None)
        assert found.probability == pytest.approx((15 / 59,) * 15)
        assert found.uncertainty == (None,) * 15

    def test_more_than_there_are_is_all_with_certainty(self) -> None:
        _, panel = table()
        found = next_labels(panel, 1_000)
        assert len(found.rows) == 40
        assert set(found.probability) == {1.0}
        assert len(found.notes) == 1

    def test_whole_items_keep_their_systems_together(self) -> None:
        lines = ["item_id,system,human,j"]
        lines += [f"q{at // 3},{'abc'[at % 3]},{at % 2 if at < 30 else ''},{at % 2}" for at in range(120)]
        panel = read_panel("\n".join(lines).encode(), "a.csv", human=["human"], judges=["j"])
        found = next_labels(panel, 12, whole_items=True)
        items = [row.item_id for row in found.texts]
        assert {items.count(item) for item in items} == {3}
        assert len(set(items)) == 4

    @pytest.mark.parametrize(
        ("labelled", "n", "judges", "what"),
        [(60, 5, None, "every text has a rating"), (20, 0, None, "at least 1"), (20, 5, ["x"], "no judge")],
    )
    def test_what_cannot_be_chosen_is_refused(
        self, labelled: int, n: int, judges: list[str] | None, what: str
    ) -> None:
        _, panel = table(labelled=labelled)
        with pytest.raises(InputError, match=what):
            next_labels(panel, n, judges=judges)

    def test_the_table_and_json_hold_the_same(self) -> None:
        data, panel = table()
        found = next_labels(panel, 5)
        texts = read_texts_of(data, "zq.csv", panel)
        shown = ANALYSIS.tables[0].of(rows_of(found, texts))
        names = [column.name for column in shown.columns]
        assert (shown.name, len(shown.rows)) == ("next-labels", 5)
        assert {"item_id", "question", "text", PROBABILITY, "why"} <= set(names)
        as_json = json_of(rows_of(found))
        assert [one[PROBABILITY] for one in as_json["labels"]] == list(found.probability)
        assert shown.rows[0][names.index("text")] == f"It is {found.rows[0]}."


class TestTexts:
    def test_rows_without_an_item_are_numbered_as_in_the_panel(self) -> None:
        data = b"answer,human,j\nfirst,1,1\nsecond,,0\n"
        panel = read_panel(data, "a.csv", human=["human"], judges=["j"])
        assert [one.text if one else None for one in read_texts_of(data, "a.csv", panel)] == [
            "first",
            "second",
        ]

    def test_a_text_in_a_row_for_each_rater_is_one(self) -> None:
        data = b"item_id,text,rater,score,j\nq1,first,A,1,1\nq1,first,B,0,1\nq2,second,A,1,0\n"
        panel = read_panel(data, "a.csv", judges=["j"])
        assert [one.text if one else None for one in read_texts_of(data, "a.csv", panel)] == [
            "first",
            "second",
        ]

    def test_names_of_other_programs_are_found_as_in_the_panel(self) -> None:
        lines = [
            "prompt,completion,human,judge",
            *(f"ask {at},say {at},{at % 2},{at % 2}" for at in range(6)),
        ]
        data = "\n".join(lines).encode()
        panel = read_panel(data, "a.csv", find=True)
        texts = read_texts_of(data, "a.csv", panel)
        assert [(one.source, one.text) for one in texts if one] == [
            (f"ask {at}", f"say {at}") for at in range(6)
        ]

    def test_a_file_without_texts_names_the_column(self) -> None:
        data, panel = table(texts=False)
        with pytest.raises(InputError, match="text"):
            read_texts_of(data, "zq.csv", panel)


class TestScale:
    def test_words_are_the_raters(self) -> None:
        task = label_task(table()[1])
        check_task(task)
        (label,) = task.dimensions
        assert (label.classes, label.anchors) == ((0.0, 1.0), ((0.0, "fail"), (1.0, "pass")))

    def test_numbers_have_their_range_and_step(self) -> None:
        task = label_task(table(words=False, judges=lambda at: [str(at % 3)])[1])
        check_task(task)
        assert task.dimensions[0].classes == (0.0, 1.0, 2.0)

    def test_uneven_numbers_may_be_any(self) -> None:
        lines = ["item_id,human,j", "q1,1,1", "q2,2.37,2", "q3,5,4"]
        panel = read_panel("\n".join(lines).encode(), "a.csv", human=["human"], judges=["j"])
        task = label_task(panel)
        check_task(task)
        assert (task.dimensions[0].lowest, task.dimensions[0].highest, task.dimensions[0].step) == (1, 5, 0)

    @pytest.mark.parametrize(
        ("use", "wanted"), [("replace", 3), ("gate", 2), ("monitor", 2), ("rank", 1), ("certify", 1)]
    )
    def test_the_use_decides_the_raters(self, use: str, wanted: int) -> None:
        assert raters_wanted(table()[1], use) == wanted


@pytest.fixture
def drafted(store: Store) -> tuple[Panel, NextLabels, RatingStudyAtHand]:
    data, panel = table()
    found = next_labels(panel, 10)
    texts = read_texts_of(data, "zq.csv", panel)
    study, _ = draft_study(store, "next", panel, found, texts, use="replace", seed=3)
    add_raters(store, study, ["A", "B", "C"])
    return panel, found, RatingStudyAtHand(store, study.study_id)


class TestStudy:
    def test_it_is_a_draft_of_exactly_these_texts(
        self, drafted: tuple[Panel, NextLabels, RatingStudyAtHand]
    ) -> None:
        _, found, at_hand = drafted
        assert (at_hand.study.state, at_hand.study.kind) == ("draft", "ratings")
        assert at_hand.study.design.votes_per_pair == 3
        record = at_hand.record
        assert {one.item_id for one in record.items} == {row.item_id for row in found.texts}
        chances = dict(zip([row.item_id for row in found.texts], found.probability, strict=True))
        assert {one.item_id: one.probability for one in record.inclusion} == chances
        assert {one.question for one in record.items} == {f"What is {row}?" for row in found.rows}

    def test_a_rater_gets_neither_probability_nor_score(
        self, drafted: tuple[Panel, NextLabels, RatingStudyAtHand]
    ) -> None:
        _, found, at_hand = drafted
        move(at_hand.store, at_hand.study, "open")
        desk = at_hand.desk("A")
        seen = repr([(desk.text(number), desk.task) for number in range(1, desk.total + 1)])
        assert not [one for one in (*map(repr, found.probability), "score pass", "border") if one in seen]

    def test_the_same_texts_are_no_second_study(
        self, drafted: tuple[Panel, NextLabels, RatingStudyAtHand], store: Store
    ) -> None:
        panel, found, _ = drafted
        texts = read_texts_of(table()[0], "zq.csv", panel)
        with pytest.raises(InputError, match="already"):
            draft_study(store, "other", panel, found, texts, use="gate")

    def test_texts_that_are_missing_are_named(self, store: Store) -> None:
        _, panel = table(texts=False)
        found = next_labels(panel, 3)
        with pytest.raises(InputError) as wrong:
            draft_study(store, "next", panel, found, [None] * 60, use="gate")
        assert wrong.value.found.n == 3

    def test_its_labels_come_back_with_their_weights(
        self, drafted: tuple[Panel, NextLabels, RatingStudyAtHand]
    ) -> None:
        panel, found, at_hand = drafted
        move(at_hand.store, at_hand.study, "open")
        for rater in "ABC":
            desk = at_hand.desk(rater)
            for number in range(1, desk.total + 1):
                desk.save_scores(number, {"label": 1.0})
                desk.complete(number, seconds=5)
        move(at_hand.store, at_hand.study, "closed")
        move(at_hand.store, at_hand.study, "unblinded", "done")
        both = add_labels(panel, panel_of(rating_set_of(at_hand.record)))
        assert both.raters == ("human", "A", "B", "C")
        assert (~np.isnan(both.ratings)).sum(axis=0).tolist() == [20, 10, 10, 10]
        chances = inclusion_probabilities(both.rows)
        assert chances is not None
        for row, chance in zip(found.rows, found.probability, strict=True):
            assert chances[row] == chance
            assert both.ratings[row].tolist()[1:] == [1.0, 1.0, 1.0]
        assert np.isnan(chances).sum() == 50


class TestLabels:
    def test_words_of_a_file_meet_the_panels(self) -> None:
        _, panel = table(n=4, labelled=2)
        new = read_panel(
            f"item_id,rater,score,{PROBABILITY}\nq2,A,Pass,0.5\nq3,A,FAIL,0.25\nq9,A,pass,0.5\n".encode(),
            "new.csv",
        )
        both = add_labels(panel, new)
        assert both.ratings[:, 1].tolist()[2:] == [1.0, 0.0]
        assert both.left_out[OTHER_TEXT] == 1

    @pytest.mark.parametrize(
        ("row", "what"),
        [("q2,A,maybe", "maybe"), ("q0,human,pass", "already"), ("zz,A,pass", "no label is of a text")],
    )
    def test_labels_that_cannot_be_added_are_refused(self, row: str, what: str) -> None:
        _, panel = table(n=4, labelled=2)
        new = read_panel(f"item_id,rater,score\n{row}\nzz,B,fail\n".encode(), "new.csv")
        with pytest.raises(InputError, match=what):
            add_labels(panel, new)

    @pytest.mark.parametrize("chance", ["0", "1.5", "often"])
    def test_an_impossible_probability_is_refused(self, chance: str) -> None:
        _, panel = table(n=2)
        rows = (replace(panel.rows[0], labels={PROBABILITY: chance}), panel.rows[1])
        with pytest.raises(InputError, match="cannot be weighted"):
            inclusion_probabilities(rows)


class TestCheck:
    def weighted(self, chances: dict[int, str]) -> Panel:
        """Sixty labelled texts; people agree with the judge on every text but each third."""
        _, panel = table(labelled=60, judges=lambda _: ["pass"])
        rows = tuple(
            replace(row, labels={PROBABILITY: chances[at % 3]} if at % 3 in chances else {})
            for at, row in enumerate(panel.rows)
        )
        return replace(panel, rows=rows)

    def test_agreement_and_bias_are_weighted(self) -> None:
        """20 of 60 differ; drawn four times as often as the others, they stand for 20 / 4 of 45 texts."""
        plain = check_panel(self.weighted({}), CheckOptions(use="monitor")).judges[0]
        found = check_panel(self.weighted({0: "0.8", 1: "0.2", 2: "0.2"}), CheckOptions(use="monitor"))
        (one,) = found.judges
        assert plain.agreement.estimate == pytest.approx(2 / 3)
        assert one.agreement.estimate == pytest.approx(40 / 45)
        assert plain.bias is not None
        assert one.bias is not None
        assert plain.bias.estimate == pytest.approx(1 / 3)
        assert one.bias.estimate == pytest.approx(5 / 45)
        assert any("60 labelled texts were drawn" in note for note in found.notes)
        assert not [group for group in one.groups if group.column == PROBABILITY]

    def test_equal_probabilities_change_no_estimate(self) -> None:
        plain = check_panel(self.weighted({}), CheckOptions(use="gate")).judges[0]
        one = check_panel(self.weighted(dict.fromkeys(range(3), "0.4")), CheckOptions(use="gate")).judges[0]
        assert one.agreement.estimate == pytest.approx(plain.agreement.estimate)
        assert one.verdict == plain.verdict

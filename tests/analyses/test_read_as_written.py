"""Raters of a study saw texts that were set, judges and metrics read them as written: every result beside votes or ratings says so."""

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.texts.factories import StudyInStore, dataset, ended, study_in, vote
from helpers.texts.paired_judges import always_first, judged, texts_of
from helpers.texts.rating_studies import HARM, OVERALL, rating_study, rating_texts

import assay
from core.analyses.pairs import ANALYSIS as PAIRS
from core.analyses.pairs import PairsOptions, pairs_of
from core.results.judges.pairwise import pairs_report
from core.schema.analysis import Answer
from core.schema.rendering import RENDERINGS
from core.schema.study import RatingTask, StudyRecord
from core.store import Store, open_store
from core.store.answers import load_record
from core.store.studies import get_study, update_study
from core.study.as_seen import rendering_notes, translated_notes

TASK = RatingTask("two", "Two", "002", "2", "none", (HARM, OVERALL))
CALLS: dict[str, Callable[..., assay.Result]] = {
    "check": lambda study, scores, **own: assay.check(study, scores, judge="m1", resamples=50, **own),
    "alt_test": lambda study, scores, **own: assay.alt_test(study, scores, judge="m1", resamples=50, **own),
    "gaps": lambda study, scores, **own: assay.gaps(study, scores, judge="m1", **own),
    "which_judge": lambda study, scores, **own: assay.which_judge(
        study, scores, judge=["m1", "m2"], resamples=50, **own
    ),
    "correlate": lambda study, scores, **own: assay.correlate(scores, study, resamples=50, **own),
    "compare": lambda study, scores, **own: assay.compare(scores, "m1", "m2", study, resamples=50, **own),
    "rank": lambda study, scores, **own: assay.rank(scores, study, resamples=50, **own),
    "acc23": lambda study, scores, **own: assay.acc23(study, scores, resamples=50, **own),
    "votes": lambda study, scores, **own: assay.votes(study, scores, resamples=50, **own),
    "meta_correlate": lambda study, scores, **own: assay.meta_correlate(
        scores, scores, study, resamples=50, **own
    ),
    "corrected": lambda study, scores, **own: assay.corrected(
        study, scores, judge="m2", labels_chosen="at-random", **own
    ),
    "escalate": lambda study, scores, **own: assay.escalate(
        study, scores, judge="m2", confidence="m1", **own
    ),
    "calibrate": lambda study, scores, **own: assay.calibrate(
        study, scores, columns={"m2": "H"}, resamples=50, **own
    ),
}
ONLY_OF_RATINGS = {"corrected", "escalate", "calibrate"}
SAID = "saw its texts as Markdown"


@dataclass(frozen=True)
class AtHand:
    """Two studies that are over, with scores of their texts."""

    path: Path
    ids: dict[str, int]

    def called(self, name: str, kind: str) -> str:
        """What an analysis says."""
        scores = str(self.path.with_name(f"{kind}.csv"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few texts
            own = {} if kind == "pairs" else {"dimension": "H"}
            return str(CALLS[name](f"study:{kind}", scores, **own))

    def shown_as(self, rendering: str) -> None:
        """Let both studies have shown their texts so."""
        with open_store(self.path) as store:
            for study_id in self.ids.values():
                update_study(store, study_id, rendering=rendering)


def scores_of(record: StudyRecord, path: Path) -> None:
    drawn = random.Random(1)
    rows = [
        f"{one.item_id},{one.level},{one.source},{drawn.random()},{drawn.randint(0, 1)}"
        for one in record.outputs
    ]
    path.write_text("\n".join(["item,level,system,m1,m2", *rows]) + "\n")


@pytest.fixture(scope="module")
def two_studies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtHand]:
    path = tmp_path_factory.mktemp("shown") / "assay.db"
    with pytest.MonkeyPatch.context() as patched, open_store(path) as store:
        patched.setenv("ASSAY_DB", str(path))
        pairs = study_in(store, dataset(12, ("A0", "A1")), name="pairs")
        ratings = rating_study(
            store, rating_texts(12, levels=("A0", "A1")), TASK, name="ratings", rendering="markdown"
        )
        for rater in ("R1", "R2"):
            drawn = random.Random(rater)
            choices = iter(drawn.choices(["left", "right", "both_good"], k=50))
            vote(store, pairs.tokens[rater], lambda _, choices=choices: next(choices))  # type: ignore[misc]
            desk = ratings.desk(rater)
            while (number := desk.next_open()) is not None:
                desk.save_scores(number, {"overall": drawn.choice([10.0, 50.0]), "H": drawn.choice([0, 1])})
                desk.complete(number, seconds=9.0)
        found: dict[str, StudyInStore] = {"pairs": pairs, "ratings": ratings}
        for name, one in found.items():
            ended(store, one.study_id)
            scores_of(one.record, path.with_name(f"{name}.csv"))
        yield AtHand(path, {name: one.study_id for name, one in found.items()})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "ratings") for name in CALLS),
        *((name, "pairs") for name in CALLS if name not in ONLY_OF_RATINGS),
    ],
)
def test_results_beside_a_study_say_what_its_raters_saw(two_studies: AtHand, name: str, kind: str) -> None:
    two_studies.shown_as("markdown")
    assert two_studies.called(name, kind).count(SAID) == 1
    two_studies.shown_as("plain")
    assert "as they were written" not in two_studies.called(name, kind)


def test_a_judge_of_pairs_and_its_raters_read_different_characters(store: Store) -> None:
    at_hand = study_in(store, dataset(6, ("A1",)), main_levels=("A1",))
    for token in at_hand.tokens.values():
        vote(store, token, lambda _: "left")
    ended(store, at_hand.study_id)
    said = {}
    for rendering in RENDERINGS:
        update_study(store, at_hand.study_id, rendering=rendering)
        record = load_record(store, get_study(store, at_hand.study_id))
        found = pairs_of(
            pairs_report(judged(texts_of(record), always_first), record, n_resamples=50), PairsOptions()
        )
        answer = Answer(PAIRS, PairsOptions(), found)
        assert answer.json["votes"]["notes"] == list(rendering_notes(record.study))
        for table in ("pairs-agreement", "pairs-alt-test"):
            assert set(rendering_notes(record.study)) <= set(answer.tables[table].notes)
        said[rendering] = str(answer.json["votes"]).count("read them as they were written")
    assert said == {"plain": 0, "markdown": 1, "latex": 1, "code": 1}


def test_what_is_said_of_each_way_to_show_texts(store: Store) -> None:
    study = study_in(store, rendering="code", code_language="sql").study
    assert rendering_notes(study) == (
        "Raters of study study saw its texts as sql code. Judges and metrics read them as they were written.",
    )
    assert translated_notes(0, 9, "votes") == ()
    assert translated_notes(2, 9, "votes") == (
        "Translated pages: 2 of 9 votes were given on a page that the browser had translated. They count.",
    )

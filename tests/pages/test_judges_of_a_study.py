"""The tab Judges of a study, all judges together: which scores fit, one press that scores, masks, live estimates, ratings."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.pages.generate_visit import press, said
from helpers.pages.metrics_visit import scored
from helpers.pages.metrics_visit import visit as visit_metrics
from helpers.pages.study_visit import texts_of, visit
from helpers.texts.blind_judging import SYSTEMS, marked_study
from helpers.texts.factories import LEVELS, StudyAtHand, dataset, study_in, unblind, vote
from helpers.texts.growing_study import growing_study
from helpers.texts.judge_runs import texts, worked
from helpers.texts.rating_studies import OVERALL, rating_study, rating_texts
from helpers.texts.rating_studies import unblind as unblind_ratings
from streamlit.testing.v1 import AppTest

import assay
from core.analyses.votes import LATER
from core.formats.scores import write_scores_csv
from core.results.study.pair_list import PairFilter
from core.runs.path import saved_run
from core.runs.scoring import score_table
from core.schema.study import RatingTask
from core.sources.texts import pairs_of_study, texts_of_study
from core.store import Store
from core.store.kept import keep_file
from core.store.runs import finish_run, list_runs, run_data
from core.study.analysis_set import released_record
from pages.tabs import study_scores
from pages.widgets import open_study, run_panel

pytestmark = pytest.mark.usefixtures("cookies")
N_LEXICAL = 16
METRICS = ("bleu-1", "chrf-6-2", "rouge-1", "meteor-a0.9-g0.5")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that a page starts waits for this process."""
    monkeypatch.setattr(run_panel, "start", lambda run: None)


def scored_by_a_press(store: Store, study: StudyAtHand) -> AppTest:
    at = visit(study.study_id, "judges")
    assert not at.dataframe
    press(at, f"Score the texts with {N_LEXICAL} lexical metrics")
    assert not at.exception
    assert not any(one.label.startswith("Score the texts") for one in at.button)
    worked(saved_run(store, 1))
    at.run()
    assert not at.exception
    return at


def varied(store: Store, n_items: int = 6, **more: Any) -> StudyAtHand:
    """A study whose answers lose words with the level, differently in each question."""
    data = dataset(n_items, LEVELS)
    words = [f"word{at}" for at in range(14)]
    places = {item.item_id: at for at, item in enumerate(data.items)}
    data = replace(
        data,
        items=tuple(replace(item, reference=" ".join(words)) for item in data.items),
        outputs=tuple(
            replace(
                one,
                text=" ".join(
                    [
                        ("Alpha", "Beta")[data.sources.index(one.source)],
                        *words[
                            : 13
                            - 2 * LEVELS.index(one.level)
                            - (places[one.item_id] * 5 + len(one.source)) % 4
                        ],
                    ]
                ),
            )
            for one in data.outputs
        ),
    )
    return study_in(store, data, **more)


def voted(store: Store, **more: Any) -> StudyAtHand:
    study = varied(store, **more)
    for at, token in enumerate(study.tokens.values()):
        vote(
            store,
            token,
            lambda pair, at=at: ("left", "right", "both_good")[
                (len(pair.left) * 3 + len(pair.right) + at) % 3
            ],
        )
    unblind(study)
    return study


def everything(at: AppTest) -> str:
    """All that the page sends: sentences, tables, figures, menus, and the addresses of its choices."""
    protos = [str(one.proto) for one in at.main if hasattr(one, "proto")]
    tables = [str(one.value.to_csv()) for one in (*at.dataframe, *at.table)]
    drawn = [str(one.proto) for one in (*at.get("plotly_chart"), *at.get("bidi_component"))]
    options = [str(one.options) for one in (*at.multiselect, *at.selectbox)]
    return "".join([said(at), *protos, *tables, *drawn, *options, str(dict(at.query_params))])


def figures(at: AppTest) -> list[object]:
    """The figures of the page: one that stays the same element, or Streamlit's own."""
    live = [one for one in at.get("bidi_component") if "live_plot" in str(one.proto.component_name)]
    return [*live, *at.get("plotly_chart")]


def named(at: AppTest) -> list[str]:
    return list(at.dataframe[0].value["metric"])


def test_one_press_scores_the_texts_on_this_address(store: Store, here: None) -> None:
    study = voted(store)
    at = scored_by_a_press(store, study)
    (run,) = list_runs(store)
    assert run_data(store, run.run_id) == texts_of_study(store, study.study)[0]
    assert len(named(at)) == N_LEXICAL
    assert len(figures(at)) == 1
    assert at.query_params["tab"] in ("judges", ["judges"])


def test_the_page_has_the_numbers_of_the_notebook_best_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = voted(store)
    monkeypatch.setenv("ASSAY_DB", str(store.path))
    run = scored(store, *texts_of_study(store, study.study), metrics=METRICS)
    at = visit(study.study_id, "judges")
    frame = at.dataframe[0].value.set_index("metric")
    own = assay.votes("study:study", f"run:{run.run_id}").frame.set_index("metric")
    assert frame["agreement"].to_dict() == pytest.approx(own["agreement"].to_dict())
    assert frame["follows the level"].to_dict() == pytest.approx(own["follows"].to_dict())
    assert list(frame["agreement"]) == sorted(frame["agreement"], reverse=True)


def test_a_blind_study_is_scored_under_masks_and_names_no_system_anywhere(store: Store, here: None) -> None:
    study = marked_study(store, 3)
    at = scored_by_a_press(store, study)
    (run,) = list_runs(store)
    assert run_data(store, run.run_id) == pairs_of_study(store, study.study)[0]
    columns = set(at.dataframe[0].value.columns)
    assert "follows the level" in columns
    assert not columns & {"agreement", "metric and rater", "two raters"}
    shown = [everything(at)]
    for part in ("Progress", "Correlations", "Levels", "Meta-correlation"):
        shown.append(everything(visit_metrics(("run", run.run_id), part)))
    for secret in SYSTEMS:
        assert not any(secret in page for page in shown)


def test_a_column_named_after_a_system_is_hidden_while_a_study_is_blind(store: Store, here: None) -> None:
    study = marked_study(store, 3)
    scored_by_a_press(store, study)
    (run,) = list_runs(store)
    table = score_table(saved_run(store, run))
    names = (f"{SYSTEMS[0]}_likes", f"{SYSTEMS[1]}-likes", *(one.name for one in table.metrics[2:]))
    own = tuple(replace(one, name=name) for one, name in zip(table.metrics, names, strict=True))
    keep_file(store, "scores", f"{SYSTEMS[0]}.csv", write_scores_csv(replace(table, metrics=own), "wide"))
    at = visit(study.study_id, "judges")
    assert any("likes" in str(name) for name in at.dataframe[0].value["metric"])
    for secret in SYSTEMS:
        assert secret not in everything(at)


def test_scores_under_masks_count_once_the_study_is_unblinded(store: Store, here: None) -> None:
    study = varied(store)
    scored_by_a_press(store, study)
    for token in study.tokens.values():
        vote(store, token, lambda pair: "left" if len(pair.left) % 2 else "right")
    unblind(study)
    at = visit(study.study_id, "judges")
    assert len(named(at)) == N_LEXICAL
    assert "agreement" in at.dataframe[0].value


def test_scores_of_other_texts_are_not_of_this_study(store: Store) -> None:
    study = voted(store)
    scored(store, texts(3), "elsewhere.jsonl", metrics=METRICS)
    own = dataset(6, LEVELS)  # the same items, levels and systems, with other texts
    other = study_in(store, own, name="other")
    unblind(other)
    scored(store, *texts_of_study(store, other.study), metrics=METRICS)
    assert study_scores.fitting(store, study.study) == {}
    assert [kind for kind, _ in study_scores.fitting(store, other.study)] == ["run"]


def test_the_newest_run_of_a_metric_counts_unless_another_is_chosen(store: Store) -> None:
    study = voted(store)
    file = texts_of_study(store, study.study)
    first = scored(store, *file, metrics=METRICS[:2])
    second = scored(store, *file, metrics=METRICS[1:])
    record = released_record(store, study.study)
    names = [[one.name for one in table.metrics] for table in study_scores.tables(store, study.study, record)]
    assert names == [list(METRICS[1:]), [METRICS[0]]]
    at = visit(study.study_id, "judges")
    assert sorted(named(at)) == sorted(METRICS)
    only = visit(study.study_id, "judges", scores=f"run-{first.run_id}")
    assert sorted(named(only)) == sorted(METRICS[:2])
    assert second.run_id > first.run_id


def test_a_stored_table_of_its_texts_fits(store: Store) -> None:
    study = voted(store)
    run = scored(store, *texts_of_study(store, study.study), metrics=METRICS)
    table = score_table(saved_run(store, run.run_id))
    renamed = replace(table, metrics=tuple(replace(one, name=f"own-{one.name}") for one in table.metrics))
    kept = keep_file(store, "scores", "own.csv", write_scores_csv(renamed, "long"))
    stray = replace(renamed, rows=tuple(replace(row, item_id=f"x{row.item_id}") for row in renamed.rows))
    lost = keep_file(store, "scores", "stray.csv", write_scores_csv(stray, "long"))
    assert study_scores.n_texts(store, study.study, kept) == len(table.rows)
    assert study_scores.n_texts(store, study.study, lost) == 0
    assert list(study_scores.fitting(store, study.study)) == [("run", run.run_id), ("file", kept.file_id)]
    assert len(named(visit(study.study_id, "judges"))) == 2 * len(METRICS)


def test_a_pressed_judge_leads_to_the_pairs_where_it_and_the_raters_differ(store: Store) -> None:
    study = voted(store)
    scored(store, *texts_of_study(store, study.study), metrics=METRICS)
    at = visit(study.study_id, "judges", judge=open_study.judge_code(METRICS[0]))
    assert METRICS[0] in texts_of(at)
    press(at, "Show these pairs")
    assert at.session_state[f"study_tab_{study.study_id}"] == open_study.PAIRS
    asked = open_study.pairs_key(study.study_id)
    if asked in at.session_state:  # until the tab takes it
        assert at.session_state[asked] == PairFilter(judge=METRICS[0])


def test_while_a_run_is_at_work_there_are_estimates_and_then_intervals(store: Store) -> None:
    study, run = growing_study(store, 12)
    run.grow(6)
    at = visit(study.study_id, "judges")
    shown = at.dataframe[0].value
    assert "metric and rater" not in shown
    assert LATER not in shown.to_csv()
    order = named(at)
    run.grow(3)
    at.run()
    assert not at.exception
    assert named(at) == order, "no row jumps"
    assert not at.dataframe[0].value["follows the level"].equals(shown["follows the level"])
    run.grow(3)
    run.finish()
    at.run()
    assert not at.exception
    assert "metric and rater" in at.dataframe[0].value


def test_an_open_rating_study_waits_and_one_without_references_cannot_be_scored(store: Store) -> None:
    ratings = rating_study(store)
    plain = dataset(3, LEVELS)
    bare = study_in(
        store, replace(plain, items=tuple(replace(one, reference="") for one in plain.items)), name="bare"
    )
    for study in (ratings, bare):
        at = visit(study.study_id, "judges")
        assert not any(one.label.startswith("Score the texts") for one in at.button)


@pytest.mark.parametrize("levels", [(None,), ("0", "1", "2", "3")])
def test_a_rating_study_has_the_same_two_columns(store: Store, levels: tuple[str | None, ...]) -> None:
    outputs = rating_texts(5, levels=levels)
    cut = tuple(
        replace(
            one,
            text=" ".join(f"Reference {at}" for at in range(6 - number % 5)),
            reference=" ".join(f"Reference {at}" for at in range(6)),
        )
        for number, one in enumerate(outputs.outputs)
    )
    task = RatingTask("one", "One", "002", "2", "none", (OVERALL,), None)
    study = rating_study(store, replace(outputs, outputs=cut), task, name="rated", repeat_share=0)
    for rater in study.tokens:
        desk = study.desk(rater)
        while (number := desk.next_open()) is not None:
            desk.save_scores(number, {"overall": float(len(desk.text(number).text) % 90)})
            desk.complete(number, seconds=20.0)
    unblind_ratings(study)
    scored(store, *texts_of_study(store, study.study), metrics=METRICS)
    at = visit(study.study_id, "judges")
    shown = at.dataframe[0].value
    assert len(shown) == len(METRICS)
    assert shown["follows the ratings"].notna().all()
    assert shown["follows the level"].notna().all() == (levels != (None,))
    assert len(figures(at)) == 1


def test_undefined_scores_are_counted_with_their_reason(store: Store) -> None:
    study = voted(store)
    table = score_table(
        saved_run(store, scored(store, *texts_of_study(store, study.study), metrics=METRICS).run_id)
    )
    values = table.values.copy()
    values[:3, 0] = float("nan")
    gappy = replace(
        table,
        metrics=tuple(replace(one, name=f"own-{one.name}") for one in table.metrics),
        values=values,
    )
    keep_file(store, "scores", "own.csv", write_scores_csv(gappy, "long"))
    assert "3 scores missing" in texts_of(visit(study.study_id, "judges"))


def test_a_newer_source_of_fewer_texts_replaces_no_complete_scores(store: Store) -> None:
    study = voted(store)
    run = scored(store, *texts_of_study(store, study.study), metrics=METRICS)
    table = score_table(saved_run(store, run.run_id))
    table = replace(table, metrics=tuple(replace(one, name=f"own-{one.name}") for one in table.metrics))
    whole = keep_file(store, "scores", "whole.csv", write_scores_csv(table, "long"))
    few = replace(table, rows=table.rows[:3], values=table.values[:3], reasons={})
    keep_file(store, "scores", "few.csv", write_scores_csv(few, "long"))
    holes = table.values.copy()
    holes[2:] = float("nan")
    keep_file(store, "scores", "holes.csv", write_scores_csv(replace(table, values=holes), "long"))
    record = released_record(store, study.study)
    own = study_scores.tables(store, study.study, record)[1:]
    assert [one.file_name for one in own] == [whole.file_name]
    assert len(own[0].rows) == len(table.rows)


def test_a_link_to_pairs_has_the_scores_that_were_chosen(store: Store) -> None:
    study = voted(store)
    file = texts_of_study(store, study.study)
    first, second = (scored(store, *file, metrics=(one,)) for one in METRICS[:2])
    for run in (first, second):
        at = visit(study.study_id, "pairs", scores=f"run-{run.run_id}")
        assert at.session_state[study_scores.place_of(study.study)] == [("run", run.run_id)]
        assert at.query_params["scores"] in (f"run-{run.run_id}", [f"run-{run.run_id}"])


def test_after_a_run_that_ended_without_a_score_the_texts_can_be_scored_again(
    store: Store, here: None
) -> None:
    study = varied(store)
    at = visit(study.study_id, "judges")
    press(at, f"Score the texts with {N_LEXICAL} lexical metrics")
    finish_run(store, 1, "failed", "broken")
    at = visit(study.study_id, "judges")
    assert any(one.label.startswith("Score the texts") for one in at.button)


@pytest.mark.parametrize("state", ["unblinded", "open"])
def test_scores_of_different_texts_of_the_study_stand_side_by_side(store: Store, state: str) -> None:
    study = voted(store) if state == "unblinded" else varied(store)
    file = texts_of_study(store, study.study) if state == "unblinded" else pairs_of_study(store, study.study)
    run = scored(store, *file, metrics=METRICS)
    table = score_table(saved_run(store, run.run_id))
    half = len(table.rows) // 2
    for at, part in enumerate((slice(half), slice(half, None))):
        metrics = tuple(replace(one, name=f"half{at}-{one.name}") for one in table.metrics)
        one = replace(table, metrics=metrics, rows=table.rows[part], values=table.values[part], reasons={})
        keep_file(store, "scores", f"half{at}.csv", write_scores_csv(one, "long"))
    at = visit(study.study_id, "judges", scores=["file-1", "file-2"])
    assert not at.error
    assert len(named(at)) == 2 * len(METRICS)


def test_a_run_that_ended_early_is_resumed_on_this_address(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    monkeypatch.setattr(run_panel, "start", lambda run: begun.append(run.run_id))
    study, run = growing_study(store, 12)
    run.grow(6)
    finish_run(store, run.run_id, "failed", "broken")
    at = visit(study.study_id, "judges")
    press(at, "Resume")
    assert not at.exception
    assert begun == [list_runs(store)[0].run_id]

"""The JSON of `report pairs` has these keys: programs read them, so none goes and none changes its place."""

from pathlib import Path

from helpers.key_paths import COUNTED, ENDS, paths, under

import assay

BOTH = (*COUNTED, "low_t", "high_t", "interval_t_reason", "n_clusters")
MEASURES = ("agreement", "agreement_raters", "gap", "kappa", "kappa_raters", "ac1", "ac1_raters")
ALT_TEST = ("epsilon", "winning_rate", "passed", "ceiling_winning_rate", "ceiling_reason")


def test_every_key_is_where_it_was(demo_database: Path) -> None:
    found = assay.pairs("run:1", "demo", resamples=50, db=demo_database).json
    places = ("first", "second", "both_good", "both_bad", "tie", "none")
    position = ("first", "second", "n_first", "n_second", "p", "reason")
    top = ("judge", "both_orders", "n_repeats", "confidence_level", "systems_reason", "repeats", "left_out")
    assert set(paths(found)) == (
        {*top, "notes", "said"}
        | under("orders[]", "level", "n_pairs", "n_items", "flips_first", "n_flips")
        | {f"orders[].{name}.{end}" for name in ("same", "flips", "position.share_first") for end in COUNTED}
        | under("orders[].position", *position)
        | under("orders[].answers", "decided", "both_good", "both_bad", "tie", "contradicted")
        | under("orders[].verdicts", *places)
        | under("systems[]", "system", "level", "wins", "ties", "losses")
        | under("systems[].win_rate", *COUNTED)
        | under("votes", "study", "raters", "left_out", "notes")
        | under("votes.raters_position", "left", "right", "n", "share_left", "low", "high", "p", "reason")
        | under("votes.blocks[]", "level", "answers", "n_pairs", "n_questions", "reason")
        | {f"votes.blocks[].{name}.{end}" for name in MEASURES for end in BOTH}
        | under("votes.blocks[].alt_test", *ALT_TEST)
        | under("votes.blocks[].alt_test.advantage", *COUNTED)
        | under("votes.blocks[].alt_test.ceiling", *ENDS)
    )

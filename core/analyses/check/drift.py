"""A later check beside an earlier one: did the judge change, the systems, or the raters?"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analyses.check.rows import Change, Drift, JudgeDrift, MeanChange, RowsKept
from core.budget import Drawing
from core.errors import InputError
from core.results.check.rules import FEWEST_ITEMS
from core.results.check.texts import own_texts, shares_of
from core.results.check.verdict import Check, JudgeCheck
from core.schema.result_table import Interval
from core.schema.rows import json_of
from core.stats.multiplicity import corrected, smallest_shown
from core.stats.resampling import Floats
from core.tables.reading import shown

MOST_ROWS = 20_000
"""Texts above which the JSON of a check holds no rows."""
LEVEL = 0.05
"""Probability of any false claim."""
CONFIDENCE = 0.95
POWER = 0.8
"""Probability with which the smallest change would have been shown."""
FEWEST_OF_A_STRATUM = 5
"""Texts with one mean rating, on both sides, from which they are compared."""
MOST_STRATA = 12
"""Most different mean ratings that are strata of their own; more are cut into tenths."""
FEWEST_OF_A_SYSTEM = 10
_ALL = "all"
_SAME = 1e-6
_PLACES = 6


# --- rows of a check, for a later one ----------------------------------------------------------


def rows_kept(check: Check) -> tuple[RowsKept | None, str | None]:
    """Item, system, level, mean rating, number of ratings and scores of each text, in lists without texts or names.

    None, with the reason, for more than MOST_ROWS texts.
    """
    panel = check.panel
    if len(panel.rows) > MOST_ROWS:
        why = f"more than {MOST_ROWS:,} texts: a later check compares estimates, not texts"
        return None, why
    people = own_texts(panel, None)
    among_raters = _spread(
        len(panel.rows), people.rows, shares_of(people)[1] if people.classes else np.empty(0)
    )
    judges: dict[str, Any] = {}
    for at, (name, one) in enumerate(zip(panel.judges, check.judges, strict=True)):
        own = own_texts(panel, at)
        shares = shares_of(own)[0] if own.classes else np.empty(0)
        judges[name] = {
            "score": _plain(_spread(len(panel.rows), own.rows, own.scores)),
            "agreement": _plain(_spread(len(panel.rows), own.rows, shares)),
            "influence": _influence(check, at, one),
        }
    kept = RowsKept(
        scale=tuple(float(end) for end in people.ends),
        ordered=people.ordered,
        item=tuple(row.item_id for row in panel.rows),
        system=tuple(row.system for row in panel.rows),
        level=tuple(None if row.level is None else str(row.level) for row in panel.rows),
        mean=tuple(_plain(_spread(len(panel.rows), people.rows, people.means))),
        ratings=tuple((~np.isnan(panel.ratings)).sum(axis=1).tolist()),
        rater_agreement=tuple(_plain(among_raters)),
        judges=judges,
    )
    return kept, None


def _influence(check: Check, at: int, judge: JudgeCheck) -> dict[str, dict[str, list[Any]]]:
    """Rule -> items, and what each moves the number that the rule compares with its limit; the values sum to 0."""
    panel = check.panel
    tested = own_texts(panel, at, unscored=check.options.missing_judge != "leave-out")
    numbers, first = np.unique(panel.items, return_index=True)
    names = dict(zip(numbers.tolist(), (panel.rows[row].item_id for row in first), strict=True))
    items = np.unique(tested.items)
    found = {}
    for rule in judge.rules:
        if rule.behind is None:
            continue
        values = rule.behind.influence
        if values.ndim == 2:
            values = values[:, 1 if rule.code == "kept-share" else 0]
        if values.size == rule.behind.items.size and not np.isnan(values).any():
            found[rule.code] = {
                "items": [names[item] for item in items[rule.behind.items].tolist()],
                "values": [float(f"{value:.6g}") for value in values.tolist()],
            }
    return found


def _spread(n: int, rows: NDArray[np.intp], values: Floats) -> Floats:
    """The values at their rows; NaN elsewhere, and everywhere if there are none."""
    whole = np.full(n, np.nan)
    if values.size:
        whole[rows] = values
    return whole


def _plain(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), _PLACES) for value in values]


@dataclass(frozen=True)
class _Rows:
    """The texts of one check. Arrays have shape (n,)."""

    keys: tuple[tuple[object, ...], ...]
    """Item, system, level, and a number where several texts share them."""
    items: NDArray[np.str_]
    systems: NDArray[np.str_]
    mean: Floats
    ratings: Floats
    among_raters: Floats
    score: Mapping[str, Floats]
    agreement: Mapping[str, Floats]
    scale: tuple[float, float]
    ordered: bool


def _rows_of(given: Mapping[str, Any]) -> _Rows:
    """Raises KeyError, TypeError or ValueError for anything but the `rows` of a check."""
    n = len(given["item"])

    def numbers(values: Sequence[float | None]) -> Floats:
        found = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        if found.shape != (n,):
            raise ValueError("columns differ in length")
        return found

    seen: Counter[object] = Counter()
    keys = []
    for key in zip(given["item"], given["system"], given["level"], strict=True):
        keys.append((*key, seen[key]))
        seen[key] += 1
    low, high = given["scale"]
    return _Rows(
        tuple(keys),
        np.array([str(item) for item in given["item"]], dtype=str),
        np.array([str(system) for system in given["system"]], dtype=str),
        numbers(given["mean"]),
        numbers(given["ratings"]),
        numbers(given["rater_agreement"]),
        {str(name): numbers(one["score"]) for name, one in given["judges"].items()},
        {str(name): numbers(one["agreement"]) for name, one in given["judges"].items()},
        (float(low), float(high)),
        bool(given["ordered"]),
    )


def _finite(text: str) -> float:
    """A number of a JSON file. Raises ValueError for infinities, which no check writes."""
    number = float(text)
    if not np.isfinite(number):
        raise ValueError(f"{text} is no finite number")
    return number


def _is_estimate(value: object) -> bool:
    """Whether a JSON value is an estimate with its ends. Raises OverflowError for an integer that no float holds."""
    if not isinstance(value, dict):
        return False
    ends = [value.get(name) for name in ("estimate", "low", "high")]
    return all(end is None or (isinstance(end, int | float) and np.isfinite(float(end))) for end in ends)


def read_earlier(data: bytes, name: str) -> dict[str, Any]:
    """The JSON of an earlier check. Raises InputError for anything else."""
    Drawing(name).draw_json(data)
    try:
        found = json.loads(data, parse_constant=_finite, parse_float=_finite)
        known = isinstance(found, dict) and isinstance(found["use"], str) and isinstance(found["human"], dict)
        known = known and all(
            isinstance(one["name"], str) and _is_estimate(one["agreement"]) and _is_estimate(one["bias"])
            for one in found["judges"]
        )
        if known and found.get("rows") is not None:
            _rows_of(found["rows"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        known = False
    if known and "judges_paid_for" not in found:
        raise InputError(
            f"{shown(name)} was written by an earlier version, whose rules were others. Check the earlier labels again with this one."
        )
    if not known:
        raise InputError(
            f"{shown(name)} is no result of an earlier check. Name the JSON that `check` printed or wrote."
        )
    return dict(found)


# --- changes -----------------------------------------------------------------------------------


def drift(check: Check, earlier: Mapping[str, Any]) -> Drift:
    """Compare a check with the JSON of an earlier one of the same use.

    A judge is compared on the texts that both checks hold with the same ratings, if they are of FEWEST_ITEMS items or more:
    there only the judge can have changed. Otherwise it is compared on all texts at equal mean ratings, by direct
    standardisation over mean ratings, so that better or worse texts alone are no change of the judge. The systems are
    compared by the people's mean rating on texts that are not the same. Intervals: 95 %, t over items, by linearisation, with
    two further items as in Agresti and Min (2005); items in both checks are paired. Claims: Holm over all tests.

    Misleads if texts of the same mean rating became harder to judge, which counts as a change of the judge, and if the
    ratings are so noisy that a mean rating says little about a text. Raises InputError for another use, or if no judge is in both.
    """
    problems = []
    if earlier["use"] != check.use:
        problems.append(
            f"against: the earlier check was made for the use {shown(earlier['use'])}, this one for {check.use}"
        )
    before = {one["name"]: one for one in earlier["judges"]}
    names = [one.name for one in check.judges if one.name in before]
    if not names:
        problems.append(
            f"against: no judge is in both checks. Earlier: {', '.join(map(shown, before)) or 'none'}; "
            f"now: {', '.join(shown(one.name) for one in check.judges)}"
        )
    if problems:
        raise InputError("The checks cannot be compared", problems)
    notes = [
        f"only in {which}: {', '.join(map(shown, lacking))}"
        for which, lacking in (
            ("the earlier check", [name for name in before if name not in names]),
            ("this check", [one.name for one in check.judges if one.name not in before]),
        )
        if lacking
    ]
    kept, _ = rows_kept(check)
    same_raters = set(earlier["human"].get("raters", ())) == set(check.panel.raters)
    if kept is None or earlier.get("rows") is None:
        notes.append("no rows of single texts in one of the checks: only estimates are compared")
        judges = tuple(_drift_of_estimates(check, before[name], name) for name in names)
        return _corrected(_begun(judges, (), None, False, same_raters, notes))
    now, then = _rows_of(json_of(kept)), _rows_of(earlier["rows"])
    pairs = _same(now, then)
    same_labels = len(pairs) == len(now.keys) == len(then.keys)
    width = max(now.scale[1], then.scale[1]) - min(now.scale[0], then.scale[0])
    new = tuple(
        np.setdiff1d(np.flatnonzero(~np.isnan(side.mean)), pairs[:, place])
        for place, side in enumerate((now, then))
    )
    judges = tuple(_judge_drift(check, before[name], name, now, then, pairs, width) for name in names)
    people = _people_changes(now, then, new, width) if now.ordered and then.ordered and width > 0 else ()
    raters = _changed(
        "", "raters", _side(now, now.among_raters, new[0]), _side(then, then.among_raters, new[1])
    )
    compared = None if raters.p.value is None else raters
    return _corrected(_begun(judges, people, compared, same_labels, same_raters, notes))


def _begun(
    judges: Sequence[JudgeDrift],
    people: Sequence[Change],
    raters: Change | None,
    same_labels: bool,
    same_raters: bool,
    notes: Sequence[str],
) -> Drift:
    """What is compared, before any change is claimed."""
    return Drift(
        sentences=(),
        judge_changed=False,
        systems_changed=False,
        raters_changed=False,
        same_labels=same_labels,
        same_raters=same_raters,
        judges=tuple(judges),
        people=tuple(people),
        raters=raters,
        n_tests=0,
        notes=tuple(notes),
    )


def _same(now: _Rows, then: _Rows) -> NDArray[np.intp]:
    """Rows (n, 2), now and earlier, of the texts with equal key, mean rating and number of ratings."""
    place = {key: at for at, key in enumerate(then.keys)}
    pairs = [
        (at, place[key])
        for at, key in enumerate(now.keys)
        if key in place
        and now.ratings[at] == then.ratings[place[key]] > 0
        and abs(now.mean[at] - then.mean[place[key]]) < _SAME
    ]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


@dataclass(frozen=True)
class _Side:
    """Values of one check."""

    values: Floats
    items: NDArray[np.str_]
    strata: NDArray[np.float64]


def _side(rows: _Rows, values: Floats, at: NDArray[np.intp], *, by_rating: bool = False) -> _Side:
    at = at[~np.isnan(values[at])]
    strata = rows.mean[at] if by_rating else np.zeros(at.size)
    return _Side(values[at], rows.items[at], strata)


def _changed(whose: str, what: str, now: _Side, then: _Side) -> Change:
    """The change of a mean, standardised over strata, with a t interval over items."""
    sides = (now, then)
    means = [float(side.values.mean()) if side.values.size else None for side in sides]
    strata = _cut(now.strata, then.strata)
    counts = [
        np.bincount(one, minlength=1 + max((int(both.max(initial=0)) for both in strata), default=0))
        for one in strata
    ]
    single = len(counts[0]) == 1
    used = (counts[0] >= FEWEST_OF_A_STRATUM) & (counts[1] >= FEWEST_OF_A_STRATUM)
    if single:
        used = (counts[0] >= 2) & (counts[1] >= 2)
    weights = np.where(used, counts[0] + counts[1], 0.0)
    if not used.any():
        return _untested(whose, what, means[1], means[0], "no comparable texts in both checks")
    weights = weights / weights.sum()
    names = np.unique(np.concatenate([side.items for side in sides]))
    influence = np.zeros(names.size)
    estimate, n_items, n_used = 0.0, [], 0
    for sign, side, stratum, count in zip((1, -1), sides, strata, counts, strict=True):
        kept = used[stratum]
        of, values, n = stratum[kept], side.values[kept], np.maximum(count, 1)
        mean = np.bincount(of, values, minlength=n.size) / n
        estimate += sign * float(weights @ np.where(used, mean, 0.0))
        more = np.sqrt(n / np.maximum(n - 1, 1))  # a residual from a mean of few texts is too small
        parts = sign * (weights / n * more)[of] * (values - mean[of])
        np.add.at(influence, np.searchsorted(names, side.items[kept]), parts)
        n_items.append(int(np.unique(side.items[kept]).size))
        n_used = n_used or int(kept.sum())
    fewest = min(n_items)
    if fewest < 2:
        return _untested(whose, what, means[1], means[0], "fewer than two items")
    error = float(np.sqrt((influence**2).sum() + 2 / fewest**2))
    return _tested(whose, what, means[1], means[0], estimate, error, fewest - 1, n_used)


def _cut(now: Floats, then: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number of the stratum of each value: of each distinct value, or of tenths of both sides."""
    both = np.round(np.concatenate([now, then]), _PLACES)
    values = np.unique(both)
    if values.size > MOST_STRATA:
        edges = np.unique(np.quantile(both, np.linspace(0.1, 0.9, 9)))
        codes = np.searchsorted(edges, both)
    else:
        codes = np.searchsorted(values, both)
    return codes[: now.size], codes[now.size :]


def _tested(
    whose: str,
    what: str,
    earlier: float | None,
    now: float | None,
    estimate: float,
    error: float,
    df: float,
    n: int,
) -> Change:
    from scipy.special import stdtr, stdtrit  # imported lazily: most commands need no quantile

    reach = float(stdtrit(df, (1 + CONFIDENCE) / 2)) * error
    return Change(
        whose=whose or _ALL,
        what=what,
        earlier=earlier,
        now=now,
        change=Interval(estimate, estimate - reach, estimate + reach, n=n, n_left_out=0),
        p=Interval(float(2 * stdtr(df, -abs(estimate) / error))),
        error=error,
        df=df,
        p_holm=None,
        smallest=None,
        n_texts=n,
        of=whose or None,
        shown=False,
    )


def _untested(whose: str, what: str, earlier: float | None, now: float | None, why: str) -> Change:
    """A number that cannot be compared."""
    nothing = Interval(None, n=0, n_left_out=0, reason=why, interval_reason=why)
    p = Interval(None, reason=why)
    return Change(
        *(whose or _ALL, what, earlier, now, nothing, p, None, np.inf, None, None, 0, whose or None, False)
    )


def _judge_drift(
    check: Check,
    before: Mapping[str, Any],
    name: str,
    now: _Rows,
    then: _Rows,
    pairs: NDArray[np.intp],
    width: float,
) -> JudgeDrift:
    one = next(judge for judge in check.judges if judge.name == name)
    scores = (now.score[name], then.score[name])
    both = pairs[~np.isnan(scores[0][pairs[:, 0]]) & ~np.isnan(scores[1][pairs[:, 1]])]
    is_same = np.unique(now.items[both[:, 0]]).size >= FEWEST_ITEMS
    rows = [both[:, 0], both[:, 1]] if is_same else [np.flatnonzero(~np.isnan(score)) for score in scores]
    by_rating = not is_same

    def changed(what: str, values: tuple[Floats, Floats]) -> Change:
        sides = [
            _side(side, own, at, by_rating=by_rating)
            for side, own, at in zip((now, then), values, rows, strict=True)
        ]
        return _changed(name, what, *sides)

    changes = []
    if one.agreement is not None and before["agreement"].get("estimate") is not None:
        changes.append(changed("agreement", (now.agreement[name], then.agreement[name])))
    else:
        changes += [
            one for one in _drift_of_estimates(check, before, name).changes if one.what == "correlation"
        ]
    on_scale = width > 0 and one.bias is not None and before["bias"].get("estimate") is not None
    mean = None
    if on_scale:
        biases = tuple((score - side.mean) / width for score, side in zip(scores, (now, then), strict=True))
        changes.append(changed("bias", (biases[0], biases[1])))
        mean = _decomposed(now, then, scores, width)
    elif now.ordered:
        spread = float(np.nanstd(np.concatenate(scores)))
        if spread > 0:
            changes.append(changed("score", (scores[0] / spread, scores[1] / spread)))
    moved = np.abs(scores[0][both[:, 0]] - scores[1][both[:, 1]]) > _SAME
    return JudgeDrift(
        name,
        False,
        "same" if is_same else "equal ratings",
        len(both),
        float(moved.mean()) if moved.size else None,
        mean,
        tuple(changes),
    )


def _decomposed(now: _Rows, then: _Rows, scores: tuple[Floats, Floats], width: float) -> MeanChange | None:
    means = []
    for side, own in zip((now, then), scores, strict=True):
        used = ~np.isnan(own) & ~np.isnan(side.mean)
        if not used.any():
            return None
        means.append((float(own[used].mean()) / width, float(side.mean[used].mean()) / width))
    judge, people = (means[0][at] - means[1][at] for at in (0, 1))
    return MeanChange(judge, people, judge - people)


def _people_changes(
    now: _Rows, then: _Rows, new: Sequence[NDArray[np.intp]], width: float
) -> tuple[Change, ...]:
    """The change of the mean rating on new texts, over all and by system."""
    values = (now.mean / width, then.mean / width)
    whole = _changed("", "people", _side(now, values[0], new[0]), _side(then, values[1], new[1]))
    if whole.p.value is None:
        return ()
    found = [whole]
    shared = sorted(set(now.systems[new[0]]) & set(then.systems[new[1]]))
    for system in shared if len(shared) > 1 else ():
        rows = [at[side.systems[at] == system] for side, at in zip((now, then), new, strict=True)]
        if min(at.size for at in rows) >= FEWEST_OF_A_SYSTEM:
            found.append(
                _changed(system, "people", _side(now, values[0], rows[0]), _side(then, values[1], rows[1]))
            )
    return tuple(found)


def _drift_of_estimates(check: Check, before: Mapping[str, Any], name: str) -> JudgeDrift:
    """The judge's changes from the estimates of both checks and their intervals, as if they had no text in common."""
    one = next(judge for judge in check.judges if judge.name == name)
    level = check.options.confidence_level
    changes = []
    quality = ("correlation", one.correlation) if one.agreement is None else ("agreement", one.agreement)
    for what, found in (quality, ("bias", one.bias)):
        then = before.get(what) or {}
        if found is None or found.estimate is None or then.get("estimate") is None:
            continue
        errors = [_error(found.low, found.high, level), _error(then.get("low"), then.get("high"), level)]
        if None in errors:
            continue
        error = float(np.hypot(*errors))  # type: ignore[arg-type]  # neither is None here
        changes.append(
            _tested(
                name,
                what,
                then["estimate"],
                found.estimate,
                found.estimate - then["estimate"],
                error,
                np.inf,
                found.n,
            )
        )
    return JudgeDrift(name, False, "estimates", 0, None, None, tuple(changes))


def _error(low: float | None, high: float | None, level: float) -> float | None:
    """The standard error that an interval rests on."""
    from scipy.special import ndtri

    return (
        None
        if low is None or high is None or low == high
        else (high - low) / 2 / float(ndtri((1 + level) / 2))
    )


def _corrected(found: Drift) -> Drift:
    """The result with Holm's p over all tests, and the smallest change that would have been shown."""
    paid = corrected([one.p.value for one in found.changes], "holm")
    n_tests = sum(p is not None for p in paid)
    places = iter(paid)

    def with_p(one: Change) -> Change:
        p = next(places)
        smallest = None
        if one.error is not None:
            smallest = smallest_shown(one.error, one.df, n_tests=n_tests, alpha=LEVEL, power=POWER)
        return replace(one, p_holm=p, smallest=smallest, shown=p is not None and p <= LEVEL)

    judges = []
    for one in found.judges:
        changes = tuple(map(with_p, one.changes))
        judges.append(replace(one, changes=changes, changed=any(each.shown for each in changes)))
    people = tuple(map(with_p, found.people))
    raters = None if found.raters is None else with_p(found.raters)
    whole = replace(
        found,
        judges=tuple(judges),
        people=people,
        raters=raters,
        n_tests=n_tests,
        judge_changed=any(one.changed for one in judges),
        systems_changed=any(one.shown for one in people),
        raters_changed=raters is not None and raters.shown,
    )
    return replace(whole, sentences=tuple(_said(whole)))


# --- sentences ---------------------------------------------------------------------------------

_NAMED = {
    "agreement": "agreement",
    "bias": "bias",
    "score": "mean score, in standard deviations,",
}


def _said(found: Drift) -> list[str]:
    """What changed: each judge, then the systems, then the raters."""
    said = [_judge_said(one) for one in found.judges]
    if found.same_labels:
        said.append("The texts and their ratings are the same, so only the judge can have changed.")
    shown_changes = [one for one in found.people if one.shown]
    who = "systems" if found.same_raters else "systems or the raters"
    if shown_changes:
        each = "; ".join(
            f"{f'{shown(one.of)}: ' if one.of else ''}the people's mean rating {_moved(one)} of the scale"
            for one in shown_changes
        )
        said.append(f"The {who} changed: {each}.")
    elif found.people:
        smallest = found.people[0].smallest
        said.append(
            f"No change of the {who} is shown; a change of the people's mean rating of {_size(smallest)} of the scale or "
            "more would have been seen."
        )
    if found.raters is not None and found.raters.shown:
        more = "more" if (found.raters.change.value or 0) > 0 else "less"
        said.append(f"The raters agree {more} with each other: agreement among them {_moved(found.raters)}.")
    return said


def _judge_said(one: JudgeDrift) -> str:
    changes = [change for change in one.changes if change.shown]
    where = {
        "same": f"on the same {one.n_same:,} texts",
        "equal ratings": "at equal ratings of other texts",
        "estimates": "on the texts of each check",
    }[one.on]
    if changes:
        who = "The judge, or the texts," if one.on == "estimates" else "The judge"
        each = " and ".join(f"its {_NAMED[change.what]} {_moved(change)}" for change in changes)
        return f"{who} changed: {shown(one.name)}, {where}: {each}."
    tested = [change for change in one.changes if change.smallest is not None]
    if not tested:
        return f"{shown(one.name)}: nothing could be compared."
    if one.share_changed == 0 and one.on == "same":
        return f"{shown(one.name)} gave the same {one.n_same:,} texts the same scores: the judge did not change there."
    seen = " or ".join(
        f"of {_NAMED[change.what].rstrip(',')} of {_size(change.smallest)}" for change in tested
    )
    return f"{shown(one.name)}: no change is shown {where}; a change {seen} or more would have been seen."


def _size(value: float | None) -> str:
    return "any size" if value is None else f"{value:.2f}"


def _moved(change: Change) -> str:
    found = change.change
    assert found.value is not None
    way = "rose" if found.value > 0 else "fell"
    return f"{way} by {abs(found.value):.2f} [{found.low:+.2f}, {found.high:+.2f}]"

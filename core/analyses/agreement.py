"""Agreement of people with each other, without a judge: by class, by distance, pair by pair, and who is harsher."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.schema.analysis import (
    Analysis,
    Caution,
    Table,
    Tell,
    Verdict,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.figures import AnyFigure, Axis, Intervals
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from core.schema.panel import Panel
    from core.schema.scale import Kind
    from core.stats.agreement import Severity
    from core.stats.resampling import Estimate, Floats

FEWEST_ITEMS = 10
"""With fewer items nothing is claimed. From here on, full agreement that rests on no single item is shown, too."""
_BY_CHANCE = 1 / 45
"""Most that chance gives to full agreement on FEWEST_ITEMS items without a single deciding one: 2 of 10 items, both the same."""
_FEW_TELLING = 30
"""Items with a rating other than the most frequent one below which intervals are too narrow; simulated: docs/simulations/agreement.md."""
_MOST_NAMED = 3
"""Raters whose difference a sentence of its own reports."""
_MOST_ROWS = 40
"""Raters or pairs up to which a terminal shows them, and a figure draws the raters."""

MEASURES: Mapping[str, str] = {
    "agreement": "Raw agreement",
    "kappa": "Cohen's kappa",
    "kappa-quadratic": "Quadratic kappa",
    "ac1": "Gwet's AC1",
    "alpha": "Krippendorff's alpha",
    "icc": "ICC(2,1)",
}
"""Code of a measure -> its name."""
BY_SCALE: "Mapping[Kind, tuple[str, ...]]" = {
    "two": ("kappa", "agreement", "ac1", "alpha"),
    "unordered": ("kappa", "agreement", "ac1", "alpha"),
    "ordered": ("kappa-quadratic", "agreement", "kappa", "ac1", "alpha", "icc"),
    "scores": ("alpha", "icc"),
}
"""Kind of a scale -> its measures; the verdict is about the first."""
_OF_A_PAIR = ("agreement", "kappa", "kappa-quadratic", "ac1")
DISTANCES: "Mapping[Kind, str]" = {
    "two": "nominal",
    "unordered": "nominal",
    "ordered": "ordinal",
    "scores": "interval",
}
"""Kind of a scale -> the distance of Krippendorff's alpha."""


class AgreementOptions(Settings):
    """Options of the agreement between raters."""

    little: float = setting(
        0.2,
        "Little agreement",
        "agreement above chance, 0 to 1, below which raters agree little; the default is a choice, not a convention",
        at_least=0,
        below=1,
        step=0.05,
    )
    n_resamples: int = resamples_setting(1_000, "draws of items for intervals of Spearman's correlation")
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class MeasureRow:
    """One measure of agreement between all raters."""

    measure: str = column("the measure", names_row=True)
    code: str = column("its name for programs", shown=False, key="")
    value: Interval = column("agreement with its interval over items", ends="object")
    n_texts: int = column("texts that count: with two ratings, for the ICC with all", title="texts")
    n_items: int = column("their items", title="items")
    n_left_out: int = column("rated texts that do not count", title="left out")


@row
class PairRow:
    """Two raters on the texts that both rated."""

    first: str = column("a rater", names_row=True)
    second: str = column("the other rater", names_row=True)
    n_texts: int = column("texts that both rated", title="texts")
    agreement: Interval = column("share of texts with the same class", title="raw agreement", ends="object")
    kappa: Interval = column("Cohen's kappa", title="Cohen's kappa", ends="object")
    kappa_quadratic: Interval = column("kappa with quadratic weights", title="quadratic kappa", ends="object")
    ac1: Interval = column("Gwet's AC1", title="Gwet's AC1", ends="object")
    spearman: Interval = column("rank correlation", title="Spearman", ends="object")


@row
class RaterRow:
    """One rater beside the other raters of the same texts."""

    rater: str = column("the rater", names_row=True)
    n_texts: int = column("texts that the rater rated", title="texts")
    share_rated: float = column("their share of all rated texts", title="share rated", percent=True)
    n_compared: int = column("those that another rater rated, too", title="compared")
    mean: float | None = column("mean of own ratings on them")
    mean_others: float | None = column("mean of the other raters on them", title="mean of others")
    passed: float | None = column("share of the better class among own ratings", title="passes", percent=True)
    passed_others: float | None = column(
        "share of the better class among the other raters' ratings", title="others pass", percent=True
    )
    difference: Interval = column(
        "own rating minus the others' mean, averaged over texts: below 0 is harsher",
        title="minus others",
        ends="object",
    )
    p: float | None = column("two-sided p of no difference", p_value=True)
    p_holm: float | None = column("p corrected for the number of raters", title="Holm p", p_value=True)
    standing: str = column(
        "harsher or more lenient than the others, if that is shown", title="compared with others"
    )
    constant: str = column("the only rating that the rater gave; empty if there are several", title="always")


@row
class Agreement:
    """Agreement between all raters of a panel."""

    verdict: str = entry("agree, little-better-than-chance, not-shown or undefined")
    sentence: str = entry("the verdict in a sentence")
    reason: str | None = entry("why the verdict is undefined or not shown")
    by: str = entry("the measure that the verdict is about")
    scale: str = entry("the raters' scale, and where it comes from")
    kind: str = entry("kind of the scale: two, unordered, ordered or scores")
    distance: str = entry("distance of Krippendorff's alpha: nominal, ordinal or interval")
    measures: tuple[MeasureRow, ...] = entry("each measure by its code", rows=MeasureRow, keyed_by="code")
    pairs: tuple[PairRow, ...] = entry("each pair of raters; empty where there are too many", rows=PairRow)
    raters: tuple[RaterRow, ...] = entry("each rater by name", rows=RaterRow, keyed_by="rater")
    n_texts: int = entry("texts with a rating")
    n_items: int = entry("their items")
    little: float = entry("agreement above chance below which raters agree little")
    confidence_level: float = entry("of the intervals")
    correction: str = entry("how p is corrected over raters")
    left_out: Mapping[str, int] = entry("reason -> ratings that were left out")
    notes: tuple[str, ...] = entry("what was read, left out and assumed")


def compute(options: AgreementOptions, panel: "Panel", *, tell: Tell) -> Agreement:
    """Measure how far the raters of the panel agree. Judges in it do not matter.

    Raises SettingsError with all problems: fewer than two raters, no text that two raters rated.
    """
    import numpy as np

    rated = ~np.isnan(panel.ratings).all(axis=1)
    ratings, items = panel.ratings[rated], panel.items[rated]
    n_off = 0
    if panel.scale.classes:
        off = ~np.isnan(ratings) & ~panel.scale.on_offer(ratings)
        n_off, ratings = int(off.sum()), np.where(off, np.nan, ratings)
    paired = (~np.isnan(ratings)).sum(axis=1) > 1
    ANALYSIS.refuse(_problems(panel, bool(paired.any())))
    tell("comparing raters")
    kind = panel.scale.kind
    level = options.confidence_level
    measures = tuple(
        MeasureRow(MEASURES[code], code, *_counted(found, len(ratings)))
        for code, found in _measured(panel, ratings, items, level, BY_SCALE[kind]).items()
    )
    raters = _rater_rows(panel, ratings, items, options)
    n_telling = _telling_items(ratings, items)
    verdict = _judged(measures[0], len(panel.raters), options, panel.unit.undecided_said, n_telling, kind)
    verdict = _withdraw_claim(verdict, measures[0], raters)
    if panel.scale.penalties and not np.nan_to_num(ratings).any():
        said = f"{len(panel.raters):,} raters: agreement is undefined, because {NO_ERROR}."
        verdict = _verdict("undefined", said, NO_ERROR)
    return Agreement(
        verdict=verdict.code,
        sentence=verdict.sentence,
        reason=verdict.reason or None,
        by=measures[0].code,
        scale=panel.scale.read_as,
        kind=kind,
        distance=DISTANCES[kind],
        measures=measures,
        pairs=_pair_rows(panel, ratings, items, options),
        raters=raters,
        n_texts=len(ratings),
        n_items=len(np.unique(items)),
        little=options.little,
        confidence_level=level,
        correction="holm",
        left_out=dict(panel.left_out),
        notes=_notes(panel, ratings, int((~paired).sum()), n_off, n_telling),
    )


def _telling_items(ratings: "Floats", items: Any) -> int:
    """Items with a rating other than the most frequent one: only they tell whether raters agree on more than that."""
    import numpy as np

    known = ~np.isnan(ratings)
    given, counts = np.unique(ratings[known], return_counts=True)
    return len(np.unique(items[(known & (ratings != given[counts.argmax()])).any(axis=1)]))


def _problems(panel: "Panel", paired: bool) -> list[Remark]:
    from core.tables.problems import listed

    if len(panel.raters) < 2:
        found = {"raters": listed(panel.raters) if panel.raters else "none"}
        text = "at least two raters are needed, because each is compared with the others; found {raters}"
        return [Remark("human", text, found)]
    return [] if paired else [Remark("human", "no text has ratings by two raters")]


def _codes(panel: "Panel", ratings: "Floats") -> "Floats":
    """The place of each rating among the classes of the scale; NaN for none."""
    import numpy as np

    codes = np.full(ratings.shape, np.nan)
    for place, value in enumerate(panel.scale.classes):
        codes[ratings == value] = place
    return codes


def _measured(
    panel: "Panel", ratings: "Floats", items: Any, level: float, wanted: Sequence[str]
) -> "dict[str, Estimate]":
    """Code of a measure -> its value over all raters, for those of the wanted measures that suit the scale."""
    from dataclasses import replace

    import numpy as np

    from core.stats import agreement as stats
    from core.stats import in_place
    from core.stats.resampling import mean_share
    from core.stats.votes import MISSING

    kind, n_classes = panel.scale.kind, max(len(panel.scale.classes), 2)
    over: dict[str, Any] = {"clusters": items, "confidence_level": level}
    drawn: dict[str, Any] = {**over, "n_resamples": 0}
    codes = _codes(panel, ratings)
    votes = np.where(np.isnan(codes), MISSING, codes).astype(np.int64)

    def raw() -> "Estimate":
        same, _ = stats.pair_shares(votes, np.full(len(votes), MISSING), n_classes)
        return mean_share(same, items, confidence_level=level)

    def ac1() -> "Estimate":
        found = stats.gwet_ac1(votes, n_categories=n_classes, **drawn).by_jackknife
        # The texts with one rating, which it counts for the shares of the classes, are no texts with an agreement.
        paired = (votes != MISSING).sum(axis=1) > 1
        return replace(found, n_clusters=len(np.unique(items[paired])))

    def alpha() -> "Estimate":
        if DISTANCES[kind] == "interval":
            return stats.interval_alpha(ratings, **drawn).by_jackknife
        of = stats.ordinal_alpha if DISTANCES[kind] == "ordinal" else stats.krippendorff_alpha
        return of(votes, n_categories=n_classes, **drawn).by_jackknife

    ways: dict[str, Callable[[], Estimate]] = {
        "agreement": raw,
        "kappa": lambda: in_place.raters_kappa(codes, n_classes, **over),
        "kappa-quadratic": lambda: in_place.raters_quadratic_kappa(ratings, **over),
        "ac1": ac1,
        "alpha": alpha,
        "icc": lambda: stats.intraclass_correlation(ratings, **drawn).by_jackknife,
    }
    return {code: ways[code]() for code in wanted if code in BY_SCALE[kind]}


def _counted(estimate: "Estimate", n_texts: int) -> tuple[Interval, int, int, int]:
    """A value, its texts, its items, and the rated texts that do not count."""
    from core.results.cells import interval

    return interval(estimate), estimate.n, estimate.n_clusters, n_texts - estimate.n


def _pair_rows(
    panel: "Panel", ratings: "Floats", items: Any, options: AgreementOptions
) -> tuple[PairRow, ...]:
    """Each pair of raters, in the order of the file; none where there are too many pairs for a table."""
    from dataclasses import replace
    from itertools import combinations

    import numpy as np

    from core.results.cells import interval
    from core.schema.scale import KINDS
    from core.stats.agreement import MOST_PAIRS, NO_PAIRS
    from core.stats.correlation.intervals import correlate_columns

    pairs = list(combinations(range(len(panel.raters)), 2))
    if len(pairs) > MOST_PAIRS:
        return ()
    rows = []
    for pair in pairs:
        both = ~np.isnan(ratings[:, pair]).any(axis=1)
        own, of_items = ratings[both][:, pair], items[both]
        n = int(both.sum())
        measured = _measured(panel, own, of_items, options.confidence_level, _OF_A_PAIR) if n else {}
        if n and panel.scale.ordered:
            measured["spearman"] = correlate_columns(
                own[:, :1],
                own[:, 1],
                ("spearman",),
                clusters=of_items,
                n_resamples=options.n_resamples,
                confidence_level=options.confidence_level,
                rng=options.rng,
                names=("ratings of the one", "ratings of the other"),
            )[0]["spearman"]
        cells = {code: interval(found) for code, found in measured.items()}
        reason = f"not for {KINDS[panel.scale.kind]}" if n else NO_PAIRS
        values = [cells.get(code, Interval(None, n=n, reason=reason)) for code in (*_OF_A_PAIR, "spearman")]
        values = [replace(one, n_left_out=None) for one in values]
        rows.append(PairRow(panel.raters[pair[0]], panel.raters[pair[1]], n, *values))
    return tuple(rows)


def _rater_rows(
    panel: "Panel", ratings: "Floats", items: Any, options: AgreementOptions
) -> tuple[RaterRow, ...]:
    import numpy as np

    from core.results.cells import interval
    from core.stats.agreement import severities
    from core.stats.degeneracy import constant
    from core.stats.multiplicity import corrected

    two, ordered = panel.scale.kind == "two", panel.scale.ordered
    numbers = _codes(panel, ratings) if two else ratings
    found: Sequence[Severity | None] = [None] * len(panel.raters)
    if ordered:
        found = severities(
            numbers, clusters=items, confidence_level=options.confidence_level, rng=options.rng
        )
    corrected_p = corrected([None if one is None else one.p for one in found])
    known = ~np.isnan(ratings)
    shared = known & (known.sum(axis=1) > 1)[:, None]
    rows = []
    for at, (name, one, p_holm) in enumerate(zip(panel.raters, found, corrected_p, strict=True)):
        always = constant(ratings[:, at])
        difference = interval(None if one is None else one.difference, NO_ORDER)
        means = (None, None) if one is None else (one.mean, one.mean_of_others)
        shown_as_harsher = (
            p_holm is not None
            and p_holm < 1 - options.confidence_level
            and difference.value is not None
            and not panel.unit.undecided
        )
        rows.append(
            RaterRow(
                name,
                int(known[:, at].sum()),
                float(known[:, at].mean()),
                int(shared[:, at].sum()),
                *((None, None) if two else means),
                *(means if two else (None, None)),
                difference,
                None if one is None else one.p,
                p_holm,
                ("harsher" if (difference.value or 0) < 0 else "more lenient") if shown_as_harsher else "",
                "" if always is None or always.n_others else panel.scale.name(always.value),
            )
        )
    return tuple(rows)


NO_ORDER = "classes without an order have no severity"


def _notes(panel: "Panel", ratings: "Floats", n_alone: int, n_off: int, n_telling: int) -> tuple[str, ...]:
    import numpy as np

    from core.errors import counted
    from core.joining.panel import inclusion_probabilities
    from core.results.cells import left_out_lines
    from core.stats.agreement import MOST_PAIRS
    from core.stats.in_place import FEWEST_OF_A_PAIR

    n_raters = len(panel.raters)
    notes = [*panel.notes]
    known = (~np.isnan(ratings)).astype(np.int64)
    shared = (known.T @ known)[np.triu_indices(n_raters, 1)]
    n_pooled = int(((shared > 0) & (shared < FEWEST_OF_A_PAIR)).sum())
    if n_pooled and n_raters > 2 and panel.scale.classes:
        notes.append(
            f"{n_pooled:,} of {len(shared):,} pairs of raters share fewer than {FEWEST_OF_A_PAIR} texts. The kappas of all raters "
            "pool them, as if they were one pair."
        )
    if len(ratings) > len(set(panel.items.tolist())):
        notes.append("Items have several texts. Intervals count whole items.")
    if n_raters * (n_raters - 1) // 2 > MOST_PAIRS:
        notes.append(
            f"{n_raters:,} raters are too many for a table of pairs: it has up to {MOST_PAIRS:,} pairs."
        )
    if n_telling < _FEW_TELLING:
        notes.append(
            f"Only {counted(n_telling, 'item')} {'has' if n_telling == 1 else 'have'} a rating other than the most frequent one. Intervals are too narrow with so few."
        )
    if inclusion_probabilities(panel.rows) is not None:
        notes.append("Texts were drawn with known probabilities. Here each counts the same.")
    notes += left_out_lines(panel.left_out)
    if n_off:
        notes.append(f"left out: {n_off:,} ratings that are not on the scale")
    if n_alone:
        notes.append(f"left out: {n_alone:,} texts with one rating")
    n_of_text = known.sum(axis=1)
    apart = int(((n_of_text > 1) & (n_of_text < n_raters)).sum())
    if apart and "icc" in BY_SCALE[panel.scale.kind]:
        notes.append(f"left out by ICC(2,1): {apart:,} more texts, which not all raters rated")
    return tuple(dict.fromkeys(notes))


CODES = {
    "agree": "agreement above chance is shown: the interval lies above 0 and reaches the limit of little agreement",
    "little-better-than-chance": "the whole interval lies below that limit, and 10 items or more have a rating other than the most "
    "frequent one",
    "not-shown": f"the interval includes 0, there are fewer than {FEWEST_ITEMS} items, a rater who always answers the same decides the "
    "value, or it is not known what an item is",
    "undefined": "there was nothing to compare; the reason says why",
}
_STATUS = {"agree": 0, "little-better-than-chance": 3, "not-shown": 4, "undefined": 4}


NO_ERROR = "nobody marked an error"


def _withdraw_claim(verdict: Verdict, one: MeasureRow, raters: Sequence[RaterRow]) -> Verdict:
    """The verdict, or none where raters who always answer the same decide it.

    Two raters of whom one never varies cannot agree beyond chance; of more, such a rater lowers the value of all.
    """
    n_constant = sum(bool(rater.constant) for rater in raters)
    low = verdict.code == "little-better-than-chance"
    if one.value.value is None or not n_constant or not (low or len(raters) == 2):
        return verdict
    reason = (
        f"{n_constant} of {len(raters)} raters always {'answers' if n_constant == 1 else 'answer'} the same"
    )
    return _verdict(
        "not-shown", f"{len(raters):,} raters: agreement cannot be shown, because {reason}.", reason
    )


def _judged(
    one: MeasureRow, n_raters: int, options: AgreementOptions, undecided: str, n_telling: int, kind: "Kind"
) -> Verdict:
    """The verdict, from the measure that counts for the scale.

    undecided: why it is not known what an item is. n_telling: see `_telling_items`; with few, intervals are too narrow to say
    that agreement is small.
    """
    from core.errors import counted
    from core.results.cells import decimal
    from core.schema.scale import BY_NAME

    value, low, high = one.value.value, one.value.low, one.value.high
    who = f"{n_raters:,} raters"
    items = counted(one.n_items, "item")
    if value is None:
        return _verdict(
            "undefined", f"{who}: agreement is undefined. Reason: {one.value.reason}.", one.value.reason
        )
    name = one.measure if one.code != "kappa-quadratic" else "quadratic kappa"
    ends = "" if low is None or high is None else f" [{decimal(low, 2)}, {decimal(high, 2)}]"
    found = f"{name} {decimal(value, 2)}{ends} on {items}"
    if undecided:
        return _verdict(
            "not-shown", f"{who}: no claim, because {undecided}. {_first_capital(found)}.", undecided
        )
    if one.n_items < FEWEST_ITEMS:
        reason = f"fewer than {FEWEST_ITEMS} items"
        return _verdict(
            "not-shown", f"{who}: too few items for a claim ({items}). {_first_capital(found)}.", reason
        )
    if low is None or high is None:
        if (
            value == 1
            and one.value.interval_reason == _nothing_varies()
            and 1 - options.confidence_level > _BY_CHANCE
        ):
            return _verdict("agree", f"{who} agree on every text: {found}.")
        reason = one.value.interval_reason
        return _verdict(
            "not-shown",
            f"{who}: agreement above chance is not shown: {found}, without an interval. Reason: {reason}.",
            reason,
        )
    if high < options.little and n_telling >= FEWEST_ITEMS:
        worse = "less often than by chance" if kind in BY_NAME else "less than by chance"
        how = worse if high < 0 else "little better than by chance"
        return _verdict("little-better-than-chance", f"{who} agree {how}: {found}.")
    if low <= 0:
        return _verdict(
            "not-shown", f"{who}: agreement above chance is not shown: {found}.", "the interval includes 0"
        )
    return _verdict("agree", f"{who} agree above chance: {found}.")


def _nothing_varies() -> str:
    from core.stats.resampling import NOTHING_VARIES

    return NOTHING_VARIES


def _first_capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _verdict(code: str, sentence: str, reason: str = "") -> Verdict:
    return Verdict(code, sentence, _STATUS[code], reason)


def _sentences(found: Agreement) -> tuple[str, ...]:
    """Raw agreement, who is harsher or more lenient, who never varies, and how the file was read."""
    from core.results.cells import decimal
    from core.tables.reading import shown

    said = []
    raw = next((one.value for one in found.measures if one.code == "agreement"), None)
    if raw is not None and raw.value is not None:
        ends = "" if raw.low is None or raw.high is None else f" [{100 * raw.low:.0f}, {100 * raw.high:.0f}]"
        said.append(f"Two raters give a text the same class in {100 * raw.value:.0f} %{ends} of cases.")
    apart = [one for one in found.raters if one.standing]
    for one in apart[:_MOST_NAMED]:
        by = abs(one.difference.value or 0.0)
        how_much = f"{100 * by:.0f} points" if found.kind == "two" else decimal(by, 2)
        said.append(f"{shown(one.rater)} is {one.standing} than the others by {how_much}.")
    if len(apart) > _MOST_NAMED:
        said.append(
            f"{len(apart) - _MOST_NAMED:,} more raters are harsher or more lenient: see the table of raters."
        )
    said += [
        Caution(
            f"{shown(one.rater)} always answers {shown(one.constant)}, which reports nothing about a text."
        )
        for one in found.raters[:_MOST_ROWS]
        if one.constant and found.reason != NO_ERROR
    ]
    return (*said, f"Read as: {found.scale}.")


def _measure_notes(found: Agreement) -> tuple[str, ...]:
    codes = {one.code for one in found.measures}
    several = "kappa" in codes and len(found.raters) > 2
    return (
        *(["Kappas: ratio of means over pairs of raters."] if several else []),
        f"Krippendorff's alpha: {found.distance}."
        + (
            " ICC(2,1): single ratings, absolute agreement, on texts that all rated."
            if "icc" in codes
            else ""
        ),
        f"Intervals: {found.confidence_level:.0%}, over items, estimate +- t jackknife errors"
        + ("; of raw agreement Wilson's for the effective number of items." if "agreement" in codes else "."),
        *found.notes,
    )


def _pair_notes(found: Agreement) -> tuple[str, ...]:
    by_rank = " Of Spearman's correlation: percentile bootstrap over items." if _ranks(found) else ""
    return (
        f"On the texts that both rated. Intervals as above, not corrected for the number of pairs.{by_rank}",
    )


def _ranks(found: Agreement) -> bool:
    """Whether readers see Spearman's correlation: of two classes it says nothing more than kappa."""
    from core.schema.scale import BY_NAME

    return found.kind not in BY_NAME


def _rater_notes(found: Agreement) -> tuple[str, ...]:
    from core.results.cells import corrected_note

    if found.kind == "unordered":
        return (f"No difference: {NO_ORDER}.",)
    return (
        "Minus others: own rating minus the mean of the other raters on the same texts. Below 0 is harsher, if more is better.",
        "p: whole items change their sign. A rater is called harsher or more lenient where the corrected p is below "
        f"{1 - found.confidence_level:.2g}.",
        *corrected_note("holm", sum(one.p is not None for one in found.raters), "the raters"),
        "Of two raters, each differs from the other: nothing tells which of them is right."
        if len(found.raters) == 2
        else "One lenient rater makes the others look harsher: start with the largest difference.",
    )  # fmt: skip


def _hidden_pairs(found: Agreement) -> tuple[str, ...]:
    unused = {"agreement", "kappa", "kappa-quadratic", "ac1"} - {one.code for one in found.measures}
    by_rank = () if _ranks(found) else ("spearman",)
    return (*(code.replace("-", "_") for code in sorted(unused)), *by_rank)


def _hidden_raters(found: Agreement) -> tuple[str, ...]:
    if found.kind == "unordered":
        return ("mean", "mean_others", "passed", "passed_others", "difference", "p", "p_holm", "standing")
    return ("mean", "mean_others") if found.kind == "two" else ("passed", "passed_others")


def _figures(found: Agreement) -> tuple[AnyFigure, ...]:
    if found.kind == "unordered" or len(found.raters) > _MOST_ROWS:
        return ()
    two = found.kind == "two"
    return (
        Intervals(
            table="agreement-raters",
            alt="Difference of each rater from the other raters on the same texts, with its interval, and a line at 0",
            sides=("difference",),
            names=("rater",),
            axis=Axis("own ratings minus the others' (left: harsher)", percent=two),
            across=0.0,
        ),
    )


def no_judge(candidates: Sequence[str]) -> str:
    """The line above an answer that was given because a check found no judge; `{judge}` stands for the option of that name.

    candidates: columns that may be a judge's.
    """
    from core.tables.problems import listed

    may_be = f" Columns that may be one: {listed(candidates)}." if candidates else ""
    return f"No judge was found, so this is how far raters agree with each other.{may_be} Choose a judge with {{judge}}, or add its scores."


ANALYSIS = Analysis(
    name="agreement",
    title="Agreement of raters",
    question="How far do raters agree with each other, without any judge, and is one of them harsher?",
    Options=AgreementOptions,
    Result=Agreement,
    takes=("people",),
    compute=compute,
    verdicts=lambda found: (_verdict(found.verdict, found.sentence, found.reason or ""),),
    sentences=_sentences,
    codes=CODES,
    refuses="With fewer than two raters, and if no text has two ratings.",
    figures=_figures,
    section="inference#people-alone",
    misleads="Kappa and alpha fall towards 0 if one class is popular, even if raters agree on almost every text: read raw "
    "agreement and AC1 beside them. Raters who share an error agree, too: agreement is not truth.",
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": range(40), "a": [0, 1] * 20, "b": [0, 1] * 20, "c": [0, 1, 1, 1] * 10})
>>> found = assay.agreement(frame, human=["a", "b", "c"])
>>> found.json["verdict"], found.frame[["measure", "value"]].round(2).values.tolist()[:2]
('agree', [["Cohen's kappa", 0.67], ['Raw agreement', 0.83]])
""",
    tables=(
        Table("agreement", MeasureRow, lambda found: found.measures, "Agreement", notes=_measure_notes),
        Table(
            "agreement-pairs",
            PairRow,
            lambda found: found.pairs or None,
            "Pairs of raters",
            "Which two raters agree, and which do not?",
            _pair_notes,
            _hidden_pairs,
            most_printed=_MOST_ROWS,
        ),
        Table(
            "agreement-raters",
            RaterRow,
            lambda found: found.raters,
            "Raters",
            "Who is harsher or more lenient than the others, and who rated how much?",
            _rater_notes,
            _hidden_raters,
            most_printed=_MOST_ROWS,
        ),
    ),
)

"""Runs of one evaluator at several temperatures: its agreement with people, and with itself (004, section 3.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.results.calibration.results import Calibration
from core.results.judges.consistency import consistency
from core.schema.judging import JudgeOutput
from core.stats.resampling import Estimate

_MAY_DIFFER = frozenset({"temperature", "seed", "repeats"})


@dataclass(frozen=True)
class SweepPoint:
    """One run on one dimension."""

    temperature: float
    evaluator: str
    dimension: str
    agreement: Estimate | None
    """Share of texts on which evaluator and majority are equal; None: ratings are no classes."""
    kappa: Estimate | None
    repeats_equal: Estimate | None
    """Share of texts on which all its repeats are equal; undefined where it was asked once."""
    n_repeats: int


@dataclass(frozen=True)
class Sweep:
    """All runs, coldest first."""

    points: tuple[SweepPoint, ...]
    notes: tuple[str, ...] = ()


def temperature_sweep(
    runs: Sequence[tuple[JudgeOutput, Calibration]],
    *,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
) -> Sweep:
    """Agreement with people and with itself against temperature. Runs whose temperature is unknown are noted and left out.

    Misleads where the runs differ in more than temperature, which is said in a note, and where a server ignores it. With
    one run a temperature, the differences hold the chance of sampling, too: ask with repeats.
    """
    points: list[SweepPoint] = []
    notes = _differences([output for output, _ in runs])
    for output, found in runs:
        if (temperature := output.temperature) is None:
            notes.append(f"{output.name}: its temperature is not known")
            continue
        itself = consistency(output, n_resamples=n_resamples, confidence_level=confidence_level)
        equal = {one.component.casefold(): one.agreeing for one in itself.repeats}
        # What `judge direct` says has a name of its own, whatever people call it.
        alone = itself.repeats[0].agreeing if len(itself.repeats) == len(found.by_dimension) == 1 else None
        points += [
            SweepPoint(
                temperature,
                found.evaluator,
                cell.group["dimension"],
                cell.get("agreement"),
                cell.get("kappa"),
                equal.get(cell.group["dimension"].casefold(), alone),
                itself.n_repeats,
            )
            for cell in found.by_dimension
        ]
    points.sort(key=lambda one: (one.dimension, one.temperature))
    return Sweep(tuple(points), tuple(notes))


def _differences(outputs: Sequence[JudgeOutput]) -> list[str]:
    """What else the runs differ in."""
    given: list[Mapping[str, object]] = [
        {"model": one.model, **{k: v for k, v in one.settings.items() if k not in _MAY_DIFFER}}
        for one in outputs
    ]
    names = dict.fromkeys(name for one in given for name in one)
    differ = [name for name in names if len({repr(one.get(name)) for one in given}) > 1]
    return [f"the runs differ in more than temperature: {', '.join(differ)}"] if differ else []

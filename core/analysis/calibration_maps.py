"""How an evaluator's scores read on people's scale, dimension by dimension: a map, cross-validated by item."""

from collections.abc import Mapping

from core.analysis.calibration import Calibration
from core.stats.calibration_map import CalibrationMap, Method, calibration_map

N_FOLDS = 5


def maps_of(found: Calibration, *, method: Method = "isotonic") -> Mapping[str, CalibrationMap]:
    """Dimension -> the map from the evaluator's score to the mean rating, over all texts of the dimension.

    Every predicted value comes from a map that saw no text of its item. The mean rating, not the majority, is what is
    predicted: two raters of three who say 2 are not the same as three. Misleads for a language or task whose raters use
    the scale differently from the others: look at the cells before a map is put to use there.
    """
    return {
        dimension: calibration_map(
            part.scores,
            part.mean_ratings,
            part.items,
            method=method,
            n_folds=N_FOLDS,
            comparable=part.one_scale,
            n_resamples=found.options.n_resamples,
            confidence_level=found.options.confidence_level,
            rng=found.options.rng,
        )
        for dimension, part in found.parts.items()
    }

"""Letters on the cells of a heat table can be read on a light page and on a dark one."""

import numpy as np
import pytest

from core.plots.dressing import heat_colour, heat_letters


def luminance(colour: str) -> float:
    """Relative luminance as in WCAG 2."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("dark", [False, True])
def test_letters_on_every_cell_have_enough_contrast(dark: bool) -> None:
    for value in np.linspace(-1.0, 1.0, 41):
        ground = heat_colour(float(value), dark=dark)
        assert ground is not None
        low, high = sorted([luminance(ground), luminance(heat_letters(dark=dark))])
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_a_cell_is_no_bright_spot_on_a_dark_page() -> None:
    grounds = [heat_colour(float(value), dark=True) or "" for value in np.linspace(-1.0, 1.0, 41)]
    assert max(map(luminance, grounds)) < 0.2

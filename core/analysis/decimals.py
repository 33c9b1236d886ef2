"""How a number of a result is written, on pages, in figures and at a terminal."""


def decimal(value: float, places: int = 3) -> str:
    """Rounded; never a minus before a zero, which would claim a sign that the digits do not show."""
    return f"{round(value, places) + 0.0:.{places}f}"

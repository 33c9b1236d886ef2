"""Text that says the same over and over."""

LONGEST_PERIOD = 400
"""Characters that are looked for again."""
SHORTEST_RUN = 60
"""Characters that the repetitions at the end of a text have at least: `ha ha ha` is none."""
LEAST_TIMES = 4


def loops(text: str) -> bool:
    """Whether the text ends in one stretch repeated LEAST_TIMES or more, as weak models do until they are cut off.

    Blanks and case do not count. Misleads for a table or a poem with a refrain that fills its whole end.
    """
    plain = " ".join(text.lower().split())[-LEAST_TIMES * LONGEST_PERIOD :]
    for period in range(1, min(LONGEST_PERIOD, len(plain) // LEAST_TIMES) + 1):
        n = max(LEAST_TIMES * period, SHORTEST_RUN)
        if n <= len(plain) and plain[-n:-period] == plain[-n + period :]:
            return True
    return False

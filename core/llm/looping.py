"""Text that says the same over and over."""

LOOP_TIMES, LOOP_LENGTH = 4, 60
"""A text loops where the same characters stand at least so many times in a row, and fill at least so many characters."""
_SEED = 8
"""Characters by which a repetition is noticed."""


def loops(text: str) -> bool:
    """Whether the text says the same over and over, as models do that cannot stop: anywhere in it.

    The same run of characters, with a letter or digit in it, LOOP_TIMES in a row and over LOOP_LENGTH characters or
    more; case and the amount of white space do not matter. A repetition may be broken off. Lines of dashes do not
    loop, nor does a refrain that is shorter. Misses loops that vary, such as by a number that counts up. Linear time.
    """
    plain = " ".join([*text.casefold().split(), ""])  # what ends the text repeats its blank too
    last: dict[str, int] = {}
    period = since = 0
    said = -1
    for at in range(len(plain) - _SEED + 1):
        end = at + _SEED
        said = next((n for n in range(end - 1, max(said, end - _SEED - 1), -1) if plain[n].isalnum()), said)
        distance = at - last.get(plain[at:end], at)
        if distance != period:
            period, since = distance, at
        last[plain[at:end]] = at
        filled = end - since + period
        if period and said >= end - period and filled >= max(LOOP_LENGTH, LOOP_TIMES * period):
            return True
    return False

"""Statistics of a blind study: agreement, non-inferiority, power, position bias, ties, consistency.

Arrays in, frozen dataclasses out; nothing here knows the store, the schema or the interface.

Conventions shared by all modules:

- An unanswered vote is -1 (categories are codes 0, 1, ...), an unknown score is NaN. Neither counts as a value.
- What cannot be computed from correct input is None, with one sentence that says why. Wrong input is a ValueError.
- Questions, not pairs, are resampled wherever `clusters` is given: the pairs of a question are not independent.
- One quantile convention everywhere: the smallest value whose cumulative share reaches q (`resampling.quantile`).
"""

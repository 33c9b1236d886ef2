"""Statistics of a blind study: agreement, non-inferiority, power, position bias, ties, consistency.

Functions take arrays and return frozen dataclasses. Nothing here depends on the store, the schema or the interface.

Conventions shared by all modules:

- A missing vote is -1 (categories are codes 0, 1, ...); an unknown score is NaN. Neither counts as a value.
- A result that correct input leaves undefined is None, with a reason. Invalid input raises ValueError.
- If `clusters` is given, questions are resampled, not pairs, because the pairs of a question are not independent.
- A quantile is always the smallest value whose cumulative share reaches q (`resampling.quantile`).
"""

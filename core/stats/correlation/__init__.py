"""How strongly scores follow a target: coefficients, intervals, tests."""

"""The same steps without a model: deterministic, seeded, and called `rules` wherever they show."""

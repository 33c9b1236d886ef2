"""Which rows are about the same text: scores beside ratings or levels, tables beside tables, raters beside judges."""

"""A0-A4 after 003: paraphrase, spans, question filter, ranking, groups, edits, each a function of its own."""

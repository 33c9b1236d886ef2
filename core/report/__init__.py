"""One result table, rendered for a terminal, as JSON, CSV, Markdown, LaTeX and as a data frame."""

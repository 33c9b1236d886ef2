"""Results: each function computes one result from rows, for a page and its command alike."""

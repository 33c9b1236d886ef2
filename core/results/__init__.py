"""From rows to one result: a page and its command call the same function here."""

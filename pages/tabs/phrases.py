"""Phrases that tabs of several pages share."""

NOT_SCORED = "no text has a score yet; the tab Progress shows the run"
NOT_JUDGED = "no text is judged yet; the tab Progress shows the run"
NO_ITEM = "no item is finished yet; the tab Progress shows the run"
AS_A_TABLE = "Show as a table"

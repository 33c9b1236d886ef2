"""Commands that compare judges with people."""

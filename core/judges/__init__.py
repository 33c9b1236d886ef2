"""Judges that ask a language model: rubric, claim factuality, cross-examination."""

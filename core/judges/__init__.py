"""Judges: rubric, claims, cross-examination, marked errors, direct scores, quality ratings; and audits of judges."""

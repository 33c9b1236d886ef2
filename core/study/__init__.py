"""Blind studies: draws, workload, what a rater may see, life of a study, export."""

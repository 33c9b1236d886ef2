"""Which data a user means: a file, a folder, a run, a study or a published table, as texts, scores, ratings, panel or spans.

Doors only say how a user names a source, and how a file is read (`core.sources.reading.SourceReader`).
"""

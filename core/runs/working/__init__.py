"""How the work on runs is done: by which process, in which environment, on which engine."""

"""Read and write rows in every format, and report all problems at once."""

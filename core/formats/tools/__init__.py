"""Files of benchmarks and of annotation programs: each becomes a table with the columns that every reader knows."""

"""Results of big tables, read from Parquet beside the database by DuckDB, so that nothing is loaded whole."""

"""What holds a table: delimited text, JSON lines, Parquet, Arrow."""

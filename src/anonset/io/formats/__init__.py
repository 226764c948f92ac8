"""How transactions lie in a file: lines of items, long tables, lists, wide tables."""

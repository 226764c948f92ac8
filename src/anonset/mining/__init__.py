"""Frequent itemsets."""

"""Cut an ordering into groups that satisfy a model."""

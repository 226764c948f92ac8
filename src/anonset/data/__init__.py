"""The nouns: transactions, hierarchy, release, job, spec, errors."""

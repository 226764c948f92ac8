"""Which method: advice and comparison."""

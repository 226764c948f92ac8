"""Measured ratios, never asserted times. `python -m benchmarks` runs them all, `python -m benchmarks.NAME` one."""

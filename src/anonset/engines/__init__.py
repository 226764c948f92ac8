"""Where the work is done when one machine is not enough: `engines.spark`. On one machine the pipeline does it."""

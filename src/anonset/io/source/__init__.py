"""Where data come from: files, pipes, frames; which column is what."""

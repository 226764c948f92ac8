"""What can be measured: re-identification risk, loss of information, what is in a file."""

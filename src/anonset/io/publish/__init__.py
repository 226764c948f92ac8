"""How a release gets its name: staged, read back, checked, renamed, with a certificate."""

"""`python -m anonset` is the command line."""

from anonset.cli import main

main()

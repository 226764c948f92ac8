"""What the public API puts together from several rooms: one function for each command."""

"""What can be measured: whom an attacker finds, what was lost, what is in a file."""

"""What a release lost: one file per metric."""

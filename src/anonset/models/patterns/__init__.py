"""Which patterns a release holds, who contains them, and how many users share each combination of them."""

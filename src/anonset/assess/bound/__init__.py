"""The loss that no k-anonymous release can go below."""

"""What a job needs that runs every night without a person: batches of what is new, and a ledger of releases."""

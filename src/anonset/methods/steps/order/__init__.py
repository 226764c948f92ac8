"""Put similar transactions side by side: transactions in, an ordering out."""

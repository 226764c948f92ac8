"""What several methods share: putting similar transactions side by side, and cutting them into groups."""

"""What is kept of played attempts: rows, the store, its exports, and what was played."""

"""What trained players bring to tree searches: as a prior, as a playout, and what a search believes where luck is."""

"""Players: anything that chooses moves, one file each."""

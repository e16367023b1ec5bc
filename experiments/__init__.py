"""The harness: lets players play levels, predicts difficulty and ranks players."""

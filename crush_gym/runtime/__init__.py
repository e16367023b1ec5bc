"""How the game's programs run: compiled, cut up, spread over cores and joined. What is played stands in `engine`."""

"""McAdams' match-three players: what is played, what the paper claims, and the page."""

"""The networks of "Human-Like Playtesting with Deep Learning", compared on moves of a tree search."""

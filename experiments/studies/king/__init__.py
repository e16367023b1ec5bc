"""Human-Like Playtesting with Deep Learning: a network that imitates people predicts how hard levels are for them."""

"""How agents come to play levels: jobs, the games they share, and the executors that do them."""

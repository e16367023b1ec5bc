"""Tree search on many boards at once: sparse UCT with chance nodes, its playouts running without a common clock."""

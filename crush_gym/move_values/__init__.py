"""What moves are worth at a glance: for players, for playouts, and for the yardstick of the packs."""

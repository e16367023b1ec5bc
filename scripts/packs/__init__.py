"""How the shipped packs are made; see `scripts.make_packs`."""

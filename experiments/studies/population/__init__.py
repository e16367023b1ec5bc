"""The synthetic population: how alike to people it is."""

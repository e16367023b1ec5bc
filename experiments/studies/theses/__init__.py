"""“Crushing Candy Crush”, two theses on tree search: what is measured, and the pages."""

"""Small programs for people who work on the project."""

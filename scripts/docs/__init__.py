"""The documentation as a static site, made from the code and from docs/: `make docs`."""

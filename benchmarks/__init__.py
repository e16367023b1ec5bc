"""How fast crush_gym is: against hand-written C++, against another simulator, and against itself."""

"""The seeds' studies again, each as a command: what a paper measured, beside what this game and these players give."""

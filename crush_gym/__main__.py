"""`python -m crush_gym`: the command line."""

from crush_gym.cli import console

if __name__ == "__main__":
    raise SystemExit(console())

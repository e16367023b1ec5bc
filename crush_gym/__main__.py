"""`python -m crush_gym`: the command line."""

from crush_gym.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

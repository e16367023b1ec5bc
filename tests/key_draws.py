"""The random values of `crush_gym.engine.randomness` in plain integers, handed to the reference game."""

from __future__ import annotations

from dataclasses import dataclass

from crush_gym.engine.randomness import BOMB, CHOCOLATE, PICK, RECOLOUR, SHUFFLE, SPAWN

WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class KeyDraws:
    """All draws of one move: a `Draws` for the reference, from the two words of the move's key."""

    first: int
    second: int

    def value(self, purpose: int, cell: int, count: int) -> int:
        """The documented hash: 32 bits from the key, the purpose, the cell and a count."""
        x = (self.first + (cell + purpose * 256) * 0x85EBCA6B + count * 0x9E3779B9) & WORD
        x = ((x ^ (x >> 16)) * 0x7FEB352D) & WORD
        x = ((x ^ (x >> 15) ^ self.second) * 0x846CA68B) & WORD
        return x ^ (x >> 16)

    def spawn_colour(self, row: int, col: int, k: int, colours: int) -> int:
        return below(self.value(SPAWN, 16 * row + col, k), colours)

    def bomb_colour(self, row: int, col: int, round_number: int, choices: int) -> int:
        return below(self.value(BOMB, 16 * row + col, round_number), choices)

    def chocolate(self, choices: int) -> int:
        return below(self.value(CHOCOLATE, 0, 0), choices)

    def shuffle(self, row: int, col: int, attempt: int) -> int:
        return self.value(SHUFFLE, 16 * row + col, attempt) >> 17

    def recolour(self, row: int, col: int, attempt: int, colours: int) -> int:
        return below(self.value(RECOLOUR, 16 * row + col, attempt), colours)

    def pick(self, choices: int) -> int:
        """The random player's choice among so many legal moves."""
        return below(self.value(PICK, 0, 0), choices)


def below(value: int, bound: int) -> int:
    """A draw as an integer 0..bound-1."""
    return ((value >> 16) * bound) >> 16

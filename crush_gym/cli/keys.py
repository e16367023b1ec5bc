"""Playing by keys: what each key does to an attempt and to what is shown."""

from __future__ import annotations

from typing import Protocol

from crush_gym.cli.describe import gains
from crush_gym.cli.screen import View, draw, ending
from crush_gym.session import Session
from crush_gym.swaps import Cell, action_of, swap_between, swap_of

BEAT_SECONDS = 0.22
"""How long one beat of a turn is shown."""


ARROWS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""Where the keys that point lead, in rows and columns."""


class Surface(Protocol):
    """Where keys come from and screens go: a terminal."""

    def key(self) -> str:
        """Wait for the name of a key."""

    def show(self, lines: list[str]) -> None:
        """Replace what is shown."""

    def pause(self, seconds: float) -> None:
        """Leave what is shown for a while."""


class Player:
    """Somebody at the keys."""

    def __init__(
        self, session: Session, surface: Surface, *, title: str, speed: float = 1.0, colour: bool = True
    ) -> None:
        self.session = session
        self.surface = surface
        self.beat = BEAT_SECONDS / speed
        self.shape = session.level.shape
        middle = (self.shape[0] // 2, self.shape[1] // 2)
        self.view = View(title, colour=colour, cursor=middle)

    def play(self) -> None:
        """Follow the keys until one quits."""
        while True:
            self._say_if_over()
            self._show()
            key = self.surface.key()
            if key == "quit":
                return
            self.view.message = ""
            self._follow(key)

    def _follow(self, key: str) -> None:
        if key in ARROWS:
            self._direction(key)
        elif key == "pick":
            self.view.picked = not self.view.picked and not self.session.over
        elif key == "hint":
            self._hint()
        elif key == "undo":
            self._undo()
        else:
            self.view.picked = False

    def _direction(self, key: str) -> None:
        """Move the cursor, or swap what is picked."""
        view = self.view
        assert view.cursor is not None
        other = self._beside(view.cursor, key)
        if other is None:
            view.message = "that is the edge of the board"
        elif not view.picked:
            view.cursor = other
        elif not self.session.may(action := action_of(swap_between(view.cursor, other), self.session.game.shape)):
            view.message = "not legal: that swap makes no run and no combo"
        else:
            view.cursor = other
            self._swap(action)
        view.picked = False

    def _beside(self, cell: Cell, arrow: str) -> Cell | None:
        """The next cell that way; None where the board ends."""
        row, column = cell[0] + ARROWS[arrow][0], cell[1] + ARROWS[arrow][1]
        return (row, column) if 0 <= row < self.shape[0] and 0 <= column < self.shape[1] else None

    def _swap(self, action: int) -> None:
        """Make a move and show its beats."""
        self.view.hint = ()
        before = self.session.state.books
        shown: list[str] = self.session.rows()
        cursor, self.view.cursor, self.view.picked = self.view.cursor, None, False
        for frame in self.session.swap(action):
            rows = self.session.rows(frame)
            if rows == shown:
                continue
            shown = rows
            gained = int(frame.books.score) - int(before.score)
            waves = int(frame.books.waves) - int(before.waves)
            self.view.message = f"+{gained:,}" + (f", wave {waves}" if waves > 1 else "")
            self.surface.show(draw(self.view, self.session.game, self.session.level, frame, rows))
            self.surface.pause(self.beat)
        self.view.cursor = cursor

    def _hint(self) -> None:
        if self.session.over:
            return
        self.view.message = "thinking; the first time takes some seconds ..."
        self._show()
        action = self.session.hint()
        if action is None:
            self.view.message = "no move is possible"
            return
        swap = swap_of(action, self.session.game.shape)
        self.view.hint = swap.cells
        session = self.session
        brought = session.game.preview(session.state, session.level)
        reasons = gains(session.level, session.game.goals, brought, action)
        self.view.message = f"hint: swap {swap}: {', '.join(reasons)}"

    def _undo(self) -> None:
        self.view.hint, self.view.picked = (), False
        self.view.message = "one move taken back" if self.session.undo() else "there is nothing to take back"

    def _say_if_over(self) -> None:
        if self.session.over:
            words = ending(self.session.outcome, self.session.reason)
            self.view.message = f"{words.capitalize()}.   (u takes the last move back, q quits)"

    def _show(self) -> None:
        session = self.session
        self.surface.show(draw(self.view, session.game, session.level, session.state, session.rows()))

"""A window that shows one picture after the other."""

from __future__ import annotations

from typing import Any

from crush_gym.render.raster import Pixels, optional


class Window:
    """Opens with its first picture. Whoever closes it sees no more, and what is shown in it goes on."""

    def __init__(self, title: str, fps: float) -> None:
        """fps: pictures a second; who shows more waits."""
        self.title, self.fps = title, fps
        self.surface: Any = None
        self._pygame: Any = None
        self._open = True

    def show(self, picture: Pixels) -> None:
        """Show uint8[height, width, 3] for its part of a second."""
        if self._pygame is None:
            self._pygame = optional("pygame", "a window needs")
            self._clock = self._pygame.time.Clock()
        if not self._open:
            return
        size = picture.shape[1], picture.shape[0]
        if self.surface is None or self.surface.get_size() != size:
            self._pygame.display.init()
            self.surface = self._pygame.display.set_mode(size)
            self._pygame.display.set_caption(self.title)
        self.surface.blit(self._pygame.surfarray.make_surface(picture.transpose(1, 0, 2)), (0, 0))
        self._pygame.display.flip()
        if self._pygame.event.get(self._pygame.QUIT):
            self.close()
        else:
            self._clock.tick(self.fps)

    def close(self) -> None:
        """Take it from the screen."""
        if self.surface is not None:
            self._pygame.display.quit()
        self.surface, self._open = None, False

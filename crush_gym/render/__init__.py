"""Pictures of boards: SVG, pixels, terminal text, and turns and attempts in motion."""

from crush_gym.attempt_log import frames_of_attempt, frames_of_turn
from crush_gym.render.animate import animated_svg, gif
from crush_gym.render.legend import legend
from crush_gym.render.notebook import level_html
from crush_gym.render.raster import MissingExtraError, png, rgb
from crush_gym.render.svg import svg
from crush_gym.render.terminal import ansi
from crush_gym.render.window import Window

__all__ = [
    "MissingExtraError", "Window", "animated_svg", "ansi", "frames_of_attempt", "frames_of_turn", "gif", "legend",
    "level_html", "png", "rgb", "svg",
]  # fmt: skip

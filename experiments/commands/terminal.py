"""What the commands that play do to keep the terminal readable."""

from __future__ import annotations

import os
import sys

ALARMS = "TF_CPP_MIN_LOG_LEVEL"
"""What XLA's C++ reads, when it is loaded, to know how much to say on stderr."""


def quiet_xla() -> None:
    """Keep XLA's alarms, such as "Very slow compile?", out of the bar's line; failures are exceptions all the same."""
    if "jax" not in sys.modules:
        os.environ.setdefault(ALARMS, "3")  # only what ends the process

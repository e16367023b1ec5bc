"""Makes `tests` importable, however pytest is started."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).absolute().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

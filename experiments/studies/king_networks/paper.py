"""What the paper reports: table I, and the search of hyper-parameters behind it."""

from __future__ import annotations

from typing import NamedTuple


class Compared(NamedTuple):
    """A network. accuracy: the paper's, on moves kept back for validation; None: it is not in the paper."""

    label: str
    architecture: str
    accuracy: float | None

    @property
    def drops(self) -> bool:
        """Whether it leaves units out while it learns."""
        return "head=fc" in self.architecture


NETWORKS = (
    Compared("12Conv+ELU+GAP", "king", 0.3235),
    Compared("12Conv+ReLU+FC+Dropout", "king:activation=relu,head=fc", 0.2572),
    Compared("12Conv+ReLU+GAP", "king:activation=relu", 0.2859),
    Compared("20ResBlocks+ELU+GAP", "resnet:blocks=20,filters=35,activation=elu,head=gap", 0.3001),
    Compared("edge", "edge", None),
)

RANDOM = 0.1667

RATES, BATCHES, LEFT_OUT = (5e-5, 1e-4, 5e-4), (128, 256, 512), (0.4, 0.5, 0.6)
"""Rates of learning, sizes of batches, and shares of units left out (the paper has the shares kept, the same three)."""

BEST = (5e-4, 512)
"""The rate and the size of batches that the paper found best, for all networks."""

ORDER = (
    ("ELU is better than ReLU", "12Conv+ELU+GAP", "12Conv+ReLU+GAP"),
    ("the mean over the board is better than full layers", "12Conv+ReLU+GAP", "12Conv+ReLU+FC+Dropout"),
    ("12 convolutions are better than 20 residual blocks", "12Conv+ELU+GAP", "20ResBlocks+ELU+GAP"),
)
"""What table I says: a sentence, and the better and the worse network."""

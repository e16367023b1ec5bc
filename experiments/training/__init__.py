"""Training: runs of the learners in `agents`, judged by the harness, kept, taken up again and compared."""

from experiments.training.plan import Plan, PlanError
from experiments.training.run import Finished, train

__all__ = ["Finished", "Plan", "PlanError", "train"]

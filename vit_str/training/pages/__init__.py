"""Training of the network that arranges pages."""

from vit_str.training.pages.data import DrawnPages
from vit_str.training.pages.module import ArrangerTraining

__all__ = ["ArrangerTraining", "DrawnPages"]

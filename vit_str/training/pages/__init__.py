"""Training of the network that arranges pages."""

from vit_str.training.pages.data import DrawnPages
from vit_str.training.pages.export import ArrangerExport, SaveWhenStopped
from vit_str.training.pages.module import ArrangerTraining

__all__ = ["ArrangerExport", "ArrangerTraining", "DrawnPages", "SaveWhenStopped"]

"""Training of the network that finds lines, words, rules and boxes."""

from vit_str.training.find.data import DrawnPictures
from vit_str.training.find.module import FinderTraining

__all__ = ["DrawnPictures", "FinderTraining"]

"""Pictures of words changed at random, in ways that leave the word what it is."""

from vit_str.datasets.augmentation.augment import WORKING_HEIGHT, Augmentation
from vit_str.datasets.augmentation.policy import POLICIES, load_policy

__all__ = ["POLICIES", "WORKING_HEIGHT", "Augmentation", "load_policy"]

"""Training with Lightning: the module, the data, the schedule."""

from vit_str.training.attention import AttentionReach
from vit_str.training.before_decay import BeforeDecay
from vit_str.training.callbacks import (
    PredictionSheet,
    RandomStates,
    StopCleanly,
    WeightsExport,
    WeightsHistory,
)
from vit_str.training.data import RenderedWords
from vit_str.training.module import RecognizerTraining
from vit_str.training.schedule import WarmupStableDecay
from vit_str.training.waiting import WaitingShare

__all__ = [
    "AttentionReach",
    "BeforeDecay",
    "PredictionSheet",
    "RandomStates",
    "RecognizerTraining",
    "RenderedWords",
    "StopCleanly",
    "WaitingShare",
    "WarmupStableDecay",
    "WeightsExport",
    "WeightsHistory",
]

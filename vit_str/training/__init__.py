"""Training with Lightning: the module, the data, the schedule."""

from vit_str.training.callbacks import BeforeDecay, RandomStates, StopCleanly
from vit_str.training.data import RenderedLines, RenderedWords
from vit_str.training.exports import (
    PredictionSheet,
    RunLog,
    WeightsExport,
    WeightsHistory,
)
from vit_str.training.initialization import StartFromWeights
from vit_str.training.module import RecognizerTraining
from vit_str.training.networks import NetworkExport, SaveWhenStopped
from vit_str.training.own_words import OwnWords
from vit_str.training.schedule import WarmupStableDecay

__all__ = [
    "BeforeDecay",
    "NetworkExport",
    "OwnWords",
    "PredictionSheet",
    "RandomStates",
    "RecognizerTraining",
    "RenderedLines",
    "RenderedWords",
    "RunLog",
    "SaveWhenStopped",
    "StartFromWeights",
    "StopCleanly",
    "WarmupStableDecay",
    "WeightsExport",
    "WeightsHistory",
]

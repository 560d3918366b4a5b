"""Training with Lightning: the module, the data, the schedule."""

from vit_str.training.attention import AttentionReach
from vit_str.training.before_decay import BeforeDecay
from vit_str.training.callbacks import PredictionSheet, RandomStates, StopCleanly
from vit_str.training.data import RenderedWords
from vit_str.training.exports import WeightsExport, WeightsHistory
from vit_str.training.initialization import Start, start_from
from vit_str.training.module import RecognizerTraining
from vit_str.training.own_words import OwnWords
from vit_str.training.schedule import WarmupStableDecay
from vit_str.training.starting import StartFromWeights
from vit_str.training.waiting import WaitingShare

__all__ = [
    "AttentionReach",
    "BeforeDecay",
    "OwnWords",
    "PredictionSheet",
    "RandomStates",
    "RecognizerTraining",
    "RenderedWords",
    "Start",
    "StartFromWeights",
    "StopCleanly",
    "WaitingShare",
    "WarmupStableDecay",
    "WeightsExport",
    "WeightsHistory",
    "start_from",
]

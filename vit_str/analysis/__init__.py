"""The attention lab: how far heads look, layer by layer, and where the decoder looked.

The parts that are of use without the command line; the modules have more.
"""

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.intervals import mean_over_images, paired_difference
from vit_str.analysis.offsets import OffsetMaps
from vit_str.analysis.probe import probe
from vit_str.analysis.statistics import AttentionStatistics

__all__ = [
    "AttentionStatistics",
    "OffsetMaps",
    "TokenGrid",
    "mean_over_images",
    "paired_difference",
    "probe",
]

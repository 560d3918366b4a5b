"""How fast a training step is, measure by measure, for the model of a configuration.

    python benchmarks/training_speed.py [--config FILE] [--threads 1] [--json FILE]

Every row adds one measure to those above it: from plain float32 to the step that ``vit-str train``
takes, then with the rendering of its words. Every measurement is a process of its own, since some
measures cannot be taken back. "peak" is the share of the arithmetic that one large matrix product
in the same number format reaches there. Takes ten minutes on one thread. Needs ``vit-str[train]``.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from measuring import (
    REPOSITORY,
    add_common_options,
    interleave,
    median_and_range,
    pin,
    positive,
    print_machine,
    table,
    write_json,
)
from training_step import Measures, Result, measure

_LADDER = {
    "cpu": {
        "float32": {},
        "bfloat16": {"bfloat16": True},
        "explicit attention": {"explicit_attention": True},
        "kept memory": {"kept_memory": True},
        "fused AdamW": {"fused_optimizer": True},
        "rendering": {"rendering": True},
    },
    "cuda": {
        "float32": {"explicit_attention": True},
        "bfloat16": {"bfloat16": True},
        "fused AdamW": {"fused_optimizer": True},
        "torch.compile": {"compiled": True},
        "rendering": {"rendering": True},
    },
}
"""What each row adds, in this order; on a GPU attention is the fused kernel in any case."""

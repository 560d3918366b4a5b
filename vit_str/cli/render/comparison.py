"""``vit-str render --compare``: how far rendered words are from photographed ones."""

import argparse
from importlib import import_module

from vit_str.cli import console
from vit_str.cli.render.material import material_of

_COUNT = 2000


def run(options: argparse.Namespace) -> int:
    """Write the report and print its table."""
    # By name: figures need libraries that reading does without.
    compare = import_module("vit_str.realism.report").compare
    renderer = material_of(options).renderer
    count = options.count or _COUNT
    console.write(compare(renderer, options.compare, count, options.seed, options.out))
    return 0

"""The reader that ``--model``, ``--device`` and ``--care`` ask for."""

import argparse

from vit_str.reading import Reader, load


def load_reader(options: argparse.Namespace) -> Reader:
    """Load it.

    Raises:
        UsageError: no such weights or device, a file that cannot be used, or no way to care.
    """
    try:
        return load(options.model, options.device, care=options.care)
    except ValueError as error:
        raise ValueError(str(error)) from error

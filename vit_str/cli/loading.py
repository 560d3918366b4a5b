"""The reader that ``--model`` and ``--device`` ask for."""

import argparse

from vit_str.cli import console
from vit_str.reading import Reader, load


def load_reader(options: argparse.Namespace) -> Reader:
    """Load it.

    Raises:
        UsageError: no such weights or device, or a file that cannot be used.
    """
    try:
        return load(options.model, options.device)
    except ValueError as error:
        raise console.UsageError(str(error)) from error

"""``vit-str render``: rendered words as a data set for any trainer, or as sheets to look at."""

import argparse
from collections.abc import Sequence

from vit_str import console
from vit_str.commands.render.options import parse


def main(arguments: Sequence[str]) -> int:
    """Render as the arguments say; returns the exit code.

    Raises:
        UsageError: the arguments make no sense, or the fonts, words or pictures do not.
    """
    options = _parsed(arguments)
    try:
        # Imported here, so that help and wrong arguments are answered at once.
        if options.show:
            from vit_str.commands.render.show import run
        elif options.compare:
            from vit_str.commands.render.comparison import run
        elif options.sheet:
            from vit_str.commands.render.word_sheet import run
        else:
            from vit_str.commands.render.write import run
        return run(options)
    except ValueError as error:
        raise _usage_error(error) from error
    except OSError as error:
        where = error.filename or options.sheet or options.out
        reason = error.strerror or str(error)
        return console.fail(f"cannot write {where}: {reason}; mend that and run it again", 1)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    try:
        return parse(arguments)
    except ValueError as error:
        raise _usage_error(error) from error


def _usage_error(error: ValueError) -> ValueError:
    return ValueError(" ".join(str(error).split()))

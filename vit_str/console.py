"""Shared parts of commands: options, results, warnings, tables and a progress bar."""

import argparse
import errno
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO, TypeVar

Item = TypeVar("Item")

_LONGEST = 2000  # characters of a line on standard error
# Control characters, ends of lines and paragraphs, and what turns the direction of text (UAX 9).
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LONGEST_REASON = 240  # characters of what an error says in a line


def prepare() -> None:
    """Make standard output UTF-8 that gives back file names of any bytes, on every system."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def write(line: str) -> None:
    """Print a line at once, so that a following program sees results as they come.

    Raises:
        OSError: standard output is closed, or cannot be written to.
    """
    if sys.stdout is None:  # as after >&- in a shell
        raise OSError(errno.EBADF, "standard output is closed; redirect it to a file")
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def drop_output() -> None:
    """Forget what could not be written, which Python would raise at its end."""
    _drop(sys.stdout)


def _drop(stream: TextIO | None) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]
    # It is no file, or closed
    except (OSError, ValueError, AttributeError):
        return


def one_line(text: str) -> str:
    """Escape line breaks, tabs and other control characters, which file names may hold.

    So are those that turn the direction of what follows: with U+202E the end of a name is shown as
    its beginning. Surrogates stay: they stand for bytes that are not UTF-8 (PEP 383).
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def reason_of(error: BaseException) -> str:
    """The message of an error, in one line that is not too long."""
    text = f"missing {error}" if isinstance(error, KeyError) else str(error)
    line = one_line(" ".join(text.split())) or type(error).__name__
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}..."


def warn(line: str, command: str | None = None) -> None:
    """Print a line to standard error, after the name of the program or of one of its commands.

    Control characters, which may come from a file, are escaped, and a long line is cut. Where
    nothing can be printed, on a full disk or into a pipe that is closed, work goes on.
    """
    line = one_line(line)
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"
    if sys.stderr is not None:
        program = f"vit-str {command}" if command else "vit-str"
        try:
            sys.stderr.write(f"{program}: {line}\n")
            sys.stderr.flush()
        except OSError:
            _drop(sys.stderr)


class Progress:
    """A bar on standard error for what takes longer than two seconds.

    Only where it does not get in the way: standard error is a terminal, and alone there, or the
    results do not go to one as well. The bar goes when all is done.

    Args:
        total: how many are to come; None if nobody knows.
        alone: the results do not come while the bar is there, and may go to the same terminal.
        unit: what is counted.
        done: how many were done before.
        name: to show before the bar.
    """

    def __init__(
        self,
        total: int | None = 0,
        alone: bool = False,
        unit: str = "image",
        done: int = 0,
        name: str | None = None,
    ) -> None:
        self._bar: Any = None
        shared = sys.stdout and sys.stdout.isatty() and not alone
        if sys.stderr and sys.stderr.isatty() and not shared:
            from tqdm import tqdm

            self._bar = tqdm(
                desc=name,
                total=total,
                initial=done,
                unit=unit,
                delay=2,
                leave=False,
                file=sys.stderr,
                miniters=0,
            )

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal to show it in."""
        return self._bar is not None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def expect(self, count: int) -> None:
        """So many images more are to come."""
        if self._bar is not None:
            self._bar.total += count
            self._bar.update(0)

    def advance(self, count: int = 1) -> None:
        """So many images more are done."""
        if self._bar is not None:
            self._bar.update(count)

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, each of which is done when the next is asked for."""
        for item in items:
            yield item
            self.advance()

    def note(self, text: str) -> None:
        """Show a text behind the bar, such as where in an image of many pages the work is."""
        if self._bar is not None:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(0)

    def warn(self, line: str, command: str | None = None) -> None:
        """Print a line to standard error, above the bar; see `warn`."""
        if self._bar is not None:
            self._bar.clear()
        warn(line, command)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table as lines, the first column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        others = zip(row[1:], widths[1:], strict=True)
        cells += [cell.rjust(width) for cell, width in others]
        lines.append("  ".join(cells).rstrip())
    return lines


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add ``--device``."""
    parser.add_argument(
        "--device",
        default="auto",
        help="auto, cpu, cuda, cuda:1 or mps (default: auto)",
    )


def add_batch_size(parser: argparse.ArgumentParser) -> None:
    """Add ``--batch-size``."""
    parser.add_argument(
        "--batch-size",
        type=positive,
        default=32,
        metavar="N",
        help="images read at once (default: 32)",
    )


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
        raise argparse.ArgumentTypeError(
            f"expected a whole number from 1 on, found {text[:20]!r}"
        )
    return int(text)


def probability(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(
            f"expected a number from 0 to 1, found {text[:20]!r}"
        )
    return value


def whole_number(text: str, least: int = 0, end: int = 10**9) -> int:
    """A whole number from ``least`` on, below ``end``."""
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    if is_number and least <= int(text) < end:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"expected a whole number from {least} on, below {end:,}, found {text[:20]!r}"
    )

"""Options that the commands which read share: model, search, and which files are meant."""

import argparse
import codecs
import glob
import os
import stat
from collections.abc import Iterable, Iterator
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vit_str.console import add_batch_size, add_device, one_line, positive, warn
from vit_str.files import find_files

if TYPE_CHECKING:
    from vit_str.decoding.search import Search

STANDARD_INPUT = "-"
# As `>` of Windows PowerShell writes
_MARKS_OF_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LISTED_AT_ONCE = 1 << 16  # bytes that a pipe holds
_LONGEST_PATH = 1 << 20  # bytes; systems have shorter limits

UNREAD_SCRIPT = "most text is in a script that vit-str does not read"
"""The hint of all commands that read."""


def add_reader_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, which texts it may read, and ``--batch-size`` and ``--workers``."""
    add_model_arguments(parser)
    add_batch_size(parser)
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="threads that decode images (default: as --threads, 4 at most); with "
        "--engine ray, processes that read (default: one per GPU, or else per CPU)",
    )
    choice = parser.add_argument_group(
        "what may be read",
        "Confidence is then among what is allowed; jsonl has the free reading too.",
    )
    choice.add_argument(
        "--lexicon",
        metavar="FILE",
        help="read only the words in this file, one a line",
    )
    choice.add_argument(
        "--pattern",
        metavar="REGEX",
        help="read only texts that match this expression as a whole, such as "
        "'[A-Z]{2}[0-9]+'",
    )
    choice.add_argument(
        "--alphabet",
        metavar="CHARACTERS",
        help="read only these characters, such as 0123456789",
    )
    choice.add_argument(
        "--language",
        metavar="CODES|FILE",
        help="language whose words to prefer where the image is unclear, and "
        "whose letters to read: en, en+fr, ru, a file of words, or none for "
        "serial numbers and codes (default: the languages of the model; "
        "none with a lexicon, pattern or alphabet)",
    )
    choice.add_argument(
        "--beams",
        type=positive,
        metavar="N",
        help="texts to keep while writing (default: 1; 5 with a lexicon or a pattern)",
    )


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--model``, ``--device``, ``--backend`` and ``--effort``."""
    parser.add_argument(
        "--model",
        default="tiny",
        metavar="NAME|FILE",
        help="weights of the package, a .safetensors file, a folder of vit-str export, "
        "or one with weights named as those of the package (default: tiny)",
    )
    add_device(parser)
    parser.add_argument(
        "--backend",
        choices=("auto", "onnx", "onnx-int8", "torch"),
        default="auto",
        help="what computes (default: auto): torch on a GPU; on a CPU "
        "onnxruntime if it can, in 8 bits where that is faster",
    )
    parser.add_argument(
        "--effort",
        "--care",
        choices=("fast", "careful"),
        help="fast: look at every image once, and decode in parallel if the "
        "model can; careful: use test-time augmentation for doubtful words of "
        "printed pages too (default: as saved with the model)",
    )


def check_out(options: argparse.Namespace) -> None:
    """Refuse to write the results over an image, or over a file that is read for them."""
    from vit_str.images.loading import SUFFIXES

    out = options.out
    if out == STANDARD_INPUT:
        raise ValueError(f"--out {out!r} is no file; leave it out to print the results")
    if os.path.isdir(out):
        raise ValueError(f"--out {out} is a folder; give a file")
    if out.lower().endswith(SUFFIXES):
        raise ValueError(
            f"--out {out} is the name of an image; give another, such as readings.txt"
        )
    lists = (options.files_from, options.lexicon, options.language, options.model)
    check_not_read("--out", out, (*options.paths, *lists))


def check_not_read(
    option: str, out: str | Path, inputs: Iterable[str | Path | None]
) -> None:
    """Refuse to write over a file that is read.

    Raises:
        ValueError: the output of an option is one of the inputs.
    """
    if not os.path.exists(out):
        return
    for path in inputs:
        if path and os.path.isfile(path) and os.path.samefile(path, out):
            raise ValueError(f"{option} {out} is read itself; give another file")


def search_of(options: argparse.Namespace) -> "Search":
    """The search that the options of `add_reader_arguments` ask for."""
    from vit_str.decoding.search import Search

    lexicon = None
    if options.lexicon is not None:
        from vit_str.decoding.constraints import read_lexicon

        lexicon = read_lexicon(options.lexicon)
    count = getattr(options, "n_best", 1)
    return Search(
        n_best=count,
        beams=options.beams,
        lexicon=lexicon,
        pattern=options.pattern,
        alphabet=options.alphabet,
        language=options.language,
    )


class Inputs(NamedTuple):
    """The inputs that paths on the command line name."""

    # Files in the order given, those of a folder or glob sorted; `-` stays
    paths: list[str]
    # (path, what is wrong with it) for each that led to no file
    problems: list[tuple[str, str]]

    def add_problem(self, path: str, problem: str) -> None:
        """Note what is wrong with a path."""
        self.problems.append((path, problem))


def find_inputs(
    arguments: Iterable[str],
    suffixes: tuple[str, ...] | None = None,
) -> Inputs:
    """Resolve the paths on the command line.

    Globs are resolved here because not every shell does it. A file whose name looks like a glob
    is that file.

    Args:
        arguments: files, folders, globs, or ``-`` for standard input.
        suffixes: of the files to find in folders; those of images if None.
    """
    from vit_str.images.loading import REFUSED_SUFFIXES, SUFFIXES

    suffixes = (SUFFIXES if suffixes is None else suffixes) + REFUSED_SUFFIXES
    found = Inputs([], [])
    for argument in arguments:
        if argument == STANDARD_INPUT:
            found.paths.append(argument)
        elif os.path.lexists(argument) or not glob.has_magic(argument):
            _add(argument, suffixes, found)
        else:
            matches = sorted(_matches(argument))
            if not matches:
                found.add_problem(argument, "matches no file; check the pattern")
            for match in matches:
                _add(match, suffixes, found)
    return found


def _matches(pattern: str) -> set[str]:
    """Paths that a glob matches; ``**`` does not follow links to folders, so that circles end."""
    parts = pattern.replace(os.altsep or os.sep, os.sep).split(os.sep)
    if "**" not in parts:
        return set(glob.glob(pattern))
    place = parts.index("**")
    head = os.sep.join(parts[:place])
    tail = os.sep.join(parts[place + 1 :] or ["*"])
    if place and not head:  # the root
        head = os.sep
    found = set()
    for folder in glob.glob(head) if head else [""]:
        for parent, folders, _ in os.walk(folder or "."):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = os.path.relpath(parent, folder or ".")
            start = folder if inside == "." else os.path.join(folder, inside)
            found |= _matches(os.path.join(glob.escape(start), tail))
    return found


def input_groups(
    options: argparse.Namespace, suffixes: tuple[str, ...] | None = None
) -> Iterator[Inputs]:
    """The inputs that ``paths`` name, and then those in the list of ``--files-from``, as it comes.

    What is wrong with paths is said here. Every group leads to files but perhaps the last.

    Raises:
        ValueError: nothing is named, or a path leads nowhere.
    """
    if not options.paths and not options.files_from:
        raise ValueError(
            "name image files or folders to read, or a list of them with --files-from"
        )
    groups: Iterable[list[str]] = [options.paths]
    if options.files_from:
        groups = chain(groups, listed(options.files_from))
    problems: list[tuple[str, str]] = []
    for arguments in groups:
        inputs = find_inputs(arguments, suffixes)
        report(inputs.problems)
        problems += inputs.problems
        if inputs.paths:
            yield Inputs(inputs.paths, problems)
            problems = []
    if problems:
        yield Inputs([], problems)


def leading_to_files(groups: Iterator[Inputs]) -> Iterator[Inputs] | None:
    """The groups, or None if they lead to no file; waits for the first."""
    first = next(groups, None)
    if first is None:
        warn("--files-from lists nothing to read")
    return chain([first], groups) if first and first.paths else None


def listed(path: str) -> Iterator[list[str]]:
    """The lines of a file that names inputs, or of standard input for ``-``.

    Those of a regular file come together, those of a pipe as they are written. Editors of Windows
    begin a file with a byte order mark and end lines with a carriage return; elsewhere names may
    hold one.

    Raises:
        ValueError: the file cannot be read.
    """
    try:
        is_piped = path == STANDARD_INPUT
        opened = 0 if is_piped else path
        with open(opened, "rb", buffering=0, closefd=not is_piped) as file:
            groups = _lines(file, path)
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                groups = iter([list(chain.from_iterable(groups))])
            for lines in groups:
                yield [os.fsdecode(line) for line in lines if line]
    except OSError as error:
        raise ValueError(
            f"--files-from {path}: {error.strerror}; check the path"
        ) from None


def _lines(file: FileIO, path: str) -> Iterator[list[bytes]]:
    """The lines that every look into a file without a buffer finds."""
    rest = b""
    mark = codecs.BOM_UTF8
    while content := file.read(_LISTED_AT_ONCE):
        if mark and content.startswith(_MARKS_OF_UTF_16) and b"\0" in content:
            raise ValueError(f"--files-from {path}: UTF-16 text; save it as UTF-8")
        complete, end, rest = (rest + content).rpartition(b"\n")
        if end:
            complete = complete.removeprefix(mark)
            mark = b""
        if len(rest) > _LONGEST_PATH:
            raise ValueError(f"--files-from {path}: holds no paths; write one a line")
        yield _split(complete)
    yield _split(rest.removeprefix(mark))


def _split(lines: bytes) -> list[bytes]:
    """Lines without their ends."""
    return [line.removesuffix(b"\r") for line in lines.split(b"\n")]


def _add(path: str, suffixes: tuple[str, ...], found: Inputs) -> None:
    if not os.path.isdir(path):
        if os.path.lexists(path):
            found.paths.append(path)
        else:
            found.add_problem(path, "no such file; check the path")
        return

    def note(error: OSError) -> None:
        found.add_problem(str(error.filename), f"cannot be searched ({error.strerror})")

    before = len(found.problems)
    files = find_files(path, suffixes, note)
    # Under the name that was given, such as ./words, which pathlib would change.
    within = (file.relative_to(Path(path)) for file in files)
    found.paths.extend(os.path.join(path, file) for file in within)
    if not files and len(found.problems) == before:
        found.add_problem(path, "a folder without images; name the files to read")


def report(problems: Iterable[tuple[str, str]]) -> None:
    """Say what is wrong with paths, a line each."""
    for path, problem in problems:
        warn(f"{one_line(path)}: {problem}")

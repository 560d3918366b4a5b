"""``vit-str render``: rendered words as a data set for any trainer, or as sheets to look at."""

import argparse
import math
import os
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str import console
from vit_str.console import positive, probability, whole_number
from vit_str.datasets.formats import WRITERS, check_target, format_of
from vit_str.datasets.source import SHARD_SIZE, Layout
from vit_str.datasets.unfinished import refuse_finished
from vit_str.rendering.pages import command as pages
from vit_str.synthesis.ingredients import Ingredients

INGREDIENTS = tuple(field.name for field in fields(Ingredients))
ALL = "all"
# Words, unless the options say another number
_COUNT = 160  # of a sheet or a data set
_LONGEST = 25  # characters of a text
_SHOWN = 24  # of the sheet of an ingredient
SEEDS = 1 << 24
"""Seeds from here on repeat the words of smaller ones."""

if TYPE_CHECKING:
    from vit_str.synthesis.materials import Materials
    from vit_str.synthesis.renderer import Renderer

_EPILOG = """\
examples:
  vit-str render --out words/ --count 100000             images/ and labels.tsv
  vit-str render --out words.lmdb --count 100000         image-%09d, label-%09d, num-samples
  vit-str render --out words-%06d.tar --count 100000     archives for WebDataset
  vit-str render --sheet words.png                       words to look at
  vit-str render --out meters/ --count 5000 --pattern '[A-Z]{2}[0-9]{6}'
                                                         serial numbers, and nothing else
  vit-str render --show curve --out curve.png            what an ingredient does
  vit-str render --pages 20000 --out pages/              whole pages with their structure
Words are numbered from 0; --start 50000 --count 50000 makes the second half of the first 100,000,
on any machine. The same command resumes a data set that was stopped.

exit codes: 0 all well; 1 output not written; 2 wrong use; 130 interrupted with Ctrl-C."""

_Group = argparse._ArgumentGroup

_DECISIVE = (
    "count",
    "start",
    "seed",
    "format",
    "image_format",
    "boxes",
    "shard_size",
    "device",
    "words",
    "only_words",
    "pattern",
    "language",
    "charset",
    "fonts",
    "pictures",
    "kit",
    "height",
    "width",
    "held_out",
    "difficulty",
    "ingredients",
)

_pixels = partial(whole_number, least=8)
_seed = partial(whole_number, end=SEEDS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str render``."""
    parser.description = (
        "Render labeled words: a data set for any trainer, or a sheet to look at."
    )
    parser.epilog = _EPILOG
    _add_output(parser.add_argument_group("what to make"))
    _add_words(parser.add_argument_group("what to write"))
    _add_appearance(parser.add_argument_group("how it looks"))
    pages.add_arguments(parser.add_argument_group("whole pages"))


def run(options: argparse.Namespace) -> int:
    """Make what the options name; returns the exit code."""
    if options.pages:
        return pages.run(options)
    _check_target(options)
    if options.show:
        return _show(options)
    count = options.count or _COUNT
    if options.sheet:
        return _write_sheet(options, count)
    return _write_data_set(options, count)


def _write_sheet(options: argparse.Namespace, count: int) -> int:
    """Words beside each other in one picture."""
    from vit_str.rendering.sheets import write_word_sheet

    write_word_sheet(
        path=options.sheet,
        renderer=_renderer(options),
        fonts=options.fonts,
        seed=options.seed,
        start=options.start,
        count=count,
    )
    console.write(f"{options.sheet}: {count:,} words")
    return 0


def _write_data_set(options: argparse.Namespace, count: int) -> int:
    """Words with labels for a trainer; goes on where the same command was stopped.

    Raises:
        OSError: what cannot be written, and that the same command resumes.
    """
    _check_data_set(options)
    from vit_str.rendering.dataset import write_dataset

    size = options.shard_size or SHARD_SIZE
    layout = Layout(options.start, f".{options.image_format}", options.boxes, size)
    # At once, not after fonts are drawn.
    refuse_finished(options.out, WRITERS[options.format])
    try:
        write_dataset(
            _renderer(options),
            options.out,
            options.format,
            layout,
            count,
            options.seed,
            _made_with(options),
        )
    except OSError as error:
        where = error.filename or options.out
        reason = error.strerror or error
        raise OSError(
            f"cannot write {where}: {reason}; mend that and run it again"
        ) from error
    console.write(f"{options.out}: {count:,} words")
    return 0


def _made_with(options: argparse.Namespace) -> dict[str, Any]:
    """Settings that decide the words of a data set and their looks, by the names of the options."""
    values = {}
    for name in _DECISIVE:
        option = "--" + name.replace("_", "-")
        values[option] = _plain(getattr(options, name))
    return values


def _plain(value: Any) -> Any:
    """A value of an option as JSON has it, paths from the root."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return os.path.realpath(value) if isinstance(value, Path) else value


def _renderer(options: argparse.Namespace, difficulty: float = 1.0) -> "Renderer":
    """The ingredients; the difficulty is for options that do not name one."""
    from vit_str.characters.charset import charset_of
    from vit_str.rendering.dataset import BATCH
    from vit_str.synthesis.lexicon import Lexicon
    from vit_str.synthesis.own_texts import OwnStrings, OwnTexts, Texts
    from vit_str.synthesis.renderer import Renderer
    from vit_str.torch_runtime.devices import choose_device

    materials = _materials(options)
    named = options.charset
    charset = materials.charsets[0] if named is None else charset_of(named)
    language = options.language or materials.language(charset)
    device = choose_device(options.device)
    texts: Texts = Lexicon(
        charset, language, options.words, word_lists=materials.word_lists
    )
    if options.pattern or options.only_words:
        own = OwnTexts(
            dict.fromkeys(options.pattern, 1.0), dict.fromkeys(options.only_words, 1.0)
        )
        texts = OwnStrings(own, charset, _LONGEST, texts)
    pictures = materials.pictures
    atlas = materials.atlas(charset)
    if options.held_out:
        atlas = atlas.held_out()
    if options.difficulty is not None:
        difficulty = options.difficulty
    return Renderer(
        atlas.to(device),
        texts,
        (options.height, options.width),
        ingredients=Ingredients(**options.ingredients).at(difficulty),
        pictures=pictures,
        chunk=BATCH,
    )


def _materials(options: argparse.Namespace) -> "Materials":
    """The kit, or what this machine has."""
    from vit_str.synthesis.kit import Kit
    from vit_str.synthesis.materials import InstalledMaterials

    if options.kit:
        return Kit(options.kit)
    return InstalledMaterials(options.fonts, options.pictures)


def _show(options: argparse.Namespace) -> int:
    """Write the sheet of an ingredient, or those of all."""
    if options.show not in (*INGREDIENTS, ALL):
        raise ValueError(
            f"nothing to show by the name {options.show!r}; give {ALL} or one of "
            f"{', '.join(INGREDIENTS)}"
        )
    from vit_str.rendering.sheets import write_ingredient_sheet
    from vit_str.reports.sheets import check_picture

    if options.show == ALL:
        folder = options.out or Path("ingredients")
        paths = {name: folder / f"{name}.png" for name in INGREDIENTS}
    else:
        paths = {options.show: options.out or Path(f"{options.show}.png")}
        check_picture(paths[options.show])
    # Other ingredients would hide what this one does: clean words, if nothing else is asked for.
    renderer = _renderer(options, difficulty=0.0)
    count = options.count or _SHOWN
    for name, path in paths.items():
        try:
            write_ingredient_sheet(
                path, renderer, options.fonts, name, options.seed, count
            )
            console.write(f"{path}: {name}")
        except ValueError as error:  # an ingredient that changes nothing
            if options.show != ALL:
                raise
            console.warn(str(error))
    return 0


def _add_output(group: _Group) -> None:
    group.add_argument(
        "--out",
        type=Path,
        metavar="PATH",
        help="data set to write; or file for --show",
    )
    group.add_argument(
        "--sheet",
        type=Path,
        metavar="FILE",
        help="write one picture with all words",
    )
    group.add_argument(
        "--show",
        metavar="INGREDIENT",
        help="write one picture of the effect of an ingredient; all: a folder "
        "with one for each",
    )
    group.add_argument(
        "--count",
        type=positive,
        metavar="N",
        help="number of words (160)",
    )
    group.add_argument(
        "--start",
        type=whole_number,
        default=0,
        metavar="N",
        help="first word (0)",
    )
    group.add_argument(
        "--seed",
        type=_seed,
        default=1,
        metavar="N",
        help="same seed, same words (1)",
    )
    _add_storage(group)


def _add_storage(group: _Group) -> None:
    """How a data set is stored, and what draws it."""
    group.add_argument(
        "--format",
        choices=tuple(WRITERS),
        help="format to write (default: by the name of --out)",
    )
    group.add_argument(
        "--image-format",
        choices=("png", "jpg"),
        default="png",
        help="png keeps every pixel (default), jpg (quality 95) takes less than half the space",
    )
    group.add_argument(
        "--boxes",
        action="store_true",
        help="store a box for every character",
    )
    group.add_argument(
        "--shard-size",
        type=positive,
        metavar="N",
        help="words in each tar archive (10000)",
    )
    group.add_argument(
        "--device",
        default="cpu",
        help="auto, cpu, cuda, cuda:1 or mps (cpu)",
    )


def _add_words(group: _Group) -> None:
    group.add_argument(
        "--words",
        type=Path,
        metavar="FILE",
        help="text file whose words to draw instead",
    )
    group.add_argument(
        "--only-words",
        action="append",
        default=[],
        metavar="FILE",
        help="text file of which to draw the lines, as they are, and nothing else",
    )
    group.add_argument(
        "--pattern",
        action="append",
        default=[],
        metavar="REGEX",
        help="draw only texts that match this expression, such as '[A-Z]{2}[0-9]{6}'; "
        "beside others and --only-words as often as each of them",
    )
    group.add_argument(
        "--language",
        metavar="CODE",
        help="language of the words (en, or that of the kit); of pages (any)",
    )
    group.add_argument(
        "--charset",
        metavar="NAME|FILE|CHARACTERS",
        help="digits, ascii, european, latin, cyrillic-greek, korean, several joined "
        "by +, a text file, or the characters themselves (ascii, or those of the kit)",
    )


def _add_appearance(group: _Group) -> None:
    group.add_argument(
        "--fonts",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="folders of fonts, instead of the system's",
    )
    group.add_argument(
        "--kit",
        type=Path,
        metavar="FILE",
        help="of vit-str kit: fonts, word lists and pictures from it instead",
    )
    group.add_argument(
        "--pictures",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="folders of pictures for backgrounds",
    )
    group.add_argument(
        "--height",
        type=_pixels,
        default=32,
        metavar="N",
        help="height in pixels (32)",
    )
    group.add_argument(
        "--width",
        type=_pixels,
        default=128,
        metavar="N",
        help="width in pixels (128)",
    )
    group.add_argument(
        "--held-out",
        action="store_true",
        help="draw with fonts, or pages of designs, that training never sees",
    )
    group.add_argument(
        "--difficulty",
        type=probability,
        metavar="D",
        help="0: clean words, 1: the full mix (1)",
    )
    group.add_argument(
        "--ingredients",
        type=strengths,
        default={},
        metavar="NAME=S,...",
        help="strengths other than 1, such as blur=2,curve=0; the names: "
        + ", ".join(INGREDIENTS),
    )


def _check_target(options: argparse.Namespace) -> None:
    if not (options.out or options.sheet or options.show):
        raise ValueError(
            "say what to make: --out DATASET, --sheet FILE.png or --show INGREDIENT"
        )
    if options.sheet and (options.out or options.show):
        raise ValueError(
            "--sheet makes a picture and nothing else: leave out --out and --show"
        )
    if options.sheet:
        from vit_str.reports.sheets import check_picture

        check_picture(options.sheet)


def _check_data_set(options: argparse.Namespace) -> None:
    suffix = options.out.suffix.lower()
    if suffix in {".png", ".jpg", ".jpeg", ".webp"}:
        raise ValueError(f"{options.out} would be a folder; for a picture give --sheet")
    check_target(options.out, options.format, options.shard_size)
    options.format = options.format or format_of(options.out)


def strengths(text: str) -> dict[str, float]:
    """``blur=2,curve=0`` as a dictionary.

    Raises:
        argparse.ArgumentTypeError: for an unknown name, or a strength that is no number from 0
            on.
    """
    strengths: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in INGREDIENTS:
            raise argparse.ArgumentTypeError(
                f"unknown ingredient {name!r}; the ingredients are "
                f"{', '.join(INGREDIENTS)}"
            )
        try:
            strengths[name] = float(number)
        except ValueError:
            strengths[name] = math.nan
        if not 0 <= strengths[name] < math.inf:
            raise argparse.ArgumentTypeError(
                f"expected a strength from 0 on, as in {name}=2, found {part.strip()!r}"
            )
    return strengths

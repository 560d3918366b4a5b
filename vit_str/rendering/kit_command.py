"""``vit-str kit``: all that drawing needs in one file, to train where there are no fonts."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console

if TYPE_CHECKING:
    from vit_str.synthesis.materials import InstalledMaterials

_EPILOG = """\
examples:
  vit-str kit configs/vit_base_transformer.yaml --out latin.kit
  vit-str kit configs/vit_tiny_transformer.yaml configs/vit_line.yaml --out latin.kit \\
      --fonts /usr/share/fonts fonts/ --pictures /usr/share/backgrounds
  vit-str train --config configs/vit_tiny_transformer.yaml --data.init_args.kit latin.kit
The last one draws the same words from the file, on a machine without fonts, as from the fonts.

exit codes: 0 written; 1 not written; 2 wrong use; 130 interrupted with Ctrl-C."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str kit``."""
    parser.description = (
        "Write glyphs, word lists and backgrounds that configurations train with to one "
        "file, for machines that have none."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "configurations",
        type=Path,
        nargs="+",
        metavar="CONFIG",
        help="of vit-str train; those that share characters share their glyphs",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the kit to write"
    )
    parser.add_argument(
        "--fonts",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="folders of fonts instead of the system's",
    )
    parser.add_argument(
        "--pictures",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="folders of photographs to use as backgrounds",
    )


def run(options: argparse.Namespace) -> int:
    """Write the kit; returns the exit code."""
    for configuration in options.configurations:
        if not configuration.is_file():
            console.warn(f"{configuration}: no such file; check the path", "kit")
            raise SystemExit(2)
    from vit_str.synthesis.kit import write_kit
    from vit_str.training.process import prepare_process

    prepare_process()
    folders = [_folders("fonts", options), _folders("pictures", options)]
    materials: list[InstalledMaterials] = []
    pages: list[Path] = []
    for configuration in options.configurations:
        own, own_pages = _materials(configuration, folders)
        materials.append(own)
        pages += (page for page in own_pages if page not in pages)
    write_kit(options.out, materials, pages)
    size = options.out.stat().st_size / 1e6
    console.write(f"{options.out}: {size:.1f} MB")
    return 0


def _folders(name: str, options: argparse.Namespace) -> tuple[str, list[str]]:
    """An option of this command, and its value as one of ``vit-str train``."""
    folders: Sequence[Path] = getattr(options, name) or ()
    return name, list(map(str, folders))


def _materials(
    configuration: Path, folders: Sequence[tuple[str, list[str]]]
) -> "tuple[InstalledMaterials, list[Path]]":
    """Fonts and texts of this machine that a configuration uses, and its files of drawn pages."""
    from vit_str.datasets.picture_records import picture_shards_of
    from vit_str.synthesis.materials import InstalledMaterials
    from vit_str.training.cli import configured_data
    from vit_str.training.configuration import network_of
    from vit_str.training.data import RenderedWords
    from vit_str.training.find import DrawnPictures
    from vit_str.training.own_words import OwnWords

    config = f"--config={configuration}"
    data_options = "data" if network_of([config], ["finder"]) else "data.init_args"
    given = [
        f"--{data_options}.{name}={json.dumps(paths)}"
        for name, paths in folders
        if paths
    ]
    data = configured_data([config, *given])
    rendered = data.rendered if isinstance(data, OwnWords) else data
    if not isinstance(rendered, RenderedWords | DrawnPictures):
        raise ValueError(f"{configuration} renders no words, and needs no kit")
    rendered.prepare_data()
    if not isinstance(rendered.materials, InstalledMaterials):
        raise ValueError(f"{configuration} takes its fonts from a kit already")
    pages: list[Path] = []
    if isinstance(rendered, DrawnPictures):
        for folder in rendered.folders:
            pages += picture_shards_of(folder)
    return rendered.materials, pages

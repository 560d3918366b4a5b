"""How fast words are rendered on one CPU thread, next to TRDG and SynthTIGER, and how they look.

    python benchmarks/rendering_peers.py --out DIR --trdg-python PYTHON --synthtiger-python PYTHON

All draw the same words in the same fonts with the same photographs, as arrays of height 32, with
everything on, in interleaved rounds on one and the same CPU. DIR receives ``rates.json`` and
``sheet.png``: the first words as each of them draws them. Peers that are not installed are left
out. TRDG needs ``pip install trdg "pillow<10" "numpy<2"``, SynthTIGER ``pip install synthtiger
"numpy<2" "pillow<10"``, each in a virtual environment of its own. Takes five minutes.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path

from measuring import (
    described_parser,
    interleave,
    median_and_range,
    pin,
    print_machine,
    table,
    write_json,
)
from renderers import Drawn, Peer, VitStr
from rendering_sheet import sheet

from vit_str.characters.charset import Charset
from vit_str.console import positive
from vit_str.synthesis.fonts import find_fonts
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.pictures import load_pictures
from vit_str.synthesis.renderer import Renderer

_WORDS = 4096
_NOT_SHOWN = ("no quasicrystals", "as it comes")
_TRDG_STYLES = {
    "everything": "everything on",
    "noise": "no quasicrystals",
    "plain": "as it comes",
}


def main() -> None:
    """Measure, draw, print, write."""
    parser = _parser()
    options = parser.parse_args()
    pin(1)
    options.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            renderers = _renderers(options, stack)
        except ValueError as error:
            parser.error(str(error))
        print_machine()
        pictures = {
            name: each.pictures(options.sheet_words)
            for name, each in renderers.items()
            if not name.endswith(_NOT_SHOWN)
        }
        runs: dict[str, Callable[[], Drawn]] = {
            name: partial(each.draw, options.seconds)
            for name, each in renderers.items()
        }
        rounds = interleave(runs, options.rounds)
    print("pictures of height 32, one CPU thread, median of the rounds")
    print(_table(rounds))
    sheet(pictures).save(options.out / "sheet.png")
    results = {name: [asdict(drawn) for drawn in each] for name, each in rounds.items()}
    write_json(options.json or options.out / "rates.json", {"rounds": results})


def _renderers(
    options: argparse.Namespace,
    stack: ExitStack,
) -> dict[str, VitStr | Peer]:
    """Those that are installed, all with the same words, fonts and photographs.

    Raises:
        ValueError: no fonts, or no photographs where there should be some.
    """
    trdg = _installed(options.trdg_python, "trdg")
    synthtiger = _installed(options.synthtiger_python, "synthtiger")
    pictures = options.pictures or (trdg[1] / "images" if trdg else None)
    charset = Charset()
    lexicon = Lexicon(charset)
    atlas = load_or_draw_glyphs(charset)
    renderer = Renderer(
        atlas,
        lexicon,
        pictures=load_pictures([pictures]) if pictures else None,
    )
    words = lexicon.sample(_WORDS, seed=1)
    task = {
        "words": words,
        "fonts": _files(atlas),
        "pictures": str(pictures.resolve()) if pictures else None,
    }
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

    def start(python: str, worker: str, style: str) -> Peer:
        path = folder / f"{Path(worker).stem}-{style}.json"
        path.write_text(json.dumps(task | {"style": style}), encoding="utf-8")
        return stack.enter_context(Peer(python, worker, path))

    ours = f"vit-str, everything on, batch {options.batch_size}"
    renderers: dict[str, VitStr | Peer] = {
        ours: VitStr(renderer, words, options.batch_size)
    }
    if synthtiger:
        peer = start(options.synthtiger_python, "synthtiger_worker.py", "everything")
        renderers[f"SynthTIGER {synthtiger[0]}, everything on"] = peer
    if trdg:
        for style, what in _TRDG_STYLES.items():
            peer = start(options.trdg_python, "trdg_worker.py", style)
            renderers[f"TRDG {trdg[0]}, {what}"] = peer
    return renderers


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=5)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="where results go",
    )
    for name in ("trdg", "synthtiger"):
        parser.add_argument(
            f"--{name}-python",
            default=sys.executable,
            metavar="PYTHON",
            help=f"interpreter of the virtual environment that holds {name} (this one)",
        )
    parser.add_argument(
        "--pictures",
        type=Path,
        metavar="FOLDER",
        help="photographs as backgrounds, for all (those that come with TRDG)",
    )
    parser.add_argument(
        "--batch-size",
        type=positive,
        default=512,
        help="of vit-str (512)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="of each in a round (10)",
    )
    parser.add_argument(
        "--sheet-words",
        type=positive,
        default=48,
        help="in the picture (48)",
    )
    return parser


def _installed(python: str, package: str) -> tuple[str, Path] | None:
    """Version of the package and its folder, if that Python has it; else a line about it."""
    program = (
        f"import {package}; from importlib.metadata import version as v; "
        f"print(v('{package}'), {package}.__file__)"
    )
    try:
        answer = subprocess.run(
            [python, "-c", program],
            capture_output=True,
            check=False,
        )
    except OSError:
        answer = None
    if answer is None or answer.returncode:
        pins = '"numpy<2" "pillow<10"'
        print(
            f"{package} is left out; to install it: {python} -m pip install {package} "
            f"{pins}"
        )
        return None
    version, _, file = answer.stdout.decode().splitlines()[-1].partition(" ")
    return version, Path(file).parent


def _files(atlas: GlyphAtlas) -> list[str]:
    """The font files that vit-str draws with: those it rejects would make the others look bad."""
    stems = {name.rpartition("/")[2] for name in atlas.names}
    return [str(path) for path in find_fonts() if path.stem in stems]


def _table(rounds: dict[str, list[Drawn]]) -> str:
    titles = [
        "renderer",
        "images/s",
        "range",
        "vit-str is",
        "per CPU second",
        "vit-str is",
    ]
    rows = [titles]
    ours = next(iter(rounds.values()))
    for name, theirs in rounds.items():
        rates = [drawn.images / drawn.seconds for drawn in theirs]
        ratio = _median_rate(ours, "seconds") / statistics.median(rates)
        computing = _median_rate(theirs, "cpu_seconds")
        computing_ratio = _median_rate(ours, "cpu_seconds") / computing
        row = [name, *median_and_range(rates), f"{ratio:.1f} x"]
        rows.append([*row, f"{computing:,.1f}", f"{computing_ratio:.1f} x"])
    return table(rows)


def _median_rate(rounds: list[Drawn], time: str) -> float:
    rates: list[float] = [drawn.images / getattr(drawn, time) for drawn in rounds]
    return statistics.median(rates)


if __name__ == "__main__":
    main()

"""How models read words that are hard in one way, in fonts that training never sees.

    python benchmarks/hard_sets.py --out hard [--models tiny a.safetensors ...] [--words 1000]
        [--json FILE] [--markdown FILE]

Renders a folder per set (images/, labels.tsv and sheet.png, to look at), unless it is there, and
reads it with every model. A set is plain words and one hard ingredient, strong: of the words drawn
with it, those are kept whose pictures differ most from the same pictures without it. Other sets
are plain but for what is written; of crops without text the share that is left empty counts. Sets
of lines are for readers of lines (--models line --sets "lines of code" ...).
Pictures of a seed change with the renderer: compare models on one folder only. Needs the fonts
that training has been given, so that those held out are the same.
"""

import argparse
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from itertools import count, islice, product
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from measuring import add_json, described_parser, table, write_json
from PIL import Image
from torch import Tensor

from vit_str.characters.charset import CHARSETS, PRINTABLE_ASCII, Charset
from vit_str.console import positive
from vit_str.datasets import open_words
from vit_str.evaluation.metrics import Scores
from vit_str.evaluation.statistics import wilson_interval
from vit_str.evaluation.words.reading import read_words
from vit_str.reports.sheets import Captioned, sheet
from vit_str.synthesis.fonts import find_fonts
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_texts import LineStyle, LineTexts
from vit_str.synthesis.machine_faces import DOTS, OPTICAL, SEVEN, WHEELS, kind_of_face
from vit_str.synthesis.machine_text import share_of_machines
from vit_str.synthesis.printed_lines import TextLineRenderer
from vit_str.synthesis.renderer import Renderer
from vit_str.words.reader import Reader, load

_BATCH = 256
_SHEET_WORDS = 96
_PLAIN = replace(Ingredients().at(0), margin=1.0)
_STANDARD = {each.name: 1.0 for each in fields(Ingredients)}
_WORDS = {"words": 1.0}
_LATIN = CHARSETS["latin"]
_NUMBERS = (
    "numbers",
    "prices",
    "dates",
    "times",
    "phones",
    "codes",
    "addresses",
    "punctuated",
)
_LANGUAGES = "de+fr+es+it+pt+sv+da+nb+fi+pl+cs+sk+hu+ro+tr+sh+sl+lt+lv+is+ca+vi"
_AMOUNTS = ("numbers", "prices", "dates", "times", "phones")
_CYRILLIC_AND_GREEK = CHARSETS["cyrillic-greek"]
_OTHER_SCRIPTS = ("ru", "uk", "bg", "mk", "sr", "el")


_MACHINES = _STANDARD | {"machine": 2.0}
_SHOWN = {"instruments": 1.0}
_SAID = {"words": 1.0, "phrases": 1.0, "possessives": 0.2}
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LINE_WIDTHS = range(192, 641, 64)  # pixels
_LINE_LETTERS = (8.0, 16.0)  # pixels for each letter
_LINES = 16  # of one width
_LETTER = 12  # pixels, in a word with blank beside it
_SHEET = (1.3, 2.2)  # widths of the word that one with blank beside it takes


def _letters_beyond_ascii(characters: str) -> frozenset[str]:
    return frozenset(filter(str.isalpha, characters)) - frozenset(PRINTABLE_ASCII)


_ACCENTED = _letters_beyond_ascii(_LATIN)
_METRICS = {
    "word 36": "word_accuracy_36",
    "word full": "word_accuracy_full",
    "character": "character_accuracy",
}


@dataclass(frozen=True, slots=True)
class HardSet:
    """What makes a set hard.

    Attributes:
        strengths: of the ingredients that do.
        keep: share of the words that is kept: those that the ingredients changed most.
        text: kinds of text and their shares.
        lengths: fewest and most characters.
        language: of the words.
        needs: what every label has one of; empty if nothing is asked for.
        characters: those that a label may have.
        charset: of the fonts, by name.
        machine: kind of face of machines that all words are set in; any if empty.
        lines: kinds of lines and their shares, in place of words.
        blank: whether blank of the color of the ground is beside a word, on one side.
    """

    strengths: dict[str, float] = field(default_factory=dict)
    keep: float = 1.0
    text: dict[str, float] = field(default_factory=lambda: _WORDS)
    lengths: tuple[int, int] = (3, 12)
    language: str = "en"
    needs: frozenset[str] = frozenset()
    characters: str = _LATIN
    charset: str = "latin"
    machine: str = ""
    lines: dict[str, float] = field(default_factory=dict)
    blank: bool = False

    def takes(self, label: str) -> bool:
        """Whether a label belongs to the set."""
        fits = self.lengths[0] <= len(label) <= self.lengths[1]
        allowed = set(label) <= set(self.characters)
        return fits and allowed and (not self.needs or not self.needs.isdisjoint(label))


# A strength of 1 / share makes what happens to a share of the words happen to all.
SETS = {
    "plain": HardSet(),
    "standard mix": HardSet(_STANDARD),
    "rotated": HardSet({"rotation": 1.2}, keep=0.12),
    "stacked": HardSet({"stacked": 50.0}),
    "turned": HardSet({"turned": 20.0}, keep=0.5),  # the others come out upright
    "curved": HardSet({"curve": 1.0}, keep=0.15),
    "perspective": HardSet({"perspective": 1.3, "shear": 1.0}, keep=0.2),
    "low contrast": HardSet({"faint": 17.0}, keep=0.7),
    "low resolution": HardSet({"low_resolution": 2.0}, keep=0.4),
    "blurred": HardSet({"blur": 1.5, "motion": 1.5}, keep=0.4),
    "backgrounds": HardSet(
        {"texture": 2.0, "clutter": 4.0, "neighbors": 2.0}, keep=0.4
    ),
    "extruded": HardSet({"extrusion": 10.0}, keep=0.8),
    "embossed": HardSet({"emboss": 20.0}, keep=0.8),
    "long": HardSet(text=_WORDS | {"long": 0.02}, lengths=(13, 25)),
    "numbers and symbols": HardSet(text=dict.fromkeys(_NUMBERS, 1.0), lengths=(1, 25)),
    "with spaces": HardSet(
        text={"phrases": 1.0}, lengths=(3, 25), needs=frozenset(" ")
    ),
    "with accents": HardSet(language=_LANGUAGES, needs=_ACCENTED),
    "blank beside": HardSet(blank=True),
    "no text": HardSet(_STANDARD, text={"nothing": 1.0}, lengths=(0, 0)),
    # What no list of words knows, with all effects: a prior over words must not harm it.
    "random strings": HardSet(
        _STANDARD,
        text={"contextless": 1.0},
        lengths=(2, 10),
        characters=PRINTABLE_ASCII,
    ),
    "codes": HardSet(_STANDARD, text={"codes": 1.0}, lengths=(2, 25)),
    "amounts": HardSet(_STANDARD, text=dict.fromkeys(_AMOUNTS, 1.0), lengths=(1, 25)),
    "addresses": HardSet(_STANDARD, text={"addresses": 1.0}, lengths=(3, 25)),
    "unknown languages": HardSet(_STANDARD, language="fil+id+ms"),
    **{
        f"accents {language}": HardSet(language=language, needs=_ACCENTED)
        for language in _LANGUAGES.split("+")
    },
    **{
        f"words {language}": HardSet(
            language=language,
            characters=_CYRILLIC_AND_GREEK,
            charset="cyrillic-greek",
            needs=_letters_beyond_ascii(_CYRILLIC_AND_GREEK),
        )
        for language in _OTHER_SCRIPTS
    },
    "words vi": HardSet(language="vi"),
    "code": HardSet(_STANDARD, text={"snippets": 1.0}, lengths=(1, 25)),
    "identifiers": HardSet(_STANDARD, text={"identifiers": 1.0}, lengths=(2, 25)),
    "subtitles": HardSet(_STANDARD | {"subtitle": 100.0}, text=_SAID, lengths=(2, 25)),
    "underlined code": HardSet(
        {"baseline_rule": 100.0},
        text={"snippets": 1.0},
        lengths=(3, 25),
        needs=frozenset("_"),
    ),
    "struck out": HardSet({"struck": 100.0}),
    "small capitals": HardSet(
        {"small_capitals": 100.0}, lengths=(4, 12), characters=_CAPITALS
    ),
    "segments": HardSet(_MACHINES, text=_SHOWN, lengths=(2, 12), machine=SEVEN),
    "needles": HardSet(_MACHINES, text=_SHOWN, lengths=(2, 16), machine=DOTS),
    "counters": HardSet(_MACHINES, text=_SHOWN, lengths=(5, 8), machine=WHEELS),
    "passports": HardSet(_MACHINES, text=_SHOWN, lengths=(6, 25), machine=OPTICAL),
    "boxes to tick": HardSet(
        text={"signs": 1.0}, lengths=(1, 12), needs=frozenset("☑☒□")
    ),
    "signs alone": HardSet(
        text={"signs": 1.0, "single": 1.0, "numbers": 1.0}, lengths=(1, 3)
    ),
    **{
        name: HardSet(lines=dict.fromkeys(kinds, 1.0))
        for name, kinds in {
            "lines of code": ["source"],
            "lines with identifiers": ["identifier"],
            "lines of machines": ["instrument"],
            "lines with boxes": ["ticked"],
            "lines with figures": ["figures"],
            "lines that are said": ["spoken"],
        }.items()
    },
}


def main() -> None:
    """Compare, or say in one line why that cannot be."""
    try:
        compare(_parser().parse_args())
    except (OSError, ValueError) as error:
        raise SystemExit(f"hard_sets.py: {error}") from None


def compare(options: argparse.Namespace) -> None:
    """Render, read, print, write."""
    unknown = sorted(set(options.sets) - set(SETS))
    if unknown:
        raise ValueError(f"unknown sets {unknown}: there are {', '.join(SETS)}")
    folders = {name: options.out / name.replace(" ", "-") for name in options.sets}
    fonts = tuple(options.fonts) if options.fonts else None
    for name, folder in folders.items():
        if (folder / "labels.tsv").is_file():
            print(f"{name}: as it is in {folder}", file=sys.stderr)
            continue
        print(f"{name}: rendering {options.words} words", file=sys.stderr)
        atlas = open_atlas(SETS[name].charset, fonts)
        fonts_kept_out = atlas.held_out().compact()
        write_set(folder, SETS[name], fonts_kept_out, options.words, options.seed)
    if options.models:
        scores = _read(options.models, folders, options.device)
        print(table(_rows(scores)))
        if options.markdown:
            options.markdown.write_text(_markdown(_rows(scores)), encoding="utf-8")
        values = {
            model: {name: each.to_dict() for name, each in sets.items()}
            for model, sets in scores.items()
        }
        write_json(
            options.json,
            {"words": options.words, "seed": options.seed, "models": values},
        )


@lru_cache
def open_atlas(charset: str, fonts: tuple[Path, ...] | None) -> GlyphAtlas:
    """The fonts that draw a charset, opened once."""
    return load_or_draw_glyphs(Charset(CHARSETS[charset]), fonts)


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the sets")
    parser.add_argument(
        "--models",
        nargs="+",
        default=[],
        help="names or .safetensors files",
    )
    parser.add_argument(
        "--sets",
        nargs="+",
        default=list(SETS),
        help=f"of {', '.join(SETS)}",
    )
    parser.add_argument(
        "--words",
        type=positive,
        default=1000,
        help="in each set (1000)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=20261121,
        help="of the words (20261121)",
    )
    parser.add_argument(
        "--fonts",
        type=Path,
        nargs="+",
        help="folders instead of the system's",
    )
    parser.add_argument("--device", default="auto", help="to read with (auto)")
    add_json(parser)
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write the table here",
    )
    return parser


def write_set(
    folder: Path,
    wanted: HardSet,
    atlas: GlyphAtlas,
    words: int,
    seed: int,
) -> None:
    """Render a set into a folder, whole or not at all."""
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "images").mkdir(parents=True)
    lines = []
    cells = []
    for number, (pixels, label) in enumerate(
        islice(draw(wanted, atlas, seed), words), 1
    ):
        image = Image.fromarray(pixels.permute(1, 2, 0).numpy())
        image.save(partial / "images" / f"{number:05d}.png")
        lines.append(f"{number:05d}.png\t{label}\n")
        cells.append(Captioned(image, label))
    sheet(cells[:_SHEET_WORDS], 8, find_fonts).save(partial / "sheet.png")
    (partial / "labels.tsv").write_text("".join(lines), encoding="utf-8")
    partial.rename(folder)


def draw(
    wanted: HardSet, atlas: GlyphAtlas, seed: int
) -> Iterator[tuple[UInt8[Tensor, "3 height width"], str]]:
    """Endless pictures of a set and their labels."""
    if wanted.lines:
        yield from _draw_lines(wanted, atlas, seed)
        return
    if wanted.blank:
        alone = draw(replace(wanted, blank=False), atlas, seed)
        yield from _with_blank(alone, random.Random(seed))
        return
    if wanted.machine:
        atlas = atlas.select(_faces_of(atlas, wanted.machine))
    lexicon = Lexicon(atlas.charset, wanted.language, weights=wanted.text)
    hard = Renderer(atlas, lexicon, ingredients=replace(_PLAIN, **wanted.strengths))
    plain = Renderer(atlas, lexicon, ingredients=_PLAIN)
    for index in count():
        labels: list[str] = []
        for attempt in count():
            drawn = lexicon.sample(_BATCH, (seed << 20) + (index << 8) + attempt)
            labels += filter(partial(_fits, wanted, hard), drawn)
            if len(labels) >= _BATCH:
                break
        labels = labels[:_BATCH]
        images = hard.render(labels, seed + index).images
        chosen = torch.arange(len(labels))
        if wanted.keep < 1:
            change = _change(plain.render(labels, seed + index).images, images)
            chosen = change.topk(round(wanted.keep * len(labels))).indices.sort().values
        for place in chosen.tolist():
            yield images[place], labels[place]


def _faces_of(atlas: GlyphAtlas, kind: str) -> list[int]:
    """The fonts of an atlas, and its faces of machines of one kind."""
    names = enumerate(atlas.names)
    return [place for place, name in names if kind_of_face(name) in ("", kind)]


def _fits(wanted: HardSet, renderer: Renderer, label: str) -> bool:
    """Whether a label belongs to a set, and is surely drawn in a face of machines if it should."""
    if not wanted.takes(label):
        return False
    if not wanted.machine:
        return True
    is_shown = share_of_machines(label) == 1
    return is_shown and renderer.typesetter.styles.kinds(label) == {wanted.machine}


def _draw_lines(
    wanted: HardSet, atlas: GlyphAtlas, seed: int
) -> Iterator[tuple[UInt8[Tensor, "3 height width"], str]]:
    """Endless lines of some kinds, as print and as signs, and their labels."""
    lexicon = Lexicon(atlas.charset, wanted.language)
    texts = LineTexts(
        atlas.charset, lexicon, wanted.language, style=LineStyle(kinds=wanted.lines)
    )
    renderer = TextLineRenderer(atlas, texts)
    rng = random.Random(seed)
    for index in count():
        width = rng.choice(_LINE_WIDTHS)
        lines = [
            texts.line(rng, width / rng.uniform(*_LINE_LETTERS)) for _ in range(_LINES)
        ]
        batch = renderer.render(lines, width, seed + index)
        for image, ids in zip(batch.images, batch.labels.tolist(), strict=True):
            yield image, atlas.charset.decode(ids)


def _with_blank(
    drawn: Iterator[tuple[UInt8[Tensor, "3 height width"], str]], rng: random.Random
) -> Iterator[tuple[UInt8[Tensor, "3 height wider"], str]]:
    """Words with blank on one side, but for those that touch an end of their pictures."""
    for image, label in drawn:
        ends = torch.cat([image[..., 0], image[..., -1]], 1)
        ground = ends[:, :1, None]
        if (ends != ground[..., 0]).any():
            continue
        size = (image.shape[1], _LETTER * len(label))
        resized = F.interpolate(image[None].float(), size, mode="area")[0]
        word = resized.round().to(torch.uint8)
        beside = round((rng.uniform(*_SHEET) - 1) * size[1])
        blank = ground.expand(-1, size[0], beside)
        parts = [word, blank] if rng.random() < 0.5 else [blank, word]
        yield torch.cat(parts, 2), label


def _change(
    before: UInt8[Tensor, "batch 3 height width"],
    after: UInt8[Tensor, "batch 3 height width"],
) -> Float[Tensor, " batch"]:
    """How far pictures differ, over the contrast that they had."""
    first = before.flatten(1).float()
    second = after.flatten(1).float()
    return (second - first).abs().mean(1) / first.std(1)


def _read(
    models: list[str],
    folders: dict[str, Path],
    device: str,
) -> dict[str, dict[str, Scores]]:
    """Model -> set -> scores."""
    scores = {}
    for model in models:
        reader = load(model, device)
        scores[model] = {}
        for name, folder in folders.items():
            if SETS[name].lengths == (0, 0):
                scores[model][name] = _left_empty(reader, folder)
            else:
                words = read_words(reader, open_words(folder), batch_size=64)
                scores[model][name] = words.scores()
    return scores


def _left_empty(reader: Reader, folder: Path) -> Scores:
    """Share of the images without text for which the model writes nothing."""
    readings = reader.read(sorted((folder / "images").iterdir()), 64)
    empty = sum(not reading.text for reading in readings)
    names = _METRICS.values()
    return Scores(
        len(readings),
        dict.fromkeys(names, empty / len(readings)),
        dict.fromkeys(names, wilson_interval(empty, len(readings))),
        dict.fromkeys(names, 0),
    )


def _rows(scores: dict[str, dict[str, Scores]]) -> list[list[str]]:
    """One row per set; per model word and character accuracy in percent."""
    titles = [
        f"{Path(model).stem}: {title}" for model, title in product(scores, _METRICS)
    ]
    rows = [["set", "words", *titles]]
    for name, first in next(iter(scores.values())).items():
        pairs = product(scores.values(), _METRICS.values())
        cells = [_percent(sets[name], metric) for sets, metric in pairs]
        rows.append([name, f"{first.n:,}", *cells])
    return rows


def _percent(scores: Scores, metric: str) -> str:
    low, high = scores.interval[metric]
    return f"{100 * scores.values[metric]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _markdown(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---", *("---:" for _ in head[1:])], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()

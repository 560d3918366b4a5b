"""Write ``vit_str/scripts/scripts.safetensors``: what tells scripts apart in drafts.

    python data/make_script_detector.py [--fonts FOLDER ...] [--hangul FOLDER] [--words 16000]

Draws words in Latin letters; as many in those of each other pair of weights that the package has;
and as many in scripts that none reads, in the faces of Debian's fonts-noto-core and fonts-noto-cjk.
The fonts and effects are those of training. Lets the encoder of ``tiny`` draft their texts; and
trains `ScriptDetector` on the scores of these drafts. A tenth of the words is kept to see how well
it does. New weights of the package, of any script, need a new one: until then images are asked
about by their texts alone.
"""

import argparse
import json
import random
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Float16, Int64
from safetensors.numpy import save
from torch import Tensor, nn

from vit_str import console
from vit_str.characters.charset import CHARSETS, PRINTABLE_ASCII, Charset
from vit_str.engines.weights_contents import BUNDLED, resolve, stored_checksum
from vit_str.scripts.registry import OTHER_PAIRS
from vit_str.scripts.script_detector import BUNDLED_DETECTOR, FIRST, OTHERS, UNREAD
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer
from vit_str.words.reader import Reader, load

LATIN = (
    "en*16+de*2+fr*2+es*2+it*2+pt*2+sv+da+nb+fi+pl+cs+sk+hu+ro+tr+sh+sl+lt+lv+is+ca"
    "+vi+nl+id+fil"
)
LANGUAGES = {
    "cyrillic-greek": "ru*16+uk*6+bg*4+mk*3+sr*4+el*16+be*3+kk*3+ky*2+tg*2+mn*2",
    "korean": "ko",
}
"""Of the words of other pairs, by the name of their weights and of their charset."""
UNREAD_SCRIPTS = {
    "Arabic": [
        range(0xFE8D, 0xFEF5)
    ],  # joined forms: letters stand in them as in words
    "Hebrew": [range(0x5D0, 0x5EB)],
    "Armenian": [range(0x531, 0x557), range(0x561, 0x587)],
    "Georgian": [range(0x10D0, 0x10F1)],
    "Ethiopic": [range(0x1200, 0x1358)],
    "Devanagari": [range(0x905, 0x93A)],
    "Bengali": [range(0x985, 0x9BA)],
    "Gurmukhi": [range(0xA05, 0xA3A)],
    "Gujarati": [range(0xA85, 0xABA)],
    "Tamil": [range(0xB85, 0xBBA)],
    "Telugu": [range(0xC05, 0xC3A)],
    "Kannada": [range(0xC85, 0xCBA)],
    "Malayalam": [range(0xD05, 0xD3A)],
    "Sinhala": [range(0xD85, 0xDC7)],
    "Thai": [range(0xE01, 0xE31), range(0xE40, 0xE47)],
    "Lao": [range(0xE81, 0xEAF)],
    "Tibetan": [range(0xF40, 0xF6D)],
    "Myanmar": [range(0x1000, 0x102B)],
    "Khmer": [range(0x1780, 0x17B4)],
    # Japanese and Chinese; one character in five of the many
    "CJK": [range(0x3041, 0x3097), range(0x30A1, 0x30FB), range(0x4E00, 0x9FA6, 5)],
}
"""Scripts that no pair reads: a part of the names of their Noto faces, and codes of letters."""
NOTO = Path("/usr/share/fonts")
DIFFICULTIES = (0.4, 1.0, 1.0)  # of every three batches
BATCH = 64
HIDDEN = 32
DROPOUT = 0.2
EPOCHS = 10
STEP = 128  # words
RATE = 4e-3
WEIGHT_DECAY = 0.05
KEPT = 0.1  # share of the words that training does not see

Scores = Float16[Tensor, "word column symbol"]


def main() -> None:
    """Make one, or say in one line why that cannot be."""
    try:
        make()
    except (OSError, ValueError) as error:
        raise SystemExit(f"make_script_detector.py: {error}") from None


def make() -> None:
    """Draw, train, say how well it does, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fonts", type=Path, nargs="+", help="instead of the system's")
    parser.add_argument(
        "--hangul", type=Path, help="the folder that data/fonts-korean.txt collects"
    )
    parser.add_argument(
        "--noto", type=Path, default=NOTO, help=f"folder of the Noto faces ({NOTO})"
    )
    parser.add_argument(
        "--words",
        type=console.positive,
        default=16_000,
        help="of each class: Latin, each other pair, what none reads (16000)",
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    reader = load(resolve("tiny"), "cpu")
    files = [BUNDLED / f"{pair.words}.safetensors" for pair in OTHER_PAIRS]
    others = [file for file in files if file.is_file()]
    drawn = [pictures(renderer_of("latin", LATIN, options), "latin", options.seed)]
    for file in others:
        renderer = renderer_of(file.stem, LANGUAGES[file.stem], options)
        drawn.append(pictures(renderer, file.stem, options.seed))
    drawn.append(unread_pictures(options))
    names = ["latin", *(file.stem for file in others), "unread"]
    pairs = zip(names, drawn, strict=True)
    drafts = [scores_of(reader, images, name, options) for name, images in pairs]
    network = ScriptNetwork(drafts)
    train(network, drafts, names)
    tensors = {
        name: tensor.detach().numpy() for name, tensor in network.folded().items()
    }
    checksums = [stored_checksum(file) or "" for file in others]
    metadata = {
        FIRST: stored_checksum(resolve("tiny")) or "",
        OTHERS: json.dumps([*checksums, UNREAD]),
    }
    BUNDLED_DETECTOR.write_bytes(save(tensors, metadata))
    console.write(str(BUNDLED_DETECTOR))


def renderer_of(charset: str, language: str, options: argparse.Namespace) -> Renderer:
    """What draws words in the fonts that have the characters."""
    fonts = tuple(options.fonts) if options.fonts else None
    if charset == "korean" and options.hangul:
        fonts = (options.hangul,)
    atlas = load_or_draw_glyphs(Charset(CHARSETS[charset]), fonts).training()
    return Renderer(atlas, Lexicon(atlas.charset, language))


def scores_of(
    reader: Reader,
    drawn: Iterator[np.ndarray],
    name: str,
    options: argparse.Namespace,
) -> Scores:
    """Scores of the drafts of words."""
    found: list[np.ndarray] = []
    with console.Progress(options.words, unit="word", name=name) as progress:
        for images in drawn:
            scores = reader.engine.scores(reader.encode(images))
            found.append(scores.astype(np.float16))
            progress.advance(len(images))
            if sum(map(len, found)) >= options.words:
                break
    return torch.from_numpy(np.concatenate(found)[: options.words])


def pictures(renderer: Renderer, charset: str, seed: int) -> Iterator[np.ndarray]:
    """Endless batches of words that have letters of the script of a charset."""
    needed = set(filter(str.isalpha, CHARSETS[charset]))
    if charset != "latin":
        needed -= set(PRINTABLE_ASCII)
    index = seed << 20
    while True:
        drawn = renderer.lexicon.sample(BATCH, index)
        words = [word for word in drawn if not needed.isdisjoint(word)]
        difficulty = DIFFICULTIES[index % len(DIFFICULTIES)]
        yield renderer.render(words, index, difficulty).images.numpy()
        index += 1


def unread_pictures(options: argparse.Namespace) -> Iterator[np.ndarray]:
    """Endless batches of random strings in one script after another that no pair reads."""
    renderers = []
    for name, ranges in UNREAD_SCRIPTS.items():
        faces = faces_of(options.noto, name)
        letters = "".join(chr(code) for codes in ranges for code in codes)
        charset = Charset("".join(filter(is_letter, letters)))
        atlas, _ = draw_glyphs(faces, charset)
        if not len(atlas):
            raise ValueError(
                f"no Noto face of {name} in {options.noto}: install Debian's "
                "fonts-noto-core and fonts-noto-cjk, or name their folder (--noto)"
            )
        lexicon = Lexicon(charset, weights={"contextless": 1}, any_direction=True)
        renderers.append(Renderer(atlas, lexicon))
    rng = random.Random(options.seed)
    index = options.seed << 20
    while True:
        rng.shuffle(renderers)
        for renderer in renderers:
            words = renderer.lexicon.sample(BATCH, index)
            difficulty = DIFFICULTIES[rng.randrange(len(DIFFICULTIES))]
            yield renderer.render(words, index, difficulty).images.numpy()
            index += 1


def faces_of(folder: Path, script: str) -> list[Path]:
    """Regular and bold Noto faces of a script."""
    found = folder.rglob(f"Noto*{script}*-*")
    return sorted(path for path in found if path.stem.endswith(("-Regular", "-Bold")))


def is_letter(character: str) -> bool:
    """Whether it is a letter that stands alone, and that Unicode has."""
    return unicodedata.category(character) in ("Lo", "Ll", "Lu")


class ScriptNetwork(nn.Module):
    """`ScriptDetector` while it learns, over scores on a common scale.

    Args:
        drafts: scores of each class, which tell the scale; of Latin letters first.
    """

    def __init__(self, drafts: Sequence[Scores]) -> None:
        super().__init__()
        columns = torch.cat([scores[::8].float().flatten(0, 1) for scores in drafts])
        self.mean = columns.mean(0)
        self.scale = columns.std(0)
        self.hidden = nn.Linear(len(self.mean), HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)
        self.output = nn.Linear(HIDDEN, len(drafts))

    def forward(self, scores: Scores) -> Float[Tensor, "word kind"]:
        """What speaks for each class, as logarithms."""
        hidden = self.hidden((scores.float() - self.mean) / self.scale).relu()
        evidence: Tensor = self.output(self.dropout(hidden).mean(1))
        return evidence

    def folded(self) -> dict[str, Tensor]:
        """The parameters of the detector, which takes scores as they are.

        Its outputs speak for the other classes and against the first.
        """
        weight = self.hidden.weight / self.scale
        output = self.output.weight
        return {
            "hidden_weight": weight.contiguous(),
            "hidden_bias": self.hidden.bias - weight @ self.mean,
            "output_weight": (output[1:] - output[:1]).contiguous(),
            "output_bias": self.output.bias[1:] - self.output.bias[:1],
        }


def train(
    network: ScriptNetwork, drafts: Sequence[Scores], names: Sequence[str]
) -> None:
    """Train on most of the words, and report how the others are told apart."""
    scores = torch.cat(list(drafts))
    kinds = torch.cat(
        [torch.full((len(words),), place) for place, words in enumerate(drafts)]
    )
    order = torch.randperm(len(scores))
    kept = order[: round(KEPT * len(order))]
    seen = order[len(kept) :]
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=WEIGHT_DECAY)
    steps = len(seen) // STEP
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, total_steps=EPOCHS * steps
    )
    for epoch in range(EPOCHS):
        network.train()
        shuffled = seen[torch.randperm(len(seen))]
        for step in range(steps):
            batch = shuffled[step * STEP : (step + 1) * STEP]
            loss = F.cross_entropy(network(scores[batch]), kinds[batch])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
        network.eval()
        with torch.no_grad():
            evidence = network(scores[kept])
        loss = F.cross_entropy(evidence, kinds[kept])
        report = told_apart(evidence.argmax(1), kinds[kept], names)
        console.warn(f"epoch {epoch + 1}: loss {loss:.3f}, told apart {report}")


def told_apart(
    found: Int64[Tensor, " word"], kinds: Int64[Tensor, " word"], names: Sequence[str]
) -> str:
    """Share of the words of each class that are found to be of it."""
    right = (found == kinds).float()
    shares = [right[kinds == place].mean() for place in range(len(names))]
    return ", ".join(
        f"{name} {share:.1%}" for name, share in zip(names, shares, strict=True)
    )


if __name__ == "__main__":
    main()

"""Write ``vit_str/runtime/scripts.safetensors``: what tells scripts apart in drafts.

    python data/make_script_detector.py [--fonts FOLDER ...] [--words 16000]

Draws words in Latin letters, and as many in Cyrillic and Greek ones, with the fonts and effects of
training; lets the encoder of ``tiny`` draft their texts; and trains `ScriptDetector` on the scores
of these drafts. A tenth of the words is kept to see how well it does. New weights of the package,
of either script, need a new one: until then images are asked about by their texts alone.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Float16
from safetensors.numpy import save
from torch import Tensor, nn

from vit_str import console
from vit_str.runtime import Reader, load
from vit_str.runtime.charset import CHARSETS, PRINTABLE_ASCII, Charset
from vit_str.runtime.script_detector import BUNDLED_DETECTOR, FIRST, OTHER
from vit_str.runtime.weights_contents import resolve, stored_checksum
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer

LATIN = (
    "en*16+de*2+fr*2+es*2+it*2+pt*2+sv+da+nb+fi+pl+cs+sk+hu+ro+tr+sh+sl+lt+lv+is+ca"
    "+vi+nl+id+fil"
)
OTHERS = "ru*16+uk*6+bg*4+mk*3+sr*4+el*16+be*3+kk*3+ky*2+tg*2+mn*2"
DIFFICULTIES = (0.4, 1.0, 1.0)  # of every three batches
BATCH = 64
HIDDEN = 32
DROPOUT = 0.2
EPOCHS = 10
STEP = 128  # words
RATE = 4e-3
WEIGHT_DECAY = 0.05
KEPT = 0.1  # share of the words that training does not see


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
        "--words",
        type=console.positive,
        default=16_000,
        help="in Latin, and in other letters (16000)",
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    reader = load(resolve("tiny"), "cpu")
    drafts = [
        scores_of(reader, charset, language, options)
        for charset, language in (("latin", LATIN), ("cyrillic-greek", OTHERS))
    ]
    network = ScriptNetwork(drafts)
    train(network, drafts)
    tensors = {
        name: tensor.detach().numpy() for name, tensor in network.folded().items()
    }
    checksums = {
        FIRST: stored_checksum(resolve("tiny")) or "",
        OTHER: stored_checksum(resolve("cyrillic-greek")) or "",
    }
    BUNDLED_DETECTOR.write_bytes(save(tensors, checksums))
    console.write(str(BUNDLED_DETECTOR))


def scores_of(
    reader: Reader,
    charset: str,
    language: str,
    options: argparse.Namespace,
) -> Float16[Tensor, "word column symbol"]:
    """Scores of the drafts of words that have letters of their script."""
    fonts = tuple(options.fonts) if options.fonts else None
    atlas = GlyphAtlas.load_or_build(Charset(CHARSETS[charset]), fonts).training()
    renderer = Renderer(atlas, Lexicon(atlas.charset, language))
    found: list[np.ndarray] = []
    with console.Progress(options.words, unit="word", name=charset) as progress:
        for images in pictures(renderer, charset, options.seed):
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


class ScriptNetwork(nn.Module):
    """`ScriptDetector` while it learns, over scores on a common scale.

    Args:
        drafts: scores, which tell the scale.
    """

    def __init__(self, drafts: list[Float16[Tensor, "word column symbol"]]) -> None:
        super().__init__()
        columns = torch.cat([scores[::8].float().flatten(0, 1) for scores in drafts])
        self.mean = columns.mean(0)
        self.scale = columns.std(0)
        self.hidden = nn.Linear(len(self.mean), HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)
        self.output = nn.Linear(HIDDEN, 1)

    def forward(
        self, scores: Float16[Tensor, "word column symbol"]
    ) -> Float[Tensor, " word"]:
        """Logarithms of the odds of another script."""
        hidden = self.hidden((scores.float() - self.mean) / self.scale).relu()
        return self.output(self.dropout(hidden).mean(1))[:, 0]

    def folded(self) -> dict[str, Tensor]:
        """The parameters of the detector, which takes scores as they are."""
        weight = self.hidden.weight / self.scale
        return {
            "hidden_weight": weight.contiguous(),
            "hidden_bias": self.hidden.bias - weight @ self.mean,
            "output_weight": self.output.weight[0].contiguous(),
            "output_bias": self.output.bias[0],
        }


def train(
    network: ScriptNetwork, drafts: list[Float16[Tensor, "word column symbol"]]
) -> None:
    """Train on most of the words, and report how the others are told apart."""
    scores = torch.cat(drafts)
    is_other = torch.cat(
        [torch.full((len(words),), float(place)) for place, words in enumerate(drafts)]
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
            odds = network(scores[batch])
            loss = F.binary_cross_entropy_with_logits(odds, is_other[batch])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
        network.eval()
        with torch.no_grad():
            odds = network(scores[kept])
        right = ((odds > 0) == (is_other[kept] > 0)).float().mean()
        loss = F.binary_cross_entropy_with_logits(odds, is_other[kept])
        console.warn(f"epoch {epoch + 1}: loss {loss:.3f}, {right:.1%} told apart")


if __name__ == "__main__":
    main()

"""Draw the sample images: python data/make_samples.py (deterministic for a set of fonts)."""

from pathlib import Path

from PIL import Image

from vit_str.characters.charset import Charset
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer

SAMPLES = Path(__file__).parent / "samples"
LABELS = (
    "Museum",
    "OPEN",
    "16:45",
    "BAKERY",
    "Coffee",
    "Exit",
    "Station",
    "$9.50",
    "LIBRARY",
    "Welcome",
    "platform",
    "42nd",
)
SEED, DIFFICULTY = 29, 0.5


def main() -> None:
    """Write the images, as files of several formats, and their labels."""
    charset = Charset()
    atlas = load_or_draw_glyphs(charset).held_out()
    batch = Renderer(atlas, Lexicon(charset), (64, 256)).render(
        LABELS, SEED, DIFFICULTY
    )
    (SAMPLES / "images").mkdir(parents=True, exist_ok=True)
    lines = []
    for number, (pixels, label) in enumerate(zip(batch.images, LABELS, strict=True), 1):
        name = f"word-{number:02d}.{('jpg', 'png', 'webp')[number % 3]}"
        Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(SAMPLES / "images" / name)
        lines.append(f"{name}\t{label}\n")
    (SAMPLES / "labels.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()

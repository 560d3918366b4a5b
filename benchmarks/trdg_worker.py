"""TRDG (TextRecognitionDataGenerator), in a process and a virtual environment of its own.

    python trdg_worker.py TASK_FILE

Needs ``pip install trdg "pillow<10" "numpy<2"``. The style ``plain`` is what its command line does
without options; ``noise`` and ``everything`` use what it has: slant to both sides, distortion of
all kinds, blur, strokes, spacing, colors, and as backgrounds noise, pictures and, in
``everything``, the quasicrystals too, which it computes pixel by pixel.
"""

import random

from rendering_worker import answer, task


def main() -> None:
    """Answer every line."""
    given = task(__doc__)
    import cv2
    from trdg_words import draw

    cv2.setNumThreads(1)
    random.seed(1)
    answer(lambda word: draw(word, given), given["words"])


if __name__ == "__main__":
    main()

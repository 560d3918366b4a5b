"""SynthTIGER, in a process and a virtual environment of its own.

    python synthtiger_worker.py TASK_FILE

Needs ``pip install synthtiger "numpy<2" "pillow<10"``. The package on PyPI holds the components
but neither the scene-text template of its authors nor its fonts and textures, so this is a
template of our own from all its components that a word can use: characters with elastic distortion
on a line or an arc, ink of a color or a texture, border, shadow or extrusion, four kinds of
perspective, another word behind, and shadow, light, blur, noise, few pixels and JPEG on the whole.
"""

import random

import numpy as np
from rendering_worker import answer, task


def main() -> None:
    """Answer every line."""
    given = task(__doc__)
    import cv2
    import imgaug
    from synthtiger_words import SceneText

    cv2.setNumThreads(1)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - SynthTIGER draws from the global state
    imgaug.random.seed(1)
    template = SceneText(given["words"], given["fonts"], given["pictures"])
    answer(template.draw, given["words"])


if __name__ == "__main__":
    main()

"""Cutting lines into words with the bundled word splitter."""

from pathlib import Path

import numpy as np
from PIL import Image

from vit_str.console import reason_of
from vit_str.runtime.readings import Box

BUNDLED_SPLITTER = Path(__file__).parents[2] / "bundled" / "word_splitter.onnx"
HEIGHT = 32
"""Rows of a line, in pixels, as the model takes it."""
_STEP = 4  # the model takes widths that this divides
_WIDEST = 4096
_NARROWEST_WORD = 0.15  # over the height of the line


class WordSplitter:
    """Finds the words of straight lines.

    Args:
        path: an ONNX file that ``python -m vit_str.training.word_splitter`` has written.

    Raises:
        ValueError: the file cannot be used.
    """

    def __init__(self, path: Path = BUNDLED_SPLITTER) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(path, options)
        except Exception as error:  # onnxruntime's errors have no common class
            raise ValueError(f"cannot use the word splitter {path}: {reason_of(error)}") from None

    def words(self, line: Image.Image) -> list[Box]:
        """Where the words of a line lie, in its pixels, from left to right; at least one."""
        scale = HEIGHT / line.height
        width = int(np.clip(round(line.width * scale / _STEP) * _STEP, 4 * _STEP, _WIDEST))
        pixels = np.asarray(line.convert("RGB").resize((width, HEIGHT)), np.float32)
        inputs = pixels.transpose(2, 0, 1)[None] / 127.5 - 1
        ((logits, tops, bottoms),) = self._session.run(None, {"lines": inputs})[0]
        column = line.width / len(logits)
        words = []
        for start, end in _runs(logits > 0):
            if (end - start) * column > _NARROWEST_WORD * line.height:
                top = float(np.median(tops[start:end])) * line.height
                bottom = float(np.median(bottoms[start:end])) * line.height
                words.append(
                    Box(start * column, max(0.0, top), end * column, min(line.height, bottom))
                )
        return words or [Box(0.0, 0.0, float(line.width), float(line.height))]


def _runs(values: np.ndarray) -> np.ndarray:
    """Start and end of every run of true values: an array of shape (runs, 2)."""
    edges = np.diff(np.concatenate([[0], values.astype(int), [0]]))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)], 1)
